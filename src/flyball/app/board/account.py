"""Show one run as a page does: why it stopped, its cost, and its state at any event."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from flyball.app.answering import pending
from flyball.app.board.watching import card_row
from flyball.app.project import Home, redactor_of
from flyball.app.runs.description import ReadThrough, read_through
from flyball.app.runs.files import present_tree, workspace_of
from flyball.app.runs.history import RunHistory
from flyball.app.runs.journals import Record, record_of
from flyball.app.runs.overview import reverted_words
from flyball.app.runs.summary import Summary, draw_card, summarise, why_stopped
from flyball.errors import FlyballError, NotFound, UsageError
from flyball.record.pictures import PagePictures, pictures_of
from flyball.run.event import name_of
from flyball.run.machine import advance, replay
from flyball.run.state import RunState
from flyball.tools.pages.browser import PNG
from flyball.verdict.words import verdict_lines
from flyball.workspace.cards.use_cases import ProjectPlaces
from flyball.workspace.files.plain import read_within
from flyball.workspace.run.opening import find_workspace, peek_workspace
from flyball.workspace.trees.trees import TreeHash


def places_of(home: Home) -> ProjectPlaces:
    """Return the paths of a project and of its run data."""
    return ProjectPlaces(home.repo, home.state, Path(home.environ.get("HOME", "/")))


class KnownRun:
    """The history of a run as it was last shown, for one thread at a time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.history: RunHistory | None = None


class Accounts:
    """Recently shown runs, so that showing a long one again reads only its new events."""

    def __init__(self, most: int = 8) -> None:
        self._most = most
        self._kept: dict[tuple[str, str], KnownRun] = {}
        self._lock = threading.Lock()

    def account(self, home: Home, run: str) -> dict[str, Any]:
        """Return everything about a run; may be called from several threads."""
        key = (home.state.name, run)
        with self._lock:
            known = self._kept[key] = self._kept.pop(key, None) or KnownRun()
            for old in list(self._kept)[: -self._most]:
                del self._kept[old]
        with known.lock:
            read = asyncio.run(read_through(home, run, known.history))
            known.history = read.history
            return account_from(home, read)


async def account(home: Home, run: str) -> dict[str, Any]:
    """Return everything about a run, with its verdict in words and the reason why it stopped."""
    return account_from(home, await read_through(home, run))


def account_from(home: Home, read: ReadThrough) -> dict[str, Any]:
    """Add to a run's description what a page shows."""
    described, state, history = read
    for card, shown in zip(state.cards, described["cards"], strict=False):
        verdict = card.verdict
        row = card_row(card, shown["status"])
        shown |= {
            "added": row["added"],
            "removed": row["removed"],
            "calls": row["calls"],
            "call": row["call"],
            "verdict": msgspec.to_builtins(verdict) if verdict else None,
            "pictures": [_shown_pictures(each) for each in pictures_of(card)],
            "verdict_words": list(verdict_lines(verdict)) if verdict else [],
        }
    summary = _summary(home, described, state)
    return {
        **described,
        "words": summary.words,
        "summary": msgspec.to_builtins(summary),
        "project": home.state.name,
        "project_title": home.repo.name,
        "path": str(home.repo),
        "stopped": why_stopped(state, described["status"]),
        "costs": msgspec.to_builtins(history.costs.rows()[-1]),
        "stretches": msgspec.to_builtins(history.stretches.rows()),
    }


def _summary(home: Home, described: dict[str, Any], state: RunState) -> Summary:
    back = frozenset(
        card["id"] for card in described["cards"] if card["commit"] and card["is_taken_back"]
    )
    return summarise(state, described["status"], home.repo.name, reverted_words(state, back))


def _shown_pictures(page: PagePictures) -> dict[str, Any]:
    """Return a page's pictures by the bare names under which they can be requested."""
    files = {what: Path(path).name for what, path in page.files.items()}
    return {
        "url": page.url,
        "share": page.share,
        "stale": page.is_stale,
        "said": page.said,
        "files": files,
    }


async def card_picture(home: Home, run: str) -> str:
    """Return a run's card as an SVG image: the summary at the top of its page."""
    read = await read_through(home, run)
    return draw_card(_summary(home, read.described, read.state))


