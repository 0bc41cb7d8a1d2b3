"""Plan, execute, verify, replan: a pure machine per run.

Every legal move is a row of `ROWS`. A message without a row for the current stage is a duplicate or
late, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from flyball.errors import IllegalEvent
from flyball.plan.message import (
    AnyMessage,
    Context,
    ExecuteTask,
    ExecutionPlan,
    ExecutionResults,
    Issue,
    Message,
    NextAction,
    PlanRequest,
    Severity,
    Status,
    Step,
    StepResult,
    UserResponse,
    VerificationReport,
    VerifyRequest,
)
from flyball.plan.plan import plan_issues, ready_steps
from flyball.plan.template import Escalation
from flyball.terms.evidence import Strength
from flyball.terms.intent import Intent

MAX_ITERATIONS = 10
STEPS_AT_ONCE = 4


class Stage(StrEnum):
    """The stage of a run between request and response."""

    INTAKE = "intake"
    PLANNING = "planning"
    EXECUTING = "executing"
    VERIFYING = "verifying"
    RESPONDING = "responding"
    ENDED = "ended"


class Order(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """An instruction to the coordinator from outside the bus."""


class Begin(Order, frozen=True, kw_only=True, tag="begin"):
    """Start on the request."""


class Cancel(Order, frozen=True, kw_only=True, tag="cancel"):
    """A person cancelled the run."""

    why: str = ""


class Fail(Order, frozen=True, kw_only=True, tag="fail"):
    """Something failed that no plan can fix."""

    error: str


class Unplanned(Order, frozen=True, kw_only=True, tag="unplanned"):
    """The planner ended without a plan."""

    why: str


class Coordinator(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything that the coordination of one run has to remember."""

    request_id: str
    user_request: str
    intent: Intent
    context: Context = Context()
    max_iterations: int = MAX_ITERATIONS
    steps_at_once: int = STEPS_AT_ONCE
    planned: bool = True
    templates: tuple[str, ...] = ()
    """The templates that a step may name; without any, every name is taken."""
    stage: Stage = Stage.INTAKE
    iteration: int = 1
    plan: ExecutionPlan | None = None
    started: tuple[str, ...] = ()
    results: tuple[StepResult, ...] = ()
    seen: tuple[str, ...] = ()
    issues: tuple[Issue, ...] = ()
    next_actions: tuple[NextAction, ...] = ()
    response: UserResponse | None = None


PLANNED: frozenset[Intent] = frozenset({Intent.FEATURE_BUILD, Intent.AUTONOMOUS})
"""The intents whose runs go through planner and verifier."""


Move = tuple[Coordinator, tuple[AnyMessage, ...]]
Handler = Callable[[Coordinator, Any], Move]


class StageRow(NamedTuple):
    """One legal move: in this stage, on this message, by this handler, to one of these stages."""

    stage: Stage
    message: type[Message] | type[Order]
    handler: Handler
    targets: tuple[Stage, ...]


def begin(
    request_id: str,
    user_request: str,
    intent: Intent,
    *,
    context: Context | None = None,
    max_iterations: int = MAX_ITERATIONS,
    steps_at_once: int = STEPS_AT_ONCE,
    planned: bool | None = None,
    templates: tuple[str, ...] = (),
) -> Move:
    """Start a request: a large one asks for a plan, a small one is a single step."""
    state = Coordinator(
        request_id=request_id,
        user_request=user_request,
        intent=intent,
        context=context or Context(),
        max_iterations=max(1, max_iterations),
        steps_at_once=max(1, steps_at_once),
        planned=intent in PLANNED if planned is None else planned,
        templates=templates,
    )
    return coordinate(state, Begin())


def coordinate(state: Coordinator, message: AnyMessage | Order) -> Move:
    """Return the next state and the messages to send; an internal error becomes a failed
    response."""
    row = TABLE.get((state.stage, type(message)))
    if row is None:
        return state, ()
    if isinstance(message, Message) and message.request_id != state.request_id:
        return state, ()
    try:
        moved, said = row.handler(state, message)
        if moved.stage not in row.targets:
            raise IllegalEvent(f"{row.handler.__name__} may not go to {moved.stage}.")
    except IllegalEvent as error:
        return _fail(state, Fail(error=f"The coordinator broke: {error}"))
    return moved, said


def _start(state: Coordinator, _: Begin) -> Move:
    if state.planned:
        return _ask_for_plan(state)
    step = Step(id="step-1", title=state.user_request, success_criteria=("its gate passes",))
    plan = ExecutionPlan(
        id=f"{state.request_id}-plan",
        request_id=state.request_id,
        goal=state.user_request,
        steps=(step,),
    )
    return _take_plan(state, plan)


def _ask_for_plan(state: Coordinator) -> Move:
    request = PlanRequest(
        request_id=state.request_id,
        user_request=state.user_request,
        context=state.context,
        iteration=state.iteration,
        previous_plan=state.plan.id if state.plan else "",
        previous_issues=tuple(map(str, state.issues)),
    )
    asked = replace(state, stage=Stage.PLANNING, plan=None, started=(), results=())
    return asked, (request,)


