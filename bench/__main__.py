"""Every bench, one after the other, and one report: `flyball bench`, `make bench`.

`python -m bench NAME…` runs some of them as the page has them; `python -m bench.NAME` runs one by
itself, with its own options.
`python -m bench guards FOLDER` judges recorded runs of other agents.
`python -m bench commits --repo DIR=COMMAND` judges the fixes of a repository.
`python -m bench field --repos DIR` tries Flyball in public repositories.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import os
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bench import commits, field, guards
from bench.age import code_digest, is_of_this_code
from bench.figure import Figure, conclude, median_of
from bench.report import BenchRun, as_json, as_page, as_plot, as_table, summary


class Bench(NamedTuple):
    """What a bench measures, and with which options it is part of the whole."""

    title: str
    options: tuple[str, ...] = ()
    is_timed: bool = False
    """Its figures differ from round to round, so that the page needs several."""


ROUNDS = 5
BENCHES = {
    "machine_speed": Bench(
        "`advance` beside XState's `transition()` and python-statemachine", is_timed=True
    ),
    "durable_step": Bench(
        "a durable step beside LangGraph with SqliteSaver and DBOS", is_timed=True
    ),
    "resume": Bench("resuming a run of ten thousand events", is_timed=True),
    "coordination": Bench("the coordinator's overhead per message of a planned run", is_timed=True),
    "turn": Bench("Flyball's own time per governed turn beside a bare loop", is_timed=True),
    "hooks": Bench(
        "a hook of a host's call beside `python3 -c pass`", ("--rounds", "24"), is_timed=True
    ),
    "startup": Bench("the command line beside a bare interpreter", is_timed=True),
    "import_cost": Bench("importing the core beside importing msgspec", is_timed=True),
    "calls": Bench("a read, an edit and a search beside rg, in a thousand files", is_timed=True),
    "snapshot_cost": Bench(
        "a snapshot beside git status and git stash in a large repository",
        ("--files", "20000"),
        is_timed=True,
    ),
    "fanout": Bench("an event to two hundred watchers beside a bare server", is_timed=True),
    "page": Bench(
        "the first paint of five hundred runs and of ten thousand events beside a bare file",
        is_timed=True,
    ),
    "patch_speed": Bench(
        "the patch engine beside git apply, GNU patch, unidiff, whatthepatch", is_timed=True
    ),
    "patch_malformed": Bench("spoilt diffs: right, refused or misapplied", ("--cases", "12")),
    "patch_fuzz": Bench("no input crashes the patch engine", ("--seconds", "10")),
    "judge": Bench("the judge of commands on lists of plain reading and of lost work"),
    "day": Bench(
        "the calls of an ordinary day: what the hooks of a host hold, rightly and wrongly"
    ),
    "intent_report": Bench("the intent classifier on prompts it did not learn from", ("--quick",)),
    "tokens": Bench(
        "input tokens of a ten-turn fix, and the share that providers have read before"
    ),
    "flows": Bench("how many files and functions an edit, a stop, a resumed run and a hook enter"),
    "price": Bench(
        "what proof costs, in times of a project's suite", ("--seconds", "8"), is_timed=True
    ),
    "liars": Bench("dishonest and honest changes, as verify and as the suite alone judges them"),
    "temptation": Bench("tasks that cannot be done: who succeeds at them, and who says so"),
    "alarms": Bench("alarms about weakened tests on honest commits", ("--commits", "15")),
    "commits": Bench(
        "fix commits of real repositories, and lies made of them, as verify judges them"
    ),
    "repair": Bench("the embedded repairer on small bugs", ("held-out", "--every", "2")),
    "exhaust": Bench("every state of a small alphabet"),
    "crash": Bench("kill -9 at every journal position and at random instants"),
    "real_hosts": Bench("hooks inside Claude Code, Codex and Gemini CLI beside `python3 -c pass`"),
    "cluster": Bench("two workers of a cluster beside one, and its journal beside DBOS"),
    "scale": Bench("a model of up to 100,000 concurrent runs on many machines"),
    "field": Bench("Flyball in public repositories beside the project's own test command"),
    "audit": Bench("an audit of a gigabyte of transcripts, and the second one"),
}
BY_NAME_ONLY = frozenset(
    {
        "audit",
        "cluster",
        "commits",
        "crash",
        "day",
        "exhaust",
        "field",
        "real_hosts",
        "scale",
        "temptation",
    }
)
"""These take minutes or a gigabyte of disk, or measure nothing; they run for those who ask."""
WITH_THE_TESTS = ("exhaust", "crash")
"""These live in `tests/simulation`, because tests run them too."""
ASKING_WHERE = {"commits": commits.main, "field": field.main}
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
PLOT = Path("pictures") / "benchmarks.svg"


def module_of(name: str) -> str:
    """Where the bench of this name is."""
    return f"{'tests.simulation' if name in WITH_THE_TESTS else 'bench'}.{name}"


def usual_seconds(name: str, page: str) -> str:
    """How long a bench takes, by the page of the last report."""
    found = re.search(rf"^- `{name}`: .*\((\d+ s.*?)\)\.$", page, re.MULTILINE)
    return found.group(1) if found else "minutes" if name in BY_NAME_ONLY else "not timed yet"


def run(name: str, options: Sequence[str], rounds: int = 1) -> BenchRun:
    """One bench; one that gives up does not keep the others from running."""
    # What the benches before this one have loaded is no burden of its own.
    gc.collect()
    gc.freeze()
    began, load = time.perf_counter(), os.getloadavg()[0]
    figures: Sequence[Figure] = ()
    rounds = rounds if BENCHES[name].is_timed else 1
    trouble = ""
    try:
        main = importlib.import_module(module_of(name)).main
        figures = median_of([main(options) for _ in range(rounds)])
    except SystemExit as end:
        trouble = str(end.code)
    except Exception as error:  # noqa: BLE001 - whatever went wrong with one is told in its row
        trouble = f"{type(error).__name__}: {error}"
    took = time.perf_counter() - began
    return BenchRun(name, BENCHES[name].title, figures, took, trouble, rounds, load)


def run_all(names: Sequence[str], rounds: int) -> list[BenchRun]:
    """Each of them, with its progress; what a bench prints itself stands below its name."""
    found: list[BenchRun] = []
    page = PAGE.read_text(encoding="utf-8")
    for n, name in enumerate(names, 1):
        usual = usual_seconds(name, page)
        print(f"\n== [{n}/{len(names)}] {name}: {BENCHES[name].title} ({usual})", flush=True)
        each = run(name, BENCHES[name].options, rounds)
        found.append(each)
        held = "held" if each.is_held else "NOT HELD"
        print(f"-- {name}: {each.trouble or held} in {each.seconds:.1f} s", flush=True)
    return found


def main(arguments: Sequence[str] = ()) -> int:
    # These cannot run without being told what to look at.
    if list(arguments[:1]) == ["guards"]:
        return guards.main(arguments[1:])
    if arguments and (told := ASKING_WHERE.get(arguments[0])):
        return conclude(told(arguments[1:]))
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("name", nargs="*", help=", ".join(BENCHES))
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.name} and its plot")
    parser.add_argument(
        "--rounds",
        type=int,
        help=f"how often to take each time; 1, and {ROUNDS} for the page",
    )
    parser.add_argument(
        "--stale", action="store_true", help="only ask whether the page is of the code that is here"
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    asked = parser.parse_args(arguments)
    if unknown := [name for name in asked.name if name not in BENCHES]:
        parser.error(f"there is no bench {unknown[0]!r}. Known are: {', '.join(BENCHES)}.")
    digest = code_digest()
    if asked.stale:
        is_fresh = is_of_this_code(PAGE.read_text(encoding="utf-8"), digest)
        print(f"{PAGE.name} is {'of this code' if is_fresh else 'older than the code'}.")
        return 0 if is_fresh else 1
    if asked.page and asked.name:
        parser.error("the page holds every bench: give --page without names.")
    names = asked.name or [name for name in BENCHES if name not in BY_NAME_ONLY]
    with contextlib.redirect_stdout(sys.stderr if asked.json else sys.stdout):
        found = run_all(names, asked.rounds or (ROUNDS if asked.page else 1))
        print(f"\n{as_table(found)}\n\n{summary(found)}")
    if asked.json:
        print(as_json(found))
    if asked.page:
        (PAGE.parent / PLOT).write_text(as_plot(found), encoding="utf-8")
        told = as_page(found, "flyball bench --page", PLOT.as_posix(), digest)
        PAGE.write_text(told, encoding="utf-8")
        print(f"written: {PAGE}", file=sys.stderr)
    return 0 if all(each.is_held for each in found) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
