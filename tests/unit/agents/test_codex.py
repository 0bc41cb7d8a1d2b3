"""Codex's rollouts."""

from __future__ import annotations

from typing import Any

import pytest

from flyball.agents.codex import codex_entries, edits_of_patch
from flyball.agents.entry import (
    Billing,
    Called,
    CallResult,
    FileEdit,
    Interrupted,
    Opened,
    Prompted,
    Spoke,
)

AT = "2026-11-16T17:00:00Z"


def line(kind: str, **payload: object) -> dict[str, Any]:
    return {"type": kind, "timestamp": AT, "payload": payload}


def item(kind: str, **payload: object) -> dict[str, Any]:
    return line("response_item", type=kind, **payload)


def message(role: str, text: str) -> dict[str, Any]:
    return item("message", role=role, content=[{"type": "text", "text": text}])


def total(fresh: int, cached: int = 0, output: int = 0) -> dict[str, Any]:
    usage = {"input_tokens": fresh + cached, "cached_input_tokens": cached, "output_tokens": output}
    return line("event_msg", type="token_count", info={"total_token_usage": usage})


def outcome(call: dict[str, Any], output: object) -> CallResult:
    lines = [call, item("function_call_output", call_id="c", output=output)]
    found = [each for each in codex_entries(lines) if isinstance(each, CallResult)]
    return found[0]


def asked(command: str = "ls") -> dict[str, Any]:
    return item(
        "function_call", call_id="c", name="exec_command", arguments=f'{{"cmd": "{command}"}}'
    )


def test_the_first_head_names_the_session_and_later_turns_may_move_it():
    lines = [
        line("session_meta", id="one", cwd="/shop", source="exec"),
        line("session_meta", id="two", cwd="/other"),
        line("turn_context", cwd="/shop", model="gpt-5"),
        line("turn_context", cwd="/shop/part"),
    ]
    assert [*codex_entries(lines)] == [Opened("one", "/shop"), Opened("one", "/shop/part")]


def test_a_sub_agent_is_recognised():
    for source in ({"subagent": {}}, "subagent"):
        assert next(codex_entries([line("session_meta", id="s", source=source)])) == Opened(
            "s", "", is_agent=True
        )
    assert next(codex_entries([line("session_meta", id="s", source=7)])) == Opened("s")


def test_words_are_the_persons_or_the_models_and_not_the_hosts():
    lines = [
        message("user", "<environment_context>x</environment_context>"),
        message("user", "# AGENTS.md instructions"),
        message("developer", "be good"),
        message("user", "fix it"),
        message("user", ""),
        message("assistant", "Fixed."),
    ]
    at = 1_794_848_400.0
    assert [*codex_entries(lines)] == [Prompted(at, "fix it"), Spoke(at, "Fixed.")]


@pytest.mark.parametrize(
    ("output", "text", "ok", "status"),
    [
        ("Wall time: 1\nProcess exited with code 0\nOutput:\nfine\n", "fine\n", True, 0),
        ("Exit code: 3\nOutput:\nno", "no", False, 3),
        ('{"output": "x", "metadata": {"exit_code": 1}}', "x", False, 1),
        ('{"output": "x"}', "x", True, None),
        ("apply_patch verification failed: no such line", None, False, None),
        ([{"type": "text", "text": "parts"}], "parts", True, None),
        (None, "", True, None),
    ],
)
def test_an_outcome_is_read_without_what_the_host_puts_around_it(
    output: object, text: str | None, ok: bool, status: int | None
):
    result = outcome(asked(), output)
    assert (result.text, result.ok, result.status) == (
        output if text is None else text,
        ok,
        status,
    )


def test_a_file_that_was_printed_whole_was_seen():
    result = outcome(asked("cat cart.py"), "Exit code: 0\nOutput:\nx = 1\n")
    assert result.seen == (("cart.py", "x = 1\n"),)
    assert outcome(asked("cat a b"), "Exit code: 0\nOutput:\nx\n").seen == ()


def test_an_outcome_without_its_call_is_reported_as_it_is():
    lines = [item("function_call_output", call_id="gone", output="x")]
    assert [*codex_entries(lines)] == [CallResult(1_794_848_400.0, "gone", "x")]


PATCH = """\
*** Begin Patch
*** Update File: cart.py
@@ def total
 x = 1
-y = 2
+y = 3
@@
+z = 4
*** Add File: new.py
+a
+b
*** Delete File: old.py
*** End Patch
"""


def test_a_patch_is_read_hunk_by_hunk():
    assert edits_of_patch(PATCH) == (
        FileEdit("cart.py", "x = 1\ny = 2\n", "x = 1\ny = 3\n"),
        FileEdit("cart.py", "", "z = 4\n"),
        FileEdit("new.py", None, "a\nb\n", is_whole=True),
        FileEdit("old.py", "", None, is_whole=True),
    )


def test_an_applied_patch_changed_files_and_a_refused_one_did_not():
    call = item("custom_tool_call", call_id="c", name="apply_patch", input=PATCH)
    assert len(outcome(call, "Exit code: 0\nOutput:\nDone").edits) == 4
    assert outcome(call, "Exit code: 1\nOutput:\nno").edits == ()


@pytest.mark.parametrize(
    ("given", "args"),
    [
        ('{"cmd": "ls"}', {"cmd": "ls"}),
        ("{broken", {"input": "{broken"}),
        ("plain", {"input": "plain"}),
        ({"command": ["ls"]}, {"command": ["ls"]}),
        (7, {"input": ""}),
    ],
)
def test_arguments_are_read_however_they_are_written(given: object, args: object):
    (call,) = codex_entries([item("local_shell_call", call_id="c", action=given)])
    assert isinstance(call, Called)
    assert (call.tool, call.args) == ("shell", args)


def bills(*lines: dict[str, Any]) -> list[tuple[str, int, int]]:
    found = [each.bill for each in codex_entries(lines) if isinstance(each, Billing)]
    return [(bill.id, bill.fresh, bill.output) for bill in found]


def test_each_reply_is_billed_for_what_it_added():
    lines = (total(10), total(10), total(25, output=5), total(3))
    assert bills(line("session_meta", id="s"), *lines) == [
        ("s/10", 10, 0),
        ("s/30", 15, 5),
        ("s/3", 3, 0),
    ]


def test_a_fork_bills_what_it_copied_under_the_name_of_where_it_came_from():
    ours = bills(line("session_meta", id="one"), total(10))
    fork = bills(line("session_meta", id="two", forked_from_id="one"), total(10), total(20))
    assert fork == [*ours, ("one/20", 10, 0)]


def test_an_interruption_by_the_person_is_reported():
    (entry,) = codex_entries([line("event_msg", type="turn_aborted", reason="interrupted")])
    assert isinstance(entry, Interrupted)


def test_what_is_unknown_is_passed_over():
    assert [
        *codex_entries([{"type": "new"}, {"payload": "odd"}, line("response_item", type="x")])
    ] == []
