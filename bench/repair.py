"""The embedded repairer on small bugs: plausible, right by tests it did not see, and how long.

Each bug is one file of `repair_bugs`: the files of a project with a fault and tests that show it,
and `hidden.py`, tests that only judge. `python -m bench.repair NAME…` runs some of them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

BUGS = Path(__file__).parent / "repair_bugs"
MARK = "===== "
HIDDEN = "hidden.py"
SECONDS = 60
PLAUSIBLE, RIGHT = 0.70, 0.60
REQUEST = "the tests fail, fix it"
GIT = ("git", "-c", "user.name=bench", "-c", "user.email=bench@example.org")


class Told(NamedTuple):
    """What the repairer made of one bug."""

    name: str
    is_plausible: bool
    is_right: bool
    touched_tests: bool
    seconds: float
    answer: str


def files_of(bug: Path) -> dict[str, str]:
    """The files of a bug, by name."""
    parts = ("\n" + bug.read_text("utf-8")).split(f"\n{MARK}")[1:]
    pairs = (part.partition("\n") for part in parts)
    return {name.strip(): body.rstrip("\n") + "\n" if body else "" for name, _, body in pairs}


def put(place: Path, files: dict[str, str]) -> None:
    for name, body in files.items():
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(body, "utf-8")


def attempt(bug: Path, seconds: float = SECONDS) -> Told:
    """Repair one bug as a user would, in place, and judge what came of it."""
    files = files_of(bug)
    hidden = files.pop(HIDDEN)
    with tempfile.TemporaryDirectory(prefix="repair-") as top:
        place = Path(top) / "project"
        put(place, files)
        for args in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "a fault")):
            subprocess.run([*GIT, *args], cwd=place, check=True)
        began = time.perf_counter()
        code, answer = _run(place, Path(top), seconds)
        elapsed = time.perf_counter() - began
        changed = subprocess.run(
            [*GIT, "diff", "--name-only", "HEAD"],
            cwd=place,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        put(place, {"test_hidden_bench.py": hidden})
        is_right = code == 0 and _passes(place)
    touched = any("test" in name for name in changed)
    return Told(bug.stem, code == 0, is_right, touched, elapsed, answer)


def _run(place: Path, home: Path, seconds: float) -> tuple[int, str]:
    argv = [sys.executable, "-c", "from flyball.surfaces.cli import main; main()", "run", REQUEST]
    argv += ["--intent", "small_fix", "--driver", "repair", "--in-place", "--json"]
    argv += ["--budget-seconds", str(seconds)]
    env = {**os.environ, "FLYBALL_STATE_DIR": str(home / "state"), "FLYBALL_CONFIG": os.devnull}
    done = subprocess.run(argv, cwd=place, env=env, capture_output=True, text=True, check=False)
    said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    finals = [line.get("message", "") for line in said if line["type"] == "final"]
    return done.returncode, finals[-1] if finals else done.stderr.strip()


def _passes(place: Path) -> bool:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join((str(place), str(place / "src")))}
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_hidden_bench.py"]
    return (
        subprocess.run(argv, cwd=place, env=env, capture_output=True, check=False).returncode == 0
    )


def main(names: tuple[str, ...] = ()) -> int:
    bugs = [bug for bug in sorted(BUGS.glob("*.bug")) if not names or bug.stem in names]
    told: list[Told] = []
    for bug in bugs:
        each = attempt(bug)
        told.append(each)
        mark = "right" if each.is_right else "plausible" if each.is_plausible else "-"
        print(f"{each.name:<22}{mark:<11}{each.seconds:6.1f} s  {each.answer.splitlines()[0]:.90}")
    plausible = sum(each.is_plausible for each in told) / len(told)
    right = sum(each.is_right for each in told) / len(told)
    times = sorted(each.seconds for each in told)
    print(f"{len(told)} bugs: {plausible:.0%} plausible, {right:.0%} right, ", end="")
    print(f"median {times[len(times) // 2]:.1f} s, longest {times[-1]:.1f} s")
    honest = not any(each.touched_tests for each in told)
    return 0 if plausible >= PLAUSIBLE and right >= RIGHT and honest else 1


if __name__ == "__main__":
    sys.exit(main(tuple(sys.argv[1:])))
