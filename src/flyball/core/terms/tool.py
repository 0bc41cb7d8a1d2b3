"""The tools, one row each: what the core judges a call by before any tool is asked.

What only the shell knows of a tool (its form, its deed, its words for the driver) is in `tools`; a
test holds the two lists against each other. Nothing else may list tools by name: what is true of
some of them is a column here, and the set of those is derived from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from flyball.core.terms.call import Access
from flyball.core.terms.phase import Phase


class Touch(StrEnum):
    """The most that a tool can do outside the run's own record."""

    NOTHING = "nothing: it is words"
    WORKSPACE = "reads the workspace"
    ADDRESS = "asks an address"
    NAMED_FILES = "writes the files that it names"
    ANYTHING = "starts a program"


class ToolRow(NamedTuple):
    """One tool: its names, its class, what it may touch, and where it is shown besides."""

    name: str
    access: Access
    touches: Touch
    aliases: tuple[str, ...] = ()
    also_in: tuple[Phase, ...] = ()
    """Phases that show it although they do not reach its class."""
    writes_text: bool = False
    """Whether its arguments hold the new text of files: the driver knows them without reading."""

    @property
    def starts_process(self) -> bool:
        """Whether a program of the project's may run, and so may change any file."""
        return self.touches is Touch.ANYTHING

    @property
    def leaves_tree(self) -> bool:
        """Whether the tree after it is the tree before it, without looking."""
        return self.touches in (Touch.WORKSPACE, Touch.ADDRESS)

    def is_shown_in(self, phase: Phase, access: Access | None = None) -> bool:
        """Whether a phase shows and allows it; `access` where one call is of another class."""
        return (access or self.access) in REACH[phase] or phase in self.also_in


EVERYTHING = frozenset(Access)
LOOKING = frozenset({Access.READ, Access.VERIFY, Access.CHECKPOINT})
SPEAKING = (Phase.DESIGN, Phase.CHECKPOINT)
"""Phases without a look at anything, where a driver may still note something or object."""

REACH: Mapping[Phase, frozenset[Access]] = MappingProxyType(
    {
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
)
"""Which classes of tools each phase shows and allows."""

_ROWS = (
    ToolRow("read", Access.READ, Touch.WORKSPACE, ("READ", "fs_read")),
    ToolRow("list", Access.READ, Touch.WORKSPACE, ("fs_list",)),
    ToolRow("grep", Access.READ, Touch.WORKSPACE, ("GREP", "fs_grep")),
    ToolRow("git_log", Access.READ, Touch.WORKSPACE),
    ToolRow("project", Access.READ, Touch.WORKSPACE, ("projects_get",)),
    ToolRow("checkpoint", Access.CHECKPOINT, Touch.NOTHING, ("EMIT_PLAN",)),
    ToolRow(
        "edit_diff",
        Access.MUTATE,
        Touch.NAMED_FILES,
        ("EDIT_DIFF", "fs_edit"),
        writes_text=True,
    ),
    ToolRow(
        "write_file",
        Access.MUTATE,
        Touch.NAMED_FILES,
        ("fs_write", "CREATE_FILE_BINARY"),
        writes_text=True,
    ),
    ToolRow("delete_file", Access.MUTATE, Touch.NAMED_FILES, ("fs_delete",)),
    ToolRow("bash", Access.MUTATE, Touch.ANYTHING, ("BASH", "shell_exec")),
    ToolRow("git", Access.MUTATE, Touch.ANYTHING, ("GIT",)),
    ToolRow("test", Access.VERIFY, Touch.ANYTHING, ("TEST",)),
    ToolRow("check", Access.VERIFY, Touch.ANYTHING),
    ToolRow("http_probe", Access.VERIFY, Touch.ADDRESS),
    ToolRow("localise_faults", Access.VERIFY, Touch.ANYTHING),
    ToolRow("try_candidates", Access.VERIFY, Touch.ANYTHING),
    ToolRow("note", Access.READ, Touch.NOTHING, ("META", "PROCEED"), also_in=SPEAKING),
    ToolRow("appeal", Access.READ, Touch.NOTHING, also_in=SPEAKING),
)

TOOL_ROWS: Mapping[str, ToolRow] = MappingProxyType({row.name: row for row in _ROWS})

TOOL_ACCESS: Mapping[str, Access] = MappingProxyType({row.name: row.access for row in _ROWS})
ALIASES: Mapping[str, str] = MappingProxyType(
    {alias: row.name for row in _ROWS for alias in row.aliases}
)
FREE_TOOLS = frozenset(row.name for row in _ROWS if row.touches is Touch.NOTHING)
"""Tools that look at and touch nothing: they cost no budget."""

COMMANDS = frozenset(
    row.name for row in _ROWS if row.starts_process and row.access is Access.MUTATE
)
"""Mutating tools whose effect is known only by looking: a failure is no failed edit."""


def tool_name(name: str) -> str | None:
    """The tool's own name for a name or alias, or None where nothing is called that."""
    return name if name in TOOL_ROWS else ALIASES.get(name)


def is_reachable(tool: str, access: Access, phase: Phase) -> bool:
    """Whether a phase shows and allows this tool; one that nobody knows is judged by its class."""
    row = TOOL_ROWS.get(tool)
    return row.is_shown_in(phase, access) if row else access in REACH[phase]
