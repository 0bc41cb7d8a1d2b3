"""What a snapshot of a one-line change costs in a large repository, beside `git status` there.

    python -m bench.snapshot_cost [--files 50000]

Both are measured in turns in the same run. Exits 1 if the median snapshot costs more than 1.5 times
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


def measure(home: Path, files: int, *, in_place: bool) -> bool:
    repo = home / "repo"
    with open_workspace(repo, "bench", home / "state", in_place=in_place) as workspace:
        changed = workspace.root / "area0" / "part0" / "file7.txt"
        workspace.snapshot("warm")
        git(workspace.root, "status", "--short")
        start = size(workspace.directory / "git/objects")
        status: list[float] = []
        snapshot: list[float] = []
        for n in range(ROUNDS):
            changed.write_text(f"one line, change {n}\n")
            status.append(timed(lambda: git(workspace.root, "status", "--short")))
            snapshot.append(timed(lambda n=n: workspace.snapshot(f"change {n}")))
        grown = (size(workspace.directory / "git/objects") - start) / ROUNDS
        workspace.remove()
    git(repo, "checkout", "-q", ".")
    ratio = statistics.median(snapshot) / statistics.median(status)
    ok = ratio <= LIMIT and grown <= MOST_BYTES
    print(
        f"{'in place' if in_place else 'worktree':>9}: {files} files, "
        f"git status {statistics.median(status) * 1000:.0f} ms, "
        f"snapshot {statistics.median(snapshot) * 1000:.0f} ms, "
        f"ratio {ratio:.2f} (limit {LIMIT}), {grown:.0f} bytes a snapshot: "
        f"{'ok' if ok else 'TOO MUCH'}"
    )
    return ok


def main(arguments: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=FILES)
    files = parser.parse_args(arguments).files
    with tempfile.TemporaryDirectory(prefix="flyball-bench-") as spare:
        home = Path(spare)
        make_repository(home / "repo", files)
        results = [measure(home, files, in_place=in_place) for in_place in (True, False)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
