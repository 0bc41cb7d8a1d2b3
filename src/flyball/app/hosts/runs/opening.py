"""The runs of hosts' sessions: finding one, and opening it for a moment or for a long look."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from typing import TypeVar

from msgspec.structs import replace

from flyball.app.hosts.calls import HostRules
from flyball.app.hosts.runs.driven import context_of, driven, unheard
from flyball.app.hosts.runs.elsewhere import OthersChanges, changed_elsewhere
from flyball.app.hosts.runs.hosted_run import HostedRun
from flyball.app.hosts.runs.kept import KeptWorkspaces
from flyball.app.project import Home
from flyball.app.runs.journals import new_run_id, open_journal
from flyball.app.sessions import Session, Sessions
from flyball.app.wiring import NobodyDriver, eyes_of
from flyball.core.host.event import GO_ON, HostAnswer
from flyball.core.run.effect import Owed
from flyball.core.run.event import EvidenceTaken, RunStarted
from flyball.core.run.state import RunState
from flyball.engine.loop import Engine, Performer
from flyball.engine.run_context import RunContext
from flyball.engine.short_effects import ShortEffects
from flyball.errors import NotFound
from flyball.journal.protocol import Intention, Journal
from flyball.workspace.run.opening import find_workspace, peek_workspace

T = TypeVar("T")
EFFECTS = "flyball.engine.effects"
"""Loaded where a verdict is taken: most hooks ask for none, and it brings every tool along."""


class HostedRuns:
    """The runs of all hosts' sessions in one project."""

    def __init__(
        self,
        home: Home,
        sessions: Sessions,
        rules: HostRules,
        clock: Callable[[], float],
        kept: KeptWorkspaces,
        kind: type[HostedRun] = HostedRun,
    ) -> None:
        self._home = home
        self._sessions = sessions
        self._rules = rules
        self._clock = clock
        self._kept = kept
        self._kind = kind

    async def at(
        self, session: Session, verb: Callable[[HostedRun], Awaitable[T]]
    ) -> T | HostAnswer:
        """The answer of the session's run; where it has none that is not over, nothing to say."""
        async with self.opened(session) as run:
            return GO_ON if run is None else await verb(run)

    async def answer_of(
        self, session: Session, verb: Callable[[HostedRun], Awaitable[T]]
    ) -> T | None:
        """The answer of the session's run; None where it has none that is not over."""
        async with self.opened(session) as run:
            return None if run is None else await verb(run)

    async def _state(self, session: Session, journal: Journal) -> RunState | None:
        """The state of the session's run; nothing where it has none that is not over."""
        if not session.run or find_workspace(session.run, self._home.state) is None:
            return None
        try:
            state = await journal.load(session.run)
        except NotFound:
            return None
        return None if state.has_ended or not state.cards else state

    async def live_state(self, session: Session) -> RunState | None:
        """The state of the session's run, read for itself alone."""
        if not session.run or not self._home.has_journal:
            return None
        journal = open_journal(self._home)
        try:
            return await self._state(session, journal)
        finally:
            await journal.close()

    def awaited(self, session: Session, run: str) -> Session:
        """A session that knows the tree from before its first prompt; no run is begun for it."""
        context = context_of(self._home, in_place=True)
        try:
            return replace(session, awaited=run, tree=context.open(run).tree_hash())
        finally:
            context.close()

    async def begin(self, run: str, started: Callable[[str], RunStarted]) -> RunState:
        """Start a run, in the workspace that is ready for one or in one that is made now.

        Where the run has no name yet, that is the workspace's or a new one.
        """
        ready = None if run else self._kept.take(self._home)
        event = started(run or (ready.run if ready else new_run_id()))
        try:
            async with self.driven(event.run) as (engine, context):
                if ready:
                    context.adopt(ready.workspace, ready.project)
                state = await engine.bring_on(await engine.append(RunState(), event))
                if context.opened:
                    self._kept.keep(event.run, context.opened)
                return state
        finally:
            if ready:
                ready.workspace.close()
            self._kept.is_wanted.set()

    async def inspected(self, session: Session, state: RunState, owed: Owed) -> EvidenceTaken:
        """What Flyball sees of the work. It may take minutes, and no lease is held for it."""
        context = context_of(self._home, in_place=True)
        eyes = context.eyes = eyes_of(self._home)
        journal = open_journal(self._home)
        try:
            context.adopt(peek_workspace(session.run, self._home.state))
            make: Callable[..., Performer] = import_module(EFFECTS).EffectPerformer
            performer = make(journal, NobodyDriver(), context, on_text=unheard)
            seen = await performer.perform(state, owed, Intention(f"{state.run}/{owed.n}", False))
            assert isinstance(seen, EvidenceTaken)
            return replace(seen, effect=owed.n)
        finally:
            context.close()
            await journal.close()
            if eyes is not None:
                await eyes.close()

    @asynccontextmanager
    async def opened(self, session: Session) -> AsyncGenerator[HostedRun | None]:
        """The session's run, open for one moment; nothing where it has none that is not over."""
        if not session.run or not self._home.has_journal:
            yield None
            return
        async with self.driven(session.run) as (engine, context):
            state = await self._state(session, engine.journal)
            if state is None:
                yield None
                return
            yield self._kind(
                engine,
                context,
                state,
                self._rules,
                partial(self._kept.open, session.run, self._home.state),
                partial(self._elsewhere, session, engine.journal),
            )
            if context.opened:
                self._kept.keep(session.run, context.opened)

    async def _elsewhere(
        self, session: Session, journal: Journal, is_answerable: bool
    ) -> OthersChanges:
        """What is changed in this checkout by others, so that the session is not blamed for it.

        One that is answerable for the hosts it has started is blamed for what they change.
        """
        live = {each.run for each in self._sessions.in_checkout() if each.run}
        own = session.session if is_answerable else ""
        return await changed_elsewhere(session.run, own, journal, live)

    @asynccontextmanager
    async def driven(self, run: str) -> AsyncGenerator[tuple[Engine, RunContext]]:
        """An engine that holds the run's lease, and the context of its workspace."""
        clock = self._clock
        async with driven(self._home, run, ShortEffects, in_place=True, clock=clock) as held:
            yield held[0], held[1].context
