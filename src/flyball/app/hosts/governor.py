"""The governor of hosts: finds the run of a session, and answers one moment after the other."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial

from msgspec.structs import replace

from flyball.app.driving import HOSTED, new_run_id
from flyball.app.hosts.calls import HostRules
from flyball.app.hosts.hosted_run import HostedRun
from flyball.app.hosts.person import disarms
from flyball.app.hosts.words import DISARMED, NEXT_PROMPT, SESSION_ENDED, is_notification
from flyball.app.project import Home
from flyball.app.runs import acquire
from flyball.app.sessions import Session, Sessions, Switch
from flyball.app.wiring import NobodyDriver, tool_settings
from flyball.core.host.event import GO_ON, HostAnswer, HostEvent, Moment
from flyball.core.reading.classifier import classify
from flyball.core.run.event import Cancelled, RunStarted
from flyball.core.run.policy import Policy
from flyball.core.run.state import Checkpoint, RunState
from flyball.core.terms.call import Access
from flyball.core.terms.intent import Intent
from flyball.engine.effects import EffectPerformer
from flyball.engine.loop import Engine
from flyball.engine.run_context import RunContext
from flyball.errors import Conflict, NotFound
from flyball.journal.protocol import Journal
from flyball.journal.sqlite import SqliteJournal
from flyball.workspace.redaction import Redactor, secrets_in
from flyball.workspace.run.lock import wait_for_lock
from flyball.workspace.run.opening import find_workspace, peek_workspace

TOO_SMALL = frozenset({Intent.CONVERSATIONAL, Intent.STATUS_CHECK})
"""Read from a few words in the middle of a talk; an agent that is asked there may look around."""
UNDER_WAY = "Work that was under way when Flyball came to it"
PATIENCE = 60.0
"""Seconds that one moment waits for another one of the same project."""


class HostGovernor:
    """Answers the moments of all hosts in one project, one at a time, from whatever process."""

    def __init__(self, home: Home, clock: Callable[[], float] = time.time) -> None:
        self.home = home
        self._clock = clock
        self.sessions = Sessions(home.state)
        self.switch = Switch(home.state, clock)
        settings = home.effective.settings
        self._rules = HostRules(
            settings.hooks_mode, settings.hooks_read_only, settings.hooks_scratch
        )

    async def answer(self, event: HostEvent) -> HostAnswer:
        """What the host is told; nothing where there is nothing to say."""
        if event.moment is Moment.OTHER or self.switch.off_until():
            return GO_ON
        lock = await wait_for_lock(self.home.state / "hosts.lock", PATIENCE)
        try:
            return await self._answer(event)
        finally:
            lock.release()

    async def _answer(self, event: HostEvent) -> HostAnswer:
        session = self.sessions.find(event.host, event.session)
        if event.process and event.process != session.process:
            session = replace(session, process=event.process)
            self.sessions.keep(session)
        home = self.home
        match event.moment:
            case Moment.CONFIG_CHANGED if disarms(event.file, home.repo, home.environ):
                return HostAnswer(is_refused=True, text=DISARMED.format(file=event.file))
            case Moment.EXPANDING:
                await self._begin(event, session, is_fresh=True)
                return GO_ON
            case Moment.PROMPTED if not _is_nobodys(event, session):
                return await self._prompted(event, session)
            case Moment.BEFORE_CALL:
                if await self._live_state(session) is None:
                    session = await self._begin(event, session)
                said = await self._at(session, lambda run: run.before(event))
                if said.text and not said.is_refused:
                    self.sessions.keep(replace(session, untold=said.text))
                return said
            case Moment.AFTER_CALL:
                said = await self._at(session, lambda run: run.after(event))
                return self._with_untold(said, session)
            case Moment.STOPPING if not event.works_on:
                said = await self._at(session, lambda run: run.stop(event))
                rejected = said.text if said.is_refused else ""
                self.sessions.keep(replace(session, rejected=rejected))
                return said
            case Moment.SESSION_STARTED if event.is_anew:
                return await self._at(session, lambda run: run.handed_over())
            case Moment.SESSION_ENDED:
                await self._leave(session, SESSION_ENDED)
                self.sessions.end(session)
                return GO_ON
            case _:
                return GO_ON

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
        lock = await wait_for_lock(self.home.state / "hosts.lock", PATIENCE)
        try:
            session = await self._stating()
            async with self._opened(session) as run:
                assert run is not None
                await run.state_checkpoint(point)
                return run
        finally:
            lock.release()

    async def turn_off(self, seconds: float) -> float:
        """Govern nobody for so long; each run that is under way has it in its log."""
        until = self.switch.turn_off(seconds)
        lock = await wait_for_lock(self.home.state / "hosts.lock", PATIENCE)
        try:
            for session in self.sessions.all():
                await self._at(session, lambda run: run.note(f"Off for {seconds:.0f} s."))
        finally:
            lock.release()
        return until

    async def _stating(self) -> Session:
        live = [
            (each, state) for each in self.sessions.all() if (state := await self._live_state(each))
        ]
        asked = [
            (each, state)
            for each, state in live
            if any(call.access is Access.CHECKPOINT for call in state.cards[-1].in_flight)
        ]
        found = asked or live
        if not found:
            raise NotFound("session", "of a host", "A host's session begins with a prompt in it.")
        if len(found) > 1 and not asked:
            raise Conflict(
                "Several hosts work in this project, and none of them has just asked for this.",
                "State the checkpoint from the host's own shell.",
            )
        return max(found, key=lambda each: each[1].at)[0]

    async def _prompted(self, event: HostEvent, session: Session) -> HostAnswer:
        """A person spoke: a new run, unless there is one that is not done yet."""
        state = await self._live_state(session)
        if state is None:
            return await self._greet(await self._begin(event, session))
        if session.is_fresh:
            self.sessions.keep(replace(session, is_fresh=False))
            # What a slash command's own shell has written is seen before the model is asked.
            found = await self._at(session, lambda run: run.seen())
            greeted = await self._greet(session)
            return replace(greeted, notice=found.notice, text=f"{found.text}\n{greeted.text}")
        if state.cards[-1].has_changed:
            return await self._at(session, lambda run: run.heard(event))
        await self._leave(session, NEXT_PROMPT)
        return await self._greet(await self._begin(event, session))

    async def _greet(self, session: Session) -> HostAnswer:
        return await self._at(session, lambda run: run.greeted())

    async def _at(
        self, session: Session, verb: Callable[[HostedRun], Awaitable[HostAnswer]]
    ) -> HostAnswer:
        """The answer of the session's run, if it has one that is not over."""
        async with self._opened(session) as run:
            return GO_ON if run is None else await verb(run)

    async def _state(self, session: Session, journal: Journal) -> RunState | None:
        """The state of the session's run; nothing where it has none that is not over."""
        if not session.run or find_workspace(session.run, self.home.state) is None:
            return None
        try:
            state = await journal.load(session.run)
        except NotFound:
            return None
        return None if state.has_ended or not state.cards else state

    async def _live_state(self, session: Session) -> RunState | None:
        if not session.run or not self.home.journal_path.exists():
            return None
        journal = SqliteJournal(self.home.journal_path)
        try:
            return await self._state(session, journal)
        finally:
            await journal.close()

    async def _begin(
        self, event: HostEvent, session: Session, *, is_fresh: bool = False
    ) -> Session:
        """Start a run for what a person asked, in the checkout as it is now."""
        clean = Redactor(secrets_in(self.home.environ)).text
        request = clean(event.text if event.moment is not Moment.BEFORE_CALL else "") or UNDER_WAY
        read = classify(request).intent
        started = RunStarted(
            run=new_run_id(),
            request=request,
            policy=self._policy(),
            target=f"project/{self.home.repo.name}",
            intent=Intent.SMALL_FIX if request == UNDER_WAY else _at_least(read),
            shell={"driver": f"{HOSTED}{event.host}", "in_place": "yes", "session": event.session},
        )
        async with self._driven(started.run) as (engine, _):
            state = await engine.append(RunState(), started)
            state = await engine.bring_on(state)
        if state.response is not None:
            raise Conflict(state.response.message, "Look at `flyball doctor`.")
        begun = replace(session, run=started.run, is_fresh=is_fresh)
        self.sessions.keep(begun)
        return begun

    async def _leave(self, session: Session, why: str) -> None:
        """End a run that nobody goes on with."""
        if await self._live_state(session) is None:
            return
        async with self._driven(session.run) as (engine, _):
            state = await engine.journal.load(session.run)
            state = await engine.append(state, Cancelled(by=session.host, why=why))
            await engine.bring_on(state)

    def _policy(self) -> Policy:
        """What was settled, as it holds for an agent that has its own tools and its own sandbox."""
        return replace(
            self.home.effective.settings.policy,
            hosted=True,
            bash=True,
            bash_without_sandbox=True,
            review=False,
            plan_big_requests=False,
            reserve=0,
        )

    @asynccontextmanager
    async def _opened(self, session: Session) -> AsyncGenerator[HostedRun | None]:
        """The session's run, open for one moment; nothing where it has none that is not over."""
        if not session.run or not self.home.journal_path.exists():
            yield None
            return
        async with self._driven(session.run) as (engine, context):
            state = await self._state(session, engine.journal)
            if state is None:
                yield None
                return
            yield HostedRun(
                engine,
                context,
                state,
                self._rules,
                partial(peek_workspace, session.run, self.home.state),
                partial(self._elsewhere, session, engine.journal),
            )

    async def _elsewhere(self, session: Session, journal: Journal) -> frozenset[str]:
        """What other sessions in this checkout have changed, so that nobody is blamed for it."""
        found: set[str] = set()
        for other in self.sessions.all():
            if (other.host, other.session) != (session.host, session.session):
                state = await self._state(other, journal)
                found.update(state.cards[-1].changed if state else ())
        return frozenset(found)

    @asynccontextmanager
    async def _driven(self, run: str) -> AsyncGenerator[tuple[Engine, RunContext]]:
        """An engine that holds the run's lease, and the context of its workspace."""
        home = self.home
        context = RunContext(
            home.repo,
            home.state,
            environ=home.environ,
            redactor=Redactor(secrets_in(home.environ)),
            on_output=_unheard,
            in_place=True,
            settings=tool_settings(home.effective),
        )
        journal = SqliteJournal(home.journal_path)
        try:
            lease = await acquire(journal, run)
            try:
                performer = EffectPerformer(journal, NobodyDriver(), context, on_text=_unheard)
                yield Engine(journal, lease, performer, clock=self._clock, watch=_unheard), context
            finally:
                context.close()
                await journal.release(lease)
        finally:
            await journal.close()


def _is_nobodys(event: HostEvent, session: Session) -> bool:
    """Whether a prompt is the host's own: word of a sub-agent, or what we had said ourselves."""
    return is_notification(event.text) or event.text.strip() == session.rejected.strip() != ""


def _at_least(intent: Intent) -> Intent:
    return Intent.DIAGNOSE if intent in TOO_SMALL else intent


def _unheard(*_: object) -> None:
    """Nobody watches a moment; what is to be told is in its answer."""
