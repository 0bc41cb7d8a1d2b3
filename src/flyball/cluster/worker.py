"""A cluster worker: takes runs, drives each in its own thread, and shuts down gracefully.

Every worker can assign runs; the current leader does. Only leases count: a run that should move and
has no live lease is assigned, whatever happened to its last holder.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple

from flyball.app.driving import RunControl, RunOwner, Watcher
from flyball.app.project import Home
from flyball.app.runs.journals import opened
from flyball.app.runs.run_bundle import Carrier, UnpackTarget
from flyball.app.starting import RunRequest, policy_of
from flyball.cluster.clones import WorkerDirectory, clear_run
from flyball.cluster.submitting import arrived
from flyball.engine.cluster import Scheduler
from flyball.engine.effects import EffectPerformer
from flyball.engine.handout import Shares, hand_out, queue_for, why_unserved
from flyball.errors import FlyballError, JournalError, LeaseHeld
from flyball.journal.postgres import PostgresJournal
from flyball.journal.protocol import Journal, Lease, WorkerRow
from flyball.journal.workers import QUEUES, DueRun, WorkerTable, queue_of
from flyball.run import codec
from flyball.run.effect import Owed
from flyball.run.ending import status_of
from flyball.run.event import AnyEvent, RunStarted
from flyball.run.policy import Policy
from flyball.run.state import RunState
from flyball.run.thread import ThreadLine
from flyball.workspace.process.process_identity import is_gone, name_this_process

LOG = logging.getLogger("flyball.worker")

LEASE_SECONDS = 6.0
"""Seconds without a heartbeat after which a worker's runs are reassigned."""
BEAT_SECONDS = 1.5
LOOK_SECONDS = 1.0
"""Maximum seconds between two scheduling rounds of the leader."""
DRAIN_SECONDS = 20.0
"""Seconds to wait for calls in progress when a worker is asked to stop."""
MOST_ATTEMPTS = 8
"""Maximum attempts from the same position before a run is given up."""
LONGEST_PAUSE = 60.0
"""Maximum seconds between two such attempts."""
FORGOTTEN = 24 * 3600.0
"""Seconds after which the scheduler's own records are deleted."""
FORGET_SECONDS = 600.0
BEGUN_SECONDS = 8.0
"""Seconds for which a live worker may have taken a run without a lease."""


class WorkerOptions(NamedTuple):
    """The options of a worker."""

    database: str
    roles: Sequence[str] = QUEUES
    concurrency: int = 4
    shares: Shares = Shares()
    says_yes: bool = False
    """Whether a submitter's advance approval counts on this machine."""


class CarryingJournal(PostgresJournal):
    """A journal that pushes every change of files before it commits the event."""

    def __init__(self, url: str, project: str) -> None:
        super().__init__(url, project, tell=LOG.warning)
        self.carry: Callable[[], None] | None = None
        self._known: tuple[object, ...] = ()

    async def commit(
        self,
        lease: Lease,
        event: AnyEvent,
        state: RunState,
        lines: Sequence[ThreadLine],
        posted: int = 0,
    ) -> None:
        """Commit an event, after pushing the files it refers to."""
        # Only trees and commits: most events change none.
        now = (state.tree, *((card.id, card.tree, card.commit) for card in state.cards))
        if self.carry and now != self._known:
            self.carry()
        await super().commit(lease, event, state, lines, posted)
        self._known = now


class WorkerControl(RunOwner):
    """The seat of a worker: one run with its own lease, and files fetched from the remote."""

    lease_seconds = LEASE_SECONDS

    def __init__(
        self, home: Home, project: str, roles: Sequence[str], is_leaving: Callable[[], bool]
    ) -> None:
        self._home = home
        self._project = project
        self._roles = roles
        self._is_leaving = is_leaving
        self._carrier: Carrier | None = None
        self._journal: CarryingJournal | None = None

    def open_journal(self, home: Home) -> Journal:
        self._journal = CarryingJournal(home.database, self._project)
        return self._journal

    async def acquire(self, journal: Journal, run: str) -> Lease:
        """Acquire the lease first, so that no other worker fetches the files as well."""
        lease = await journal.acquire(
            run, name_this_process(), time.time(), self.lease_seconds, is_gone
        )
        place = UnpackTarget(self._home.repo, self._home.state, self._home.environ)
        self._carrier = Carrier(place, self._project, run, lease.fence)
        try:
            self._carrier.arrive()
        except BaseException:
            await journal.release(lease)
            raise
        return lease

    def opened(self, performer: EffectPerformer) -> None:
        """Begin to push changes."""
        carrier, journal = self._carrier, self._journal
        assert carrier is not None
        assert journal is not None

        def carry() -> None:
            if workspace := performer.context.opened:
                carrier.send(workspace)

        journal.carry = carry

    def is_left(self, state: RunState, owed: Owed) -> bool:
        """Return whether an effect must be left to another role; always true once this worker is
        stopping."""
        if self._is_leaving():
            return True
        queue = queue_of(state, owed.effect)
        return bool(queue) and queue not in self._roles


