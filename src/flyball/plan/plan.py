"""Plans: whether one can be executed, and which of its steps may start."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from flyball.plan.message import ExecutionPlan, Issue, Severity, Step, Work
from flyball.regex import regex
from flyball.terms.shape import closest, one_line

MAX_STEPS = 8
STEP_ID = regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")


def plan_issues(plan: ExecutionPlan, templates: Collection[str] = ()) -> tuple[Issue, ...]:
    """Return why a plan cannot be carried out; the planner gets these back."""
    if not plan.steps:
        return (_issue("plan", f"The plan has no steps; give it 1 to {MAX_STEPS}"),)
    issues: list[Issue] = []
    if not plan.goal.strip():
        issues.append(_issue("plan", "The plan has no goal"))
    if len(plan.steps) > MAX_STEPS:
        count = len(plan.steps)
        issues.append(_issue("plan", f"The plan has {count} steps; {MAX_STEPS} is the most"))
    ids = [step.id for step in plan.steps]
    repeated = dict.fromkeys(each for each in ids if ids.count(each) > 1)
    issues += (_issue(each, "Several steps of the plan have this id") for each in repeated)
    for step in plan.steps:
        issues += _step_issues(step, ids, templates)
    if not issues and (stuck := _stuck(plan)):
        issues.append(_issue(stuck[0], f"Steps wait for each other: {', '.join(stuck)}"))
    return tuple(issues)


def _step_issues(step: Step, ids: Collection[str], templates: Collection[str]) -> list[Issue]:
    issues: list[Issue] = []
    if not STEP_ID.fullmatch(step.id):
        text = "A step's id is up to 40 letters, digits, - or _, and begins with one of the first"
        issues.append(_issue(one_line(step.id, 40), text))
    if step.template and templates and step.template not in templates:
        near = closest(step.template, templates)
        hint = f"did you mean {near}?" if near else f"there are {', '.join(templates)}"
        issues.append(
            _issue(step.id, f"There is no template {one_line(step.template, 40)}; {hint}")
        )
    if not step.title.strip():
        issues.append(_issue(step.id, "The step has no title"))
    if not any(each.strip() for each in step.success_criteria):
        issues.append(_issue(step.id, "The step has no success criteria"))
    for each in step.depends_on:
        if each not in ids:
            issues.append(_issue(step.id, f"The step depends on {each}, which the plan lacks"))
    return issues


def _stuck(plan: ExecutionPlan) -> list[str]:
    """Return the steps that can never start because they wait for each other."""
    done: set[str] = set()
    while step := ready_steps(plan, done):
        done.update(each.id for each in step)
    return [step.id for step in plan.steps if step.id not in done]


def ready_steps(plan: ExecutionPlan, done: Collection[str]) -> tuple[Step, ...]:
    """Return the steps that may run now in parallel, in the plan's order."""
    return tuple(
        step
        for step in plan.steps
        if step.id not in done and all(each in done for each in step.depends_on)
    )


def rolls_back(plan: ExecutionPlan) -> bool:
    """Return whether the plan starts from its snapshot, without a failed iteration's work."""
    return any(step.work is Work.ROLLBACK for step in plan.steps)


def _issue(step_id: str, text: str) -> Issue:
    return Issue(step_id=step_id, issue=text, severity=Severity.CRITICAL)


class StepExecution(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A step that has started, and the card that works on it now."""

    plan_id: str
    step: Step
    card: str
    cards: tuple[str, ...] = ()
    """Every card that worked on it so far, the present one last."""
    at: str = ""
    """The step's position in the run's flow, if it has one."""
    rounds: dict[str, int] = {}
    """How often each bounded way back was taken."""
    failed: str = ""
    """The card that the present one diagnoses."""
    diagnosed: tuple[str, ...] = ()
    """The steps of the flow that were diagnosed; none is diagnosed twice."""
    is_over: bool = False
