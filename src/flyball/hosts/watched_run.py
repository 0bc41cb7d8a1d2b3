"""A run of a host's session and its working tree: what changed there, and who changed it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence, Set
from functools import partial

import msgspec
from msgspec.structs import replace

from flyball.agents.event import GO_ON, HostAnswer
from flyball.app.sessions import WITHIN
from flyball.engine.loop import Engine
from flyball.engine.perform import restore_paths
from flyball.engine.run_context import RunContext
from flyball.hosts.calls import HostRules
from flyball.hosts.words import taken_back
from flyball.journal.protocol import Journal, JournalEntry
from flyball.record.observed import OBSERVED
from flyball.run.decision import may_replace_untracked
from flyball.run.effect import Inspect, Owed, Perform, Think
from flyball.run.event import (
    AnyEvent,
    CallInterrupted,
    CallReturned,
    DriverReplied,
    Finish,
    RunStarted,
)
from flyball.run.state import CardState, RunState
from flyball.terms.call import Access, Call, Outcome
from flyball.terms.phase import PLAN, Phase
from flyball.tools.call.protocol import CallContext
from flyball.workspace.files.path_rules import is_own, reads_hooks_from
from flyball.workspace.run.workspace import Workspace
from flyball.workspace.trees.trees import TreeHash


def pending_verdict(state: RunState) -> Owed | None:
    """Return the verdict that a stop waits for, if one must be taken."""
    return next((each for each in state.due if isinstance(each.effect, Inspect)), None)


class WatchedRun:
    """A run that is open for one hook event, and the inspection of its tree."""

    def __init__(
        self,
        engine: Engine,
        context: RunContext,
        state: RunState,
        rules: HostRules,
        open_workspace: Callable[[], Workspace],
        elsewhere: Callable[[bool], Awaitable[OthersChanges]],
        *,
        began_clean: bool = False,
    ) -> None:
        self._engine = engine
        self._context = context
        self.state = state
        self._rules = rules
        self._open_workspace = open_workspace
        self._elsewhere = elsewhere
        """The files that other sessions in this checkout have changed or are changing."""
        self._began_clean = began_clean
        """Whether none of a person's own uncommitted work was there when the run began."""
        self._present: TreeHash | None = None
        """The tree as last read; during one event nothing of ours changes it."""
        self.found = ""
        """What the inspection at a stop reverted; it is reported with the stop's result."""

    @property
    def card(self) -> CardState:
        """Return the card that the host works on: a hosted run has one."""
        return self.state.cards[-1]

    @property
    def _workspace(self) -> Workspace:
        """Return the checkout, opened on first use: most events do not need it."""
        if self._context.opened is None:
            self._context.adopt(self._open_workspace())
        return self._context.workspace

    async def _others(self) -> OthersChanges:
        """Return the changes made by others. Changes made for this session count as its own once it
        builds.

        Before that, the session had nothing of its own to change, and the others had permission for
        theirs.
        """
        return await self._elsewhere(not self.card.phase.is_in(PLAN))

    async def _changes(self) -> tuple[TreeHash, tuple[str, ...]]:
        """Return the current tree, and what has changed since the run last saw it."""
        workspace, was = self._workspace, TreeHash(self.card.tree)
        now = self._present = workspace.tree_hash()
        elsewhere = await self._others() if now != was else OthersChanges()
        found = [each.path for each in workspace.trees.changes(was, now)] if now != was else []
        return now, tuple(path for path in found if path not in elsewhere)

    async def _without_others(self, event: CallReturned) -> CallReturned:
        """Return the result with a base that includes changes of others."""
        card, trees = self.card, self._workspace.trees
        if event.tree == card.tree:
            return event
        # Without other active sessions, the trees need not be compared.
        elsewhere = await self._others()
        if not elsewhere.is_any:
            return event
        base, own = TreeHash(card.base), {*card.changed, *event.changed}
        found = trees.changes(base, TreeHash(event.tree))
        changes = [each for each in found if each.path not in own]
        theirs = {each.path: each.after for each in changes if each.path in elsewhere}
        if not theirs:
            return event
        moved = trees.overlay(base, theirs)
        # Stored under a name, so that it is not pruned while the run may need it.
        self._workspace.snapshot(f"{self.state.run}/base/{self.state.seq}", moved)
        return replace(event, base=moved)

    def _would_undo(self, path: str) -> bool:
        is_looking = self.card.phase is not Phase.EXECUTE
        return is_looking or reads_hooks_from(path) or is_own(path)

    async def seen(self, since: str = "") -> HostAnswer:
        """Describe the changes between two events, for model and person."""
        found = await self.check_changes(since)
        return HostAnswer(text=found, notice=found)

    async def check_changes(self, since: str = "") -> str:
        """Check changes that no call explains: revert them in a read-only phase, else accept them.

        Background shells, slash commands and skills write without a hook. `since` is a tree from
        before the run.
        """
        card = self.card
        if card.phase is Phase.PAUSED or not card.is_live or pending_verdict(self.state):
            return ""
        if any(call.access is not Access.READ for call in card.in_flight):
            return ""
        workspace, was = self._workspace, TreeHash(since or card.tree)
        now = self._present = workspace.tree_hash()
        if now == was:
            return ""
        changed = [each.path for each in workspace.trees.changes(was, now)]
        elsewhere = await self._others()
        mine = tuple(path for path in changed if path not in elsewhere)
        if not mine:
            await self._record_changes(now)
            return ""
        undone = self._without_leave(mine)
        kept = ""
        if undone:
            kept = workspace.snapshot(f"{self.state.run}/look/{self.state.seq}")
            now = self._present = restore_paths(workspace, was, undone)
        left = tuple(path for path in mine if path not in undone)
        await self._record_changes(now, changed=left, undone=undone)
        return taken_back(undone, kept) if undone else ""

    async def accept(self) -> HostAnswer:
        """Accept the current tree, which a person has just changed."""
        if self.card.is_live and self.card.phase is not Phase.PAUSED:
            await self._record_changes(self._workspace.tree_hash())
        return GO_ON

    def _without_leave(self, changed: tuple[str, ...]) -> tuple[str, ...]:
        """Return the unpermitted changes between calls: in `execute` only those to hook settings.

        The files that a host reads its hooks from must not change in any phase.
        """
        if self.card.phase is not Phase.EXECUTE:
            return changed
        return tuple(path for path in changed if reads_hooks_from(path))

    async def _record_changes(
        self,
        tree: TreeHash,
        changed: tuple[str, ...] = (),
        undone: tuple[str, ...] = (),
    ) -> None:
        """Log the changes found between calls as a call without an author or cost."""
        seq = self.state.seq
        call = Call(f"look-{seq}", "note", digest=f"look-{seq}", called="something between calls")
        await self._reply((call,), Finish.TOOL_CALLS)
        outcome = Outcome(ok=True, digest=f"look-{seq}")
        event = CallReturned(
            card=self.card.id,
            call=call.id,
            outcome=outcome,
            tree=tree,
            changed=changed,
            undone=undone,
            effect=self.pending_call(call.id),
        )
        await self._append(await self._without_others(event))

    async def _forget_calls(self, ids: Set[str] | None = None) -> None:
        """Close open calls: a host that stops or gets a prompt waits for none, so they were refused
        there.

        If one still runs, the inspection that follows sees what it has written.
        """
        for call in self.card.in_flight:
            if ids is not None and call.id not in ids:
                continue
            owed, tree = self.pending_call(call.id), self.card.tree
            gone = CallInterrupted(card=self.card.id, call=call.id, tree=tree, effect=owed)
            await self._append(gone)

    async def _reply(self, calls: tuple[Call, ...], finish: Finish, text: str = "") -> None:
        clean = self._context.redactor.text(text)
        await self._append(
            DriverReplied(
                card=self.card.id,
                text=clean,
                calls=calls,
                finish=finish,
                effect=self.pending_thought(),
            )
        )

    async def _append(self, event: AnyEvent) -> None:
        self.state = await self._engine.append(self.state, event)

    async def _run_pending(self) -> None:
        _ = self._workspace
        self.state = await self._engine.run_pending_effects(self.state)

    def pending_thought(self) -> int:
        """Return the number of the pending model request; 0 if the host makes calls in parallel."""
        found = [o.n for o in self.state.owed if isinstance(o.effect, Think)]
        return found[-1] if found else 0

    def pending_call(self, call: str) -> int:
        effects = [(o.n, o.effect) for o in self.state.owed]
        found = [n for n, e in effects if isinstance(e, Perform) and e.call.id == call]
        return found[-1] if found else 0

    def _key(self, owed: int) -> str:
        return f"{self.state.run}/{owed}"

    def _call_context(self, id: str, key: str = "", call: Call | None = None) -> CallContext:
        state, card, _ = self.state, self.card, self._workspace
        access = call.access if call else Access.READ
        made = self._context.call_context(state, card, id, key=key, phase=card.phase, access=access)
        if call is None:
            return made
        return made._replace(may_replace=partial(may_replace_untracked, state, card, call))


