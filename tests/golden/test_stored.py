"""What every release stored, this one still loads, and folds into the same state."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from flyball.app.archive import read_export
from flyball.run.event import EVENTS, name_of
from flyball.run.machine import replay
from flyball.guards.guard_memory import Memory
from flyball.record.recording import judge_recording
from flyball.run.state import RunState
from flyball.run import codec
from flyball.journal.protocol import JournalEntry
from flyball.run.ending import status_of
from flyball.journal.sqlite import SqliteJournal

STORED = Path(__file__).parent / "stored"
RELEASES = sorted(STORED.glob("v*"))
EXPORTS = sorted(path for path in STORED.glob("v*/*.jsonl") if path.stem != "events")

STATUS = {
    "appeal": "success",
    "cancelled": "cancelled",
    "extension": "success",
    "fix": "success",
    "flow": "success",
    "greeting": "answered",
    "guard": "success",
    "planned": "success",
    "unverified": "unverified",
    "weakened": "paused",
}


async def contents(path: Path) -> dict[str, tuple[RunState, list[JournalEntry]]]:
    journal = SqliteJournal(path)
    try:
        return {
            each.run: (await journal.load(each.run), list(await journal.events(each.run)))
            for each in await journal.runs()
        }
    finally:
        await journal.close()


@pytest.mark.parametrize("release", RELEASES, ids=lambda path: path.name)
def test_a_stored_journal_is_loaded_and_folds_to_its_state(release: Path, tmp_path: Path) -> None:
    shutil.copy(release / "journal.sqlite", tmp_path)
    found = asyncio.run(contents(tmp_path / "journal.sqlite"))
    assert set(found) == {path.stem for path in EXPORTS if path.parent == release}
    assert {run: status_of(state) for run, (state, _) in found.items()} == {
        run: STATUS[run] for run in found
    }
    for state, entries in found.values():
        assert [entry.seq for entry in entries] == list(range(1, state.seq + 1))
        assert forgetful(replay(entry.event for entry in entries)) == forgetful(state)


def forgetful(state: RunState) -> RunState:
    """Without the guards' memory: a later release may remember more of the same steps."""
    cards = tuple(replace(card, memory=Memory()) for card in state.cards)
    return replace(state, cards=cards)


@pytest.mark.parametrize("path", EXPORTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_an_exported_run_is_read_and_ends_as_it_did(path: Path) -> None:
    state = replay(read_export(path.read_bytes()))
    assert status_of(state) == STATUS[path.stem]


@pytest.mark.parametrize("path", EXPORTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_guards_judge_an_exported_run_of_any_release(path: Path) -> None:
    judged = judge_recording(path.read_bytes())
    assert (judged.stopped_at is not None) == (path.stem == "guard")


@pytest.mark.parametrize("release", RELEASES, ids=lambda path: path.name)
def test_every_kind_of_event_is_still_read(release: Path) -> None:
    version = int(release.name.removeprefix("v"))
    lines = (release / "events.jsonl").read_bytes().splitlines()
    kinds = {name_of(type(codec.decode_event(line, version))) for line in lines}
    assert len(kinds) == len(lines)
    if version == codec.VERSION:
        assert kinds == {name_of(kind) for kind in EVENTS}
