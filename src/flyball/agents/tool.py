"""The tools of hosts, one row each: which of Flyball's own tools a call is judged as.

A name means the same in every host that has it. An unknown one may do anything, so it is judged as
a tool that changes things.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple, cast

from flyball.regex import regex
from flyball.terms.call import Access
from flyball.terms.glob import matches

PATH_FIELDS = ("file_path", "filePath", "notebook_path", "absolute_path", "path", "file")
COMMAND_FIELDS = ("command", "cmd", "script")
PATCH_FIELDS = ("command", "patch", "patchText", "input")

PLAN_EXIT = "ExitPlanMode"
"""The call by which a model shows its plan to the person, who accepts it in the host."""


class Naming(StrEnum):
    """What the arguments of a host's tool mean."""

    NOTHING = "nothing"
    A_FILE = "a file"
    A_COMMAND = "a shell command"
    A_PATCH = "a patch"


class HostTool(NamedTuple):
    """How Flyball treats a host's tool."""

    tool: str
    access: Access
    names: Naming = Naming.NOTHING
    is_plain: bool = True
    """Whether it only does what it says; after any other tool the tree is inspected."""


_READS = HostTool("read", Access.READ)
_WRITES = HostTool("write_file", Access.MUTATE, Naming.A_FILE)
_RUNS = HostTool("bash", Access.MUTATE, Naming.A_COMMAND, is_plain=False)
_SPEAKS = HostTool("note", Access.READ)
_LEADS_ON = HostTool("bash", Access.READ, is_plain=False)
"""Starts something whose own calls are judged, or whose effects alone can be seen."""
_ASKS_US = HostTool("note", Access.READ, is_plain=False)
"""A tool of Flyball's own server: judged there, and only observed here."""
UNKNOWN = HostTool("bash", Access.MUTATE, is_plain=False)

_READERS = """
    Read NotebookRead Grep Glob LS ToolSearch BashOutput TaskOutput WebFetch WebSearch LSP
    ListMcpResourcesTool ReadMcpResourceTool
    read_file read_many_files list_directory glob search_file_content grep_search web_fetch
    google_web_search view_image web_search list_dir
    list_mcp_resources list_mcp_resource_templates read_mcp_resource
    read list grep webfetch websearch lsp codesearch
"""
_WRITERS = "Write Edit MultiEdit NotebookEdit write_file replace write edit multiedit"
_RUNNERS = "Bash Monitor PowerShell run_shell_command bash shell exec_command"
_SPEAKERS = """
    TodoWrite TodoRead TaskCreate TaskUpdate TaskGet TaskList AskUserQuestion EnterPlanMode
    update_plan request_user_input write_todos ask_user todowrite todoread question
    enter_plan_mode exit_plan_mode plan_enter plan_exit StructuredOutput
"""
_LEADERS = """
    Agent Task Skill SlashCommand KillShell KillBash TaskStop SendMessage
    spawn_agent collaborationspawn_agent wait_agent close_agent send_input
    invoke_agent activate_skill task skill
"""

_LISTED = (
    (_READS, _READERS),
    (_WRITES, _WRITERS),
    (_RUNS, _RUNNERS),
    (HostTool("edit_diff", Access.MUTATE, Naming.A_PATCH), "apply_patch patch"),
    (_SPEAKS, _SPEAKERS),
    (_LEADS_ON, _LEADERS),
    (HostTool("checkpoint", Access.CHECKPOINT), PLAN_EXIT),
)

_OURS = regex(r"(?:mcp__?)?flyball__?(\w+)")
"""Flyball's own tools, by the names that hosts give to those of a server called `flyball`."""
_OURS_THAT_ASK = """
    start_run next_step submit_evidence read grep edit_diff test status request_approval
"""
_OUR_ROWS: Mapping[str, HostTool] = MappingProxyType(
    {
        "checkpoint": HostTool("checkpoint", Access.CHECKPOINT),
        "conflict": HostTool("conflict", Access.READ),
        **dict.fromkeys(_OURS_THAT_ASK.split(), _ASKS_US),
    }
)

HOST_TOOLS: Mapping[str, HostTool] = MappingProxyType(
    {name: row for row, names in _LISTED for name in names.split()}
)


def host_tool(name: str, read_only: Sequence[str] = ()) -> HostTool:
    """Return the row of a host's tool; `read_only` holds patterns that a person declared safe."""
    if known := HOST_TOOLS.get(name):
        return known
    if (ours := _OURS.fullmatch(name)) and ours[1] in _OUR_ROWS:
        return _OUR_ROWS[ours[1]]
    return _LEADS_ON if matches(name, read_only) else UNKNOWN


def text_in(args: Mapping[str, object], fields: Sequence[str]) -> str:
    """Return the first of these arguments that is text; a list is joined as words of a command."""
    return next(iter(texts_in(args, fields)), "")


def texts_in(args: Mapping[str, object], fields: Sequence[str]) -> tuple[str, ...]:
    """Return every text in these arguments once, since the host may use any of them."""
    found = (_text(args.get(field)) for field in fields)
    return tuple(dict.fromkeys(text for text in found if text.strip()))


def _text(value: object) -> str:
    if isinstance(value, list):
        return shlex.join(map(str, cast(list[object], value)))
    return value if isinstance(value, str) else ""


# Hosts trim the lines of an envelope before they read them; those of a diff begin where they begin.
PATCHED = (
    r"^(?:[^\S\n]*\*\*\*\s*(?:(?:Add|Update|Delete) File|Move to):[^\S\n]*"
    r"|(?:\+\+\+|---) (?:[ab]/)?)(.+?)\s*$"
)
"""The lines of a patch that name a file, in either notation."""
_PATCHED = regex(PATCHED, re.MULTILINE)


def patched_files(patch: str) -> tuple[str, ...]:
    """Return the files that a patch names, in either notation."""
    found = (match.group(1) for match in _PATCHED.finditer(patch))
    return tuple(dict.fromkeys(name for name in found if name != "/dev/null"))


_NAMED_FILE = regex(r"(?<![\w/.-])(?:\./)?((?:[\w.-]+/)*[\w-][\w.-]*\.\w{1,8})(?![\w/])")


def files_in_words(text: str) -> tuple[str, ...]:
    """Return the words of a plan in prose that look like file names."""
    return tuple(dict.fromkeys(match.group(1) for match in _NAMED_FILE.finditer(text)))
