"""The governor of hosts: finds the run of a session, and answers one moment after the other."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec.structs import replace

from flyball.app.hosts.calls import HostRules
from flyball.app.hosts.hosted_run import HostedRun, owed_verdict, stopped
from flyball.app.hosts.kept import KeptWorkspaces
from flyball.app.hosts.leaves.ahead import Leaves, Reader
from flyball.app.hosts.meter import Meter
from flyball.app.hosts.opening import HostedRuns
from flyball.app.hosts.person import disarms, is_unattended
from flyball.app.hosts.words import (
    CAPPED,
    DISARMED,
    NEXT_PROMPT,
    NOBODY_LOOKS,
    SESSION_ENDED,
    TOO_LONG,
    greeting,
    is_notification,
    under_way,
)
from flyball.app.project import Home, redactor_of
from flyball.app.runs import new_run_id, opened
from flyball.app.sessions import HOSTED, Session, Sessions, Switch
from flyball.core.host.event import GO_ON, HostAnswer, HostEvent, Moment
from flyball.core.host.usage import nearly_reached, reached
from flyball.core.reading.classifier import classify
from flyball.core.run.event import Cancelled, RunStarted
from flyball.core.run.policy import Policy
from flyball.core.run.state import Checkpoint, RunState
from flyball.core.terms.call import Access
from flyball.core.terms.intent import Intent
from flyball.errors import Conflict, NotFound
from flyball.workspace.errors import WorkspaceHeld
from flyball.workspace.run.lock import wait_for_lock

TOO_SMALL = frozenset({Intent.CONVERSATIONAL, Intent.STATUS_CHECK})
"""Read from a few words in the middle of a talk; an agent that is asked there may look around."""
EARLY_SHELLS = frozenset({"gemini"})
"""Hosts that run a slash command's shell before the first hook that tells of it."""
UNDER_WAY = "Work that was under way when Flyball came to it"
LEAVES_AT = (Moment.PROMPTED, Moment.BEFORE_CALL, Moment.AFTER_CALL)
LOOK_SECONDS = 1.0
PATIENCE = 60.0
"""Seconds that one moment waits for another one of the same project."""


