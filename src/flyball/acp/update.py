"""Convert telemetry for editors: cards form the plan, phases are modes, calls are tool calls."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from acp import (
    plan_entry,
    start_tool_call,
    text_block,
    tool_content,
    tool_diff_content,
    update_agent_message_text,
    update_agent_thought_text,
    update_plan,
    update_tool_call,
)
from acp.helpers import update_current_mode
from acp.schema import (
    AgentMessageChunk,
    AgentPlanUpdate,
    AgentThoughtChunk,
    CurrentModeUpdate,
    FileEditToolCallContent,
    PlanEntry,
    SessionMode,
    SessionModeState,
    ToolCallLocation,
    ToolCallProgress,
    ToolCallStart,
    ToolKind,
    UserMessageChunk,
)

from flyball.app.project import Home, redactor_of
from flyball.engine.telemetry import Telemetry
from flyball.patch import Hunk, parse
from flyball.run.state import Ending
from flyball.terms.phase import WORKING, Phase
from flyball.terms.tool import TOOL_ROWS, Touch
from flyball.workspace.files.plain import read_within
from flyball.workspace.run.opening import find_workspace

Update = (
    AgentMessageChunk
    | AgentPlanUpdate
    | AgentThoughtChunk
    | CurrentModeUpdate
    | ToolCallProgress
    | ToolCallStart
    | UserMessageChunk
)

Words = Callable[[Telemetry], Iterator[str]]
"""Describes a run's telemetry in lines of text, if there is anything to say."""

KINDS: dict[Touch, ToolKind] = {
    Touch.NOTHING: "think",
    Touch.WORKSPACE: "read",
    Touch.ADDRESS: "fetch",
    Touch.NAMED_FILES: "edit",
    Touch.ANYTHING: "execute",
}
MODES = {phase.name_for_people: phase.label for phase in (*WORKING, Phase.PAUSED)}
FIRST_MODE = Phase.ANALYZE_CODE.name_for_people
LOUD = frozenset({"final", "error", "notice", "left"})
"""Telemetry sent as a message; all other telemetry is sent as a thought."""
BEHIND_THE_SCENES = frozenset({"planner", "verifier"})
"""Roles whose replies are forms for Flyball; their meaning is reported in words."""


def modes(current: str = FIRST_MODE) -> SessionModeState:
    """Return the phases as modes; only the governor selects one."""
    known = [SessionMode(id=name, name=label) for name, label in MODES.items()]
    return SessionModeState(current_mode_id=current, available_modes=known)


def kind_of(tool: str) -> ToolKind:
    """Return the editor's kind for a kind of tool."""
    row = TOOL_ROWS.get(tool)
    return KINDS[row.touches] if row else "other"


def call_id(run: str, card: str, call: str) -> str:
    """Return a unique id for a call in a conversation with several runs."""
    return f"{run}/{card}/{call}"


