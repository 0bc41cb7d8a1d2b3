"""Candidates, the likeliest first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from flyball.tools.repair.code.site import Site
from flyball.tools.repair.code.source import Source
from flyball.tools.repair.inside.hot_swap import edited
from flyball.tools.repair.locate.clues import favour
from flyball.tools.repair.locate.spectrum import SuspectLine
from flyball.tools.repair.search.candidate import Candidate, Draft, shared
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
SPREAD = 0.75
"""How strongly many proposals of one template at one place share its mass."""


class ChangeTemplate(NamedTuple):
    """A way to change a statement, and how often such a change is the right one."""

    name: str
    mass: float
    propose: Callable[[Site], Iterator[Draft]]


TEMPLATES: tuple[ChangeTemplate, ...] = (
    ChangeTemplate("comparison", 10, operators.comparison),
    ChangeTemplate("arithmetic", 7, operators.arithmetic),
    ChangeTemplate("augmented", 5, operators.augmented),
    ChangeTemplate("boolean", 6, operators.boolean),
    ChangeTemplate("negation", 6, operators.negation),
    ChangeTemplate("sign", 2, operators.sign),
    ChangeTemplate("operand order", 6, operators.operand_order),
    ChangeTemplate("operand dropped", 4, operators.operand_dropped),
    ChangeTemplate("off by one", 10, numbers.off_by_one),
    ChangeTemplate("adjustment", 8, numbers.adjustment),
    ChangeTemplate("constant", 6, numbers.constant),
    ChangeTemplate("format", 2, numbers.formatted),
    ChangeTemplate("variable", 12, names.variable),
    ChangeTemplate("variable for constant", 4, names.variable_for_constant),
    ChangeTemplate("self", 6, names.variable_to_attribute),
    ChangeTemplate("attribute", 6, names.attribute),
    ChangeTemplate("callee", 6, names.callee),
    ChangeTemplate("builtin", 3, names.builtin_twin),
    ChangeTemplate("argument order", 7, calls.argument_order),
    ChangeTemplate("argument count", 4, calls.argument_count),
    ChangeTemplate("unwrap", 3, calls.unwrap),
    ChangeTemplate("wrap", 2.5, calls.wrap),
    ChangeTemplate("extreme", 3, calls.extreme),
    ChangeTemplate("lookup", 3, calls.lookup),
    ChangeTemplate("condition joined", 5, conditions.joined),
    ChangeTemplate("condition replaced", 2.5, conditions.replaced),
    ChangeTemplate("guard", 3, conditions.guard),
    ChangeTemplate("only if", 2.5, conditions.conditional),
    ChangeTemplate("statement added", 4, statements.inserted),
    ChangeTemplate("returned", 4, statements.returned),
    ChangeTemplate("left out", 2, statements.deleted),
    ChangeTemplate("moved", 3, statements.moved),
    ChangeTemplate("dedented", 3, statements.dedented),
    ChangeTemplate("mutable default", 12, statements.mutable_default),
    ChangeTemplate("default value", 2, statements.default_value),
    ChangeTemplate("donor", 4, donors.donor),
    ChangeTemplate("parallel", 5, donors.parallel),
    ChangeTemplate("exchanged loops", 3, donors.exchanged_loops),
    ChangeTemplate("operand added", 3, donors.operand_added),
    ChangeTemplate("slice", 4, donors.slices),
    ChangeTemplate("container", 4, donors.container),
    ChangeTemplate("iteration", 4, donors.comprehension),
    ChangeTemplate("brackets", 4, forms.regrouped),
    ChangeTemplate("call", 3, forms.called),
    ChangeTemplate("order", 2, forms.sort_key),
    ChangeTemplate("made anew", 4, forms.anew),
    ChangeTemplate("keyword", 3, forms.keyword),
    ChangeTemplate("given back", 3, forms.given_back),
    ChangeTemplate("unknown name", 12, scopes.unknown),
    ChangeTemplate("imported name", 12, scopes.imported),
    ChangeTemplate("global", 4, scopes.other_global),
    ChangeTemplate("declared", 3, scopes.declared),
    ChangeTemplate("inherited", 3, scopes.inherited),
)


def candidates(
    sources: Mapping[str, Source],
    places: Sequence[SuspectLine],
    clues: frozenset[str] = frozenset(),
) -> list[Candidate]:
    """Every candidate at the most suspicious places, the likeliest first, none twice."""
    every = [each for site in sites(sources, places, clues) for each in at_site(site)]
    every.sort(key=lambda each: -each.chance)
    found: dict[tuple[str, tuple[int, int, bytes]], Candidate] = {}
    for each in every:
        essence = _essence(sources[each.path], each)
        if essence[1] or essence[2]:
            found.setdefault((each.path, essence), each)
        if len(found) == MOST_CANDIDATES:
            break
    return list(found.values())


def sites(
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


def at_site(site: Site) -> Iterator[Candidate]:
    """What each template proposes at one place, its mass shared out by weight.

    A single proposal that is seldom right does not get all of it.
    """
    for template in TEMPLATES:
        drafts = [draft for draft in template.propose(site) if draft.edits and draft.weight > 0]
        total = sum(draft.weight for draft in drafts)
        mass = template.mass * favour(template.name, site.clues)
        for draft in drafts:
            share = draft.weight / max(total, 1.0)
            chance = mass * share**SPREAD * site.score
            yield Candidate(
                site.source.path, site.node.lineno, template.name, draft.label, draft.edits, chance
            )


def _essence(source: Source, candidate: Candidate) -> tuple[int, int, bytes]:
    """The one edit that a candidate comes to, whatever way it came about."""
    start = min(edit.start for edit in candidate.edits)
    end = max(edit.end for edit in candidate.edits)
    low, high = max(0, start - AROUND), min(len(source.data), end + AROUND)
    inner = [edit._replace(start=edit.start - low, end=edit.end - low) for edit in candidate.edits]
    old = source.data[low:high]
    new = edited(old, inner)
    first = shared(old, new)
    old, new = old[first:], new[first:]
    last = shared(old[::-1], new[::-1])
    return low + first, len(old) - last, new[: len(new) - last]
