"""Queued calls: judge each when its turn comes, perform it, and match it with its result."""

from __future__ import annotations

from msgspec.structs import replace

from flyball.errors import IllegalEvent
from flyball.guards.guard_memory import GuardStep
from flyball.guards.handover import should_reset
from flyball.plan.library import template_for
from flyball.plan.verdict import Passed
from flyball.run.decision import Allow, Ask, Deny, judge
from flyball.run.effect import Perform
from flyball.run.finishing import settle, verdict
from flyball.run.setback import halt
from flyball.run.state import Asking, Denial, Judged, Question
from flyball.run.working_copy import WorkingCopy
from flyball.terms.budget import cost
from flyball.terms.call import Access, Call
from flyball.terms.evidence_rows import is_failing
from flyball.terms.intent import LIMITS, Intent
from flyball.terms.phase import Phase

KEPT_DENIALS = 12
BUDGET_CODES = frozenset({"budget_spent"})


def go_on(d: WorkingCopy, context_tokens: int = 0) -> None:
    """Judge the queue; when nothing is pending any more, ask the driver again."""
    if context_tokens:
        began = d.card.opening_tokens or context_tokens
        d.set(thread_tokens=context_tokens, opening_tokens=min(began, context_tokens))
    if d.card.halted and not d.card.in_flight:
        halt(d, d.card.halted)
        return
    # Remembered before the queue is judged: judging may move the card, and only one that was in
    # `verify` all along is led on by what it has looked at.
    reach = d.card.phase
    dispatch_calls(d)
    if d.effects or d.card.phase is Phase.PAUSED or d.card.in_flight or d.card.queue:
        return
    if d.card.is_summing_up:
        d.think(text_only=True)
        return
    if d.card.phase is Phase.VERIFY and reach is Phase.VERIFY and _has_looked(d):
        return
    if why := _bloated(d):
        d.reset_thread(why)
        return
    d.think()


def _bloated(d: WorkingCopy) -> str | None:
    """Explain why the thread is too long; a new thread must be at most half as long."""
    card = d.card
    if card.thread_tokens < 2 * card.opening_tokens:
        return None
    return should_reset(card.thread_tokens, d.run.policy.context_tokens)


def _has_looked(d: WorkingCopy) -> bool:
    """Return whether `verify` is over: a failure leads to `execute`, a passed gate to `final`."""
    card = d.card
    if card.is_reviewing or not card.evidence:
        return False
    last = card.evidence[-1]
    if last.tree == card.tree and is_failing(last):
        d.enter(Phase.EXECUTE)
        d.say("guidance", "Verification failed. Fix it, then verify again.")
        return False
    if isinstance(verdict(d), Passed):
        settle(d)
        return True
    return False


def dispatch_calls(d: WorkingCopy) -> None:
    """Dispatch queued calls: read-only ones in parallel, all others alone."""
    while d.card.queue and d.card.phase is not Phase.PAUSED:
        call = d.card.queue[0]
        if d.card.in_flight and not _is_companion(d, call):
            return
        decision = judge(d.run, d.card, call)
        # A question pauses the card, and what comes back in a pause is kept but not followed. So
        # the calls that are under way are waited for first. Around a host it holds one call only.
        holds_one = d.run.policy.hosted and d.run.policy.is_current
        if isinstance(decision, Ask) and d.card.in_flight and not holds_one:
            return
        if isinstance(decision, Allow):
            _send(d, call)
            continue
        d.set(queue=d.card.queue[1:])
        if isinstance(decision, Ask):
            d.record(Judged(call.id, call.tool, "ask", decision.code, decision.reason))
            if holds_one:
                _hold(d, call, decision)
            else:
                d.ask(Asking.CALL, decision.reason, call=call)
        else:
            _deny(d, call, decision)


def _is_companion(d: WorkingCopy, call: Call) -> bool:
    # A host asks about a call when it is about to make it, and has its own order.
    if d.run.policy.hosted:
        return True
    return call.access is Access.READ and all(c.access is Access.READ for c in d.card.in_flight)


ASK_PERSON = (
    "{reason} Ask the person; if they say yes, make the very same call again. Everything else may "
    "continue meanwhile."
)
OVER_BUDGET = (
    "{calls} calls are used, the usual budget of such a request. Answer, or say in one line what "
    "is still missing."
)


def _hold(d: WorkingCopy, call: Call, decision: Ask) -> None:
    """Hold one call until a person approves it; the card itself continues."""
    d.spend(blocked=1)
    question = Question(f"q{d.run.seq}", Asking.CALL, decision.reason, call=call)
    d.set(queue=d.card.queue[1:], question=question)
    d.say("denial", ASK_PERSON.format(reason=decision.reason), call.id)