async def picture_of(home: Home, run: str, card: str, name: str) -> bytes:
    """Return a picture that the journal records for a card; no other file can be requested."""
    state, _ = await record_of(home, run)
    found = state.card(card)
    if found is None:
        known = ", ".join(each.id for each in state.cards)
        raise NotFound("card", card, f"Run {run} has these cards: {known}.")
    paths = [path for page in pictures_of(found) for path in page.files.values()]
    for path in paths:
        data = read_within(home.repo, path) if Path(path).name == name else None
        if data and data.startswith(PNG):
            return data
    raise NotFound("picture", name, "It was never taken, or it was removed.")


def _state_at(record: Record, seq: int) -> RunState:
    if not 1 <= seq <= len(record.entries):
        raise UsageError(
            f"Run {record.state.run} has no event {seq}.", f"It has 1 to {len(record.entries)}."
        )
    return replay((entry.event for entry in record.entries[:seq]), None)


async def account_at(home: Home, run: str, seq: int) -> dict[str, Any]:
    """Return the board right after an event, and the files changed by then."""
    record = await record_of(home, run)
    state, event = _state_at(record, seq), record.entries[seq - 1].event
    return {
        "run": run,
        "seq": seq,
        "of": len(record.entries),
        "at": event.at,
        "event": name_of(type(event)),
        "card": getattr(event, "card", ""),
        "budget": {"used": state.spend.calls, "limit": state.budget.limit},
        "cards": [card_row(card, card.status) for card in state.cards],
        "asks": [{"card": each.card.id, "text": each.question.text} for each in pending(state)],
        "tree": present_tree(state),
        "files": _files_at(home, state),
    }


def _files_at(home: Home, state: RunState) -> list[dict[str, Any]]:
    """Return the files that differ from the start; empty if the run's trees are not stored."""
    if not state.base or find_workspace(state.run, home.state) is None:
        return []
    trees = peek_workspace(state.run, home.state).trees
    return [
        {"path": each.path, "kind": each.kind.value, "added": each.added, "removed": each.removed}
        for each in trees.changes(TreeHash(state.base), TreeHash(present_tree(state)))
    ]


async def diff_at(home: Home, run: str, seq: int) -> str:
    """Return the run's changes up to an event, with known secrets redacted."""
    record = await record_of(home, run)
    state = _state_at(record, seq)
    if not state.base:
        return ""
    trees = workspace_of(home, record).trees
    diff = trees.diff(TreeHash(state.base), TreeHash(present_tree(state)))
    return redactor_of(home).text(diff.decode("utf-8", "replace"))


MOST_SCENES = 40
"""A run with more edits is played with as many of them, evenly chosen, and the last."""


class Scene(NamedTuple):
    """The change right after an event."""

    seq: int
    diff: str


class ReplayData(NamedTuple):
    """The data a replay needs besides telemetry: event times and the size of the change at each
    event."""

    times: list[float]
    scenes: list[Scene]


async def replay_data(home: Home, run: str) -> ReplayData:
    """Return the data to replay a run; without stored trees it has times and no scenes."""
    record = await record_of(home, run)
    return ReplayData([entry.event.at for entry in record.entries], _scenes(home, record))


def _scenes(home: Home, record: Record) -> list[Scene]:
    try:
        trees = workspace_of(home, record).trees
    except FlyballError:
        # The workspace is gone, or the run never had one; the rest can be played without it.
        return []
    redactor = redactor_of(home)
    found: list[Scene] = []
    for seq, tree in _chosen(_trees(record)):
        diff = trees.diff(TreeHash(record.state.base), TreeHash(tree))
        found.append(Scene(seq, redactor.text(diff.decode("utf-8", "replace"))))
    return found


def _trees(record: Record) -> list[tuple[int, str]]:
    """Return the trees of a run, each with the event that produced it."""
    state, found, last = RunState(), list[tuple[int, str]](), record.state.base
    for entry in record.entries:
        state = advance(state, entry.event).state
        tree = present_tree(state)
        if tree and tree != last:
            found.append((entry.seq, tree))
            last = tree
    return found


def _chosen(found: list[tuple[int, str]]) -> list[tuple[int, str]]:
    if len(found) <= MOST_SCENES:
        return found
    step = len(found) / MOST_SCENES
    return [found[min(round((n + 1) * step), len(found)) - 1] for n in range(MOST_SCENES)]
