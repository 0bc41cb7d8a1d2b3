"""A performer that does as a test says, and a stage to drive a run on."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from tests.unit.journal.runs import take

from flyball.engine.loop import Engine
from flyball.engine.telemetry import Telemetry
from flyball.journal.protocol import Intention, Journal, Lease
from flyball.journal.sqlite import SqliteJournal, memory_journal
from flyball.run.effect import (
    CardEffect,
    Classify,
    CloseCard,
    OpenWorkspace,
    Owed,
    Perform,
    Publish,
    Think,
)
from flyball.run.event import (
    AnyEvent,
    CallReturned,
    CardClosed,
    CardEvent,
    DriverReplied,
    Finish,
    Messaged,
    RunStarted,
    WorkspaceReady,
)
from flyball.run.machine import replay
from flyball.run.policy import Policy
from flyball.run.state import RunState
from flyball.terms.call import Call, Outcome
from flyball.terms.intent import Intent

AuditedCall = Callable[[RunState, Owed, Intention], Awaitable[AnyEvent]]

ONCE = Policy(max_iterations=1, bash=True, bash_without_sandbox=True)
"""One plan and no other; commands may run."""


def returned(effect: Perform, text: str = "text") -> CallReturned:
    outcome = Outcome(ok=True, text=text, digest=effect.call.id)
    return CallReturned(card=effect.card, call=effect.call.id, outcome=outcome, tree="t0")


async def performs(_state: RunState, owed: Owed, _intention: Intention) -> AnyEvent:
    assert isinstance(owed.effect, Perform)
    return returned(owed.effect)


def says(*turns: tuple[Call, ...], text: str = "") -> AuditedCall:
    """A driver that asks for these calls, turn by turn; after that it stops."""
    left = list(turns)

    async def think(_state: RunState, owed: Owed, _intention: Intention) -> AnyEvent:
        assert isinstance(owed.effect, Think)
        asked = left.pop(0) if left else ()
        finish = Finish.TOOL_CALLS if asked else Finish.STOP
        return DriverReplied(card=owed.effect.card, calls=asked, text=text or "done", finish=finish)

    return think


class FakePerformer:
    """Opens, publishes and closes at once; thinking and calls are as the test says."""

    def __init__(self, think: AuditedCall, perform: AuditedCall = performs) -> None:
        self._think = think
        self._perform = perform
        self.intentions: list[Intention] = []

    async def perform(self, state: RunState, owed: Owed, intention: Intention) -> AnyEvent:
        self.intentions.append(intention)
        match owed.effect:
            case OpenWorkspace():
                return WorkspaceReady(tree="t0")
            case Publish(message=message):
                return Messaged(message=message)
            case Think():
                return await self._think(state, owed, intention)
            case Perform():
                return await self._perform(state, owed, intention)
            case CloseCard(card=card):
                return CardClosed(card=card)
            case Classify() | _:
                raise AssertionError(f"nobody asked for {owed.effect}")


def team(
    thinkers: Mapping[str, AuditedCall], performers: Mapping[str, AuditedCall] | None = None
) -> FakePerformer:
    """A performer for a plan of independent steps that only look, one driver for each."""
    steps = [
        {"id": name, "title": name, "success_criteria": ["it is seen"], "template": "diagnose"}
        for name in thinkers
    ]
    plan = says(text=json.dumps({"goal": "see it all", "steps": steps}))
    report = says(text=json.dumps({"goal_achieved": False}))

    def of(card: str) -> AuditedCall:
        return plan if card.startswith("plan") else report

    async def think(state: RunState, owed: Owed, intention: Intention) -> AnyEvent:
        assert isinstance(owed.effect, Think)
        card = owed.effect.card
        return await (thinkers.get(card) or of(card))(state, owed, intention)

    async def perform(state: RunState, owed: Owed, intention: Intention) -> AnyEvent:
        assert isinstance(owed.effect, Perform)
        return await (performers or {}).get(owed.effect.card, performs)(state, owed, intention)

    return FakePerformer(think, perform)


class Stage:
    """A journal, an engine, what it told, and a clock that can be put forward."""

    def __init__(self, journal: Journal, lease: Lease, performer: FakePerformer) -> None:
        self.journal = journal
        self.told: list[Telemetry] = []
        self.on_told: Callable[[Telemetry], None] = lambda _: None
        self.now = 1000.0
        self.engine = Engine(journal, lease, performer, clock=self.clock, watch=self.tell)

    def tell(self, line: Telemetry) -> None:
        self.told.append(line)
        self.on_told(line)

    def clock(self) -> float:
        self.now += 0.4
        return self.now

    async def begin(self, intent: Intent = Intent.DIAGNOSE, **more: Any) -> RunState:
        started = RunStarted(run="r1", request="why?", intent=intent, **more)
        return await self.engine.append(RunState(), started)

    async def plan(self) -> RunState:
        """A run that goes through planner, steps and verifier, once."""
        return await self.begin(Intent.FEATURE_BUILD, policy=ONCE)

    async def fold(self) -> RunState:
        return replay(entry.event for entry in await self.journal.events("r1"))

    async def events(self, card: str = "") -> list[AnyEvent]:
        found = [entry.event for entry in await self.journal.events("r1")]
        if not card:
            return found
        return [each for each in found if isinstance(each, CardEvent) and each.card == card]


async def stage(performer: FakePerformer, journal: SqliteJournal | None = None) -> Stage:
    found = journal or memory_journal()
    return Stage(found, await take(found), performer)


def owed_to(state: RunState) -> dict[str, str]:
    """The kind of the effect that each card is owed."""
    return {
        owed.effect.card: type(owed.effect).__name__
        for owed in state.owed
        if isinstance(owed.effect, CardEffect)
    }