class Worker:
    """One process of a cluster; `work` returns after a stop request, once its runs are released."""

    def __init__(self, options: WorkerOptions, environ: Mapping[str, str]) -> None:
        self.name = name_this_process()
        self.database = options.database
        self._options = options
        self.says_yes = options.says_yes
        self._room = WorkerDirectory(environ)
        self._driven: dict[str, _Driven] = {}
        self._free = threading.Condition()
        self._stop = threading.Event()
        self._taken_at: dict[str, float] = {}
        self._told: set[tuple[str, str]] = set()
        self._forget_at = 0.0
        row = WorkerRow(
            self.name,
            socket.gethostname(),
            tuple(options.roles),
            options.concurrency,
            0,
            version("flyball"),
            0.0,
            0.0,
            format=codec.VERSION,
        )
        self._table = WorkerTable(options.database, row, LEASE_SECONDS)
        self._scheduler = Scheduler(
            options.database,
            self.name,
            queue_for(row),
            options.concurrency,
            self._drive,
        )

    def stop(self) -> None:
        """Ask the worker to stop; it finishes what cannot be interrupted and releases the rest."""
        self._stop.set()

    def work(self, ready: Callable[[], None]) -> None:
        """Take runs and drive them until asked to stop."""
        self._room.delete_run_files()
        # Before the launch: a worker without a heartbeat would lose the run at once.
        self._table.beat(0)
        self._scheduler.launch()
        threading.Thread(target=self._beat, name="beat", daemon=True).start()
        ready()
        try:
            while not self._stop.is_set():
                try:
                    self._assign_runs()
                except JournalError as error:
                    LOG.warning("%s", error)
                if self._table.wait(LOOK_SECONDS):
                    self._scheduler.wake()
        finally:
            self._release_runs()

    def _beat(self) -> None:
        while not self._sleep(BEAT_SECONDS):
            try:
                self._table.beat(len(self._driven))
            except JournalError as error:
                LOG.warning("%s", error)

    def _sleep(self, seconds: float) -> bool:
        """Wait; return True if the worker must stop.

        A process that was frozen meanwhile has lost its leases, and releases its runs before it
        takes new ones.
        """
        before = time.monotonic()
        is_over = self._stop.wait(seconds)
        if time.monotonic() - before > LEASE_SECONDS:
            for driven in self._all_driven():
                driven.stop()
        return is_over

    def _all_driven(self) -> Sequence[_Driven]:
        with self._free:
            return list(self._driven.values())

    def _assign_runs(self) -> None:
        """Assign waiting runs, if this worker is the leader."""
        # On this machine a dead process is detected at once; elsewhere when its lease ends.
        if not self._table.leads():
            leader = self._table.leader()
            if not is_gone(leader):
                return
            self._table.remove_dead([leader])
            if not self._table.leads():
                return
        self._table.remove_dead([row.worker for row in self._table.all() if is_gone(row.worker)])
        if time.monotonic() > self._forget_at:
            self._forget_at = time.monotonic() + FORGET_SECONDS
            self._scheduler.forget(FORGOTTEN)
        due = self._table.due()
        if not due:
            return
        live = {row.worker: row for row in self._table.live()}
        place = {each.run: each.seq for each in due}
        now = time.monotonic()
        lost: list[str] = []
        handed: set[str] = set()
        for each in self._scheduler.handed():
            if each.run not in place:
                continue
            # Waiting in its queue does not count as a failure.
            since = self._taken_at.setdefault(each.name, now) if each.worker else now
            is_slow = now - since > BEGUN_SECONDS
            # A run that moved since it was assigned has been driven.
            if each.seq != place[each.run] or is_slow or (each.worker and each.worker not in live):
                lost.append(each.name)
            else:
                handed.add(each.run)
        self._taken_at = {name: at for name, at in self._taken_at.items() if name not in lost}
        self._scheduler.withdraw(lost)
        busy = self._table.busy()
        chosen = hand_out(due, handed, busy, list(live.values()), self._options.shares)
        if chosen:
            self._scheduler.hand_out(chosen)
            self._scheduler.wake()
            self._table.notify_queued()
        self._tell_unserved(due, list(live.values()))

    def _tell_unserved(self, due: Sequence[DueRun], workers: Sequence[WorkerRow]) -> None:
        """Log once for each run that no worker here can take, with the reason."""
        waiting = {(each.run, why) for each in due if (why := why_unserved(each, workers))}
        for run, why in sorted(waiting - self._told):
            LOG.warning("Run %s waits: %s.", run, why)
        self._told = waiting

    def _drive(self, run: str, project: str, attempt: int) -> str:
        """Drive a run in this thread; return the outcome in one word."""
        if self._stop.is_set():
            return "leaving"
        driven = _Driven(self, run, project, attempt)
        with self._free:
            # A lost run may still be shutting down.
            if not self._free.wait_for(lambda: run not in self._driven, BEGUN_SECONDS / 2):
                return "held"
            self._driven[run] = driven
        try:
            return driven.go()
        finally:
            with self._free:
                del self._driven[run]
                self._free.notify_all()

    def _release_runs(self) -> None:
        """Release every run at its current point; unanswered model requests are repeated
        elsewhere."""
        self._stop.set()
        try:
            self._table.beat(len(self._driven), is_leaving=True)
        except JournalError as error:
            LOG.warning("%s", error)
        for driven in self._all_driven():
            driven.leave()
        end = time.monotonic() + DRAIN_SECONDS
        while self._driven and time.monotonic() < end:
            time.sleep(0.05)
        for driven in self._all_driven():
            driven.stop()
        self._scheduler.close(5)
        self._table.leave()
        self._table.close()
        self._room.leave()

    def home_of(self, project: str, settled: Mapping[str, Any]) -> Home:
        """Return a project as its runs see it on this machine."""
        return self._room.home_of(project, self.database, settled)

    def seat(self, home: Home, project: str) -> WorkerControl:
        return WorkerControl(home, project, self._options.roles, self._stop.is_set)


