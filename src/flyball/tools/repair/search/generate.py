"""Candidates, the likeliest first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from flyball.tools.repair.code.site import Site
from flyball.tools.repair.code.source import Source
from flyball.tools.repair.inside.hot_swap import edited
from flyball.tools.repair.locate.clues import favour
from flyball.tools.repair.locate.spectrum import Place
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


class Template(NamedTuple):
    """A way to change a statement, and how often such a change is the right one."""

    name: str
    mass: float
    propose: Callable[[Site], Iterator[Draft]]


TEMPLATES: tuple[Template, ...] = (
    Template("comparison", 10, operators.comparison),
    Template("arithmetic", 7, operators.arithmetic),
    Template("augmented", 5, operators.augmented),
    Template("boolean", 6, operators.boolean),
    Template("negation", 6, operators.negation),
    Template("sign", 2, operators.sign),
    Template("operand order", 6, operators.operand_order),
    Template("operand dropped", 4, operators.operand_dropped),
    Template("off by one", 10, numbers.off_by_one),
    Template("adjustment", 8, numbers.adjustment),
    Template("constant", 6, numbers.constant),
    Template("format", 2, numbers.formatted),
    Template("variable", 12, names.variable),
    Template("variable for constant", 4, names.variable_for_constant),
    Template("self", 6, names.variable_to_attribute),
    Template("attribute", 6, names.attribute),
    Template("callee", 6, names.callee),
    Template("builtin", 3, names.builtin_twin),
    Template("argument order", 7, calls.argument_order),
    Template("argument count", 4, calls.argument_count),
    Template("unwrap", 3, calls.unwrap),
    Template("wrap", 2.5, calls.wrap),
    Template("extreme", 3, calls.extreme),
    Template("lookup", 3, calls.lookup),
    Template("condition joined", 5, conditions.joined),
    Template("condition replaced", 2.5, conditions.replaced),
    Template("guard", 3, conditions.guard),
    Template("only if", 2.5, conditions.conditional),
    Template("statement added", 4, statements.inserted),
    Template("returned", 4, statements.returned),
    Template("left out", 2, statements.deleted),
    Template("moved", 3, statements.moved),
    Template("dedented", 3, statements.dedented),
    Template("mutable default", 12, statements.mutable_default),
    Template("default value", 2, statements.default_value),
    Template("donor", 4, donors.donor),
    Template("parallel", 5, donors.parallel),
    Template("exchanged loops", 3, donors.exchanged_loops),
    Template("operand added", 3, donors.operand_added),
    Template("slice", 4, donors.slices),
    Template("container", 4, donors.container),
    Template("iteration", 4, donors.comprehension),
    Template("brackets", 4, forms.regrouped),
    Template("call", 3, forms.called),
    Template("order", 2, forms.sort_key),
    Template("made anew", 4, forms.anew),
    Template("keyword", 3, forms.keyword),
    Template("given back", 3, forms.given_back),
    Template("unknown name", 12, scopes.unknown),
    Template("imported name", 12, scopes.imported),
    Template("global", 4, scopes.other_global),
    Template("declared", 3, scopes.declared),
    Template("inherited", 3, scopes.inherited),
)


def candidates(
    sources: Mapping[str, Source], places: Sequence[Place], clues: frozenset[str] = frozenset()
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
    sources: Mapping[str, Source], places: Iterable[Place], clues: frozenset[str]
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
