"""What the ledger tells a run when it begins, and what a closed card leaves in it."""

from __future__ import annotations

from msgspec.structs import replace

from flyball.core.machine.mistake import sightings
from flyball.core.memory.ledger import Sighting
from flyball.core.run.event import CardClosed
from flyball.core.run.state import CardState, RunState
from flyball.workspace.redaction import Redactor

KNOWN = 50
"""How many mistakes a run is told of: those seen last."""


def entries(
    run: RunState, card: CardState, closed: CardClosed, redactor: Redactor
) -> tuple[Sighting, ...]:
    """The mistakes of a card that is being closed, without the secrets that are known."""
    return tuple(_clean(each, redactor) for each in sightings(run, card, closed))


def _clean(seen: Sighting, redactor: Redactor) -> Sighting:
    failure = replace(seen.failure, error=redactor.text(seen.failure.error))
    return replace(seen, failure=failure, resolution=redactor.text(seen.resolution))
