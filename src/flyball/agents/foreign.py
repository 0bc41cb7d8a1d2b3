"""Read recordings of SWE-agent, mini-SWE-agent and OpenHands, as one session each."""

from __future__ import annotations

from collections.abc import Iterator

from flyball.agents.entry import (
    Called,
    CallResult,
    Entry,
    FileEdit,
    Json,
    Opened,
    Spoke,
    words,
)
from flyball.agents.open_hands import is_open_hands, open_hands_end, open_hands_turns
from flyball.agents.swe_agent import (
    EDITOR_TOOLS,
    RecordedTurn,
    object_of,
    step_of,
    turns_of,
)

ENDS = ("submit", "finish", "echo COMPLETE_TASK_AND_SUBMIT", "exit_command")
EDITOR = "str_replace_editor"
HANDED_IN = "Done: handed in."


def foreign_entries(document: object, session: str) -> Iterator[Entry]:
    """Yield the entries of a decoded recording; invalid input raises an error that explains it."""
    turns = open_hands_turns(document) if is_open_hands(document) else turns_of(document)
    yield Opened(session)
    for number, turn in enumerate(turns, 1):
        yield from _turn(turn, session, number)
    if is_open_hands(document) and (said := open_hands_end(document)) is not None:
        yield Spoke(0.0, f"{HANDED_IN} {said}")


def _turn(turn: RecordedTurn, session: str, number: int) -> Iterator[Entry]:
    action = turn.action.strip()
    if not action:
        return
    if action.startswith(ENDS):
        yield Spoke(0.0, HANDED_IN)
        return
    id = f"{session}/{number}"
    tool, args = call_in(action)
    yield Called(0.0, id, tool, args, str(turn.reply or number))
    step = step_of(turn)
    edits = _edits(args) if step.ok and tool == EDITOR else ()
    yield CallResult(0.0, id, turn.seen, step.ok, turn.status, edits)


def call_in(action: str) -> tuple[str, Json]:
    """Return a recorded command line as a call: an editor call if it is one, else a shell call."""
    name, _, rest = action.partition(" ")
    if name not in EDITOR_TOOLS:
        return "bash", {"command": action}
    verb, _, given = rest.partition(" ")
    return EDITOR, {**object_of(given), "command": verb}


def _edits(args: Json) -> tuple[FileEdit, ...]:
    path = words(args.get("path"))
    match args.get("command"):
        case "create" if path:
            return (FileEdit(path, None, words(args.get("file_text")), is_whole=True),)
        case "str_replace" if path:
            return (FileEdit(path, words(args.get("old_str")), words(args.get("new_str"))),)
        case "insert" if path:
            return (FileEdit(path, "", words(args.get("new_str"))),)
        case _:
            return ()
