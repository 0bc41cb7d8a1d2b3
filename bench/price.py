"""What proof costs: a small fix in projects whose suite sleeps, in times of that suite.

The tests sleep, so that a busy machine changes little. What is counted is the time from the first
test run that the driver asks for to the verdict, its own run included.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.governed import Line, Shell, call, objects, say, script
from tests.repos import repository

from bench.figure import Figure, conclude

MOST = 2.5
TESTS = 20
CART = (
    "def total(prices):\n    return sum(prices[1:])\n\n\n"
    "def count(prices):\n    return len(prices)\n"
)
FIXED = CART.replace("prices[1:]", "prices")
INI = '[tool.pytest.ini_options]\npythonpath = ["."]\n'
NEW = "\n\ndef test_two():\n    assert total([1, 2]) == 3\n"


def project(files: int, seconds: float) -> dict[str, str]:
    """A project whose twenty tests, in so many files, sleep that long altogether."""
    nap = seconds / TESTS
    found = {"cart.py": CART, "pyproject.toml": INI}
    for n in range(files):
        tests = "".join(
            f"\n\ndef test_{n}_{k}():\n    time.sleep({nap})\n    assert count([1] * {k}) == {k}\n"
            for k in range(TESTS // files)
        )
        found[f"tests/test_{n}.py"] = f"import time\n\nfrom cart import count, total\n{tests}"
    return found


def lines_of(files: dict[str, str]) -> list[Line]:
    """A driver that repairs the total and adds a test of it to the first file."""
    tests = "tests/test_0.py"
    return [
        call("read", path="cart.py"),
        call(
            "checkpoint",
            goal="The first price counts.",
            findings="It is left out.",
            proposed_action="Sum all of them.",
            files=["cart.py", tests],
            verify_with=["pytest"],
        ),
        call("write_file", path="cart.py", content=FIXED),
        call("write_file", path=tests, content=files[tests] + NEW),
        call("test"),
        say("Repaired."),
        {"role": "reviewer", "text": "It is as promised."},
    ]


def measure(place: Path, files: int, seconds: float) -> tuple[float, float]:
    """How long the suite takes by itself, and how long proof takes in a governed fix."""
    tree = project(files, seconds)
    shell = Shell(repository(place / "shop", tree), place)
    driver = script(place / "s.jsonl", *lines_of(tree))
    done = shell("run", "--json", "--intent", "small_fix", "--driver", driver, "Fix the total.")
    told = objects(done.stdout)
    final = told[-1]
    if final.get("status") != "success":
        raise SystemExit(f"the fix did not succeed: {final}")
    seen = [line for line in told if line["type"] == "evidence"]
    own = next(line["evidence"] for line in seen if line["kind"] == "suite-report")
    return own["elapsed"], sum(line["evidence"].get("elapsed", 0.0) for line in seen)


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="how long the suite sleeps")
    seconds = parser.parse_args(arguments).seconds
    found: list[Figure] = []
    for files, words in ((5, "in five files"), (1, "in a single file")):
        with tempfile.TemporaryDirectory() as name:
            began = time.perf_counter()
            suite, proof = measure(Path(name), files, seconds)
            took = time.perf_counter() - began
        ratio = proof / suite
        found.append(
            Figure(f"proof, tests {words}", proof, "s", "the suite", suite, most_ratio=MOST)
        )
        print(
            f"suite of {TESTS} tests {words}: {suite:.1f} s; proof {proof:.1f} s, "
            f"{ratio:.2f} suite times (at most {MOST}); the whole command {took:.1f} s"
        )
    return found


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
