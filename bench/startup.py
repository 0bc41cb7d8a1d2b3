"""How soon the command line answers, as a multiple of a bare interpreter in the same run."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROUNDS = 15
LIMIT = 8.0
FLYBALL = str(Path(sys.executable).with_name("flyball"))
COMMANDS = (
    ("bare interpreter", [sys.executable, "-c", "pass"]),
    ("flyball --help", [FLYBALL, "--help"]),
    ("flyball intent", [FLYBALL, "intent", "why is the preview blank?", "--json"]),
    ("flyball command", [FLYBALL, "command", "git status"]),
)


def main(arguments: Sequence[str] = ()) -> int:
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
    print(f"(`--help` and `intent` at most {LIMIT:.0f}x)")
    slow = [name for name in ("flyball --help", "flyball intent") if best[name] > LIMIT * bare]
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
