"""Detect the format of a transcript file and read its entries; skip unknown formats with a note."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec

from flyball.agents.claude import claude_entries
from flyball.agents.codex import codex_entries
from flyball.agents.entry import Entry, Lines
from flyball.agents.foreign import foreign_entries
from flyball.agents.gemini import gemini_entries
from flyball.agents.open_hands import is_open_hands
from flyball.agents.opencode import opencode_entries
from flyball.errors import UsageError
from flyball.regex import regex

LARGEST_DOCUMENT = 128 << 20
HEAD = 40
"""Number of lines read to detect a file's format."""


class Transcript(NamedTuple):
    """The entries of one session, and the host that wrote them."""

    host: str
    entries: Iterator[Entry]


def read_transcripts(file: Path, tell: Tell) -> Iterator[Transcript]:
    """Yield the sessions of a file; report an unknown format through `tell`."""
    if is_event_folder(file):
        yield from _of_events(file, tell)
    elif file.suffix == ".db":
        yield from _opencode(file, tell)
    elif file.suffix == ".jsonl":
        yield from _of_lines(file, tell)
    elif file.suffix in (".json", ".traj"):
        yield from _of_document(file, tell)


BY_LINES: dict[str, Callable[[Lines], Iterator[Entry]]] = {
    "claude": claude_entries,
    "codex": codex_entries,
    "gemini": gemini_entries,
}


NEEDED = {"claude": (b'"user"', b'"assistant"')}
"""For hosts that also log other data: a text that every relevant line contains."""


def _of_lines(file: Path, tell: Tell) -> Iterator[Transcript]:
    only = LineFilter()
    lines = read_lines(file, tell, only)
    head = [*islice(lines, HEAD)]
    host = next((host for line in head if (host := _host_of(line))), "")
    only.needed = NEEDED.get(host, ())
    if host in BY_LINES:
        yield Transcript(host, BY_LINES[host](chain(head, lines)))
    elif host == "foreign":
        for number, line in enumerate(chain(head, lines), 1):
            name = str(line.get("instance_id", f"{file.name}:{number}"))
            yield from _foreign(line, name, tell)
    elif head:
        tell("It is of no format that Flyball knows, and was skipped.")


CLAUDE_KINDS = frozenset({"user", "assistant"})
FOREIGN_KEYS = frozenset({"trajectory", "history", "messages", "events"})


def _host_of(line: dict[str, Any]) -> str:
    """Return the host that wrote this line, by fields that only it uses."""
    kind = line.get("type")
    if kind == "session_meta" and isinstance(line.get("payload"), dict):
        return "codex"
    if "sessionId" in line and "projectHash" in line:
        return "gemini"
    if kind in CLAUDE_KINDS and "sessionId" in line and isinstance(line.get("message"), dict):
        return "claude"
    return "foreign" if FOREIGN_KEYS & line.keys() and "type" not in line else ""


def _of_document(file: Path, tell: Tell) -> Iterator[Transcript]:
    if file.stat().st_size > LARGEST_DOCUMENT:
        tell(f"It is one document of more than {LARGEST_DOCUMENT >> 20} MB and was skipped.")
        return
    try:
        document: object = json.loads(file.read_bytes())
    except RecursionError:
        tell("It is nested too deeply and was skipped.")
        return
    except ValueError:
        tell("It is not JSON, or cut off, and was skipped.")
        return
    if isinstance(document, dict):
        known = cast("dict[str, Any]", document)
        if "sessionId" in known and isinstance(known.get("messages"), list):
            yield Transcript("gemini", gemini_entries([known]))
            return
        if "parentID" in known or {"role", "sessionID"} <= known.keys():
            # Part of an older opencode's store; its sessions are read from `session/`.
            return
        if {"directory", "projectID"} <= known.keys() and file.parent.parent.name == "session":
            rows = _stored(file, known)
            yield Transcript("opencode", opencode_entries(rows))
            return
        if not FOREIGN_KEYS & known.keys():
            # Settings, reports and the like, which do not claim to be transcripts.
            return
    yield from _foreign(cast(object, document), file.name.partition(".")[0], tell)


def _of_events(folder: Path, tell: Tell) -> Iterator[Transcript]:
    """Yield the session that OpenHands stores as one file per event."""
    events = [_loaded(file) for file in event_files(folder)]
    yield from _foreign(events, folder.parent.name, tell)


def _foreign(document: object, name: str, tell: Tell) -> Iterator[Transcript]:
    host = "openhands" if is_open_hands(document) else "swe-agent"
    try:
        yield Transcript(host, iter([*foreign_entries(document, name)]))
    except UsageError as error:
        tell(f"It was skipped: {error.message}")


