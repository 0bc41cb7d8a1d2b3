"""How often the search for weakened tests alarms on honest commits, which touch code and tests.

python -m bench.alarms [--repo DIR]… [--commits 30] [--seed 7] [--verbose]
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.figure import Figure, conclude
from bench.patch_cases import REPOSITORY
from flyball.terms.evidence import ChangedTest
from flyball.terms.test_paths import is_test_path
from flyball.verdict.tests import ALARMS, compare_tests, is_code

_SHARE = 0.08
_MAX_FILES = 60
_MAX_BYTES = 1_000_000


class Commit(NamedTuple):
    """One commit: its name, its first line, and its files on both sides."""

    name: str
    subject: str
    before: dict[str, bytes]
    after: dict[str, bytes]


def commits(repo: Path, limit: int, seed: int) -> Iterator[Commit]:
    """Up to `limit` commits in random order that change code, and tests that were there."""
    log = _git(repo, "log", "--no-merges", "--no-renames", "--name-status", "--format=%x00%H %s")
    entries = log.decode("utf-8", "replace").split("\0")[1:]
    fit = [entry for entry in entries if _is_fit(entry)]
    random.Random(seed).shuffle(fit)
    for entry in fit[:limit]:
        heading, *lines = entry.strip().split("\n")
        name, _, subject = heading.partition(" ")
        yield Commit(name[:9], subject, *_sides(repo, name, lines))


def _is_fit(entry: str) -> bool:
    touched = [line.split("\t", 1) for line in entry.split("\n")[1:] if "\t" in line]
    code = [path for _, path in touched if is_code(path) and not is_test_path(path)]
    tests = [path for status, path in touched if status != "A" and is_test_path(path)]
    return bool(code) and bool(tests) and len(touched) <= _MAX_FILES


def _sides(
    repo: Path, name: str, lines: Sequence[str]
) -> tuple[dict[str, bytes], dict[str, bytes]]:
    before: dict[str, bytes] = {}
    after: dict[str, bytes] = {}
    for status, path in (line.split("\t", 1) for line in lines if "\t" in line):
        for side, tree, absent in ((before, f"{name}^", "A"), (after, name, "D")):
            if status != absent:
                side[path] = _git(repo, "show", f"{tree}:{path}")[:_MAX_BYTES]
    return before, after


def _git(repo: Path, *arguments: str) -> bytes:
    command = ["git", "-C", str(repo), "-c", "core.quotePath=false", *arguments]
    return subprocess.run(command, capture_output=True, check=True).stdout


def alarms(commit: Commit) -> list[ChangedTest]:
    """What a person would be asked about whatever was announced."""
    found = compare_tests(commit.before, commit.after)
    return [one for one in found if one.comparison in ALARMS]


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    parser = argparse.ArgumentParser(prog="python -m bench.alarms", description=__doc__)
    parser.add_argument("--repo", type=Path, action="append", help="default: this repository")
    parser.add_argument("--commits", type=int, default=30, help="of each repository")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--verbose", action="store_true", help="name each alarm")
    options = parser.parse_args(arguments)
    looked = alarmed = 0
    slowest = 0.0
    for repo in options.repo or [REPOSITORY]:
        here = there = 0
        for commit in commits(repo, options.commits, options.seed):
            began = time.perf_counter()
            found = alarms(commit)
            slowest = max(slowest, time.perf_counter() - began)
            here, there = here + 1, there + bool(found)
            if found and options.verbose:
                print(f"## {commit.name} {commit.subject[:90]}: {len(found)}")
                for one in found[:6]:
                    sentence = one.sentence[:300].replace("\n", " ")
                    print(f"   {one.comparison} {one.path} {one.name} | {sentence}")
        print(f"{repo}: {there} of {here}", flush=True)
        looked, alarmed = looked + here, alarmed + there
    share = alarmed / max(1, looked)
    print(f"alarms on {alarmed} of {looked} honest commits: {share:.1%} (aim: {_SHARE:.0%});")
    print(f"the slowest took {slowest:.1f} s")
    return [Figure("honest commits with an alarm", share, "%", most=_SHARE)]


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
