"""`visual_qa`: take a picture of a page, and report obvious faults in it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Annotated

import msgspec

from flyball.guards.fingerprint import without_volatile_parts
from flyball.terms.call import Access
from flyball.terms.evidence import VisualReport
from flyball.terms.evidence_rows import percent
from flyball.tools.call.protocol import (
    CallContext,
    CallFacts,
    Form,
    PictureOpinion,
    Result,
    Text,
    Tool,
)
from flyball.tools.http_probe import require_served
from flyball.tools.pages.browser import HEIGHT, WIDTH, PageLook, keep_picture, open_page
from flyball.tools.pages.serving import serve

UNJUDGED = (
    "Not judged by a model: only a blank page, error overlays, missing styles and images, overflow "
    "and faint text were looked for."
)
SIZES = {"desktop": (WIDTH, HEIGHT), "tablet": (820, 1180), "phone": (390, 844)}
_SIZE = "^(desktop|tablet|phone|[1-9][0-9]{2,3}x[1-9][0-9]{2,3})$"


class VisualForm(Form, frozen=True, kw_only=True):
    """A page of this run's server, how it should look, and the size in which it is rendered."""

    url: Text
    expectation: Text
    viewport: Annotated[str, msgspec.Meta(pattern=_SIZE)] = "desktop"
    seconds: Annotated[float, msgspec.Meta(gt=0, le=120)] = 20.0

    def __post_init__(self) -> None:
        require_served(self.url)

    @property
    def size(self) -> tuple[int, int]:
        """Return width and height in pixels."""
        if found := SIZES.get(self.viewport):
            return found
        width, _, height = self.viewport.partition("x")
        return int(width), int(height)


def facts(_form: VisualForm, _context: CallContext) -> CallFacts:
    return CallFacts(access=Access.VERIFY)


async def perform(form: VisualForm, context: CallContext) -> Result:
    served = await serve(form.url, context)
    began = time.monotonic()
    seen = await open_page(served, context, seconds=form.seconds, size=form.size)
    faults = tuple(plain_faults(seen))
    kept = keep_picture(seen, context)
    opinion = await ask_model(seen, form.expectation, context)
    is_against = opinion.is_right is False
    report = VisualReport(
        id=context.evidence_id(),
        tree=context.tree,
        elapsed=round(time.monotonic() - began, 3),
        url=served.url,
        expectation=form.expectation,
        # A model's yes adds to the other findings and removes none.
        ok=not faults and not is_against,
        note="; ".join((*faults, *([opinion.reason] if is_against else ()))),
        own=True,
        picture=kept.path,
        judged_by="" if opinion.is_right is None else opinion.model,
        opinion=opinion.reason,
        usage=opinion.usage,
        change=kept.change,
    )
    lines = [f"[{served.note}]"] if served.note else []
    if report.picture:
        lines.append(f"A picture of {served.url} is kept as {report.picture}.")
    lines += [f"Plainly wrong: {fault}." for fault in faults] or ["Nothing is plainly wrong."]
    if report.change:
        lines.append(f"{percent(report.change.share)} of it differs from {report.change.before}.")
    text = "\n".join((*lines, opinion_text(opinion)))
    return Result(
        report.ok,
        text,
        {
            "url": served.url,
            "picture": report.picture,
            "faults": list(faults),
            "judged": bool(report.judged_by),
        },
        error=report.note,
        evidence=(report,),
        same=without_volatile_parts(text),
    )


async def ask_model(seen: PageLook, expectation: str, context: CallContext) -> PictureOpinion:
    """Return a vision model's opinion of the picture; empty without a model or expectation."""
    if context.eyes is None or not seen.picture:
        return PictureOpinion()
    return await context.eyes(seen.picture, expectation)


def opinion_text(opinion: PictureOpinion) -> str:
    """Describe who judged the picture and how, or that it was not judged."""
    if opinion.is_right is not None:
        answer = "yes" if opinion.is_right else "no"
        return f"{opinion.model}, asked whether it shows what was expected, says {answer}: " + (
            opinion.reason or "it gave no reason"
        )
    return f"{UNJUDGED} {opinion.reason}".rstrip()


def plain_faults(seen: PageLook) -> Iterator[str]:
    """Yield faults of a page that are certain whatever its design."""
    found = seen.facts
    if seen.trouble:
        yield seen.trouble
    if seen.status >= 400:
        yield f"the page answered {seen.status}"
    if found.blank:
        yield "the page is blank"
    if found.overlay:
        yield f"an error overlay covers the page ({found.overlay[0]})"
    if found.unstyled:
        yield "its style sheets hold no rules, so it is unstyled"
    if found.overflow > 1:
        yield f"it is {found.overflow:g} pixels wider than the window"
    if found.missing:
        yield f"pictures are missing: {', '.join(found.missing[:3])}"
    if found.pale:
        yield f"text is too faint to read: {', '.join(found.pale[:3])}"


VISUAL_QA = Tool(
    "visual_qa",
    "Take a picture of a page of this run's server and say what is plainly wrong with it; "
    "`viewport` is desktop, tablet, phone or WIDTHxHEIGHT.",
    VisualForm,
    facts,
    perform,
    example={"url": "/", "expectation": "the cart is listed below the header"},
)
