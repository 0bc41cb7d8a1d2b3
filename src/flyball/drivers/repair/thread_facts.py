"""What a thread tells: which calls were made, and what came of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from flyball.core.flow.library import LIBRARY
from flyball.core.run.thread import Speaker, ThreadLine
from flyball.drivers.protocol import Request

_HEAD = re.compile(
    r"^(?P<runner>[\w.-]+).*?: (?P<passed>\d+) passed, (?P<failed>\d+) failed.*?"
    r"\(exit (?P<exit>-?\d+), (?P<elapsed>[\d.]+) s\)",
    re.M,
)
_HEADS = ("Also failing:", "Suspicious lines,", "No line of the project")
_PLACE = re.compile(r"^(\d\.\d\d)  (.+?):(\d+)  (.*)$", re.M)
_TRIED = re.compile(r"^Tried (\d+) of (\d+) candidates in ([\d.]+) s", re.M)
_SURVIVOR = re.compile(
    r"^\d+\. ([^\n]+?):(\d+) ([^:\n]+): (.*?)\n```diff\n(--- a/.*?\n)```$", re.M | re.S
)
_REQUEST = re.compile(r"\AThe request:\n\n(.*?)\n\nYour task: (.*?)\. ", re.S)


class MadeCall(NamedTuple):
    """A call and what it answered; no answer yet is None."""

    tool: str
    args: dict[str, object]
    text: str


class FailingTest(NamedTuple):
    """A failing test and why it fails."""

    name: str
    why: str = ""


class SeenRun(NamedTuple):
    """A test run as its outcome tells it."""

    runner: str
    passed: int
    failed: int
    exit_code: int
    elapsed: float
    failures: tuple[FailingTest, ...]

    @property
    def is_green(self) -> bool:
        return self.exit_code == 0 and not self.failed and self.passed > 0

    @property
    def has_run(self) -> bool:
        """Whether any test was run to its end."""
        return self.passed + self.failed > 0


class Suspect(NamedTuple):
    """A suspicious line."""

    score: str
    path: str
    line: int
    text: str


class SurvivorFact(NamedTuple):
    """A change under which every test passes."""

    path: str
    line: int
    template: str
    label: str
    diff: str


class SearchFact(NamedTuple):
    """What a search for candidates came to."""

    tried: int
    generated: int
    elapsed: float
    survivors: tuple[SurvivorFact, ...]


class ThreadFacts(NamedTuple):
    """A thread as this driver understands it."""

    run: str
    request: str
    template: str
    deeds: tuple[MadeCall, ...]
    """The calls that were answered; one that was interrupted was never made."""
    words: tuple[str, ...]
    """What the governor said besides answering calls."""
    said: tuple[str, ...]
    """What this driver said."""
    has_rested: bool
    """Whether it had stopped, and somebody let it go on."""

    @property
    def runs(self) -> tuple[SeenRun, ...]:
        """The runs of the tests, whichever tool made them."""
        deeds = (deed for deed in self.deeds if deed.tool in ("localise_faults", "test"))
        return tuple([run for deed in deeds if (run := ran(deed))])

    @property
    def red_run(self) -> SeenRun | None:
        """The first run that saw a test fail."""
        return next((run for run in self.runs if run.failed), None)

    def last(self, tool: str) -> MadeCall | None:
        return next((deed for deed in reversed(self.deeds) if deed.tool == tool), None)

    def count(self, tool: str) -> int:
        return sum(deed.tool == tool for deed in self.deeds)

    def since(self, tool: str) -> tuple[MadeCall, ...]:
        """What was done after the last call of a tool."""
        for i in range(len(self.deeds) - 1, -1, -1):
            if self.deeds[i].tool == tool:
                return self.deeds[i + 1 :]
        return self.deeds


def story_of(request: Request) -> ThreadFacts:
    """Read a request: what is wanted, and what was done so far."""
    found = _REQUEST.search(request.opening)
    wanted, title = (found[1], found[2]) if found else (request.opening, "")
    template = next((id for id, each in LIBRARY.items() if each.title == title), "")
    return ThreadFacts(
        request.run,
        wanted.strip(),
        template,
        _deeds(request.lines),
        _texts(request.lines, Speaker.GOVERNOR),
        _texts(request.lines, Speaker.DRIVER),
        _has_rested(request.lines),
    )


def _deeds(lines: Sequence[ThreadLine]) -> tuple[MadeCall, ...]:
    answers = {line.call: line.text for line in lines if line.speaker is Speaker.TOOL}
    return tuple(
        MadeCall(call.tool, call.args, answers[call.id])
        for line in lines
        for call in line.calls
        if call.id in answers and not answers[call.id].startswith(_cut_off(call.tool))
    )


def _cut_off(tool: str) -> str:
    """How the answer to an interrupted call begins."""
    return f"`{tool}` was interrupted"


def _has_rested(lines: Sequence[ThreadLine]) -> bool:
    own = [line for line in lines if line.speaker is Speaker.DRIVER]
    return bool(own) and not own[-1].calls


def _texts(lines: Sequence[ThreadLine], speaker: Speaker) -> tuple[str, ...]:
    return tuple(line.text for line in lines if line.speaker is speaker and line.text)


def ran(deed: MadeCall) -> SeenRun | None:
    """A test run, or nothing where none took place."""
    head = _HEAD.search(deed.text)
    if head is None:
        return None
    return SeenRun(
        head["runner"],
        int(head["passed"]),
        int(head["failed"]),
        int(head["exit"]),
        float(head["elapsed"]),
        tuple(_failures(deed.text)),
    )


def _failures(text: str) -> Iterator[FailingTest]:
    """Each failing test with the lines below its name, and those that are only named."""
    name, why, is_list = "", list[str](), False
    for line in (*text.split("\n"), _HEADS[-1]):
        is_new = line.startswith("FAILED ")
        if is_new or line.startswith(_HEADS):
            if name:
                yield FailingTest(name, "\n".join(why).strip())
            name, why = line.removeprefix("FAILED ").strip() if is_new else "", []
            is_list = line == _HEADS[0]
        elif is_list and line.startswith("  "):
            yield FailingTest(line.strip())
        else:
            why.append(line)


def suspects(deed: MadeCall) -> tuple[Suspect, ...]:
    """The suspicious lines that `localise_faults` named."""
    return tuple(
        Suspect(score, path, int(line), text.strip())
        for score, path, line, text in _PLACE.findall(deed.text)
    )


def search_of(deed: MadeCall) -> SearchFact | None:
    """What `try_candidates` found; None where it could not search."""
    head = _TRIED.search(deed.text)
    if head is None:
        return None
    survivors = tuple(
        SurvivorFact(path, int(line), template, label, diff)
        for path, line, template, label, diff in _SURVIVOR.findall(deed.text)
    )
    return SearchFact(int(head[1]), int(head[2]), float(head[3]), survivors)