def _stored(file: Path, session: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a session that an older opencode stored in files."""
    id, store = str(session.get("id")), file.parents[2]
    yield {"table": "session", "id": id, "data": session}
    for message in sorted((store / "message" / id).glob("*.json")):
        yield {"table": "message", "id": message.stem, "data": _loaded(message)}
        for part in sorted((store / "part" / message.stem).glob("*.json")):
            yield {"table": "part", "message": message.stem, "data": _loaded(part)}


def _loaded(file: Path) -> object:
    try:
        return json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        return {}


SESSIONS = "SELECT id, directory, parent_id FROM session ORDER BY time_created"
MESSAGES = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
PARTS = "SELECT data FROM part WHERE message_id = ? ORDER BY id"


def _opencode(file: Path, tell: Tell) -> Iterator[Transcript]:
    """Yield each session of opencode's database, opened read-only."""
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as db:
            for id, directory, parent in db.execute(SESSIONS).fetchall():
                data = {"id": id, "directory": directory, "parent_id": parent}
                head = {"table": "session", "id": id, "data": data}
                yield Transcript("opencode", opencode_entries(chain([head], _rows(db, id))))
    except sqlite3.Error as error:
        tell(f"This is not an opencode database that Flyball knows: {error}.")


def _rows(db: sqlite3.Connection, session: str) -> Iterator[dict[str, Any]]:
    for id, data in db.execute(MESSAGES, (session,)):
        yield {"table": "message", "id": id, "data": _data(data)}
        for (part,) in db.execute(PARTS, (id,)):
            yield {"table": "part", "message": id, "data": _data(part)}


def _data(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return {}


SUFFIXES = frozenset({".jsonl", ".json", ".traj", ".db"})


def host_folders(environ: Mapping[str, str]) -> dict[str, Path]:
    """Return the directory in which each host stores its transcripts, even if it is missing."""
    home = Path(environ.get("HOME") or "/")
    data = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    return {
        "claude": Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects",
        "codex": Path(environ.get("CODEX_HOME") or home / ".codex") / "sessions",
        "gemini": Path(environ.get("GEMINI_CLI_HOME") or home) / ".gemini" / "tmp",
        "opencode": data / "opencode",
    }


def transcripts(places: Iterable[Path]) -> Iterator[Path]:
    """Yield every file in these places that may be a transcript, once each, sorted by name."""
    seen: set[str] = set()
    for place in places:
        for path in [place] if place.is_file() else _below(place):
            if (whole := os.path.realpath(path)) not in seen:
                seen.add(whole)
                yield path


EVENT = regex(r"(?:event-)?(\d{1,9})(?:-[\w-]+)?\.json")


def is_event_folder(place: Path) -> bool:
    """Return whether this is an OpenHands session folder with one file per event."""
    return place.name == "events" and place.is_dir()


def event_files(folder: Path) -> list[Path]:
    """Return the event files of a session, in order."""
    found = [
        (int(match[1]), file) for file in folder.iterdir() if (match := EVENT.fullmatch(file.name))
    ]
    return [file for _, file in sorted(found)]


def _below(place: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(place):
        if is_event_folder(Path(folder)) and any(map(EVENT.fullmatch, names)):
            folders.clear()
            yield Path(folder)
            continue
        folders.sort()
        # opencode keeps whole copies of projects next to its database.
        folders[:] = [name for name in folders if name not in ("snapshot", "node_modules", ".git")]
        for name in sorted(names):
            path = Path(folder, name)
            # A link may be broken, and a pipe would never end.
            if path.suffix in SUFFIXES and path.is_file():
                yield path


LONGEST_LINE = 32 << 20
NOTES_KEPT = 5

Tell = Callable[[str], None]


class LineNotes:
    """Notes about one file: the first few, and a count of the rest."""

    def __init__(self) -> None:
        self._notes: list[str] = []
        self._more = 0

    def tell(self, note: str) -> None:
        if len(self._notes) < NOTES_KEPT:
            self._notes.append(note)
        else:
            self._more += 1

    @property
    def notes(self) -> tuple[str, ...]:
        rest = (f"and {self._more} more of that kind.",) if self._more else ()
        return (*self._notes, *rest)


class LineFilter:
    """Selects the lines worth decoding; by default all of them."""

    needed: tuple[bytes, ...] = ()
    """Lines that contain none of these are skipped."""


def read_lines(file: Path, tell: Tell, only: LineFilter | None = None) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON Lines file."""
    only = only or LineFilter()
    with file.open("rb") as stream:
        number = 0
        while line := stream.readline(LONGEST_LINE):
            number += 1
            if len(line) >= LONGEST_LINE and not line.endswith(b"\n"):
                _skip(stream.readline)
                tell(f"Line {number} is longer than {LONGEST_LINE >> 20} MB and was skipped.")
                continue
            if not line.strip() or (only.needed and not any(map(line.__contains__, only.needed))):
                continue
            value = _decode(line, number, line.endswith(b"\n"), tell)
            if isinstance(value, dict):
                yield cast("dict[str, Any]", value)


def _skip(readline: Callable[[int], bytes]) -> None:
    while (rest := readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
        continue


def _decode(line: bytes, number: int, is_whole: bool, tell: Tell) -> object:
    try:
        return msgspec.json.decode(line)
    except RecursionError:
        tell(f"Line {number} is nested too deeply and was skipped.")
    except (msgspec.DecodeError, UnicodeDecodeError):
        if is_whole:
            tell(f"Line {number} is not JSON and was skipped.")
        else:
            tell(f"Line {number}, the last one, is cut off and was skipped.")
    return None
