"""Generate candidates for suspicious lines, probe them, and try them on the tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from flyball.repair import localise
from flyball.repair.inside.hot_swap import apply_edits
from flyball.repair.localise import Memo, clues_of, suspect_lines
from flyball.repair.ranking import chances
from flyball.repair.site import Candidate, Draft, Site, common_prefix
from flyball.repair.source import Source
from flyball.repair.spectrum import Sign, SuspectLine
from flyball.repair.templates import (
    calls,
    conditions,
    donors,
    forms,
    names,
    numbers,
    operators,
    scopes,
    statements,
)
from flyball.repair.trial import Line, ScratchCopy, run_program

HOLDS = "hold"
Ends = dict[int, str]
"""How each candidate ended, by its number."""


class SearchLimits(NamedTuple):
    """The limits of a search."""

    seconds: float | None
    """None: until every candidate was tried, however long that takes."""
    enough: int
    """So many that hold end it."""
    patience: float
    """After the first that holds, others are looked for in this part of the limit."""
    is_probe: bool = False
    """Whether tests far from those that fail are left out."""


class Tried(NamedTuple):
    """The result of a search."""

    ends: Ends
    was_ended: bool
    """Whether it ended early because the run is to pause."""


async def try_on_tests(
    stage: ScratchCopy,
    known: Memo,
    proposed: Sequence[Candidate],
    limits: SearchLimits,
    words: Callable[[Ends], str],
) -> Tried:
    """Try candidates in a scratch copy, in order; `words` report progress."""
    orders: dict[str, Any] = {
        "task": "try",
        "failing": list(known.failing),
        "near": [test.name for test in known.tests if test.end == "pass"],
        "cpu": {run.name: round(run.cpu, 3) for run in known.runs},
        "endless": [run.name for run in known.failing_runs if run.end == "time"],
        "slow": [run.name for run in known.runs if run.is_slow],
        "broken": list(known.broken),
        "candidates": [
            {"n": n, "path": each.path, "edits": each.edits} for n, each in enumerate(proposed)
        ],
        **limits._asdict(),
    }
    answer = await run_program(stage, orders, lambda lines: words(read_ends(len(proposed), lines)))
    return Tried(read_ends(len(proposed), answer.lines), answer.finished is None)


def read_ends(generated: int, lines: Sequence[Line]) -> Ends:
    """Return the last reported result of each candidate; tests may have written into the report."""
    ends: Ends = {}
    for line in lines:
        n, end = line.get("n"), line.get("end")
        # Lines are believed only as far as they make sense: the tests can write to the report, too.
        if isinstance(n, int) and isinstance(end, str) and 0 <= n < generated:
            ends[n] = end
    return ends


# What is likely is decided in `ranking`; here is only which templates there are.

MOST_SITES = 100
MOST_CANDIDATES = 12_000
AROUND = 200


class ChangeTemplate(NamedTuple):
    """A way to change a statement; its prior is in `ranking.MASS`."""

    name: str
    propose: Callable[[Site], Iterator[Draft]]


TEMPLATES: tuple[ChangeTemplate, ...] = (
    ChangeTemplate("comparison", operators.change_comparison),
    ChangeTemplate("arithmetic", operators.change_arithmetic),
    ChangeTemplate("augmented", operators.change_augmented),
    ChangeTemplate("boolean", operators.change_boolean),
    ChangeTemplate("negation", operators.negate),
    ChangeTemplate("sign", operators.change_sign),
    ChangeTemplate("operand order", operators.exchange_operands),
    ChangeTemplate("operand dropped", operators.drop_operand),
    ChangeTemplate("off by one", numbers.off_by_one),
    ChangeTemplate("adjustment", numbers.change_adjustment),
    ChangeTemplate("constant", numbers.change_constant),
    ChangeTemplate("format", numbers.change_format),
    ChangeTemplate("variable", names.change_variable),
    ChangeTemplate("variable for constant", names.variable_for_constant),
    ChangeTemplate("self", names.variable_to_attribute),
    ChangeTemplate("attribute", names.change_attribute),
    ChangeTemplate("callee", names.change_callee),
    ChangeTemplate("builtin", names.builtin_counterpart),
    ChangeTemplate("argument order", calls.argument_order),
    ChangeTemplate("argument count", calls.argument_count),
    ChangeTemplate("unwrap", calls.unwrap_call),
    ChangeTemplate("wrap", calls.wrap_in_call),
    ChangeTemplate("extreme", calls.extreme),
    ChangeTemplate("lookup", calls.lookup),
    ChangeTemplate("condition joined", conditions.join_condition),
    ChangeTemplate("condition replaced", conditions.replace_condition),
    ChangeTemplate("guard", conditions.add_guard),
    ChangeTemplate("only if", conditions.make_conditional),
    ChangeTemplate("statement added", statements.insert_statement),
    ChangeTemplate("returned", statements.return_value),
    ChangeTemplate("left out", statements.delete_statement),
    ChangeTemplate("moved", statements.move_statement),
    ChangeTemplate("dedented", statements.dedent_statement),
    ChangeTemplate("mutable default", statements.mutable_default),
    ChangeTemplate("default value", statements.default_value),
    ChangeTemplate("donor", donors.use_donor),
    ChangeTemplate("parallel", donors.use_parallel),
    ChangeTemplate("exchanged loops", donors.exchange_loops),
    ChangeTemplate("operand added", donors.add_operand),
    ChangeTemplate("slice", donors.change_slice),
    ChangeTemplate("container", donors.change_container),
    ChangeTemplate("iteration", donors.change_iteration),
    ChangeTemplate("brackets", forms.regroup),
    ChangeTemplate("call", forms.change_call),
    ChangeTemplate("order", forms.change_sort_key),
    ChangeTemplate("made anew", forms.create_each_time),
    ChangeTemplate("keyword", forms.change_keyword),
    ChangeTemplate("given back", forms.change_result),
    ChangeTemplate("unknown name", scopes.correct_unknown),
    ChangeTemplate("imported name", scopes.correct_import),
    ChangeTemplate("global", scopes.change_global),
    ChangeTemplate("declared", scopes.declare_name),
    ChangeTemplate("inherited", scopes.call_inherited),
)


def generate_candidates(
    sources: Mapping[str, Source],
    places: Sequence[SuspectLine],
    clues: frozenset[str] = frozenset(),
) -> list[Candidate]:
    """Return every candidate at the most suspicious places, likeliest first, without duplicates."""
    every = [each for site in suspect_sites(sources, places, clues) for each in candidates_at(site)]
    every.sort(key=lambda each: -each.chance)
    found: dict[tuple[str, tuple[int, int, bytes]], Candidate] = {}
    for each in every:
        # Several templates arrive at the same text; the likeliest of them stands for it, since all
        # are sorted.
        essence = _essential_edit(sources[each.path], each)
        if essence[1] or essence[2]:
            found.setdefault((each.path, essence), each)
        if len(found) == MOST_CANDIDATES:
            break
    return list(found.values())


def suspect_sites(
    sources: Mapping[str, Source], places: Iterable[SuspectLine], clues: frozenset[str]
) -> list[Site]:
    """Return the statements at suspicious lines, each once, with the highest score of its lines."""
    found: dict[tuple[str, int, int], Site] = {}
    for place in places:
        source = sources.get(place.path)
        node = source.statement_at(place.line) if source else None
        if source is None or node is None:
            continue
        key = (place.path, node.lineno, node.col_offset)
        if key not in found:
            found[key] = Site(source, node, place.score, clues)
    return list(found.values())[:MOST_SITES]


def candidates_at(site: Site) -> Iterator[Candidate]:
    """Yield what each template proposes at one place, with its chance of being right."""
    for template in TEMPLATES:
        drafts = [draft for draft in template.propose(site) if draft.edits and draft.weight > 0]
        weights = [draft.weight for draft in drafts]
        likely = chances(template.name, weights, site.score, site.clues)
        for draft, chance in zip(drafts, likely, strict=True):
            yield Candidate(
                site.source.path, site.node.lineno, template.name, draft.label, draft.edits, chance
            )


def _essential_edit(source: Source, candidate: Candidate) -> tuple[int, int, bytes]:
    """Return the single edit that a candidate amounts to, however it was produced."""
    start = min(edit.start for edit in candidate.edits)
    end = max(edit.end for edit in candidate.edits)
    # Only the surroundings are compared: whole files, twelve thousand times, would take seconds.
    low, high = max(0, start - AROUND), min(len(source.data), end + AROUND)
    inner = [edit._replace(start=edit.start - low, end=edit.end - low) for edit in candidate.edits]
    old = source.data[low:high]
    new = apply_edits(old, inner)
    first = common_prefix(old, new)
    old, new = old[first:], new[first:]
    last = common_prefix(old[::-1], new[::-1])
    return low + first, len(old) - last, new[: len(new) - last]


ENOUGH_KNOWN = 10
"""With so few suspicious lines there is nothing to distinguish."""
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
    """Return the known results, with those of a few changes at each of the most suspicious
    lines."""
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
    localise.keep(stage.context, found)
    return found


def choose_probes(
    sources: Mapping[str, Source], places: Sequence[SuspectLine], clues: frozenset[str]
) -> list[Candidate]:
    """Return the likeliest changes at each place, the likeliest of all first."""
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
    """Return the statements where a change helped, where in them, and how much weight that has."""
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
