"""Drive one run in this process with engine, journal and driver."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from flyball.app.answering import needs_only_resume
from flyball.app.attesting import key_file
from flyball.app.project import Home, redactor_of
from flyball.app.runs.files import present_tree
from flyball.app.runs.journals import Record, acquire, holder_of, open_journal, opened, record_of
from flyball.app.starting import RunRequest, started_of
from flyball.app.templates import project_templates
from flyball.app.wiring import (
    OWN,
    REPAIR,
    NullDriver,
    driver_spec,
    image_model,
    make_driver,
    tool_settings,
    tracer,
    unlocked,
    with_notifications,
)
from flyball.drivers.protocol import Driver
from flyball.drivers.relay.clipboard import PersonPort
from flyball.engine.effects import EffectPerformer
from flyball.engine.loop import LEASE_SECONDS, Engine
from flyball.engine.run_context import RunContext, recall
from flyball.engine.telemetry import Telemetry, resumed
from flyball.errors import Conflict, LeaseHeld, UsageError
from flyball.journal.protocol import Journal, JournalEntry, Lease
from flyball.run.effect import Owed
from flyball.run.ending import status_of
from flyball.run.event import (
    Answered,
    AnyEvent,
    Cancelled,
    Extended,
    Resumed,
    RunStarted,
    Tightened,
    WorkspaceReady,
)
from flyball.run.policy import Policy, stricter
from flyball.run.state import RunState
from flyball.workspace.process import levels
from flyball.workspace.redaction import Redactor, Stream
from flyball.workspace.run.opening import find_workspace


class Watcher(NamedTuple):
    """Callbacks that are notified of events and output."""

    telemetry: Callable[[Telemetry], None]
    text: Callable[[str], None]
    output: Callable[[str], None]


class RedactingWatcher:
    """Passes on events, and streamed text only once it is certain to contain no secret.

    When several cards stream at once, the one that started first streams live. The output of the
    others follows when it has ended, or as a whole when they have ended themselves.
    """

    def __init__(self, watcher: Watcher, redactor: Redactor) -> None:
        self._watcher = watcher
        self._streams: defaultdict[str, Stream] = defaultdict(redactor.stream)
        self._waiting: dict[str, str] = {}
        self.asked = ""
        """The last question that was reported, if nothing followed it."""

    def text(self, card: str, delta: str) -> None:
        self._waiting[card] = self._waiting.get(card, "") + self._streams[card].feed(delta)
        self._let_speak()

    def telemetry(self, line: Telemetry) -> None:
        card = line.get("card", "")
        if card in self._waiting:
            rest = self._waiting[card] + self._streams.pop(card).close()
            is_speaking = card == next(iter(self._waiting))
            del self._waiting[card]
            if is_speaking and rest:
                self._watcher.text(rest)
        self.asked = line["question"] if line["type"] == "approval" else ""
        self._watcher.telemetry(line)
        self._let_speak()

    def _let_speak(self) -> None:
        """Pass on the text that the first streaming card has produced so far."""
        for card, text in self._waiting.items():
            if text:
                self._waiting[card] = ""
                self._watcher.text(text)
            return


NO_REPAIRER = "Name a model with --model, or answer yourself with --driver relay:DIR."
WORKERS = "the workers of the cluster"
ASK_AGAIN = 0.2
PATIENCE = 10.0
"""Seconds to wait for a cancelled run's holder before reporting that it still works."""


class RunResult(NamedTuple):
    """A run that rests or has ended, and its change."""

    state: RunState
    diff: str = ""
    in_place: bool = False
    left_to: str = ""
    """The process that was notified instead, because it drives the run."""
    is_hosted: bool = False
    """Whether another vendor's agent drives the run and continues by itself."""

    @property
    def status(self) -> str:
        return status_of(self.state)


