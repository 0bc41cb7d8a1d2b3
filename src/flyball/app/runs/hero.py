"""A run in one look: how it ended, what shows it, what is asked; every surface draws this."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from flyball.app.answering import pending
from flyball.core.run.ending import ending_of, words_of
from flyball.core.run.state import Ending, RunState
from flyball.core.terms.change_verdict import ChangeStrength, ChangeVerdict
from flyball.core.terms.evidence import DiffReport
from flyball.core.terms.evidence_rows import latest_of
from flyball.core.terms.shape import counted

INTERRUPTED = "The process that drove it is gone; nothing is lost, and it can be resumed."

TONES = {
    Ending.SUCCEEDED: "good",
    Ending.ANSWERED: "plain",
    Ending.UNCHANGED: "fair",
    Ending.UNVERIFIED: "fair",
    Ending.STOPPED: "fair",
    Ending.NEEDS_YOU: "ask",
    Ending.FAILED: "bad",
}
UNDONE = (Ending.FAILED, Ending.STOPPED, Ending.UNCHANGED)
"""Endings that no verdict on a part of the work may be shown above."""


class HeroQuestion(msgspec.Struct, frozen=True, omit_defaults=True):
    """A doubt about the change, or a decision for a person, with the test's old and new text."""

    sentence: str
    is_blocking: bool = False
    before: str = ""
    after: str = ""


class Hero(msgspec.Struct, frozen=True):
    """The top of a run's page, and all of its card."""

    run: str
    request: str
    project: str
    branch: str
    status: str
    words: str
    """The ending, or where it stands."""
    tone: str
    """`good`, `fair`, `bad`, `ask`, `plain` or `busy`."""
    headline: str
    """What is shown, or why nothing is."""
    why: str = ""
    """Why it stands still, where the headline does not say it."""
    turned: tuple[str, ...] = ()
    """Tests that went from red to green."""
    questions: tuple[HeroQuestion, ...] = ()
    facts: tuple[str, ...] = ()


def hero_of(state: RunState, status: str, project: str) -> Hero:
    """Return a run in one look; `status` also knows whether anybody drives it."""
    ending = ending_of(state)
    verdict = None if ending in UNDONE and not _is_open(state) else run_verdict(state)
    why = why_stopped(state, status)
    shown = verdict.headline if verdict else ""
    return Hero(
        run=state.run,
        request=state.request,
        project=project,
        branch=state.branch,
        status=status,
        words=words_of(status, ending),
        tone=_tone(ending, status, verdict),
        headline=shown or why,
        why=why if shown and ending is not Ending.SUCCEEDED else "",
        turned=verdict.mended if verdict and ending not in UNDONE else (),
        questions=tuple(_questions(verdict)) if verdict else (),
        facts=tuple(_facts(state, verdict)),
    )


def _tone(ending: Ending | None, status: str, verdict: ChangeVerdict | None) -> str:
    """Return the tone of an ending; what is shown by less than a run of tests is only fair."""
    if status == "interrupted":
        return "bad"
    if ending is Ending.SUCCEEDED and verdict and verdict.strength < ChangeStrength.EXIT_ZERO:
        return "fair"
    return TONES[ending] if ending else "busy"


def _is_open(state: RunState) -> bool:
    """Return whether what was found speaks against the change: that is what its ending rests on."""
    verdict = run_verdict(state)
    return verdict is not None and not verdict.is_shown


def run_verdict(state: RunState) -> ChangeVerdict | None:
    """Return what Flyball says of all that a run changed, or of the card that it judged last."""
    whole = state.verdict_on(state.tree)
    return whole or next((card.verdict for card in reversed(state.cards) if card.verdict), None)


def _questions(verdict: ChangeVerdict) -> Iterator[HeroQuestion]:
    for each in verdict.blocking:
        yield HeroQuestion(each.sentence, True, each.before, each.after)
    for each in verdict.questions:
        yield HeroQuestion(each.sentence, False, each.before, each.after)


def _facts(state: RunState, verdict: ChangeVerdict | None) -> Iterator[str]:
    if verdict and verdict.mutants:
        noticed, tried = verdict.mutants.noticed, verdict.mutants.tried
        yield f"{noticed} of {counted(tried, 'small change')} noticed"
    changed = [
        each
        for card in state.cards
        if not card.is_taken_back and (report := latest_of(card.evidence, DiffReport))
        for each in report.files
    ]
    if changed:
        added, removed = sum(each.added for each in changed), sum(each.removed for each in changed)
        files = len({each.path for each in changed})
        yield f"+{added} −{removed} in {counted(files, 'file')}"
    yield f"{state.spend.calls} of {counted(state.budget.limit, 'call')}"
    if state.spend.blocked:
        yield f"{state.spend.blocked} refused"
    if state.spend.money:
        yield f"${state.spend.money:.2f}"


def why_stopped(state: RunState, status: str) -> str:
    """Return why a run does not move: a question, its end, or no driver; else an empty string."""
    if waiting := pending(state):
        return waiting[0].question.text
    if state.response is not None:
        return _why_ended(state, state.response.message)
    return INTERRUPTED if status == "interrupted" else ""


def _why_ended(state: RunState, message: str) -> str:
    """Return Flyball's own reason; without one, the first line of the answer."""
    last = state.cards[-1] if state.cards else None
    if last is not None and last.ending_reason:
        return last.ending_reason
    if ending_of(state) is Ending.SUCCEEDED:
        shown = [card.label for card in state.cards if card.commit]
        return f"It is done, and Flyball saw it: {shown[-1]}." if shown else "It is done."
    return message.strip().partition("\n")[0]