def _send(d: WorkingCopy, call: Call) -> None:
    card, budget = d.card, d.run.budget
    # Where the budget is only reported, reading is free: nobody is to count looks.
    price = 0 if budget.is_reported and call.access is Access.READ else cost(call)
    d.spend(calls=price)
    if price and budget.is_reported and d.run.spend.calls == budget.limit:
        d.say("budget", OVER_BUDGET.format(calls=budget.limit), call.id)
    d.set(
        queue=card.queue[1:],
        in_flight=(*card.in_flight, call),
        calls=card.calls + price,
        judged=(*card.judged, Judged(call.id, call.tool, "allow")),
    )
    if not call.keeps_regions:
        d.set(released=(*card.released, *call.writes))
    d.effects.append(Perform(card=card.id, call=call, phase=card.phase))


def _deny(d: WorkingCopy, call: Call, decision: Deny) -> None:
    d.spend(blocked=1)
    d.record(Judged(call.id, call.tool, "deny", decision.code, decision.reason))
    d.say("denial", decision.reason, call.id)
    d.set(denials=_remember(d.card.denials, call, decision))
    if decision.code in BUDGET_CODES:
        for left in d.card.queue:
            d.say("denial", "Not made: the budget is spent.", left.id)
        d.spend(blocked=len(d.card.queue))
        d.set(queue=(), is_summing_up=True)
        return
    if decision.code == "checkpoint_owed" and d.card.phase is Phase.EXECUTE:
        d.enter(Phase.CHECKPOINT)
    drop_dependent(d, call)
    if trip := d.observe(GuardStep(call=call.digest, outcome="", kind="refused")):
        halt(d, trip)


def drop_dependent(d: WorkingCopy, failed: Call) -> None:
    """Drop the queued calls of the same reply that depend on a failed call.

    They were requested on the assumption that it would succeed. They cost nothing.
    """
    is_old, later = not d.run.policy.is_current, (Access.MUTATE, Access.VERIFY)
    left = [
        each
        for each in d.card.queue
        if (each.access in later if is_old else _depends_on(each, failed))
    ]
    what = ", ".join(failed.writes)
    about = f"`{failed.name}`" + (f" of {what}" if what else "")
    for each in left:
        said = f"`{each.name}` was not made, and not counted: it depends on {about}, which failed."
        d.say("denial", said, each.id)
        d.record(Judged(each.id, each.tool, "deny", "after_failure", said))
    if left:
        d.set(queue=tuple([each for each in d.card.queue if each not in left]))


def _depends_on(call: Call, failed: Call) -> bool:
    """Return whether a call makes no sense without an earlier one; reads are always independent.

    A test or a check inspects what the earlier call should have written. A command or a commit
    names no files, so it may concern any of them.
    """
    match failed.access:
        case Access.READ:
            return False
        case Access.VERIFY:
            return call.access is Access.MUTATE and not call.writes
        case Access.CHECKPOINT:
            return call.access in (Access.MUTATE, Access.VERIFY)
        case Access.MUTATE if call.access is Access.MUTATE:
            ours, theirs = {*call.writes}, {*failed.writes}
            return not ours or not theirs or bool(ours & theirs)
        case _:
            return call.access is Access.VERIFY


def _remember(denials: tuple[Denial, ...], call: Call, decision: Deny) -> tuple[Denial, ...]:
    for i, denial in enumerate(denials):
        if denial.digest == call.digest:
            again = replace(
                denial,
                call=call.id,
                code=decision.code,
                reason=denial.reason,
                times=denial.times + 1,
            )
            return (*denials[:i], *denials[i + 1 :], again)
    new = Denial(call.id, call.tool, call.digest, decision.code, decision.reason)
    return (*denials, new)[-KEPT_DENIALS:]


def pop_in_flight(d: WorkingCopy, id: str) -> Call:
    """Return the call that an event answers and remove it from those in flight."""
    for call in d.card.in_flight:
        if call.id == id:
            d.set(in_flight=tuple([c for c in d.card.in_flight if c.id != id]))
            if d.run.policy.hosted:
                # A yes is for one call. The host makes it itself, so this is where it is used up.
                d.set(granted=tuple([each for each in d.card.granted if each != call.digest]))
            return call
    raise IllegalEvent(f"card {d.card.id} has no call {id!r} in flight")


def promote(d: WorkingCopy) -> None:
    """Let a read-only run fix what it found."""
    intent = Intent.SMALL_FIX
    calls = max(d.run.budget.calls, LIMITS[intent])
    d.set_run(intent=intent, budget=replace(d.run.budget, calls=calls))
    if not d.card.template.may_mutate:
        d.set(template=template_for(intent))