class RunOwner:
    """The place a run is driven from: this process. A cluster worker has its own seat."""

    lease_seconds = LEASE_SECONDS

    def open_journal(self, home: Home) -> Journal:
        return open_journal(home)

    async def acquire(self, journal: Journal, run: str) -> Lease:
        """Acquire the right to drive a run, and fetch its files if necessary."""
        return await acquire(journal, run)

    def opened(self, performer: EffectPerformer) -> None:
        """Receive the performer of effects, before the first effect."""

    def is_left(self, state: RunState, owed: Owed) -> bool:  # noqa: ARG002
        """Return whether another process must perform the effect."""
        return False


Word = Callable[[RunState], AnyEvent]
"""An answer by a person, made into an event once the run's state is known."""


class RunControl:
    """Starts, resumes, answers, extends and cancels one run in this process."""

    def __init__(
        self,
        home: Home,
        watcher: Watcher,
        port: PersonPort | None = None,
        seat: RunOwner | None = None,
        driver: Driver | None = None,
    ) -> None:
        self.home = home
        self._seat = seat or RunOwner()
        self._own_driver = driver
        """The driver to use instead of the one that a run names."""
        self.run = ""
        """The run that is driven, once there is one."""
        self._watcher = watcher
        self._port = port
        self._told: RedactingWatcher | None = None
        self._engine: Engine | None = None
        self._pause_by = ""

    @property
    def asked(self) -> str:
        """Return the last question reported to the watcher, unless something followed it."""
        return self._told.asked if self._told else ""

    def recheck_roles(self) -> None:
        """Ask the seat again which effects belong to others."""
        if self._engine is not None:
            self._engine.recheck_roles()

    def pause(self, by: str) -> None:
        """Ask the run to pause."""
        self._pause_by = by
        if self._engine is not None:
            self._engine.pause(by)

    async def start(self, wanted: RunRequest) -> RunResult:
        """Start a run and drive it until it rests or ends."""
        spec = self._spec(wanted.driver)
        if wanted.flow is not None and spec == REPAIR:
            raise UsageError("The built-in repairer cannot follow a flow.", NO_REPAIRER)
        own = project_templates(self.home)
        for notice in own.notices:
            self._watcher.telemetry({"type": "notice", "text": notice})
        started = started_of(self.home, wanted, spec, own.templates)
        async with self._held(started, self._made(spec)) as (engine, performer):
            state = await engine.append(RunState(), started)
            return await self._drive(engine, performer, state)

    async def resume(self, run: str, by: str, driver: str = "") -> RunResult:
        """Resume a run that rests or whose process died; an open question stays open."""
        record = await record_of(self.home, run)
        if record.state.has_ended:
            status = status_of(record.state)
            raise Conflict(f"Run {run} has ended: {status}.", "Start a new one.")
        if record.is_hosted:
            raise Conflict(f"Run {run} is driven by another program.", "Continue it there.")
        if record.is_submitted:
            word = Resumed(by=by, tree=present_tree(record.state))
            return await self._queue_answer(record, lambda _: word)
        driver_now = self._driver(record.started, driver)
        async with self._held(record.started, driver_now, record.entries) as (engine, performer):
            state = await engine.journal.load(run, record.state)
            self._tell_resumed(record.started, state)
            if state.is_at_rest and needs_only_resume(state):
                state = await engine.append(state, performer.look(state, by))
            return await self._drive(engine, performer, state)

    async def go_on(self, run: str, by: str, own: Policy) -> RunResult:
        """Drive a run from its current state, with any messages queued for it.

        `own` is this machine's policy: the stricter of it and the run's applies.
        """
        record = await record_of(self.home, run)
        driver = self._driver(record.started)
        async with self._held(record.started, driver, record.entries) as (engine, performer):
            state = await engine.journal.load(run, record.state)
            if state.seq != record.state.seq:
                # Another worker had it between the check and the lease; the state is outdated, and
                # the scheduler will assign the run again.
                return RunResult(state)
            word = Tightened(by=by, policy=own, has_sandbox=levels.detect_level().value != "none")
            if not state.has_ended and _would_tighten(state, word):
                state = await engine.append(state, word)
            return await self._drive(engine, performer, state)

    async def give_up(self, run: str, by: str, why: str) -> RunResult:
        """End a run that no process can drive, with a reason."""
        record = await record_of(self.home, run)
        async with self._held(record.started, NullDriver()) as (engine, _):
            state = await engine.journal.load(run, record.state)
            state = await engine.append(state, Cancelled(by=by, why=self._clean(why)))
            return RunResult(await engine.run(state))

    async def _queue_answer(self, record: Record, word: Word) -> RunResult:
        """Queue an answer for the worker that will drive the run."""
        event = self._cleaned(word(record.state))
        async with opened(self.home) as journal:
            await journal.post(record.state.run, event)
        return RunResult(record.state, left_to=WORKERS)

    async def say(self, run: str, word: Word, by: str, *, drive: bool = True) -> RunResult:
        """Record a person's answer, and continue the run with it."""
        record = await record_of(self.home, run)
        if record.is_submitted:
            return await self._queue_answer(record, word)
        word(record.state)
        # An agent in its own program continues by itself with its next request.
        drive = drive and not record.is_hosted
        driver = self._driver(record.started) if drive else NullDriver()
        async with self._held(record.started, driver, record.entries) as (engine, performer):
            state = await engine.journal.load(run, record.state)
            event = self._cleaned(word(state))
            if drive:
                self._tell_resumed(record.started, state)
            state = await self._look_again(engine, performer, state, by)
            state = await engine.append(state, event)
            if drive:
                return await self._drive(engine, performer, state)
            return RunResult(state, is_hosted=record.is_hosted)

    async def extend(self, run: str, word: Word, by: str, *, drive: bool = True) -> RunResult:
        """Add to a budget; if another process drives the run, send the addition there."""
        async with opened(self.home) as journal:
            state = await journal.load(run)
            held = "" if state.is_at_rest else await holder_of(journal, run)
            if held:
                await journal.post(run, self._cleaned(word(state)))
                return RunResult(state, left_to=held)
        return await self.say(run, word, by, drive=drive)

    def _tell_resumed(self, started: RunStarted, state: RunState) -> None:
        """Report what happened before this process took over: the run's name and its state."""
        self._watcher.telemetry(resumed(state, started.shell.get("driver", "")))

    def _driver(self, started: RunStarted, requested: str = "") -> Driver:
        return self._made(self._spec(requested or started.shell.get("driver", "")))

    def _spec(self, requested: str) -> str:
        """Return the driver's specification, as stored in the journal."""
        if self._own_driver is not None:
            return f"{OWN}:{type(self._own_driver).__name__}"
        return driver_spec(self.home.effective.settings, requested, Path.cwd())

    def _made(self, spec: str) -> Driver:
        """Return a driver; a key from the keyring is added to the known secrets."""
        if self._own_driver is not None:
            return self._own_driver
        self.home = unlocked(self.home, spec)
        return make_driver(self.home, spec, self._port)

    def _clean(self, text: str) -> str:
        """Return a person's input with known secrets redacted, ready for the journal."""
        return redactor_of(self.home).text(text)

    def _cleaned(self, event: AnyEvent) -> AnyEvent:
        match event:
            case Answered(note=note) if note:
                return msgspec.structs.replace(event, note=self._clean(note))
            case Extended(why=why):
                return msgspec.structs.replace(event, why=self._clean(why))
            case _:
                return event

    async def _look_again(
        self, engine: Engine, performer: EffectPerformer, state: RunState, by: str
    ) -> RunState:
        """Collect the evidence again if the tree changed while the run rested."""
        if not state.paused:
            return state
        seen = performer.look(state, by)
        if all(card.tree == seen.tree_of(card.place) for card in state.paused):
            return state
        return await engine.append(state, seen)

    async def cancel(self, run: str, by: str, why: str = "") -> RunResult:
        """Cancel a run, or ask the process that drives it to do so."""
        record = await record_of(self.home, run)
        if record.state.has_ended:
            raise Conflict(f"Run {run} has ended already: {status_of(record.state)}.")
        result = RunResult(record.state)
        async with opened(self.home) as journal:
            await journal.post(run, Cancelled(by=by, why=self._clean(why)))
            for _ in range(int(PATIENCE / ASK_AGAIN)):
                try:
                    if record.is_submitted:
                        raise LeaseHeld(run, WORKERS)
                    async with self._held(record.started, NullDriver()) as (engine, performer):
                        state = await engine.journal.load(run, record.state)
                        return await self._drive(engine, performer, state)
                except LeaseHeld as held:
                    result = RunResult(await journal.load(run), left_to=held.holder)
                if result.state.has_ended:
                    return result
                await asyncio.sleep(ASK_AGAIN)
        return result

    async def _drive(
        self, engine: Engine, performer: EffectPerformer, state: RunState
    ) -> RunResult:
        try:
            state = await engine.run(state, self._seat.is_left)
        finally:
            performer.context.rest()
        workspace = performer.context.opened
        if workspace is None:
            return RunResult(state)
        left = state.left_behind()
        diff = workspace.diff(state.base, present_tree(state), without=left)
        said = performer.context.redactor.text(diff.decode("utf-8", "replace"))
        return RunResult(state, said, workspace.in_place)

    @asynccontextmanager
    async def _held(
        self, started: RunStarted, driver: Driver, history: Sequence[JournalEntry] = ()
    ) -> AsyncGenerator[tuple[Engine, EffectPerformer]]:
        home, run = self.home, started.run
        context = self._context(started, history)
        eyes = context.eyes = image_model(home, started.shell.get("driver", ""))
        told = self._told = RedactingWatcher(self._watcher, context.redactor)
        journal = self._seat.open_journal(home)
        try:
            lease = await self._seat.acquire(journal, run)
            self.run = run
            has_model = started.shell.get("driver", "").startswith("model:")
            performer = EffectPerformer(
                journal,
                driver,
                context,
                history=started.history,
                on_text=told.text,
                reader=driver if has_model else None,
            )
            watch = with_notifications(home, run, told.telemetry)
            traced = await tracer(home, journal, run, told.telemetry)
            engine = Engine(
                journal,
                lease,
                performer,
                clock=time.time,
                watch=watch,
                trace=traced.take if traced else None,
                lease_seconds=self._seat.lease_seconds,
            )
            self._engine = engine
            self._seat.opened(performer)
            if self._pause_by:
                engine.pause(self._pause_by)
            try:
                if any(isinstance(entry.event, WorkspaceReady) for entry in history):
                    _check_workspace(home, run)
                    context.open(run)
                yield engine, performer
            finally:
                self._engine = None
                context.close()
                await journal.release(lease)
                if traced is not None:
                    await traced.close()
        finally:
            await journal.close()
            await driver.close()
            if eyes is not None:
                await eyes.close()

    def _context(self, started: RunStarted, history: Sequence[JournalEntry]) -> RunContext:
        """Return the context in which a run's effects are performed, with the run's history."""
        home = self.home
        context = RunContext(
            home.repo,
            home.state,
            environ=home.environ,
            redactor=redactor_of(home),
            on_output=self._watcher.output,
            in_place=bool(started.shell.get("in_place")),
            settings=tool_settings(home.effective),
        )
        context.is_to_rest = lambda: bool(self._pause_by)
        context.on_progress = self._watcher.telemetry
        context.signing_key = key_file(home.environ)
        context.seen.update(recall(entry.event for entry in history))
        return context


def _check_workspace(home: Home, run: str) -> None:
    if find_workspace(run, home.state) is None:
        raise Conflict(
            f"The workspace of run {run} is not here: the run was imported or pruned, or it was "
            f"started on another machine.",
            "Here it can only be shown and judged; continue it where it was started.",
        )


def _would_tighten(state: RunState, word: Tightened) -> bool:
    """Return whether a machine's own policy forbids anything that the run's allows."""
    loses_sandbox = not word.has_sandbox and state.project.sandbox != "none"
    return loses_sandbox or stricter(state.policy, word.policy) != state.policy
