"""Write and read the authors of lines, as Agent Trace records (agent-trace.dev, 0.1.0)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple
from uuid import NAMESPACE_URL, uuid5

import msgspec

from flyball.app.project import Home
from flyball.journal.protocol import JournalEntry
from flyball.patch import parse
from flyball.run.event import DriverReplied
from flyball.workspace.cards.artifacts import CardArtifact, read_artifact

SPEC = "0.1.0"
LARGEST = 64 << 20


class Contributor(msgspec.Struct, frozen=True):
    """The author of some lines: a model, a person, or both."""

    type: str = "unknown"
    model_id: str = ""


class LineRange(msgspec.Struct, frozen=True):
    """Lines of one file; they may have an author of their own."""

    start_line: int
    end_line: int
    contributor: Contributor | None = None


class Conversation(msgspec.Struct, frozen=True):
    """The lines of a file that came from one conversation."""

    ranges: tuple[LineRange, ...]
    url: str = ""
    contributor: Contributor = Contributor()


class TracedFile(msgspec.Struct, frozen=True):
    """A file, by the conversations that wrote it."""

    path: str
    conversations: tuple[Conversation, ...]


class TraceRecord(msgspec.Struct, frozen=True):
    """One record of a trace, which belongs to one commit."""

    version: str
    id: str
    timestamp: datetime
    files: tuple[TracedFile, ...]


class Authored(NamedTuple):
    """How many lines an author wrote in one conversation."""

    conversation: str
    author: str
    at: float
    lines: int


def read_agent_trace(file: Path) -> list[Authored] | None:
    """Return who wrote how many lines, by anybody's trace; None if the file is none."""
    if file.suffix not in (".json", ".jsonl") or file.stat().st_size > LARGEST:
        return None
    try:
        if file.suffix == ".json":
            records = [msgspec.json.decode(file.read_bytes(), type=TraceRecord)]
        else:
            with file.open("rb") as lines:
                # The first line says whether to read on: a transcript may be long.
                records = [msgspec.json.decode(line, type=TraceRecord) for line in lines]
    except (msgspec.MsgspecError, RecursionError):
        return None
    return [
        Authored(
            talk.url or record.id,
            who.model_id or who.type,
            record.timestamp.timestamp(),
            max(lines.end_line - lines.start_line + 1, 0),
        )
        for record in records
        for traced in record.files
        for talk in traced.conversations
        for lines in talk.ranges
        for who in (lines.contributor or talk.contributor,)
    ]


def agent_trace(home: Home, run: str, entries: Iterable[JournalEntry]) -> bytes:
    """Return one record for each committed card of a run, as JSON lines."""
    models: dict[str, str] = {}
    for entry in entries:
        if isinstance(entry.event, DriverReplied):
            known = models.get(entry.event.card, "")
            models[entry.event.card] = entry.event.model.replace(":", "/", 1) or known
    found = (read_artifact(home.repo, run, card) for card in models)
    records = [_record(each, models[each.card]) for each in found if each and each.commit]
    return "".join(f"{json.dumps(each)}\n" for each in records).encode()


def _record(card: CardArtifact, model: str) -> dict[str, Any]:
    contributor = {"type": "ai", **({"model_id": model} if model else {})}
    conversation = f"flyball:{card.run}/{card.card}"
    files = [
        {
            "path": path,
            "conversations": [{"url": conversation, "contributor": contributor, "ranges": ranges}],
        }
        for path, ranges in _added_lines(card.diff)
    ]
    return {
        "version": SPEC,
        "id": str(uuid5(NAMESPACE_URL, f"{conversation}@{card.commit}")),
        "timestamp": datetime.fromtimestamp(card.ended_at, UTC).isoformat(timespec="seconds"),
        "vcs": {"type": "git", "revision": card.commit},
        "tool": {"name": "flyball", "version": version("flyball")},
        "files": files,
        "metadata": {"flyball": {"run": card.run, "card": card.card, "status": card.status}},
    }


def _added_lines(diff: str) -> Iterator[tuple[str, list[dict[str, int]]]]:
    """Yield each file of a diff with the ranges of lines that it added."""
    for section in parse(diff).sections:
        ranges: list[dict[str, int]] = []
        for hunk in section.hunks:
            at = hunk.span.new_start if hunk.span else 0
            for mark in hunk.marks.decode():
                if mark == "+":
                    _extend(ranges, at)
                at += mark != "-"
        if ranges:
            yield section.paths[-1], ranges


def _extend(ranges: list[dict[str, int]], at: int) -> None:
    """Add a line to the last range if it follows it, else begin a new one."""
    if ranges and ranges[-1]["end_line"] == at - 1:
        ranges[-1]["end_line"] = at
    else:
        ranges.append({"start_line": at, "end_line": at})
