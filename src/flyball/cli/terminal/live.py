"""Show a run in a terminal: final lines scroll, current activity stays at the bottom."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Self

import click
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from flyball.cli.terminal.story import ENDED, Story
from flyball.cli.terminal.story_words import StoryLine
from flyball.engine.telemetry import Telemetry

STYLES = {
    "head": "bold",
    "dim": "dim",
    "good": "green",
    "bad": "red",
    "warn": "yellow",
    "ask": "bold magenta",
    "plan": "cyan",
    "text": "",
    "command": "",
}
DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan", "d": "bold"}
OVER = ENDED - {"paused"}
BAR = 12
TAIL = 4
"""Number of lines of streamed text or output to show."""
LONGEST_DIFF = 120
HEADERS = ("diff --git ", "index ", "--- a/")
"""Diff lines that only repeat the file name."""


class LiveView:
    """The phase, the budget, the call in progress and the streamed text."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._story = Story()
        self._phases: dict[str, str] = {}
        """The phase of each active card."""
        self._used = 0
        self._limit = 0
        self._iteration = ""
        self._between = "starting"
        self._tokens = 0
        self._money = 0.0
        self._calls: dict[str, str] = {}
        self._tail = ""
        self._progress = ""
        self._spinner = Spinner("dots")
        self._live = Live(
            console=console, get_renderable=self._now, refresh_per_second=8, transient=True
        )

    def __enter__(self) -> Self:
        """Show the bottom lines from now on."""
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the bottom lines; lines that have scrolled stay."""
        self._live.stop()

    def telemetry(self, line: Telemetry) -> None:
        """Print the lines for a piece of telemetry, and update the bottom lines."""
        if line["type"] == "progress":
            self._progress = line["text"]
            return
        self._progress = ""
        self._note(line)
        for said in self._story.tell(line):
            self.say(said)

    def text(self, delta: str) -> None:
        """Show the end of the text being streamed; a complete reply is printed whole."""
        self._tail = (self._tail + delta)[-4_000:]

    def output(self, chunk: str) -> None:
        """Show the end of a running command's output."""
        self.text(chunk)

    def say(self, said: StoryLine) -> None:
        """Print a line in its tone, wrapped with a hanging indent."""
        style = STYLES[said.tone]
        if said.tone == "command":
            self._console.print(Text(said.plain, style), soft_wrap=True)
            return
        line = Table.grid()
        if said.lead:
            line.add_row(Text(said.lead, style), Text(said.text, style, overflow="fold"))
        else:
            line.add_row(Text(said.text, style, overflow="fold"))
        self._console.print(line)

    def diff(self, diff: str, see: str) -> None:
        """Print a diff in colour; for a long one, the first lines and how to see the rest."""
        self._console.print()
        lines = [line for line in diff.rstrip("\n").split("\n") if not line.startswith(HEADERS)]
        for line in lines[:LONGEST_DIFF]:
            text, style = line, DIFF_STYLES.get(line[:1], "")
            if line.startswith("+++ b/"):
                text, style = line.removeprefix("+++ b/"), "bold"
            self._console.print(Text(text, style), soft_wrap=True)
        left = len(lines) - LONGEST_DIFF
        if left > 0:
            self._console.print(Text(f"… {left} more lines: {see}", "dim"))

    @contextmanager
    def hold_still(self) -> Generator[None]:
        """Hide the bottom lines while a person types."""
        self._live.stop()
        try:
            yield
        finally:
            self._live.start()

    def key(self, offer: str) -> str:
        """Print the offer and wait for a key; discard earlier input."""
        self.say(StoryLine("ask", offer, "?"))
        try:
            return click.getchar()
        except (EOFError, KeyboardInterrupt):
            return ""

    def _note(self, line: Telemetry) -> None:
        """Update the bottom lines."""
        match line["type"]:
            case "phase":
                self._phases.pop(line["card"], None)
                if line["phase"] not in OVER:
                    self._phases[line["card"]] = f"{line['phase']} · {line['label']}"
            case "resumed":
                self._used, self._limit = line["used"], line["limit"]
                for card in line["cards"]:
                    self._note({"type": "phase", **card})
            case "budget":
                self._used, self._limit = line["used"], line["limit"]
            case "iteration":
                self._iteration = f"iteration {line['iteration']}/{line['limit']}"
                self._between = line["text"]
            case "usage":
                self._tokens += line["input_tokens"] + line["output_tokens"]
                self._money += line["money"]
            case "call" if line["state"] == "started":
                self._calls[line["call"]] = f"{line['tool']} {line['about']}".strip()
            case "call":
                self._calls.pop(line["call"], None)
                self._tail = ""
            case "text":
                self._tail = ""
            case _:
                pass

    def _now(self) -> RenderableType:
        """Return the bottom lines: phase, budget, meters, the call, the last words."""
        line = Table.grid(padding=(0, 2))
        phase = Text(self._where(), "bold", no_wrap=True)
        bar = self._bar() if self._limit else Text()
        meters = Text(self._meters(), no_wrap=True, overflow="ellipsis")
        line.add_row(self._spinner, phase, bar, meters)
        parts: list[RenderableType] = [line]
        current = next(reversed(self._calls.values()), "")
        if current:
            parts.append(Text(f"  {current} …", "dim", no_wrap=True, overflow="ellipsis"))
        if self._progress:
            parts.append(Text(f"  {self._progress}", "dim", no_wrap=True, overflow="ellipsis"))
        if self._tail.strip():
            tail = self._tail.rstrip().split("\n")[-TAIL:]
            parts += [Text(f"  {each}", "dim", no_wrap=True, overflow="ellipsis") for each in tail]
        return Group(*parts)

    def _where(self) -> str:
        """Return the phase of the active cards or, without any, what comes next."""
        if len(self._phases) < 2:
            return next(iter(self._phases.values()), self._between)
        parts = [f"{card}: {phase.partition(' ')[0]}" for card, phase in self._phases.items()]
        return "  ".join(parts)

    def _bar(self) -> Text:
        """Return the budget as a bar that turns red towards its end."""
        share = self._used / self._limit if self._limit else 0.0
        full = min(BAR, round(share * BAR))
        colour = "green" if share < 0.7 else "yellow" if share < 0.9 else "red"
        bar = Text("█" * full, colour, no_wrap=True)
        bar.append("░" * (BAR - full), "dim")
        return bar.append(f" {self._used}/{self._limit} calls")

    def _meters(self) -> str:
        """Return iteration, tokens and money, as far as available."""
        parts = [self._iteration]
        if self._tokens:
            parts.append(f"{self._tokens:,} tokens")
        if self._money:
            parts.append(f"${self._money:.2f}")
        return "  ".join(filter(None, parts))
