"""Handlers for the run's own events, from request to response."""

from __future__ import annotations

from msgspec.structs import replace

from flyball.errors import IllegalEvent
from flyball.plan.coordinator import (
    Cancel,
    Fail,
    Order,
    Stage,
    Unplanned,
    begin,
    coordinate,
)
from flyball.plan.library import LIBRARY
from flyball.plan.message import (
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
from flyball.plan.plan import rolls_back
from flyball.plan.replies import Unclear, spoken_plan, spoken_report
from flyball.plan.template import Escalation, Role
from flyball.run.effect import (
    AnyEffect,
    Classify,
    Inspect,
    OpenWorkspace,
    Publish,
    RollBack,
    Think,
)
from flyball.run.event import (
    Cancelled,
    Event,
    Extended,
    IntentRead,
    Messaged,
    RolledBack,
    RunStarted,
    Tightened,
    WorkspaceFailed,
    WorkspaceReady,
)
from flyball.run.finishing import needs_whole_verdict
from flyball.run.next_card import Opening, begin_step, go_on
from flyball.run.policy import Policy, stricter
from flyball.run.state import CardState, Ending, RunState
from flyball.terms.budget import Budget, Extension
from flyball.terms.evidence import Strength
from flyball.terms.intent import LIMITS, Intent
from flyball.terms.phase import Phase

Course = tuple[RunState, list[AnyEffect]]
"""The run after an event, and the effects that follow."""


def start(run: RunState, event: RunStarted) -> Course:
    """Fix the policy of the run; without an explicit intent, have the request classified."""
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
        budget=_held_to(Budget(calls=event.budget or 0), policy),
    )
    if event.intent is None:
        return replace(run, wished_budget=event.budget), [Classify()]
    budget = LIMITS[event.intent] if event.budget is None else event.budget
    return _with_intent(run, event.intent, budget), [OpenWorkspace()]


def _held_to(budget: Budget, policy: Policy) -> Budget:
    return replace(
        budget,
        reserve=policy.reserve,
        ceiling=policy.max_tool_rounds,
        slack=policy.slack,
        tokens=policy.max_tokens,
        money=policy.max_money,
    )


def tighten(run: RunState, event: Tightened) -> Course:
    """Apply the policy of the machine that drives the run as well; no rule becomes looser."""
    policy = stricter(run.policy, event.policy)
    project = run.project if event.has_sandbox else replace(run.project, sandbox="none")
    return replace(run, policy=policy, project=project, budget=_held_to(run.budget, policy)), []


def read_intent(run: RunState, event: IntentRead) -> Course:
    """Set the budget for the classified request; a workspace comes next."""
    return _with_intent(run, event.intent, event.budget), [OpenWorkspace()]


def _with_intent(run: RunState, intent: Intent, calls: int) -> RunState:
    requested = calls if run.wished_budget is None else run.wished_budget
    return replace(run, intent=intent, budget=replace(run.budget, calls=requested))


def begin_work(run: RunState, event: WorkspaceReady) -> Course:
    """Start the coordinator once the run has a tree."""
    intent = run.intent
    assert intent is not None, "the table opens a workspace only for a known intent"
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


def deliver(run: RunState, event: Messaged) -> Course:
    """Deliver a message from the bus: open its card, or let the coordinator handle it."""
    assert run.coordinator is not None, "the table lets nobody speak before the coordinator"
    match message := event.message:
        case ExecuteTask():
            return _send_out(run, message)
        case PlanRequest():
            title = "Plan the work" if message.iteration == 1 else "Plan anew"
            return _open_card(run, Opening(f"plan.{message.iteration}", title, LIBRARY["plan"]))
        case VerifyRequest():
            return _open_verifier(run, run.coordinator.iteration, message.goal)
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
    """Start a plan: on top of the earlier plan's work, or from where that plan started."""
    assert run.coordinator is not None
    state, messages = coordinate(run.coordinator, plan)
    run = replace(run, coordinator=state)
    if state.stage is not Stage.EXECUTING or not messages:
        return run, _publish(messages)
    if rolls_back(plan) and run.tree != run.snapshot:
        cards = tuple(card.id for card in run.cards[run.since :] if card.step and card.commit)
        return run, [RollBack(tree=run.snapshot, cards=cards), *_publish(messages)]
    return replace(run, snapshot=run.tree, since=len(run.cards)), _publish(messages)


