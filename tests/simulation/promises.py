"""The promises that every step of every run keeps; a broken one is a sentence."""

from __future__ import annotations

from collections.abc import Iterator

from flyball.plan.message import UserResponse
from flyball.run.effect import AnyEffect, Perform, Publish
from flyball.run.policy import OnWeakened
from flyball.run.state import CardState, RunState
from flyball.terms.call import Access
from flyball.terms.change_verdict import FindingKind
from flyball.terms.phase import Phase


def broken(before: RunState, after: RunState, effects: tuple[AnyEffect, ...]) -> Iterator[str]:
    """Everything that this step broke."""
    for effect in effects:
        if isinstance(effect, Perform) and effect.call.access is Access.MUTATE:
            card = after.card(effect.card)
            if card is None or card.phase is not Phase.EXECUTE or effect.phase is not Phase.EXECUTE:
                yield f"promise 1: {effect.call.tool} is performed outside execute"
    if after.spend.calls > after.budget.limit:
        yield f"promise 3: {after.spend.calls} calls of {after.budget.limit}"
    said = sum(isinstance(e, Publish) and isinstance(e.message, UserResponse) for e in effects)
    if said > 1 or (said and before.response):
        yield "promise 4: more than one user_response"
    if before.response is not None and after.response != before.response:
        yield "promise 4: the response changed"
    for card in after.cards:
        if card.phase is Phase.SUCCEEDED:
            yield from _unproven(after, card)
    if after.is_at_rest and not after.has_ended and not after.paused:
        yield "promise 4: the run is stuck: nothing is owed and nobody is asked"


def _unproven(run: RunState, card: CardState) -> Iterator[str]:
    if not card.has_changed:
        return
    if card.verified_at < card.mutated_at:
        yield "promise 2: succeeded with a mutation newer than its verification"
    verdict = card.verdict
    if verdict is None:
        yield "promise 2: succeeded without a verdict on the current tree"
        return
    if not verdict.is_strong:
        yield f"promise 2: succeeded with {verdict.strength.label}"
    for finding in verdict.blocking:
        if finding.kind is not FindingKind.NOTHING_FAILED_BEFORE or not card.asked_for_red:
            yield f"promise 2: succeeded although {finding.sentence}"
    is_allowed = run.policy.weakened_tests is OnWeakened.ALLOW
    # A second verdict on the very tree that a person accepted asks the same, and nobody again.
    is_accepted = card.accepted_weakening == card.tree
    for finding in () if is_accepted else verdict.questions:
        if not is_allowed or finding.kind is not FindingKind.PROMISE_CHANGED:
            yield f"promise 2: succeeded although nobody accepted that {finding.sentence}"
