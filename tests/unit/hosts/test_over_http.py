"""Hooks over HTTP: who may ask, and what is answered."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection

import pytest

from flyball.hosts.client import MOST
from flyball.hosts.install.door import HookDoor
from flyball.hosts.resident import HttpHooks, response_body

TOKEN = "a-token"
REASON = b"recon does not allow that\n"


def decide(host: str, data: bytes) -> tuple[int, bytes, bytes]:
    return (2, b"", REASON) if b"Write" in data else (0, b"", b"")


@pytest.fixture
def door() -> Iterator[HttpHooks]:
    with HttpHooks(HookDoor(0, TOKEN), decide) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


def ask(
    server: HttpHooks, tool: str, event: str = "PreToolUse", **headers: str
) -> tuple[int, bytes]:
    body = json.dumps({"hook_event_name": event, "tool_name": tool})
    shown = {"Authorization": f"Bearer {TOKEN}", **headers}
    with closing(HTTPConnection("127.0.0.1", server.server_port, timeout=30)) as line:
        line.request("POST", "/flyball-hook/claude", body, shown)
        found = line.getresponse()
        return found.status, found.read()


def test_an_allowance_is_empty_and_a_refusal_is_a_denial(door: HttpHooks):
    assert ask(door, "Read") == (200, b"")
    status, body = ask(door, "Write")
    told = json.loads(body)["hookSpecificOutput"]
    assert status == 200, "anything else would let the call pass"
    assert (told["hookEventName"], told["permissionDecision"]) == ("PreToolUse", "deny")
    assert told["permissionDecisionReason"] == REASON.decode().strip()


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer other"},
        {"Authorization": ""},
        {"Host": "evil.example:4322"},
        {"Origin": "http://evil.example"},
    ],
)
def test_who_has_no_token_or_is_a_page_is_not_answered(door: HttpHooks, headers: dict[str, str]):
    assert ask(door, "Write", **headers) == (401, b"")


def test_other_events_are_blocked_and_failures_reported():
    blocked = json.loads(response_body("PostToolUse", 2, b"", REASON))
    assert blocked == {"decision": "block", "reason": REASON.decode().strip()}
    failed = json.loads(response_body("PostToolUse", 1, b"", b"no journal"))
    assert failed == {"systemMessage": "no journal"}
    assert response_body("PostToolUse", 0, b"{}", b"") == b"{}"


def test_a_call_that_is_too_large_is_denied_and_not_let_pass(door: HttpHooks):
    status, body = ask(door, "Read" + " " * MOST)
    assert status == 200, "anything else would let the call pass"
    assert json.loads(body)["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.parametrize("event", ["PostToolUse", "Stop", "UserPromptSubmit"])
def test_a_large_payload_is_answered_for_its_own_event(door: HttpHooks, event: str):
    named = '"hook_event_name": "PreToolUse"'
    status, body = ask(door, named + " " * MOST, event)
    assert status == 200
    assert json.loads(body)["decision"] == "block"
    assert "hookSpecificOutput" not in json.loads(body)
