"""An unsure reading is put to the model; its answer counts only among the candidates."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from flyball.drivers.protocol import Reply, Request
from flyball.engine.effects import read_intent
from flyball.errors import DriverError
from flyball.run.event import IntentRead, RunStarted
from flyball.run.machine import advance
from flyball.run.state import RunState
from flyball.terms.intent import (
    CONFIDENCE_THRESHOLD,
    LIMITS,
    Alternative,
    Intent,
    Reading,
    Turn,
)

UNSURE = Reading(
    intent=Intent.STATUS_CHECK,
    budget=LIMITS[Intent.STATUS_CHECK],
    confidence=CONFIDENCE_THRESHOLD / 2,
    reasons=("two readings are as likely",),
    alternatives=(Alternative(Intent.DIAGNOSE, CONFIDENCE_THRESHOLD / 2),),
)


@pytest.fixture
def unsure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is asked for, the rules are in doubt."""
    monkeypatch.setattr("flyball.engine.effects.classify", lambda *_: UNSURE)


class Reader:
    """A model that says one thing, or fails."""

    def __init__(self, text: str = "", *, fails: bool = False) -> None:
        self.text = text
        self.fails = fails
        self.asked: list[Request] = []

    async def think(self, request: Request, on_text: Callable[[str], None]) -> Reply:
        self.asked.append(request)
        if self.fails:
            raise DriverError("overloaded", retryable=True)
        return Reply(text=self.text)

    async def close(self) -> None:
        return None


def read(text: str, reader: Reader | None, history: tuple[Turn, ...] = ()) -> IntentRead:
    state = advance(RunState(), RunStarted(run="r", request=text)).state
    return asyncio.run(read_intent(state, history, reader))


def test_confident_classification_asks_no_model():
    reader = Reader("autonomous")
    found = read("fix the typo in the readme", reader)
    assert reader.asked == []
    assert found.by == "rules"
    assert found.budget == LIMITS[found.intent]


@pytest.mark.usefixtures("unsure")
def test_an_unsure_reading_is_put_to_the_model():
    other = UNSURE.alternatives[0].intent
    reader = Reader(f"I think it is {other.value}.")
    found = read("is it?", reader, (Turn("assistant", "Which one?"),))
    assert (found.intent, found.budget, found.by) == (other, LIMITS[other], "model")
    assert "Which one?" in reader.asked[0].opening
    assert reader.asked[0].tools == ()


@pytest.mark.usefixtures("unsure")
@pytest.mark.parametrize("reader", [None, Reader("a large budget please"), Reader(fails=True)])
def test_without_a_usable_answer_the_smaller_budget_holds(reader):
    found = read("is it?", reader)
    assert found.intent is UNSURE.intent
    assert found.by == "rules"
