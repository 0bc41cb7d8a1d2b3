"""How fast the patch engine is, beside others, and how it grows with file and diff.

python -m bench.patch_speed [--repo DIR] [--cases 150]
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.figure import Figure, conclude
from bench.patch_cases import REPOSITORY, Case, cases
from flyball.patch import apply_diff, unified_diff

GIT_APPLY = ("git", "apply", "--whitespace=nowarn", "-")
GNU_PATCH = ("patch", "-p1", "-N", "-f", "-s", "--no-backup-if-mismatch", "-r", "-")
_PER_HUNK = 150e-6
_TIMES_GIT = 4
_BIG_SECONDS = 0.5
_FEW_HUNKS = 3
"""What a driver writes in one call seldom has more."""
_READS_ONLY = (
    "it only reads the diff; ours also finds each place in the file, holds it against twins, and "
    "applies it. For diffs of up to three hunks it is 0.9."
)
_GROWTH = 3.0
"""Twice the hunks may take this much longer before growth counts as more than linear."""


def engine_seconds(found: list[Case]) -> tuple[float, float]:
    """The engine's time for all cases, in memory: by the clock, and of the processor."""
    start, busy = time.perf_counter(), time.process_time()
    for case in found:
        if not apply_diff(case.before, case.diff).ok:
            raise SystemExit(f"{case.name} was refused")
    return time.perf_counter() - start, time.process_time() - busy


def run_seconds(found: list[Case], command: Sequence[str]) -> float | None:
    """A program's time for all cases, without laying out the files; none where it is missing."""
    if not shutil.which(command[0]):
        return None
    spent = 0.0
    for case in found:
        with tempfile.TemporaryDirectory() as folder:
            for path, data in case.before.items():
                target = Path(folder, path)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
            raw = case.diff.encode("utf-8", "surrogateescape")
            start = time.perf_counter()
            subprocess.run(
                command,
                input=raw,
                cwd=folder,
                capture_output=True,
                check=True,
                env={**os.environ, "GIT_DIR": "/none"},
            )
            spent += time.perf_counter() - start
    return spent


def unidiff_seconds(found: list[Case]) -> float | None:
    """The time of unidiff, which reads diffs and applies none."""
    try:
        from unidiff import PatchSet
    except ImportError:
        return None
    start = time.perf_counter()
    for case in found:
        PatchSet(case.diff)
    return time.perf_counter() - start


def whatthepatch_seconds(found: list[Case]) -> float | None:
    """The time of whatthepatch to read and apply, file by file."""
    try:
        import whatthepatch
    except ImportError:
        return None
    start = time.perf_counter()
    for case in found:
        for diff in whatthepatch.parse_patch(case.diff):
            path = diff.header.old_path.removeprefix("a/")
            before = case.before.get(path, b"").decode("utf-8", "surrogateescape")
            whatthepatch.apply_diff(diff, before)
    return time.perf_counter() - start


def big_file_seconds() -> float:
    """One hunk somewhere in a file of 10 MB."""
    lines = [b"line %d of a rather long file, with some words\n" % n for n in range(220_000)]
    before = b"".join(lines)
    lines[150_000] = b"changed\n"
    diff = unified_diff("big.txt", before, b"".join(lines))
    moved = diff.replace("@@ -149998,7 +149998,7 @@", "@@")
    slowest = 0.0
    for text in (diff, moved):
        start = time.process_time()
        if not apply_diff({"big.txt": before}, text).ok:
            raise SystemExit("the big file was refused")
        slowest = max(slowest, time.process_time() - start)
    return slowest


def many_hunks_seconds(hunks: int, *, numbered: bool) -> float:
    """A diff with so many hunks, with or without line numbers."""
    lines = [b"line %d\n" % n for n in range(hunks * 20)]
    before = b"".join(lines)
    for n in range(hunks):
        lines[n * 20 + 10] = b"changed %d\n" % n
    diff = unified_diff("f", before, b"".join(lines))
    if not numbered:
        diff = "\n".join("@@" if x.startswith("@@ -") else x for x in diff.split("\n"))
    start = time.process_time()
    if not apply_diff({"f": before}, diff).ok:
        raise SystemExit("many hunks were refused")
    return time.process_time() - start


def _hunks(case: Case) -> int:
    return case.diff.count("\n@@ -")


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repo", type=Path, default=REPOSITORY)
    parser.add_argument("--cases", type=int, default=150)
    options = parser.parse_args(arguments)
    found = cases(options.repo, options.cases)
    hunks = sum(_hunks(case) for case in found)
    few = [case for case in found if _hunks(case) <= _FEW_HUNKS]
    (ours, busy), git = (
        min(engine_seconds(found) for _ in range(3)),
        run_seconds(found, GIT_APPLY) or 0.0,
    )
    print(f"{len(found)} commits, {hunks} hunks")
    print(f"engine      {ours / hunks * 1e6:8.1f} µs per hunk, {busy / hunks * 1e6:.1f} of work")
    print(f"git apply   {git / hunks * 1e6:8.1f} µs per hunk, {git / ours:.1f} times as long")
    big = big_file_seconds()
    print(f"10 MB file  {big:8.3f} s for one hunk")
    growth = 0.0
    for numbered in (True, False):
        half, whole = (
            min(many_hunks_seconds(n, numbered=numbered) for _ in range(3)) for n in (1000, 2000)
        )
        kind = "with" if numbered else "without"
        print(f"1,000 hunks {half:8.3f} s, 2,000 hunks {whole:.3f} s, {kind} line numbers")
        growth = max(growth, whole / half)
    per, share = 1e6 / hunks, 1 / _TIMES_GIT
    per_diff = 1e3 / max(len(few), 1)
    small = min(engine_seconds(few) for _ in range(3))[0] * per_diff

    def beside(name: str, seconds: float | None, why: str = "") -> Figure:
        theirs = None if seconds is None else seconds * per
        return Figure("a hunk", ours * per, "µs", name, theirs, most_ratio=1.0, why=why)

    def beside_small(name: str, command: Sequence[str]) -> Figure:
        seconds = run_seconds(few, command)
        theirs = None if seconds is None else seconds * per_diff
        return Figure("a diff of few hunks", small, "ms", name, theirs, most_ratio=share)

    return [
        Figure("a hunk, processor time", busy * per, "µs", most=_PER_HUNK * 1e6),
        beside_small("git apply", GIT_APPLY),
        beside_small("GNU patch", GNU_PATCH),
        beside("git apply", git),
        beside("GNU patch", run_seconds(found, GNU_PATCH)),
        beside("unidiff, reading only", unidiff_seconds(found), _READS_ONLY),
        beside("whatthepatch", whatthepatch_seconds(found)),
        Figure("one hunk in 10 MB", big, "s", most=_BIG_SECONDS),
        Figure("twice the hunks, times as long", growth, most=_GROWTH),
    ]


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
