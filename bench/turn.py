"""Flyball's own time for a governed turn, beside a loop without any rules.

A turn is one reply of a driver and the call that it asks for: a write or a read. Both sides say the
same script: one by `flyball run`, the other in a loop that writes and reads the same files and does
nothing else. What a start and an end cost is no part of it: the processor time of a short script is
taken from that of a long one. The project has no tests: the runs end unverified.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.governed import ARGV, CART, Line, call, checkpoint, environment, script, shop

from bench.figure import Figure, conclude

SHORT, LONG = 2, 20
ROUNDS = 7
LIMIT_MS = 60.0
LOOP = """\
import json, pathlib, sys
for line in open(sys.argv[1]):
    for call in json.loads(line)["calls"]:
        args = call["args"]
        if call["tool"] == "read":
            pathlib.Path(args["path"]).read_text()
        elif call["tool"] == "write_file":
            pathlib.Path(args["path"]).write_text(args["content"])
"""
UNVERIFIED = 4


def lines_of(turns: int) -> list[Line]:
    """A driver that writes and reads by turns, and then has no more to say."""
    parts = [f"part{n}.py" for n in range(turns // 2)]
    found = [call("read", path="cart.py"), checkpoint("cart.py", *parts)]
    for part in parts:
        found.append(call("write_file", path=part, content=f"value = {part!r}\n"))
        found.append(call("read", path=part))
    return found


def processor_seconds(argv: Sequence[str], cwd: Path, env: dict[str, str], code: int) -> float:
    """What a program and its children used of the processor."""
    before = os.times()
    done = subprocess.run(argv, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode != code:
        raise SystemExit(f"{argv[-1]} ended with {done.returncode}: {done.stdout}{done.stderr}")
    after = os.times()
    return (
        after.children_user + after.children_system - before.children_user - before.children_system
    )


def _untested(place: Path) -> Path:
    return shop(place, {"cart.py": CART})


def governed(place: Path, turns: int) -> float:
    home = place / "home"
    home.mkdir()
    driver = script(place / "script.jsonl", *lines_of(turns))
    argv = [*ARGV, "run", "--driver", driver, "--intent", "small_fix", "--budget", "60"]
    return processor_seconds(
        [*argv, "go on"], _untested(place / "shop"), environment(home), UNVERIFIED
    )


def bare(place: Path, turns: int) -> float:
    script(place / "script.jsonl", *lines_of(turns))
    argv = [sys.executable, "-c", LOOP, str(place / "script.jsonl")]
    return processor_seconds(argv, _untested(place / "shop"), environment(place), 0)


def per_turn(act: Callable[[Path, int], float], rounds: int) -> float:
    """Seconds for a turn: the median of what a long script takes more than a short one."""
    found: list[float] = []
    for _ in range(rounds):
        took: list[float] = []
        for turns in (SHORT, LONG):
            with tempfile.TemporaryDirectory() as name:
                took.append(act(Path(name), turns))
        found.append((took[1] - took[0]) / (LONG - SHORT))
    return statistics.median(found)


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args(arguments).rounds
    ours, theirs = per_turn(governed, rounds) * 1e3, per_turn(bare, rounds) * 1e3
    loop = max(theirs, 0.01)
    return [Figure("a governed turn, own time", ours, "ms", "a bare loop", loop, most=LIMIT_MS)]


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
