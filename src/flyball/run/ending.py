"""The ending of a run or card, as every surface shows it.

Both endings are derived from stored values, so logs of earlier versions have them too.
"""

from __future__ import annotations

from flyball.plan.gate import GATES
from flyball.plan.message import Status
from flyball.plan.template import Role, Template
from flyball.run.state import CardState, Ending, RunState
from flyball.terms.phase import Phase

RUNNING = "running"
CANCELLED = "cancelled"

_STATUS = {
    Ending.SUCCEEDED: "success",
    Ending.ANSWERED: "answered",
    Ending.UNCHANGED: "unchanged",
    Ending.UNVERIFIED: "unverified",
    Ending.NEEDS_YOU: "paused",
    Ending.STOPPED: "stopped",
    Ending.FAILED: "failed",
}


def ending_of_card(card: CardState) -> Ending | None:
    """Return how a card ended, or None while it works."""
    if card.phase is Phase.PAUSED:
        return Ending.NEEDS_YOU
    if card.ending is Ending.CANCELLED:
        return Ending.STOPPED
    return _passed(card) if card.ending is Ending.SUCCEEDED else card.ending


def ending_of(run: RunState) -> Ending | None:
    """Return how a run ended, or that it waits for a person, or None while it works."""
    response = run.response
    if response is None:
        return Ending.NEEDS_YOU if run.paused and run.is_at_rest else None
    if response.status is Status.CANCELLED:
        return Ending.STOPPED
    if response.status is Status.SUCCESS:
        return _reached(run)
    last = run.cards[-1] if run.cards else None
    found = ending_of_card(last) if last is not None else None
    if found in (Ending.UNVERIFIED, Ending.UNCHANGED, Ending.STOPPED):
        return found
    return Ending.UNCHANGED if _changed_nothing(run, last) else Ending.FAILED


def status_of(run: RunState) -> str:
    """Return a run's one-word status for lists; it follows from how the run ended."""
    ending = ending_of(run)
    if ending is None:
        return RUNNING
    if run.response is not None and run.response.status is Status.CANCELLED:
        return CANCELLED
    return _STATUS[ending]


def words_of(status: str, ending: Ending | str | None) -> str:
    """Describe for people how a run ended, or its current state while it works."""
    return (Ending(ending).words if ending else status).capitalize()


def judges_itself(template: Template) -> bool:
    """Return whether the gates require more than that nothing forbidden was done."""
    return any(use.type in GATES and not GATES[use.type].forbids for use in template.gates)


def _passed(card: CardState) -> Ending:
    """Return the ending of a card that passed its gate: verified, or only answered."""
    if card.has_changed:
        verdict = card.verdict
        is_shown = verdict is None or verdict.is_strong
        return Ending.SUCCEEDED if is_shown else Ending.UNVERIFIED
    if card.is_cut_short:
        return Ending.STOPPED
    is_seen = card.template.may_mutate or judges_itself(card.template)
    return Ending.SUCCEEDED if is_seen else Ending.ANSWERED


def _reached(run: RunState) -> Ending:
    """Return how a run ended whose coordinator found no open issue."""
    if run.tree != run.base:
        verdict = run.verdict_on(run.tree)
        is_shown = verdict is None or verdict.is_strong
        return Ending.SUCCEEDED if is_shown else Ending.UNVERIFIED
    found = [ending_of_card(card) for card in run.cards if card.step]
    if Ending.SUCCEEDED in found:
        return Ending.SUCCEEDED
    return Ending.STOPPED if found[-1:] == [Ending.STOPPED] else Ending.ANSWERED


def _changed_nothing(run: RunState, last: CardState | None) -> bool:
    """Return whether a plan was executed and changed nothing."""
    if last is None or last.template.role is not Role.VERIFIER or run.tree != run.base:
        return False
    was_to_change = any(card.step and card.template.may_mutate for card in run.cards)
    return last.phase is Phase.SUCCEEDED and was_to_change