def record_rollback(run: RunState, event: RolledBack) -> Course:
    """Record that the work of a failed plan was rolled back; the next plan starts from there."""
    if not event.effect:
        raise IllegalEvent("rolled-back: nobody was asked to take anything back")
    cards = tuple(
        replace(card, is_taken_back=True) if card.id in event.cards else card for card in run.cards
    )
    return replace(run, tree=event.tree, cards=cards, since=len(cards)), []


def _send_out(run: RunState, task: ExecuteTask) -> Course:
    """Open the first card of a step; a step that has already started is ignored."""
    assert run.coordinator is not None
    # Messages are delivered at least once: a bus that crashed between two deliveries says it again.
    if any(
        each.plan_id == task.plan_id and each.step.id == task.step.id for each in run.executions
    ):
        return run, []
    done = {result.step_id for result in run.coordinator.results}
    at_once = [step for step in run.coordinator.started if step not in done]
    execution, card = begin_step(run, task)
    run = replace(run, executions=(*run.executions, execution))
    return _open_card(run, card, step=task.step.id, beside=len(at_once) > 1)


def _open_card(run: RunState, new: Opening, *, step: str = "", beside: bool = False) -> Course:
    """Open a card and ask its driver for the first time; a repeated request is ignored."""
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


def _open_verifier(run: RunState, iteration: int, goal: str) -> Course:
    """Open the verifier's card; Flyball runs the suite first, so that its own verdict exists."""
    new = Opening(f"verify.{iteration}", f"Verify: {goal}", LIBRARY["verify"])
    opened, effects = _open_card(run, new, beside=True)
    card = opened.card(new.id)
    if not effects or card is None or not needs_whole_verdict(opened, card):
        return opened, effects
    return opened, [Inspect(card=card.id, base=opened.base, tree=card.tree)]


def card_ended(run: RunState, card: CardState) -> Course:
    """Tell the coordinator what the end of a card means."""
    # A card beside the run's own tree leaves it to `card-closed`, which knows what merging made.
    if not card.place:
        run = replace(run, tree=card.tree)
    if run.coordinator is None or card.phase is Phase.CANCELLED:
        return run, []
    if card.step:
        return _carry_on(run, card)
    if card.template.role is Role.PLANNER:
        return _planned(run, card)
    if card.escalation is Escalation.FAIL_JOB:
        state, messages = coordinate(run.coordinator, Fail(error=card.ending_reason))
        return replace(run, coordinator=state), _publish(messages)
    report = _reported(run, card)
    if report.goal_achieved and _changed_nothing(run, card):
        state, messages = coordinate(run.coordinator, Fail(error=NOTHING_CHANGED))
        return replace(run, coordinator=state), _publish(messages)
    return run, _publish((report,))


def _carry_on(run: RunState, card: CardState) -> Course:
    """Open another card for the same step, or report the step's result."""
    execution = next(each for each in run.executions if each.card == card.id)
    after, found = go_on(run, execution, card)
    executions = tuple(after if each is execution else each for each in run.executions)
    run = replace(run, executions=executions)
    if isinstance(found, Opening):
        return _open_card(run, found, step=card.step, beside=bool(card.place))
    return run, _publish((_results(run, execution.plan_id, found),))


def _results(run: RunState, plan_id: str, result: StepResult) -> AnyMessage:
    return ExecutionResults(
        request_id=run.run, plan_id=plan_id, step_results=(result,), all_success=result.success
    )


