"""What a hook costs a host's call, as a multiple of a hook that is `python3 -c pass`.

A journal of five thousand events is behind it. The calls alternate, so that a busy machine slows
all of them alike; the median of fifty counts, but for prompts: a person speaks every few rounds,
since whoever looks on for too long is stopped. First a host looks around, then it edits and tests
in turns, and thinks before each call. The governor is killed in the middle: the first hook that
finds nobody starts another one, and the medians of all after it are held to the same goal. Where
no governor may stay, a hook loads the judge: that is shown, and has no goal but for reads.
Processor time is that of the hook alone, not of what it leaves behind.
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
from tests.hosts.hooking import STATE, kill_governor

from bench.durable_step import drive
from bench.figure import Figure, conclude
from flyball.journal.sqlite import SqliteJournal

EVENTS = 5_000
ROUNDS = 50
RESIDENT, ALONE = 2.0, 40.0
PER_PROMPT = 4
PER_BUILD = 5
THINKS = 1.0
"""Seconds; no model answers sooner."""
ATTENDED = 0.2
"""Enough where a governor has nothing to load."""
KINDS = (
    "before a read",
    "after a read",
    "before a look",
    "after a look",
    "before a refused write",
    "prompt",
    "before an edit",
    "after an edit",
    "before a test",
    "after a test",
    "start",
)
TEST = "python -m unittest"
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
    thinks: float = THINKS

    def bare(self) -> None:
        """A hook that does nothing, with which the others are compared."""
        self._time("bare", [sys.executable, "-c", "pass"], b"{}")

    def hook(self, name: str, event: str, **fields: object) -> None:
        """One hook. It must have been let pass: a refusal is quicker, and says nothing."""
        data = payload(self.shell.cwd, self.session, event, **fields)
        code = self._time(name, [HOOK, "claude"], data)
        assert code == 0 or name.endswith("refused write"), f"{name} was refused"

    def call(self, kind: str, id: str, tool: str, **given: object) -> None:
        """Both hooks of a call, which is made in between if it is an edit."""
        fields = {"tool_name": tool, "tool_input": given, "tool_use_id": id}
        self.hook(f"before {kind}", "PreToolUse", **fields)
        if "content" in given:
            (self.shell.cwd / "cart.py").write_text(str(given["content"]))
        self.hook(f"after {kind}", "PostToolUse", **fields, tool_response={"stdout": id})

    def write(self, id: str) -> None:
        """A write before the checkpoint, which is refused."""
        given = {"file_path": "cart.py", "content": id}
        fields = {"tool_name": "Write", "tool_input": given, "tool_use_id": id}
        self.hook("before a refused write", "PreToolUse", **fields)

    def prompt(self) -> None:
        """A person speaks, and the model thinks about it."""
        self.hook("prompt", "UserPromptSubmit", prompt="do every item of the list")
        time.sleep(self.thinks)

    def checkpoint(self) -> None:
        """State a checkpoint, which nobody times."""
        done = self.shell(*STATE, "--file", "cart.py")
        assert done.returncode == 0, done.stderr

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


def look_around(host: Timed, rounds: int) -> None:
    """The times of each kind of hook before the checkpoint, taken in turns."""
    for n in range(rounds):
        if n % PER_PROMPT == 0:
            host.prompt()
        if n % PER_PROMPT < 2:
            host.write(f"w{n}")
        host.bare()
        host.call("a look", f"l{n}", "Bash", command=f"git log -{n + 1}")
        host.call("a read", f"r{n}", "Read", file_path=f"cart{n}.py")


def build(host: Timed, rounds: int) -> None:
    """The times of each kind of hook after it."""
    for n in range(rounds):
        if n % PER_BUILD == 0:
            host.prompt()
            host.checkpoint()
            time.sleep(host.thinks)
        host.bare()
        host.call("an edit", f"e{n}", "Write", file_path="cart.py", content=f"x = {n}\n")
        time.sleep(host.thinks)
        host.call("a test", f"t{n}", "Bash", command=TEST)
        time.sleep(host.thinks)


def measure(host: Timed, rounds: int) -> None:
    """The times of each kind of hook."""
    look_around(host, rounds)
    build(host, rounds)
    for _ in range(rounds):
        host.hook("start", "SessionStart", source="startup")
        time.sleep(host.thinks)


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args(arguments).rounds
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "home").mkdir()
        (place / "run").mkdir()
        shell = Shell(shop(place / "shop"), place / "home", XDG_RUNTIME_DIR=str(place / "run"))
        governed = Timed(shell, "governed", {}, ATTENDED)
        governed.prompt()
        (journal,) = (place / "home").rglob("journal.sqlite")
        asyncio.run(drive(SqliteJournal(journal), EVENTS))
        measure(governed, rounds)
        after = Timed(shell, "governed", {}, ATTENDED)
        kill_governor(shell)
        after.hook("first", "UserPromptSubmit", prompt="do every item of the list")
        measure(after, rounds)
        governed.hook("end", "SessionEnd")
        apart = {"XDG_RUNTIME_DIR": str(place / "none"), "FLYBALL_HOOKS_ALONE": "true"}
        alone = Timed(Shell(shell.cwd, place / "home", **apart), "alone", {})
        measure(alone, max(rounds // 10, 2))
    found = report("with the resident governor", governed.took, RESIDENT)
    found += report("nobody answered at first", after.took, RESIDENT)
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
        print(f"  {name:<22} {wall}  {used * 1000:>6.0f} ms  {used / bare_used:>6.2f}x")
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
