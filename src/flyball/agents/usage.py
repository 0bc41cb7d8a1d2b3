"""Read what a host's model was billed for from the host's own transcript, and cap it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import msgspec

NUDGE_AT = 0.8
CACHED_WEIGHT = 0.1
"""The price of a token read from a cache, relative to a fresh one."""
WRITTEN_WEIGHT = 1.25
"""The price of a token written to a cache as it is read."""


class Billed(msgspec.Struct, frozen=True):
    """The tokens of one reply, each counted once."""

    id: str
    """The same for every line about the same reply; the last one counts."""
    model: str = ""
    fresh: int = 0
    cached: int = 0
    written: int = 0
    output: int = 0

    @property
    def tokens(self) -> float:
        """Return the cost, converted to uncached tokens."""
        weighed = self.cached * CACHED_WEIGHT + self.written * WRITTEN_WEIGHT
        return self.fresh + weighed + self.output


def read_bill(host: str, line: Mapping[str, Any], model: str = "") -> Billed | None:
    """Return what one line of a host's transcript bills, or None.

    `model` is the last one named, for hosts that do not repeat it.
    """
    match host:
        case "claude" if line.get("type") == "assistant":
            return _of_claude(line)
        case "codex":
            return _of_codex(line, model)
        case "gemini" if line.get("type") == "gemini":
            return _of_gemini(line)
        case _:
            return None


def read_model(line: Mapping[str, Any]) -> str:
    """Return the model that a transcript line sets for the lines that follow."""
    payload = _map(line.get("payload"))
    return _text(payload.get("model")) if line.get("type") == "turn_context" else ""


def _of_claude(line: Mapping[str, Any]) -> Billed | None:
    message = _map(line.get("message"))
    usage = _map(message.get("usage"))
    if not usage:
        return None
    return Billed(
        f"{_text(message.get('id'))}/{_text(line.get('requestId'))}",
        _text(message.get("model")),
        fresh=_count(usage, "input_tokens"),
        cached=_count(usage, "cache_read_input_tokens"),
        written=_count(usage, "cache_creation_input_tokens"),
        output=_count(usage, "output_tokens"),
    )


def _of_codex(line: Mapping[str, Any], model: str) -> Billed | None:
    """Read a bill from Codex, whose lines hold running totals: each total replaces the previous
    one."""
    payload = _map(line.get("payload"))
    usage = _map(_map(payload.get("info")).get("total_token_usage"))
    if payload.get("type") != "token_count" or not usage:
        return None
    cached, written = (
        _count(usage, "cached_input_tokens"),
        _count(usage, "cache_write_input_tokens"),
    )
    return Billed(
        "total",
        model,
        fresh=max(_count(usage, "input_tokens") - cached - written, 0),
        cached=cached,
        written=written,
        output=_count(usage, "output_tokens"),
    )


def _of_gemini(line: Mapping[str, Any]) -> Billed | None:
    tokens = _map(line.get("tokens"))
    if not tokens:
        return None
    cached = _count(tokens, "cached")
    return Billed(
        _text(line.get("id")),
        _text(line.get("model")),
        fresh=max(_count(tokens, "input") - cached, 0) + _count(tokens, "tool"),
        cached=cached,
        output=_count(tokens, "output") + _count(tokens, "thoughts"),
    )


def _map(value: object) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], value) if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _count(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if isinstance(value, int) and value > 0 else 0


class Cap(NamedTuple):
    """A limit set by a person: what it covers, its unit, and how much of it is used."""

    name: str
    limit: float
    spent: float

    @property
    def is_money(self) -> bool:
        return self.name.endswith("_money")

    @property
    def words(self) -> str:
        """Describe how much of the limit is used."""
        scope = {"session": "in this session", "week": "in seven days", "project": "here so far"}
        where = scope[self.name.partition("_")[0]]
        if self.is_money:
            return f"${self.spent:.2f} of ${self.limit:.2f} are spent {where}"
        return f"{self.spent:,.0f} of {self.limit:,.0f} tokens are spent {where}"


def reached(caps: tuple[Cap, ...]) -> Cap | None:
    """Return the cap that is used up, if any."""
    return next((cap for cap in caps if cap.limit and cap.spent >= cap.limit), None)


def nearly_reached(caps: tuple[Cap, ...]) -> Cap | None:
    """Return the cap that is nearly used up, so that a warning can be shown."""
    return next((cap for cap in caps if cap.limit and cap.spent >= cap.limit * NUDGE_AT), None)
