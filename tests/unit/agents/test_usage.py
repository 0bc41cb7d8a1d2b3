"""What hosts' transcripts bill, and caps on it."""

from __future__ import annotations

from typing import Any

import pytest

from flyball.agents.usage import (
    Billed,
    Cap,
    nearly_reached,
    reached,
    read_bill,
    read_model,
)

CLAUDE: dict[str, Any] = {
    "type": "assistant",
    "requestId": "req_1",
    "message": {
        "id": "msg_1",
        "model": "claude-sonnet-4-5",
        "usage": {
            "input_tokens": 100,
            "cache_creation_input_tokens": 40,
            "cache_read_input_tokens": 1000,
            "output_tokens": 20,
        },
    },
}
CODEX: dict[str, Any] = {
    "type": "event_msg",
    "payload": {
        "type": "token_count",
        "info": {
            "total_token_usage": {
                "input_tokens": 1140,
                "cached_input_tokens": 1000,
                "cache_write_input_tokens": 40,
                "output_tokens": 20,
                "reasoning_output_tokens": 5,
            }
        },
    },
}
GEMINI: dict[str, Any] = {
    "type": "gemini",
    "id": "g1",
    "model": "gemini-2.5-flash",
    "tokens": {"input": 1100, "output": 12, "cached": 1000, "thoughts": 8, "tool": 0, "total": 0},
}


def test_each_host_bills_the_same_in_its_own_words():
    assert read_bill("claude", CLAUDE) == Billed(
        "msg_1/req_1", "claude-sonnet-4-5", 100, 1000, 40, 20
    )
    assert read_bill("codex", CODEX, "gpt-5.5") == Billed("total", "gpt-5.5", 100, 1000, 40, 20)
    assert read_bill("gemini", GEMINI) == Billed("g1", "gemini-2.5-flash", 100, 1000, 0, 20)


def test_tokens_are_weighed_as_they_are_billed():
    assert Billed("x", "", 100, 1000, 40, 20).tokens == pytest.approx(100 + 100 + 50 + 20)


@pytest.mark.parametrize(
    ("host", "line"),
    [
        ("claude", {"type": "user", "message": {"usage": {"input_tokens": 1}}}),
        ("claude", {"type": "assistant", "message": "words"}),
        ("codex", {"type": "event_msg", "payload": {"type": "token_count", "info": None}}),
        ("codex", {"type": "event_msg", "payload": {"type": "agent_message"}}),
        ("gemini", {"type": "gemini", "tokens": None}),
        ("gemini", {"$set": {"messages": []}}),
        ("opencode", CLAUDE),
    ],
)
def test_other_lines_bill_nothing(host: str, line: dict[str, Any]):
    assert read_bill(host, line) is None


def test_nonsense_in_a_bill_counts_nothing():
    line = {"type": "gemini", "id": 3, "tokens": {"input": "many", "output": -5, "cached": 7}}
    assert read_bill("gemini", line) == Billed("", "", 0, 7, 0, 0)


def test_codex_names_its_model_before_it_bills():
    assert read_model({"type": "turn_context", "payload": {"model": "gpt-5.5"}}) == "gpt-5.5"
    assert read_model({"type": "event_msg", "payload": {"model": "gpt-5.5"}}) == ""


def test_a_cap_is_told_of_when_most_is_spent_and_stops_when_all_is():
    def at(spent: float) -> tuple[Cap, ...]:
        return (Cap("week_tokens", 0, 10**9), Cap("session_tokens", 1000, spent))

    assert nearly_reached(at(799)) is None
    near = nearly_reached(at(800))
    assert near is not None
    assert near.words == "800 of 1,000 tokens are spent in this session"
    assert reached(at(999)) is None
    assert reached(at(1000)) == Cap("session_tokens", 1000, 1000)
    assert Cap("week_money", 5.0, 4.5).words == "$4.50 of $5.00 are spent in seven days"
