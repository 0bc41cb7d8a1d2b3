"""`localise_faults`: run every test separately to find lines that only failing ones run."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Annotated

import msgspec

from flyball.repair import script_search
from flyball.repair.localise import (
    Memo,
    Once,
    files_of_failing,
    sources_of,
    suspect_lines,
    trace_tests,
)
from flyball.repair.script_source import ScriptSource
from flyball.repair.search import probe
from flyball.repair.source import Source
from flyball.repair.spectrum import SuspectLine
from flyball.repair.trial import ScratchCopy, interrupted_result, scratch_copy
from flyball.terms.call import Access
from flyball.terms.evidence import FailedTest, SuiteReport
from flyball.terms.finding import Suspect, SuspectLines
from flyball.tools.call.protocol import CallContext, CallFacts, Form, Result, Tool, bounded

SHOWN_FAILURES = 5
SHOWN_PLACES = 20
KEPT_FAILURES = 50
IDLE = 0.1
"""A test that used less CPU time than this and did not end was waiting."""
LEAST_PROBING = 0.2
"""The minimum share of the time for trying a few changes, even if it is used up."""


class LocaliseForm(Form, frozen=True, kw_only=True):
    """The time limit."""

    seconds: Annotated[float, msgspec.Meta(gt=0, le=600)] = 60.0


def facts(_form: LocaliseForm, _context: CallContext) -> CallFacts:
    return CallFacts(access=Access.VERIFY)


async def perform(form: LocaliseForm, context: CallContext) -> Result:
    began = time.monotonic()
    seconds = None if context.settings.candidates else form.seconds
    with scratch_copy(context) as stage:
        if stage.is_script:
            return await _of_scripts(stage, seconds, context)
        known = await trace_tests(stage, seconds)
        if known is None:
            return interrupted_result("localise_faults")
        sources = sources_of(stage.context.root.path, files_of_failing(known))
        if seconds is not None:
            seconds = max(seconds - (time.monotonic() - began), seconds * LEAST_PROBING)
        known = await probe(stage, known, sources, seconds)
    report = _report(known, context, time.monotonic() - began)
    return _result(report, suspect_lines(known, sources), sources, context)


async def _of_scripts(stage: ScratchCopy, seconds: float | None, context: CallContext) -> Result:
    began = time.monotonic()
    known = await script_search.watch(stage, seconds)
    sources = script_search.scripts_of(stage.context.root.path)
    report = _report(known, context, time.monotonic() - began)
    places = script_search.suspects(known, sources) if report.failed else []
    return _result(report, places, sources, context)


def _report(known: Memo, context: CallContext, elapsed: float) -> SuiteReport:
    failures = [FailedTest(name, why.strip()[-1500:]) for name, why in known.broken.items()]
    failures += [FailedTest(run.name, _why(run)) for run in known.runs if run.has_failed]
    passed = sum(run.end == "pass" for run in known.runs)
    missed = known.count - sum(not run.is_slow for run in known.runs)
    return SuiteReport(
        id=context.evidence_id(),
        tree=context.tree,
        elapsed=round(elapsed, 3),
        runner=known.runner,
        command=f"{known.runner}, test by test",
        exit_code=0 if passed and not failures and not missed else 1,
        passed=passed,
        failed=len(failures),
        skipped=sum(run.end == "skip" for run in known.runs),
        failures=tuple(failures[:KEPT_FAILURES]),
        reason=f"there was not enough time for {missed} of {known.count} tests" if missed else "",
    )


def _why(run: Once) -> str:
    """Return the end of a traceback, the most useful part; a timeout has none."""
    if run.end == "time":
        how = f"in {run.cpu:.1f} s of computing" if run.cpu >= IDLE else "and was waiting"
        return f"It did not end {how}.\n{run.why.strip()}"
    return run.why.strip() or run.end


def _result(
    report: SuiteReport,
    places: Sequence[SuspectLine],
    sources: Mapping[str, Source | ScriptSource],
    context: CallContext,
) -> Result:
    end = f"(exit {report.exit_code}, {report.elapsed:.1f} s)"
    lines = [f"{report.command}: {report.passed} passed, {report.failed} failed {end}"]
    lines += [f"Note: {report.reason}."] if report.reason else []
    for each in report.failures[:SHOWN_FAILURES]:
        lines.append(f"FAILED {each.name}\n{each.message}")
    if others := report.failures[SHOWN_FAILURES:]:
        lines += ["Also failing:", *(f"  {each.name}" for each in others)]
    suspects = tuple(_suspect(each, sources[each.path]) for each in places[:SHOWN_PLACES])
    if suspects:
        lines.append("Suspicious lines, the most suspicious first:")
        lines += [f"{each.score:.2f}  {each.path}:{each.line}  {each.text}" for each in suspects]
    elif report.failed:
        lines.append("No line of the project outside its tests is run by a failing test.")
    text, cut = bounded("\n".join(lines), context.settings.max_text)
    data: dict[str, object] = {
        "runner": report.runner,
        "passed": report.passed,
        "failed": report.failed,
        "failures": [each.name for each in report.failures],
        "places": [[place.path, place.line, round(place.score, 3)] for place in places],
    }
    return Result(
        report.is_green,
        text,
        data,
        evidence=(report,),
        cut=cut,
        same=[data["failures"], data["places"]],
        error="" if report.is_green else f"{report.failed} tests fail",
        finding=SuspectLines(lines=suspects),
    )


def _suspect(place: SuspectLine, source: Source | ScriptSource) -> Suspect:
    text = source.line_text(place.line).strip()
    return Suspect(place.path, place.line, place.score, text)


LOCALISE_FAULTS = Tool(
    "localise_faults",
    "Find the Python or JavaScript lines that failing tests point to.",
    LocaliseForm,
    facts,
    perform,
    example={"seconds": 30},
)
