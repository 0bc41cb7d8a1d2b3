"""Render an audit as one HTML page in the board's style, without network requests."""

from __future__ import annotations

import html
import string
import time
from importlib.resources import files
from typing import TYPE_CHECKING

from flyball.cli.terminal.audit_table import amount

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flyball.audit.finding import AuditFinding
    from flyball.audit.report import AuditReport, RuleRow, SumRow, WorstSession

PAGE = string.Template("""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Flyball: audit</title>
<style>$style$own</style>
</head>
<body class="exported">
<main id="main" class="audit">
$body
</main>
</body>
</html>
""")
OWN = """
main.audit { max-width: 1040px; margin: 0 auto; width: 100%; }
.audit h2 { font-size: 16px; margin: 28px 0 8px; }
.audit table { border-collapse: collapse; width: 100%; background: var(--paper); }
.audit th { text-align: left; font-weight: 600; color: var(--soft); font-size: 12px; }
.audit th, .audit td { padding: 6px 10px; border-bottom: 1px solid var(--line); }
.audit td { vertical-align: top; }
.audit .n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.audit .bar { display: block; height: 8px; border-radius: 4px; background: var(--execute); }
.audit .stats { margin: 14px 0; } .audit .wide { width: 34%; }
.audit .story { background: var(--paper); border-radius: 8px; padding: 10px 14px; margin: 8px 0; }
.audit .story li { padding: 4px 0; overflow-wrap: anywhere; }
.audit .scroll { overflow-x: auto; }
"""


def audit_page(report: AuditReport) -> str:
    """Return the page: findings by time, project and agent, with the share that may be wrong."""
    style = (files("flyball.web") / "page" / "style.css").read_text("utf-8")
    body = "\n".join(_body(report))
    return PAGE.substitute(style=style, own=OWN, body=body)


def _body(report: AuditReport) -> Iterator[str]:
    since = time.strftime(" since %Y-%m-%d", time.gmtime(report.since)) if report.since else ""
    yield f"<h1>What your agents did{since}</h1>"
    yield '<dl class="stats">'
    found = sum(row.caught + row.suspicious for row in report.rules)
    caught = sum(row.caught for row in report.rules)
    stopped = amount(report.tokens_after_stop, report.money_after_stop)
    for name, value in (
        ("sessions", f"{report.sessions:,}"),
        ("calls", f"{report.calls:,}"),
        ("billed", amount(report.tokens, report.money)),
        ("caught", f"{caught:,}"),
        ("suspicious", f"{found - caught:,}"),
        ("after a guard would have stopped", stopped),
    ):
        yield f'<div class="stat"><dt>{name}</dt><dd>{_safe(value)}</dd></div>'
    yield "</dl>"
    yield (
        '<p class="muted">Caught: the act is in the transcript and its effect still in the tree or '
        "the history. Suspicious: there are only words or calls.</p>"
    )
    yield "<h2>What each rule found</h2>"
    yield _rules(report.rules)
    yield "<h2>Prevention</h2>"
    yield from _prevention(report, found)
    for title, rows in (
        ("Week by week", report.weeks),
        ("By project", report.projects),
        ("By model", report.models),
        ("By host", report.hosts),
    ):
        yield f"<h2>{title}</h2>"
        yield _sums(rows)
    yield "<h2>The worst ten</h2>"
    yield from map(_story, report.worst)
    if report.notes:
        yield "<h2>What could not be read</h2>"
        yield f"<ul>{''.join(f'<li>{_safe(note)}</li>' for note in report.notes[:50])}</ul>"


def _rules(rows: Sequence[RuleRow]) -> str:
    head = (
        "<tr><th>rule</th><th class=n>caught</th><th class=n>suspicious</th><th class=n>sessions"
        "</th><th class=n>work kept afterwards</th><th class=n>right on labelled sessions</th>"
        "<th>what prevents it</th></tr>"
    )
    lines = [
        f"<tr><td>{_safe(row.title)}</td><td class=n>{row.caught}</td>"
        f"<td class=n>{row.suspicious}</td><td class=n>{row.sessions}</td>"
        f"<td class=n>{_kept(row)}</td><td class=n>{_precision(row)}</td>"
        f"<td>{_safe(row.prevention)}</td></tr>"
        for row in rows
    ]
    return f'<div class="scroll"><table>{head}{"".join(lines)}</table></div>'


def _kept(row: RuleRow) -> str:
    return f"{row.kept} of {row.known}" if row.known else "–"


def _precision(row: RuleRow) -> str:
    return f"{row.precision:.0%}" if row.precision else "not measured"


def _prevention(report: AuditReport, found: int) -> Iterator[str]:
    prevented = sum(row.prevented for row in report.rules)
    hosts = ", ".join(report.governed) or "nothing yet"
    yield f"<p>Already prevented by what you have ({_safe(hosts)}): {prevented} of {found}.</p>"
    for command in report.advice:
        yield f"<p>Would be prevented by: <code>{_safe(command)}</code></p>"
    yield (
        '<p class="muted">Where the work was kept afterwards, the rule may have been wrong: nobody '
        "reverted the work that it would have stopped.</p>"
    )


def _sums(rows: Sequence[SumRow]) -> str:
    most = max((row.findings for row in rows), default=0) or 1
    head = (
        "<tr><th>name</th><th class=n>sessions</th><th class=n>findings</th><th class=wide></th>"
        "<th class=n>caught</th><th class=n>billed</th></tr>"
    )
    lines = [
        f"<tr><td>{_safe(row.name)}</td><td class=n>{row.sessions}</td>"
        f"<td class=n>{row.findings}</td>"
        f'<td class=wide><span class="bar" style="width:{100 * row.findings / most:.0f}%"></span>'
        f"</td><td class=n>{row.caught}</td><td class=n>{_safe(amount(row.tokens, row.money))}</td>"
        "</tr>"
        for row in rows
    ]
    return f'<div class="scroll"><table>{head}{"".join(lines)}</table></div>'


def _story(worst: WorstSession) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.gmtime(worst.began)) if worst.began else ""
    named = " ".join(filter(None, (worst.host, worst.model, when, worst.project)))
    asked = f"<p>asked: {_safe(worst.asked)}</p>" if worst.asked else ""
    lines = "".join(map(_line, worst.findings))
    spent = _safe(amount(worst.tokens, worst.money))
    return (
        f'<section class="story"><p><strong>{_safe(worst.session)}</strong> '
        f'<span class="muted">{_safe(named)}, {worst.calls} calls, {spent}</span></p>'
        f"{asked}<ul>{lines}</ul></section>"
    )


def _line(found: AuditFinding) -> str:
    tone = "s-failed" if found.degree == "caught" else "s-unverified"
    quote = f" <code>{_safe(found.quote)}</code>" if found.quote else ""
    detail = f' <span class="muted">{_safe(found.detail)}</span>' if found.detail else ""
    kept = ' <span class="tag">work kept</span>' if found.is_kept else ""
    return (
        f'<li>turn {found.turn} <span class="pill {tone}">{found.degree}</span> '
        f"{_safe(found.rule)}{quote}{detail}{kept}</li>"
    )


def _safe(text: str) -> str:
    """Escape text of a transcript, which may contain anything, for a page."""
    plain = "".join(char if char.isprintable() or char == "\n" else "�" for char in text)
    return html.escape(plain)