def _take_plan(state: Coordinator, plan: ExecutionPlan) -> Move:
    key = f"plan {plan.id}"
    if key in state.seen:
        return state, ()
    taken = replace(state, plan=plan, seen=(*state.seen, key), started=(), results=())
    if issues := plan_issues(plan, state.templates):
        # What was open before is still open: this plan has done nothing about it.
        return _replan(taken, (*state.issues, *issues))
    return _start_steps(replace(taken, stage=Stage.EXECUTING))


def _take_no_plan(state: Coordinator, order: Unplanned) -> Move:
    """End without a plan; the planner and the person have seen the errors."""
    issue = _issue("plan", order.why.rstrip("."), Severity.CRITICAL)
    return _respond(state, Status.FAILED, "There is no plan.", (*state.issues, issue))


def _start_steps(state: Coordinator) -> Move:
    """Start the steps whose dependencies are done, as many as may run in parallel."""
    plan = _plan_of(state)
    done = [each.step_id for each in state.results]
    steps = [step for step in ready_steps(plan, done) if step.id not in state.started]
    steps = steps[: state.steps_at_once]
    tasks = tuple(
        ExecuteTask(request_id=state.request_id, plan_id=plan.id, step=step) for step in steps
    )
    return replace(state, started=(*state.started, *(step.id for step in steps))), tasks


def _take_results(state: Coordinator, message: ExecutionResults) -> Move:
    plan = _plan_of(state)
    if message.plan_id != plan.id:
        return state, ()
    known = {each.step_id for each in state.results}
    fresh: dict[str, StepResult] = {}
    for each in message.step_results:
        if each.step_id in state.started and each.step_id not in known:
            fresh.setdefault(each.step_id, each)
    if not fresh:
        if any(each.step_id in known for each in message.step_results):
            return state, ()
        text = "The executor reported no result of a step that it was given"
        return _conclude(state, (_issue(plan.steps[0].id, text, Severity.CRITICAL),))
    taken = replace(state, results=(*state.results, *fresh.values()))
    if not message.all_success and all(each.success for each in fresh.values()):
        text = "The executor reported a failure without naming the step"
        return _conclude(taken, (_issue(next(iter(fresh)), text, Severity.CRITICAL),))
    return _after_results(taken)


def _after_results(state: Coordinator) -> Move:
    """Continue the plan, or conclude once nothing is in progress."""
    if len(state.results) < len(state.started):
        return state, ()
    failed = [each for each in state.results if not each.success]
    if failed:
        return _conclude(
            state,
            tuple(
                _issue(each.step_id, each.summary or "The step did not pass its gate")
                for each in failed
            ),
        )
    plan = _plan_of(state)
    if len(state.results) < len(plan.steps):
        return _start_steps(state)
    if not state.planned:
        return _conclude(state, _unshown(state))
    request = VerifyRequest(
        request_id=state.request_id, plan_id=plan.id, goal=plan.goal, results=state.results
    )
    return replace(state, stage=Stage.VERIFYING), (request,)


def _conclude(state: Coordinator, issues: tuple[Issue, ...]) -> Move:
    """Conclude the execution: done, a new plan, or the end."""
    if not issues:
        return _succeed(state)
    wanted = {each.escalation for each in state.results if not each.success}
    if Escalation.FAIL_JOB in wanted:
        return _respond(state, Status.FAILED, "A step failed permanently.", issues)
    if state.planned or Escalation.ROUTE_TO_PLANNING in wanted:
        return _replan(replace(state, planned=True), issues)
    return _respond(state, Status.FAILED, f"Not done: {_first_sentence(issues[0])}.", issues)


def _take_report(state: Coordinator, report: VerificationReport) -> Move:
    key = f"report {report.id}"
    if key in state.seen:
        return state, ()
    taken = replace(state, seen=(*state.seen, key), next_actions=report.next_actions)
    critical = tuple(each for each in report.issues if each.severity is Severity.CRITICAL)
    if report.goal_achieved and not critical:
        unshown = _unshown(taken)
        if not unshown:
            return _succeed(replace(taken, issues=report.issues))
        return _replan(taken, (*report.issues, *unshown))
    nameless = _issue(_plan_of(taken).steps[-1].id, "The goal is not reached")
    return _replan(taken, report.issues or (nameless,))


def _unshown(state: Coordinator) -> tuple[Issue, ...]:
    """Return the steps that claim success without Flyball's own evidence."""
    issues = [
        _issue(each.step_id, "The change has no passing verification", Severity.CRITICAL)
        for each in state.results
        if each.mutated and (not each.evidence or each.proof < Strength.SHOWN)
    ]
    shown = any(each.evidence and each.proof > Strength.NOTHING for each in state.results)
    if state.planned and not issues and not shown:
        text = "Success is claimed without any evidence"
        issues.append(_issue(_plan_of(state).steps[-1].id, text, Severity.CRITICAL))
    return tuple(issues)


