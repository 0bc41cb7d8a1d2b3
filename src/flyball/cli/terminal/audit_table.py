"""Print an audit in a terminal: the few lines that matter."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from flyball.cli.terminal.edge import say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flyball.audit.report import AuditReport, WorstSession

WORST_SHOWN = 3
NOTES_SHOWN = 5
WIDTH = 110


def print_report(report: AuditReport) -> None:
    """Print the table, the worst sessions, and how many findings each measure would prevent."""
    for line in _lines(report):
        say(line)


def _lines(report: AuditReport) -> Iterator[str]:
    when = time.strftime(" since %Y-%m-%d", time.gmtime(report.since)) if report.since else ""
    yield (
        f"{report.sessions:,} sessions{when} with {report.calls:,} calls, "
        f"{amount(report.tokens, report.money)}"
    )
    if wrote := [f"{row.name} {row.lines:,}" for row in report.models if row.lines]:
        yield f"lines written: {', '.join(wrote)}"
    rows = [row for row in report.rules if row.caught or row.suspicious]
    if not rows:
        yield "Nothing was found."
    else:
        yield ""
        yield f"{'caught':>7} {'suspicious':>10} {'kept':>9}  what"
        for row in rows:
            kept = f"{row.kept} of {row.known}" if row.known else "-"
            yield f"{row.caught:>7} {row.suspicious:>10} {kept:>9}  {row.title}"
        yield ""
        yield "caught: its effect is still in the tree or the history. suspicious: words or calls."
        yield "kept: the work is still there; where it is, the finding may be a false alarm."
    if report.tokens_after_stop or report.seconds_after_stop:
        spent = amount(report.tokens_after_stop, report.money_after_stop)
        minutes = report.seconds_after_stop / 60
        yield f"After a guard would have stopped it: {spent}, {minutes:,.0f} minutes."
    for number, worst in enumerate(report.worst[:WORST_SHOWN], 1):
        yield from _story(number, worst)
    yield from _notes(report)
    yield from _prevention(report)


def amount(tokens: float, money: float) -> str:
    """Return tokens as billed, and the cost if known."""
    said = f"{tokens:,.0f} tokens"
    return f"{said} (${money:,.2f})" if money else said


def _story(number: int, worst: WorstSession) -> Iterator[str]:
    when = time.strftime("%Y-%m-%d %H:%M", time.gmtime(worst.began)) if worst.began else ""
    yield ""
    yield f"{number}. {worst.host} {worst.session} {when} {worst.project}".rstrip()
    if worst.asked:
        yield _cut(f"   asked: {' '.join(worst.asked.split())}")
    for found in worst.findings[:4]:
        yield _cut(f"   turn {found.turn}: {found.rule} ({found.degree}): {found.quote}")
        if found.detail:
            yield _cut(f"      {found.detail}")


def _cut(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"


def _notes(report: AuditReport) -> Iterator[str]:
    if report.notes:
        yield ""
    yield from report.notes[:NOTES_SHOWN]
    if len(report.notes) > NOTES_SHOWN:
        yield f"{len(report.notes) - NOTES_SHOWN} more notes are in --json."


def _prevention(report: AuditReport) -> Iterator[str]:
    found = sum(row.caught + row.suspicious for row in report.rules)
    if not found:
        return
    prevented = sum(row.prevented for row in report.rules)
    yield ""
    hosts = ", ".join(report.governed) or "nothing yet"
    yield f"already prevented by what you have ({hosts}): {prevented} of {found}"
    if report.advice:
        yield f"would be prevented by: {found - prevented} more, with {report.advice[0]}"
