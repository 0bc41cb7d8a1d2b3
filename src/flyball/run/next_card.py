"""Execute the steps of a plan: select the first card, and the next when one ends.

A run's own flow is walked here too: as a whole it is the one step of an unplanned run.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from flyball.plan.flow import DIAGNOSIS, Flow
from flyball.plan.library import LIBRARY, template_for
from flyball.plan.message import ExecuteTask, StepResult
from flyball.plan.plan import StepExecution
from flyball.plan.template import END, ROUTE_TO_PLANNING, Escalation, Template
from flyball.regex import regex
from flyball.run.setback import after_diagnosis
from flyball.run.state import CardState, RunState
from flyball.terms.evidence import Strength
from flyball.terms.phase import Phase

UNSAFE = regex(r"[^A-Za-z0-9_.-]+")
LONGEST = 48
DIAGNOSIS_KEPT = 1_500


class Opening(NamedTuple):
    """A card to be opened."""

    id: str
    title: str
    template: Template


def begin_step(run: RunState, task: ExecuteTask) -> tuple[StepExecution, Opening]:
    """Return the execution of a newly assigned step, and its first card."""
    step = task.step
    execution = StepExecution(plan_id=task.plan_id, step=step, card="")
    if run.flow is not None and not (run.coordinator and run.coordinator.planned):
        return _enter(run, execution, run.flow, run.flow.start)
    card = card_id(run, numbered_name(run, step.id), step=step.id)
    return _on(execution, card), Opening(card, step.title, _template(run, step.template))


def go_on(
    run: RunState, execution: StepExecution, card: CardState
) -> tuple[StepExecution, Opening | StepResult]:
    """Return what follows a card that has ended: another card, or the step's result."""
    failed = run.card(execution.failed)
    if failed is not None:
        return _after_diagnosis(run, execution, card, failed)
    if card.escalation is Escalation.DIAGNOSE:
        return _diagnose(run, execution, card)
    has_succeeded = card.phase is Phase.SUCCEEDED
    if run.flow is not None and execution.at and has_succeeded:
        return _follow(run, execution, card, run.flow, execution.at)
    said = card.answer if has_succeeded else card.ending_reason or "The card failed."
    return _over(run, execution, card, said, success=has_succeeded, escalation=card.escalation)


def _follow(
    run: RunState, execution: StepExecution, card: CardState, flow: Flow, step_id: str
) -> tuple[StepExecution, Opening | StepResult]:
    """Return where a step of the flow leads once it has passed."""
    step = flow.step(step_id)
    assert step is not None, "a flow is checked before it is walked"
    way, target = step.on_pass, step.on_pass.next_step_id
    if way.max_rounds is not None:
        taken = execution.rounds.get(step_id, 0)
        target = target if taken < way.max_rounds else way.then
        execution = replace(execution, rounds={**execution.rounds, step_id: taken + 1})
    if target == END:
        return _over(run, execution, card, card.answer, success=card.phase is Phase.SUCCEEDED)
    if target == ROUTE_TO_PLANNING:
        said = f"{card.title}: {card.answer}"
        return _over(run, execution, card, said, escalation=Escalation.ROUTE_TO_PLANNING)
    return _enter(run, execution, flow, target)


def _enter(
    run: RunState, execution: StepExecution, flow: Flow, step_id: str
) -> tuple[StepExecution, Opening]:
    """Open the card of a step of the flow; repeated rounds are numbered."""
    step = flow.step(step_id)
    assert step is not None, "a flow is checked before it is walked"
    card = card_id(run, step_id, "r")
    return _on(execution, card, at=step_id), Opening(card, step.title, step)


def _diagnose(
    run: RunState, execution: StepExecution, card: CardState
) -> tuple[StepExecution, Opening]:
    """Open a card that only looks for the cause: the flow's own diagnosis, or the built-in one."""
    own = run.flow.step(DIAGNOSIS) if run.flow is not None and execution.at else None
    id = card_id(run, f"{card.id}.{DIAGNOSIS}")
    diagnosed = (*execution.diagnosed, execution.at) if execution.at else execution.diagnosed
    execution = replace(_on(execution, id, at=execution.at), failed=card.id, diagnosed=diagnosed)
    return execution, Opening(id, f"Diagnose: {card.title}", own or LIBRARY[DIAGNOSIS])


