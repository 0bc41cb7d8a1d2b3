"""Every bench, one after the other: `make bench`, or `python -m bench NAME…` for some of them."""

from __future__ import annotations

import importlib
import sys
import time

BENCHES = {
    "machine_speed": "advance beside XState's transition()",
    "import_cost": "importing the core beside importing msgspec",
    "startup": "the command line beside a bare interpreter",
    "exhaust": "every state of a small alphabet",
    "patch_speed": "the patch engine beside git apply; large files, many hunks",
    "patch_malformed": "spoilt diffs: right, refused or misapplied",
    "patch_fuzz": "no input crashes the patch engine",
    "snapshot_cost": "a snapshot beside git status in a large repository",
    "durable_step": "a durable step beside LangGraph with SqliteSaver",
    "resume": "resuming a run of ten thousand events",
    "coordination": "the coordinator's overhead per message of a planned run",
    "crash": "kill -9 at every journal position and at random instants",
    "intent_report": "the intent classifier on prompts it did not learn from",
    "repair": "the embedded repairer on small bugs",
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        print(f"There is no bench {unknown[0]!r}. Known are: {', '.join(BENCHES)}.")
        return 2
    failed: list[str] = []
    for name in names or list(BENCHES):
        print(f"\n== {name}: {BENCHES[name]}", flush=True)
        began = time.perf_counter()
        code = importlib.import_module(f"bench.{name}").main()
        print(f"-- {'held' if code == 0 else 'NOT HELD'} in {time.perf_counter() - began:.1f} s")
        if code:
            failed.append(name)
    print(f"\n{'not held: ' + ', '.join(failed) if failed else 'all held'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
