"""Build the hand-over that a new thread starts from, from a run's state."""

from __future__ import annotations

from collections.abc import Iterator

from flyball.engine.prompt.plan_words import plan_lines, step_of, tried
from flyball.guards.handover import HandOver, handover
from flyball.guards.ledger import mistake_words, recognise
from flyball.run.effect import ResetThread
from flyball.run.mistake import on_record
from flyball.run.state import CardState, RunState
from flyball.terms.evidence_rows import complaint_of, current_evidence, is_failing, line_of


def hand_over(run: RunState, card: CardState, effect: ResetThread | None = None) -> str:
    """Return goal, plan, results, open points, and what not to try again."""
    step = step_of(run, card)
    goal = card.checkpoint.goal if card.checkpoint else step.title if step else run.request
    facts = HandOver(
        goal=goal,
        reason=effect.reason if effect else "",
        words=effect.words if effect else "",
        plan=tuple(_plan(run, card)),
        done=tuple(_done(run, card)),
        evidence=tuple(_evidence(card)),
        open_issues=tuple(_open_issues(run, card)),
        do_not_repeat=tuple(_not_again(run, card)),
    )
    return handover(facts)


def _plan(run: RunState, card: CardState) -> Iterator[str]:
    if step := step_of(run, card):
        about = f": {step.description}" if step.description else ""
        yield f"your step is {step.id}, {step.title}{about}"
        for criterion in step.success_criteria:
            yield f"it is done when: {criterion}"
    if point := card.checkpoint:
        yield point.proposed_action
        yield f"verify with {', '.join(point.verify_with)}"
    yield from plan_lines(run, card)


def _done(run: RunState, card: CardState) -> Iterator[str]:
    yield from (f"tried in an earlier iteration: {each}" for each in tried(run))
    if card.has_changed:
        files = ", ".join(card.changed) or "some files"
        yield f"changed so far: {files}; read before you edit"
    yield from (f"changed {path} beyond the checkpoint" for path in card.drift)
    if card.checkpoint:
        yield f"found: {card.checkpoint.findings}"
    yield from (remark.text for remark in card.remarks if remark.text)


def _evidence(card: CardState) -> Iterator[str]:
    yield f"the current tree: {card.strength.label}"
    yield from map(line_of, current_evidence(card.evidence, card.tree))


def _open_issues(run: RunState, card: CardState) -> Iterator[str]:
    if run.coordinator is not None:
        yield from map(str, run.coordinator.issues)
    yield from (str(ruling) for ruling in card.verdicts if not ruling.has_passed)
    yield from (
        complaint_of(item)
        for item in current_evidence(card.evidence, card.tree)
        if is_failing(item)
    )
    if card.question:
        yield card.question.text


def _not_again(run: RunState, card: CardState) -> Iterator[str]:
    """Yield denied calls, then failures of this card, and finally recorded mistakes with their
    fixes.

    When space is short, the hand-over keeps the last entries.
    """
    yield from dict.fromkeys(f"`{denial.tool}`: {denial.reason}" for denial in card.denials)
    ledger = on_record(run, card)
    known = {failure: recognise(ledger, failure) for failure in card.failures}
    for failure, mistake in known.items():
        if mistake is None:
            yield f"this went wrong in this card already: {failure.error}"
    yield from dict.fromkeys(mistake_words(mistake) for mistake in known.values() if mistake)
