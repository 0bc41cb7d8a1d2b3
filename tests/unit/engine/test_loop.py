"""The loop: what interrupts it, what it waits for, and what it leaves for the next process."""

from __future__ import annotations

import asyncio

import pytest
from tests.simulation.world import bash, call
from tests.unit.engine.acting import FakePerformer, returned, says, stage
from tests.unit.journal.runs import story

from flyball.engine.loop import Engine
from flyball.errors import JournalError, LeaseHeld, ToolError
from flyball.journal.protocol import Intention
from flyball.journal.sqlite import memory_journal
from flyball.run.effect import Classify, Owed, Perform, Think
from flyball.run.event import (
    AnyEvent,
    CallReturned,
    Cancelled,
    PauseAsked,
    Resumed,
)
from flyball.run.policy import Policy
from flyball.run.state import Asking, RunState

SECONDS = 300
"""Only what hangs takes so long."""


@story
async def test_a_run_is_driven_to_its_end_and_every_event_is_written() -> None:
    s = await stage(FakePerformer(says((call("c1", "read"),), text="because")))
    state = await s.engine.run(await s.begin())
    assert state.response is not None
    assert state.response.message == "because"
    assert await s.fold() == state == await s.journal.load("r1")
    assert s.told[-1]["type"] == "final"


@story
async def test_reads_run_side_by_side_and_are_answered_in_order() -> None:
    both = asyncio.Barrier(3)

    async def read(_state: RunState, owed: Owed, _intention: Intention) -> AnyEvent:
        await both.wait()
        assert isinstance(owed.effect, Perform)
        return returned(owed.effect)

    calls = [call(f"c{n}", "read", f"f{n}.py") for n in range(3)]
    s = await stage(FakePerformer(says(tuple(calls)), read))
    async with asyncio.timeout(SECONDS):
        await s.engine.run(await s.begin())
    events = [entry.event for entry in await s.journal.events("r1")]
    assert [e.call for e in events if isinstance(e, CallReturned)] == ["c0", "c1", "c2"]


@story
async def test_actions_are_written_down_before_they_are_done_and_looking_is_not() -> None:
    performer = FakePerformer(says((call("c1", "read"), bash("c2", "verification"))))
    journal = memory_journal()
    s = await stage(performer, journal)
    await s.engine.run(await s.begin(policy=Policy(bash=True, bash_without_sandbox=True)))
    lease = await journal.acquire("r1", "next", 10**9, 60.0, lambda _: True)
    numbers = [int(each.key.removeprefix("r1/")) for each in performer.intentions]
    done_before = [n for n in numbers if await journal.intend(lease, Owed(n, Classify()), 0.0)]
    asked = {e.effect: e for e in [x.event for x in await journal.events("r1")]}
    kinds = [type(asked[n]).__name__ for n in done_before]
    assert kinds == ["CallReturned", "CardClosed"]


@story
async def test_pause_keeps_a_model_request_pending() -> None:
    thinking = asyncio.Event()

    async def think(_state: RunState, _owed: Owed, _intention: Intention) -> AnyEvent:
        thinking.set()
        await asyncio.Event().wait()
        raise AssertionError

    s = await stage(FakePerformer(think))
    driving = asyncio.create_task(s.engine.run(await s.begin()))
    await thinking.wait()
    s.engine.pause("ada")
    state = await asyncio.wait_for(driving, SECONDS)
    assert state.paused[0].question is not None
    assert state.paused[0].question.kind is Asking.PERSON
    assert [type(owed.effect) for owed in state.owed] == [Think]
    assert await s.journal.load("r1") == state


@story
async def test_a_pause_lets_the_call_under_way_come_back() -> None:
    calling, let_go = asyncio.Event(), asyncio.Event()

    async def perform(_state: RunState, owed: Owed, _intention: Intention) -> AnyEvent:
        calling.set()
        await let_go.wait()
        assert isinstance(owed.effect, Perform)
        return returned(owed.effect)

    s = await stage(FakePerformer(says((call("c1", "read"),)), perform))
    driving = asyncio.create_task(s.engine.run(await s.begin()))
    await calling.wait()
    s.engine.pause("ada")
    let_go.set()
    state = await asyncio.wait_for(driving, SECONDS)
    assert state.paused
    events = [type(entry.event) for entry in await s.journal.events("r1")]
    assert events[-2:] == [CallReturned, PauseAsked]


@story
async def test_a_paused_run_goes_on_where_it_was() -> None:
    s = await stage(FakePerformer(says((call("c1", "read"),), text="because")))
    state = await s.begin()
    s.engine.pause("ada")
    state = await s.engine.run(state)
    assert state.paused
    state = await s.engine.append(state, Resumed(by="ada", tree="t0"))
    state = await s.engine.run(state)
    assert state.has_ended


