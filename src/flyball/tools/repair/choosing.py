"""Which of several candidates that hold to take: the likeliest and the smallest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from flyball.tools.inside.swapping import edited
from flyball.tools.repair.candidate import Candidate, diff_of, size
from flyball.tools.repair.source import Source


class Survivor(NamedTuple):
    """A candidate under which every test passes."""

    path: str
    line: int
    template: str
    label: str
    diff: str
    merit: float


def ranked(holding: Iterable[Candidate], sources: Mapping[str, Source]) -> list[Survivor]:
    """The best first."""
    found: list[Survivor] = []
    for each in holding:
        data = sources[each.path].data
        diff = diff_of(each.path, data, edited(data, each.edits))
        merit = each.chance / (12 + size(each, data))
        found.append(Survivor(each.path, each.line, each.template, each.label, diff, merit))
    return sorted(found, key=lambda each: -each.merit)
