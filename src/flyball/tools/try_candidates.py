"""`try_candidates`: try small changes at suspicious lines on the tests, in a scratch copy."""

from __future__ import annotations

import time
from functools import partial
from typing import Annotated, NamedTuple

import msgspec

from flyball.repair import localise, script_search
from flyball.repair.localise import (
    Memo,
    clues_of,
    files_of_failing,
    sources_of,
    suspect_lines,
    trace_tests,
)
from flyball.repair.ranking import Survivor, rank
from flyball.repair.search import (
    HOLDS,
    MOST_CANDIDATES,
    Ends,
    SearchLimits,
    generate_candidates,
    read_ends,
    try_on_tests,
)
from flyball.repair.source import Source
from flyball.repair.spectrum import count_passing
from flyball.repair.trial import ScratchCopy, interrupted_result, scratch_copy
from flyball.terms.call import Access
from flyball.terms.evidence import CommandReport
from flyball.terms.finding import CandidateSearch, HoldingChange
from flyball.tools.call.protocol import CallContext, CallFacts, Form, Result, Tool

SHOWN = 6
ENOUGH = 20
PATIENCE = 0.1
LEAST_PATIENCE = 3.0
"""After the first success, others are searched for this share of the time, or this long."""


class TryForm(Form, frozen=True, kw_only=True):
    """The time limit."""

    seconds: Annotated[float, msgspec.Meta(gt=0, le=3600)] = 60.0


class SearchResult(NamedTuple):
    """The result of a search."""

    generated: int
    tried: int
    survivors: tuple[Survivor, ...]
    elapsed: float
    was_ended: bool
    """Whether it was ended early because the run is pausing."""
    is_limited: bool
    """Whether as many candidates were generated as ever are: there may be more."""


def facts(_form: TryForm, _context: CallContext) -> CallFacts:
    return CallFacts(access=Access.VERIFY)


async def perform(form: TryForm, context: CallContext) -> Result:
    began = time.monotonic()
    is_timed = not context.settings.candidates
    with scratch_copy(context) as stage:
        known = localise.recall(context)
        if stage.is_script:
            found = await _search_scripts(stage, known, form.seconds)
            return _ended(found, context, began)
        if known is None or not known.tests:
            known = await trace_tests(stage, form.seconds / 3 if is_timed else None)
        if known is None:
            return interrupted_result("try_candidates")
        left = max(1.0, form.seconds - (time.monotonic() - began)) if is_timed else None
        sources = sources_of(stage.context.root.path, files_of_failing(known))
        found = await _search(stage, known, sources, left)
    return _ended(found, context, began)


def _ended(found: SearchResult, context: CallContext, began: float) -> Result:
    if found.was_ended and not found.survivors:
        return interrupted_result("try_candidates")
    return _result(found._replace(elapsed=time.monotonic() - began), context)


async def _search_scripts(stage: ScratchCopy, known: Memo | None, seconds: float) -> SearchResult:
    began = time.monotonic()
    known = known or await script_search.watch(stage, seconds / 3)
    sources = script_search.scripts_of(stage.context.root.path)
    every = script_search.candidates(known, sources)
    proposed = every[: stage.context.settings.candidates]
    left = max(1.0, seconds - (time.monotonic() - began))
    patience = max(left * PATIENCE, LEAST_PATIENCE)
    ends, was_ended = await script_search.try_on_suite(
        stage,
        known,
        proposed,
        sources,
        (left, patience, ENOUGH),
        lambda lines: _so_far(len(proposed), read_ends(len(proposed), lines)),
    )
    survivors = script_search.rank(script_search.holding_of(proposed, ends), sources)
    is_limited = len(every) == script_search.MOST_CANDIDATES
    return SearchResult(len(every), len(ends), tuple(survivors), 0.0, was_ended, is_limited)


async def _search(
    stage: ScratchCopy, known: Memo, sources: dict[str, Source], seconds: float | None
) -> SearchResult:
    every = generate_candidates(sources, suspect_lines(known, sources), clues_of(known))
    refuted = set(known.refuted)
    proposed = [each for each in every if (each.path, each.edits) not in refuted]
    before = len(every) - len(proposed)
    proposed = proposed[: stage.context.settings.candidates]
    patience = PATIENCE if seconds is None else max(PATIENCE, LEAST_PATIENCE / seconds)
    limits = SearchLimits(seconds, ENOUGH, patience)
    tried = await try_on_tests(stage, known, proposed, limits, partial(_so_far, len(proposed)))
    holding = [proposed[n] for n in sorted(tried.ends) if tried.ends[n] == HOLDS]
    survivors = rank(holding, sources, count_passing(known.tests))
    return SearchResult(
        len(every),
        before + len(tried.ends),
        tuple(survivors),
        0.0,
        tried.was_ended,
        len(every) == MOST_CANDIDATES,
    )


def _so_far(generated: int, ends: Ends) -> str:
    holding = list(ends.values()).count(HOLDS)
    return f"{len(ends)} of {generated} candidates tried, {holding} make every test pass"


def _result(found: SearchResult, context: CallContext) -> Result:
    most = ", the most that are made," if found.is_limited else ""
    head = (
        f"Tried {found.tried} of {found.generated} candidates{most} in {found.elapsed:.1f} s: "
        f"{len(found.survivors)} make every test pass."
    )
    lines = [head]
    lines += ["The search was ended early: the run is to rest."] if found.was_ended else []
    shown = found.survivors[:SHOWN]
    for n, each in enumerate(shown, 1):
        lines.append(f"{n}. {each.path}:{each.line} {each.template}: {each.label}")
        lines.append(f"```diff\n{each.diff}```")
    text = "\n".join(lines)
    report = CommandReport(
        id=context.evidence_id(),
        tree=context.tree,
        elapsed=round(found.elapsed, 3),
        command=f"try_candidates ({found.tried} tried, {len(found.survivors)} hold)",
        exit_code=0 if found.survivors else 1,
    )
    data: dict[str, object] = {"tried": found.tried, "holding": len(found.survivors)}
    finding = CandidateSearch(
        tried=found.tried,
        generated=found.generated,
        elapsed=round(found.elapsed, 3),
        is_limited=found.is_limited,
        holding=tuple(
            HoldingChange(each.path, each.line, each.template, each.label, each.diff)
            for each in shown
        ),
    )
    return Result(bool(found.survivors), text, data, evidence=(report,), finding=finding)


TRY_CANDIDATES = Tool(
    "try_candidates",
    "Search for a small Python or JavaScript change under which the failing tests pass.",
    TryForm,
    facts,
    perform,
    example={"seconds": 60},
)
