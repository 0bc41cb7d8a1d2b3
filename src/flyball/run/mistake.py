"""Mistakes: errors that a card caused itself, and whether they repeat."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from flyball.guards.fingerprint import plain_error
from flyball.guards.ledger import Ledger, Mistake, Sighting, fingerprint_failure, recognise
from flyball.plan.suite_checks import NOTHING_RAN
from flyball.regex import regex
from flyball.run.event import CardClosed
from flyball.run.state import CardState, Ending, RunState
from flyball.run.working_copy import WorkingCopy
from flyball.terms.evidence import AnyEvidence, Evidence, SuiteReport
from flyball.terms.evidence_rows import (
    EVIDENCE_ROWS,
    current_evidence,
    is_failing,
    is_style,
    verification_key,
)
from flyball.terms.test_paths import is_test_path

KEPT = 8
NAMED = 5
SUMMARY = 200

EXCEPTION = regex(r"\b[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Failure|Panic)\b")


def notice(d: WorkingCopy, evidence: Sequence[AnyEvidence]) -> str:
    """Record a failure that this card caused, and return the mistake that it repeats, if any.

    A test written before its code is supposed to fail, and what failed before any change is not
    this card's mistake.
    """
    card = d.card
    if not card.has_changed or all(map(is_test_path, card.changed)):
        return ""
    # From every card of the run: another one may have looked at the tree that this one began with.
    before = _seen_before(d.run, card)
    repeated = ""
    for item in evidence:
        if item.tree == card.tree and (error := new_error(item, before)):
            repeated = remember(d, error) or repeated
    return repeated


def remember(d: WorkingCopy, error: str) -> str:
    """Add a failure to the ledger once, and return the recorded error that it repeats, if any."""
    card = d.card
    files = card.changed or (card.checkpoint.files if card.checkpoint else ())
    failure = fingerprint_failure(error, card.template.step_id, files)
    known = recognise(on_record(d.run, card), failure)
    # A near match takes over the name it is known by, or the ledger would count it as a new one.
    if known is not None:
        failure = replace(failure, fingerprint=known.fingerprint)
    kept = card.failures
    if len(kept) >= KEPT or any(each.fingerprint == failure.fingerprint for each in kept):
        return ""
    d.set(failures=(*kept, failure))
    return " / ".join(known.error.split("\n")) if known else ""


def on_record(run: RunState, card: CardState) -> Ledger:
    """Return the project's mistakes, and those of the ended cards of this run."""
    known = {mistake.fingerprint for mistake in run.ledger}
    earlier: dict[str, Mistake] = {}
    for each in run.cards:
        if each.id == card.id or each.is_live:
            continue
        for f in each.failures:
            if f.fingerprint not in known:
                mistake = Mistake(f.fingerprint, f.error, f.step_kind, f.files)
                earlier.setdefault(f.fingerprint, mistake)
    return (*run.ledger, *earlier.values())


def _seen_before(run: RunState, card: CardState) -> tuple[Evidence, ...]:
    """Return all evidence in this run about the tree that the card began with."""
    return current_evidence((item for each in run.cards for item in each.evidence), card.base)


def new_error(item: Evidence, before: Sequence[Evidence]) -> str:
    """Return the newly failing part of a verification; style does not count."""
    if not is_failing(item) or is_style(item):
        return ""
    if isinstance(item, SuiteReport):
        return _suite_error(item, before)
    row, key = EVIDENCE_ROWS[type(item)], verification_key(item)
    same = [each for each in before if verification_key(each) == key and is_failing(each)]
    known = {plain_error(problem) for each in same for problem in row.problems(each)}
    fresh = [problem for problem in row.problems(item) if plain_error(problem) not in known]
    if same and not fresh:
        return ""
    return "\n".join(fresh[:NAMED]) or f"error: {row.fault(item)}"


def _suite_error(item: SuiteReport, before: Iterable[Evidence]) -> str:
    suites = [each for each in before if isinstance(each, SuiteReport)]
    if not item.failures:
        is_old = any(each.command == item.command and not each.is_green for each in suites)
        if is_old or (item.exit_code in NOTHING_RAN and not item.timed_out):
            return ""
        return f"error: {item.reason or 'the test run failed without naming a test'}"
    red = {f.name: _exception(f.message) for each in suites for f in each.failures}
    fresh = sorted(
        f"{f.name} failed: {_summary(f.message)}"
        for f in item.failures
        if f.name not in red or _differ(red[f.name], _exception(f.message))
    )
    return "\n".join(fresh[:NAMED])


def _summary(message: str) -> str:
    """Return the line that names the exception, or else the best summary of the error."""
    raised = [line for line in message.split("\n") if EXCEPTION.search(line)]
    return " / ".join(plain_error(raised[-1] if raised else message).split("\n"))[:SUMMARY]


def _exception(message: str) -> str:
    found = EXCEPTION.findall(message)
    return found[-1] if found else ""


def _differ(before: str, now: str) -> bool:
    """Return whether a test that was already red now fails for another reason."""
    return bool(before and now and before != now)


def sightings(run: RunState, card: CardState, closed: CardClosed) -> tuple[Sighting, ...]:
    """Return the entries that a card adds to the ledger when it closes.

    A card that succeeds also resolves the mistakes of earlier cards of the same kind and step.
    """
    if closed.error:
        files = card.changed or (card.checkpoint.files if card.checkpoint else ())
        failure = fingerprint_failure(closed.error, card.template.step_id, files)
        found = (*card.failures, failure)
        return tuple(Sighting(run.run, card.id, each, run.at) for each in found)
    if card.ending is not Ending.SUCCEEDED:
        return tuple(Sighting(run.run, card.id, each, run.at) for each in card.failures)
    resolution = _resolution(card)
    kind = card.template.step_id
    solved = [each for each in run.cards if each.step == card.step and each.id != card.id]
    return tuple(
        Sighting(run.run, each.id, failure, each.at or run.at, resolution)
        for each in (*solved, card)
        for failure in each.failures
        if each.template.step_id == kind
    )


def _resolution(card: CardState) -> str:
    """Return the action of the card that finally worked, on one line."""
    point = card.checkpoint
    said = point.proposed_action if point else card.answer.strip().partition("\n")[0]
    line = " ".join(said.split())[:SUMMARY]
    return f"{line} (changed {', '.join(card.changed[:NAMED])})" if card.changed else line
