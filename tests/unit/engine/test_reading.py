"""An unsure reading is put to the model; its answer counts only among the candidates."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from flyball.core.event import IntentRead, RunStarted
from flyball.core.intent import CONFIDENCE_THRESHOLD, LIMITS, Turn
from flyball.core.machine import advance
from flyball.core.reading.classifier import classify
from flyball.core.state import RunState
from flyball.drivers.protocol import Reply, Request
from flyball.engine.reading import read_intent
from flyball.errors import DriverError

UNSURE = "can you see my screen?"


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


def test_a_sure_reading_asks_nobody():
    reader = Reader("autonomous")
    found = read("fix the typo in the readme", reader)
    assert reader.asked == []
    assert found.by == "rules"
    assert found.budget == LIMITS[found.intent]


def test_an_unsure_reading_is_put_to_the_model():
    rules = classify(UNSURE)
    assert rules.confidence < CONFIDENCE_THRESHOLD
    other = rules.alternatives[0].intent
    reader = Reader(f"I think it is {other.value}.")
    found = read(UNSURE, reader, (Turn("assistant", "Which one?"),))
    assert (found.intent, found.budget, found.by) == (other, LIMITS[other], "model")
    assert "Which one?" in reader.asked[0].opening
    assert reader.asked[0].tools == ()


@pytest.mark.parametrize("reader", [None, Reader("a large budget please"), Reader(fails=True)])
def test_without_a_usable_answer_the_smaller_budget_holds(reader):
    found = read(UNSURE, reader)
    assert found.intent is classify(UNSURE).intent
    assert found.by == "rules"
