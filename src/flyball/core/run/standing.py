"""Where a card stands, in one line: the phase, the calls that are left, and what is missing.

Every request ends with this line, so that no driver has to guess, and none is asked to go on after
its own words. Nobody else composes it. It is a line of the thread and not of the state: it follows
from what is known anyway.
"""

from __future__ import annotations

from flyball.core.flow.gates.gate import judge_done
from flyball.core.flow.gates.verdict import Passed
from flyball.core.flow.template import Role
from flyball.core.run.decision import may_build
from flyball.core.run.effect import Think
from flyball.core.run.state import CardState, RunState
from flyball.core.terms.budget import spent_limit
from flyball.core.terms.phase import RECON, Phase

STANDING = "standing"
"""What kind of word it is in a thread."""


def standing(run: RunState, card: CardState, think: Think) -> str:
    """The line that ends the request which answers this effect."""
    return f"[{_where(run, card, think)}] {_missing(run, card, think)}"


def _where(run: RunState, card: CardState, think: Think) -> str:
    phase = think.phase.name_for_people
    limit = run.budget.limit
    if not limit:
        return phase
    left = max(limit - run.spend.calls, 0)
    if card.has_changed and 0 < left <= run.budget.reserve:
        return f"{phase} · {left} of {limit} calls left, for verification only"
    return f"{phase} · {left} of {limit} calls left"


def _missing(run: RunState, card: CardState, think: Think) -> str:
    if think.role in OWED_BY_ROLE:
        return OWED_BY_ROLE[think.role]
    if think.text_only:
        return NO_CALLS if spent_limit(run.budget, run.spend) else IN_WORDS
    if think.phase is Phase.CHECKPOINT:
        return "Missing: the `checkpoint`. No other call is possible before it."
    if think.phase.is_in(RECON):
        return _missing_in_recon(run, card, think)
    return _missing_in_build(run, card)


OWED_BY_ROLE: dict[str, str] = {
    Role.REVIEWER: "Missing: the risk of this change, in one `note` or one sentence.",
    Role.PLANNER: "Missing: the plan, in one JSON block.",
    Role.VERIFIER: "Missing: your report, in one JSON block.",
}
"""Whoever is asked for one thing alone is told that, whatever the phase."""

IN_WORDS = "Missing: your answer, in words. No call is made any more."
NO_CALLS = (
    "The budget is spent. Sum up in words what is done, what shows it, and what is left; if that "
    "answers the request, it is the answer."
)


def _missing_in_recon(run: RunState, card: CardState, think: Think) -> str:
    if think.role != card.template.role:
        return "Missing: your findings, in words."
    if not may_build(run, card):
        return "Missing: your answer, in words. Nothing is changed here."
    return "Missing: a `checkpoint`; nothing can be changed before it."


def is_verified(run: RunState, card: CardState) -> bool:
    """Whether a change was made and the tree as it is now has passed."""
    seen = judge_done(card.evidence, card.tree, card.base, has_suite=run.project.has_suite)
    return card.has_changed and isinstance(seen, Passed)


def _missing_in_build(run: RunState, card: CardState) -> str:
    if not card.has_changed:
        return (
            "Missing: the change itself. Call `edit_diff` or `write_file`; prose changes nothing."
        )
    if is_verified(run, card):
        return "Verified as it is now. Missing: your last words, if nothing else is to change."
    look = "`test`" if run.project.has_suite else "`check`"
    return f"Missing: a passing {look} of the tree as it is now; then stop."
