"""Find files that others change in the same checkout, so that no session is blamed for them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from flyball.app.sessions import WITHIN
from flyball.core.record.observed import OBSERVED
from flyball.core.run.event import CallReturned, RunStarted
from flyball.core.run.state import RunState
from flyball.core.terms.call import Access, Call
from flyball.core.terms.phase import Phase
from flyball.journal.protocol import Journal, JournalEntry
from flyball.workspace.files.path_rules import reads_hooks_from


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
    now.

    Ended runs count as well: their work is still there. `live` are the runs whose host is running,
    as the others have no calls in progress. Changes of a host that was started in `session` do not
    count.
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
    """Return whether a run works in the same checkout, with permission, and not for this
    session.
    """
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
