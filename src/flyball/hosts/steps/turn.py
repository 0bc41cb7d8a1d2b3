"""One turn of a run whose driver is in another program.

Only the journal persists between turns, so any process may take the next one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import NamedTuple

from flyball.app.project import Home
from flyball.app.runs.journals import Record
from flyball.app.sessions import MCP
from flyball.drivers.form import give_ids
from flyball.drivers.protocol import Reply, Request
from flyball.engine.effects import EffectPerformer
from flyball.engine.loop import Engine
from flyball.engine.run_context import RunContext, recall
from flyball.engine.telemetry import Telemetry
from flyball.errors import Conflict, LeaseHeld
from flyball.hosts.calls import HostRules
from flyball.hosts.driven import driven, ignore_output
from flyball.hosts.hosted_run import HostedRun
from flyball.hosts.steps.view import Asked, TurnView, turn_view
from flyball.hosts.watched_run import OthersChanges
from flyball.journal.protocol import Journal
from flyball.run.effect import Owed, Think
from flyball.run.event import Finish
from flyball.run.state import CardState, RunState
from flyball.run.thread import SpokenCall
from flyball.workspace.run.lock import wait_for_lock
from flyball.workspace.run.opening import find_workspace

PATIENCE = 60.0
"""Seconds that one turn waits for another one of the same run."""
LEASE_PATIENCE = 10.0
ASK_AGAIN = 0.1
GONE = "`start_run` begins a new one."


Driven = tuple[Engine, EffectPerformer]


class TurnWatcher(NamedTuple):
    """Callbacks that are notified of events during a turn."""

    telemetry: Callable[[Telemetry], None] = ignore_output
    output: Callable[[str], None] = ignore_output


NOBODY = TurnWatcher()


class OneReply:
    """A driver that is present for one reply; its other effects stay pending."""

    def __init__(self, text: str = "", calls: tuple[SpokenCall, ...] = ()) -> None:
        self._text = text
        self._calls = calls

    async def think(self, request: Request, on_text: Callable[[str], None]) -> Reply:  # noqa: ARG002
        """Return the reply, with ids that no other call has."""
        calls = give_ids(self._calls, request)
        finish = Finish.TOOL_CALLS if calls else Finish.STOP
        return Reply(text=self._text, calls=calls, finish=finish, model=MCP)

    async def close(self) -> None:
        """Do nothing: no resource is held."""

    def performs(self, journal: Journal, context: RunContext) -> EffectPerformer:
        """Return the performer of a run's effects, with this as its driver."""
        return EffectPerformer(journal, self, context, on_text=ignore_output)


SILENT = OneReply()


class HeldTurn:
    """A locked run, at a point where its driver or a person is asked, or nothing is pending."""

    def __init__(self, engine: Engine, performer: EffectPerformer, state: RunState) -> None:
        self._engine = engine
        self._performer = performer
        self.state = state
        self.told: list[Telemetry] = []

    async def run_pending_effects(self) -> None:
        """Perform all pending effects except thinking, and detect changes by others."""
        self.state = await self._engine.run(self.state, lambda _, owed: is_thinking(owed))
        self.state = await self._accept_changes()

    async def asked(self) -> Asked | None:
        """Return the driver's pending request, with all of its input."""
        for owed in self.state.due:
            if isinstance(owed.effect, Think):
                request = await self._performer.request(self.state, owed.n, owed.effect)
                return Asked(owed.n, owed.effect, request)
        return None

    async def reply(self, asked: Asked) -> TurnView:
        """Take the driver's reply, and perform everything that needs no further reply."""
        before = self.state.card(asked.effect.card)
        attempt = before.attempt if before else 1
        thread = (self.state.run, asked.effect.card, attempt, asked.effect.role)
        known = len(await self._engine.journal.thread(*thread))
        self.told.clear()
        self.state = await self._engine.run(
            self.state, lambda _, owed: is_thinking(owed) and owed.n != asked.number
        )
        lines = (await self._engine.journal.thread(*thread))[known:]
        call = next((each.id for line in lines for each in line.calls), "")
        return turn_view(self.state, await self.asked(), call, lines, self.told)

    async def outcome(self, card: CardState, call: str, told: Sequence[Telemetry]) -> TurnView:
        """Return the result of a person's answer: its messages and the call that it allowed."""
        thread = (self.state.run, card.id, card.attempt, card.role)
        lines = await self._engine.journal.thread(*thread)
        answers = [line for line in lines if call and line.call == call]
        return turn_view(self.state, await self.asked(), call, answers, [*told, *self.told])

    async def _accept_changes(self) -> RunState:
        """Return the state with the changes made between two turns.

        A client can edit files directly. In a read-only phase, its changes are reverted.
        """
        context, state = self._performer.context, self.state
        if not state.cards or context.opened is None or state.has_ended:
            return state
        run = HostedRun(
            self._engine, context, state, HostRules(), lambda: context.workspace, _nothing
        )
        await run.check_changes()
        return run.state


async def _nothing(_is_answerable: bool) -> OthersChanges:
    """Return no changes: no other session works in the tree of a run."""
    return OthersChanges()


def is_thinking(owed: Owed) -> bool:
    """Return whether an effect is for the driver to answer."""
    return isinstance(owed.effect, Think)


@asynccontextmanager
async def locked(home: Home, run: str) -> AsyncGenerator[None]:
    """Lock a run against turns of every other process."""
    lock = await wait_for_lock(home.state / "steps" / f"{run}.lock", PATIENCE)
    try:
        yield
    finally:
        lock.release()


@asynccontextmanager
async def held(
    home: Home,
    record: Record,
    driver: OneReply,
    clock: Callable[[], float],
    watcher: TurnWatcher = NOBODY,
) -> AsyncGenerator[HeldTurn]:
    """Open a run with its lease and workspace, advanced to the next request to its driver."""
    run = record.state.run
    turn: HeldTurn | None = None

    def watch(line: Telemetry) -> None:
        if turn is not None:
            turn.told.append(line)
        watcher.telemetry(line)

    def drive() -> AbstractAsyncContextManager[Driven]:
        return driven(
            home,
            run,
            driver.performs,
            in_place=False,
            clock=clock,
            watch=watch,
            on_output=watcher.output,
        )

    async with locked(home, run), AsyncExitStack() as stack:
        engine, performer = await _patiently(stack, drive)
        performer.context.on_progress = watcher.telemetry
        performer.context.seen.update(recall(entry.event for entry in record.entries))
        if find_workspace(run, home.state) is not None:
            performer.context.open(run)
        elif record.state.base:
            raise Conflict(f"The workspace of run {run} is not here any more.", GONE)
        turn = HeldTurn(engine, performer, await engine.journal.load(run, record.state))
        await turn.run_pending_effects()
        yield turn


async def _patiently(
    stack: AsyncExitStack, drive: Callable[[], AbstractAsyncContextManager[Driven]]
) -> Driven:
    """Return the result of `drive`, after waiting if a person's answer briefly holds the run."""
    deadline = time.monotonic() + LEASE_PATIENCE
    while True:
        try:
            return await stack.enter_async_context(drive())
        except LeaseHeld:
            if time.monotonic() > deadline:
                raise
        await asyncio.sleep(ASK_AGAIN)
