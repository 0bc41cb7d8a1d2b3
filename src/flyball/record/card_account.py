"""Summarise one card from a run's log: when it began, and how often each tool was used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from flyball.run.event import AnyEvent
from flyball.run.machine import advance
from flyball.run.state import RunState


class CardAccount(NamedTuple):
    """When a card was opened, its calls by tool, and the number of refused calls."""

    began: float = 0.0
    calls: dict[str, int] = {}  # noqa: RUF012
    refused: int = 0


def account_of(events: Iterable[AnyEvent], card: str) -> CardAccount:
    """Fold a log and count its calls. The state itself forgets each decision at the next event."""
    state = RunState()
    began = 0.0
    answers: Counter[tuple[str, str]] = Counter()
    for event in events:
        after = advance(state, event).state
        now, before = after.card(card), state.card(card)
        if now is not None and before is None:
            began = after.at
        if now is not None and now is not before:
            answers.update((judged.answer, judged.tool) for judged in now.judged)
        state = after
    calls = {tool: n for (answer, tool), n in answers.items() if answer == "allow"}
    refused = sum(n for (answer, _), n in answers.items() if answer == "deny")
    return CardAccount(began, calls, refused)
