"""Every payload that was recorded of a real host is understood."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.hosts.hooking import PAYLOADS

from flyball.agents.event import Moment
from flyball.errors import UsageError
from flyball.hosts.answering import MOMENTS, read_payload

RECORDED = sorted(path for path in PAYLOADS.rglob("*.json") if path.parent.name != "opencode")


def ids(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


@pytest.mark.parametrize("path", RECORDED, ids=ids)
def test_a_recorded_payload_says_when_where_and_what(path: Path):
    payload = json.loads(path.read_text())
    event = read_payload(path.parent.name, path.read_bytes())
    assert event.session == payload["session_id"]
    assert event.cwd == payload["cwd"]
    assert event.name == payload["hook_event_name"]
    if event.moment in (Moment.BEFORE_CALL, Moment.AFTER_CALL):
        assert event.tool == payload["tool_name"]
        assert event.call
        assert event.args == payload["tool_input"]


def test_call_and_outcome_of_one_call_have_the_same_name_in_every_host():
    for host, before, after in (
        ("claude", "PreToolUse.Write", "PostToolUse.Write"),
        ("codex", "PreToolUse.Bash", "PostToolUse.Bash"),
        ("gemini", "BeforeTool.write_file", "AfterTool.write_file"),
    ):
        names = [
            read_payload(host, (PAYLOADS / host / f"{name}.json").read_bytes()).call
            for name in (before, after)
        ]
        assert names[0] == names[1], host


def test_subagent_stop_is_not_the_sessions():
    path = PAYLOADS / "claude"
    event = read_payload("claude", (path / "PreToolUse.Write.subagent.json").read_bytes())
    assert event.agent
    assert event.call.startswith(f"{event.agent}/")
    stop = read_payload("claude", (path / "SubagentStop.json").read_bytes())
    assert stop.moment is Moment.AGENT_STOPPING


def test_stop_names_working_subagents():
    stop = json.loads((PAYLOADS / "claude" / "Stop.json").read_text())
    assert not read_payload("claude", json.dumps(stop).encode()).works_on
    stop["background_tasks"] = [{"type": "subagent", "status": "running"}]
    assert read_payload("claude", json.dumps(stop).encode()).works_on
    stop["background_tasks"] = [{"type": "shell", "status": "running"}]
    assert not read_payload("claude", json.dumps(stop).encode()).works_on


def test_call_result_is_read_from_every_form():
    def text(response: object, **more: object) -> str:
        payload = {"hook_event_name": "PostToolUse", "tool_response": response, **more}
        return read_payload("claude", json.dumps(payload).encode()).text

    assert text("plain") == "plain"
    assert text({"stdout": "out", "stderr": "err"}) == "outerr"
    assert text({"llmContent": "gem"}) == "gem"
    assert text({"filePath": "a"}) == '{"filePath": "a"}'
    assert text(None, error="it broke") == "it broke"


def test_failed_call_differs_from_successful_one():
    def ok(name: str, response: object) -> bool:
        payload = {"hook_event_name": name, "tool_response": response}
        return read_payload("claude", json.dumps(payload).encode()).ok

    assert ok("PostToolUse", {"stdout": ""})
    assert not ok("PostToolUseFailure", "")
    assert not ok("AfterTool", {"error": {"message": "no"}})


@pytest.mark.parametrize("data", [b"", b"{", b"[1]", b"null", b"\xff\xfe", b'"text"'])
def test_invalid_payload_is_refused_with_a_reason(data: bytes):
    with pytest.raises(UsageError, match="claude sent to the hook"):
        read_payload("claude", data)


def test_unknown_host_is_refused():
    with pytest.raises(UsageError, match="no host 'emacs'"):
        read_payload("emacs", b"{}")


def test_unknown_fields_and_moments_are_no_trouble():
    event = read_payload("codex", b'{"hook_event_name": "Tomorrow", "x": {"y": [1]}}')
    assert event.moment is Moment.OTHER
    assert set(MOMENTS.values()) >= {Moment.BEFORE_CALL, Moment.STOPPING}


def test_what_a_host_adds_of_the_moment_does_not_make_the_same_output_another():
    texts = {
        read_payload(
            "gemini",
            json.dumps(
                {
                    "hook_event_name": "AfterTool",
                    "tool_name": "run_shell_command",
                    "tool_response": {"llmContent": f"Output: start\nProcess Group PGID: {pid}\n"},
                }
            ).encode(),
        ).text
        for pid in (1, 22)
    }
    assert texts == {"Output: start\n"}


def test_half_a_character_is_text_like_any_other():
    payload = {
        "hook_event_name": "PostToolUse",
        "session_id": "s\ud800",
        "tool_name": "Bash",
        "tool_input": {"command": "cat \ud83d", "more": ["\udfff", 1], "x\ud800": None},
        "tool_response": {"stdout": "abc\ud83d", "stderr": "whole 😀"},
    }
    event = read_payload("claude", json.dumps(payload).encode())
    assert (event.session, event.text) == ("s\ufffd", "abc\ufffdwhole 😀")
    assert event.args == {"command": "cat \ufffd", "more": ["\ufffd", 1], "x\ufffd": None}


@pytest.mark.parametrize(
    ("host", "said", "heard"),
    [
        ("opencode", '"fix the total"', "fix the total"),
        ("opencode", '"fix the \\"total\\" of it"', 'fix the "total" of it'),
        ("opencode", 'fix "the total"', 'fix "the total"'),
        ("opencode", '"fix" the "total"', '"fix" the "total"'),
        ("opencode", '"', '"'),
        ("opencode", "", ""),
        ("claude", '"fix the total"', '"fix the total"'),
    ],
)
def test_quotes_around_a_prompt_are_removed(host: str, said: str, heard: str):
    given = {"session_id": "s", "cwd": "/", "hook_event_name": "UserPromptSubmit", "prompt": said}
    assert read_payload(host, json.dumps(given).encode()).text == heard