@pytest.mark.parametrize("during", ["think", "perform"])
@story
async def test_a_cancelled_run_waits_for_nothing(during: str) -> None:
    begun = asyncio.Event()

    async def hang(_state: RunState, _owed: Owed, _intention: Intention) -> AnyEvent:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    performer = (
        FakePerformer(hang)
        if during == "think"
        else FakePerformer(says((call("c1", "read"),)), hang)
    )
    s = await stage(performer)
    driving = asyncio.create_task(s.engine.run(await s.begin()))
    await begun.wait()
    await s.journal.post("r1", Cancelled(by="ada", why="enough"))
    state = await asyncio.wait_for(driving, SECONDS)
    assert state.response is not None
    assert state.response.status.value == "cancelled"
    assert await s.journal.inbox("r1") == []


@story
async def test_late_message_is_dropped() -> None:
    s = await stage(FakePerformer(says(text="because")))
    await s.journal.post("r1", Resumed(by="ada"))
    state = await s.engine.run(await s.begin())
    await s.journal.post("r1", PauseAsked(by="ada"))
    assert (await s.engine.run(state)) == state
    assert await s.journal.inbox("r1") == []


@story
async def test_stopping_at_once_leaves_the_run_resumable() -> None:
    begun = asyncio.Event()

    async def hang(_state: RunState, _owed: Owed, _intention: Intention) -> AnyEvent:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    journal = memory_journal()
    s = await stage(FakePerformer(says((call("c1", "read"),)), hang), journal)
    driving = asyncio.create_task(s.engine.run(await s.begin()))
    await begun.wait()
    driving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await driving
    state = await journal.load("r1")
    assert [type(owed.effect) for owed in state.owed] == [Perform]
    lease = await journal.acquire("r1", "next", 10**9, 60.0, lambda _: True)
    engine = Engine(
        journal, lease, FakePerformer(says()), clock=lambda: 2000.0, watch=lambda _: None
    )
    assert (await engine.run(state)).has_ended


@story
async def test_performer_error_is_raised_and_keeps_earlier_events() -> None:
    async def fails(_state: RunState, owed: Owed, _intention: Intention) -> AnyEvent:
        assert isinstance(owed.effect, Perform)
        if owed.effect.call.id == "c2":
            raise ToolError("The disk is full.")
        return returned(owed.effect)

    calls = [call(f"c{n}", "read", f"f{n}.py") for n in range(1, 4)]
    s = await stage(FakePerformer(says(tuple(calls)), fails))
    with pytest.raises(ToolError, match="disk is full"):
        await s.engine.run(await s.begin())
    state = await s.journal.load("r1")
    assert [owed.effect.call.id for owed in state.owed] == ["c2", "c3"]  # type: ignore[union-attr]
    assert await s.fold() == state


@story
async def test_performer_timeout_is_no_pause() -> None:
    async def late(_state: RunState, _owed: Owed, _intention: Intention) -> AnyEvent:
        raise TimeoutError("the server did not answer")

    s = await stage(FakePerformer(late))
    with pytest.raises(TimeoutError, match="did not answer"):
        await s.engine.run(await s.begin())


@story
async def test_lost_lease_stops_the_engine_and_names_the_holder() -> None:
    begun = asyncio.Event()

    async def hang(_state: RunState, _owed: Owed, _intention: Intention) -> AnyEvent:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    journal = memory_journal()
    s = await stage(FakePerformer(hang), journal)
    driving = asyncio.create_task(s.engine.run(await s.begin()))
    await begun.wait()
    before = await journal.load("r1")
    await journal.acquire("r1", "grace", 10**9, 60.0, lambda _: True)
    s.now += 3600.0
    with pytest.raises(LeaseHeld, match="grace"):
        await asyncio.wait_for(driving, SECONDS)
    assert await journal.load("r1") == before


@story
async def test_a_journal_that_fails_stops_the_engine_with_its_error() -> None:
    journal = memory_journal()
    s = await stage(FakePerformer(says((call("c1", "read"),))), journal)
    state = await s.begin()
    await journal.close()
    with pytest.raises(JournalError, match="closed"):
        await s.engine.run(state)


@story
async def test_text_that_utf8_cannot_hold_is_stored_readably() -> None:
    async def odd(_state: RunState, owed: Owed, _intention: Intention) -> AnyEvent:
        assert isinstance(owed.effect, Perform)
        return returned(owed.effect, "caf\udce9 and \ud800")

    s = await stage(FakePerformer(says((call("c1", "read"),), text="because"), odd))
    state = await s.engine.run(await s.begin())
    assert state.has_ended
    events = [entry.event for entry in await s.journal.events("r1")]
    (found,) = [event for event in events if isinstance(event, CallReturned)]
    assert found.outcome.text == "caf\\udce9 and \\ud800"
    assert await s.fold() == state
