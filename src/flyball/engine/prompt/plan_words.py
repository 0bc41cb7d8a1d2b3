"""Describe a run's plan, issues and step, for prompts and hand-overs."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from flyball.plan.message import Step
from flyball.plan.plan import StepExecution
from flyball.run.state import CardState, RunState


def step_of_card(run: RunState, card: CardState) -> StepExecution | None:
    """Return the execution of the step that a card belongs or belonged to."""
    for execution in run.executions:
        if card.id == execution.card or card.id in execution.cards:
            return execution
    return None


def step_of(run: RunState, card: CardState) -> Step | None:
    """Return the step of a real plan that a card works on; a single request is no plan."""
    execution = step_of_card(run, card)
    if execution is None or run.coordinator is None or not run.coordinator.planned:
        return None
    return execution.step


def step_words(step: Step) -> str:
    """Describe a step for its executor."""
    lines = [f"Step {step.id}: {step.title}", step.description]
    if step.success_criteria:
        lines += ["It is done when:", *(f"- {each}" for each in step.success_criteria)]
    return "\n".join(filter(None, lines))


def plan_lines(run: RunState, card: CardState, reverted: Collection[str] = ()) -> Iterator[str]:
    """Yield the plan's goal and its steps with their status; reverted steps are not done."""
    state = run.coordinator
    if state is None or state.plan is None or not state.planned:
        return
    yield f"the goal of the plan: {state.plan.goal}"
    results = {each.step_id: each for each in state.results}
    for step in state.plan.steps:
        result = results.get(step.id)
        if step.id == card.step:
            stands = "yours"
        elif result is not None and _is_reverted(run, step.id, reverted):
            stands = "reverted, its work is not there"
        elif result is None:
            stands = "under way" if step.id in state.started else "open"
        else:
            stands = "done" if result.success else "failed"
        after = f", after {', '.join(step.depends_on)}" if step.depends_on else ""
        criteria = f" (criteria: {'; '.join(step.success_criteria)})"
        yield f"[{stands}] {step.id}{after}: {step.title}{criteria}"


def _is_reverted(run: RunState, step: str, reverted: Collection[str]) -> bool:
    """Return whether the last work on a step was reverted."""
    cards = [each for each in run.cards if each.step == step and each.commit]
    return bool(cards) and (cards[-1].is_taken_back or cards[-1].id in reverted)


def result_lines(run: RunState, reverted: Collection[str] = ()) -> Iterator[str]:
    """Yield the results of the current plan's steps, as Flyball observed them and not as drivers
    claim.

    The reason why a step failed is the governor's own sentence; an executor's report of success is
    left out.
    """
    if run.coordinator is None:
        return
    for each in run.coordinator.results:
        came = "succeeded" if each.success else "failed"
        changed = "changed files" if each.mutated else "changed nothing"
        why = "" if each.success else _why(run, each.step_id)
        if _is_reverted(run, each.step_id, reverted):
            changed = "its work was reverted"
        yield f"{each.step_id} {came}, {changed}, {each.proof.label}{f': {why}' if why else ''}"


def _why(run: RunState, step: str) -> str:
    """Explain why the last card of a step ended as it did."""
    reasons = [card.ending_reason for card in run.cards if card.step == step]
    return reasons[-1] if reasons else ""


def claim_lines(run: RunState) -> Iterator[str]:
    """Yield the executors' claims about their steps, quoted."""
    results = run.coordinator.results if run.coordinator else ()
    for each in results:
        if each.summary and each.summary != _why(run, each.step_id):
            yield f"{each.step_id} says:"
            yield from (f"> {line}" for line in each.summary.split("\n"))


def tried(run: RunState) -> tuple[str, ...]:
    """Describe what earlier iterations have tried."""
    return run.coordinator.context.tried if run.coordinator else ()
