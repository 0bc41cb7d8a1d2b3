"""List what would have been blocked, held or undone in a run that was only observed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, cast

from flyball.agents.tool import COMMAND_FIELDS, PATH_FIELDS, text_in
from flyball.run.event import AnyEvent, CallReturned, DriverReplied, Extended, Finish
from flyball.run.machine import advance
from flyball.run.state import Asking, CardState, RunState
from flyball.terms.call import Call
from flyball.terms.evidence import TreeHash
from flyball.terms.phase import Phase

OBSERVED = "observed"
"""The marker in the log of a run that is only observed."""
WOULD_UNDO = "would_undo"
BLOCK, HOLD, UNDO_CHANGES = "would-block", "would-hold", "would-take-back"
ITS_OWN = "refused"
"""The guard against who insists on what it was refused; an observed agent was refused nothing."""


class HypotheticalBlock(NamedTuple):
    """An action that Flyball would have blocked, and the tree at that time."""

    rule: str
    at: float
    what: str
    why: str
    tree: TreeHash
    paths: tuple[str, ...] = ()


def hypothetical_blocks(
    events: Iterable[AnyEvent], is_check: Callable[[str], bool]
) -> Iterator[HypotheticalBlock]:
    """Yield what would have been blocked in an observed run; `is_check` finds verifying calls."""
    state = RunState()
    proved: set[TreeHash] = set()
    for event in events:
        after = advance(state, event).state
        before = state.cards[-1] if state.cards else None
        now = after.cards[-1] if after.cards else None
        if before is not None and now is not None:
            if isinstance(event, CallReturned):
                call = next((each for each in before.in_flight if each.id == event.call), None)
                yield from _forbidden_changes(event, before, call)
                if call and event.outcome.ok and is_check(text_in(call.args, COMMAND_FIELDS)):
                    proved.add(event.tree)
            yield from _blocked(event, before, now)
            yield from _held(event, before, proved)
        state = after


def _blocked(event: AnyEvent, before: CardState, now: CardState) -> Iterator[HypotheticalBlock]:
    """Yield calls that would have been denied, or would have needed a person."""
    asked = {call.id: call for call in event.calls} if isinstance(event, DriverReplied) else {}
    for judged in now.judged:
        if judged.call in asked and judged.answer != "allow":
            what = _told(asked[judged.call])
            yield HypotheticalBlock(BLOCK, event.at, what, judged.reason, before.tree)
    question = now.question if now.question is not before.question else None
    if question and question.kind is Asking.GUARD and question.guard != ITS_OWN:
        yield HypotheticalBlock(BLOCK, event.at, "all further calls", question.text, before.tree)
    if isinstance(event, Extended):
        why = "The budget of calls was all but spent."
        yield HypotheticalBlock(BLOCK, event.at, "all further calls", why, before.tree)


def _held(event: AnyEvent, before: CardState, proved: set[TreeHash]) -> Iterator[HypotheticalBlock]:
    """Yield stops on a tree on which no check was seen to pass."""
    if not isinstance(event, DriverReplied) or event.calls or event.finish is not Finish.STOP:
        return
    if before.has_changed and before.tree not in proved:
        why = "Files were changed, and no check was seen to pass on this very tree."
        yield HypotheticalBlock(HOLD, event.at, event.text, why, before.tree, before.changed)


def _forbidden_changes(
    event: CallReturned, before: CardState, call: Call | None
) -> Iterator[HypotheticalBlock]:
    """Yield changes in a run that must not change anything."""
    told = cast("list[str]", event.outcome.data.get(WOULD_UNDO, []))
    paths = tuple(told) or (event.changed if before.phase is not Phase.EXECUTE else ())
    if paths:
        what = _told(call) if call else ""
        why = f"It changed {', '.join(paths[:8])}, where nothing may be changed."
        yield HypotheticalBlock(UNDO_CHANGES, event.at, what, why, event.tree, paths)


def _told(call: Call) -> str:
    named = text_in(call.args, COMMAND_FIELDS) or text_in(call.args, PATH_FIELDS)
    return f"{call.name}: {named}" if named else call.name
