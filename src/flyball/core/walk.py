"""How a step of a plan is carried out: which card comes first, and what follows each card's end."""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from flyball.core.errand import Errand
from flyball.core.library import LIBRARY, template_for
from flyball.core.message import ExecuteTask, StepResult
from flyball.core.phase import Phase
from flyball.core.state import CardState, RunState
from flyball.core.template import Template


class Opening(NamedTuple):
    """A card that is to be opened."""

    id: str
    title: str
    template: Template


def set_out(run: RunState, task: ExecuteTask) -> tuple[Errand, Opening]:
    """The errand of a step that was just handed out, and its first card."""
    step = task.step
    card = numbered(run, step.id)
    errand = Errand(plan_id=task.plan_id, step=step, card=card)
    return errand, Opening(card, step.title, _template(run, step.template))


def go_on(_run: RunState, errand: Errand, card: CardState) -> tuple[Errand, Opening | StepResult]:
    """What follows a card that has ended: another card, or the step's result."""
    has_succeeded = card.phase is Phase.SUCCEEDED
    result = StepResult(
        step_id=errand.step.id,
        success=has_succeeded,
        summary=card.answer if has_succeeded else card.ending_reason or "The card failed.",
        mutated=card.has_changed,
        evidence=tuple(item.id for item in card.evidence if item.tree == card.tree),
        proof=card.proof,
        escalation=card.escalation,
    )
    return replace(errand, is_over=True), result


def numbered(run: RunState, name: str) -> str:
    """A card's id: its name in the first iteration, name and number in the later ones."""
    iteration = run.coordinator.iteration if run.coordinator else 1
    return name if iteration == 1 else f"{name}.{iteration}"


def _template(run: RunState, name: str) -> Template:
    assert run.intent is not None and run.coordinator is not None
    for template in run.templates:
        if template.step_id == name:
            return template
    if name in LIBRARY:
        return LIBRARY[name]
    return LIBRARY["step"] if run.coordinator.planned else template_for(run.intent)