def _replan(state: Coordinator, issues: tuple[Issue, ...]) -> Move:
    """Start another iteration, if one is left."""
    if state.iteration >= state.max_iterations:
        count = "1 iteration" if state.iteration == 1 else f"{state.iteration} iterations"
        return _respond(state, Status.FAILED, f"Failed after {count}.", issues)
    tried = (
        f"{step.title}: {result.summary or ('done' if result.success else 'failed')}"
        for step in (state.plan.steps if state.plan else ())
        for result in state.results
        if result.step_id == step.id
    )
    context = replace(state.context, tried=(*state.context.tried, *tried))
    return _ask_for_plan(
        replace(state, iteration=state.iteration + 1, issues=issues, context=context)
    )


def _succeed(state: Coordinator) -> Move:
    """Answer a small request in the card's own words, and a plan by its goal."""
    said = "" if state.planned else state.results[-1].summary
    message = said or f"Reached: {_plan_of(state).goal}"
    return _respond(state, Status.SUCCESS, message, state.issues)


def _respond(
    state: Coordinator, status: Status, message: str, issues: Iterable[Issue] = ()
) -> Move:
    """Send the one user_response."""
    issues = tuple(issues)
    response = UserResponse(
        request_id=state.request_id,
        status=status,
        iterations=state.iteration,
        goal_achieved=status is Status.SUCCESS,
        message=message,
        issues=tuple(map(str, issues)),
        next_actions=state.next_actions,
    )
    moved = replace(state, stage=Stage.RESPONDING, issues=issues, response=response)
    return moved, (response,)


def _end(state: Coordinator, response: UserResponse) -> Move:
    # Not by its words: an earlier release put them otherwise, and what was said then still holds.
    due = state.response
    if due is None or (response.request_id, response.status) != (due.request_id, due.status):
        return state, ()
    return replace(state, stage=Stage.ENDED, response=response), ()


def _cancel(state: Coordinator, order: Cancel) -> Move:
    why = f": {order.why}" if order.why else ""
    return _respond(state, Status.CANCELLED, f"Cancelled{why}.", state.issues)


def _fail(state: Coordinator, order: Fail) -> Move:
    return _respond(state, Status.FAILED, order.error, state.issues)


def _plan_of(state: Coordinator) -> ExecutionPlan:
    if state.plan is None:
        raise IllegalEvent(f"a run that is {state.stage} has no plan.")
    return state.plan


def _issue(step_id: str, text: str, severity: Severity = Severity.HIGH) -> Issue:
    return Issue(step_id=step_id, issue=text, severity=severity)


_OPEN = (Stage.INTAKE, Stage.PLANNING, Stage.EXECUTING, Stage.VERIFYING)
_AGAIN = (Stage.PLANNING, Stage.RESPONDING)

ROWS: tuple[StageRow, ...] = (
    StageRow(Stage.INTAKE, Begin, _start, (Stage.PLANNING, Stage.EXECUTING)),
    StageRow(Stage.PLANNING, ExecutionPlan, _take_plan, (Stage.EXECUTING, *_AGAIN)),
    StageRow(Stage.PLANNING, Unplanned, _take_no_plan, (Stage.RESPONDING,)),
    StageRow(
        Stage.EXECUTING,
        ExecutionResults,
        _take_results,
        (Stage.EXECUTING, Stage.VERIFYING, *_AGAIN),
    ),
    StageRow(Stage.VERIFYING, VerificationReport, _take_report, (Stage.VERIFYING, *_AGAIN)),
    StageRow(Stage.RESPONDING, UserResponse, _end, (Stage.RESPONDING, Stage.ENDED)),
    *(StageRow(stage, Cancel, _cancel, (Stage.RESPONDING,)) for stage in _OPEN),
    *(StageRow(stage, Fail, _fail, (Stage.RESPONDING,)) for stage in _OPEN),
)

TABLE = {(row.stage, row.message): row for row in ROWS}


def progress(state: Coordinator) -> str:
    """Return one line for people about the state of the run."""
    match state.stage:
        case Stage.INTAKE:
            return "Reading the request…"
        case Stage.PLANNING if state.iteration > 1 and state.issues:
            return f"Re-planning… ({_reason(state.issues[0])})"
        case Stage.PLANNING:
            return f"Planning… (iteration {state.iteration}/{state.max_iterations})"
        case Stage.EXECUTING:
            count = len(state.plan.steps) if state.plan else 0
            return f"Executing… ({count} step{'' if count == 1 else 's'})"
        case Stage.VERIFYING:
            return "Verifying… (checking goal)"
        case _:
            return state.response.message if state.response else "Ended"


def _reason(issue: Issue) -> str:
    """Return an issue as a short clause."""
    clause = issue.issue.strip().rstrip(".").partition(": ")[0]
    return clause[:1].lower() + clause[1:]


def _first_sentence(issue: Issue) -> str:
    """Return an issue's first sentence, without cutting it inside a quotation."""
    said = issue.issue.strip().partition(". ")[0].rstrip(".")
    return _reason(issue) if len(said) > MOST_OF_REASON else said[:1].lower() + said[1:]


MOST_OF_REASON = 300
