"""Answer the stops of hosts: whether one may stop, and the verdict that it waits for."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from msgspec.structs import replace

from flyball.agents.event import GO_ON, HostAnswer, HostEvent
from flyball.app.project import Home
from flyball.app.runs.journals import opened
from flyball.app.sessions import Session, Sessions
from flyball.engine.ongoing import current_progress
from flyball.engine.telemetry import Telemetry
from flyball.errors import NotFound
from flyball.hosts.armed import unverified
from flyball.hosts.calls import HostRules
from flyball.hosts.hosted_run import stopped
from flyball.hosts.opening import HostedRuns
from flyball.hosts.watched_run import pending_verdict
from flyball.hosts.words import GOES_ON, LATE, NOBODY_LOOKS, TOO_LONG
from flyball.workspace.errors import WorkspaceHeld
from flyball.workspace.run.lock import wait_for_lock

LOOK_SECONDS = 1.0


class HostStops:
    """Answers the stops of all hosts in one project, and reports results to those waiting."""

    def __init__(
        self,
        home: Home,
        runs: HostedRuns,
        rules: HostRules,
        *,
        turn: Callable[[], AbstractAsyncContextManager[None]],
        session: Callable[[HostEvent], Session],
        leave: Callable[[Session, str], Awaitable[None]],
    ) -> None:
        self._home = home
        self._sessions = Sessions(home.state)
        self._runs = runs
        self._rules = rules
        self._turn = turn
        self._session = session
        self._leave = leave
        """The function that ends an abandoned run."""

    async def answer(self, event: HostEvent) -> HostAnswer:
        """Answer whether the host may stop. Other events do not wait for the verdict."""
        async with self._turn():
            session = self._session(event)
            async with self._runs.opened(session) as run:
                answer = GO_ON if run is None else await run.stop(event)
                found = run.found if run else ""
        if answer is None:
            answer = await self._held(session)
        answer = _with_found(answer, found)
        async with self._turn():
            now, rejected = self._session(event), answer.text if answer.is_refused else ""
            # A model whose stop is accepted receives nothing more; it gets the message when it
            # continues.
            untold = now.untold if rejected else "\n".join(filter(None, (now.untold, found)))
            unshown = now.unshown if rejected else ""
            kept = replace(now, rejected=rejected, untold=untold, unshown=unshown)
            if kept != now:
                self._sessions.keep(kept)
        return answer if rejected else _with_found(answer, now.unshown)

    async def _held(self, session: Session) -> HostAnswer:
        """Return the verdict's answer to a stop, or how to wait for it: hosts limit a hook's time.

        The verdict runs in a thread that continues after this event is answered.
        """
        settings, taken = self._home.effective.settings, Future[HostAnswer]()
        is_late = threading.Event()

        def take() -> None:
            try:
                answer = asyncio.run(self._take_verdict(session))
                if is_late.is_set():
                    asyncio.run(self._keep_for_next_prompt(session, answer))
                taken.set_result(answer)
            except BaseException as error:  # noqa: BLE001
                # It is raised again for a caller that waits for the answer.
                taken.set_exception(error)

        threading.Thread(target=take, daemon=True).start()
        try:
            return taken.result(settings.hooks_patience)
        except TimeoutError:
            if not settings.hooks_alone:
                is_late.set()
                return HostAnswer(notice=self._goes_on(session))
        async with self._turn():
            await self._leave(session, TOO_LONG)
        return HostAnswer(notice=f"Flyball let this stop pass unverified: {TOO_LONG}.")

    def _goes_on(self, session: Session) -> str:
        """Explain that the verdict is not ready, with its progress and how long it took last
        time."""
        now = current_progress(self._home.state, session.run)
        answer = GOES_ON.format(run=session.run)
        return f"{answer} Now: {now['text']}." if now else answer

    async def _keep_for_next_prompt(self, session: Session, answer: HostAnswer) -> None:
        """Store a verdict that became ready after a stop, for the next prompt."""
        if not answer.text and not answer.notice:
            # The work went on meanwhile, and the next stop is judged by itself.
            return
        async with self._turn():
            now = self._sessions.find(session.host, session.session)
            if now.run == session.run:
                words = answer.notice or f"{LATE}\n{answer.text}"
                self._sessions.keep(replace(now, untold=answer.text, unshown=words))

    async def _take_verdict(self, session: Session) -> HostAnswer:
        """Take the verdict that a run's stop waits for, or return another process's result."""
        lock = await wait_for_lock(self._verdict_lock(session), math.inf)
        try:
            while (state := await self._runs.live_state(session)) and (
                owed := pending_verdict(state)
            ):
                seen = await self._runs.inspected(session, state, owed)
                seen = unverified(self._home, seen, session.run)
                async with self._turn():
                    answer = await self._runs.at(session, lambda run, seen=seen: run.judged(seen))
                if answer is not None:
                    return answer
        finally:
            lock.release()
        return await self._last_stop(session)

    async def wait(self, seconds: float, tell: Callable[[Telemetry], None] = lambda _: None) -> str:
        """Return the result of the last stop in this project; empty if it is not ready in time.

        `tell` receives its progress.

        It only waits. A governed agent can call it in an environment that it controls, so it must
        not take a verdict itself.
        """
        deadline = time.monotonic() + seconds
        session = await self._last_asked()
        is_taken = True
        while await self._owes_verdict(session):
            if not is_taken:
                return NOBODY_LOOKS
            try:
                (await wait_for_lock(self._verdict_lock(session), LOOK_SECONDS)).release()
                # Its previous holder may have just finished: then nothing is pending any more.
                is_taken = False
            except WorkspaceHeld:
                if time.monotonic() > deadline:
                    return ""
                if now := current_progress(self._home.state, session.run):
                    tell(now)
        # A verdict is written in several steps of one turn, and only the last one ends the stop.
        async with self._turn():
            answer = await self._last_stop(session)
        return answer.text or answer.notice

    async def _last_asked(self) -> Session:
        """Return the session whose verdict is being taken, or else the most recently active one."""
        found = [each for each in self._sessions.in_checkout() if each.run]
        if not found:
            raise no_session()
        owing = [each for each in found if await self._owes_verdict(each)]
        return (owing or found)[-1]

    async def _owes_verdict(self, session: Session) -> bool:
        state = await self._runs.live_state(session)
        return state is not None and pending_verdict(state) is not None

    async def _last_stop(self, session: Session) -> HostAnswer:
        """Return the answer to the last stop of a session."""
        async with opened(self._home) as journal:
            return stopped(await journal.load(session.run), self._rules.level)

    def _verdict_lock(self, session: Session) -> Path:
        """Return the lock file for taking the verdict on a session's run."""
        return self._home.state / "hosts" / f"{session.run}.verdict"


def _with_found(answer: HostAnswer, found: str) -> HostAnswer:
    """Return a stop's answer with a note of what was reverted, for the model or the person."""
    if answer.is_refused:
        return replace(answer, text="\n".join(filter(None, (found, answer.text))))
    return replace(answer, notice="\n".join(filter(None, (found, answer.notice))))


def no_session() -> NotFound:
    return NotFound("session", "of a host", "A host's session begins with a prompt in it.")
