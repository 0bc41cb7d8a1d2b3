"""The guards on recorded runs: how many good ones they would stop, how much of the bad they save.

`python -m bench guards FOLDER` reads every recording below a folder. Which runs were resolved is
told by the reports beside them: a JSON file above or beside a recording that lists `resolved` or
`resolved_ids`, or the recording's own `resolved`. A recording is known by its file's name.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from flyball.errors import UsageError
from flyball.guards.guard import GuardLimits
from flyball.record.recording import GuardReport, judge_recording

AIM = 3.0
"""The most good runs, in percent, that a hard stop may cost."""
REPORTS = ("resolved", "resolved_ids")


class Judged(NamedTuple):
    """One recorded run: whether it was resolved, and what the guards say of it."""

    path: Path
    is_resolved: bool
    report: GuardReport


def main(arguments: Sequence[str] = ()) -> int:
    """Print the figures of a folder; too many good runs stopped is a failure."""
    parser = argparse.ArgumentParser(prog="python -m bench guards", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the recordings and their reports are")
    runs, refused = judge_folder(parser.parse_args(arguments).folder)
    if not runs:
        print(f"No recording could be read ({len(refused)} files refused).", file=sys.stderr)
        return 2
    print("\n".join(figures(runs, refused)))
    good = [run for run in runs if run.is_resolved]
    return 0 if share(stopped(good), good) <= AIM else 1


def judge_folder(
    folder: Path, limits: GuardLimits | None = None
) -> tuple[list[Judged], list[tuple[Path, str]]]:
    """Every recording below a folder, and the files that are none with the reason."""
    known = dict(reports(folder))
    runs: list[Judged] = []
    refused: list[tuple[Path, str]] = []
    for path in sorted(folder.rglob("*")):
        if path in known or path.suffix not in (".traj", ".json", ".jsonl") or not path.is_file():
            continue
        for name, data in _runs_in(path):
            try:
                report = judge_recording(data, limits)
            except UsageError as error:
                refused.append((path, error.message))
                continue
            runs.append(Judged(path, is_resolved(name, path, data, known), report))
    return runs, refused


def _runs_in(path: Path) -> Iterator[tuple[str, bytes]]:
    """The runs of a file: one, or one a line where each line is an instance of its own."""
    data = path.read_bytes()
    name = path.name.removesuffix(".json").removesuffix(".jsonl").removesuffix(".traj")
    if path.suffix == ".jsonl" and not data.startswith(b'{"flyball"'):
        for line in data.splitlines():
            if line.strip():
                yield str(_loads(line).get("instance_id", name)), line
        return
    yield name, data


def reports(folder: Path) -> Iterator[tuple[Path, frozenset[str]]]:
    """The files that say which runs were resolved."""
    for path in folder.rglob("*.json"):
        found = _loads(path.read_bytes())
        ids = next((found[key] for key in REPORTS if isinstance(found.get(key), list)), None)
        if ids is not None:
            yield path, frozenset(map(str, ids))


def _loads(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def is_resolved(name: str, path: Path, data: bytes, known: dict[Path, frozenset[str]]) -> bool:
    """By the nearest report: beside the recording, in a folder beside it, or further up."""
    for above in path.parents:
        near = [ids for report, ids in known.items() if above in report.parents[:2]]
        if near:
            return any(name in ids for ids in near)
    found = _loads(data)
    return bool(found.get("resolved") or found.get("report", {}).get("resolved"))


def figures(runs: list[Judged], refused: list[tuple[Path, str]]) -> Iterator[str]:
    """The figures, line by line."""
    good = [run for run in runs if run.is_resolved]
    bad = [run for run in runs if not run.is_resolved]
    steps = sum(run.report.steps for run in runs)
    yield f"{len(runs)} runs, {steps} steps, {len(good)} resolved; {len(refused)} files refused"
    for path, why in refused[:5]:
        yield f"  refused: {path.name}: {why}"
    stopped_good, stopped_bad = stopped(good), stopped(bad)
    verdict = "within" if share(stopped_good, good) <= AIM else "beyond"
    yield (
        f"resolved stopped: {len(stopped_good)} of {len(good)} "
        f"({share(stopped_good, good):.1f} %), "
        f"{verdict} the aim of {AIM:.0f} %"
    )
    yield f"others stopped: {len(stopped_bad)} of {len(bad)} ({share(stopped_bad, bad):.1f} %)"
    spent = sum(run.report.steps for run in bad)
    saved = sum(run.report.steps - (run.report.stopped_at or 0) for run in stopped_bad)
    yield f"steps of the others saved: {saved} of {spent} ({100 * saved / max(spent, 1):.1f} %)"
    yield f"odds ratio: {odds(len(stopped_bad), len(bad), len(stopped_good), len(good)):.1f}"
    yield "first hard stop by guard (resolved / others):"
    first_good, first_bad = Counter(map(_first, stopped_good)), Counter(map(_first, stopped_bad))
    for guard, count in first_bad.most_common():
        yield f"  {guard}: {first_good[guard]} / {count}"
    for guard in first_good.keys() - first_bad.keys():
        yield f"  {guard}: {first_good[guard]} / 0"


def stopped(runs: list[Judged]) -> list[Judged]:
    return [run for run in runs if run.report.stopped_at is not None]


def share(part: list[Judged], whole: list[Judged]) -> float:
    """In percent."""
    return 100 * len(part) / max(len(whole), 1)


def odds(bad: int, bads: int, good: int, goods: int) -> float:
    """How much likelier a bad run is stopped than a good one; a half is added to every count."""
    return ((bad + 0.5) / (bads - bad + 0.5)) / ((good + 0.5) / (goods - good + 0.5))


def _first(run: Judged) -> str:
    return next(
        trip.guard
        for trip in run.report.trips
        if trip.step == run.report.stopped_at and trip.level == "hard"
    )
