"""Show a run without a terminal: lines of text, or JSON Lines."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, Self

from flyball.cli.terminal.edge import say
from flyball.cli.terminal.story import Story
from flyball.cli.terminal.story_words import StoryLine
from flyball.engine.telemetry import Telemetry


class View(Protocol):
    """A view of a run in progress."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def telemetry(self, line: Telemetry) -> None:
        """Show a piece of telemetry."""
        ...

    def text(self, delta: str) -> None:
        """Show text that the driver streams."""
        ...

    def output(self, chunk: str) -> None:
        """Show output that a command prints."""
        ...

    def say(self, said: StoryLine) -> None:
        """Print a line of our own."""
        ...

    def diff(self, diff: str, see: str) -> None:
        """Print the final change; `see` is the command that prints a long one in full."""
        ...

    def hold_still(self) -> AbstractContextManager[object]:
        """Return a context that stops updates while a person types."""
        ...

    def key(self, offer: str) -> str:
        """Offer keys and return the one that a person presses; empty without a person."""
        ...


class PlainView:
    """Prints every line once, when it is final."""

    def __init__(self) -> None:
        self._story = Story()

    def __enter__(self) -> Self:
        """Return the view; it needs no setup."""
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing; there is nothing to clean up."""

    def telemetry(self, line: Telemetry) -> None:
        """Print the lines for a piece of telemetry."""
        for said in self._story.tell(line):
            self.say(said)

    def text(self, delta: str) -> None:
        """Ignore streamed text; the reply is printed when it is complete."""

    def output(self, chunk: str) -> None:
        """Ignore streamed output; it is printed when the command has ended."""

    def say(self, said: StoryLine) -> None:
        """Print a line without colours."""
        say(said.plain)

    def diff(self, diff: str, see: str) -> None:  # noqa: ARG002
        """Print the whole diff, however long: the reader can scroll."""
        say(f"\n{diff.rstrip()}\n")

    def hold_still(self) -> AbstractContextManager[object]:
        """Return an empty context, since nothing is updated."""
        return nullcontext()

    def key(self, offer: str) -> str:  # noqa: ARG002
        """Return no key: a person who reads plain lines types the commands."""
        return ""


class JsonView(PlainView):
    """Prints telemetry unchanged, one object per line."""

    def telemetry(self, line: Telemetry) -> None:
        """Print the object."""
        say(json.dumps(line, ensure_ascii=False))

    def text(self, delta: str) -> None:
        """Print streamed text as an object of its own."""
        say(json.dumps({"type": "text", "delta": delta}, ensure_ascii=False))

    def say(self, said: StoryLine) -> None:
        """Ignore the line: programs receive only telemetry."""

    def diff(self, diff: str, see: str) -> None:
        """Ignore the diff: programs have the patches, and `runs show --diff`."""