class _Driven:
    """A run that is driven in its own thread."""

    def __init__(self, worker: Worker, run: str, project: str, attempt: int) -> None:
        self._worker = worker
        self._run = run
        self._project = project
        self._attempt = attempt
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[str] | None = None
        self._control: RunControl | None = None

    def go(self) -> str:
        """Drive the run as far as this worker can; return the outcome in one word."""
        try:
            return asyncio.run(self._perform())
        except asyncio.CancelledError:
            return "leaving"
        except LeaseHeld as held:
            return f"held by {held.holder}"
        except FlyballError as error:
            LOG.warning("Run %s stopped: %s", self._run, error)
            asyncio.run(self._back_off())
            return f"{error.code}: {error.message}"

    async def _back_off(self) -> None:
        """Wait before the run is retried, longer after each failure."""
        journal = PostgresJournal(self._worker.database, self._project)
        try:
            holder = name_this_process()
            lease = await journal.acquire(self._run, holder, time.time(), LEASE_SECONDS, is_gone)
            await journal.release(lease, min(2.0**self._attempt, LONGEST_PAUSE))
        except LeaseHeld:
            LOG.info("Run %s was taken by another worker.", self._run)
        finally:
            await journal.close()

    async def _perform(self) -> str:
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.ensure_future(self._drive())
        return await self._task

    async def _drive(self) -> str:
        plain = self._worker.home_of(self._project, {})
        async with opened(plain) as journal:
            first = (await journal.events(self._run, limit=1))[0].event
        assert isinstance(first, RunStarted)
        home = self._worker.home_of(self._project, arrived(first))
        watcher = Watcher(_discard, _discard, _discard)
        if self._attempt > MOST_ATTEMPTS:
            why = f"It was tried {MOST_ATTEMPTS} times from the same state without progress."
            result = await RunControl(home, watcher).give_up(self._run, "the cluster", why)
        else:
            seat = self._worker.seat(home, self._project)
            self._control = RunControl(home, watcher, seat=seat)
            own = self._own_policy(home, first)
            result = await self._control.go_on(self._run, self._worker.name, own)
        if result.state.has_ended:
            # All of it is at the remote, where the next holder would fetch it anyway.
            clear_run(home.repo, home.state, self._run)
        return status_of(result.state)

    def _own_policy(self, home: Home, started: RunStarted) -> Policy:
        """Return the policy that this machine's user sets for every run here."""
        wanted = RunRequest("", assume_yes=self._worker.says_yes)
        return policy_of(home.effective.settings, wanted, started.shell.get("driver", ""))

    def leave(self) -> None:
        """Start no further effects; called from another thread."""
        if self._loop is not None and self._control is not None:
            self._loop.call_soon_threadsafe(self._control.recheck_roles)

    def stop(self) -> None:
        """Release the run at its current point."""
        if self._loop is not None and self._task is not None:
            self._loop.call_soon_threadsafe(self._task.cancel)


def _discard(_value: object) -> None:
    """Ignore the output; everything reported here is read from the journal."""
