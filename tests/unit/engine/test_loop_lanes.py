"""The loop with several cards at work: they overlap, and stop, rest and fail together."""

from __future__ import annotations

import asyncio

import pytest
from tests.simulation.world import bash, call
from tests.unit.engine.acting import (
    AuditedCall,
    Stage,
    owed_to,
    performs,
    returned,
    says,
    stage,
    team,
)
from tests.unit.journal.runs import story

from flyball.engine.lanes import Answers, Lanes
from flyball.engine.loop import Engine
from flyball.engine.telemetry import Telemetry
from flyball.errors import LeaseHeld, ToolError
from flyball.journal.protocol import Intention
from flyball.journal.sqlite import memory_journal
from flyball.plan.message import ExecutionResults
from flyball.run.effect import Owed, Perform, Think
from flyball.run.event import (
    Answered,
    AnyEvent,
    CallReturned,
    Cancelled,
    CardClosed,
    DriverReplied,
    Finish,
    Messaged,
    PauseAsked,
)
from flyball.run.state import RunState
from flyball.terms.phase import Phase

SECONDS = 300


class Hanging:
    """An action that says when it has begun, and never ends by itself."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.is_over = False

    async def __call__(self, _state: RunState, _owed: Owed, _intention: Intention) -> AnyEvent:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.is_over = True
        raise AssertionError


class Gated:
    """A call that says when it has begun, and returns when it is let go."""

    def __init__(self) -> None:
        self.begun, self.let_go = asyncio.Event(), asyncio.Event()

    async def __call__(self, _state: RunState, owed: Owed, _intention: Intention) -> AnyEvent:
        self.begun.set()
        await self.let_go.wait()
        assert isinstance(owed.effect, Perform)
        return returned(owed.effect)


def reads(name: str, count: int = 1) -> AuditedCall:
    """A driver that reads one file a turn."""
    return says(*((call(f"{name}-{n}", "read", f"{name}{n}.py"),) for n in range(count)))


def calls_of(events: list[AnyEvent]) -> list[str]:
    return [event.call for event in events if isinstance(event, CallReturned)]


@story
async def test_the_calls_of_two_cards_overlap() -> None:
    both = asyncio.Barrier(2)

    async def meet(state: RunState, owed: Owed, intention: Intention) -> AnyEvent:
        await both.wait()
        return await performs(state, owed, intention)

    performer = team({"a": reads("a", 2), "b": reads("b", 2)}, {"a": meet, "b": meet})
    s = await stage(performer)
    state = await asyncio.wait_for(s.engine.run(await s.plan()), SECONDS)
    assert state.has_ended
    assert calls_of(await s.events("a")) == ["a-0", "a-1"]
    assert calls_of(await s.events("b")) == ["b-0", "b-1"]
    assert await s.fold() == state == await s.journal.load("r1")


@story
async def test_thinking_overlaps_with_thinking_and_with_calls() -> None:
    all_three = asyncio.Barrier(3)

    async def meet(_state: RunState, owed: Owed, _intention: Intention) -> AnyEvent:
        await all_three.wait()
        match owed.effect:
            case Perform() as effect:
                return returned(effect)
            case Think(card=card):
                return DriverReplied(card=card, text="done", finish=Finish.STOP)
            case _:
                raise AssertionError

    s = await stage(team({"a": meet, "b": meet, "c": reads("c")}, {"c": meet}))
    state = await asyncio.wait_for(s.engine.run(await s.plan()), SECONDS)
    assert state.has_ended


@story
async def test_a_long_lane_holds_up_no_other() -> None:
    slow = Gated()
    short_ones_done = asyncio.Event()

    async def last(state: RunState, owed: Owed, intention: Intention) -> AnyEvent:
        assert isinstance(owed.effect, Perform)
        if owed.effect.call.id == "c-4":
            short_ones_done.set()
        return await performs(state, owed, intention)

    performer = team(
        {"a": reads("a"), "b": reads("b", 3), "c": reads("c", 5)}, {"a": slow, "c": last}
    )
    s = await stage(performer)
    driving = asyncio.create_task(s.engine.run(await s.plan()))
    async with asyncio.timeout(SECONDS):
        await slow.begun.wait()
        await short_ones_done.wait()
        assert calls_of(await s.events("a")) == []
        slow.let_go.set()
        state = await driving
    assert state.has_ended
    assert calls_of(await s.events("b")) == ["b-0", "b-1", "b-2"]
    assert calls_of(await s.events("c")) == [f"c-{n}" for n in range(5)]
    closed = [event.card for event in await s.events() if isinstance(event, CardClosed)]
    assert closed[1:4] == ["a", "b", "c"]


def steps_reported(events: list[AnyEvent]) -> list[str]:
    return [
        event.message.step_results[0].step_id
        for event in events
        if isinstance(event, Messaged) and isinstance(event.message, ExecutionResults)
    ]


async def until_closed(s: Stage, card: str) -> None:
    while not any(isinstance(event, CardClosed) for event in await s.events(card)):
        await asyncio.sleep(0)


@story
async def test_message_waits_for_earlier_effects() -> None:
    slow = Gated()
    s = await stage(team({"a": says(), "b": reads("b")}, {"b": slow}))
    driving = asyncio.create_task(s.engine.run(await s.plan()))
    async with asyncio.timeout(SECONDS):
        await slow.begun.wait()
        await until_closed(s, "a")
        for _ in range(20):
            await asyncio.sleep(0)
        assert steps_reported(await s.events()) == []
        slow.let_go.set()
        await driving
    assert steps_reported(await s.events()) == ["a", "b"]


@pytest.mark.parametrize("asked", ["here", "by another process"])
@story
async def test_a_pause_stops_who_thinks_and_lets_who_works_come_back(asked: str) -> None:
    thinking, working = Hanging(), Gated()
    s = await stage(team({"a": thinking, "b": reads("b", 2)}, {"b": working}))
    driving = asyncio.create_task(s.engine.run(await s.plan()))
    async with asyncio.timeout(SECONDS):
        await thinking.begun.wait()
        await working.begun.wait()
        if asked == "here":
            s.engine.pause("ada")
        else:
            await s.journal.post("r1", PauseAsked(by="ada"))
        while not thinking.is_over:
            await asyncio.sleep(0)
        assert not driving.done()
        working.let_go.set()
        state = await driving
    assert [card.id for card in state.paused] == ["a", "b"]
    assert owed_to(state) == {"a": "Think", "b": "Think"}
    assert [type(event) for event in (await s.events())[-2:]] == [CallReturned, PauseAsked]
    assert await s.journal.inbox("r1") == []
    assert await s.journal.load("r1") == state


@story
async def test_a_pause_finds_the_card_that_is_about_to_open() -> None:
    s = await stage(team({"a": Hanging(), "b": Hanging()}))

    def pause_at_the_first_step(line: Telemetry) -> None:
        if line["type"] == "card" and line["card"] == "a":
            s.engine.pause("ada")

    s.on_told = pause_at_the_first_step
    state = await asyncio.wait_for(s.engine.run(await s.plan()), SECONDS)
    assert [card.id for card in state.paused] == ["a", "b"]
    assert owed_to(state) == {"a": "Think", "b": "Think"}
    assert isinstance((await s.events())[-1], PauseAsked)


@story
async def test_a_pause_left_for_a_run_that_has_no_card_yet_waits_for_one() -> None:
    s = await stage(team({"a": says(), "b": says()}))
    state = await s.plan()
    await s.journal.post("r1", PauseAsked(by="ada"))
    state = await asyncio.wait_for(s.engine.run(state), SECONDS)
    assert [card.id for card in state.paused] == ["plan.1"]


@story
async def test_a_cancelled_run_waits_for_none_of_its_cards() -> None:
    first, second = Hanging(), Hanging()
    s = await stage(team({"a": first, "b": reads("b")}, {"b": second}))
    driving = asyncio.create_task(s.engine.run(await s.plan()))
    async with asyncio.timeout(SECONDS):
        await first.begun.wait()
        await second.begun.wait()
        await s.journal.post("r1", PauseAsked(by="grace"))
        await s.journal.post("r1", Cancelled(by="ada", why="enough"))
        state = await driving
    assert first.is_over and second.is_over
    assert state.response is not None
    assert state.response.status.value == "cancelled"
    assert await s.journal.inbox("r1") == []


@story
async def test_result_of_a_dropped_effect_is_ignored() -> None:
    begun = asyncio.Event()

    async def deaf(_state: RunState, owed: Owed, _intention: Intention) -> AnyEvent:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            assert isinstance(owed.effect, Perform)
            return returned(owed.effect)
        raise AssertionError

    s = await stage(team({"a": reads("a"), "b": says()}, {"a": deaf}))
    driving = asyncio.create_task(s.engine.run(await s.plan()))
    async with asyncio.timeout(SECONDS):
        await begun.wait()
        await s.journal.post("r1", Cancelled(by="ada"))
        state = await driving
    assert state.has_ended
    assert calls_of(await s.events()) == []
    assert await s.fold() == state


@story
async def test_message_for_a_card_applies_while_another_works() -> None:
    working = Gated()
    turns = 0

    async def withheld(_state: RunState, owed: Owed, _intention: Intention) -> AnyEvent:
        nonlocal turns
        assert isinstance(owed.effect, Think)
        turns += 1
        if turns == 1:
            return DriverReplied(card=owed.effect.card, finish=Finish.CONTENT_FILTER)
        working.let_go.set()
        return DriverReplied(card=owed.effect.card, text="seen", finish=Finish.STOP)

    s = await stage(team({"a": withheld, "b": reads("b")}, {"b": working}))
    driving = asyncio.create_task(s.engine.run(await s.plan()))
    async with asyncio.timeout(SECONDS):
        await working.begun.wait()
        while not any(line["type"] == "approval" for line in s.told):
            await asyncio.sleep(0)
        asked = next(line["question"] for line in s.told if line["type"] == "approval")
        assert not driving.done()
        await s.journal.post("r1", Answered(question=asked, granted=True, by="ada"))
        state = await driving
    assert state.has_ended
    assert turns == 2


@story
async def test_an_error_in_one_lane_ends_the_others_and_is_raised() -> None:
    other = Hanging()

    async def fails(_state: RunState, _owed: Owed, _intention: Intention) -> AnyEvent:
        await other.begun.wait()
        raise ToolError("The disk is full.")

    s = await stage(team({"a": reads("a"), "b": reads("b")}, {"a": fails, "b": other}))
    with pytest.raises(ToolError, match="disk is full"):
        await asyncio.wait_for(s.engine.run(await s.plan()), SECONDS)
    assert other.is_over
    state = await s.journal.load("r1")
    assert owed_to(state) == {"a": "Perform", "b": "Perform"}
    assert await s.fold() == state


@pytest.mark.parametrize("failing", ["a", "b"])
@story
async def test_what_is_complete_when_another_lane_fails_is_written_down(failing: str) -> None:
    both = asyncio.Barrier(2)

    async def perform(state: RunState, owed: Owed, intention: Intention) -> AnyEvent:
        assert isinstance(owed.effect, Perform)
        await both.wait()
        if owed.effect.card == failing:
            raise ToolError("The disk is full.")
        return await performs(state, owed, intention)

    s = await stage(team({"a": reads("a"), "b": reads("b")}, {"a": perform, "b": perform}))
    with pytest.raises(ToolError, match="disk is full"):
        await asyncio.wait_for(s.engine.run(await s.plan()), SECONDS)
    fine = "b" if failing == "a" else "a"
    assert calls_of(await s.events()) == [f"{fine}-0"]
    assert owed_to(await s.journal.load("r1")) == {failing: "Perform", fine: "Think"}


@story
async def test_lost_lease_cancels_every_card() -> None:
    first, second = Hanging(), Hanging()
    journal = memory_journal()
    s = await stage(team({"a": first, "b": reads("b")}, {"b": second}), journal)
    driving = asyncio.create_task(s.engine.run(await s.plan()))
    async with asyncio.timeout(SECONDS):
        await first.begun.wait()
        await second.begun.wait()
        before = await journal.load("r1")
        await journal.acquire("r1", "grace", 10**9, 60.0, lambda _: True)
        s.now += 3600.0
        with pytest.raises(LeaseHeld, match="grace"):
            await driving
    assert first.is_over and second.is_over
    assert await journal.load("r1") == before


@story
async def test_the_next_process_learns_of_both_actions_that_were_under_way() -> None:
    first, second = Hanging(), Hanging()
    thinkers = {name: says((bash(f"{name}-0", "verification"),)) for name in ("a", "b")}
    journal = memory_journal()
    s = await stage(team(thinkers, {"a": first, "b": second}), journal)
    driving = asyncio.create_task(s.engine.run(await s.plan()))
    async with asyncio.timeout(SECONDS):
        await first.begun.wait()
        await second.begun.wait()
        driving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await driving
    assert first.is_over and second.is_over
    state = await journal.load("r1")
    assert owed_to(state) == {"a": "Perform", "b": "Perform"}
    lease = await journal.acquire("r1", "next", 10**9, 60.0, lambda _: True)
    performer = team({"a": says(), "b": says()})
    engine = Engine(journal, lease, performer, clock=lambda: 2000.0, watch=lambda _: None)
    ended = await asyncio.wait_for(engine.run(state), SECONDS)
    assert ended.has_ended
    repeated = [each.key for each in performer.intentions if each.is_repeat]
    assert repeated == [f"r1/{owed.n}" for owed in state.owed]


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
async def test_interrupted_stop_leaves_no_task() -> None:
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
