"""Recordings of SWE-agent, mini-SWE-agent and OpenHands as sessions."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from flyball.agents.entry import Called, CallResult, FileEdit, Opened, Spoke, seconds
from flyball.agents.foreign import foreign_entries
from flyball.errors import UsageError


def entries(*actions: tuple[str, str]) -> list[Any]:
    steps = [{"action": action, "observation": seen} for action, seen in actions]
    return [*foreign_entries({"trajectory": steps}, "run")]


def edit(verb: str, **given: str) -> str:
    return f"str_replace_editor {verb} {json.dumps(given)}"


def test_a_command_and_what_came_of_it():
    opened, call, call_result = entries(("ls", "cart.py"))
    assert opened == Opened("run")
    assert call == Called(0.0, "run/1", "bash", {"command": "ls"}, "1")
    assert call_result == CallResult(0.0, "run/1", "cart.py")


def test_handing_in_is_the_claim_to_be_done():
    assert entries(("submit", ""))[-1] == Spoke(0.0, "Done: handed in.")


def test_a_reply_without_a_call_is_passed_over():
    assert entries(("ls", ""), ("", "what?"))[3:] == []


@pytest.mark.parametrize(
    ("action", "edits"),
    [
        (edit("create", path="a", file_text="x"), (FileEdit("a", None, "x", is_whole=True),)),
        (edit("str_replace", path="a", old_str="x", new_str="y"), (FileEdit("a", "x", "y"),)),
        (edit("insert", path="a", new_str="y"), (FileEdit("a", "", "y"),)),
        (edit("view", path="a"), ()),
        (edit("create"), ()),
    ],
)
def test_an_edit_is_known_by_its_arguments(action: str, edits: object):
    call_result = entries((action, "done"))[-1]
    assert call_result.edits == edits


def test_a_failed_edit_changed_nothing():
    action = edit("str_replace", path="a", old_str="x", new_str="y")
    call_result = entries((action, "No replacement was performed"))[-1]
    assert (call_result.ok, call_result.edits) == (False, ())


def test_open_hands_is_recognised():
    events = [{"id": 1, "action": "run", "args": {"command": "ls"}, "source": "agent"}]
    assert [*foreign_entries(events, "run")][1].args == {"command": "ls"}


def test_what_is_no_recording_is_said():
    with pytest.raises(UsageError):
        [*foreign_entries({"other": 1}, "run")]


def test_what_open_hands_says_at_the_end_is_said():
    run = {"action": "run", "args": {"command": "ls"}, "id": 1}
    end = {"action": "finish", "args": {"final_thought": "It works."}, "id": 2}
    *_, last = foreign_entries([run, end], "s")
    assert last == Spoke(0.0, "Done: handed in. It works.")
    *_, last = foreign_entries([run], "s")
    assert not isinstance(last, Spoke)


@pytest.mark.parametrize(
    "stamp",
    [
        "1970-01-01T00:00:00Z",
        "2024-02-29T23:59:59.123Z",
        "2026-11-16T17:02:12.277Z",
        "2100-03-01T00:00:00Z",
    ],
)
def test_a_time_is_read_as_the_calendar_has_it(stamp: str):
    whole = datetime.fromisoformat(stamp[:19]).replace(tzinfo=UTC)
    assert seconds(stamp) == whole.timestamp()


def test_milliseconds_are_read_too():
    assert seconds(1_794_848_724_188) == 1_794_848_724.188


@pytest.mark.parametrize(
    "stamp",
    [None, True, -5, 1e300, "", "yesterday", "2026-99-99T99:99:99Z", "2026-xx-16T17:02:12Z", []],
)
def test_what_is_no_time_is_none(stamp: object):
    assert seconds(stamp) == 0.0
