"""Claude Code's transcripts."""

from __future__ import annotations

from typing import Any

import pytest

from flyball.agents.claude import claude_entries
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


def line(kind: str, content: object, **more: object) -> dict[str, Any]:
    message = {"role": kind, "content": content, "id": "msg_1"}
    return {"type": kind, "sessionId": "s", "timestamp": AT, "message": message, **more}


def result(content: object, told: object = None, **more: object) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": "t", "content": content, **more}
    return line("user", [block], toolUseResult=told)


def call_result(entry: dict[str, Any]) -> CallResult:
    found = [each for each in claude_entries([entry]) if isinstance(each, CallResult)]
    assert len(found) == 1
    return found[0]


def test_a_session_names_itself_and_its_place_once():
    lines = [line("user", "fix it", cwd="/shop"), line("assistant", [], cwd="/shop")]
    opened = [each for each in claude_entries(lines) if isinstance(each, Opened)]
    assert opened == [Opened("s", "/shop")]


def test_a_reply_has_words_calls_and_a_bill():
    call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}
    entry = line("assistant", [{"type": "text", "text": "Look."}, call, {"type": "thinking"}])
    entry["message"]["usage"] = {"input_tokens": 7}
    _, bill, words, asked = claude_entries([entry])
    assert isinstance(bill, Billing)
    assert bill.bill.fresh == 7
    assert isinstance(words, Spoke)
    assert words.text == "Look."
    assert isinstance(asked, Called)
    assert (asked.id, asked.tool, asked.args, asked.reply) == (
        "t",
        "Bash",
        {"command": "ls"},
        "msg_1",
    )


@pytest.mark.parametrize(
    "entry",
    [
        line("user", "<command-name>/clear</command-name>"),
        line("user", "a caveat", isMeta=True),
        line("user", "what was said before", isCompactSummary=True),
        line("user", ""),
        line("user", None),
        line("assistant", "no blocks"),
        line("assistant", [{"type": "text", "text": "API error"}], isApiErrorMessage=True),
        {"type": "attachment", "sessionId": "s"},
        {"type": ["odd"]},
    ],
)
def test_what_no_person_and_no_model_said_is_passed_over(entry: dict[str, Any]):
    assert [each for each in claude_entries([entry]) if not isinstance(each, Opened)] == []


def test_a_prompt_may_come_in_parts():
    assert Prompted(1_794_848_400.0, "fix\nit") in [
        *claude_entries([line("user", [{"type": "text", "text": "fix"}, {"text": "it"}])])
    ]


@pytest.mark.parametrize(
    "entry",
    [
        line("user", [{"type": "text", "text": "[Request interrupted by user]"}]),
        result("[Request interrupted by user for tool use]", is_error=True),
    ],
)
def test_an_interruption_by_the_person_is_reported(entry: dict[str, Any]):
    assert any(isinstance(each, Interrupted) for each in claude_entries([entry]))


@pytest.mark.parametrize(
    ("entry", "status", "ok"),
    [
        (result("Exit code 2\nno", is_error=True), 2, False),
        (result("fine", {"stdout": "fine"}), 0, True),
        (result("fine", "text"), None, True),
        (result("denied", is_error=True), None, False),
    ],
)
def test_a_status_is_read_where_it_is_reported(entry: dict[str, Any], status: int | None, ok: bool):
    assert (call_result(entry).status, call_result(entry).ok) == (status, ok)


def test_an_edit_is_known_whole_where_the_file_was_kept():
    told = {"filePath": "a.py", "oldString": "1", "newString": "2", "originalFile": "x = 1\n"}
    assert call_result(result("ok", told)).edits == (
        FileEdit("a.py", "x = 1\n", "x = 2\n", is_whole=True),
    )


def test_an_edit_is_known_by_its_pieces_where_it_was_not():
    told = {"filePath": "a.py", "edits": [{"old_string": "1", "new_string": "2"}, "odd"]}
    assert call_result(result("ok", told)).edits[0] == FileEdit("a.py", "1", "2")


def test_a_written_file_is_new_or_replaces_another():
    new = {"filePath": "a.py", "content": "2", "originalFile": None}
    old = {"filePath": "a.py", "content": "2", "originalFile": "1"}
    assert call_result(result("ok", new)).edits == (FileEdit("a.py", None, "2", is_whole=True),)
    assert call_result(result("ok", old)).edits == (FileEdit("a.py", "1", "2", is_whole=True),)


def test_a_failed_edit_changed_nothing():
    told = {"filePath": "a.py", "oldString": "1", "newString": "2"}
    assert call_result(result("not found", told, is_error=True)).edits == ()


@pytest.mark.parametrize(("last", "seen"), [(2, (("a.py", "x\ny"),)), (9, ())])
def test_a_file_counts_as_seen_when_all_of_it_was_read(last: int, seen: object):
    file = {
        "filePath": "a.py",
        "content": "x\ny",
        "startLine": 1,
        "numLines": 2,
        "totalLines": last,
    }
    assert call_result(result("1 x", {"file": file})).seen == seen


def test_of_several_results_in_a_line_none_has_what_is_told_beside():
    blocks = [{"type": "tool_result", "tool_use_id": id, "content": "x"} for id in "ab"]
    entries = [*claude_entries([line("user", blocks, toolUseResult={"filePath": "a.py"})])]
    assert [each.edits for each in entries if isinstance(each, CallResult)] == [(), ()]


def test_a_sub_agent_is_recognised():
    entry = line("user", "look there", isSidechain=True)
    assert next(claude_entries([entry])) == Opened("s", "", is_agent=True)
