"""How many files and functions four flows enter, and the way itself, as a list to follow.

An edit, a stop and a resumed run go through the real command line with a script for a driver. They
are watched from the moment the driver's reply is there until what came of it is written: an edit
until its outcome is, a stop until the evidence of its verdict is (which runs the tests, and tries
no mutants), and a run that was killed while an edit was under way from the command that resumes it
to the first event it writes. The fourth is the hook of another agent that has been asked something
and is about to run a command, in a place where no governor may stay.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from tests.governed import EDIT, READ, REVIEW, SUITE, Line, checkpoint, environment, say, script
from tests.governed import shop as broken_shop

from bench.figure import Figure, conclude

ROOT = Path(__file__).parents[1]
RUN = ("run", "--intent", "small_fix", "the total is wrong")
RESUME = ("runs", "resume", "last")
TRACE = "from bench.flow_trace import trace; trace()"
COMMANDS, HOOK = "flyball.cli", "flyball.hosts.client"
SCRIPT: Sequence[Line] = (
    READ, checkpoint(), EDIT, SUITE, say("The total counts every piece."), REVIEW,
)  # fmt: skip
TO_EDIT, TO_STOP = 3, 5
"""The replies until then."""
SESSION = {"session_id": "s1"}
PROMPT = {**SESSION, "hook_event_name": "UserPromptSubmit", "prompt": "where is the total?"}
CALL = {
    **SESSION,
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "grep -n total cart.py"},
    "tool_use_id": "t1",
}

Way = Mapping[str, Sequence[str]]
"""The functions of each file, in the order in which they were first entered."""


class Count(NamedTuple):
    files: int
    functions: int = 0


class Flow(NamedTuple):
    """From which reply to which commit after it; what the second product entered there."""

    name: str
    replies: int
    commits: int
    second: Count = Count(0)
    is_resumed: bool = False


FLOWS = (
    Flow("edit", TO_EDIT, 2, Count(50, 407)),
    Flow("stop", TO_STOP, 2, Count(125, 1_011)),
    Flow("resume", 0, 1, is_resumed=True),
    Flow("hook", 0, 0, Count(64, 428)),
)


def watch(flow: Flow) -> Way:
    """The way that a flow takes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        home = folder / "home"
        home.mkdir()
        repository = broken_shop(folder / "shop")
        driver = script(folder / "script.jsonl", *SCRIPT)
        env = environment(home, PYTHONPATH=f"{ROOT / 'src'}:{ROOT}", FLYBALL_HOOKS_ALONE="true")
        answer = folder / "answer.json"

        def command(
            words: Sequence[str],
            replies: int,
            commits: int,
            answer: str,
            payload: Mapping[str, object] = MappingProxyType({}),
        ) -> int:
            module = HOOK if payload else COMMANDS
            order = {"module": module, "replies": replies, "commits": commits, "answer": answer}
            done = subprocess.run(
                [sys.executable, "-c", TRACE, json.dumps(order), *words],
                cwd=repository,
                env=env,
                input=json.dumps({**payload, "cwd": str(repository)}).encode(),
                capture_output=True,
                check=False,
            )
            return done.returncode

        words = (*RUN, "--driver", driver)
        if flow.is_resumed:
            # Killed when the edit is on disk and its outcome is not written yet.
            assert command(words, TO_EDIT, 2, "") == -signal.SIGKILL
            words = RESUME
        if flow.name == "hook":
            for payload in (PROMPT, CALL):
                command(("claude",), 0, 0, str(answer), payload)
        else:
            command(words, flow.replies, flow.commits, str(answer))
        return json.loads(answer.read_text())


def figures(flow: Flow, way: Way) -> list[Figure]:
    """A flow's counts beside those of the second product: for those who read the code."""
    counts = {"files": len(way), "functions": sum(map(len, way.values()))}
    found: list[Figure] = []
    for i, (what, n) in enumerate(counts.items()):
        peer, theirs = ("the second product", flow.second[i]) if flow.second[i] else ("", None)
        found.append(Figure(f"{what} that `{flow.name}` enters", n, "", peer, theirs))
    return found


def show(flow: Flow, way: Way) -> None:
    print(f"{flow.name}: {len(way)} files, {sum(map(len, way.values()))} functions")
    for file, names in way.items():
        print(f"  {file}: {', '.join(names)}")


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="*", help=", ".join(flow.name for flow in FLOWS))
    options = parser.parse_args(arguments)
    found: list[Figure] = []
    for flow in FLOWS:
        if not options.name or flow.name in options.name:
            way = watch(flow)
            show(flow, way)
            found += figures(flow, way)
    return found


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
