"""What importing the core costs, beside importing msgspec alone, in the same run."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence

from bench.figure import Figure, conclude
from bench.startup import INSTALLED

ROUNDS = 15


def cost(statement: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], env=INSTALLED, check=True)
    return time.perf_counter() - began


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    argparse.ArgumentParser(description=__doc__).parse_args(arguments)
    best = dict.fromkeys(("pass", "import msgspec", "import flyball.run.machine"), float("inf"))
    for _ in range(ROUNDS):
        for statement in best:
            best[statement] = min(best[statement], cost(statement))
    bare, peer, ours = (seconds * 1000 for seconds in best.values())
    ratio = (ours - bare) / (peer - bare)
    print(f"bare interpreter {bare:.0f} ms, msgspec +{peer - bare:.0f}, core +{ours - bare:.0f}")
    print(f"ratio {ratio:.2f} (at most 2)")
    return [
        Figure(
            "importing the core",
            ours - bare,
            "ms",
            "importing msgspec",
            peer - bare,
            most_ratio=2,
        )
    ]


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
