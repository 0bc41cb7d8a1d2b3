"""What a hook costs a host's call, as a multiple of a hook that is `python3 -c pass`.

A journal of five thousand events is behind it. The calls alternate, so that a busy machine slows
all of them alike; the median of fifty counts.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.governed import Shell, shop

from bench.durable_step import drive

EVENTS = 5_000
ROUNDS = 50
RESIDENT, ALONE = 2.0, 8.0
HOOK = str(Path(sys.executable).with_name("flyball-hook"))


def payload(cwd: Path, event: str, **fields: object) -> bytes:
    """What a host sends."""
    common = {"session_id": "bench", "cwd": str(cwd), "hook_event_name": event}
    return json.dumps(common | fields).encode()


def seconds(argv: Sequence[str], data: bytes, shell: Shell, **more: str) -> float:
    """How long one hook takes."""
    began = time.perf_counter()
    env = {**shell.env, **more}
    subprocess.run(argv, input=data, cwd=shell.cwd, env=env, capture_output=True, check=False)
    return time.perf_counter() - began


def measure(shell: Shell, rounds: int) -> dict[str, list[float]]:
    """The times of each kind of hook, taken in turns."""
    took: dict[str, list[float]] = {}
    for n in range(rounds):
        read = {"tool_name": "Read", "tool_input": {"file_path": f"cart{n}.py"}}
        look = {"tool_name": "Bash", "tool_input": {"command": f"git log -{n + 1}"}}
        begun = {"tool_use_id": f"r{n}"}
        alone = {"tool_use_id": f"a{n}"}
        shelled = {"tool_use_id": f"b{n}"}
        response = {"tool_response": {"stdout": f"{n}"}}
        before, after = "PreToolUse", "PostToolUse"
        steps: tuple[tuple[str, list[str], bytes, dict[str, str]], ...] = (
            ("bare", [sys.executable, "-c", "pass"], b"{}", {}),
            ("before a read", [HOOK, "claude"], payload(shell.cwd, before, **read, **begun), {}),
            (
                "after a read",
                [HOOK, "claude"],
                payload(shell.cwd, after, **read, **begun, **response),
                {},
            ),
            ("before a look", [HOOK, "claude"], payload(shell.cwd, before, **look, **shelled), {}),
            (
                "after a look",
                [HOOK, "claude"],
                payload(shell.cwd, after, **look, **shelled, **response),
                {},
            ),
            (
                "alone",
                [HOOK, "claude"],
                payload(shell.cwd, before, **read, **alone),
                {"FLYBALL_HOOKS_ALONE": "true", "XDG_RUNTIME_DIR": str(shell.cwd / ".git/none")},
            ),
            ("", [HOOK, "claude"], payload(shell.cwd, after, **read, **alone, **response), {}),
        )
        for name, argv, data, more in steps:
            took.setdefault(name, []).append(seconds(argv, data, shell, **more))
    return took


def main(arguments: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args(arguments).rounds
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "home").mkdir()
        (place / "run").mkdir()
        shell = Shell(shop(place / "shop"), place / "home", XDG_RUNTIME_DIR=str(place / "run"))
        prompt = payload(shell.cwd, "UserPromptSubmit", prompt="do every item of the list")
        seconds([HOOK, "claude"], prompt, shell)
        (journal,) = (place / "home").rglob("journal.sqlite")
        asyncio.run(drive(journal, EVENTS))
        took = measure(shell, rounds)
        seconds([HOOK, "claude"], payload(shell.cwd, "SessionEnd"), shell)
    bare = statistics.median(took["bare"])
    slow = False
    for name, times in took.items():
        if name:
            limit = 1.0 if name == "bare" else ALONE if name == "alone" else RESIDENT
            ratio = statistics.median(times) / bare
            slow |= ratio > limit
            print(f"{name:<14} {ratio * bare * 1000:>6.0f} ms  {ratio:>5.2f}x")
    print(f"(with the resident governor at most {RESIDENT}x, without at most {ALONE}x)")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
