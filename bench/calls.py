"""What a read and an edit cost in a repository of a thousand files: Flyball's own time per call.

That is the processor time that the process itself used for the whole call, from the snapshot to
the outcome. What git uses as a process of its own is told beside it, and so is the clock's time; a
busy machine changes both. Exits 1 if a median is over its limit.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.repos import repository

from flyball.core.flow.library import LIBRARY
from flyball.core.run.event import CallReturned
from flyball.core.run.state import CardState, RunState
from flyball.core.terms.call import Access, Call
from flyball.core.terms.phase import Phase
from flyball.engine.perform import perform_call
from flyball.engine.run_context import RunContext
from flyball.tools import TOOLS
from flyball.tools.call.prepare import read_form
from flyball.workspace.redaction import Redactor

FILES = 1_000
ROUNDS = 60
LIMITS = {"read": 0.010, "edit": 0.040}
BY_NAME = {tool.name: tool for tool in TOOLS}


class Cost(NamedTuple):
    """Seconds of one call: our own, those of our children, and the clock's."""

    own: float
    children: float
    clock: float


async def cost_of(context: RunContext, card: CardState, n: int, tool: str, **args: object) -> Cost:
    access = Access.READ if tool == "read" else Access.MUTATE
    asked = Call(id=f"k{n}", tool=tool, args=args, access=access, digest="d")
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


async def measure(home: Path, files: int, rounds: int) -> dict[str, list[Cost]]:
    """Reads and edits in turns, in a tree of the run's own."""
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
    found: dict[str, list[Cost]] = {"read": [], "edit": []}
    try:
        for n in range(rounds):
            path = f"area{n % 20}/file{n % 20 * 50}.py"
            found["read"].append(await cost_of(context, card, 2 * n, "read", path=path))
            content = text.replace("value_3 = 3", f"value_3 = {n + 100}")
            edit = cost_of(context, card, 2 * n + 1, "write_file", path=path, content=content)
            found["edit"].append(await edit)
    finally:
        context.close()
    return found


def main(arguments: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=FILES)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        found = asyncio.run(measure(Path(name), options.files, options.rounds))
    is_held = True
    for tool, costs in found.items():
        own = statistics.median(each.own for each in costs)
        # Counted in hundredths of a second, so that only a mean says anything.
        children = statistics.mean(each.children for each in costs)
        clock = statistics.median(each.clock for each in costs)
        is_held &= own <= LIMITS[tool]
        print(
            f"{tool} in {options.files} files: {own * 1e3:.1f} ms of our own "
            f"(at most {LIMITS[tool] * 1e3:.0f}), {children * 1e3:.1f} ms of git's; "
            f"{clock * 1e3:.1f} ms by the clock"
        )
    return 0 if is_held else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
