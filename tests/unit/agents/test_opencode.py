"""opencode's sessions, row by row."""

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
from flyball.agents.opencode import opencode_entries
from flyball.agents.usage import Billed


def message(role: str, **more: object) -> dict[str, Any]:
    data = {"role": role, "time": {"created": 1000}, **more}
    return {"table": "message", "id": "m", "data": data}


def part(**data: object) -> dict[str, Any]:
    return {"table": "part", "message": "m", "data": data}


def call_result(tool: str, **state: object) -> CallResult:
    row = part(type="tool", tool=tool, callID="c", state={"status": "completed", **state})
    call, found = opencode_entries([row])
    assert isinstance(call, Called)
    assert isinstance(found, CallResult)
    assert call.id == found.call == "m/c"
    return found


def test_a_session_names_itself_and_a_sub_agent_its_parent():
    one = {"table": "session", "id": "s", "data": {"directory": "/shop"}}
    two = {"table": "session", "data": {"id": "t", "directory": "/shop", "parent_id": "s"}}
    assert [*opencode_entries([one, two])] == [
        Opened("s", "/shop"),
        Opened("s", "/shop", is_agent=True),
    ]


def test_words_are_the_persons_or_the_models():
    rows = [
        message("user"),
        part(type="text", text='"fix it"'),
        part(type="text", text="a file", synthetic=True),
        message("assistant"),
        part(type="text", text="Fixed."),
        part(type="step-start"),
        {"table": "todo"},
    ]
    assert [*opencode_entries(rows)] == [Prompted(1.0, "fix it"), Spoke(1.0, "Fixed.")]


def test_a_message_is_billed():
    tokens = {"input": 5, "output": 2, "reasoning": 1, "cache": {"read": 7, "write": "odd"}}
    (bill,) = opencode_entries([message("assistant", tokens=tokens, modelID="gpt-5")])
    assert bill == Billing(1.0, Billed("m", "gpt-5", fresh=5, cached=7, output=3))


def test_an_interruption_by_the_person_is_reported():
    (entry,) = opencode_entries([message("assistant", error={"name": "MessageAbortedError"})])
    assert isinstance(entry, Interrupted)


@pytest.mark.parametrize(
    ("given", "told", "edits"),
    [
        ({"filePath": "a", "oldString": "1", "newString": "2"}, {}, (FileEdit("a", "1", "2"),)),
        ({"filePath": "a", "content": "2"}, {}, (FileEdit("a", None, "2", is_whole=True),)),
        (
            {"filePath": "a", "content": "2"},
            {"exists": True},
            (FileEdit("a", "", "2", is_whole=True),),
        ),
        (
            {"patchText": "*** Begin Patch\n*** Add File: a\n+2\n*** End Patch"},
            {},
            (FileEdit("a", None, "2\n", is_whole=True),),
        ),
        ({"filePath": "a"}, {}, ()),
    ],
)
def test_an_edit_is_known_by_what_was_asked_for(given: object, told: object, edits: object):
    assert call_result("edit", input=given, metadata=told).edits == edits


def test_a_failed_call_changed_nothing():
    failed = call_result(
        "edit", status="error", input={"filePath": "a", "content": "2"}, error="no"
    )
    assert (failed.ok, failed.edits, failed.text) == (False, (), "no")


def test_a_command_that_failed_has_its_status():
    ran = call_result("bash", input={"command": "x"}, metadata={"exit": 1}, output="no")
    assert (ran.ok, ran.status) == (False, 1)


def test_a_call_that_is_still_open_has_no_outcome():
    row = part(type="tool", tool="bash", callID="c", state={"status": "running"})
    assert [type(each) for each in opencode_entries([row])] == [Called]


@pytest.mark.parametrize(("end", "seen"), [(1, (("a", "x"),)), (5, ())])
def test_a_file_counts_as_seen_when_all_of_it_was_read(end: int, seen: object):
    shown = {"text": "x", "lineStart": 1, "lineEnd": 1, "totalLines": end}
    assert call_result("read", input={"filePath": "a"}, metadata={"display": shown}).seen == seen
