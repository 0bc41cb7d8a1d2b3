"""`browser_console`: open a page of this run's server in Chromium and return its messages."""

from __future__ import annotations

import time
from typing import Annotated

import msgspec

from flyball.guards.fingerprint import without_volatile_parts
from flyball.terms.call import Access
from flyball.terms.evidence import ConsoleReport
from flyball.tools.call.protocol import (
    CallContext,
    CallFacts,
    Form,
    Result,
    Text,
    Tool,
    bounded,
)
from flyball.tools.http_probe import require_served
from flyball.tools.pages.browser import PageLook, keep_picture, open_page
from flyball.tools.pages.serving import Served, serve

KEPT = 50
SHOWN_TEXT = 1_500


class ConsoleForm(Form, frozen=True, kw_only=True):
    """The URL or path on a server of this run, and how long the page may take."""

    url: Text = "/"
    seconds: Annotated[float, msgspec.Meta(gt=0, le=120)] = 20.0

    def __post_init__(self) -> None:
        require_served(self.url)


def facts(_form: ConsoleForm, _context: CallContext) -> CallFacts:
    return CallFacts(access=Access.VERIFY)


async def perform(form: ConsoleForm, context: CallContext) -> Result:
    served = await serve(form.url, context)
    began = time.monotonic()
    seen = await open_page(served, context, seconds=form.seconds)
    report = console_report(served, seen, context, time.monotonic() - began)
    text, cut = bounded("\n".join(lines_of(served, seen)), context.settings.max_text)
    data: dict[str, object] = {
        "url": seen.final,
        "title": seen.facts.title,
        "status": seen.status,
        "errors": list(report.errors),
        "failed_requests": list(report.failed_requests),
        "blank": seen.facts.blank,
        "picture": report.picture,
    }
    troubles = (*report.errors, *report.failed_requests)
    return Result(
        not troubles,
        text,
        data,
        error="\n".join(troubles[:5]),
        evidence=(report,),
        same=without_volatile_parts(text),
        cut=cut,
    )


def console_report(
    served: Served, seen: PageLook, context: CallContext, elapsed: float, n: int = 1
) -> ConsoleReport:
    """Return a page's messages and failed requests, as evidence about the current tree."""
    kept = keep_picture(seen, context)
    return ConsoleReport(
        id=context.evidence_id(n),
        tree=context.tree,
        elapsed=round(elapsed, 3),
        url=served.url,
        errors=seen.console_errors[:KEPT],
        failed_requests=seen.failed[:KEPT],
        own=True,
        picture=kept.path,
        change=kept.change,
    )


def lines_of(served: Served, seen: PageLook) -> list[str]:
    """Return the result for a driver: problems first, then what the page shows."""
    lines = [f"[{served.note}]"] if served.note else []
    moved = (
        f", which led to {seen.final}" if seen.final.rstrip("/") != served.url.rstrip("/") else ""
    )
    title = f" Title: {seen.facts.title}." if seen.facts.title else ""
    answered = f"answered {seen.status}" if seen.status else "did not answer with a page"
    lines.append(f"{served.url} {answered}{moved}.{title}")
    if seen.trouble:
        lines.append(f"Not loaded whole: {seen.trouble}.")
    elif not seen.is_quiet:
        lines.append("The page was still loading when the time was up.")
    lines += _listed("Uncaught errors", seen.errors)
    lines += _listed("Console", [f"{m.type}: {m.text} ({m.where})" for m in seen.messages])
    lines += _listed("Failed requests", seen.failed)
    lines += _listed("Not asked, because it is outside this run's servers", seen.outside)
    if not (seen.console_errors or seen.failed):
        lines.append("The console is clean.")
    if seen.facts.overlay:
        lines.append(f"An error overlay covers the page. {seen.facts.overlay_text}".rstrip())
    if seen.facts.blank:
        lines.append("The page is blank: it shows neither text nor pictures.")
    elif not seen.picture:
        lines.append("What the page shows could not be seen.")
    else:
        lines.append(f"The page shows:\n{seen.facts.text[:SHOWN_TEXT]}")
    return lines


def _listed(head: str, lines: tuple[str, ...] | list[str]) -> list[str]:
    return [f"{head}:", *(f"- {line}" for line in lines[:KEPT])] if lines else []


BROWSER_CONSOLE = Tool(
    "browser_console",
    "Open a page of this run's server in a browser: console, uncaught errors with their places, "
    "failed requests, title and visible text. A path means the project's own server.",
    ConsoleForm,
    facts,
    perform,
    example={"url": "/"},
)
