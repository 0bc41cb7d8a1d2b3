"""How many files three flows cross, beside what they crossed in the first product.

Each is run by the real command line with a script for a driver, and watched from the moment the
driver's reply is there until what came of it is written: an edit until its outcome is in the
thread, a premature stop until the sentence that rejects it is, and a run that was killed while an
edit was under way from the command that resumes it to the first event it writes.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tests.governed import EDIT, READ, REVIEW, SUITE, Line, checkpoint, environment, say, script
from tests.governed import shop as broken_shop

from bench.figure import Figure, conclude

ROOT = Path(__file__).parents[1]
RUN = ("run", "--intent", "small_fix", "the total is wrong")
RESUME = ("runs", "resume", "last")
TRACE = "from bench.flow_trace import trace; trace()"
TO_THE_EDIT = (READ, checkpoint(), EDIT)
TO_THE_END = (SUITE, say("The total counts every piece."), REVIEW)


class Count(NamedTuple):
    """How many files a flow crosses, and how often it goes from one to another."""

    files: int
    switches: int

    def __str__(self) -> str:
        return f"{self.files} files, {self.switches} switches"


@dataclass(frozen=True)
class Flow:
    """From which reply to which commit after it, and what the first product crossed there."""

    name: str
    lines: Sequence[Line]
    replies: int
    commits: int
    stated: Count
    """As it was counted then, by other means: the aim is a quarter less than this."""
    recounted: Count
    """The same product, counted by this bench."""
    is_resumed: bool = False


FLOWS = (
    Flow("edit", (*TO_THE_EDIT, *TO_THE_END), 3, 2, Count(70, 397), Count(65, 263)),
    Flow(
        "stop",
        (*TO_THE_EDIT, say("Done too early."), *TO_THE_END),
        4,
        1,
        Count(19, 67),
        Count(19, 44),
    ),
    Flow(
        "resume", (*TO_THE_EDIT, *TO_THE_END), 0, 1, Count(94, 532), Count(94, 556), is_resumed=True
    ),
)
SHARE = 0.75
"""What may be left of what was stated of the first product."""


@dataclass(frozen=True)
class Crossing:
    """The files that a flow entered, with the functions called there, and its switches."""

    files: dict[str, dict[str, int]]
    switches: dict[str, int]


def watch(flow: Flow, checkout: Path = ROOT) -> Crossing:
    """What a flow crosses in the product that lies in a checkout."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        home = folder / "home"
        home.mkdir()
        repository = broken_shop(folder / "shop")
        driver = script(folder / "script.jsonl", *flow.lines)
        # Settings that the first product does not know, it would refuse.
        known = {k: v for k, v in environment(home).items() if "VERDICT" not in k}
        env = {**known, "PYTHONPATH": f"{checkout / 'src'}:{ROOT}"}
        answer = folder / "answer.json"

        def command(words: Sequence[str], replies: int, commits: int, answer: str) -> int:
            order = {"replies": replies, "commits": commits, "answer": answer}
            argv = [sys.executable, "-c", TRACE, json.dumps(order), *words]
            done = subprocess.run(argv, cwd=repository, env=env, capture_output=True, check=False)
            return done.returncode

        words = (*RUN, "--driver", driver)
        if flow.is_resumed:
            # Killed when the edit is on disk and its outcome is not written yet.
            assert command(words, 3, 2, "") == -signal.SIGKILL
            words = RESUME
        command(words, flow.replies, flow.commits, str(answer))
        return Crossing(**json.loads(answer.read_text()))


def tell(flow: Flow, seen: Crossing) -> Figure:
    """Print a flow's counts; the files, which are to be fewer than those of the first product."""
    now = Count(len(seen.files), sum(seen.switches.values()))
    print(f"{flow.name}: {now}")
    print(f"  first product, counted the same way: {flow.recounted}; as stated then: {flow.stated}")
    if now[1] > flow.stated[1] * SHARE:
        print(f"  TOO MANY switches: {now[1]}, at most {flow.stated[1] * SHARE:.0f}")
    files = flow.stated[0]
    return Figure(
        f"files that `{flow.name}` crosses",
        now[0],
        "",
        "the first product",
        files,
        most_ratio=SHARE,
    )


def list_files(seen: Crossing) -> None:
    for file, names in sorted(seen.files.items()):
        print(f"  {file}: {', '.join(f'{name} {n}' for name, n in names.items())}")
    for switch, n in sorted(seen.switches.items(), key=lambda each: -each[1]):
        print(f"  {n:4} {switch}")


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkout", type=Path, default=ROOT, help="count another checkout")
    parser.add_argument("--list", action="store_true", help="list files, functions and switches")
    parser.add_argument("name", nargs="*", help=", ".join(flow.name for flow in FLOWS))
    options = parser.parse_args(arguments)
    found: list[Figure] = []
    for flow in FLOWS:
        if options.name and flow.name not in options.name:
            continue
        seen = watch(flow, options.checkout.resolve())
        found.append(tell(flow, seen))
        if options.list:
            list_files(seen)
    return found


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