class EditorUpdates:
    """Reports one run to an editor; telemetry without an ACP equivalent is sent as text."""

    def __init__(self, files: RunFiles, words: Words) -> None:
        self._files = files
        self._words = words
        self._run = ""
        self._is_planned = False
        self._heard = ""
        """The part of the current reply that was already streamed."""
        self._plan: dict[str, PlanEntry] = {}
        self._known: set[str] = set()
        self._before: dict[str, dict[str, str | None]] = {}
        """The files that calls in progress will write, with their content before."""
        self._returned: dict[str, str] = {}
        """The last returned call of each card, if its change was not shown."""

    def hear(self, delta: str) -> Iterator[Update]:
        """Yield updates for streamed text; with several cards, only whole replies are sent."""
        if not self._is_planned and delta:
            self._heard += delta
            yield update_agent_message_text(delta)

    def tell(self, line: Telemetry) -> Iterator[Update]:
        """Yield the updates for one piece of telemetry."""
        kind = line["type"]
        self._is_planned |= kind in ("iteration", "plan") or bool(line.get("planned"))
        if kind in ("run", "resumed"):
            self._run = line["run"]
        if kind in ("workspace", "resumed"):
            self._files.place(self._run)
        # An editor renders Markdown, and would not keep the breaks.
        words = "\n".join(self._words(line)).replace("\n", "  \n")
        if teller := TELLERS.get(kind):
            yield from teller(self, line)
        elif words and (kind in LOUD or line.get("kind") == "verdict-report"):
            yield update_agent_message_text(f"{words}\n\n")
        elif words:
            yield update_agent_thought_text(f"{words}\n")

    def text(self, line: Telemetry) -> Iterator[Update]:
        if self._is_planned and line["role"] in BEHIND_THE_SCENES:
            return
        is_heard = bool(self._heard) and line["text"].strip() in self._heard
        yield update_agent_message_text("\n\n" if is_heard else f"{line['text']}\n\n")

    def usage(self, _line: Telemetry) -> Iterator[Update]:
        """Yield the cost after each reply."""
        self._heard = ""
        yield from ()

    def phase(self, line: Telemetry) -> Iterator[Update]:
        if line["phase"] in MODES:
            yield update_current_mode(line["phase"])

    def plan(self, line: Telemetry) -> Iterator[Update]:
        done = {name: each for name, each in self._plan.items() if each.status == "completed"}
        steps = {step["id"]: plan_entry(step["title"]) for step in line["steps"]}
        self._plan = {**done, **steps}
        yield update_plan(self._plan.values())

    def card(self, line: Telemetry) -> Iterator[Update]:
        # In its last phase a card already has its ending, which may still change.
        is_open = line.get("ending") in (None, "", Ending.NEEDS_YOU)
        has_ended = line["status"] != "review" and not is_open
        has_ended |= line.get("ending") == Ending.UNVERIFIED
        is_odd = has_ended and line["status"] != "done"
        title = f"{line['title']} ({line['status']})" if is_odd else line["title"]
        status = "completed" if has_ended else "in_progress"
        self._plan[line["card"]] = plan_entry(title, status=status)
        yield update_plan(self._plan.values())

    def decision(self, line: Telemetry) -> Iterator[Update]:
        if line["decision"] == "deny":
            name = call_id(self._run, line["card"], line["call"])
            self._known.add(name)
            yield start_tool_call(
                name,
                f"refused: {line['tool']}",
                kind=kind_of(line["tool"]),
                status="failed",
                content=[tool_content(text_block(line["reason"]))],
            )

    def call(self, line: Telemetry) -> Iterator[Update]:
        name = call_id(self._run, line["card"], line["call"])
        title = f"{line['tool']} {line['about']}".strip()
        kind = kind_of(line["tool"])
        if line["state"] == "started":
            self._known.add(name)
            if kind == "edit":
                self._before[name] = {path: self._files.read(path) for path in _paths(line)}
            where = self._locations(line)
            yield start_tool_call(name, title, kind=kind, status="in_progress", locations=where)
            return
        is_well = line["state"] == "returned" and line["ok"]
        status = "completed" if is_well else "failed"
        words = [tool_content(text_block(line["summary"]))] if line["summary"] else []
        shown = self._written(name) if is_well else []
        self._returned[line["card"]] = "" if shown else name
        if name in self._known:
            yield update_tool_call(name, status=status, content=[*shown, *words])
        else:
            yield start_tool_call(name, title, kind=kind, status=status, content=words)

    def patch(self, line: Telemetry) -> Iterator[Update]:
        """Yield a call's diff if its files could not be read before and after it."""
        name = self._returned.get(line["card"], "")
        diff = str(line["patch"].get("diff", ""))
        shown = list(diff_content(diff, self._files)) if name else []
        if shown and line["event"] != "PATCH_DIFF_REFUSED":
            where = list(diff_locations(diff, self._files))
            yield update_tool_call(name, content=shown, locations=where)

    def approval(self, _line: Telemetry) -> Iterator[Update]:
        """Yield nothing: an approval is a request of its own."""
        yield from ()

    def _written(self, name: str) -> list[FileEditToolCallContent]:
        """Return a call's changes to its files; also the state that queued calls start from."""
        shown: list[FileEditToolCallContent] = []
        for path, old in self._before.pop(name, {}).items():
            new = self._files.read(path)
            for other in self._before.values():
                other.update({path: new} if path in other else {})
            if new != old:
                shown.append(tool_diff_content(self._files.path(path), new or "", old))
        return shown

    def _locations(self, line: Telemetry) -> list[ToolCallLocation]:
        match kind_of(line["tool"]):
            case "edit":
                return locations(_paths(line), self._files)
            case "read":
                there = [path for path in _paths(line) if self._files.is_there(path)]
                return locations(there, self._files)
            case _:
                return []


