"""Candidates for the suspicious lines: `generate_candidates` asks every template, likeliest first.

What is likely is decided in `ranking`; here is only which templates there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from flyball.tools.repair.code.candidate import Candidate, Draft, common_prefix
from flyball.tools.repair.code.site import Site
from flyball.tools.repair.code.source import Source
from flyball.tools.repair.inside.hot_swap import apply_edits
from flyball.tools.repair.locate.spectrum import SuspectLine
from flyball.tools.repair.search.ranking import chances
from flyball.tools.repair.templates import (
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

MOST_SITES = 100
MOST_CANDIDATES = 12_000
AROUND = 200


class ChangeTemplate(NamedTuple):
    """A way to change a statement; how often it is the right one is said in `ranking.MASS`."""

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
    ChangeTemplate("builtin", names.builtin_twin),
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
    ChangeTemplate("made anew", forms.make_anew),
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
    """Every candidate at the most suspicious places, the likeliest first, none twice."""
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
    """The statements at suspicious lines, each once, with the highest score of its lines."""
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
    """What each template proposes at one place, with its chance of being right."""
    for template in TEMPLATES:
        drafts = [draft for draft in template.propose(site) if draft.edits and draft.weight > 0]
        weights = [draft.weight for draft in drafts]
        likely = chances(template.name, weights, site.score, site.clues)
        for draft, chance in zip(drafts, likely, strict=True):
            yield Candidate(
                site.source.path, site.node.lineno, template.name, draft.label, draft.edits, chance
            )


def _essential_edit(source: Source, candidate: Candidate) -> tuple[int, int, bytes]:
    """The one edit that a candidate comes to, whatever way it came about."""
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
