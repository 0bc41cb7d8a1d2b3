"""A whole run on a real repository, by a process that can be told when to die."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from flyball.app.holder import acquire
from flyball.core.effect import Owed, Perform
from flyball.core.event import AnyEvent, DriverReplied, Finish, Messaged, RunStarted, name_of
from flyball.core.intent import Intent
from flyball.core.policy import Policy
from flyball.core.state import RunState
from flyball.core.thread import Line, Speaker, SpokenCall
from flyball.drivers.protocol import Reply, Request
from flyball.engine.hands import EngineHands
from flyball.engine.loop import Engine
from flyball.engine.seen import recall
from flyball.engine.station import Place, Station
from flyball.journal.protocol import Intention, Lease
from flyball.journal.sqlite import SqliteJournal
from flyball.workspace.redaction import Redactor

RUN = "mortal"

FILES = {
    ".gitignore": "*.log\n__pycache__/\n",
    "cart.py": (
        "def total(prices):\n    return sum(prices) - 1\n\n\ndef count(prices):\n    return 0\n"
    ),
    "old.txt": "nobody reads this\n",
    "test_cart.py": (
        "import pathlib, time, unittest\n"
        "import cart\n\n"
        "with open(pathlib.Path(__file__).with_name('suite.log'), 'a') as log:\n"
        "    log.write('suite\\n')\n"
        "time.sleep(0.05)\n\n\n"
        "class CartTest(unittest.TestCase):\n"
        "    def test_total(self):\n"
        "        self.assertEqual(cart.total([1, 2]), 3)\n\n"
        "    def test_count(self):\n"
        "        self.assertEqual(cart.count([1, 2]), 2)\n"
    ),
}


def _edit(before: str, after: str) -> dict[str, object]:
    return {"diff": f"--- a/cart.py\n+++ b/cart.py\n@@ @@\n-{before}\n+{after}\n"}


CHECKPOINT: dict[str, object] = {
    "goal": "total and count are right",
    "findings": "total is off by one, count is constant",
    "proposed_action": "mend both",
    "files": ["cart.py", "notes.md", "old.txt"],
    "verify_with": ["test"],
}

STEPS: tuple[tuple[tuple[str, dict[str, object]], ...], ...] = (
    (("read", {"path": "cart.py"}), ("read", {"path": "test_cart.py"}), ("list", {})),
    (("write_file", {"path": "notes.md", "content": "too early\n"}),),
    (("grep", {"q": "return"}), ("git_log", {})),
    (("note", {"text": "both functions are wrong"}),),
    (("checkpoint", CHECKPOINT),),
    (("edit_diff", _edit("    return sum(prices) - 1", "    return sum(prices)")),),
    (("test", {}),),
    (("edit_diff", _edit("    return 0", "    return len(prices)")),),
    (("write_file", {"path": "notes.md", "content": "Both are mended.\n"}),),
    (("read", {"path": "cart.py"}),),
    (("read", {"path": "notes.md"}),),
    (("project", {}),),
    (("delete_file", {"path": "old.txt"}),),
    (("bash", {"cmd": "printf '%s\\n' ID-begins >> ran.log; sleep 0.1; echo ID-ends >> ran.log"}),),
    (("test", {}),),
)
"""What the driver does, in order; what was interrupted it does again under a new name."""


class Robot:
    """A driver that looks at its thread to find out what is still to be done."""

    async def think(self, request: Request, _on_text: Callable[[str], None]) -> Reply:
        if request.role == "reviewer":
            return Reply(text="The risk is low.")
        if request.role != "executor" or not request.tools:
            return Reply(text="All is said.")
        outcomes = {line.call: line.text for line in request.lines if line.call}
        for n, step in enumerate(STEPS):
            tries = [f"s{n}t{t}" for t in range(1 + _tries(request.lines, n))]
            if any(_is_done(outcomes, id, len(step)) for id in tries[:-1]):
                continue
            return Reply(calls=tuple(_calls(step, tries[-1])), finish=Finish.TOOL_CALLS)
        last = request.lines[-1]
        if last.speaker is Speaker.GOVERNOR and "not done" in last.text:
            call = SpokenCall(f"again{len(request.lines)}", "test", {})
            return Reply(calls=(call,), finish=Finish.TOOL_CALLS)
        return Reply(text="Both are mended.")

    async def close(self) -> None:
        """Nothing is held."""


def _calls(step: Sequence[tuple[str, dict[str, object]]], id: str) -> Iterator[SpokenCall]:
    for i, (tool, args) in enumerate(step):
        if tool == "bash":
            args = {"cmd": str(args["cmd"]).replace("ID", id)}
        yield SpokenCall(f"{id}.{i}", tool, args)


def _tries(lines: Sequence[Line], step: int) -> int:
    asked = [call.id for line in lines for call in line.calls]
    return len({id.partition(".")[0] for id in asked if id.startswith(f"s{step}t")})


def _is_done(outcomes: dict[str, str], id: str, size: int) -> bool:
    found = [outcomes.get(f"{id}.{i}", "was interrupted") for i in range(size)]
    return not any("was interrupted" in text for text in found)


class Fate:
    """Names the moments of a process, and ends it at the first that is not among the survived."""

    def __init__(self, survived: Path | None = None, only: str = "") -> None:
        self._file = survived
        self._survived = set(survived.read_text().split("\n")) if survived else set[str]()
        self._only = only
        self.moments: list[str] = []

    def meet(self, moment: str) -> None:
        self.moments.append(moment)
        if self._file and moment not in self._survived:
            with self._file.open("a") as deaths:
                deaths.write(f"{moment}\n")
            os.kill(os.getpid(), signal.SIGKILL)
        if moment == self._only:
            os.kill(os.getpid(), signal.SIGKILL)


class MortalJournal(SqliteJournal):
    """A journal that may be the last thing its process touched.

    Its moments are named by what happens, not by number, so that what has to be done again after
    one death is not deadly again.
    """

    def __init__(self, path: Path, fate: Fate) -> None:
        super().__init__(path)
        self.fate = fate
        self.last = "nothing"

    async def intend(self, lease: Lease, owed: Owed, now: float) -> Intention:
        found = await super().intend(lease, owed, now)
        effect = owed.effect
        what = effect.call.id if isinstance(effect, Perform) else f"after {self.last}"
        self.fate.meet(f"intended {effect.__struct_config__.tag} {_step(what)}")
        return found

    async def commit(
        self,
        lease: Lease,
        event: AnyEvent,
        state: RunState,
        lines: Sequence[Line],
        posted: int = 0,
    ) -> None:
        name = moment(event)
        self.fate.meet(f"performed {name}")
        await super().commit(lease, event, state, lines, posted)
        self.last = name
        self.fate.meet(f"committed {name}")


def moment(event: AnyEvent) -> str:
    """What happened, in words that are the same for every try."""
    match event:
        case DriverReplied(calls=calls):
            what = calls[0].id if calls else event.text
        case Messaged(message=message):
            what = type(message).__name__
        case _:
            what = str(getattr(event, "call", ""))
    return f"{name_of(type(event))} {_step(what)}".strip()


def _step(id: str) -> str:
    return re.sub(r"^(s\d+)t\d+", r"\1", id)


class Shop(NamedTuple):
    """Where a trial takes place."""

    repo: Path
    state: Path

    @property
    def journal(self) -> Path:
        return self.state / "journal.sqlite"


def make_shop(place: Path) -> Shop:
    """A small broken project in git, and an empty state directory."""
    repo = place / "cart"
    repo.mkdir(parents=True)
    for name, text in FILES.items():
        (repo / name).write_text(text)
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), (*who, "commit", "-qm", "start")):
        subprocess.run(["git", *words], cwd=repo, check=True)
    return Shop(repo, place / "state")


async def work(shop: Shop, fate: Fate) -> RunState:
    """Begin the run, or go on with it, until it ends."""
    journal = MortalJournal(shop.journal, fate)
    place = Place(repo=shop.repo, state_dir=shop.state)
    environ = {**os.environ, "PATH": f"{sys.base_prefix}/bin:/usr/local/bin:/usr/bin:/bin"}
    station = Station(place, environ, Redactor(()), lambda _: None)
    lease = await acquire(journal, RUN)
    hands = EngineHands(journal, Robot(), station, on_text=lambda _card, _text: None)
    engine = Engine(journal, lease, hands, clock=time.time, watch=lambda _: None)
    try:
        events = [entry.event for entry in await journal.events(RUN)]
        station.seen.update(recall(events))
        if events:
            journal.last = moment(events[-1])
            state = await journal.load(RUN)
        else:
            started = RunStarted(
                run=RUN,
                request="fix the cart",
                intent=Intent.SMALL_FIX,
                budget=40,
                policy=Policy(bash=True, bash_without_sandbox=True),
            )
            state = await engine.append(RunState(), started)
        if state.base:
            station.open(RUN)
        return await engine.drive(state)
    finally:
        await journal.release(lease)
        await journal.close()
        station.close()


def live(shop: Shop, fate: Fate) -> int:
    """Work in a process of our own making; returns its id."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        asyncio.run(work(shop, fate))
        code = 0
    finally:
        os._exit(code)
