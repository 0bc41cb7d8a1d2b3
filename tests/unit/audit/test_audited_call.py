"""Calls of hosts, as actions."""

from __future__ import annotations

import pytest
from tests.unit.audit.telling import LOOKS

from flyball.agents.entry import Called, CallResult
from flyball.audit.audited_call import action_of, is_document, step_of_action
from flyball.audit.finding import PRECISE, RULES, AuditRule

PATCH = "*** Begin Patch\n*** Update File: cart.py\n@@\n-a\n+b\n*** End Patch\n"


@pytest.mark.parametrize(
    ("tool", "args", "kind", "paths", "quote"),
    [
        ("Read", {"file_path": "a"}, "read", (), "Read a"),
        ("Edit", {"file_path": "a"}, "mutate", ("a",), "Edit a"),
        ("Write", {}, "mutate", (), "Write"),
        ("apply_patch", {"input": PATCH}, "mutate", ("cart.py",), "apply_patch cart.py"),
        ("Bash", {"command": "pytest -q"}, "verify", (), "pytest -q"),
        ("Bash", {"command": " "}, "run", (), "Bash"),
        ("TodoWrite", {}, "note", (), "TodoWrite"),
        ("ExitPlanMode", {}, "checkpoint", (), "ExitPlanMode"),
        ("Task", {}, "run", (), "Task"),
        ("mcp__db__query", {}, "run", (), "mcp__db__query"),
        (
            "str_replace_editor",
            {"command": "view", "path": "a"},
            "read",
            ("a",),
            "str_replace_editor a",
        ),
        (
            "str_replace_editor",
            {"command": "create", "path": "a"},
            "mutate",
            ("a",),
            "str_replace_editor a",
        ),
    ],
)
def test_a_call_is_what_its_tool_does(
    tool: str, args: dict[str, str], kind: str, paths: tuple[str, ...], quote: str
):
    action = action_of(Called(1.0, "c", tool, args), CallResult(1.0, "c", "ok"), LOOKS)
    assert (action.kind, action.paths, action.quote) == (kind, paths, quote)


def test_a_long_outcome_is_compared_by_its_ends():
    call = Called(1.0, "c", "Bash", {"command": "make", "description": "one"})
    other = Called(1.0, "d", "Bash", {"command": "make", "description": "two"})
    steps = [
        step_of_action(action_of(each, result, LOOKS), each, result, 1)
        for each, result in (
            (call, CallResult(1.0, "c", "a" * 20_000)),
            (other, CallResult(1.0, "d", "a" * 30_000)),
        )
    ]
    assert steps[0] == steps[1]


def test_documents_are_for_reading_only():
    assert is_document("docs/guide.md")
    assert is_document("LICENSE")
    assert not is_document("cart.py")


def test_a_rule_that_was_not_measured_prevents_nothing():
    rule = AuditRule("x", "x", "x", leaves_effect=True)
    assert rule.precision == 0.0
    assert not rule.may_be_caught


def test_a_rule_that_is_often_wrong_prevents_nothing():
    assert not AuditRule("x", "x", "x", right=8, wrong=2, leaves_effect=True).may_be_caught
    assert AuditRule("x", "x", "x", right=9, wrong=1, leaves_effect=True).may_be_caught
    assert not AuditRule("x", "x", "x", right=9).may_be_caught
    assert PRECISE == 0.9


def test_rules_are_named_as_they_are_found():
    assert all(name == rule.name for name, rule in RULES.items())
