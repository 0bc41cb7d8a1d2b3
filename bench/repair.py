"""The embedded repairer on small bugs: plausible, right by tests it did not see, and how long.

Each bug is one file of `repair_bugs`: the files of a project with a fault and tests that show it;
`hidden.py`, tests that only judge; and `fault`, the line that is wrong. Those in `held_out` were
written after the templates: at first sight 13 of the 15 were fixed, 12 of them rightly; what the
rest lacked was added since. Of the others, which the templates grew with, a part is run.
`python -m bench.repair all` runs every bug, `python -m bench.repair NAME…` some of them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.figure import Figure, conclude
from flyball.terms.test_paths import is_test_path

BUGS = Path(__file__).parent / "repair_bugs"
HELD_OUT = BUGS / "held_out"
SCRIPTS = BUGS / "scripts"
"""JavaScript: a right module, its tests, and `faults`: a name, the right text and the wrong one."""
MARK = "===== "
HIDDEN, FAULT = "hidden.py", "fault"
BETWEEN = re.compile(r"(?<!\\) \| ?")
SECONDS = 60
PART = 5
"""Every so many-th bug of those that are known is run."""
PLAUSIBLE, RIGHT, LOCALISED = 0.70, 0.60, 0.70
SCRIPTS_RIGHT = 0.50
REQUEST = "the tests fail, fix it"
GIT = ("git", "-c", "user.name=bench", "-c", "user.email=bench@example.org")


class Told(NamedTuple):
    """What the repairer made of one bug."""

    name: str
    is_plausible: bool
    is_right: bool
    is_localised: bool | None
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


def bugs_of(module: Path) -> dict[str, dict[str, str]]:
    """The bugs of a script by name, each as its files."""
    files = files_of(module)
    faults = files.pop("faults")
    files.pop("end", None)
    source = next(name for name in files if not re.search(r"test|package", name))
    found: dict[str, dict[str, str]] = {}
    for line in filter(None, faults.split("\n")):
        name, *texts = BETWEEN.split(line)
        right, wrong = (each.replace("\\|", "|").replace("\\n", "\n") for each in texts)
        at = files[source].index(right)
        number = files[source].count("\n", 0, at) + 1
        fault = f"{source}:{number}"
        found[name] = {**files, source: files[source].replace(right, wrong), FAULT: fault}
    return found


def attempt(name: str, files: dict[str, str], seconds: float = SECONDS) -> Told:
    """Repair one bug as a user would, in place, and judge what came of it."""
    judge = next(each for each in files if each.startswith("hidden."))
    hidden, fault = files.pop(judge), files.pop(FAULT, "").strip()
    judge = "test_hidden_bench.py" if judge == HIDDEN else judge
    with tempfile.TemporaryDirectory(prefix="repair-") as top:
        place = Path(top) / "project"
        put(place, files)
        for args in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "a fault")):
            subprocess.run([*GIT, *args], cwd=place, check=True)
        began = time.perf_counter()
        code, said = _run(place, Path(top), seconds)
        elapsed = time.perf_counter() - began
        touched = any(
            _text(place, name) != body for name, body in files.items() if is_test_path(name)
        )
        put(place, {judge: hidden})
        is_right = code == 0 and _passes(place, judge)
    named = [line.get("findings", "") for line in said if line.get("type") == "checkpoint"]
    is_localised = any(f"  {fault}  " in text for text in named) if fault else None
    finals = [line.get("message", "") for line in said if line.get("type", "final") == "final"]
    answer = (finals or ["it ended without an answer"])[-1]
    return Told(name, code == 0, is_right, is_localised, touched, elapsed, answer)


def _text(place: Path, name: str) -> str:
    file = place / name
    return file.read_text("utf-8") if file.exists() else ""


def _run(place: Path, home: Path, seconds: float) -> tuple[int, list[dict[str, Any]]]:
    argv = [sys.executable, "-c", "from flyball.cli import main; main()", "run", REQUEST]
    argv += ["--intent", "small_fix", "--driver", "repair", "--in-place", "--json"]
    argv += ["--budget-seconds", str(seconds)]
    env = {**os.environ, "FLYBALL_STATE_DIR": str(home / "state"), "FLYBALL_CONFIG": os.devnull}
    done = subprocess.run(argv, cwd=place, env=env, capture_output=True, text=True, check=False)
    return done.returncode, [
        json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")
    ]


def _passes(place: Path, judge: str) -> bool:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join((str(place), str(place / "src")))}
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", judge]
    if not judge.endswith(".py"):
        argv = ["node", "--test", judge]
    try:
        done = subprocess.run(
            argv, cwd=place, env=env, capture_output=True, check=False, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def _group(title: str, bugs: Mapping[str, dict[str, str]], least: float = RIGHT) -> list[Figure]:
    """Run a group, print its figures, and return them."""
    told: list[Told] = []
    for name, files in bugs.items():
        each = attempt(name, files)
        told.append(each)
        mark = "right" if each.is_right else "plausible" if each.is_plausible else "-"
        first = (each.answer.splitlines() or [""])[0]
        print(f"{each.name:<22}{mark:<11}{each.seconds:6.1f} s  {first:.90}", flush=True)
    if not told:
        return []
    plausible = sum(each.is_plausible for each in told) / len(told)
    right = sum(each.is_right for each in told) / len(told)
    placed = [each.is_localised for each in told if each.is_localised is not None]
    localised = sum(placed) / len(placed) if placed else 1.0
    times = sorted(each.seconds for each in told)
    print(f"{title}, {len(told)} bugs: {plausible:.0%} plausible, {right:.0%} right, ", end="")
    print(f"line among the first ten in {sum(placed)} of {len(placed)}, ", end="")
    print(f"median {times[len(times) // 2]:.1f} s, longest {times[-1]:.1f} s\n", flush=True)
    touched = sum(each.touched_tests for each in told)
    return [
        Figure(f"bugs fixed, {title}", plausible, "%", least=min(PLAUSIBLE, least + 0.1)),
        Figure(f"rightly, by tests unseen, {title}", right, "%", least=least),
        Figure(f"the line among the first ten, {title}", localised, "%", least=LOCALISED),
        Figure(f"repairs that touch tests, {title}", touched, most=0),
    ]


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    known, held_out = sorted(BUGS.glob("*.bug")), sorted(HELD_OUT.glob("*.bug"))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bug", nargs="*", help="its name, `held-out`, `scripts`, or `all`")
    parser.add_argument("--every", type=int, default=1, help="only one in so many of them")
    options = parser.parse_args(arguments)
    names = options.bug
    scripts = {
        name: files
        for module in sorted(SCRIPTS.glob("*.bug"))
        for name, files in bugs_of(module).items()
    }
    stems = {bug.stem for bug in (*known, *held_out)}
    if unknown := sorted(set(names) - {"all", "held-out", "scripts", *stems, *scripts}):
        parser.error(f"there is no bug {unknown[0]!r}")
    if not names:
        known, scripts = known[::PART], dict(list(scripts.items())[::PART])
    elif names == ["held-out"]:
        known, scripts = [], {}
    elif names == ["scripts"]:
        known, held_out = [], []
    elif "all" not in names:
        known = [bug for bug in known if bug.stem in names]
        held_out = [bug for bug in held_out if bug.stem in names]
        scripts = {name: files for name, files in scripts.items() if name in names}
    step = options.every
    return [
        *_group("held out", {bug.stem: files_of(bug) for bug in held_out[::step]}),
        *_group("known", {bug.stem: files_of(bug) for bug in known[::step]}),
        *_group("scripts", dict(list(scripts.items())[::step]), SCRIPTS_RIGHT),
    ]


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
