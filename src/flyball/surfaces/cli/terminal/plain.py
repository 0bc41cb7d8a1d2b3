"""A run for readers that are no terminal: lines of text, or lines of JSON."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Protocol, Self

from flyball.engine.telemetry import Telemetry
from flyball.surfaces.cli.terminal.edge import say
from flyball.surfaces.cli.terminal.story import Story
from flyball.surfaces.cli.terminal.story_words import StoryLine


class View(Protocol):
    """Whoever shows a run while it goes on."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def telemetry(self, line: Telemetry) -> None:
        """Something happened."""
        ...

    def text(self, delta: str) -> None:
        """The driver says something just now."""
        ...

    def output(self, chunk: str) -> None:
        """A command prints something just now."""
        ...

    def say(self, said: StoryLine) -> None:
        """A line of our own."""
        ...

    def diff(self, diff: str, see: str) -> None:
        """The change in the end; `see` says how to look at all of a long one."""
        ...

    def hold_still(self) -> AbstractContextManager[object]:
        """Keep still while a person types."""
        ...


class PlainView:
    """Every line once, when it is certain."""

    def __init__(self) -> None:
        self._story = Story()

    def __enter__(self) -> Self:
        """The view itself: plain lines need no making ready."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing to put away."""

    def telemetry(self, line: Telemetry) -> None:
        """Print the lines it is worth."""
        for said in self._story.tell(line):
            self.say(said)

    def text(self, delta: str) -> None:
        """Told as a whole when the reply is over."""

    def output(self, chunk: str) -> None:
        """Told as a whole when the command is over."""

    def say(self, said: StoryLine) -> None:
        """Print a line without colours."""
        say(said.plain)

    def diff(self, diff: str, see: str) -> None:  # noqa: ARG002
        """Print all of a diff, however long: whoever reads it can scroll."""
        say(f"\n{diff.rstrip()}\n")

    def hold_still(self) -> AbstractContextManager[object]:
        """Nothing moves here, so there is nothing to hold."""
        return nullcontext()


class JsonView(PlainView):
    """Telemetry as it is, one object per line."""

    def telemetry(self, line: Telemetry) -> None:
        """Print the object."""
        say(json.dumps(line, ensure_ascii=False))

    def text(self, delta: str) -> None:
        """Print what is said just now as an object of its own."""
        say(json.dumps({"type": "text", "delta": delta}, ensure_ascii=False))

    def say(self, said: StoryLine) -> None:
        """Programs are told nothing but telemetry."""

    def diff(self, diff: str, see: str) -> None:
        """Programs have the patches, and `runs show --diff`."""
