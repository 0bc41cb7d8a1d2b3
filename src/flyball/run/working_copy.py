"""The run and the card being changed while one event is applied. It never leaves `advance`."""

from __future__ import annotations

from typing import Any

from msgspec.structs import force_setattr, replace

from flyball.guards.guard import Trip, TripLevel
from flyball.guards.guard_memory import GuardStep, remember, trips
from flyball.run.effect import AnyEffect, CardEffect, CloseCard, Owed, ResetThread, Think
from flyball.run.ending import ending_of_card
from flyball.run.state import (
    Asking,
    CardState,
    Ending,
    GovernorMessage,
    Judged,
    Question,
    RunState,
)
from flyball.terms.budget import Usage
from flyball.terms.phase import Phase

STOPPED = "Stopped by a guard. "
"""How the question of a guard's hard level begins."""
WAY_OUT = (
    "If it cannot be done as asked (the request and a test contradict each other, or something is "
    "missing), change neither: report it with `conflict`, and a person decides."
)
"""The offer to a driver that is sent back again; accepting it has no cost."""
OFFERED_AFTER = 2


class WorkingCopy:
    """The few operations that rules need, on private copies of run and card.

    Until `advance` returns them these copies are not shared, so they are modified in place: copying
    a frozen value for every change would cost more than all the rules.
    """

    __slots__ = ("card", "effects", "run")

    def __init__(self, run: RunState, card: CardState) -> None:
        self.run = run
        self.card = card
        self.effects: list[AnyEffect] = []
        """The effects that the rule owes; they are numbered once the event is applied."""

    def set(self, **changes: Any) -> None:
        card = self.card
        for name, value in changes.items():
            force_setattr(card, name, value)

    def enter(self, phase: Phase) -> None:
        """Enter a phase; the table decides whether the rule may do so."""
        force_setattr(self.card, "phase", phase)

    def set_run(self, **changes: Any) -> None:
        run = self.run
        for name, value in changes.items():
            force_setattr(run, name, value)

    def spend(self, *, calls: int = 0, blocked: int = 0) -> None:
        now = self.run.spend
        spent = replace(now, calls=now.calls + calls, blocked=now.blocked + blocked)
        force_setattr(self.run, "spend", spent)

    def use(self, usage: Usage) -> None:
        """Add the cost of a reply."""
        now = self.run.spend
        spent = replace(
            now,
            input_tokens=now.input_tokens + usage.input_tokens,
            output_tokens=now.output_tokens + usage.output_tokens,
            cached_tokens=now.cached_tokens + usage.cached_tokens,
            money=now.money + usage.money,
        )
        force_setattr(self.run, "spend", spent)

    @property
    def has_debt(self) -> bool:
        """Return whether the card still has an owed effect."""
        return any(getattr(owed.effect, "card", "") == self.card.id for owed in self.run.owed)

    def think(self, *, text_only: bool = False, wait: float = 0.0) -> None:
        """Ask the driver, in the card's current phase and role."""
        card = self.card
        self.effects.append(
            Think(card=card.id, role=card.role, phase=card.phase, text_only=text_only, wait=wait)
        )

    def reject(self, text: str, **changes: Any) -> None:
        """Explain to the driver why it is not done; in `final` it can only answer."""
        self.set(**changes)
        if max(self.card.rejections, self.card.failures_in_row) >= OFFERED_AFTER:
            text = f"{text}\n{WAY_OUT}"
        self.say("rejection", text)
        self.think(text_only=self.card.phase is Phase.FINAL)

    def forget(self) -> None:
        """Drop all effects owed to this card."""
        drop_owed(self.run, self.card.id)
        self.set(queue=(), in_flight=())

    def reset_thread(self, reason: str, words: str = "") -> None:
        """Request a new thread; pending effects of the old one are dropped."""
        self.forget()
        self.set(thread_tokens=0, opening_tokens=0)
        self.effects.append(ResetThread(card=self.card.id, reason=reason, words=words))

    def close(self) -> None:
        """Request the last effect of a card: its commit and artifacts."""
        card = self.card
        ending = ending_of_card(card) or Ending.FAILED
        self.effects.append(CloseCard(card=card.id, ending=ending.value, proof=card.label))

    def say(self, kind: str, text: str, call: str = "", guard: str = "") -> None:
        self.set(said=(*self.card.said, GovernorMessage(kind, text, call, guard)))

    def record(self, judged: Judged) -> None:
        self.set(judged=(*self.card.judged, judged))

    def ask(self, kind: Asking, text: str, **more: Any) -> None:
        """Pause until a person answers, and remember the phase."""
        held = self.card.held_call
        if held is not None and self.run.policy.hosted:
            # A call that a host's model was told to ask about can still be granted.
            more.setdefault("call", held)
        question = Question(id=f"q{self.run.seq}", kind=kind, text=text, **more)
        self.set(question=question, was=self.card.phase, phase=Phase.PAUSED)

    def halt(self, trip: Trip) -> None:
        """Pause at a guard's hard level and ask a person."""
        self.ask(Asking.GUARD, f"{STOPPED}{trip.sentence}", guard=trip.guard)

    def return_from_pause(self) -> None:
        """Return to the phase in which the card was paused."""
        self.set(phase=self.card.was, question=None)

    def observe(self, step: GuardStep) -> Trip | None:
        """Let the guards see a step; report soft trips and return the first hard one."""
        memory = remember(self.card.memory, replace(step, reply=self.card.turns))
        self.set(memory=memory)
        return self.record_trips(trips(memory, self.run.policy.guards))

    def record_trips(self, tripped: tuple[Trip, ...]) -> Trip | None:
        """Record trips and report the soft ones; return the first hard one."""
        if not tripped:
            return None
        self.set(tripped=(*self.card.tripped, *tripped))
        stop: Trip | None = None
        for trip in tripped:
            if trip.level is TripLevel.HARD:
                stop = stop or trip
            else:
                words = f"Careful: {trip.reason}. Change your approach."
                self.say("nudge", words, guard=trip.guard)
        return stop


def number(run: RunState, effects: list[AnyEffect]) -> None:
    """Append new effects to those that a private copy owes, each with its number."""
    if effects:
        first = run.effects + 1
        owed = [Owed(first + i, effect) for i, effect in enumerate(effects)]
        force_setattr(run, "owed", (*run.owed, *owed))
        force_setattr(run, "effects", run.effects + len(effects))


def drop_owed(run: RunState, card: str) -> None:
    """Remove a card's effects from those that a private copy owes."""
    kept = [o for o in run.owed if not (isinstance(o.effect, CardEffect) and o.effect.card == card)]
    if len(kept) != len(run.owed):
        force_setattr(run, "owed", tuple(kept))