def _after_diagnosis(
    run: RunState, execution: StepExecution, card: CardState, failed: CardState
) -> tuple[StepExecution, Opening | StepResult]:
    """Apply the failed card's own policy; if it asks a person, the person has approved."""
    then = after_diagnosis(run, failed)
    if card.phase is not Phase.SUCCEEDED:
        said = f"{failed.ending_reason}\nNot diagnosed: {card.ending_reason}"
        # A person would be asked to accept a diagnosis, and there is none.
        then = Escalation.FAIL_JOB if then is Escalation.PAUSE_FOR_HUMAN else then
        return _over(run, execution, card, said, escalation=card.escalation or then)
    said = f"{failed.ending_reason}\nDiagnosis: {card.answer[:DIAGNOSIS_KEPT]}"
    if then is not Escalation.PAUSE_FOR_HUMAN:
        return _over(run, execution, card, said, escalation=then)
    execution = replace(execution, failed="")
    if run.flow is None or not execution.at or run.flow.step(DIAGNOSIS) is None:
        return _over(run, execution, card, said, escalation=Escalation.ROUTE_TO_PLANNING)
    after, found = _follow(run, execution, card, run.flow, DIAGNOSIS)
    if isinstance(found, StepResult):
        escalation = found.escalation or Escalation.FAIL_JOB
        return after, replace(found, success=False, summary=said, escalation=escalation)
    return after, found


def _on(execution: StepExecution, card: str, at: str = "") -> StepExecution:
    return replace(execution, card=card, cards=(*execution.cards, card), at=at, failed="")


def _over(
    run: RunState,
    execution: StepExecution,
    card: CardState,
    said: str,
    *,
    success: bool = False,
    escalation: Escalation | None = None,
) -> tuple[StepExecution, StepResult]:
    """Return the step's result: what its cards changed, and what is known of the resulting tree."""
    cards = [each for each in run.cards if each.id in execution.cards]
    here = [each for each in cards if each.tree == card.tree]
    seen = [item.id for each in here for item in each.evidence if item.tree == card.tree]
    result = StepResult(
        step_id=execution.step.id,
        success=success,
        summary=said,
        mutated=any(each.has_changed for each in cards),
        evidence=tuple(dict.fromkeys(seen)),
        proof=max((each.strength for each in here), default=Strength.NOTHING),
        escalation=escalation,
    )
    return replace(execution, is_over=True), result


def numbered_name(run: RunState, name: str) -> str:
    """Name a card: the step's name in the first iteration, with a number in later ones."""
    iteration = run.coordinator.iteration if run.coordinator else 1
    return name if iteration == 1 else f"{name}.{iteration}"


def card_id(run: RunState, name: str, mark: str = "", *, step: str | None = None) -> str:
    """Turn a name into a card id that is valid as a file name and unique outside this step."""
    plain = UNSAFE.sub("_", name).strip(".")[:LONGEST] or "step"
    # Case does not count: the id names a folder, and some file systems know only one case. Cards of
    # the same step are left out, so that a step handed out again finds the id it had.
    taken = {card.id.casefold() for card in run.cards if card.step != step}
    id, n = plain, 1
    while id.casefold() in taken:
        n += 1
        id = f"{plain}.{mark}{n}"
    return id


def _template(run: RunState, name: str) -> Template:
    found = _named_template(run, name)
    # A host's agent studies as it likes, and no stop of its own ends a phase of study.
    return found.without_study() if run.policy.hosted else found


def _named_template(run: RunState, name: str) -> Template:
    assert run.intent is not None and run.coordinator is not None
    for template in run.templates:
        if template.step_id == name:
            return template
    if name in LIBRARY:
        return LIBRARY[name]
    return LIBRARY["step"] if run.coordinator.planned else template_for(run.intent)
