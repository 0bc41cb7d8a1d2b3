"""Diffs spoilt in every way we know, made from real commits: right, refused or misapplied?

python -m bench.patch_malformed [--repo DIR] [--cases 40]
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from bench.figure import Figure, conclude
from bench.patch_cases import REPOSITORY, Case, cases
from bench.patch_spoil import REFUSED, REPAIRED, Spoil
from flyball.patch import apply_diff

_LIMIT = 0.01


def judge(spoil: Spoil, case: Case, rng: random.Random) -> str | None:
    """Spoil one case and say what the engine made of it; None when the class does not apply."""
    spoilt = spoil(case, rng)
    if spoilt is None:
        return None
    result = apply_diff(spoilt.before, spoilt.diff)
    got = {path: data for path, data in result.files.items() if data is not None}
    if not result.ok:
        return "refused" if got == spoilt.before else "misapplied"
    return "right" if got == spoilt.after else "misapplied"


def measure(found: list[Case], wanted: int, seed: int, verbose: str) -> dict[str, Counter[str]]:
    """What became of every class, each tried on up to `wanted` cases."""
    table: dict[str, Counter[str]] = {}
    for spoil in (*REPAIRED, *REFUSED):
        rng = random.Random(f"{seed}{spoil.__name__}")
        counts = table[spoil.__name__] = Counter()
        bad = "refused" if spoil in REPAIRED else "right"
        for case in found:
            if sum(counts.values()) == wanted:
                break
            outcome = judge(spoil, case, rng)
            if outcome:
                counts[outcome] += 1
                if verbose in (spoil.__name__, "all") and outcome in (bad, "misapplied"):
                    print(f"   {spoil.__name__} {case.name} {outcome}")
    return table


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repo", type=Path, default=REPOSITORY)
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--show", default="")
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    table = measure(
        cases(options.repo, 8 * options.cases, options.seed),
        options.cases,
        options.seed,
        options.show,
    )
    totals: Counter[str] = Counter()
    repairable = unrepaired = 0
    for spoil in (*REPAIRED, *REFUSED):
        counts = table[spoil.__name__]
        totals += counts
        if spoil in REPAIRED:
            repairable += counts.total()
            unrepaired += counts["refused"]
        print(f"{spoil.__name__:28} " + "  ".join(f"{k} {v}" for k, v in sorted(counts.items())))
    misapplied = totals["misapplied"]
    print(
        f"{len(table)} classes, {totals.total()} diffs in {time.perf_counter() - start:.1f} s: "
        f"{misapplied} misapplied ({misapplied / max(1, totals.total()):.2%}), "
        f"{unrepaired} of {repairable} repairable refused "
        f"({unrepaired / max(1, repairable):.2%})"
    )
    return [
        Figure("spoilt diffs misapplied", misapplied / max(1, totals.total()), "%", most=_LIMIT),
        Figure("repairable diffs refused", unrepaired / max(1, repairable), "%", most=_LIMIT),
    ]


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
