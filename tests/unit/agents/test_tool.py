"""What the tools of hosts are to us."""

from __future__ import annotations

import pytest

from flyball.agents.event import GO_ON
from flyball.agents.tool import (
    COMMAND_FIELDS,
    HOST_TOOLS,
    PATH_FIELDS,
    UNKNOWN,
    Naming,
    files_in_words,
    host_tool,
    patched_files,
    text_in,
    texts_in,
)
from flyball.terms.call import Access
from flyball.terms.tool import TOOL_ROWS


def test_a_host_goes_on_where_nothing_is_said():
    assert (GO_ON.is_refused, GO_ON.text, GO_ON.notice) == (False, "", "")


def test_every_tool_of_a_host_is_judged_as_one_of_ours():
    assert {row.tool for row in HOST_TOOLS.values()} <= set(TOOL_ROWS)


@pytest.mark.parametrize("name", ["Write", "Edit", "replace", "apply_patch", "Bash", "write"])
def test_what_writes_or_runs_is_no_reader(name: str):
    assert host_tool(name).access is Access.MUTATE
    assert host_tool(name).names is not Naming.NOTHING


@pytest.mark.parametrize(
    "name", ["mcp__flyball__{}", "mcp_flyball_{}", "flyball__{}", "flyball_{}"], ids=str
)
def test_our_own_server_is_known_by_whatever_name_a_host_gives_it(name: str):
    assert host_tool(name.format("checkpoint")).access is Access.CHECKPOINT
    for tool in ("next_step", "edit_diff", "request_approval"):
        row = host_tool(name.format(tool))
        assert (row.tool, row.access, row.is_plain) == ("note", Access.READ, False)
    assert host_tool(name.format("revert")) is UNKNOWN
    assert host_tool(name.format("approve")) is UNKNOWN


@pytest.mark.parametrize(
    "name",
    [
        "enter_plan_mode",
        "exit_plan_mode",
        "plan_enter",
        "plan_exit",
        "web_search",
        "list_mcp_resources",
        "read_mcp_resource",
        "ListMcpResourcesTool",
        "ReadMcpResourceTool",
        "StructuredOutput",
        "list_dir",
    ],
)
def test_what_is_harmless_is_plain(name: str):
    row = host_tool(name)
    assert (row.access, row.is_plain) == (Access.READ, True)


@pytest.mark.parametrize("name", ["Frobnicate", "mcp__lab__put_file", "", "lab_put_file"])
def test_a_tool_that_is_unknown_may_do_anything(name: str):
    assert host_tool(name) is UNKNOWN
    assert UNKNOWN.access is Access.MUTATE
    assert not UNKNOWN.is_plain


def test_a_person_can_vouch_for_a_reader_and_its_effects_are_looked_at_still():
    row = host_tool("mcp__docs__search", ["mcp__docs__*"])
    assert row.access is Access.READ
    assert not row.is_plain
    assert host_tool("mcp__lab__put_file", ["mcp__docs__*"]) is UNKNOWN


def test_arguments_are_found_under_any_of_their_names():
    assert text_in({"cmd": "ls"}, COMMAND_FIELDS) == "ls"
    assert text_in({"command": ["git", "status"]}, COMMAND_FIELDS) == "git status"
    assert text_in({"command": "  ", "script": "x"}, COMMAND_FIELDS) == "x"
    assert text_in({"command": 3}, COMMAND_FIELDS) == ""


def test_every_argument_that_may_be_meant_is_found_once():
    args = {"filePath": "/etc/x", "file_path": "cart.py", "path": "cart.py", "file": 3}
    assert texts_in(args, PATH_FIELDS) == ("cart.py", "/etc/x")
    assert texts_in({}, PATH_FIELDS) == ()


def test_the_words_of_a_list_stay_the_words_they_are():
    args = {"command": ["bash", "-lc", "find . -delete"]}
    assert text_in(args, COMMAND_FIELDS) == "bash -lc 'find . -delete'"


def test_the_files_of_a_patch_are_read_in_both_notations():
    envelope = (
        "*** Begin Patch\n*** Add File: new.py\n+x\n*** Update File: a/b.py\n*** Move to: c.py\n"
        "*** Delete File: old.py\n*** End Patch\n"
    )
    assert patched_files(envelope) == ("new.py", "a/b.py", "c.py", "old.py")
    unified = "--- a/cart.py\n+++ b/cart.py\n@@\n-x\n+y\n--- /dev/null\n+++ b/new.py\n"
    assert patched_files(unified) == ("cart.py", "new.py")
    assert patched_files("no patch") == ()


@pytest.mark.parametrize("space", ["  ", "\t", "\u2003", "\u2028"], ids=ascii)
def test_the_marks_of_a_patch_are_seen_behind_spaces(space: str):
    body = f"*** Add File: a.txt\n+x\n{space}*** Add File: /etc/x\n{space}*** Move to:  y"
    assert patched_files(body) == ("a.txt", "/etc/x", "y")
    assert patched_files("*** Add File: a.txt\n+*** Add File: b.txt\n") == ("a.txt",)


def test_files_are_found_in_prose():
    plan = "1. Mend `src/cart.py` and ./test_cart.py; see docs/a.md. Nothing else."
    assert files_in_words(plan) == ("src/cart.py", "test_cart.py", "docs/a.md")
