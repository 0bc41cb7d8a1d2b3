"""Having candidates tried on the tests, and hearing how each ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from flyball.tools.repair.code.candidate import Candidate
from flyball.tools.repair.locate.memo import Memo
from flyball.tools.repair.outside.progress import Line
from flyball.tools.repair.outside.trial import ScratchCopy, run_program

HOLDS = "hold"
Ends = dict[int, str]
"""How each candidate ended, by its number."""


class SearchLimits(NamedTuple):
    """How far a search goes."""

    seconds: float | None
    """None: until every candidate was tried, however long that takes."""
    enough: int
    """So many that hold end it."""
    patience: float
    """After the first that holds, others are looked for in this part of the limit."""
    is_probe: bool = False
    """Whether tests far from those that fail are left out."""


class Tried(NamedTuple):
    """What a search came to."""

    ends: Ends
    was_ended: bool
    """Whether it was ended early because the run is to rest."""


async def try_on_tests(
    stage: ScratchCopy,
    known: Memo,
    proposed: Sequence[Candidate],
    limits: SearchLimits,
    words: Callable[[Ends], str],
) -> Tried:
    """Try candidates in a scratch copy, in their order; `words` tell how far it is."""
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
    told = await run_program(stage, orders, lambda lines: words(_read_ends(len(proposed), lines)))
    return Tried(_read_ends(len(proposed), told.lines), told.finished is None)


async def mutate(stage: ScratchCopy, mutants: Sequence[Candidate], seconds: float) -> Ends:
    """How the tests end for each change, `HOLDS` where none notices it.

    The number after the last one is the code as it is: without it nobody knows whether the tests
    notice a change or fail anyway.
    """
    # It goes first, so that no limit leaves it out.
    orders: dict[str, Any] = {
        "task": "mutate",
        "failing": [],
        "seconds": seconds,
        "enough": len(mutants) + 1,
        "patience": 1.0,
        "candidates": [
            {"n": len(mutants), "path": mutants[0].path, "edits": []},
            *({"n": n, "path": each.path, "edits": each.edits} for n, each in enumerate(mutants)),
        ],
    }
    told = await run_program(stage, orders, lambda _: "")
    return _read_ends(len(mutants) + 1, told.lines)


def _read_ends(generated: int, lines: Sequence[Line]) -> Ends:
    """How each candidate ended, as last reported; tests may have written into the report."""
    ends: Ends = {}
    for line in lines:
        n, end = line.get("n"), line.get("end")
        # Lines are believed only as far as they make sense: the tests can write to the report, too.
        if isinstance(n, int) and isinstance(end, str) and 0 <= n < generated:
            ends[n] = end
    return ends
