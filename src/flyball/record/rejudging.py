"""Judge the calls of a recorded run under another policy.

Every call is judged in its place in the recorded run: a call that would have been blocked is
reported, and the next one is judged as if nothing had changed before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
from msgspec.structs import replace

from flyball.run.decision import Allow, Ask, judge
from flyball.run.event import AnyEvent, DriverReplied, RunStarted
from flyball.run.machine import advance
from flyball.run.policy import Policy
from flyball.run.state import CardState, Judged, RunState
from flyball.terms.budget import cost
from flyball.terms.call import Call
from flyball.terms.phase import Phase


class Rejudged(msgspec.Struct, frozen=True):
    """One call: the recorded decision, and the one under the other policy."""

    seq: int
    card: str
    was: Judged
    now: Judged

    @property
    def differs(self) -> bool:
        return self.was.answer != self.now.answer


class NewQuestion(msgspec.Struct, frozen=True):
    """A question that the other policy would have asked a person."""

    seq: int
    card: str
    kind: str
    text: str


class Rejudgement(msgspec.Struct, frozen=True):
    """A recorded run under another policy."""

    calls: tuple[Rejudged, ...]
    questions: tuple[NewQuestion, ...]

    @property
    def differences(self) -> tuple[Rejudged, ...]:
        return tuple(call for call in self.calls if call.differs)


def rejudge(events: Iterable[AnyEvent], policy: Policy) -> Rejudgement:
    """Go through a recorded run and ask the same questions under another policy.

    A policy never makes an event illegal, so both policies can be applied to the state before it.
    """
    calls: list[Rejudged] = []
    questions: list[NewQuestion] = []
    state = RunState()
    for event in events:
        after = advance(state, event).state
        if isinstance(event, RunStarted):
            policy = policy.around_host() if event.policy.hosted else policy
        else:
            other = advance(with_policy(state, policy), event).state
            for card in [each for each in after.cards if each is not state.card(each.id)]:
                calls += _calls(state, event, after, card, other, policy)
                questions += _questions(after, card, other)
        state = after
    return Rejudgement(tuple(calls), tuple(questions))


def with_policy(state: RunState, policy: Policy) -> RunState:
    """Return the state as it would be under another policy."""
    budget = replace(
        state.budget,
        reserve=policy.reserve,
        ceiling=policy.max_tool_rounds,
        tokens=policy.max_tokens,
        money=policy.max_money,
    )
    return replace(state, policy=policy, budget=budget)


def _calls(
    before: RunState,
    event: AnyEvent,
    after: RunState,
    card: CardState,
    other: RunState,
    policy: Policy,
) -> Iterator[Rejudged]:
    there = other.card(card.id)
    said = {judged.call: judged for judged in there.judged} if there else {}
    for index, was in enumerate(card.judged):
        now = said.get(was.call)
        if now is None:
            call = _call(before.card(card.id), event, was.call)
            now = _judge_alone(before, after, card, index, call, policy) if call else was
        yield Rejudged(after.seq, card.id, was, now)


def _call(card: CardState | None, event: AnyEvent, id: str) -> Call | None:
    """Return the call of that name among those just requested, queued, or waiting for a person."""
    asked = event.calls if isinstance(event, DriverReplied) else ()
    waiting = card.queue if card else ()
    put = (card.question.call,) if card and card.question and card.question.call else ()
    return next((call for call in (*asked, *waiting, *put) if call.id == id), None)


def _judge_alone(
    before: RunState, after: RunState, card: CardState, index: int, call: Call, policy: Policy
) -> Judged:
    """Judge a call that the other course did not reach, at its place in the recorded run."""
    later = {judged.call for judged in card.judged[index:]}
    sent = [each for each in card.in_flight if each.id in later]
    spend = replace(after.spend, calls=after.spend.calls - sum(cost(each) for each in sent))
    previous = before.card(card.id)
    asked_state = replace(
        card,
        phase=card.was if card.phase is Phase.PAUSED else card.phase,
        question=None,
        in_flight=tuple(each for each in card.in_flight if each.id not in later),
        denials=previous.denials if previous else (),
    )
    decision = judge(replace(with_policy(after, policy), spend=spend), asked_state, call)
    if isinstance(decision, Allow):
        return Judged(call.id, call.tool, "allow")
    answer = "ask" if isinstance(decision, Ask) else "deny"
    return Judged(call.id, call.tool, answer, decision.code, decision.reason)


def _questions(after: RunState, card: CardState, other: RunState) -> Iterator[NewQuestion]:
    there = other.card(card.id)
    asked = there.question if there else None
    if asked is not None and asked.call is None and card.question is None:
        yield NewQuestion(after.seq, card.id, asked.kind.value, asked.text)