class HostGovernor:
    """Answers the moments of all hosts in one project, one at a time, from whatever process."""

    def __init__(
        self,
        home: Home,
        kept: KeptWorkspaces | None = None,
        clock: Callable[[], float] = time.time,
        read: Reader | None = None,
    ) -> None:
        self.home = home
        self._marks: dict[str, str] = {}
        """What the log of each run says of how it is governed."""
        self._clock = clock
        self._read = read
        """How a payload is read that was let pass under a leave; without it none is taken up."""
        self._leaves = Leaves(home)
        self.sessions = Sessions(home.state)
        self.switch = Switch(home.state, clock)
        settings = home.effective.settings
        self._rules = HostRules(
            settings.hooks_mode,
            settings.hooks_read_only,
            settings.hooks_scratch,
            str(home.state.parent),
        )
        self._meter = Meter(home.state, clock)
        self.runs = HostedRuns(home, self.sessions, self._rules, clock, kept or KeptWorkspaces())

    async def answer(self, event: HostEvent, *, is_alone: bool = False) -> HostAnswer:
        """What the host is told; nothing where there is nothing to say.

        Who answers alone, in a process that ends with it, gives leave for reads that may follow.
        """
        if event.moment is Moment.OTHER or self.switch.off_until():
            return GO_ON
        if event.moment is Moment.STOPPING:
            return GO_ON if event.works_on else await self._stopped(event)
        async with self._turn():
            session = self._session(event)
            if stop := await self._capped(event, session):
                return stop
            said = self._with_nudge(event, await self._answer(event, session))
            if is_alone and event.moment in LEAVES_AT:
                await self._give_leave(event)
            return said

    async def _give_leave(self, event: HostEvent) -> None:
        session = self.sessions.find(event.host, event.session)
        if state := await self.runs.live_state(session):
            self._leaves.give(session, state, self.runs.look_of(state))

    async def _take_up(self) -> None:
        """Have in the journal what was let pass under leaves, before anything else is judged."""
        if self._read is None:
            return
        async with self._leaves.taken(self._read) as passed:
            for event, seq in passed:
                session = self._session(event)
                # Whoever died over it may have journaled some of it.
                if (event.moment, event.call) in await self.runs.heard_since(session, seq):
                    continue
                said = await self._answer(event, session)
                if said.text and event.moment is Moment.AFTER_CALL:
                    self.sessions.keep(replace(self._session(event), untold=said.text))

    async def _capped(self, event: HostEvent, session: Session) -> HostAnswer | None:
        """A refusal, where a person's cap on tokens or money is spent."""
        if event.moment not in (Moment.PROMPTED, Moment.BEFORE_CALL, Moment.AGENT_STOPPING):
            return None
        settings = self.home.effective.settings
        if not settings.has_caps:
            return None
        self._meter.read(event)
        cap = reached(self._meter.caps(event.session, settings))
        if cap is None or event.moment is Moment.AGENT_STOPPING:
            return None
        text = CAPPED.format(spent=cap.words, name=cap.name)
        if self._meter.is_news(f"{event.session} stopped", cap):
            await self.runs.at(session, lambda run: run.note(text))
        # Advice was given when most of it was spent, and the call is judged like any other.
        return None if self._rules.only_advises else HostAnswer(is_refused=True, text=text)

    def _with_nudge(self, event: HostEvent, said: HostAnswer) -> HostAnswer:
        """An answer with a word about a cap of which most is spent, said once."""
        settings = self.home.effective.settings
        if event.moment is not Moment.AFTER_CALL or not settings.has_caps:
            return said
        cap = nearly_reached(self._meter.caps(event.session, settings))
        if cap is None or not self._meter.is_news(event.session, cap):
            return said
        text = f"{cap.words}. Come to an end."
        told = (said.text, text), (said.notice, text)
        words, notice = ("\n".join(filter(None, each)) for each in told)
        return replace(said, text=words, notice=notice)

    @asynccontextmanager
    async def _turn(self) -> AsyncGenerator[None]:
        """One moment of one session at a time, whichever process it comes to."""
        lock = await wait_for_lock(self.home.state / "hosts.lock", PATIENCE)
        try:
            await self._take_up()
            yield
        finally:
            lock.release()

    def _session(self, event: HostEvent) -> Session:
        session = self.sessions.find(event.host, event.session)
        if event.process and event.process != session.process:
            session = replace(session, process=event.process)
            self.sessions.keep(session)
        return session

    async def _answer(self, event: HostEvent, session: Session) -> HostAnswer:
        home = self.home
        match event.moment:
            case Moment.CONFIG_CHANGED if disarms(event, home.repo, home.environ):
                return self._disarmed(event)
            case Moment.EXPANDING:
                await self._begin(event, session, is_fresh=True)
                return GO_ON
            case Moment.PROMPTED if not _is_nobodys(event, session):
                return await self._prompted(event, session)
            case Moment.BEFORE_CALL:
                said = await self.runs.answer_of(session, lambda run: run.before(event))
                if said is None:
                    session, _ = await self._begin(event, session)
                    said = await self.runs.at(session, lambda run: run.before(event))
                if said.text and not said.is_refused:
                    self.sessions.keep(replace(session, untold=said.text))
                return said
            case Moment.AFTER_CALL:
                said = await self.runs.at(session, lambda run: run.after(event))
                return self._with_untold(said, session)
            case Moment.SESSION_STARTED if event.is_anew:
                return await self.runs.at(session, lambda run: run.handed_over())
            case Moment.SESSION_STARTED if event.host in EARLY_SHELLS and is_unattended(event):
                self.sessions.keep(self.runs.awaited(session, new_run_id()))
                return GO_ON
            case Moment.SESSION_ENDED:
                await self._leave(session, SESSION_ENDED)
                self.sessions.end(session)
                return GO_ON
            case _:
                return GO_ON

    def _disarmed(self, event: HostEvent) -> HostAnswer:
        words = DISARMED.format(file=event.file)
        if self._rules.only_advises:
            return HostAnswer(notice=f"Flyball would refuse this: {words}")
        return HostAnswer(is_refused=True, text=words)

    async def _stopped(self, event: HostEvent) -> HostAnswer:
        """Whether the host may stop. Other moments do not wait for the verdict."""
        async with self._turn():
            session = self._session(event)
            async with self.runs.opened(session) as run:
                said = GO_ON if run is None else await run.stop(event)
                found = run.found if run else ""
        if said is None:
            said = await self._held(session)
        said = _with_found(said, found)
        async with self._turn():
            now, rejected = self._session(event), said.text if said.is_refused else ""
            # A model whose stop is let go hears no more; it is told when it goes on.
            untold = now.untold if rejected else "\n".join(filter(None, (now.untold, found)))
            self.sessions.keep(replace(now, rejected=rejected, untold=untold))
        return said

    async def _held(self, session: Session) -> HostAnswer:
        """The verdict's answer to a stop, or where to wait for it: a host gives a hook some time.

        It is taken in a thread that goes on when this moment is answered.
        """
        settings, taken = self.home.effective.settings, Future[HostAnswer]()

        def take() -> None:
            try:
                taken.set_result(asyncio.run(self._take_verdict(session)))
            except BaseException as error:  # noqa: BLE001
                # It is raised again where somebody waits for the answer.
                taken.set_exception(error)

        threading.Thread(target=take, daemon=True).start()
        try:
            return taken.result(settings.hooks_hold)
        except TimeoutError:
            if not settings.hooks_alone and self._rules.only_advises:
                return HostAnswer(notice=under_way())
            if not settings.hooks_alone:
                return HostAnswer(is_refused=True, text=under_way())
        async with self._turn():
            await self._leave(session, TOO_LONG)
        return HostAnswer(notice=f"Flyball let this stop pass unverified: {TOO_LONG}.")

    async def _take_verdict(self, session: Session) -> HostAnswer:
        """Take the verdict that a run's stop waits for, or see what somebody else's came to."""
        lock = await wait_for_lock(self._verdict_lock(session), math.inf)
        try:
            while (state := await self.runs.live_state(session)) and (owed := owed_verdict(state)):
                seen = await self.runs.inspected(session, state, owed)
                async with self._turn():
                    said = await self.runs.at(session, lambda run, seen=seen: run.judged(seen))
                if said is not None:
                    return said
        finally:
            lock.release()
        return await self._last_stop(session)

    async def wait(self, seconds: float) -> str:
        """What the last stop in this project came to, once that is known; nothing if not in time.

        It only waits. Whoever is governed can call it, with an environment of its own making, and
        nothing that it has a hand in is a verdict.
        """
        deadline = time.monotonic() + seconds
        session = await self._last_asked()
        is_taken = True
        while await self._is_owing(session):
            if not is_taken:
                return NOBODY_LOOKS
            try:
                (await wait_for_lock(self._verdict_lock(session), LOOK_SECONDS)).release()
                # Whoever had it may have just come to an end: then nothing is owed any more.
                is_taken = False
            except WorkspaceHeld:
                if time.monotonic() > deadline:
                    return ""
        # A verdict is written in several steps of one turn, and only the last one ends the stop.
        async with self._turn():
            said = await self._last_stop(session)
        return said.text or said.notice

    async def _last_asked(self) -> Session:
        """The session whose verdict is being taken, or else the one that moved last."""
        found = [each for each in self.sessions.in_checkout() if each.run]
        if not found:
            raise _no_session()
        owing = [each for each in found if await self._is_owing(each)]
        return (owing or found)[-1]

    async def _is_owing(self, session: Session) -> bool:
        state = await self.runs.live_state(session)
        return state is not None and owed_verdict(state) is not None

    async def _last_stop(self, session: Session) -> HostAnswer:
        """What the last stop of a session came to."""
        async with opened(self.home) as journal:
            return stopped(await journal.load(session.run), self._rules)

    def _verdict_lock(self, session: Session) -> Path:
        """What is locked while somebody takes the verdict on a session's run."""
        return self.home.state / "hosts" / f"{session.run}.verdict"

    def _with_untold(self, said: HostAnswer, session: Session) -> HostAnswer:
        """An answer with what could not be told before: not every host passes on words there."""
        if not session.untold:
            return said
        self.sessions.keep(replace(session, untold=""))
        return replace(said, text="\n".join(filter(None, (session.untold, said.text))))

    async def checkpoint(self, point: Checkpoint) -> HostedRun:
        """Take a checkpoint that came from a host's shell; the run it belongs to comes back.

        The shell does not say which session it is of: the one whose call for it is under way is
        meant, and where none is, the only one there is.
        """
        async with self._turn():
            session = await self._stating()
            async with self.runs.opened(session) as run:
                assert run is not None
                await run.state_checkpoint(point)
                return run

    async def turn_off(self, seconds: float) -> float:
        """Govern nobody for so long; each run that is under way has it in its log."""
        until = self.switch.turn_off(seconds)
        async with self._turn():
            for session in self.sessions.in_checkout():
                await self.runs.at(session, lambda run: run.note(f"Off for {seconds:.0f} s."))
        return until

    async def _stating(self) -> Session:
        live = [
            (each, state)
            for each in self.sessions.in_checkout()
            if (state := await self.runs.live_state(each))
        ]
        asked = [
            (each, state)
            for each, state in live
            if any(call.access is Access.CHECKPOINT for call in state.cards[-1].in_flight)
        ]
        found = asked or live
        if not found:
            raise _no_session()
        if len(found) > 1 and not asked:
            raise Conflict(
                "Several hosts work in this project, and none of them has just asked for this.",
                "State the checkpoint from the host's own shell.",
            )
        return max(found, key=lambda each: each[1].at)[0]

    async def _prompted(self, event: HostEvent, session: Session) -> HostAnswer:
        """A person spoke: a new run, unless there is one that is not done yet."""
        state = await self.runs.live_state(session)
        if state is None and session.tree:
            begun, _ = await self._begin(event, session)
            # What a slash command's own shell has written is seen before the model is asked.
            found = await self.runs.at(begun, lambda run: run.seen(session.tree))
            return _joined(found, await self._greet(begun))
        if state and session.is_fresh:
            self.sessions.keep(replace(session, is_fresh=False))
            # What a slash command's own shell has written is seen before the model is asked.
            found = await self.runs.at(session, lambda run: run.seen())
            return _joined(found, await self._greet(session))
        left = await self.runs.at(session, lambda run: run.cut_off())
        state = await self.runs.live_state(session)
        if state and state.cards[-1].has_changed:
            return _joined(left, await self.runs.at(session, lambda run: run.heard(event)))
        if state:
            await self._end_run(session, NEXT_PROMPT)
        _, begun = await self._begin(event, session)
        return _joined(left, HostAnswer(text=greeting(begun, begun.cards[-1])))

    async def _greet(self, session: Session) -> HostAnswer:
        return await self.runs.at(session, lambda run: run.greeted())

    async def _begin(
        self, event: HostEvent, session: Session, *, is_fresh: bool = False
    ) -> tuple[Session, RunState]:
        """Start a run for what a person asked, in the checkout as it is now."""
        clean = redactor_of(self.home).text
        request = clean(event.text if event.moment is not Moment.BEFORE_CALL else "") or UNDER_WAY
        read = classify(request).intent
        shell = {
            "driver": f"{HOSTED}{event.host}",
            "in_place": "yes",
            "session": event.session,
            **self._marks,
        }

        def started(run: str) -> RunStarted:
            return RunStarted(
                run=run,
                request=request,
                policy=self._policy(),
                target=f"project/{self.home.repo.name}",
                intent=Intent.SMALL_FIX if request == UNDER_WAY else _at_least(read),
                shell=shell,
            )

        state = await self.runs.begin(session.awaited, started)
        if state.response is not None:
            raise Conflict(state.response.message, "Look at `flyball doctor`.")
        begun = replace(session, run=state.run, is_fresh=is_fresh, awaited="", tree="")
        self.sessions.keep(begun)
        return begun, state

    async def _leave(self, session: Session, why: str) -> None:
        """End a run that nobody goes on with."""
        if await self.runs.live_state(session) is not None:
            await self._end_run(session, why)

    async def _end_run(self, session: Session, why: str) -> None:
        async with self.runs.driven(session.run) as (engine, _):
            state = await engine.journal.load(session.run)
            state = await engine.append(state, Cancelled(by=session.host, why=why))
            await engine.bring_on(state)

    def _policy(self) -> Policy:
        return self.home.effective.settings.policy.around_host()


def _joined(found: HostAnswer, said: HostAnswer) -> HostAnswer:
    """An answer, after what was found before it."""
    text = "\n".join(filter(None, (found.text, said.text)))
    notice = "\n".join(filter(None, (found.notice, said.notice)))
    return replace(said, notice=notice, text=text)


def _with_found(said: HostAnswer, found: str) -> HostAnswer:
    """The answer to a stop, after what was taken back at it: the model hears it, or the person."""
    if said.is_refused:
        return replace(said, text="\n".join(filter(None, (found, said.text))))
    return replace(said, notice="\n".join(filter(None, (found, said.notice))))


def _no_session() -> NotFound:
    return NotFound("session", "of a host", "A host's session begins with a prompt in it.")


def _is_nobodys(event: HostEvent, session: Session) -> bool:
    """Whether a prompt is the host's own: word of a sub-agent, or what we had said ourselves."""
    return is_notification(event.text) or event.text.strip() == session.rejected.strip() != ""


def _at_least(intent: Intent) -> Intent:
    return Intent.DIAGNOSE if intent in TOO_SMALL else intent
