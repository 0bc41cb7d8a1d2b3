"""How soon the command line answers, as a multiple of a bare interpreter in the same run."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench.figure import Figure, conclude

ROUNDS = 15
LIMITS = {"flyball --help": 8.0, "flyball intent": 8.0, "flyball command": 6.0}
WHY = (
    "loading, not judging, which takes a millisecond. On an idle machine, of 109 ms: 14 for the "
    "interpreter, 33 for click and what it loads, 9 for msgspec, 8 for the grammar of bash, 13 for "
    "the tables of programs. Whoever asks often uses `--batch` and pays that once."
)
FLYBALL = str(Path(sys.executable).with_name("flyball"))
COMMANDS = (
    ("bare interpreter", [sys.executable, "-c", "pass"]),
    ("flyball --help", [FLYBALL, "--help"]),
    ("flyball intent", [FLYBALL, "intent", "why is the preview blank?", "--json"]),
    ("flyball command", [FLYBALL, "command", "git status"]),
)


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    argparse.ArgumentParser(description=__doc__).parse_args(arguments)
    best = dict.fromkeys((name for name, _ in COMMANDS), float("inf"))
    for _ in range(ROUNDS):
        for name, argv in COMMANDS:
            began = time.perf_counter()
            subprocess.run(argv, stdout=subprocess.DEVNULL, check=True)
            best[name] = min(best[name], time.perf_counter() - began)
    bare = best["bare interpreter"]
    for name, seconds in best.items():
        print(f"{name:<20} {seconds * 1000:>6.0f} ms  {seconds / bare:>5.1f}x")
    return [
        Figure(
            name,
            best[name] * 1e3,
            "ms",
            "bare interpreter",
            bare * 1e3,
            most_ratio=limit,
            why=WHY if name == "flyball command" else "",
        )
        for name, limit in LIMITS.items()
    ]


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
