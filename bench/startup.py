"""How soon the command line answers, as a multiple of a bare interpreter in the same run."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench.figure import Figure, conclude

ROUNDS = 15
LIMITS = {"flyball --help": 4.0, "flyball intent": 8.0, "flyball command": 6.0}
INSTALLED = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
"""As an installed package runs: its bytecode is kept after the first round."""
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
            subprocess.run(argv, stdout=subprocess.DEVNULL, env=INSTALLED, check=True)
            best[name] = min(best[name], time.perf_counter() - began)
    bare = best["bare interpreter"]
    for name, seconds in best.items():
        print(f"{name:<20} {seconds * 1000:>6.0f} ms  {seconds / bare:>5.1f}x")
    return [
        Figure(name, best[name] * 1e3, "ms", "bare interpreter", bare * 1e3, most_ratio=limit)
        for name, limit in LIMITS.items()
    ]


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
