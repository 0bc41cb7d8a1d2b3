"""What a read, an edit and a search cost in a repository of a thousand files.

Flyball's own time is the processor time that the process itself used for the whole call, from the
snapshot to the outcome. What git uses as a process of its own is told beside it, and so is the
clock's time; a busy machine changes both. Exits 1 if a median is over its limit.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.repos import repository

from bench.figure import Figure, conclude
from flyball.engine.perform import perform_call
from flyball.engine.run_context import RunContext
from flyball.plan.library import LIBRARY
from flyball.run.event import CallReturned
from flyball.run.state import CardState, RunState
from flyball.terms.call import Access, Call
from flyball.terms.phase import Phase
from flyball.tools.call.prepare import read_form
from flyball.tools.toolbox import TOOLS
from flyball.workspace.redaction import Redactor

FILES = 1_000
ROUNDS = 60
LIMITS = {"read": 0.010, "edit": 0.040, "grep": 0.020}
GREP = 8.0
"""It asks rg three times: which files there are, how often each matches, and for the lines."""
SOUGHT = "value_3[79] ="
BY_NAME = {tool.name: tool for tool in TOOLS}


class Cost(NamedTuple):
    """Seconds of one call: our own, those of our children, and the clock's."""

    own: float
    children: float
    clock: float


async def cost_of(context: RunContext, card: CardState, n: int, tool: str, **args: object) -> Cost:
    access = Access.MUTATE if tool == "write_file" else Access.READ
    asked = Call(id=f"{tool}{n}", tool=tool, args=args, access=access, digest="d")
    form = read_form(args, BY_NAME[tool])
    if isinstance(form, str):
        raise SystemExit(form)
    began, own, before = time.perf_counter(), time.process_time(), os.times()
    about = context.call_context(
        RunState(run="r1"), card, asked.id, key=f"r1/{n}", phase=Phase.EXECUTE, access=access
    )
    event = await perform_call(about, asked, BY_NAME[tool], form, is_repeat=False)
    own, after, ended = time.process_time() - own, os.times(), time.perf_counter()
    if not isinstance(event, CallReturned) or not event.outcome.ok:
        raise SystemExit(f"the {tool} failed: {event}")
    return Cost(
        own,
        after.children_user + after.children_system - before.children_user - before.children_system,
        ended - began,
    )


async def measure(home: Path, files: int, rounds: int) -> tuple[dict[str, list[Cost]], list[float]]:
    """Reads, edits and searches in turns, in a tree of the run's own, and rg's time beside them."""
    text = "".join(f"value_{n} = {n}\n" for n in range(40))
    tree: dict[str, str | bytes] = {f"area{n // 50}/file{n}.py": text for n in range(files)}
    context = RunContext(
        repository(home / "repo", tree),
        home / "state",
        environ={"PATH": os.environ["PATH"], "HOME": os.fspath(home)},
        redactor=Redactor(()),
        on_output=lambda _: None,
    )
    context.open("r1")
    base = context.workspace.base
    card = CardState(id="c", template=LIBRARY["fix"], title="t", base=base, tree=base)
    found: dict[str, list[Cost]] = {"read": [], "edit": [], "grep": []}
    bare: list[float] = []
    try:
        for n in range(rounds):
            path = f"area{n % 20}/file{n % 20 * 50}.py"
            found["read"].append(await cost_of(context, card, 2 * n, "read", path=path))
            content = text.replace("value_3 = 3", f"value_3 = {n + 100}")
            edit = cost_of(context, card, 2 * n + 1, "write_file", path=path, content=content)
            found["edit"].append(await edit)
            found["grep"].append(await cost_of(context, card, 3 * n, "grep", q=SOUGHT))
            bare.append(rg_seconds(context.workspace.root))
    finally:
        context.close()
    return found, bare


def rg_seconds(root: Path) -> float:
    """The same search by the same program, without anything around it."""
    rg = shutil.which("rg", path=str(Path(sys.executable).parent)) or "rg"
    began = time.perf_counter()
    subprocess.run([rg, "-n", SOUGHT, "."], cwd=root, capture_output=True, check=True)
    return time.perf_counter() - began


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=FILES)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        found, bare = asyncio.run(measure(Path(name), options.files, options.rounds))
    told: list[Figure] = []
    for tool, costs in found.items():
        own = statistics.median(each.own for each in costs)
        # Counted in hundredths of a second, so that only a mean says anything.
        children = statistics.mean(each.children for each in costs)
        clock = statistics.median(each.clock for each in costs)
        print(
            f"{tool} in {options.files} files: {own * 1e3:.1f} ms of our own "
            f"(at most {LIMITS[tool] * 1e3:.0f}), {children * 1e3:.1f} ms of git's; "
            f"{clock * 1e3:.1f} ms by the clock"
        )
        told.append(Figure(f"{tool}, own time", own * 1e3, "ms", most=LIMITS[tool] * 1e3))
    clock = statistics.median(each.clock for each in found["grep"])
    theirs = statistics.median(bare)
    print(f"rg by itself: {theirs * 1e3:.1f} ms by the clock")
    grep = Figure("grep", clock * 1e3, "ms", "rg by itself", theirs * 1e3, most_ratio=GREP)
    return [*told, grep]


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
