"""The course of a run: from request to response, around whatever its cards do."""

from __future__ import annotations

from msgspec.structs import replace

from flyball.core.budget import Budget, Extension
from flyball.core.coordinator import Cancel, Fail, Order, Stage, begin, coordinate
from flyball.core.effect import AnyEffect, Classify, OpenWorkspace, Publish, Think
from flyball.core.event import (
    Answered,
    AnyEvent,
    Cancelled,
    Event,
    Extended,
    IntentRead,
    Messaged,
    PauseAsked,
    Resumed,
    RunStarted,
    WorkspaceFailed,
    WorkspaceReady,
    name_of,
)
from flyball.core.intent import LIMITS, Intent
from flyball.core.library import LIBRARY, template_for
from flyball.core.message import (
    AnyMessage,
    Context,
    ExecuteTask,
    ExecutionPlan,
    ExecutionResults,
    PlanRequest,
    Status,
    StepResult,
    UserResponse,
    VerificationReport,
    VerifyRequest,
)
from flyball.core.phase import Phase
from flyball.core.state import CardState, Ending, RunState
from flyball.core.template import Template
from flyball.errors import IllegalEvent

SPREAD = (Answered, Extended, PauseAsked, Resumed, Cancelled)
"""Events that a person addresses to the run and that its cards act on."""

Course = tuple[RunState, list[AnyEffect]]


def apply(run: RunState, event: AnyEvent) -> Course:
    """What an event of the run itself does, before its cards see it."""
    if isinstance(event, RunStarted):
        return _start(run, event)
    if not run.has_started or run.has_ended:
        state = "has ended" if run.has_ended else "has not started"
        raise IllegalEvent(f"{name_of(type(event))}: the run {state}")
    match event:
        case IntentRead():
            if run.intent is not None:
                raise IllegalEvent("intent-read: the intent is known already")
            return _open(_with_intent(run, event.intent, event.budget))
        case WorkspaceReady() | WorkspaceFailed():
            if run.coordinator is not None:
                raise IllegalEvent(f"{name_of(type(event))}: the workspace is open already")
            if run.intent is None:
                raise IllegalEvent(f"{name_of(type(event))}: the intent is not known yet")
            if isinstance(event, WorkspaceFailed):
                return respond(run, event.error)
            return _begin(run, event, run.intent)
        case Messaged():
            return _deliver(run, event.message)
        case Extended():
            extension = Extension(event.by, event.calls, event.why)
            return replace(run, budget=run.budget.extend(extension)), []
        case Cancelled():
            return _cancel(run, event)
        case _:
            return run, []


def legal(run: RunState) -> tuple[str, ...]:
    """The run's own events that are legal now."""
    if not run.has_started:
        return (name_of(RunStarted),)
    if run.has_ended:
        return ()
    kinds: list[type[Event]] = []
    if run.intent is None:
        kinds.append(IntentRead)
    elif run.coordinator is None:
        kinds += [WorkspaceReady, WorkspaceFailed]
    else:
        kinds.append(Messaged)
    if any(card.question for card in run.paused):
        kinds.append(Answered)
    kinds += [Extended, PauseAsked, Resumed, Cancelled]
    return tuple(name_of(kind) for kind in kinds)


def concerns(card: CardState, event: AnyEvent) -> bool:
    """Whether a person's word is for this card."""
    if isinstance(event, Answered):
        return card.question is not None and card.question.id == event.question
    return True


def needs_a_card(run: RunState, event: AnyEvent) -> bool:
    """An answer to a question that nobody asked is a mistake; the rest may find no taker."""
    return isinstance(event, Answered) and not run.has_ended


def _start(run: RunState, event: RunStarted) -> Course:
    if run.has_started:
        raise IllegalEvent("run-started: the run has started already")
    policy = event.policy
    run = replace(
        run,
        run=event.run,
        request=event.request,
        images=event.images,
        policy=policy,
        budget=Budget(
            calls=event.budget or 0,
            reserve=policy.reserve,
            ceiling=policy.max_tool_rounds,
            tokens=policy.max_tokens,
            money=policy.max_money,
        ),
    )
    if event.intent is None:
        return replace(run, wished_budget=event.budget), [Classify()]
    budget = LIMITS[event.intent] if event.budget is None else event.budget
    return _open(_with_intent(run, event.intent, budget))


