"""The scripted model, asked as hosts ask it: which turn answers which request."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from flyball.hosts.prove.model.request import WireFormat
from flyball.hosts.prove.model.server import LoopbackModel
from flyball.hosts.prove.model.turns import TurnScript

TOOL = {"name": "Write", "input": {"path": "a.py"}}
TOOLS: dict[str, Any] = {
    "anthropic": {"tools": [{"name": "Write"}]},
    "responses": {"tools": [{"type": "function", "name": "Write"}]},
    "chat": {"tools": [{"type": "function", "function": {"name": "Write"}}]},
    "gemini": {"tools": [{"functionDeclarations": [{"name": "Write"}]}]},
}


@pytest.fixture
def model(tmp_path: Path) -> Generator[LoopbackModel]:
    script = {"turns": [{"text": "Look.", "tools": [TOOL]}, {"status": 529, "text": "busy"}]}
    with LoopbackModel(script, tmp_path / "log") as server:
        yield server


def ask(model: LoopbackModel, path: str, body: object, **headers: str) -> str:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{model.url}{path}", data, headers)
    with urllib.request.urlopen(request) as answer:
        return answer.read().decode()


CALLS = [
    ("/v1/messages?beta=true", {**TOOLS["anthropic"], "stream": True}, "input_json_delta"),
    ("/v1/messages", TOOLS["anthropic"], '"stop_reason": "tool_use"'),
    ("/v1/responses", TOOLS["responses"], "event: response.completed"),
    ("/v1/responses", {**TOOLS["responses"], "stream": False}, '"function_call"'),
    ("/v1/chat/completions", {**TOOLS["chat"], "stream": True}, "data: [DONE]"),
    ("/v1/chat/completions", TOOLS["chat"], '"finish_reason": "tool_calls"'),
    ("/v1beta/models/g:streamGenerateContent?alt=sse", TOOLS["gemini"], "data: {"),
    ("/v1beta/models/g:generateContent", TOOLS["gemini"], '"functionCall"'),
]


@pytest.mark.parametrize(("path", "body", "mark"), CALLS)
def test_a_turn_in_every_format(path: str, body: object, mark: str, model: LoopbackModel):
    said = ask(model, path, body)
    assert mark in said
    assert "Look." in said
    assert "a.py" in said
    with pytest.raises(urllib.error.HTTPError) as refused:
        ask(model, path, body)
    assert refused.value.code == 529
    refused.value.close()


def test_every_request_is_noted_without_its_key(model: LoopbackModel):
    ask(model, "/v1/messages", TOOLS["anthropic"], **{"X-Api-Key": "secret"})
    text = model.log.read_text()
    assert "secret" not in text
    (entry,) = [json.loads(line) for line in text.splitlines()]
    assert (entry["track"], entry["path"]) == ("0/0", "/v1/messages")


def test_side_requests_do_not_advance_a_track(model: LoopbackModel):
    assert json.loads(ask(model, "/v1/models", None))["data"] == []
    assert json.loads(ask(model, "/v1/messages/count_tokens", {}))["input_tokens"] == 100
    assert '"ok"' in ask(model, "/v1/messages", {"messages": []})
    assert "Look." in ask(model, "/v1/messages", TOOLS["anthropic"])
    with pytest.raises(urllib.error.HTTPError) as missing:
        ask(model, "/v1/other", {})
    missing.value.close()


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
