"""The runs of hosts' sessions: find one, and open it for one event or for a long inspection."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from typing import TypeVar

from msgspec.structs import replace

from flyball.agents.event import GO_ON, HostAnswer
from flyball.app.project import Home
from flyball.app.runs.journals import new_run_id, open_journal
from flyball.app.sessions import Session, Sessions
from flyball.app.wiring import NullDriver, image_model
from flyball.engine.loop import Engine, Performer
from flyball.engine.run_context import RunContext
from flyball.engine.short_effects import ShortEffects
from flyball.errors import NotFound
from flyball.hosts.calls import HostRules
from flyball.hosts.driven import context_of, driven, ignore_output
from flyball.hosts.hosted_run import HostedRun
from flyball.hosts.kept import KeptWorkspaces
from flyball.hosts.watched_run import OthersChanges, changed_elsewhere
from flyball.journal.protocol import Intention, Journal
from flyball.run.effect import Owed
from flyball.run.event import EvidenceTaken, RunStarted
from flyball.run.state import RunState
from flyball.workspace.run.opening import find_workspace, peek_workspace

T = TypeVar("T")
EFFECTS = "flyball.engine.effects"
"""Imported only when a verdict is taken: most hooks need none, and it imports every tool."""


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
        """Apply `verb` to the session's open run; return an empty answer if it has none."""
        async with self.opened(session) as run:
            return GO_ON if run is None else await verb(run)

    async def answer_of(
        self, session: Session, verb: Callable[[HostedRun], Awaitable[T]]
    ) -> T | None:
        """Apply `verb` to the session's open run; return None if it has none."""
        async with self.opened(session) as run:
            return None if run is None else await verb(run)

    async def _state(self, session: Session, journal: Journal) -> RunState | None:
        """Return the state of the session's open run, or None."""
        if not session.run or find_workspace(session.run, self._home.state) is None:
            return None
        try:
            state = await journal.load(session.run)
        except NotFound:
            return None
        return None if state.has_ended or not state.cards else state

    async def live_state(self, session: Session) -> RunState | None:
        """Return the state of the session's open run, read from its own log only."""
        if not session.run or not self._home.has_journal:
            return None
        journal = open_journal(self._home)
        try:
            return await self._state(session, journal)
        finally:
            await journal.close()

    def awaited(self, session: Session, run: str) -> Session:
        """Return a session that knows the tree before its first prompt, without starting a run."""
        context = context_of(self._home, in_place=True)
        try:
            return replace(session, awaited=run, tree=context.open(run).tree_hash())
        finally:
            context.close()

    async def begin(self, run: str, started: Callable[[str], RunStarted]) -> RunState:
        """Start a run, in the prepared workspace or in a new one.

        A run without a name takes the workspace's, or a new one.
        """
        ready = None if run else self._kept.take(self._home)
        event = started(run or (ready.run if ready else new_run_id()))
        try:
            async with self.driven(event.run) as (engine, context):
                if ready:
                    context.adopt(ready.workspace, ready.project)
                state = await engine.run_pending_effects(await engine.append(RunState(), event))
                if context.opened:
                    self._kept.keep(event.run, context.opened)
                return state
        finally:
            if ready:
                ready.workspace.close()
            self._kept.is_wanted.set()

    async def inspected(self, session: Session, state: RunState, owed: Owed) -> EvidenceTaken:
        """Return Flyball's evidence about the work. It may take minutes, and holds no lease."""
        context = context_of(self._home, in_place=True)
        eyes = context.eyes = image_model(self._home)
        journal = open_journal(self._home)
        try:
            context.adopt(peek_workspace(session.run, self._home.state))
            make: Callable[..., Performer] = import_module(EFFECTS).EffectPerformer
            performer = make(journal, NullDriver(), context, on_text=ignore_output)
            seen = await performer.perform(state, owed, Intention(f"{state.run}/{owed.n}", False))
            assert isinstance(seen, EvidenceTaken)
            return replace(seen, effect=owed.n)
        finally:
            context.close()
            await journal.close()
            if eyes is not None:
                await eyes.close()

    def began_dirty(self, run: str) -> bool:
        """Return whether there was uncommitted work in the checkout when a run began."""
        facts = find_workspace(run, self._home.state)
        return facts is None or facts.began_dirty

    @asynccontextmanager
    async def opened(self, session: Session) -> AsyncGenerator[HostedRun | None]:
        """Yield the session's open run for one event; None if it has none."""
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
                began_clean=session.began_clean,
            )
            if context.opened:
                self._kept.keep(session.run, context.opened)

    async def _elsewhere(
        self, session: Session, journal: Journal, is_answerable: bool
    ) -> OthersChanges:
        """Return the changes that others make in this checkout and that do not belong to this
        session.

        A session that is responsible for the hosts it started also counts their changes as its own.
        """
        live = {each.run for each in self._sessions.in_checkout() if each.run}
        own = session.session if is_answerable else ""
        return await changed_elsewhere(session.run, own, journal, live)

    @asynccontextmanager
    async def driven(self, run: str) -> AsyncGenerator[tuple[Engine, RunContext]]:
        """Yield an engine that holds the run's lease, and the context of its workspace."""
        clock = self._clock
        async with driven(self._home, run, ShortEffects, in_place=True, clock=clock) as held:
            yield held[0], held[1].context
