"""Apply the guards to a recorded run: another agent's, or an exported one of Flyball's own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, cast

import msgspec

from flyball.agents.open_hands import is_open_hands, open_hands_steps
from flyball.agents.swe_agent import WANTED, steps_of
from flyball.errors import Corrupt, IllegalEvent, UsageError
from flyball.guards.guard import GuardLimits, Trip, TripLevel
from flyball.guards.guard_memory import GuardStep, Memory, remember, trips
from flyball.run.codec import VERSION, decode_event
from flyball.run.event import AnyEvent
from flyball.run.machine import advance
from flyball.run.state import CardState, RunState


class RecordedTrip(msgspec.Struct, frozen=True):
    """A trip, and the step of the run at which it happened."""

    step: int
    guard: str
    level: TripLevel
    reason: str


class GuardReport(msgspec.Struct, frozen=True):
    """The guards' alarms in a run, and where they would have stopped it."""

    steps: int
    trips: tuple[RecordedTrip, ...] = ()
    stopped_at: int | None = None


class Header(msgspec.Struct, frozen=True):
    """The first line of an exported journal."""

    flyball: Literal["journal"]
    version: int
    run: str = ""


class ExportedLine(msgspec.Struct, frozen=True):
    """One event of an exported journal, in the format that the header names."""

    seq: int
    event: msgspec.Raw


EXPORT_AGAIN = "Export the run again with `flyball runs export`."


def judge_recording(
    data: bytes, limits: GuardLimits | None = None, *, for_journals: bool = False
) -> GuardReport:
    """Judge a file's contents; invalid input raises an error that does not name the file.

    A Flyball journal is judged by its own policy, unless these limits apply to journals too.
    """
    text = text_in(data)
    first, _, rest = text.lstrip().partition("\n")
    if (header := _header(first)) is not None:
        if header.version > VERSION:
            hint = "Use the release of Flyball that wrote it, or a later one."
            raise UsageError(f"it is a journal of version {header.version}.", hint)
        return judge_events(_events(rest, header.version), limits if for_journals else None)
    document = document_in(text)
    read = open_hands_steps if is_open_hands(document) else steps_of
    return judge_steps(read(document), limits or GuardLimits())


def judge_steps(steps: Sequence[GuardStep], limits: GuardLimits) -> GuardReport:
    """Judge the steps of one attempt."""
    memory = Memory()
    seen: list[tuple[int, tuple[Trip, ...]]] = []
    for number, step in enumerate(steps, 1):
        memory = remember(memory, step)
        seen.append((number, trips(memory, limits)))
    return _judgement(len(steps), seen)


def judge_events(events: Iterable[AnyEvent], limits: GuardLimits | None = None) -> GuardReport:
    """Replay a journal under its own policy and collect what its guards reported, or would report.

    Under other limits the run would have taken another course; only its actual steps are judged.
    """
    state, number = RunState(), 0
    seen: list[tuple[int, tuple[Trip, ...]]] = []
    for line, event in enumerate(events, 2):
        try:
            now = advance(state, event).state
        except IllegalEvent as error:
            raise UsageError(f"line {line} does not follow: {error}.", EXPORT_AGAIN) from None
        touched = [card for card in now.cards if card is not state.card(card.id)]
        moved = [card for card in touched if _is_observed(state.card(card.id), card)]
        number += bool(moved)
        if limits is None:
            seen += [(number, card.tripped) for card in touched if card.tripped]
        else:
            seen += [(number, trips(card.memory, limits)) for card in moved]
        state = now
    return _judgement(number, seen)


def _is_observed(before: CardState | None, after: CardState) -> bool:
    """Return whether the guards saw a step; a new attempt only resets them."""
    return before is not None and after.memory not in (before.memory, Memory())


def _judgement(steps: int, seen: Iterable[tuple[int, tuple[Trip, ...]]]) -> GuardReport:
    """Report each level of a guard once, when it is reached, and not at later steps."""
    told: list[RecordedTrip] = []
    still_tripped: frozenset[str] = frozenset()
    for number, tripped in seen:
        hard = frozenset(trip.guard for trip in tripped if trip.level is TripLevel.HARD)
        told += [
            RecordedTrip(number, trip.guard, trip.level, trip.reason)
            for trip in tripped
            if trip.guard not in still_tripped
        ]
        still_tripped = hard
    stopped = next((trip.step for trip in told if trip.level is TripLevel.HARD), None)
    return GuardReport(steps, tuple(told), stopped)


def _header(line: str) -> Header | None:
    try:
        return msgspec.json.decode(line, type=Header)
    except (msgspec.DecodeError, RecursionError):
        return None


def _events(text: str, version: int) -> Iterator[AnyEvent]:
    for number, line in enumerate(text.split("\n"), 2):
        if not line.strip():
            continue
        try:
            raw = msgspec.json.decode(line, type=ExportedLine).event
            yield decode_event(bytes(raw), version)
        except (msgspec.DecodeError, Corrupt, RecursionError) as error:
            what = f"line {number} is not an event of a journal: {error}."
            raise UsageError(what, EXPORT_AGAIN) from None


def text_in(data: bytes) -> str:
    """Return a file's contents as text; an empty file is an error."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError("it is not a text file.", WANTED) from None
    if not text.strip():
        raise UsageError("it is empty.", WANTED)
    return text


def document_in(text: str) -> object:
    """Parse a text as JSON."""
    try:
        return cast("object", json.loads(text))
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise UsageError(f"it is not JSON: {error.msg} ({where}).", WANTED) from None
    except (ValueError, RecursionError):
        raise UsageError(
            "its JSON has numbers that are too large or is nested too deeply.", WANTED
        ) from None
