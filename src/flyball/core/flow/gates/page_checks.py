"""Check what the change shows: an HTTP answer, a console, a picture."""

from __future__ import annotations

from typing import Annotated

import msgspec

from flyball.core.flow.gates.suite_checks import Parameters, last_look, no_look
from flyball.core.flow.gates.verdict import Case, Failed, Passed, Verdict
from flyball.core.terms.evidence import ConsoleReport, HttpReport, VisualReport
from flyball.core.terms.shape import listed
from flyball.regex import regex

_ORIGIN = regex(r"^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*")


class Address(Parameters, frozen=True):
    """The address that counts, in full or as a path that begins with `/`; default: any."""

    url: str = ""

    def names(self, url: str) -> bool:
        if self.url.startswith("/"):
            return (_ORIGIN.sub("", url).partition("?")[0].partition("#")[0] or "/") == self.url
        return self.url in ("", url)


class HttpExpectation(Address, frozen=True):
    """The address that must answer, and how; without a status, any success."""

    status: Annotated[int, msgspec.Meta(ge=100, le=599)] | None = None


def http_ok(case: Case, wanted: HttpExpectation) -> Verdict:
    """The address answers as expected."""
    report = last_look(case, HttpReport, lambda item: wanted.names(item.url))
    if report is None:
        return no_look(case, HttpReport, f"no request was made to {wanted.url or 'its address'}")
    if report.error:
        return Failed(f"{report.url} did not answer: {report.error}.")
    good = report.status == wanted.status if wanted.status else 200 <= report.status < 400
    if not good:
        expected = f", not {wanted.status}" if wanted.status else ""
        return Failed(f"{report.url} answered {report.status}{expected}.")
    return Passed(f"{report.url} answered {report.status}.")


def console_clean(case: Case, wanted: Address) -> Verdict:
    """The page wrote no error to its console and every request succeeded."""
    report = last_look(case, ConsoleReport, lambda item: wanted.names(item.url))
    if report is None:
        return no_look(case, ConsoleReport, f"no browser has opened {wanted.url or 'the page'}")
    troubles = (*report.errors, *report.failed_requests)
    if troubles:
        return Failed(f"{report.url} reports {len(troubles)} errors: {listed(troubles, 1)}.")
    return Passed(f"The console of {report.url} is clean.")


class PictureExpectation(Address, frozen=True):
    """The page that must look as expected; without an expectation, any judged one."""

    expectation: str = ""


def visual_ok(case: Case, wanted: PictureExpectation) -> Verdict:
    """The page looks as expected."""

    def fits(item: VisualReport) -> bool:
        return wanted.names(item.url) and wanted.expectation in ("", item.expectation)

    report = last_look(case, VisualReport, fits)
    if report is None:
        return no_look(case, VisualReport, f"no picture was taken of {wanted.url or 'the page'}")
    if not report.ok:
        note = f": {report.note}" if report.note else ""
        return Failed(f"{report.url} does not look as expected{note}.")
    if report.is_unjudged:
        return Passed(f"Nothing is obviously wrong with {report.url}; no model judged its look.")
    judge = f", says {report.judged_by}" if report.judged_by else ""
    return Passed(f"{report.url} looks as expected{judge}.")
