"""What each card's driver has seen of a file: a stale diff is applied to what it was made for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flyball.core.run.event import AnyEvent, CallReturned, DriverReplied
from flyball.core.terms.call import Call
from flyball.core.terms.tool import TOOL_ROWS


def seen_by(call: Call, event: CallReturned) -> Iterator[tuple[str, str]]:
    """The paths a call has shown to the driver, each with the tree it was seen in."""
    if not event.outcome.ok:
        return
    if call.tool == "read":
        path = event.outcome.data.get("path")
        if isinstance(path, str):
            yield path, event.tree
    # What a command changed was not shown to the driver, so a diff against it is stale.
    elif call.tool in TOOL_ROWS and TOOL_ROWS[call.tool].writes_text:
        for path in event.changed:
            yield path, event.tree


def recall(events: Iterable[AnyEvent]) -> dict[str, dict[str, str]]:
    """What a run's journal says was seen, card by card."""
    calls: dict[tuple[str, str], Call] = {}
    seen: dict[str, dict[str, str]] = {}
    for event in events:
        if isinstance(event, DriverReplied):
            calls.update(((event.card, call.id), call) for call in event.calls)
        elif isinstance(event, CallReturned) and (call := calls.get((event.card, event.call))):
            seen.setdefault(event.card, {}).update(seen_by(call, event))
    return seen
