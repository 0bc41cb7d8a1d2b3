"""A whole run on a real repository, by a process that can be told when to die."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
import traceback
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.simulation.tales import Tale

from flyball.app.runs.journals import acquire
from flyball.engine.effects import EffectPerformer
from flyball.engine.loop import Engine
from flyball.engine.run_context import RunContext, recall
from flyball.journal.protocol import Lease
from flyball.journal.sqlite import SqliteJournal
from flyball.plan.message import AnyMessage, ExecuteTask, ExecutionResults, PlanRequest
from flyball.run.effect import Owed, Perform
from flyball.run.event import AnyEvent, DriverReplied, Messaged, RunStarted, name_of
from flyball.run.policy import Policy
from flyball.run.state import RunState
from flyball.run.thread import ThreadLine
from flyball.workspace.redaction import Redactor

RUN = "mortal"


class ReplayStatus:
    """Names the moments of a process, and ends it at the first that is not among the survived.

    With a stride only one in so many moments is deadly, always the same ones.
    """

    def __init__(self, survived: Path | None = None, only: str = "", stride: int = 1) -> None:
        self._file = survived
        self._survived = set(survived.read_text().split("\n")) if survived else set[str]()
        self._only = only
        self._stride = stride
        self.moments: list[str] = []

    def meet(self, moment: str) -> None:
        self.moments.append(moment)
        is_deadly = not zlib.crc32(moment.encode()) % self._stride
        if self._file and is_deadly and moment not in self._survived:
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

    def __init__(self, path: Path, fate: ReplayStatus) -> None:
        super().__init__(path)
        self.fate = fate

    async def intend(self, lease: Lease, owed: Owed, now: float) -> bool:
        found = await super().intend(lease, owed, now)
        effect = owed.effect
        what = effect.call.id if isinstance(effect, Perform) else getattr(effect, "card", "")
        self.fate.meet(f"intended {effect.__struct_config__.tag} {_step(what)}")
        return found

    async def commit(
        self,
        lease: Lease,
        event: AnyEvent,
        state: RunState,
        lines: Sequence[ThreadLine],
        posted: int = 0,
    ) -> None:
        name = moment(event)
        self.fate.meet(f"performed {name}")
        await super().commit(lease, event, state, lines, posted)
        self.fate.meet(f"committed {name}")


def moment(event: AnyEvent) -> str:
    """What happened, in words that are the same for every try."""
    match event:
        case DriverReplied(calls=calls):
            what = calls[0].id if calls else f"{event.card} {event.text}"
        case Messaged(message=message):
            what = f"{type(message).__name__} {_about(message)}"
        case _:
            what = f"{getattr(event, 'card', '')} {getattr(event, 'call', '')}"
    return f"{name_of(type(event))} {_step(what)}".strip()


def _about(message: AnyMessage) -> str:
    match message:
        case ExecuteTask(step=step, plan_id=plan):
            return f"{plan} {step.id}"
        case ExecutionResults(step_results=(result, *_), plan_id=plan):
            return f"{plan} {result.step_id}"
        case PlanRequest(iteration=iteration):
            return str(iteration)
        case _:
            return str(getattr(message, "id", getattr(message, "plan_id", "")))


def _step(id: str) -> str:
    return re.sub(r"(/s\d+)t\d+", r"\1", id)


class Shop(NamedTuple):
    """Where a trial takes place, and what it is about."""

    repo: Path
    state: Path
    tale: Tale

    @property
    def journal(self) -> Path:
        return self.state / "journal.sqlite"


def make_shop(place: Path, tale: Tale) -> Shop:
    """A small broken project in git, and an empty state directory."""
    repo = place / "cart"
    repo.mkdir(parents=True)
    for name, text in tale.files.items():
        (repo / name).write_text(text)
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), (*who, "commit", "-qm", "start")):
        subprocess.run(["git", *words], cwd=repo, check=True)
    return Shop(repo, place / "state", tale)


async def work(shop: Shop, fate: ReplayStatus) -> RunState:
    """Begin the run, or go on with it, until it ends."""
    journal = MortalJournal(shop.journal, fate)
    environ = {**os.environ, "PATH": f"{sys.base_prefix}/bin:/usr/local/bin:/usr/bin:/bin"}
    context = RunContext(
        shop.repo, shop.state, environ=environ, redactor=Redactor(()), on_output=lambda _: None
    )
    lease = await acquire(journal, RUN)
    performer = EffectPerformer(
        journal, shop.tale.driver, context, on_text=lambda _card, _text: None
    )
    engine = Engine(journal, lease, performer, clock=time.time, watch=lambda _: None)
    try:
        events = [entry.event for entry in await journal.events(RUN)]
        context.seen.update(recall(events))
        if events:
            state = await journal.load(RUN)
        else:
            started = RunStarted(
                run=RUN,
                request=shop.tale.request,
                intent=shop.tale.intent,
                budget=150,
                policy=Policy(bash=True, bash_without_sandbox=True),
            )
            state = await engine.append(RunState(), started)
        if state.base:
            context.open(RUN)
        return await engine.run(state)
    finally:
        await journal.release(lease)
        await journal.close()
        context.close()


def live(shop: Shop, fate: ReplayStatus) -> int:
    """Work in a process of our own making; returns its id."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        asyncio.run(work(shop, fate))
        code = 0
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
    finally:
        os._exit(code)
