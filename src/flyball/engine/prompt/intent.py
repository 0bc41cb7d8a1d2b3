"""Reading a request's intent: the rules first, a model where they are unsure."""

from __future__ import annotations

import re

from flyball.core.flow.template import Role
from flyball.core.reading.classifier import classify
from flyball.core.run.event import IntentRead
from flyball.core.run.state import RunState
from flyball.core.terms.intent import CONFIDENCE_THRESHOLD, LIMITS, Intent, Reading, Turn
from flyball.core.terms.phase import Phase
from flyball.drivers.prompt import text_of
from flyball.drivers.protocol import Driver, Request
from flyball.errors import DriverError


async def read_intent(
    state: RunState, history: tuple[Turn, ...], reader: Driver | None
) -> IntentRead:
    """The rules' reading; an unsure one is put to the model, if there is one to ask."""
    reading = classify(state.request, history)
    chosen = None
    if reading.confidence < CONFIDENCE_THRESHOLD and reader is not None:
        chosen = await _ask(state, reading, history, reader)
    intent = chosen or reading.intent
    return IntentRead(
        intent=intent,
        budget=LIMITS[intent],
        confidence=reading.confidence,
        reasons=reading.reasons,
        by="model" if chosen else "rules",
    )


async def _ask(
    state: RunState, reading: Reading, history: tuple[Turn, ...], reader: Driver
) -> Intent | None:
    """The model's choice among the rules' candidates; anything else is no answer."""
    candidates = [reading.intent, *(each.intent for each in reading.alternatives)]
    said = "\n".join(f"{turn.role}: {turn.text}" for turn in history)
    names = ", ".join(candidates)
    request = Request(
        run=state.run,
        card="intake",
        role=Role.PLANNER,
        phase=Phase.FINAL,
        system=text_of("intent"),
        opening=f"{said}\nuser: {state.request}\n\nChoose one of: {names}".lstrip(),
    )
    try:
        reply = await reader.think(request, lambda _text: None)
    except DriverError:
        return None
    # Only what the rules thought possible: a model cannot talk a request into a larger budget.
    words = re.findall(r"[a-z_]+", reply.text.lower())
    return next((intent for intent in candidates if intent.value in words), None)
