from __future__ import annotations

import pytest

from flyball.terms.call import Access
from flyball.terms.phase import Phase
from flyball.terms.tool import (
    ALIASES,
    COMMANDS,
    FREE_TOOLS,
    REACH,
    TOOL_ROWS,
    Touch,
    field_name,
    is_reachable,
    plain_name,
    tool_name,
)


def test_names_and_aliases_are_each_of_one_tool():
    names = [name for row in TOOL_ROWS.values() for name in (row.name, *row.aliases)]
    assert len(set(names)) == len(names)
    assert ALIASES["shell_exec"] == "bash"
    assert tool_name("CREATE_FILE_BINARY") == "write_file"
    assert tool_name("read") == "read"
    assert tool_name("frobnicate") is None


def test_no_other_spelling_means_two_tools_or_two_fields():
    names = [
        plain_name(name)
        for row in TOOL_ROWS.values()
        for name in {plain_name(each) for each in (row.name, *row.aliases, *row.also_called)}
    ]
    assert len(set(names)) == len(names)
    for row in TOOL_ROWS.values():
        fields = [field for own, others in row.spelt.items() for field in (own, *others)]
        assert {n for n in fields if fields.count(n) > 1} == set(), row.name


@pytest.mark.parametrize(
    ("spoken", "own"),
    [
        ("Read", "read"),
        ("READ_FILE", "read"),
        ("readFile", "read"),
        ("read-file", "read"),
        (" read ", "read"),
        ("functions.read", "read"),
        ("functions.readFile", "read"),
        ("default_api:grep", "grep"),
        ("mcp__files__read_file", "read"),
        ("tools/edit_diff", "edit_diff"),
        ("grep_tool", "grep"),
        ("Bash", "bash"),
        ("run_terminal_cmd", "bash"),
        ("TodoWrite", "note"),
        ("MultiEdit", "edit_diff"),
        ("LS", "list"),
        ("", None),
        ("finish", None),
    ],
)
def test_a_name_that_can_only_mean_one_tool(spoken, own):
    assert tool_name(spoken) == own


@pytest.mark.parametrize(
    ("tool", "spoken", "own"),
    [
        ("read", "path", "path"),
        ("read", "file_path", "path"),
        ("read", "filePath", "path"),
        ("read", "Path", "path"),
        ("grep", "pattern", "q"),
        ("list", "pattern", "pattern"),
        ("edit_diff", "keep_regions", "keep_regions"),
        ("bash", "command", "cmd"),
        ("read", "nonsense", "nonsense"),
    ],
)
def test_a_field_that_can_only_mean_one(tool, spoken, own):
    assert field_name(tool, spoken) == own


def test_nothing_but_its_own_name_confirms_or_releases_anything():
    for row in TOOL_ROWS.values():
        assert not {"confirm", "keepRegions"} & set(row.spelt)


def test_what_is_true_of_some_tools_follows_from_their_rows():
    assert {"checkpoint", "note", "appeal", "conflict"} == FREE_TOOLS
    assert {"bash", "git", "dev_server_start", "dev_server_stop"} == COMMANDS
    stays = {row.name for row in TOOL_ROWS.values() if row.leaves_tree}
    assert stays == {
        "read", "list", "grep", "git_log", "project", "dev_server_list", "dev_server_logs",
        "http_probe", "browser_console", "visual_qa",
    }  # fmt: skip
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
        assert is_reachable("conflict", Access.READ, phase)
        assert not is_reachable("read", Access.READ, phase)


def test_a_call_may_be_of_a_smaller_class_than_its_tool():
    assert not is_reachable("bash", Access.MUTATE, Phase.VERIFY)
    assert is_reachable("bash", Access.READ, Phase.VERIFY)


@pytest.mark.parametrize("phase", Phase)
def test_a_tool_that_is_unknown_is_judged_by_its_class(phase: Phase):
    assert is_reachable("frobnicate", Access.READ, phase) == (Access.READ in REACH[phase])
