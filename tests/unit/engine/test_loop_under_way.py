"""What is under way, in which order it comes back, and how it is stopped."""

from __future__ import annotations

import asyncio

import pytest
from tests.unit.journal.runs import story

from flyball.core.run.effect import Owed, Think
from flyball.core.terms.phase import Phase
from flyball.engine.lanes import Answers, Lanes


def think(card: str) -> Think:
    return Think(card=card, role="executor", phase=Phase.EXECUTE)


async def nothing() -> Answers:
    return ()


async def forever() -> Answers:
    await asyncio.Event().wait()
    raise AssertionError


@story
async def test_the_first_to_come_back_is_the_first_to_be_taken() -> None:
    lanes, gate = Lanes(), asyncio.Event()

    async def later() -> Answers:
        await gate.wait()
        return ()

    lanes.start([Owed(1, think("a"))], later)
    lanes.start([Owed(2, think("b"))], nothing)
    await lanes.news()
    gate.set()
    await lanes.news()
    taken = [lanes.take(), lanes.take(), lanes.take()]
    assert [batch.owed[0].n for batch in taken if batch] == [2, 1]
    assert lanes.is_idle


@story
async def test_what_is_complete_outlives_a_stop_and_the_rest_has_ended_when_it_returns() -> None:
    lanes, ended = Lanes(), False

    async def stubborn() -> Answers:
        nonlocal ended
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended = True
        raise AssertionError

    lanes.start([Owed(1, think("a"))], nothing)
    lanes.start([Owed(2, think("b"))], stubborn)
    lanes.start([Owed(3, think("c"))], forever)
    await lanes.news()
    await lanes.stop(lambda _: True)
    assert ended
    assert [owed.n for owed in lanes.under_way] == [1]
    batch = lanes.take()
    assert batch is not None and batch.answers() == ()
    assert lanes.is_idle


@story
async def test_a_stop_that_is_itself_interrupted_leaves_nobody_behind() -> None:
    lanes, cleaning, let_go, ended = Lanes(), asyncio.Event(), asyncio.Event(), False

    async def slow_to_end() -> Answers:
        nonlocal ended
        try:
            await asyncio.Event().wait()
        finally:
            cleaning.set()
            await let_go.wait()
            ended = True
        raise AssertionError

    lanes.start([Owed(1, think("a"))], slow_to_end)
    await asyncio.sleep(0)
    stopping = asyncio.create_task(lanes.stop(lambda _: True))
    await cleaning.wait()
    stopping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stopping
    let_go.set()
    await lanes.stop(lambda _: True)
    assert ended
    assert lanes.is_idle


@story
async def test_what_is_stopped_before_it_began_never_begins() -> None:
    lanes, begun = Lanes(), False

    async def begin() -> Answers:
        nonlocal begun
        begun = True
        return ()

    lanes.start([Owed(1, think("a"))], begin)
    await lanes.stop(lambda _: True)
    assert not begun
    assert lanes.is_idle
    assert lanes.take() is None