def _planned(run: RunState, card: CardState) -> Course:
    """Return the plan that a planner's card ended with, or report that there is none."""
    assert run.coordinator is not None
    id = f"{run.run}-{card.id}"
    found = spoken_plan(card.answer, id=id, request_id=run.run)
    if card.phase is Phase.SUCCEEDED and not isinstance(found, Unclear):
        return run, _publish((found,))
    why = card.ending_reason or "The planner gave no plan"
    state, messages = coordinate(run.coordinator, Unplanned(why=why))
    return replace(run, coordinator=state), _publish(messages)


NOTHING_CHANGED = "Nothing was changed: every step reported that its goal was already met."


def _changed_nothing(run: RunState, verifier: CardState) -> bool:
    """Return whether a run that should change something ends without any change.

    Green tests confirm a single step, but never that the request itself was fulfilled.
    """
    was_to_change = any(card.step and card.template.may_mutate for card in run.cards)
    return was_to_change and verifier.tree == run.base


NO_STEP = "goal"
"""The subject of an issue that no single step caused."""


def _reported(run: RunState, card: CardState) -> VerificationReport:
    """Return the report of a verifier's card; an approval without evidence is an issue."""
    assert run.coordinator is not None
    id = f"{run.run}-{card.id}"
    found = spoken_report(card.answer, id=id, request_id=run.run)
    if card.phase is not Phase.SUCCEEDED or isinstance(found, Unclear):
        why = card.ending_reason or "The verifier gave no report"
        issue = Issue(step_id=NO_STEP, issue=why, severity=Severity.CRITICAL)
        return VerificationReport(id=id, request_id=run.run, goal_achieved=False, issues=(issue,))
    if not found.goal_achieved or _is_shown(run, card):
        return found
    text = "The verifier says that the goal is reached, but no evidence shows it"
    if (verdict := run.verdict_on(card.tree)) is not None:
        said = [each.sentence for each in verdict.faults] or [verdict.headline]
        text = " ".join((f"{text}.", *said))
    issue = Issue(step_id=NO_STEP, issue=text, severity=Severity.CRITICAL)
    return replace(found, goal_achieved=False, issues=(*found.issues, issue))


def _is_shown(run: RunState, verifier: CardState) -> bool:
    """Return whether the change was confirmed by runs that neither of its drivers chose."""
    found = run.verdict_on(verifier.tree)
    if found is not None:
        # What a person must decide was put to them on the card that did it, and a test that fails
        # without the change was asked for there, in vain.
        return found.is_strong and not found.faults
    # Only the cards that ended their steps: a card that failed before a diagnosis shows nothing.
    steps = {execution.card for execution in run.executions}
    cards = (verifier, *(card for card in run.cards if card.id in steps))
    return any(card.tree == verifier.base and card.strength >= Strength.SHOWN for card in cards)


def extend(run: RunState, event: Extended) -> Course:
    """Raise the budget before the cards learn of it."""
    extension = Extension(event.by, event.calls, event.why)
    return replace(run, budget=run.budget.extend(extension)), []


def leave_to_cards(run: RunState, _event: Event) -> Course:
    """Do nothing here, because only the cards handle the event."""
    return run, []


def cancel(run: RunState, event: Cancelled) -> Course:
    """Drop all owed effects, and respond that a person cancelled the run."""
    why = event.why or f"by {event.by}"
    return _order(replace(run, owed=()), Cancel(why=why), Status.CANCELLED, f"Cancelled {why}.")


def refuse(run: RunState, event: WorkspaceFailed) -> Course:
    """Respond that nothing can be done without a tree."""
    return _order(run, Fail(error=event.error), Status.FAILED, event.error)


def _order(run: RunState, order: Order, status: Status, message: str) -> Course:
    """Let the coordinator respond; before one exists, respond directly."""
    if run.coordinator is not None:
        state, messages = coordinate(run.coordinator, order)
        return replace(run, coordinator=state), _publish(messages)
    response = UserResponse(
        request_id=run.run, status=status, iterations=0, goal_achieved=False, message=message
    )
    return replace(run, response=response, owed=()), []
