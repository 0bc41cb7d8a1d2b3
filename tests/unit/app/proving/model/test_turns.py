"""Which turn answers which request."""

from __future__ import annotations

from typing import Any

from flyball.app.proving.model.request import WireFormat
from flyball.app.proving.model.turns import TurnScript

FORMAT = WireFormat.ANTHROPIC


def asked(text: str) -> dict[str, Any]:
    return {"tools": [{"name": "Write"}], "messages": [{"role": "user", "content": text}]}


def test_the_first_track_that_is_meant_goes_on_by_itself():
    script = TurnScript(
        {
            "tracks": [
                {"when": "SUBTASK", "turns": [{"text": "sub"}]},
                {"header": "agent-7", "turns": [{"text": "seven"}]},
                {"turns": [{"text": "one"}, {"text": "two"}]},
            ],
            "after": {"text": "over"},
        }
    )
    assert script.answer(FORMAT, asked("go")) == ("2/0", {"text": "one"})
    assert script.answer(FORMAT, asked("the SUBTASK")) == ("0/0", {"text": "sub"})
    assert script.answer(FORMAT, asked("go"), "x: agent-7") == ("1/0", {"text": "seven"})
    assert script.answer(FORMAT, asked("go")) == ("2/1", {"text": "two"})
    assert script.answer(FORMAT, asked("go")) == ("2/2", {"text": "over"})


def test_what_a_turn_captures_is_put_into_it():
    turn = {"capture": {"ID": r"session (\d+)"}, "tools": [{"input": {"n": "@#ID@", "s": "@ID@"}}]}
    _, found = TurnScript({"turns": [turn]}).answer(FORMAT, asked("session 4, session 52"))
    assert found == {"tools": [{"input": {"n": 52, "s": "52"}}]}


def test_a_request_on_the_side_gets_what_its_schema_allows():
    script = TurnScript({"turns": [{"text": "one"}], "aux": "side"})
    parts = {"a": {"type": "array"}, "e": {"enum": ["x", "y"]}, "n": {"type": ["integer", "null"]}}
    body = {"text": {"format": {"schema": {"type": "object", "properties": parts}}}}
    assert script.answer(FORMAT, body)[1] == {"text": '{"a": [], "e": "x", "n": 0}'}
    assert script.answer(FORMAT, {"messages": []}) == ("aux", {"text": "side"})


def test_a_track_can_be_meant_for_requests_on_the_side():
    script = TurnScript({"tracks": [{"aux": "summary", "turns": [{"text": "short"}]}]})
    body = {"messages": [{"role": "user", "content": "a summary, please"}]}
    assert script.answer(FORMAT, body) == ("aux:0", {"text": "short"})
    assert script.answer(FORMAT, asked("go")) == ("none", {"text": "All done."})
