"""Gemini CLI's sessions."""

from __future__ import annotations

from typing import Any

import pytest

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
from flyball.agents.gemini import gemini_entries

AT = "2026-11-16T17:00:00Z"
HEAD = {"sessionId": "s", "projectHash": "h", "kind": "main"}


def message(kind: str, content: object, id: str = "m", **more: object) -> dict[str, Any]:
    return {"id": id, "timestamp": AT, "type": kind, "content": content, **more}


def call(**more: object) -> dict[str, Any]:
    return {
        "id": "c",
        "name": "read_file",
        "args": {},
        "status": "success",
        "timestamp": AT,
        **more,
    }


def answered(output: object, key: str = "output") -> list[Any]:
    return [{"functionResponse": {"response": {key: output}}}]


def call_result(**more: object) -> CallResult:
    lines = [message("gemini", "", toolCalls=[call(**more)])]
    (found,) = [each for each in gemini_entries(lines) if isinstance(each, CallResult)]
    return found


def test_the_place_is_told_in_the_first_message():
    context = "<session_context>\n- **Workspace Directories:**\n  - /shop\n</session_context>"
    lines = [HEAD, {"$set": {"messages": [message("user", [{"text": context}])]}}]
    assert [*gemini_entries(lines)] == [Opened("s"), Opened("s", "/shop")]


def test_a_message_that_is_written_again_adds_only_its_calls():
    first = message("gemini", "Look.", tokens={"input": 5})
    lines = [first, {**first, "toolCalls": [call()]}, {**first, "toolCalls": [call()]}]
    kinds = [type(each) for each in gemini_entries(lines)]
    assert kinds.count(Spoke) == kinds.count(Called) == kinds.count(CallResult) == 1
    assert kinds.count(Billing) == 3


def test_one_document_is_read_like_lines():
    entries = [*gemini_entries([{**HEAD, "messages": [message("user", "fix it")]}])]
    assert entries == [Opened("s"), Prompted(1_794_848_400.0, "fix it")]


@pytest.mark.parametrize(
    "line",
    [
        message("user", [{"functionResponse": {}}]),
        message("user", "<session_context>none</session_context>"),
        message("info", "Update available"),
        message("error", "quota"),
        {"$set": {"lastUpdated": AT}},
        {"$set": 7},
        {"messages": ["odd"]},
    ],
)
def test_what_neither_person_nor_model_said_is_passed_over(line: dict[str, Any]):
    assert [*gemini_entries([line])] == []


def test_an_interruption_by_the_person_is_reported():
    assert isinstance(next(gemini_entries([message("info", "Request cancelled.")])), Interrupted)
    lines = [message("gemini", "", toolCalls=[call(status="cancelled")])]
    assert isinstance([*gemini_entries(lines)][-1], Interrupted)


def test_a_call_that_is_still_open_has_no_outcome():
    lines = [message("gemini", "", toolCalls=[call(status="executing"), call(id="")])]
    assert [type(each) for each in gemini_entries(lines)] == [Called]


@pytest.mark.parametrize(
    ("more", "ok", "status"),
    [
        ({"args": {"command": "ls"}, "result": answered("Output: x")}, True, 0),
        ({"args": {"command": "x"}, "result": answered("Output: no\nExit Code: 2")}, False, 2),
        ({"status": "error", "result": answered("no file", "error")}, False, None),
        ({"result": []}, True, None),
    ],
)
def test_a_status_is_read_where_it_is_reported(more: dict[str, Any], ok: bool, status: int | None):
    assert (call_result(**more).ok, call_result(**more).status) == (ok, status)


def test_what_differs_between_equal_outcomes_is_left_out():
    said = call_result(result=answered("Output: x\nProcess Group PGID: 27910"))
    assert said.text == "Output: x\n"


@pytest.mark.parametrize(
    ("shown", "edits"),
    [
        (
            {"filePath": "a", "originalContent": "1", "newContent": "2"},
            (FileEdit("a", "1", "2", is_whole=True),),
        ),
        (
            {"filePath": "a", "originalContent": "", "newContent": "2", "isNewFile": True},
            (FileEdit("a", None, "2", is_whole=True),),
        ),
        ({"filePath": "a"}, ()),
        ("text", ()),
    ],
)
def test_an_edit_is_known_by_what_is_shown_of_it(shown: object, edits: object):
    assert call_result(name="replace", args={"content": ""}, resultDisplay=shown).edits == edits


def test_a_file_counts_as_seen_when_all_of_it_was_read():
    assert call_result(args={"file_path": "a"}, result=answered("x")).seen == (("a", "x"),)
    assert call_result(args={"file_path": "a", "offset": 5}, result=answered("x")).seen == ()
