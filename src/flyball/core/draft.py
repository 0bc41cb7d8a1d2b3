"""The run and the card under change while one event is applied. Never leaves `advance`."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from flyball.core.effect import AnyEffect, CardEffect, CloseCard, Owed, ResetThread, Think
from flyball.core.guard import Level, Step, Trip, remember, trips
from flyball.core.phase import Phase
from flyball.core.state import Asking, CardState, Ending, Judged, Question, RunState, Said


class Draft:
    """A scratch copy with the few verbs that rules need."""

    __slots__ = ("card", "effects", "run")

    def __init__(self, run: RunState, card: CardState) -> None:
        self.run = run
        self.card = card
        self.effects: list[AnyEffect] = []

    def set(self, **changes: Any) -> None:
        self.card = replace(self.card, **changes)

    def enter(self, phase: Phase) -> None:
        """Move on; the table decides whether the rule was allowed to."""
        if phase is not self.card.phase:
            self.card = replace(self.card, phase=phase)

    def spend(self, **more: Any) -> None:
        now = self.run.spend
        added: dict[str, Any] = {name: getattr(now, name) + n for name, n in more.items()}
        self.run = replace(self.run, spend=replace(now, **added))

    def owe(self, effect: AnyEffect) -> None:
        self.effects.append(effect)

    @property
    def has_debt(self) -> bool:
        """Whether something is owed to this card from before."""
        return any(getattr(owed.effect, "card", "") == self.card.id for owed in self.run.owed)

    def think(self, *, text_only: bool = False, wait: float = 0.0) -> None:
        """Ask the driver, in the phase and role the card has now."""
        card = self.card
        self.owe(
            Think(card=card.id, role=card.role, phase=card.phase, text_only=text_only, wait=wait)
        )

    def forget(self) -> None:
        """Nothing that was owed to this card before is wanted any more."""
        self.run = drop_owed(self.run, self.card.id)
        self.set(queue=(), in_flight=())

    def reset_thread(self, reason: str) -> None:
        """Owe a new thread; what the old one still waited for is dropped."""
        self.forget()
        self.owe(ResetThread(card=self.card.id, reason=reason))

    def close(self) -> None:
        """Owe the last effect of a card: its commit and artifacts."""
        card = self.card
        ending = card.ending or Ending.FAILED
        self.owe(CloseCard(card=card.id, ending=ending.value, proof=card.proof.label))

    def say(self, kind: str, text: str, call: str = "") -> None:
        self.set(said=(*self.card.said, Said(kind, text, call)))

    def record(self, judged: Judged) -> None:
        self.set(judged=(*self.card.judged, judged))

    def ask(self, kind: Asking, text: str, **more: Any) -> None:
        """Rest until a person answers, and remember where."""
        question = Question(id=f"q{self.run.seq}", kind=kind, text=text, **more)
        self.set(question=question, was=self.card.phase, phase=Phase.PAUSED)

    def halt(self, reason: str) -> None:
        """A guard's hard level: rest, and let a person look."""
        self.ask(Asking.GUARD, f"Stopped by a guard. {reason}.")

    def return_from_pause(self) -> None:
        """Go back to where the card was when it was paused."""
        self.set(phase=self.card.was, question=None)

    def observe(self, step: Step) -> str:
        """Let the guards see a step: soft trips are said, a hard one is returned as a reason."""
        memory = remember(self.card.memory, step)
        self.set(memory=memory)
        return self.heed(trips(memory, self.run.policy.guards))

    def heed(self, tripped: tuple[Trip, ...]) -> str:
        if not tripped:
            return ""
        self.set(tripped=(*self.card.tripped, *tripped))
        stop = ""
        for trip in tripped:
            if trip.level is Level.HARD:
                stop = stop or f"{trip.guard}: {trip.reason}"
            else:
                self.say("nudge", f"Careful: {trip.reason}. Change your approach.")
        return stop


def number(run: RunState, effects: list[AnyEffect]) -> RunState:
    """Put new effects at the end of what is owed, each with its number."""
    if not effects:
        return run
    first = run.effects + 1
    owed = tuple([Owed(first + i, effect) for i, effect in enumerate(effects)])
    return replace(run, owed=(*run.owed, *owed), effects=run.effects + len(effects))


def drop_owed(run: RunState, card: str) -> RunState:
    """Forget what is owed to a card that has ended."""
    kept = tuple(
        [o for o in run.owed if not (isinstance(o.effect, CardEffect) and o.effect.card == card)]
    )
    return run if len(kept) == len(run.owed) else replace(run, owed=kept)
