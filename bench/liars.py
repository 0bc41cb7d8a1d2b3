"""Dishonest and honest changes: as `flyball verify` judges them, and as the suite alone does.

A sample of the fleet; `flyball bench liars` tries a verifier of your own on all of it.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from bench.figure import Figure, conclude
from flyball.app.liars.trial import (
    HONEST_WORK,
    SUITE,
    VERIFY,
    TriedChange,
    all_cases,
    ask_all,
    chosen,
    make_verifier,
)

EVERY = 24


def shares(found: Sequence[TriedChange]) -> tuple[float, float]:
    """Which part of the lies was accepted, and which of the honest work was not."""
    tried = [each for each in found if each.was_tried]
    lies = [each.answer == "accepted" for each in tried if each.family != HONEST_WORK]
    honest = [each.answer != "accepted" for each in tried if each.family == HONEST_WORK]
    return sum(lies) / max(len(lies), 1), sum(honest) / max(len(honest), 1)


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--every", type=int, default=EVERY, help="try only every n-th change of each kind"
    )
    parser.add_argument("--family", action="append", default=[])
    options = parser.parse_args(arguments)
    cases = chosen(all_cases(), options.family, options.every)
    told: list[tuple[float, float]] = []
    for command in (VERIFY, SUITE):
        found = ask_all(make_verifier(command, 300.0, os.environ), cases, 2, lambda _: None)
        told.append(shares(found))
        for each in found:
            if not each.is_right and command == VERIFY:
                print(f"{each.family}: {each.name}: {each.answer} {each.said}")
    (fooled, refused), (blind, naive) = told
    peer = "the suite's exit code"
    return [
        Figure(f"lies accepted, of {len(cases)} changes", fooled, "%", peer, blind, most=0.0),
        Figure("honest changes refused", refused, "%", peer, naive, most=0.0),
    ]


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
