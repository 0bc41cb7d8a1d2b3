"""A run at a glance: its ending, its evidence and its questions; every surface draws this."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from html import escape

import msgspec

from flyball.app.answering import pending
from flyball.regex import regex
from flyball.run.ending import ending_of, words_of
from flyball.run.state import Ending, RunState
from flyball.terms.change_verdict import ChangeStrength, ChangeVerdict
from flyball.terms.evidence import DiffReport
from flyball.terms.evidence_rows import latest_of
from flyball.terms.shape import counted

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


class SummaryQuestion(msgspec.Struct, frozen=True, omit_defaults=True):
    """A doubt about the change, or a decision for a person, with the test's old and new text."""

    sentence: str
    is_blocking: bool = False
    before: str = ""
    after: str = ""


class Summary(msgspec.Struct, frozen=True):
    """The content of the top of a run's page and of its card."""

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
    questions: tuple[SummaryQuestion, ...] = ()
    facts: tuple[str, ...] = ()


def summarise(state: RunState, status: str, project: str, reverted: str = "") -> Summary:
    """Summarise a run.

    `status` also knows whether a process drives it; `reverted` says what a person took back.
    """
    ending = ending_of(state)
    verdict = None if ending in UNDONE and not _is_open(state) else run_verdict(state)
    why = why_stopped(state, status)
    shown = verdict.headline if verdict else ""
    # The ending stands above it already.
    shown = "" if ending and shown == ending.words else shown
    beside = why if shown and ending is not Ending.SUCCEEDED else ""
    return Summary(
        run=state.run,
        request=state.request,
        project=project,
        branch=state.branch,
        status=status,
        words=words_of(status, ending),
        tone="plain" if reverted else _tone(ending, status, verdict),
        headline=shown or why,
        why=f"{reverted.capitalize()}." if reverted else beside,
        turned=verdict.mended if verdict and ending not in UNDONE and not reverted else (),
        questions=tuple(_questions(verdict)) if verdict else (),
        facts=tuple(_facts(state, verdict)),
    )


def _tone(ending: Ending | None, status: str, verdict: ChangeVerdict | None) -> str:
    """Return the tone of an ending; evidence weaker than a test run only counts as fair."""
    if status == "interrupted":
        return "bad"
    if ending is Ending.SUCCEEDED and verdict and verdict.strength < ChangeStrength.EXIT_ZERO:
        return "fair"
    return TONES[ending] if ending else "busy"


def _is_open(state: RunState) -> bool:
    """Return whether a finding speaks against the change, because its ending rests on it."""
    verdict = run_verdict(state)
    return verdict is not None and not verdict.is_shown


def run_verdict(state: RunState) -> ChangeVerdict | None:
    """Return Flyball's verdict on the whole run, or on the last card that has one."""
    whole = state.verdict_on(state.tree)
    return whole or next((card.verdict for card in reversed(state.cards) if card.verdict), None)


def _questions(verdict: ChangeVerdict) -> Iterator[SummaryQuestion]:
    for each in verdict.blocking:
        yield SummaryQuestion(each.sentence, True, each.before, each.after)
    for each in verdict.questions:
        yield SummaryQuestion(each.sentence, False, each.before, each.after)


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
    yield f"{state.spend.calls:,} of {counted(state.budget.limit, 'call')}"
    if state.spend.blocked:
        yield f"{state.spend.blocked} refused"
    if state.spend.money:
        yield f"${state.spend.money:.2f}"


def why_stopped(state: RunState, status: str) -> str:
    """Explain why a run does not move: a question, its end, or no driver; else empty."""
    if waiting := pending(state):
        return waiting[0].question.text
    if state.response is not None:
        return _why_ended(state, state.response.message)
    return INTERRUPTED if status == "interrupted" else ""


def _why_ended(state: RunState, message: str) -> str:
    """Return Flyball's own reason, or else the first line of the answer."""
    last = state.cards[-1] if state.cards else None
    if last is not None and last.ending_reason:
        return last.ending_reason
    if ending_of(state) is Ending.SUCCEEDED:
        shown = [card.label for card in state.cards if card.commit]
        return f"It is done, and Flyball saw it: {shown[-1]}." if shown else "It is done."
    return message.strip().partition("\n")[0]


