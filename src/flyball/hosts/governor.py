"""The governor of hosts: finds the run of a session, and answers one hook event at a time."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from msgspec.structs import replace

from flyball.agents.event import GO_ON, HostAnswer, HostEvent, Moment
from flyball.agents.usage import nearly_reached, reached
from flyball.app.project import Home
from flyball.app.runs.journals import new_run_id
from flyball.app.sessions import Session, Sessions, Switch
from flyball.errors import Conflict
from flyball.hosts.armed import LOST, find_disabled_hooks, forget_hooks, mark_lost
from flyball.hosts.calls import CHECKPOINT, CONFLICT, HostRules
from flyball.hosts.hook_files import (
    disarms,
    remember_hooks,
    restore_hook_files,
    were_hooks_touched,
)
from flyball.hosts.hosted_run import HostedRun
from flyball.hosts.kept import KeptWorkspaces
from flyball.hosts.meter import Meter
from flyball.hosts.opening import HostedRuns
from flyball.hosts.person import is_pretended, is_unattended
from flyball.hosts.prompts import HostPrompts, is_written_by_host, joined
from flyball.hosts.stops import HostStops, no_session
from flyball.hosts.unheld_run import UnheldRun
from flyball.hosts.words import (
    CAPPED,
    DISARMED,
    PRETENDED,
)
from flyball.run.state import Checkpoint
from flyball.tools.conflict import ConflictForm
from flyball.workspace.process.process_identity import is_running
from flyball.workspace.run.lock import wait_for_lock

EARLY_SHELLS = frozenset({"gemini"})
"""Hosts that run a slash command's shell before the first hook that reports it."""
WROTE = (Moment.AFTER_CALL, Moment.AGENT_STOPPING, Moment.STOPPING)
"""Events before which files may have been written."""
COMPARED = (Moment.PROMPTED, Moment.STOPPING, Moment.SESSION_ENDED)
"""Events at which the settings that hold our hooks are compared with those at the run's start."""
PATIENCE = 60.0
"""Seconds that one event waits for another of the same project."""


