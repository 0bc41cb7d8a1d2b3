"""Reading a request's intent: the rules first, a model where they are unsure."""

from __future__ import annotations

from flyball.core.event import IntentRead
from flyball.core.intent import Turn
from flyball.core.reading.classifier import classify
from flyball.core.state import RunState


def read_intent(state: RunState, history: tuple[Turn, ...]) -> IntentRead:
    """The rules' reading; unsure ones already take the smaller budget and say so."""
    reading = classify(state.request, history)
    return IntentRead(
        intent=reading.intent,
        budget=reading.budget,
        confidence=reading.confidence,
        reasons=reading.reasons,
        by="rules",
    )
