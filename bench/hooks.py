"""What a hook costs a host's call, as a multiple of a hook that is `python3 -c pass`.

A journal of five thousand events is behind it. The calls alternate, so that a busy machine slows
all of them alike; the median of fifty counts, but for prompts: a person speaks every few rounds,
since whoever looks on for too long is stopped. The governor is killed in the middle: the first hook
that finds nobody starts another one, and the medians of all after it are held to the second aim.
Where none may stay, reads, looks and refusals have the judge's leave in advance, and a prompt is
opened behind its hook. Processor time is that of the hook alone, not of what it leaves behind.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.governed import Shell, shop
from tests.hosts.hooking import kill_governor

from bench.durable_step import drive
from bench.figure import Figure, conclude
from flyball.journal.sqlite import SqliteJournal

EVENTS = 5_000
ROUNDS = 50
RESIDENT, ALONE = 2.0, 8.0
PER_PROMPT = 4
THINKS = 0.5
"""Seconds; no model answers sooner."""
KINDS = (
    "before a read",
    "after a read",
    "before a look",
    "after a look",
    "before a write",
    "prompt",
)
HOOK = str(Path(sys.executable).with_name("flyball-hook"))


def payload(cwd: Path, session: str, event: str, **fields: object) -> bytes:
    """What a host sends."""
    common = {"session_id": session, "cwd": str(cwd), "hook_event_name": event}
    return json.dumps(common | fields).encode()


class Cost(NamedTuple):
    """What one hook took, in seconds."""

    wall: float
    processor: float


class Timed(NamedTuple):
    """A host whose hooks are timed."""

    shell: Shell
    session: str
    took: dict[str, list[Cost]]

    def bare(self) -> None:
        """A hook that does nothing, with which the others are compared."""
        self._time("bare", [sys.executable, "-c", "pass"], b"{}")

    def hook(self, name: str, event: str, **fields: object) -> None:
        """One hook. It must have been let pass: a refusal is quicker, and says nothing."""
        data = payload(self.shell.cwd, self.session, event, **fields)
        code = self._time(name, [HOOK, "claude"], data)
        assert code == 0 or name.endswith("write"), f"{name} was refused"

    def call(self, kind: str, id: str, tool: str, **given: object) -> None:
        """Both hooks of a call."""
        fields = {"tool_name": tool, "tool_input": given, "tool_use_id": id}
        self.hook(f"before a {kind}", "PreToolUse", **fields)
        self.hook(f"after a {kind}", "PostToolUse", **fields, tool_response={"stdout": id})

    def write(self, id: str) -> None:
        """A write before the checkpoint, which is refused."""
        given = {"file_path": "cart.py", "content": id}
        fields = {"tool_name": "Write", "tool_input": given, "tool_use_id": id}
        self.hook("before a write", "PreToolUse", **fields)

    def prompt(self) -> None:
        self.hook("prompt", "UserPromptSubmit", prompt="do every item of the list")

    def _time(self, name: str, argv: Sequence[str], data: bytes) -> int:
        began, used = time.perf_counter(), processor_time()
        done = subprocess.run(
            argv,
            input=data,
            cwd=self.shell.cwd,
            env=self.shell.env,
            capture_output=True,
            check=False,
        )
        cost = Cost(time.perf_counter() - began, processor_time() - used)
        self.took.setdefault(name, []).append(cost)
        return done.returncode


def processor_time() -> float:
    """What the processes that were waited for have used so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(host: Timed, rounds: int) -> None:
    """The times of each kind of hook, taken in turns.

    A model thinks between a prompt and its first call.
    """
    for n in range(rounds):
        if n % PER_PROMPT == 0:
            host.prompt()
            time.sleep(THINKS)
        if n % PER_PROMPT < 2:
            host.write(f"w{n}")
        host.bare()
        host.call("look", f"l{n}", "Bash", command=f"git log -{n + 1}")
        host.call("read", f"r{n}", "Read", file_path=f"cart{n}.py")


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args(arguments).rounds
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "home").mkdir()
        (place / "run").mkdir()
        shell = Shell(shop(place / "shop"), place / "home", XDG_RUNTIME_DIR=str(place / "run"))
        governed = Timed(shell, "governed", {})
        governed.prompt()
        (journal,) = (place / "home").rglob("journal.sqlite")
        asyncio.run(drive(SqliteJournal(journal), EVENTS))
        measure(governed, rounds)
        after = Timed(shell, "governed", {})
        kill_governor(shell)
        after.hook("first", "UserPromptSubmit", prompt="do every item of the list")
        measure(after, rounds)
        governed.hook("end", "SessionEnd")
        apart = {"XDG_RUNTIME_DIR": str(place / "none"), "FLYBALL_HOOKS_ALONE": "true"}
        alone = Timed(Shell(shell.cwd, place / "home", **apart), "alone", {})
        measure(alone, rounds)
    found = report("with the resident governor", governed.took, RESIDENT)
    found += report("nobody answered at first", after.took, ALONE)
    found += report("where none may stay", alone.took, ALONE)
    return found


def report(title: str, took: dict[str, list[Cost]], limit: float) -> list[Figure]:
    """Print the medians as multiples of the bare hook, which are held to the limit."""
    bare, bare_used = _middle(took["bare"])
    found: list[Figure] = []
    print(f"{title}, at most {limit}x; then processor time")
    for name in ("bare", "first", *KINDS):
        if name not in took:
            continue
        middle, used = _middle(took[name])
        wall = f"{middle * 1000:>6.0f} ms  {middle / bare:>6.2f}x"
        print(f"  {name:<15} {wall}  {used * 1000:>6.0f} ms  {used / bare_used:>6.2f}x")
        if name in KINDS:
            label = f"hook {name}, {title}"
            found.append(
                Figure(label, middle * 1e3, "ms", "python3 -c pass", bare * 1e3, most_ratio=limit)
            )
    return found


def _middle(costs: Sequence[Cost]) -> Cost:
    return Cost(*map(statistics.median, zip(*costs, strict=True)))


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
