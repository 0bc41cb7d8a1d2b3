"""Every bench, one after the other: `make bench`, or `python -m bench NAME…` for some of them.

`python -m bench.NAME --help` tells which options a bench has; here each runs without any.
`python -m bench guards FOLDER` judges recorded runs of other agents.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Sequence

from bench import guards

BENCHES = {
    "machine_speed": "advance beside XState's transition()",
    "import_cost": "importing the core beside importing msgspec",
    "startup": "the command line beside a bare interpreter",
    "exhaust": "every state of a small alphabet",
    "patch_speed": "the patch engine beside git apply; large files, many hunks",
    "patch_malformed": "spoilt diffs: right, refused or misapplied",
    "patch_fuzz": "no input crashes the patch engine",
    "snapshot_cost": "a snapshot beside git status in a large repository",
    "tokens": "input tokens of a ten-turn fix, and the share that providers have read before",
    "durable_step": "a durable step beside LangGraph with SqliteSaver",
    "resume": "resuming a run of ten thousand events",
    "flows": "how many files an edit, a premature stop and a resumed run cross",
    "coordination": "the coordinator's overhead per message of a planned run",
    "crash": "kill -9 at every journal position and at random instants",
    "intent_report": "the intent classifier on prompts it did not learn from",
    "repair": "the embedded repairer on small bugs",
    "hooks": "a hook of a host's call beside `python3 -c pass`",
    "price": "what proof costs, in times of a project's suite",
    "alarms": "alarms about weakened tests on honest commits",
    "calls": "a read and an edit in a repository of a thousand files",
    "judge": "the judge of commands on lists of plain reading and of lost work",
    "scale": "a model of up to 100,000 concurrent runs on many machines",
    "page": "the first paint of a board with two hundred runs beside a bare file",
    "audit": "an audit of a gigabyte of transcripts, and the second one",
}
BY_NAME_ONLY = frozenset({"audit"})
"""These take minutes and a gigabyte of disk, and run only for those who ask for them."""
WITH_THE_TESTS = ("exhaust", "crash")
"""These live in `tests/simulation`, because tests run them too."""


def module_of(name: str) -> str:
    """Where the bench of this name is."""
    return f"{'tests.simulation' if name in WITH_THE_TESTS else 'bench'}.{name}"


def run(name: str) -> int:
    """The exit code of one bench; one that gives up does not keep the others from running."""
    try:
        return importlib.import_module(module_of(name)).main()
    except SystemExit as end:
        print(end.code)
        return 1


def main(arguments: Sequence[str] = ()) -> int:
    # The only one that cannot run without being told what to look at.
    if list(arguments[:1]) == ["guards"]:
        return guards.main(arguments[1:])
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("name", nargs="*", help=", ".join(BENCHES))
    names = parser.parse_args(arguments).name
    if unknown := [name for name in names if name not in BENCHES]:
        parser.error(f"there is no bench {unknown[0]!r}. Known are: {', '.join(BENCHES)}.")
    failed: list[str] = []
    for name in names or [name for name in BENCHES if name not in BY_NAME_ONLY]:
        print(f"\n== {name}: {BENCHES[name]}", flush=True)
        began = time.perf_counter()
        code = run(name)
        held = "held" if code == 0 else "NOT HELD"
        print(f"-- {name}: {held} in {time.perf_counter() - began:.1f} s", flush=True)
        if code:
            failed.append(name)
    print(f"\n{'not held: ' + ', '.join(failed) if failed else 'all held'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
