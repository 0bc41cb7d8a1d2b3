"""The governor of hosts: finds the run of a session, and answers one moment after the other."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from msgspec.structs import replace

from flyball.app.hosts.asker.process import is_below, is_pretended, is_unattended
from flyball.app.hosts.calls import HostRules
from flyball.app.hosts.hook_files import (
    disarms,
    put_back_hooks,
    remember_hooks,
    were_hooks_touched,
)
from flyball.app.hosts.leaves.ahead import Leaves, PassedMoments, Reader
from flyball.app.hosts.meter import Meter
from flyball.app.hosts.runs.hosted_run import HostedRun
from flyball.app.hosts.runs.kept import KeptWorkspaces
from flyball.app.hosts.runs.opening import HostedRuns
from flyball.app.hosts.stops import HostStops, no_session
from flyball.app.hosts.words import (
    CAPPED,
    DISARMED,
    NEXT_PROMPT,
    PRETENDED,
    SESSION_ENDED,
    greeting,
    is_notification,
)
from flyball.app.project import Home, redactor_of
from flyball.app.runs.journals import new_run_id
from flyball.app.sessions import HOSTED, WITHIN, Session, Sessions, Switch
from flyball.core.host.event import GO_ON, HostAnswer, HostEvent, Moment
from flyball.core.host.usage import nearly_reached, reached
from flyball.core.reading.classifier import classify
from flyball.core.run.event import Cancelled, RunStarted
from flyball.core.run.policy import Policy
from flyball.core.run.state import Checkpoint, RunState
from flyball.core.terms.call import Access, digest
from flyball.core.terms.intent import Intent
from flyball.errors import Conflict
from flyball.workspace.run.lock import wait_for_lock

TOO_SMALL = frozenset({Intent.CONVERSATIONAL, Intent.STATUS_CHECK})
"""Read from a few words in the middle of a talk; an agent that is asked there may look around."""
EARLY_SHELLS = frozenset({"gemini"})
"""Hosts that run a slash command's shell before the first hook that tells of it."""
UNDER_WAY = "Work that was under way when Flyball came to it"
LEAVES_AT = (Moment.PROMPTED, Moment.BEFORE_CALL, Moment.AFTER_CALL)
WROTE = (Moment.AFTER_CALL, Moment.AGENT_STOPPING, Moment.STOPPING)
"""Moments before which something may have been written."""
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

    @property
    def stops(self) -> HostStops:
        """The stops of the hosts in this project."""
        return HostStops(
            self.home,
            self.runs,
            self._rules,
            turn=self._turn,
            session=self._session,
            leave=self._leave,
        )

    async def answer(self, event: HostEvent, *, is_alone: bool = False) -> HostAnswer:
        """What the host is told; nothing where there is nothing to say.

        Who answers alone, in a process that ends with it, gives leave for reads that may follow.
        """
        if event.moment is Moment.OTHER or self.switch.off_until():
            return GO_ON
        known = self.sessions.find(event.host, event.session)
        if is_pretended(event, known.process):
            return HostAnswer(is_refused=True, text=PRETENDED)
        said = await self._said(event, is_alone=is_alone)
        if event.moment not in WROTE or self._rules.only_advises:
            return said
        # After it: what git sees of them has been put back by now.
        if not were_hooks_touched(self.home, known.run):
            return said
        return _joined(await self._put_back(known), said)

    async def _put_back(self, session: Session) -> HostAnswer:
        """What was put back of the files that decide which hooks run, for model and person."""
        async with self._turn():
            if found := put_back_hooks(self.home, session.run):
                await self.runs.at(session, lambda run: run.note(found))
            return HostAnswer(text=found, notice=found)

    async def _said(self, event: HostEvent, *, is_alone: bool) -> HostAnswer:
        if event.moment is Moment.STOPPING:
            said = GO_ON if event.works_on else await self.stops.answer(event)
            if is_alone and not said.is_refused:
                async with self._turn():
                    await self._give_leave(event, said)
            return said
        async with self._turn():
            session = self._session(event)
            if stop := await self._capped(event, session):
                return stop
            said = self._with_nudge(event, await self._answer(event, session))
            if is_alone and event.moment in LEAVES_AT:
                await self._give_leave(event, said)
            return said

    async def _give_leave(self, event: HostEvent, said: HostAnswer) -> None:
        session = self.sessions.find(event.host, event.session)
        is_again = said.is_refused and said.stands
        refused = {digest([event.tool, event.args]): said.text} if is_again else {}
        if state := await self.runs.live_state(session):
            self._leaves.give(session, state, self.runs.look_of(state), refused)

    async def _take_up(self) -> None:
        """Have in the journal what was let pass under leaves, before anything else is judged."""
        if self._read is None:
            return
        async with self._leaves.taken(self._read) as taken:
            for each in taken:
                await self._take_up_passed(each)

    async def _take_up_passed(self, passed: PassedMoments) -> None:
        # Whoever died over it may have journaled some of it.
        heard: Counter[tuple[Moment, str]] | None = None
        for event in passed.events:
            session = self._session(event)
            if heard is None:
                heard = await self.runs.heard_since(session, passed.seq)
            if heard[event.moment, event.call]:
                heard[event.moment, event.call] -= 1
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

    async def let_person(self, change: Callable[[], None]) -> None:
        """Have a person change which hooks run: whoever is at work here goes on from that."""
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
            raise no_session()
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
        left = GO_ON
        if state and state.cards[-1].in_flight:
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
            **self._within(session),
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
        remember_hooks(self.home, state.run)
        return begun, state

    def _within(self, session: Session) -> dict[str, str]:
        """In which sessions a host was started, if in any: its work is theirs as well."""
        others = [each for each in self.sessions.in_checkout() if each.session != session.session]
        found = [each.session for each in others if is_below(session.process, each.process)]
        return {WITHIN: "\n".join(found)} if found else {}

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


def _is_nobodys(event: HostEvent, session: Session) -> bool:
    """Whether a prompt is the host's own: word of a sub-agent, or what we had said ourselves."""
    rejected = session.rejected.strip()
    # Before the rejection stands what was put back at that stop, where something was.
    is_ours = bool(rejected) and event.text.strip().endswith(rejected)
    return is_notification(event.text) or is_ours


def _at_least(intent: Intent) -> Intent:
    return Intent.DIAGNOSE if intent in TOO_SMALL else intent
