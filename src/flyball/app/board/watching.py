"""Watch all runs on a board: one thread reads every journal, and readers only subscribe."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any, NamedTuple

from flyball.app.answering import pending, sides
from flyball.app.board.feed import (
    BEAT,
    SILENCE,
    GrowingList,
    LiveText,
    Place,
    RunTail,
    framed,
    read_place,
)
from flyball.app.board.projects import Projects
from flyball.app.project import Home
from flyball.app.runs.history import LONG, read_history
from flyball.app.runs.journals import list_runs, opened
from flyball.app.runs.overview import Overview, noted_reverted, overview_of, unreadable_overview
from flyball.engine.loop import LEASE_SECONDS
from flyball.engine.ongoing import current_progress
from flyball.engine.telemetry import about_call, phase_words
from flyball.errors import FlyballError, NotFound
from flyball.journal.protocol import Journal, RunSummary, WorkerRow
from flyball.run.ending import ending_of_card, words_of
from flyball.run.event import (
    AnyEvent,
    Appealed,
    CallInterrupted,
    CallReturned,
    CheckpointStated,
    ConflictStated,
    DriverReplied,
    Noted,
)
from flyball.run.state import CardState, RunState
from flyball.terms.call import Call
from flyball.terms.evidence import DiffReport
from flyball.terms.evidence_rows import latest_of
from flyball.workspace.process.process_identity import may_live

QUICK = 0.1
"""Seconds between reads of a run's log while it has readers."""
SLOW = 5
"""Reads after which the list of runs is refreshed if its journal was written to."""
SLOWER = 20
"""Reads after which the list is always refreshed: a dead driver or a reverted card writes nothing.
"""
LINGER = 30.0
"""Seconds that a run stays in memory after its last reader left; most reconnect at once."""
MISSES = 8
"""List changes a slow reader may miss before it is sent the whole list."""


class Watched:
    """A run with readers."""

    def __init__(self, home: Home, run: str) -> None:
        self.home = home
        self.tail = RunTail(run)
        self.frames = GrowingList()
        self.readers = 0
        self.left_at = 0.0
        self.is_failed = False
        self.progress: dict[str, Any] | None = None


class Seen(NamedTuple):
    """A run on the board, with the marks that detect a change."""

    mark: tuple[object, ...]
    row: dict[str, Any]
    actions: LastActions
    kept: int = 0
    """The event up to which its history was kept in a file."""


