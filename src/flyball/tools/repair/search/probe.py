"""Trying a few changes at each suspicious line: where one makes failing tests pass, look there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from flyball.tools.repair.code.candidate import Candidate
from flyball.tools.repair.code.source import Source
from flyball.tools.repair.locate import memo
from flyball.tools.repair.locate.localise import clues_of, suspect_lines
from flyball.tools.repair.locate.memo import Memo
from flyball.tools.repair.locate.spectrum import Sign, SuspectLine
from flyball.tools.repair.outside.trial import ScratchCopy
from flyball.tools.repair.search.generate import generate_candidates
from flyball.tools.repair.search.search import HOLDS, Ends, SearchLimits, try_on_tests

ENOUGH_KNOWN = 10
"""With so few suspicious lines there is nothing to tell apart."""
LEAST_SECONDS = 2.0
"""Less than this goes into starting."""
PLACES, EACH = 100, 10
SIGNS: Mapping[str, float] = {HOLDS: 1.0, "promising": 0.5, "broke": 0.25}
"""How much more suspicious a line is for what became of a change there."""
REFUTED = frozenset({"fail", "broke", "broken", "crash"})
"""How changes end that need not be tried again."""


async def probe(
    stage: ScratchCopy, known: Memo, sources: dict[str, Source], seconds: float | None
) -> Memo:
    """What is known, with what a few changes at each of the most suspicious lines have shown."""
    places = suspect_lines(known, sources)
    # Many lines that the same tests run have the same score. A change that makes a failing test
    # pass tells them apart, even if it is not yet the right one.
    is_too_late = seconds is not None and seconds < LEAST_SECONDS
    if len(places) <= ENOUGH_KNOWN or known.broken or is_too_late:
        return known
    proposed = choose_probes(sources, places, clues_of(known))[: stage.context.settings.candidates]
    limits = SearchLimits(seconds, len(proposed), patience=1.0, is_probe=True)
    tried = await try_on_tests(stage, known, proposed, limits, _progress)
    bad = [proposed[n] for n, end in tried.ends.items() if end in REFUTED]
    found = msgspec.structs.replace(
        known,
        signs=read_signs(sources, proposed, tried.ends),
        # What was refuted here need not be tried again by the search that follows.
        refuted=tuple((each.path, each.edits) for each in bad),
    )
    memo.keep(stage.context, found)
    return found


def choose_probes(
    sources: Mapping[str, Source], places: Sequence[SuspectLine], clues: frozenset[str]
) -> list[Candidate]:
    """The likeliest changes at each place, the likeliest of all first."""
    taken: Counter[tuple[str, int]] = Counter()
    found: list[Candidate] = []
    for each in generate_candidates(sources, places[:PLACES], clues):
        # A few at each line, not the best of all: the point is to ask every line.
        taken[each.path, each.line] += 1
        if taken[each.path, each.line] <= EACH:
            found.append(each)
    return found


def read_signs(
    sources: Mapping[str, Source], proposed: Sequence[Candidate], ends: Ends
) -> tuple[Sign, ...]:
    """The statements at which a change did some good, where in them, and how much that says."""
    best: dict[tuple[str, int], Sign] = {}
    for n in sorted(ends):
        each, score = proposed[n], SIGNS.get(ends[n], 0.0)
        known = best.get((each.path, each.line))
        if score > (known.score if known else 0.0):
            at = max(each.line, sources[each.path].line_at(each.edits[0].start))
            best[each.path, each.line] = Sign(each.path, each.line, score, at)
    return tuple(best.values())


def _progress(ends: Ends) -> str:
    return f"{len(ends)} changes tried to see where one matters" if ends else ""