WIDTH, MARGIN = 880, 36
MOST_TESTS = 5
LONGEST_TEST = 92
UNDRAWN = regex(r"[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML cannot hold."""

STYLE = """\
text{font:15px ui-sans-serif,system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#1b2027}
.m{font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:13px}
.s{fill:#56606d;font-size:13px}.r{font-size:21px;font-weight:600}.h{font-size:17px;font-weight:600}
.g{fill:#fff;stroke:#dfe3e8}.red{fill:#b3261e}.green{fill:#176b3a}
.good{fill:#176b3a}.fair{fill:#855300}.bad{fill:#b3261e}.ask{fill:#a8405f}.busy{fill:#2a66c4}
.plain{fill:#56606d}
@media(prefers-color-scheme:dark){text{fill:#e4e8ed}.s,.plain{fill:#a3adb9}
.g{fill:#191d23;stroke:#2b323b}.red,.bad{fill:#ff9c93}.green,.good{fill:#7fd49b}
.fair{fill:#f0c377}.ask{fill:#f2a0b9}.busy{fill:#8db8ff}}"""


class _Sheet:
    """Lines of text, set one below the other."""

    def __init__(self) -> None:
        self.y = MARGIN
        self.parts: list[str] = []

    def line(self, text: str, kind: str, step: int, x: int = MARGIN) -> None:
        self.y += step
        self.parts.append(f'<text x="{x}" y="{self.y}" class="{kind}">{_safe(text)}</text>')


def draw_card(summary: Summary) -> str:
    """Return a run's card as SVG, with the words of its page."""
    sheet = _Sheet()
    where = " · ".join(each for each in (summary.project, summary.branch) if each)
    sheet.line(f"{summary.words} · {where}", f"s {summary.tone}", 6)
    for text in _wrapped(summary.request, 60, 3):
        sheet.line(text, "r", 30)
    sheet.y += 8
    for text in _wrapped(summary.headline, 78, 3):
        sheet.line(text, f"h {summary.tone}", 25)
    for text in _wrapped(summary.why, 90, 2):
        sheet.line(text, "", 23)
    _draw_tests(sheet, summary.turned)
    for each in [each for each in summary.questions if each.sentence not in summary.why][:2]:
        for text in _wrapped(each.sentence, 90, 2):
            sheet.line(text, "bad" if each.is_blocking else "ask", 23)
    sheet.line("   ·   ".join(summary.facts), "s", 32)
    return _page(summary, sheet)


def _draw_tests(sheet: _Sheet, names: Sequence[str]) -> None:
    sheet.y += 4 if names else 0
    for name in names[:MOST_TESTS]:
        y = sheet.y + 18
        for x, light in ((MARGIN + 5, "red"), (MARGIN + 37, "green")):
            sheet.parts.append(f'<circle cx="{x}" cy="{y}" r="5" class="{light}"/>')
        sheet.parts.append(f'<text x="{MARGIN + 15}" y="{y + 4}" class="s">→</text>')
        short = name if len(name) <= LONGEST_TEST else f"…{name[1 - LONGEST_TEST :]}"
        sheet.line(short, "m", 23, MARGIN + 54)
    if len(names) > MOST_TESTS:
        sheet.line(f"and {len(names) - MOST_TESTS} more", "s", 23, MARGIN + 54)


def _page(summary: Summary, sheet: _Sheet) -> str:
    height = sheet.y + 28
    title = _safe(f"{summary.words}: {summary.headline}")
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">'
    box = f'<rect x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="12" class="g"/>'
    bar = f'<rect y="24" width="5" height="{height - 48}" class="{summary.tone}"/>'
    signed = f'<text x="{WIDTH - MARGIN}" y="42" text-anchor="end" class="s">Flyball</text>'
    parts = (f"{head}<title>{title}</title>", f"<style>{STYLE}</style>", box, bar, signed)
    return "\n".join((*parts, *sheet.parts, "</svg>\n"))


def _wrapped(text: str, width: int, most: int) -> Iterator[str]:
    shown = " ".join(text.split())
    yield from textwrap.wrap(shown, width, max_lines=most, placeholder=" …", break_on_hyphens=False)


def _safe(text: str) -> str:
    return escape(UNDRAWN.sub("", text))