def _with_intent(run: RunState, intent: Intent, calls: int) -> RunState:
    wished = calls if run.wished_budget is None else run.wished_budget
    return replace(run, intent=intent, budget=replace(run.budget, calls=wished))


def _open(run: RunState) -> Course:
    return run, [OpenWorkspace()]


def _begin(run: RunState, event: WorkspaceReady, intent: Intent) -> Course:
    run = replace(run, base=event.tree, tree=event.tree, project=event.project, branch=event.branch)
    state, messages = begin(
        run.run,
        run.request,
        intent,
        context=Context(self_modify=run.policy.self_modify),
        max_iterations=run.policy.max_iterations,
        planned=None if run.policy.plan_big_requests else False,
    )
    return replace(run, coordinator=state), _publish(messages)


def _publish(messages: tuple[AnyMessage, ...]) -> list[AnyEffect]:
    return [Publish(message=message) for message in messages]


def _deliver(run: RunState, message: AnyMessage) -> Course:
    """A message came off the bus: open the card it asks for, or let the coordinator judge it."""
    if run.coordinator is None:
        raise IllegalEvent("messaged: nobody coordinates this run yet")
    match message:
        case ExecuteTask():
            return _open_card(run, message.step.id, message.step.title, _template(run, message))
        case PlanRequest():
            return _open_card(run, f"plan-{message.iteration}", "Plan the work", LIBRARY["plan"])
        case VerifyRequest():
            title = f"Verify: {message.goal}"
            return _open_card(run, f"verify-{message.plan_id}", title, LIBRARY["verify"])
        case ExecutionPlan() | ExecutionResults() | VerificationReport():
            state, messages = coordinate(run.coordinator, message)
            return replace(run, coordinator=state), _publish(messages)
        case _:
            state, _ = coordinate(run.coordinator, message)
            if state.stage is not Stage.ENDED:
                return run, []
            return replace(run, coordinator=state, response=message, owed=()), []


def _template(run: RunState, message: ExecuteTask) -> Template:
    assert run.intent is not None
    if named := LIBRARY.get(message.step.template):
        return named
    return template_for(run.intent)


def _open_card(run: RunState, id: str, title: str, template: Template) -> Course:
    """Make a card and ask its driver for the first time; a repeated request changes nothing."""
    if run.card(id) is not None:
        return run, []
    phase = template.phases[0]
    card = CardState(
        id=id,
        template=template,
        title=title,
        base=run.tree,
        tree=run.tree,
        phase=phase,
        was=phase,
        at=run.at,
        ending=Ending.SUCCEEDED if phase is Phase.FINAL else None,
    )
    think = Think(card=id, role=card.role, phase=phase, text_only=phase is Phase.FINAL)
    return replace(run, cards=(*run.cards, card)), [think]


def card_ended(run: RunState, card: CardState) -> Course:
    """Report a card that has just ended to the coordinator."""
    run = replace(run, tree=card.tree)
    if run.coordinator is None or card.phase is Phase.CANCELLED:
        return run, []
    return run, _publish((_report(run, card),))


def _report(run: RunState, card: CardState) -> AnyMessage:
    assert run.coordinator is not None and run.coordinator.plan is not None
    plan = run.coordinator.plan
    has_succeeded = card.phase is Phase.SUCCEEDED
    result = StepResult(
        step_id=card.id,
        success=has_succeeded,
        summary=card.answer if has_succeeded else card.ending_reason or "The card failed.",
        mutated=card.has_changed,
        evidence=tuple(item.id for item in card.evidence if item.tree == card.tree),
        proof=card.proof,
    )
    return ExecutionResults(
        request_id=run.run, plan_id=plan.id, step_results=(result,), all_success=has_succeeded
    )


def _cancel(run: RunState, event: Cancelled) -> Course:
    why = event.why or f"by {event.by}"
    return _order(replace(run, owed=()), Cancel(why=why), Status.CANCELLED, f"Cancelled {why}.")


def respond(run: RunState, error: str) -> Course:
    """End a run that cannot go on."""
    return _order(run, Fail(error=error), Status.FAILED, error)


def _order(run: RunState, order: Order, status: Status, message: str) -> Course:
    """Have the coordinator answer; before there is one, answer in its place."""
    if run.coordinator is not None:
        state, messages = coordinate(run.coordinator, order)
        return replace(run, coordinator=state), _publish(messages)
    response = UserResponse(
        request_id=run.run, status=status, iterations=0, goal_achieved=False, message=message
    )
    return replace(run, response=response, owed=()), []
