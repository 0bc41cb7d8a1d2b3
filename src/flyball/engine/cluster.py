"""The scheduler of a cluster, and the only module that imports DBOS.

Its one workflow drives a run until it ends, pauses, or needs another role. Its code never changes
with the product, so workers of different releases share its queues. Nothing important is kept here:
the journal's leases decide who may write, and a run that is assigned twice is driven once.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer, SetEnqueueOptions, SetWorkflowID

from flyball.engine.handout import Given, attempt_after, most_at_once

VERSION = "drive-1"
"""Pinned: the default is a hash of this file's text, and a comment would strand every run."""
NAME = "flyball"
WORKFLOW = "drive"
POLL_SECONDS = 0.2
"""How often a worker looks into its queue while something may be there for it."""
AWAKE_SECONDS = 2.0
"""How long something may arrive after its notification: its new owner may have to finish."""
IDLE_SECONDS = 5.0
"""How often it polls: each poll costs milliseconds, and a notification may be lost."""
OPEN = ["ENQUEUED", "PENDING"]
WITHDRAWN = "CANCELLED"
CLOSED = ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]
MOST_FORGOTTEN = 1_000
POOL = 4

Drive = Callable[[str, str, int], str]
"""Drive a project's run after so many failures at its position; returns the result."""


class Handed(NamedTuple):
    """A run that was assigned and has not finished."""

    name: str
    run: str
    seq: int
    worker: str
    """The worker that took it; empty while it waits in its queue."""


class _Doze:
    """Makes polling threads poll only when there may be something new.

    DBOS cannot be notified of new items in a queue; all its polling waits on the event that stops
    it. If that changes, it polls every `POLL_SECONDS` as configured.
    """

    def __init__(self, stop: threading.Event) -> None:
        self._is_over = stop.is_set
        self._plainly = stop.wait
        self._news = threading.Condition()
        self._words = 0
        self._awake_until = 0.0
        stop.wait = self._wait

    def _wait(self, timeout: float | None = None) -> bool:
        if timeout is None or timeout >= IDLE_SECONDS:
            return self._plainly(timeout)
        with self._news:
            heard = self._words
            is_awake = time.monotonic() < self._awake_until
            seconds = timeout if is_awake else IDLE_SECONDS
            self._news.wait_for(lambda: self._words != heard, seconds)
        return self._is_over()

    def wake(self, seconds: float) -> None:
        """Poll now, and often for the next few seconds."""
        with self._news:
            self._awake_until = time.monotonic() + seconds
            self._words += 1
            self._news.notify_all()


class Scheduler:
    """This process's access to the queues: it takes runs from them, and may add runs to them."""

    def __init__(self, url: str, worker: str, queue: str, concurrency: int, drive: Drive) -> None:
        config: DBOSConfig = {
            "name": NAME,
            "system_database_url": url,
            "application_version": VERSION,
            # Two processes with the same name would both execute what one of them took.
            "executor_id": worker,
            # It reports as an error what was withdrawn, which is harmless.
            "log_level": "CRITICAL",
            "serializer": DBOSPortableJSONSerializer(),
            "sys_db_pool_size": POOL,
            "max_executor_threads": most_at_once(concurrency) + 2,
            # Its workflows send each other nothing; ours is another way of telling.
            "use_listen_notify": False,
        }
        self._dbos = DBOS(config=config)
        self._dozes: list[_Doze] = []

        def workflow(run: str, project: str, attempt: int) -> str:
            return drive(run, project, attempt)

        self._workflow = DBOS.workflow(name=WORKFLOW)(workflow)
        self._queue = queue
        self._concurrency = concurrency

    def launch(self) -> None:
        """Start taking runs; the caller has already registered its heartbeat."""
        DBOS.listen_queues([self._queue])
        DBOS.launch()
        DBOS.register_queue(
            self._queue,
            worker_concurrency=most_at_once(self._concurrency),
            polling_interval_sec=POLL_SECONDS,
        )
        self._dozes = [_Doze(stop) for stop in self._dbos.background_thread_stop_events]
        self.wake()

    def wake(self) -> None:
        """Poll the queue now: a run was added, or capacity is free again."""
        for doze in self._dozes:
            doze.wake(AWAKE_SECONDS)

    def handed(self) -> list[Handed]:
        """Return the runs that are queued or in progress, on all workers."""
        found = DBOS.list_workflows(status=OPEN, name=WORKFLOW, load_input=False, load_output=False)
        rows: list[Handed] = []
        for each in found:
            run, seq, _ = each.workflow_id.rsplit("/", 2)
            worker = each.executor_id if each.status == "PENDING" else ""
            rows.append(Handed(each.workflow_id, run, int(seq), worker or ""))
        return rows

    def withdraw(self, names: Collection[str]) -> None:
        """Remove queued runs that no worker will drive any more."""
        if names:
            DBOS.cancel_workflows(list(names))

    def forget(self, seconds: float) -> int:
        """Delete entries that finished long ago; return how many.

        The age is far longer than all attempts of one run take, because they are counted from these
        entries.
        """
        before = datetime.fromtimestamp(time.time() - seconds, UTC).isoformat()
        past = DBOS.list_workflows(
            status=CLOSED,
            name=WORKFLOW,
            end_time=before,
            limit=MOST_FORGOTTEN,
            load_input=False,
            load_output=False,
        )
        if past:
            DBOS.delete_workflows([each.workflow_id for each in past])
        return len(past)

    def hand_out(self, given: Sequence[Given]) -> None:
        """Add runs to their queues, most urgent first.

        The name contains run, position and attempt, so adding the same one twice is harmless.
        """
        if not given:
            return
        prefixes = [f"{each.run}/{each.seq}/" for each, _ in given]
        past = DBOS.list_workflows(workflow_id_prefix=prefixes, load_input=False, load_output=False)
        tried = Counter(each.workflow_id.rpartition("/")[0] for each in past)
        lost = Counter(
            each.workflow_id.rpartition("/")[0] for each in past if each.status == WITHDRAWN
        )
        for rank, (each, queue) in enumerate(given, 1):
            place = f"{each.run}/{each.seq}"
            attempt = attempt_after(tried[place] - lost[place], lost[place])
            with SetWorkflowID(f"{place}/{tried[place] + 1}"), SetEnqueueOptions(priority=rank):
                DBOS.enqueue_workflow(queue, self._workflow, each.run, each.project, attempt)

    def close(self, seconds: int) -> None:
        """Take no more runs, and wait up to a limit for those in progress."""
        for doze in self._dozes:
            doze.wake(seconds + AWAKE_SECONDS)
        DBOS.destroy(workflow_completion_timeout_sec=seconds)