class HostGovernor:
    """Answers the hook events of all hosts in one project, one at a time, across processes."""

    def __init__(
        self,
        home: Home,
        kept: KeptWorkspaces | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.home = home
        self._clock = clock
        self.sessions = Sessions(home.state)
        self.switch = Switch(home.state, clock)
        settings = home.effective.settings
        self._rules = HostRules(
            settings.hooks_level,
            settings.hooks_read_only,
            settings.hooks_scratch,
            settings.hooks_answers_prompts,
            str(home.state.parent),
            settings.sandbox_secrets,
        )
        self._meter = Meter(home.state, clock)
        kind = UnheldRun if self._rules.only_judges_stops else HostedRun
        self._kept = kept = kept or KeptWorkspaces()
        self.runs = HostedRuns(home, self.sessions, self._rules, clock, kept, kind)
        self.prompts = HostPrompts(home, self.sessions, self.runs)

    @property
    def stops(self) -> HostStops:
        """Return the stops of the hosts in this project."""
        return HostStops(
            self.home,
            self.runs,
            self._rules,
            turn=self._turn,
            session=self._session,
            leave=self.prompts.leave,
        )

    async def answer(self, event: HostEvent) -> HostAnswer:
        """Return the answer for the host; empty if there is nothing to say."""
        if event.moment is Moment.OTHER or self.switch.off_until():
            return GO_ON
        known = self.sessions.find(event.host, event.session)
        if is_pretended(event, known.process):
            return HostAnswer(is_refused=True, text=PRETENDED)
        answer = await (self._compared if event.moment in COMPARED else self._answer_allowed)(event)
        if event.moment not in WROTE or self._rules.only_judges_stops:
            return answer
        # Afterwards: changes that git sees have been reverted by now.
        if not were_hooks_touched(self.home, known.run):
            return answer
        async with self._turn():
            return joined(await self._put_back(known), answer)

    async def _compared(self, event: HostEvent) -> HostAnswer:
        """Answer an event, and tell model and person if the hooks were disarmed meanwhile."""
        async with self._turn():
            known = self._session(event)
            found = find_disabled_hooks(self.home, known.run)
            gone = LOST if self._is_lost(known) else found.text
            if found.is_news:
                await self.runs.at(known, lambda run: run.noted(gone))
        answer = await self._answer_allowed(event)
        async with self._turn():
            now = self.sessions.find(event.host, event.session)
            if event.moment is Moment.STOPPING and gone and not answer.is_refused:
                # Hosts pass nothing on to a model that stops.
                untold = "\n".join(filter(None, (now.untold, gone)))
                self.sessions.keep(replace(now, untold=untold))
            self._know(now, has_ended=event.moment is Moment.SESSION_ENDED)
        is_told = gone in known.untold
        return joined(HostAnswer(text="" if is_told else gone, notice=gone), answer)

    def _is_lost(self, known: Session) -> bool:
        """Return whether a session had a run that its state no longer knows."""
        had = self._kept.runs.get((known.host, known.session))
        return bool(had) and not (known.run and self.home.has_journal)

    def _know(self, session: Session, *, has_ended: bool = False) -> None:
        key = (session.host, session.session)
        if has_ended:
            self._kept.runs.pop(key, None)
        elif session.run:
            self._kept.runs[key] = session.run

    async def _put_back(self, session: Session) -> HostAnswer:
        """Return a note to model and person about restored files that decide which hooks run."""
        if found := restore_hook_files(self.home, session.run):
            await self.runs.at(session, lambda run: run.note(found))
        return HostAnswer(text=found, notice=found)

    async def _answer_allowed(self, event: HostEvent) -> HostAnswer:
        if event.moment is Moment.STOPPING:
            return GO_ON if event.works_on else await self.stops.answer(event)
        async with self._turn():
            session = self._session(event)
            if stop := await self._capped(event, session):
                return stop
            return self._with_nudge(event, await self._answer(event, session))

    async def _capped(self, event: HostEvent, session: Session) -> HostAnswer | None:
        """Return a refusal if the person's cap on tokens or money is spent."""
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
        return HostAnswer(is_refused=True, text=text)

    def _with_nudge(self, event: HostEvent, answer: HostAnswer) -> HostAnswer:
        """Add a one-time note about a cap that is mostly spent."""
        settings = self.home.effective.settings
        if event.moment is not Moment.AFTER_CALL or not settings.has_caps:
            return answer
        cap = nearly_reached(self._meter.caps(event.session, settings))
        if cap is None or not self._meter.is_news(event.session, cap):
            return answer
        text = f"{cap.words}. Finish now."
        texts = (answer.text, text), (answer.notice, text)
        words, notice = ("\n".join(filter(None, each)) for each in texts)
        return replace(answer, text=words, notice=notice)

    @asynccontextmanager
    async def _turn(self) -> AsyncGenerator[None]:
        """Hold the lock that serializes hook events across processes."""
        lock = await wait_for_lock(self.home.state / "hosts.lock", PATIENCE)
        try:
            yield
        finally:
            lock.release()

    def _session(self, event: HostEvent) -> Session:
        session = self.sessions.find(event.host, event.session)
        if event.process and event.process != session.process:
            if session.process and not is_running(session.process):
                # Between two processes of a host its settings are the person's.
                forget_hooks(self.home, session.run)
            session = replace(session, process=event.process)
            self.sessions.keep(session)
        return session

    async def _answer(self, event: HostEvent, session: Session) -> HostAnswer:
        home = self.home
        match event.moment:
            case Moment.CONFIG_CHANGED if disarms(
                event, home.repo, home.environ, self._rules.level
            ):
                return self._disarmed(event)
            case Moment.EXPANDING:
                await self.prompts.begin(event, session, is_fresh=True)
                return GO_ON
            case Moment.PROMPTED if not is_written_by_host(event, session):
                answer = await self.prompts.answer(event, session)
                return self._with_untold(answer, self.sessions.find(event.host, event.session))
            case Moment.BEFORE_CALL:
                answer = await self.runs.answer_of(session, lambda run: run.before(event))
                if answer is None:
                    is_lost = self._is_lost(session)
                    session, _ = await self.prompts.begin(event, session)
                    if is_lost:
                        mark_lost(self.home, session.run)
                    self._know(session)
                    answer = await self.runs.at(session, lambda run: run.before(event))
                if answer.text and not answer.is_refused:
                    self.sessions.keep(replace(session, untold=answer.text))
                return answer
            case Moment.AFTER_CALL:
                answer = await self.runs.at(session, lambda run: run.after(event))
                return self._with_untold(answer, session)
            case Moment.SESSION_STARTED if event.is_anew:
                return await self.runs.at(session, lambda run: run.handed_over())
            case Moment.SESSION_STARTED if event.host in EARLY_SHELLS and is_unattended(event):
                self.sessions.keep(self.runs.awaited(session, new_run_id()))
                return GO_ON
            case Moment.SESSION_ENDED:
                await self.prompts.end(session)
                return GO_ON
            case _:
                return GO_ON

    def _disarmed(self, event: HostEvent) -> HostAnswer:
        words = DISARMED.format(file=event.file)
        if self._rules.only_judges_stops:
            return HostAnswer(notice=f"Flyball would refuse this: {words}")
        return HostAnswer(is_refused=True, text=words)

    def _with_untold(self, answer: HostAnswer, session: Session) -> HostAnswer:
        """Add pending messages to an answer: some hosts do not pass on messages at every event."""
        if not session.untold and not session.unshown:
            return answer
        self.sessions.keep(replace(session, untold="", unshown=""))
        return joined(HostAnswer(text=session.untold, notice=session.unshown), answer)

    async def checkpoint(self, point: Checkpoint) -> HostedRun:
        """Record a checkpoint sent from a host's shell; return the run it belongs to.

        The shell does not name its session. It is the session with such a call in progress, or the
        only one there is.
        """
        async with self._turn():
            session = await self._stating(CHECKPOINT)
            async with self.runs.opened(session) as run:
                assert run is not None
                await run.state_checkpoint(point)
                return run

    async def conflict(self, form: ConflictForm) -> HostedRun:
        """Record a conflict sent from a host's shell, like a checkpoint."""
        async with self._turn():
            session = await self._stating(CONFLICT)
            async with self.runs.opened(session) as run:
                assert run is not None
                await run.state_conflict(form)
                return run

    async def let_person(self, change: Callable[[], None]) -> None:
        """Let a person change which hooks run; active sessions accept the new state."""
        async with self._turn():
            sessions = self.sessions.in_checkout()
            live = [each for each in sessions if await self.runs.live_state(each)]
            for session in live:
                await self.runs.at(session, lambda run: run.seen())
            change()
            for session in live:
                await self.runs.at(session, lambda run: run.accept())
                remember_hooks(self.home, session.run)

    async def turn_off(self, seconds: float) -> float:
        """Suspend governing for some seconds; each active run logs it."""
        until = self.switch.turn_off(seconds)
        async with self._turn():
            for session in self.sessions.in_checkout():
                await self.runs.at(session, lambda run: run.note(f"Off for {seconds:.0f} s."))
                forget_hooks(self.home, session.run)
        return until

    async def _stating(self, tool: str) -> Session:
        live = [
            (each, state)
            for each in self.sessions.in_checkout()
            if (state := await self.runs.live_state(each))
        ]
        asked = [
            (each, state)
            for each, state in live
            if any(call.tool == tool for call in state.cards[-1].in_flight)
        ]
        found = asked or live
        if not found:
            raise no_session()
        if len(found) > 1 and not asked:
            raise Conflict(
                "Several agents are working in this project, and none of them just asked for this.",
                f"State the {tool} from the agent's own shell.",
            )
        return max(found, key=lambda each: each[1].at)[0]
