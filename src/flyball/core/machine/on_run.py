"""The course of a run: from request to response, around whatever its cards do."""

from __future__ import annotations

from msgspec.structs import replace

from flyball.core.flow.library import LIBRARY
from flyball.core.flow.template import Role
from flyball.core.machine.next_card import Opening, go_on, set_out
from flyball.core.plan.coordinator import (
    Cancel,
    Fail,
    Order,
    Stage,
    Unplanned,
    begin,
    coordinate,
    last_step,
)
from flyball.core.plan.message import (
    AnyMessage,
    Context,
    ExecuteTask,
    ExecutionPlan,
    ExecutionResults,
    Issue,
    PlanRequest,
    Severity,
    Status,
    StepResult,
    UserResponse,
    VerificationReport,
    VerifyRequest,
)
from flyball.core.plan.plan import rolls_back
from flyball.core.plan.replies import Unclear, spoken_plan, spoken_report
from flyball.core.run.effect import AnyEffect, Classify, OpenWorkspace, Publish, RollBack, Think
from flyball.core.run.event import (
    Answered,
    AnyEvent,
    Cancelled,
    Event,
    Extended,
    IntentRead,
    Messaged,
    PauseAsked,
    Resumed,
    RolledBack,
    RunStarted,
    WorkspaceFailed,
    WorkspaceReady,
    name_of,
)
from flyball.core.run.state import CardState, Ending, RunState
from flyball.core.terms.budget import Budget, Extension
from flyball.core.terms.evidence import Strength
from flyball.core.terms.intent import LIMITS, Intent
from flyball.core.terms.phase import Phase
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
        case RolledBack():
            if not event.effect:
                raise IllegalEvent("rolled-back: nobody was asked to take anything back")
            return _taken_back(run, event), []
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
        if any(isinstance(owed.effect, RollBack) for owed in run.owed):
            kinds.append(RolledBack)
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
        target=event.target,
        flow=event.flow,
        templates=event.templates,
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
    run = replace(
        run,
        base=event.tree,
        tree=event.tree,
        snapshot=event.tree,
        project=event.project,
        branch=event.branch,
        ledger=event.ledger,
    )
    state, messages = begin(
        run.run,
        run.request,
        intent,
        context=Context(target=run.target or "project", self_modify=run.policy.self_modify),
        max_iterations=run.policy.max_iterations,
        steps_at_once=run.policy.steps_at_once,
        planned=None if run.policy.plan_big_requests and run.flow is None else False,
        templates=(*LIBRARY, *(template.step_id for template in run.templates)),
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
            return _send_out(run, message)
        case PlanRequest():
            title = "Plan the work" if message.iteration == 1 else "Plan anew"
            return _open_card(run, Opening(f"plan.{message.iteration}", title, LIBRARY["plan"]))
        case VerifyRequest():
            id, title = f"verify.{run.coordinator.iteration}", f"Verify: {message.goal}"
            return _open_card(run, Opening(id, title, LIBRARY["verify"]), beside=True)
        case ExecutionPlan():
            return _take_plan(run, message)
        case ExecutionResults() | VerificationReport():
            state, messages = coordinate(run.coordinator, message)
            return replace(run, coordinator=state), _publish(messages)
        case _:
            state, _ = coordinate(run.coordinator, message)
            if state.stage is not Stage.ENDED:
                return run, []
            return replace(run, coordinator=state, response=message, owed=()), []


def _take_plan(run: RunState, plan: ExecutionPlan) -> Course:
    """Begin a plan: on what an earlier one left, or from where that one began."""
    assert run.coordinator is not None
    state, messages = coordinate(run.coordinator, plan)
    run = replace(run, coordinator=state)
    if state.stage is not Stage.EXECUTING or not messages:
        return run, _publish(messages)
    if rolls_back(plan) and run.tree != run.snapshot:
        cards = tuple(card.id for card in run.cards[run.since :] if card.step and card.commit)
        return run, [RollBack(tree=run.snapshot, cards=cards), *_publish(messages)]
    return replace(run, snapshot=run.tree, since=len(run.cards)), _publish(messages)


def _taken_back(run: RunState, event: RolledBack) -> RunState:
    cards = tuple(
        replace(card, is_taken_back=True) if card.id in event.cards else card for card in run.cards
    )
    return replace(run, tree=event.tree, cards=cards, since=len(cards))


def _send_out(run: RunState, task: ExecuteTask) -> Course:
    """Open the first card of a step; a step that was sent out already changes nothing."""
    assert run.coordinator is not None
    if any(each.plan_id == task.plan_id and each.step.id == task.step.id for each in run.errands):
        return run, []
    done = {result.step_id for result in run.coordinator.results}
    at_once = [step for step in run.coordinator.started if step not in done]
    errand, card = set_out(run, task)
    run = replace(run, errands=(*run.errands, errand))
    return _open_card(run, card, step=task.step.id, beside=len(at_once) > 1)


def _open_card(run: RunState, new: Opening, *, step: str = "", beside: bool = False) -> Course:
    """Make a card and ask its driver for the first time; a repeated request changes nothing."""
    if run.card(new.id) is not None:
        return run, []
    phase = new.template.phases[0]
    card = CardState(
        id=new.id,
        template=new.template,
        title=new.title,
        step=step,
        place=new.id if beside else "",
        base=run.tree,
        tree=run.tree,
        phase=phase,
        was=phase,
        at=run.at,
        ending=Ending.SUCCEEDED if phase is Phase.FINAL else None,
    )
    think = Think(card=new.id, role=card.role, phase=phase, text_only=phase is Phase.FINAL)
    return replace(run, cards=(*run.cards, card)), [think]


def card_ended(run: RunState, card: CardState) -> Course:
    """What a card that has just ended means to the coordinator."""
    if not card.place:
        run = replace(run, tree=card.tree)
    if run.coordinator is None or card.phase is Phase.CANCELLED:
        return run, []
    if card.step:
        return _carry_on(run, card)
    if card.template.role is Role.PLANNER:
        return _planned(run, card)
    return run, _publish((_reported(run, card),))


def _carry_on(run: RunState, card: CardState) -> Course:
    """Another card for the same step, or the step's result."""
    errand = next(each for each in run.errands if each.card == card.id)
    after, found = go_on(run, errand, card)
    errands = tuple(after if each is errand else each for each in run.errands)
    run = replace(run, errands=errands)
    if isinstance(found, Opening):
        return _open_card(run, found, step=card.step, beside=bool(card.place))
    return run, _publish((_results(run, errand.plan_id, found),))


def _results(run: RunState, plan_id: str, result: StepResult) -> AnyMessage:
    return ExecutionResults(
        request_id=run.run, plan_id=plan_id, step_results=(result,), all_success=result.success
    )


def _planned(run: RunState, card: CardState) -> Course:
    """The plan that a planner's card ended with, or the lack of one."""
    assert run.coordinator is not None
    id = f"{run.run}-{card.id}"
    found = spoken_plan(card.answer, id=id, request_id=run.run)
    if card.phase is Phase.SUCCEEDED and not isinstance(found, Unclear):
        return run, _publish((found,))
    why = card.ending_reason or "The planner gave no plan"
    state, messages = coordinate(run.coordinator, Unplanned(why=why))
    return replace(run, coordinator=state), _publish(messages)


def _reported(run: RunState, card: CardState) -> VerificationReport:
    """The report that a verifier's card ended with; a yes that nothing shows is an issue."""
    assert run.coordinator is not None
    id = f"{run.run}-{card.id}"
    step = last_step(run.coordinator)
    found = spoken_report(card.answer, id=id, request_id=run.run)
    if card.phase is not Phase.SUCCEEDED or isinstance(found, Unclear):
        why = card.ending_reason or "The verifier gave no report"
        issue = Issue(step_id=step, issue=why, severity=Severity.CRITICAL)
        return VerificationReport(id=id, request_id=run.run, goal_achieved=False, issues=(issue,))
    if not found.goal_achieved or _is_shown(run, card):
        return found
    text = "The verifier says that the goal is reached, and no evidence shows it"
    issue = Issue(step_id=step, issue=text, severity=Severity.CRITICAL)
    return replace(found, goal_achieved=False, issues=(*found.issues, issue))


def _is_shown(run: RunState, verifier: CardState) -> bool:
    """Whether the very tree that is judged was seen to work: by the verifier, or by a step."""
    steps = {errand.card for errand in run.errands}
    cards = (verifier, *(card for card in run.cards if card.id in steps))
    return any(card.tree == verifier.base and card.strength >= Strength.SHOWN for card in cards)


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
