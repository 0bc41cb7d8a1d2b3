"""One call of a session with its result, reduced to what the rules inspect."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from flyball.agents.entry import Called, CallResult, FileEdit, words
from flyball.agents.swe_agent import also_runs, kind_of, without_noise
from flyball.agents.tool import (
    COMMAND_FIELDS,
    PATCH_FIELDS,
    PATH_FIELDS,
    HostTool,
    Naming,
    host_tool,
    patched_files,
    text_in,
)
from flyball.guards.fingerprint import fingerprint
from flyball.guards.guard import Trip
from flyball.guards.guard_memory import GuardStep, Kind
from flyball.regex import regex
from flyball.terms.call import Access, digest
from flyball.terms.evidence import Weakened
from flyball.terms.shape import one_line

QUOTE = 200
SEEN_OF_OUTCOME = 8_000
"""Characters of an outcome's head and of its tail that are compared with other outcomes."""
EDITORS = frozenset({"str_replace_editor"})


class CommandLook(NamedTuple):
    """The effect of a shell command, as the command parser sees it."""

    is_destructive: bool = False
    is_outside: bool = False
    is_check: bool = False
    cannot_fail: str = ""
    """Why it proves nothing, where it does not."""
    reason: str = ""


class Looks(NamedTuple):
    """Functions from other packages that the rules need."""

    command: Callable[[str, str], CommandLook]
    """Of a command, and the directory in which it runs."""
    secret: Callable[[str], bool]
    """Whether a text shows a secret."""
    weakened: Callable[[Mapping[str, str | None], Mapping[str, str | None]], Sequence[Weakened]]
    """Of two states of the same files: where their tests surely got easier to pass."""


class AuditedCall(NamedTuple):
    """A call, judged by its text and its result."""

    at: float
    id: str
    tool: str
    kind: Kind
    quote: str
    command: str = ""
    paths: tuple[str, ...] = ()
    edits: tuple[FileEdit, ...] = ()
    ok: bool = True
    status: int | None = None
    shows_secret: bool = False
    trips: tuple[Trip, ...] = ()
    runs: bool = False
    """Whether it also ran something, after what it changed."""

    @property
    def is_edit(self) -> bool:
        """Return whether the call changed something."""
        return self.kind == "mutate" and self.ok

    @property
    def is_check(self) -> bool:
        """Return whether the call ran something that could show whether the work is correct."""
        return self.kind == "verify" or (self.kind == "run" and bool(self.command))


def action_of(call: Called, result: CallResult | None, looks: Looks) -> AuditedCall:
    """Return a call with its outcome; a call without an outcome was interrupted."""
    row = host_tool(call.tool)
    command = text_in(call.args, COMMAND_FIELDS) if row.names is Naming.A_COMMAND else ""
    kind = _kind(call, row, command)
    runs = kind == "mutate" and bool(command.strip()) and also_runs(command)
    if runs and result and not result.ok:
        # A script that was written and run in one line failed as a run; the writing went well.
        kind = "run"
    text = result.text if result else ""
    shows = bool(text) and kind in ("read", "run", "verify") and looks.secret(text)
    return AuditedCall(
        call.at,
        call.id,
        call.tool,
        kind,
        _quote(call, command),
        command,
        _paths(call, row),
        result.edits if result else (),
        result.ok if result else False,
        result.status if result else None,
        shows,
        runs=runs,
    )


def _kind(call: Called, row: HostTool, command: str) -> Kind:
    if call.tool in EDITORS:
        return "read" if call.args.get("command") == "view" else "mutate"
    if command.strip():
        return kind_of(command)
    if row.names in (Naming.A_FILE, Naming.A_PATCH):
        return "mutate"
    if row.tool == "note":
        return "note"
    if row.access is Access.CHECKPOINT:
        return "checkpoint"
    return "read" if row.access is Access.READ and row.is_plain else "run"


def _quote(call: Called, command: str) -> str:
    if command:
        return one_line(command, QUOTE)
    path = text_in(call.args, PATH_FIELDS)
    patch = "" if path else text_in(call.args, PATCH_FIELDS)
    return one_line(f"{call.tool} {path or ', '.join(patched_files(patch))}".strip(), QUOTE)


def _paths(call: Called, row: HostTool) -> tuple[str, ...]:
    if call.tool in EDITORS:
        return (words(call.args.get("path")),)
    match row.names:
        case Naming.A_FILE:
            path = text_in(call.args, PATH_FIELDS)
            return (path,) if path else ()
        case Naming.A_PATCH:
            return patched_files(text_in(call.args, PATCH_FIELDS))
        case _:
            return ()


def step_of_action(action: AuditedCall, call: Called, result: CallResult, reply: int) -> GuardStep:
    """Return the part of a call that the guards compare."""
    text = result.text
    if len(text) > 2 * SEEN_OF_OUTCOME:
        text = text[:SEEN_OF_OUTCOME] + text[-SEEN_OF_OUTCOME:]
    seen = without_noise(text)
    is_error = action.kind in ("verify", "run") and bool(result.status)
    error = digest([result.status, fingerprint(seen)]) if is_error else ""
    mark = digest([call.tool, _asked(call)])
    return GuardStep(mark, digest(seen), action.kind, ok=result.ok, error=error, reply=reply)


SAID_OF_CALLS = frozenset({"description", "timeout", "instruction"})


def _asked(call: Called) -> dict[str, object]:
    """Return what a call asks for, without the model's own description of it."""
    return {name: value for name, value in call.args.items() if name not in SAID_OF_CALLS}


DOCUMENT = regex(r"(?i)(?:.*/)?(?:[^/]*\.(?:md|mdx|rst|txt|adoc|svg|png)|licen[cs]e|changelog)")


def is_document(path: str) -> bool:
    """Return whether a file is a document, so that nothing can be run."""
    return bool(DOCUMENT.fullmatch(path))
