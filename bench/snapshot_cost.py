"""What a snapshot of a one-line change costs in a large repository, beside git's own commands.

    python -m bench.snapshot_cost [--files 50000]

All are measured in turns in the same run. Exits 1 if the median snapshot costs more than 1.5 times
the median status, or if the store grows with the tree.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.figure import Figure, conclude
from flyball.workspace.run.opening import open_workspace

FILES = 50_000
ROUNDS = 15
LIMIT = 1.5
MOST_BYTES = 16_000


def make_repository(root: Path, files: int) -> None:
    for n in range(files):
        place = root / f"area{n // 2500}" / f"part{n // 100}" / f"file{n}.txt"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"file {n}\n" * 5)
    for args in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "start"]):
        git(root, *args)


def git(root: Path, *args: str) -> None:
    who = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
    subprocess.run(["git", *who, *args], cwd=root, check=True, stdout=subprocess.DEVNULL)


def timed(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def size(place: Path) -> int:
    return sum(path.stat().st_size for path in place.rglob("*") if path.is_file())


def measure(home: Path, files: int, rounds: int, *, in_place: bool) -> list[Figure]:
    repo = home / "repo"
    with open_workspace(repo, "bench", home / "state", in_place=in_place) as workspace:
        changed = workspace.root / "area0" / "part0" / "file7.txt"
        workspace.snapshot("warm")
        git(workspace.root, "status", "--short")
        start = size(workspace.directory / "git/objects")
        status: list[float] = []
        stash: list[float] = []
        snapshot: list[float] = []
        for n in range(rounds):
            changed.write_text(f"one line, change {n}\n")
            status.append(timed(lambda: git(workspace.root, "status", "--short")))
            stash.append(timed(lambda: git(workspace.root, "stash", "create")))
            snapshot.append(timed(lambda n=n: workspace.snapshot(f"change {n}")))
        grown = (size(workspace.directory / "git/objects") - start) / rounds
        workspace.remove()
    git(repo, "checkout", "-q", ".")
    ours, bare, other = (statistics.median(each) * 1e3 for each in (snapshot, status, stash))
    place = "in place" if in_place else "in a worktree"
    print(
        f"{place}: {files} files, git status {bare:.0f} ms, git stash create {other:.0f} ms, "
        f"snapshot {ours:.0f} ms, {grown:.0f} bytes a snapshot"
    )
    return [
        Figure(f"snapshot {place}", ours, "ms", "git status", bare, most_ratio=LIMIT),
        Figure(f"snapshot {place}", ours, "ms", "git stash create", other, most_ratio=1.0),
        Figure(f"bytes of a snapshot {place}", grown, "B", most=MOST_BYTES),
    ]


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=FILES)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="flyball-bench-") as spare:
        home = Path(spare)
        make_repository(home / "repo", options.files)
        results = [
            measure(home, options.files, options.rounds, in_place=in_place)
            for in_place in (True, False)
        ]
    return [figure for each in results for figure in each]


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