class Watch:
    """The runs of all projects as they change, in any process."""

    def __init__(
        self,
        projects: Projects,
        beat: float = 15.0,
        spoken: Callable[[str], LiveText] = lambda _run: SILENCE,
    ) -> None:
        self.projects = projects
        self.beat = beat
        self._spoken = spoken
        self._files: dict[Path, tuple[int, ...]] = {}
        self._runs: dict[tuple[str, str], Watched] = {}
        self._seen: dict[tuple[str, str], Seen] = {}
        self._long: dict[tuple[str, str], Home] = {}
        """Long runs whose histories are to be kept, so that they open at once."""
        self._workers: dict[Path, list[WorkerRow]] = {}
        self._readers: set[asyncio.Queue[dict[str, Any]]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_over = False
        self._stop = threading.Event()
        self._first = threading.Event()
        self._thread = threading.Thread(target=self._tail, name="journals", daemon=True)

    def start(self) -> None:
        """Start the reading thread for readers in the running event loop."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    def end_streams(self) -> None:
        """End every stream; a page reconnects to the next server."""
        self._is_over = True
        for watched in self._runs.values():
            watched.frames.end()
        self._tell({})

    def stop(self) -> None:
        """Stop the reading thread."""
        self._stop.set()
        self._thread.join(5.0)

    def rows(self, project: str = "") -> list[dict[str, Any]]:
        """Return every run of a project, or of all projects, newest first."""
        self._first.wait(10.0)
        found = [seen.row for (name, _), seen in list(self._seen.items()) if project in ("", name)]
        return sorted(found, key=lambda row: (row["created_at"], row["run"]), reverse=True)

    def workers(self) -> list[WorkerRow]:
        """Return the workers of every project's cluster, once each."""
        every = {row.worker: row for rows in list(self._workers.values()) for row in rows}
        return list(every.values())

    def locate(self, run: str, sees: Callable[[str], bool] = lambda _project: True) -> Home:
        """Return the visible project that has a run of exactly this name.

        Hidden projects are searched as well, so that the time taken does not reveal them.
        """
        for name, known in list(self._seen):
            if known == run and sees(name):
                return self.projects.find(name)
        # It may have started after the list was last read.
        for each in self.projects.all():
            if sees(each.name) and any(
                found.run == run for found in asyncio.run(list_runs(each.home))
            ):
                return each.home
        raise NotFound("run", run, "`GET /api/runs` lists the runs.")

    async def follow(self, home: Home, run: str, last: str) -> AsyncIterator[bytes]:
        """Yield a run's stream from a position, complete and without repeats, until the reader
        leaves."""
        place = read_place(last)
        watched = self._runs.setdefault((home.state.name, run), Watched(home, run))
        watched.readers += 1
        try:
            async for frame in watched.frames.after(place, self.beat):
                yield frame
        finally:
            watched.readers -= 1
            watched.left_at = asyncio.get_running_loop().time()

    async def follow_all(
        self, sees: Callable[[str], bool] = lambda _project: True
    ) -> AsyncIterator[bytes]:
        """Yield the reader's list of runs, then every run of it that changes."""

        def rows() -> list[dict[str, Any]]:
            return [row for row in self.rows() if sees(row["project"])]

        queue: asyncio.Queue[dict[str, Any]] = asyncio.Queue(MISSES * 16)
        self._readers.add(queue)
        try:
            yield framed({"type": "runs", "runs": await asyncio.to_thread(rows)})
            while True:
                try:
                    async with asyncio.timeout(self.beat):
                        row = await queue.get()
                except TimeoutError:
                    yield BEAT
                    continue
                if self._is_over:
                    return
                # A reader that fell behind would get outdated rows, so it is sent the whole list
                # again.
                if queue.full():
                    while not queue.empty():
                        queue.get_nowait()
                    yield framed({"type": "runs", "runs": rows()})
                elif sees(row["project"]):
                    yield framed(row)
        finally:
            self._readers.discard(queue)

    def _tell(self, row: dict[str, Any]) -> None:
        for queue in self._readers:
            with suppress(asyncio.QueueFull):
                queue.put_nowait(row)

    def _tail(self) -> None:
        asyncio.run(self._read_all())

    async def _read_all(self) -> None:
        rounds = 0
        async with AsyncExitStack() as stack:
            journals: dict[Path, Any] = {}

            async def journal_of(home: Home) -> Any:
                if home.journal_path not in journals:
                    journals[home.journal_path] = await stack.enter_async_context(opened(home))
                return journals[home.journal_path]

            while not self._stop.is_set():
                if rounds % SLOW == 0:
                    await self._read_lists(journal_of, is_due=rounds % SLOWER == 0)
                    self._first.set()
                rounds += 1
                is_busy = await self._read_runs(journal_of)
                if not is_busy:
                    # Not at once: the first requests to a new server come first.
                    if rounds > SLOWER:
                        await self._keep_a_history(journal_of)
                    await asyncio.to_thread(self._stop.wait, QUICK)

    async def _read_runs(self, journal_of: Callable[[Home], Any]) -> bool:
        """Read new events of every watched run; return whether more may be available."""
        is_busy = False
        loop = self._loop
        assert loop is not None
        for key, watched in list(self._runs.items()):
            if not watched.readers and 0 < watched.left_at < loop.time() - LINGER:
                self._call(self._forget, key)
                continue
            if watched.is_failed:
                continue
            try:
                found = await watched.tail.read(await journal_of(watched.home))
            except FlyballError as error:
                watched.is_failed = True
                problem = {"type": "error", "code": error.code, "message": str(error)}
                found = [(Place(watched.tail.state.seq + 1), framed(problem))]
            if found:
                is_busy = True
                self._call(watched.frames.add, found)
            now = current_progress(watched.home.state, watched.tail.run)
            if now != watched.progress:
                watched.progress = now
                self._call(watched.frames.tell, now)
            spoken = self._spoken(watched.tail.run)
            # Text up to a newer event is in the journal by now.
            if spoken.seq >= watched.tail.state.seq:
                self._call(watched.frames.speak, spoken)
        return is_busy

    async def _keep_a_history(self, journal_of: Callable[[Home], Any]) -> None:
        """Read the history of one long run, which keeps it in a file."""
        if self._long:
            (_, run), home = self._long.popitem()
            with suppress(FlyballError):
                await read_history(home, await journal_of(home), run)

    def _forget(self, key: tuple[str, str]) -> None:
        if not self._runs[key].readers:
            del self._runs[key]

    def _call(self, action: Callable[..., None], *values: Any) -> None:
        assert self._loop is not None
        # The loop is closed if the server stops during a read.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(action, *values)

    async def _read_lists(self, journal_of: Callable[[Home], Any], *, is_due: bool = True) -> None:
        for project in self.projects.all():
            path = project.home.journal_path
            files = _file_marks(path)
            # A database has no file whose times would show that nothing changed.
            is_file = not project.home.database
            if is_file and (not files or (self._files.get(path) == files and not is_due)):
                continue
            # Read before the journal, so that events written meanwhile are detected next time.
            self._files[path] = files
            try:
                journal = await journal_of(project.home)
                live = [row for row in await journal.workers() if row.age < LEASE_SECONDS]
                self._workers[path] = live
                for summary in await journal.runs():
                    await self._look_at(project.name, project.home, journal, summary)
            except FlyballError:
                # One damaged journal must not hide the other projects.
                continue

    async def _look_at(self, name: str, home: Home, journal: Any, summary: RunSummary) -> None:
        mark = (summary.seq, summary.status, may_live(summary.holder), _account_mark(home, summary))
        known = self._seen.get((name, summary.run))
        if known is not None and known.mark == mark:
            return
        actions, kept = (known.actions, known.kept) if known else (LastActions(), 0)
        if summary.seq - kept >= LONG:
            self._long[name, summary.run], kept = home, summary.seq
        try:
            state = await journal.load(summary.run)
            await actions.read(journal, summary.run, state.seq)
            row = board_row(name, home, overview_of(home, summary, state), state, actions)
        except FlyballError as error:
            # One damaged run must not hide the runs after it.
            found = unreadable_overview(summary, error)
            row = _list_row(name, home, found)
            row |= {"seq": summary.seq, "asks": [], "cards": []}
        self._seen[name, summary.run] = Seen(mark, row, actions, kept)
        if known is not None or self._first.is_set():
            self._call(self._tell, row)


def _file_marks(journal: Path) -> tuple[int, ...]:
    """Return values that change with every write to a journal; empty if there is none."""
    found: list[int] = []
    for file in (journal, journal.with_name(f"{journal.name}-wal")):
        with suppress(OSError):
            fact = file.stat()
            found += (fact.st_mtime_ns, fact.st_size)
    return tuple(found)


def _account_mark(home: Home, summary: RunSummary) -> int:
    """Return when a run's accounts last changed; a revert changes them, but is not in the
    journal."""
    try:
        return (home.repo / ".flyball" / "artifacts" / summary.run).stat().st_mtime_ns
    except OSError:
        return 0


def board_row(
    project: str, home: Home, found: Overview, state: RunState, actions: LastActions
) -> dict[str, Any]:
    """Return a run's row on the board: its summary, its cards and its questions."""
    waiting = pending(state)
    return {
        **_list_row(project, home, found),
        "seq": state.seq,
        "branch": state.branch,
        "asks": [
            {
                "card": each.card.id,
                "kind": each.question.kind.value,
                "text": each.question.text,
                "sides": sides(each.question),
            }
            for each in waiting
        ],
        "cards": [*_card_rows(home, state, actions), *_steps_to_do(state)],
    }


def _list_row(project: str, home: Home, found: Overview) -> dict[str, Any]:
    words = words_of(found.status, found.ending)
    place = {"project": project, "title": home.repo.name}
    return {"type": "row", **place, "words": words, **found._asdict()}


def _card_rows(home: Home, state: RunState, actions: LastActions) -> Iterator[dict[str, Any]]:
    back = noted_reverted(home, state)
    for card in state.cards:
        row = card_row(card, "reverted" if card.id in back else card.status)
        yield {**row, "last": actions.by_card.get(card.id)}


def card_row(card: CardState, status: str) -> dict[str, Any]:
    """Return one card's row on the board."""
    diff = latest_of(card.evidence, DiffReport)
    files = diff.files if diff is not None else ()
    at_work = card.in_flight[-1] if card.in_flight else None
    return {
        "id": card.id,
        "title": card.title,
        "role": card.template.role.value,
        "status": status,
        **phase_words(card),
        "proof": card.label if card.has_changed else "",
        "evidence": len(card.evidence),
        "ending": ending_of_card(card) or "",
        "added": sum(each.added for each in files),
        "removed": sum(each.removed for each in files),
        "files": len(files),
        "turned": len(card.verdict.mended) if card.verdict else 0,
        "calls": card.calls,
        "call": at_work.name if at_work else "",
        "about": about_call(at_work)[:200] if at_work else "",
    }


def _steps_to_do(state: RunState) -> Iterator[dict[str, Any]]:
    """Yield steps of the plan that no card works on yet."""
    plan = state.coordinator.plan if state.coordinator else None
    if plan is None or state.has_ended:
        return
    begun = {card.step for card in state.cards}
    for step in plan.steps:
        if step.id not in begun:
            yield {"id": step.id, "title": step.title, "status": "todo"}


WINDOW = 40
"""How far back an unseen run's log is read for its one line on the board."""

MOST_ASKED = 200
"""Maximum number of unfinished calls to remember."""


class LastActions:
    """Follows one run's log and keeps the last call of each card."""

    def __init__(self) -> None:
        self.by_card: dict[str, dict[str, Any]] = {}
        self._seq = 0
        self._asked: dict[tuple[str, str], Call] = {}

    async def read(self, journal: Journal, run: str, seq: int) -> None:
        """Read the events since the last call, up to `seq`."""
        after = self._seq or max(seq - WINDOW, 0)
        for entry in await journal.events(run, after, seq - after):
            self.take(entry.event)
        self._seq = seq

    def take(self, event: AnyEvent) -> None:
        """Record the newly requested calls and the call that finished."""
        match event:
            case DriverReplied():
                self._asked |= {(event.card, call.id): call for call in event.calls}
                # Denied calls never return, so they must not accumulate.
                for key in list(self._asked)[:-MOST_ASKED]:
                    del self._asked[key]
            case CallReturned():
                self._came_back(event.card, event.call, event.outcome.ok)
            case CallInterrupted():
                self._came_back(event.card, event.call, False)
            case CheckpointStated() | Noted() | Appealed() | ConflictStated():
                self._came_back(event.card, event.call, True)
            case _:
                return

    def _came_back(self, card: str, id: str, ok: bool) -> None:
        call = self._asked.pop((card, id), None)
        if call is not None:
            self.by_card[card] = {"tool": call.name, "about": about_call(call)[:200], "ok": ok}