class OthersChanges(msgspec.Struct, frozen=True):
    """The files that others have changed or are changing; a container of paths."""

    paths: frozenset[str] = frozenset()
    is_anywhere: bool = False
    """Whether another session's command is running, whose writes are unknown."""

    @property
    def is_any(self) -> bool:
        return self.is_anywhere or bool(self.paths)

    def __contains__(self, path: object) -> bool:
        if path in self.paths:
            return True
        return self.is_anywhere and not reads_hooks_from(str(path))


async def changed_elsewhere(
    run: str, session: str, journal: Journal, live: Collection[str]
) -> OthersChanges:
    """Return what other runs in this checkout changed with permission since a run began, or may
    change now.

    Ended runs count as well, because their work still exists. `live` lists the runs whose host is
    running, as the others have no calls in progress. Changes of a host that was started in
    `session` do not count.
    """
    runs = await journal.runs()
    began = next((each.created_at for each in runs if each.run == run), 0.0)
    found: set[str] = set()
    is_anywhere = False
    for other in runs:
        if other.run == run or (other.updated_at < began and other.run not in live):
            continue
        entries = await journal.events(other.run)
        if not _is_beside(entries, session):
            continue
        found.update(_changed_since(began, entries))
        if other.run in live:
            calls = _writing(await journal.load(other.run))
            found.update(fact.path for call in calls for fact in call.paths if fact.write)
            is_anywhere = is_anywhere or any(_is_unbounded(call) for call in calls)
    return OthersChanges(frozenset(found), is_anywhere)


def _is_beside(entries: Sequence[JournalEntry], session: str) -> bool:
    """Return whether a permitted run of another session works in the same checkout."""
    started = entries[0].event if entries else None
    if not isinstance(started, RunStarted) or not started.shell.get("in_place"):
        return False
    # An agent that is only observed has no permissions, so its changes explain nothing.
    is_observed = bool(started.shell.get(OBSERVED))
    within = started.shell.get(WITHIN)
    return not is_observed and (within is None or session not in within.split("\n"))


def _changed_since(began: float, entries: Sequence[JournalEntry]) -> set[str]:
    events = [entry.event for entry in entries]
    returned = [each for each in events if isinstance(each, CallReturned) and each.at >= began]
    return {path for each in returned for path in each.changed}


def _writing(state: RunState) -> list[Call]:
    """Return the calls in progress that may write: their changes belong to them."""
    if state.has_ended or not state.cards or state.cards[-1].phase is not Phase.EXECUTE:
        return []
    calls = state.cards[-1].in_flight
    return [call for call in calls if call.access in (Access.MUTATE, Access.VERIFY)]


def _is_unbounded(call: Call) -> bool:
    """Return whether a call may write files that it does not name."""
    return call.command is not None or not call.paths
