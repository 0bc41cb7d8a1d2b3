from __future__ import annotations

import pytest

from flyball.core.terms.call import Access
from flyball.core.terms.phase import Phase
from flyball.core.terms.tool import (
    ALIASES,
    COMMANDS,
    FREE_TOOLS,
    REACH,
    TOOL_ROWS,
    Touch,
    is_reachable,
    tool_name,
)


def test_names_and_aliases_are_each_of_one_tool():
    names = [name for row in TOOL_ROWS.values() for name in (row.name, *row.aliases)]
    assert len(set(names)) == len(names)
    assert ALIASES["shell_exec"] == "bash"
    assert tool_name("CREATE_FILE_BINARY") == "write_file"
    assert tool_name("read") == "read"
    assert tool_name("frobnicate") is None


def test_what_is_true_of_some_tools_follows_from_their_rows():
    assert {"checkpoint", "note", "appeal"} == FREE_TOOLS
    assert {"bash", "git"} == COMMANDS
    stays = {row.name for row in TOOL_ROWS.values() if row.leaves_tree}
    assert stays == {"read", "list", "grep", "git_log", "project", "http_probe"}
    assert {row.name for row in TOOL_ROWS.values() if row.writes_text} == {
        "edit_diff",
        "write_file",
    }


@pytest.mark.parametrize("row", TOOL_ROWS.values(), ids=lambda row: row.name)
def test_a_class_and_what_a_tool_touches_fit(row):
    if row.touches is Touch.NAMED_FILES:
        assert row.access is Access.MUTATE
    if row.access is Access.MUTATE:
        assert row.touches in (Touch.NAMED_FILES, Touch.ANYTHING)
    assert row.is_shown_in(Phase.EXECUTE)
    assert not row.is_shown_in(Phase.FINAL)


def test_words_are_allowed_where_nothing_is_looked_at():
    for phase in (Phase.DESIGN, Phase.CHECKPOINT):
        assert is_reachable("note", Access.READ, phase)
        assert is_reachable("appeal", Access.READ, phase)
        assert not is_reachable("read", Access.READ, phase)


def test_a_call_may_be_of_a_smaller_class_than_its_tool():
    assert not is_reachable("bash", Access.MUTATE, Phase.VERIFY)
    assert is_reachable("bash", Access.READ, Phase.VERIFY)


@pytest.mark.parametrize("phase", Phase)
def test_a_tool_that_nobody_knows_is_judged_by_its_class(phase: Phase):
    assert is_reachable("frobnicate", Access.READ, phase) == (Access.READ in REACH[phase])
