"""Tool calls: who may ask for what, under which names."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from flyball.core.terms.phase import Phase


class Access(StrEnum):
    """What a tool does to the world."""

    READ = "read-only"
    MUTATE = "mutating"
    VERIFY = "verification"
    CHECKPOINT = "checkpoint"

    @property
    def verb(self) -> str:
        return {
            Access.READ: "only reads",
            Access.MUTATE: "changes things",
            Access.VERIFY: "runs the project",
            Access.CHECKPOINT: "states a checkpoint",
        }[self]


TOOL_ACCESS: dict[str, Access] = {
    "read": Access.READ,
    "list": Access.READ,
    "grep": Access.READ,
    "git_log": Access.READ,
    "dev_server_list": Access.READ,
    "dev_server_logs": Access.READ,
    "project": Access.READ,
    "note": Access.READ,
    "appeal": Access.READ,
    "edit_diff": Access.MUTATE,
    "write_file": Access.MUTATE,
    "delete_file": Access.MUTATE,
    "bash": Access.MUTATE,
    "dev_server_start": Access.MUTATE,
    "dev_server_stop": Access.MUTATE,
    "git": Access.MUTATE,
    "test": Access.VERIFY,
    "check": Access.VERIFY,
    "localise_faults": Access.VERIFY,
    "try_candidates": Access.VERIFY,
    "browser_console": Access.VERIFY,
    "visual_qa": Access.VERIFY,
    "http_probe": Access.VERIFY,
    "checkpoint": Access.CHECKPOINT,
}

ALIASES: dict[str, str] = {
    "READ": "read",
    "fs_read": "read",
    "fs_list": "list",
    "GREP": "grep",
    "fs_grep": "grep",
    "projects_get": "project",
    "META": "note",
    "EDIT_DIFF": "edit_diff",
    "fs_edit": "edit_diff",
    "fs_write": "write_file",
    "CREATE_FILE_BINARY": "write_file",
    "fs_delete": "delete_file",
    "BASH": "bash",
    "shell_exec": "bash",
    "GIT": "git",
    "TEST": "test",
    "request_visual_qa": "visual_qa",
}

FREE_TOOLS = frozenset({"checkpoint", "note", "appeal"})
"""Tools that look at and touch nothing: they cost no budget."""

EVERYTHING = frozenset(Access)
LOOKING = frozenset({Access.READ, Access.VERIFY, Access.CHECKPOINT})

REACH: dict[Phase, frozenset[Access]] = {
    Phase.ANALYZE_CODE: LOOKING,
    Phase.RESEARCH: LOOKING,
    Phase.DESIGN: frozenset({Access.CHECKPOINT}),
    Phase.CHECKPOINT: frozenset({Access.CHECKPOINT}),
    Phase.EXECUTE: EVERYTHING,
    Phase.VERIFY: LOOKING,
    Phase.FINAL: frozenset(),
    Phase.PAUSED: frozenset(),
    Phase.SUCCEEDED: frozenset(),
    Phase.FAILED: frozenset(),
    Phase.CANCELLED: frozenset(),
}

REMARKS = frozenset({"note", "appeal"})
"""Words rather than deeds: allowed wherever a driver may speak with tools at all."""


def tool_name(name: str) -> str | None:
    """The tool's own name for a name or alias, or None where nothing is called that."""
    if name in TOOL_ACCESS:
        return name
    return ALIASES.get(name)


def is_reachable(tool: str, access: Access, phase: Phase) -> bool:
    """Whether a phase shows and allows this tool."""
    if tool in REMARKS:
        return phase in (Phase.DESIGN, Phase.CHECKPOINT) or Access.READ in REACH[phase]
    return access in REACH[phase]


class PathFact(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the one resolver found out about a path that a call names."""

    path: str
    inside: bool = True
    protected: str = ""
    untracked: bool = False
    write: bool = False


class CommandFact(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the one judge of commands found out about a command that a call names."""

    command: str
    kind: str
    decision: str = "allow"
    reason: str = ""


class Call(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool call that someone asks for, with the facts needed to judge it.

    A call that could not be understood carries its fault and is never performed.
    """

    id: str
    tool: str
    args: dict[str, object] = msgspec.field(default_factory=dict[str, object])
    access: Access = Access.READ
    digest: str = ""
    paths: tuple[PathFact, ...] = ()
    command: CommandFact | None = None
    confirmed: bool = False
    destructive: str = ""
    keeps_regions: bool = True
    fault: str = ""

    @property
    def writes(self) -> tuple[str, ...]:
        """The paths it would change."""
        return tuple(fact.path for fact in self.paths if fact.write)


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came back from a call."""

    ok: bool
    text: str = ""
    data: dict[str, object] = msgspec.field(default_factory=dict[str, object])
    digest: str = ""
    error: str = ""
    elapsed: float = 0.0
    bytes: int = 0
    cut: int = 0
    artifact: str = ""