def _paths(line: Telemetry) -> list[str]:
    return line["about"].split(", ") if line["about"] else []


TELLERS: dict[str, Callable[[EditorUpdates, Telemetry], Iterator[Update]]] = {
    "text": EditorUpdates.text,
    "usage": EditorUpdates.usage,
    "phase": EditorUpdates.phase,
    "plan": EditorUpdates.plan,
    "card": EditorUpdates.card,
    "decision": EditorUpdates.decision,
    "call": EditorUpdates.call,
    "patch": EditorUpdates.patch,
    "approval": EditorUpdates.approval,
}


LONGEST = 1 << 20
"""Maximum size in bytes of a file shown whole to an editor."""


class RunFiles:
    """The files of one run at their real location: its own worktree, or the checkout."""

    def __init__(self, home: Home, *, is_live: bool = True) -> None:
        self._home = home
        self._is_live = is_live
        self._clean = redactor_of(home)
        self._root: Path | None = None

    def place(self, run: str) -> None:
        """Find where a run works, once it has started."""
        facts = find_workspace(run, self._home.state)
        self._root = Path(facts.root) if facts else None

    def path(self, name: str) -> str:
        """Return the absolute path of a file of the run."""
        return os.fspath((self._root or self._home.repo) / name)

    def is_there(self, name: str) -> bool:
        """Return whether the run has such a file or directory now."""
        return Path(self.path(name)).exists()

    def read(self, name: str) -> str | None:
        """Return a text file's current content; None if it is missing or the run is in the past."""
        if not self._is_live or self._root is None:
            return None
        data = read_within(self._root, name, LONGEST + 1)
        if data is None or len(data) > LONGEST:
            return None
        try:
            return self._clean.text(data.decode())
        except UnicodeDecodeError:
            return None


def diff_content(diff: str, files: RunFiles) -> Iterator[FileEditToolCallContent]:
    """Yield each hunk of a unified diff, with its lines before and after."""
    for section in parse(diff).sections:
        for hunk in section.hunks:
            new = _text(hunk.new, unended=hunk.new_unended)
            old = None if section.creates else _text(hunk.old, unended=hunk.old_unended)
            yield tool_diff_content(files.path(section.paths[0]), new, old)


def diff_locations(diff: str, files: RunFiles) -> Iterator[ToolCallLocation]:
    """Yield the location of each hunk of a unified diff, by its line after the change."""
    for section in parse(diff).sections:
        for hunk in section.hunks:
            yield ToolCallLocation(path=files.path(section.paths[0]), line=_first_line(hunk))


def locations(names: Iterable[str], files: RunFiles) -> list[ToolCallLocation]:
    """Return files as locations that an editor can open."""
    return [ToolCallLocation(path=files.path(name)) for name in names]


def _first_line(hunk: Hunk) -> int | None:
    return hunk.span.new_index + 1 if hunk.span else None


def _text(lines: Sequence[bytes], *, unended: bool) -> str:
    whole = b"\n".join(lines) + (b"" if unended or not lines else b"\n")
    return whole.decode("utf-8", "replace")
