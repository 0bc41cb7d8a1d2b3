"""Drive runs in this process, one thread each; every run can be resumed."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from pathlib import Path

import msgspec

from flyball.app.answering import needs_only_resume, pending, words
from flyball.app.board.feed import SILENCE, LiveText
from flyball.app.driving import RunControl, RunResult, Watcher, Word
from flyball.app.project import Home, open_home
from flyball.app.runs.journals import opened
from flyball.app.starting import RunRequest
from flyball.engine.telemetry import Telemetry
from flyball.errors import Conflict, FlyballError, NotAllowed
from flyball.run.event import AnyEvent
from flyball.run.state import RunState

LOG = logging.getLogger("flyball.board")
RunAction = Callable[[RunControl], Awaitable[RunResult]]
REST_SECONDS = 60.0
"""Seconds to wait for a run that was asked to pause."""
BEGIN_SECONDS = 30.0
LOOK_AGAIN = 0.1
STOP_SECONDS = 5.0
BEFORE_ANY = 1 << 60
"""The position of a resumed run that has not moved yet, before any new event."""


class _Driven:
    """A run that is driven in its own thread."""

    def __init__(self, home: Home, action: RunAction, lines: int) -> None:
        self.began: Future[str] = Future()
        """The run's name once it has started; until then, the error that prevented it."""
        self.control = RunControl(home, Watcher(self._told, self._hear, _discard))
        self.ended = threading.Event()
        self.spoken = SILENCE
        self._action = action
        self._lines = lines
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Future[RunResult] | None = None

    def _hear(self, delta: str) -> None:
        self.spoken = self.spoken._replace(text=self.spoken.text + delta)

    def _told(self, line: Telemetry) -> None:
        if line["type"] == "notice":
            return
        turn, text, _ = self.spoken
        # Every reply ends with its cost: at that point the journal has the whole text.
        is_said = line["type"] == "usage"
        seq = line.get("seq", BEFORE_ANY)
        self.spoken = LiveText(turn + 1, "", seq) if is_said else LiveText(turn, text, seq)
        self._lines -= 1
        if self._lines <= 0 and not self.began.done():
            self.began.set_result(self.control.run)

    def go(self) -> None:
        """Drive the run to its end and record the outcome."""
        try:
            asyncio.run(self._perform())
            self._say_began(None)
        except asyncio.CancelledError:
            self._say_began(Conflict("The server is stopping.", "Start it again."))
        except Exception as error:
            if not self._say_began(error):
                # The journal is complete: the run is shown as interrupted and can be resumed.
                LOG.exception("Run %s stopped.", self.control.run)
        finally:
            self.ended.set()

    def _say_began(self, error: Exception | None) -> bool:
        if self.began.done():
            return False
        if error is None:
            self.began.set_result(self.control.run)
        else:
            self.began.set_exception(error)
        return True

    async def _perform(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.ensure_future(self._action(self.control))
        await self._task

    def pause(self, by: str) -> None:
        """Ask the run to pause, from another thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.control.pause, by)

    def stop(self) -> None:
        """Release the run where it is; it can be resumed without loss."""
        if self._loop is not None and self._task is not None and not self.ended.is_set():
            self._loop.call_soon_threadsafe(self._task.cancel)


class RunsHere:
    """Starts, answers, resumes and cancels runs in this process, and tracks those it drives.

    Every method blocks and may be called from any thread but the event loop's.
    """

    def __init__(self, base: Path, environ: Mapping[str, str], by: str) -> None:
        self.by = by
        self._environ = environ
        self._file = base / "board.json"
        self._driven: dict[str, _Driven] = {}
        self._lock = threading.Lock()
        self._is_stopping = False

    def start(self, home: Home, wanted: RunRequest) -> str:
        """Start a run; return its name once it is in the journal."""
        return self._drive(home, lambda control: control.start(wanted), 1)

    def spoken(self, run: str) -> LiveText:
        """Return the text that a run's driver streams now; empty in another process."""
        driven = self._driven.get(run)
        return driven.spoken if driven else SILENCE

    def resume(self, home: Home, run: str, by: str, driver: str = "") -> None:
        """Resume a run."""
        self._let_go(home, run)
        self._drive(home, lambda control: control.resume(run, by, driver), 1)

    def say(self, home: Home, run: str, word: Word, by: str, *, extends: bool = False) -> None:
        """Record a person's answer and continue the run with it."""

        def action(control: RunControl) -> Awaitable[RunResult]:
            return (control.extend if extends else control.say)(run, word, by)

        self._let_go(home, run)
        # The first line reports the resumption, the next one the effect of the answer.
        self._drive(home, action, 2)

    def cancel(self, home: Home, run: str, by: str, why: str) -> RunResult:
        """Cancel a run, even if another process drives it."""
        control = RunControl(home, Watcher(_discard, _discard, _discard))
        return asyncio.run(control.cancel(run, by, why))

    def _let_go(self, home: Home, run: str) -> None:
        """Wait for the thread of a resting run, which holds the lease briefly after the run
        rests."""
        driven = self._driven.get(run)
        if driven is not None and _state(home, run).is_at_rest:
            driven.ended.wait(REST_SECONDS)

    def pause(self, run: str, by: str) -> None:
        """Pause a run that is driven here."""
        driven = self._driven.get(run)
        if driven is None or driven.ended.is_set():
            raise Conflict(
                f"Run {run} is not running here.", "Pause it on the machine that drives it."
            )
        driven.pause(by)

    def instruct(
        self, home: Home, run: str, text: str, by: str, *, may_decide: bool = True
    ) -> None:
        """Send a message to the driver of a waiting run, or pause the run first.

        A person without the right to decide is refused if the run waits for a decision.
        """
        state = _state(home, run)
        if state.has_ended:
            raise Conflict(f"Run {run} has ended.", "Start a new run with this message.")
        if not pending(state):
            self.pause(run, by)
            self._await_rest(home, run)

        def word(now: RunState) -> AnyEvent:
            if not may_decide and not needs_only_resume(now):
                raise NotAllowed(
                    f"Run {run} waits for a decision, which {by} may not make.",
                    "It needs the role `approve` there.",
                )
            return words(now, by, text)

        self.say(home, run, word, by)

    def _await_rest(self, home: Home, run: str) -> None:
        end = time.monotonic() + REST_SECONDS
        while time.monotonic() < end:
            driven = self._driven.get(run)
            if driven is None or driven.ended.wait(LOOK_AGAIN):
                break
        if not pending(_state(home, run)):
            raise Conflict(
                f"Run {run} is still working.", "Send the message again when it is done."
            )

    def go_on(self) -> list[str]:
        """Resume the runs that an earlier board process was driving when it ended."""
        found: list[str] = []
        for run, repo in self._noted().items():
            try:
                home = open_home(Path(repo), self._environ, {})
                if not _state(home, run).is_at_rest:
                    self.resume(home, run, self.by)
                    found.append(run)
                    continue
            except FlyballError as error:
                LOG.warning("Run %s was not resumed: %s", run, error)
            self._note(run, "")
        return found

    def stop(self) -> None:
        """Release every run; the next server resumes them."""
        self._is_stopping = True
        for driven in list(self._driven.values()):
            driven.stop()
        end = time.monotonic() + STOP_SECONDS
        for driven in list(self._driven.values()):
            driven.ended.wait(max(end - time.monotonic(), 0.0))

    def _drive(self, home: Home, action: RunAction, lines: int) -> str:
        driven = _Driven(home, action, lines)

        def body() -> None:
            driven.go()
            run = driven.control.run
            if run and not self._is_stopping:
                with self._lock:
                    if self._driven.get(run) is driven:
                        del self._driven[run]
                self._note(run, "")

        def begun(run: Future[str]) -> None:
            if run.exception() is None and run.result() and not driven.ended.is_set():
                with self._lock:
                    self._driven[run.result()] = driven
                self._note(run.result(), str(home.repo))
            is_noted.set()

        # A thread that waits for a result wakes before its callbacks run, and may request the run
        # at once.
        is_noted = threading.Event()
        driven.began.add_done_callback(begun)
        threading.Thread(target=body, name="run", daemon=True).start()
        run = driven.began.result(BEGIN_SECONDS)
        is_noted.wait(BEGIN_SECONDS)
        return run

    def _noted(self) -> dict[str, str]:
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=dict[str, str])
        except (OSError, msgspec.MsgspecError):
            return {}

    def _note(self, run: str, repo: str) -> None:
        """Record that a run is driven here, or no longer is."""
        with self._lock:
            noted = {name: place for name, place in self._noted().items() if name != run}
            if repo:
                noted[run] = repo
            self._file.parent.mkdir(parents=True, exist_ok=True)
            new = self._file.with_suffix(".new")
            new.write_bytes(msgspec.json.encode(noted))
            new.replace(self._file)


def _discard(_value: object) -> None:
    """Ignore the output; everything reported here is read from the journal."""


def _state(home: Home, run: str) -> RunState:
    async def load() -> RunState:
        async with opened(home) as journal:
            return await journal.load(run)

    return asyncio.run(load())
