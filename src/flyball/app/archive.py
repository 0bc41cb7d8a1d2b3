"""Export a run to a file for later releases and other programs, and import it again."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version

import msgspec

from flyball.app.project import Home, note_place, redactor_of
from flyball.app.runs.journals import acquire, list_runs, opened
from flyball.errors import Conflict, Corrupt, IllegalEvent, SchemaTooNew, UsageError
from flyball.journal.protocol import JournalEntry
from flyball.record.atif import trajectory
from flyball.record.recorded_run import RECORDED, recorded_run
from flyball.record.recording import (
    EXPORT_AGAIN,
    ExportedLine,
    Header,
    document_in,
    text_in,
)
from flyball.record.spans import OWN, otlp, spans_of
from flyball.run import codec
from flyball.run.event import AnyEvent, RunStarted
from flyball.run.machine import advance
from flyball.run.state import RunState
from flyball.run.thread import thread_lines

HEADED = b'{"flyball"'
"""The header of each export format."""
WANTED_HERE = (
    "Give a file of `flyball runs export`, or a recording (`.traj`) of SWE-agent or mini-SWE-agent."
)
NOT_A_JOURNAL = "It begins with a line that `flyball runs export` did not write."


def export_lines(run: str, entries: Sequence[JournalEntry]) -> Iterator[bytes]:
    """Yield a header, then one line per event."""
    yield msgspec.json.encode(Header("journal", codec.VERSION, run))
    for entry in entries:
        yield msgspec.json.encode(entry)


def export_trajectory(entries: Sequence[JournalEntry]) -> bytes:
    """Return a run as one ATIF trajectory."""
    told = trajectory((entry.event for entry in entries), version("flyball"), _stamp)
    return msgspec.json.format(msgspec.json.encode(told), indent=2) + b"\n"


def export_spans(entries: Sequence[JournalEntry]) -> bytes:
    """Return a run as one trace in the JSON format that OpenTelemetry collectors accept."""
    release = version(OWN)
    resource = {"service.name": OWN, "service.version": release}
    told = otlp(spans_of(entry.event for entry in entries), resource, release)
    return msgspec.json.encode(told) + b"\n"


def _stamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")


def read_export(data: bytes) -> list[AnyEvent]:
    """Return the events of an export; an error names the invalid line."""
    lines = data.split(b"\n")
    try:
        header = msgspec.json.decode(lines[0], type=Header)
    except msgspec.MsgspecError:
        raise UsageError("This is not an exported run.", NOT_A_JOURNAL) from None
    if header.version > codec.VERSION:
        raise SchemaTooNew(f"It was exported by a later release ({header.version}).", "Upgrade.")
    events: list[AnyEvent] = []
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        try:
            raw = msgspec.json.decode(line, type=ExportedLine)
            event = codec.decode_event(bytes(raw.event), header.version)
        except (msgspec.MsgspecError, Corrupt) as error:
            raise UsageError(f"Line {number} is not an event: {error}", EXPORT_AGAIN) from None
        if raw.seq != len(events) + 1:
            what = f"Line {number} is event {raw.seq}, and {len(events) + 1} was expected."
            raise UsageError(what, EXPORT_AGAIN)
        events.append(event)
    if not events or not isinstance(events[0], RunStarted) or events[0].run != header.run:
        raise UsageError(f"It does not contain the start of run {header.run!r}.", EXPORT_AGAIN)
    return events


def read_run(home: Home, data: bytes) -> Sequence[AnyEvent]:
    """Return the log of an exported run, or one built from a SWE-agent recording."""
    if data.lstrip().startswith(HEADED):
        return read_export(data)
    # The same file is the same run, so it is not imported twice.
    name = f"{RECORDED}-{hashlib.sha256(data).hexdigest()[:8]}"
    try:
        return recorded_run(document_in(text_in(data)), name, redactor_of(home).text)
    except UsageError as error:
        what = f"This is neither an exported run nor a recording: {error.message}"
        raise UsageError(what, WANTED_HERE) from None


async def import_run(home: Home, data: bytes) -> RunState:
    """Import an exported run into this project's journal, validating every event again."""
    events = read_run(home, data)
    steps = list(_fold(events))
    run = steps[-1][2].run
    if any(each.run == run for each in await list_runs(home)):
        raise Conflict(f"This project already has a run {run}.", "Nothing was imported.")
    async with opened(home) as journal:
        lease = await acquire(journal, run)
        try:
            for before, event, after in steps:
                await journal.commit(lease, event, after, thread_lines(before, event, after))
        finally:
            await journal.release(lease)
    # An imported run has no workspace, so the project's path is recorded here.
    note_place(home)
    return steps[-1][2]


def _fold(events: Sequence[AnyEvent]) -> Iterator[tuple[RunState, AnyEvent, RunState]]:
    state = RunState()
    for number, event in enumerate(events, 1):
        event = event if event.at else msgspec.structs.replace(event, at=time.time())
        try:
            after = advance(state, event).state
        except IllegalEvent as error:
            raise UsageError(f"Event {number} does not follow: {error}.", EXPORT_AGAIN) from None
        yield state, event, after
        state = after
