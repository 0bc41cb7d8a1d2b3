"""List a project's runs: their current status, and whether their work was reverted."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import msgspec

from flyball.app.people.decisions import merged_runs
from flyball.app.project import Home
from flyball.app.runs.journals import list_runs, opened
from flyball.app.sessions import Sessions
from flyball.errors import FlyballError
from flyball.journal.protocol import RunSummary
from flyball.run.ending import ending_of, status_of
from flyball.run.state import CardState, RunState
from flyball.workspace.cards.artifacts import REVERTED, read_artifact
from flyball.workspace.cards.use_cases import ProjectPlaces, reverted_cards
from flyball.workspace.process.process_identity import may_live

UNREADABLE = "unreadable"


class Overview(NamedTuple):
    """A run in the list of runs."""

    run: str
    status: str
    intent: str
    request: str
    created_at: float
    updated_at: float
    used: int
    limit: int
    driven_by: str
    ending: str = ""
    """How it ended, or that it needs a person; empty while it works."""
    reverted: str = ""
    """Whether its work was reverted, entirely or in part."""
    is_merged: bool = False
    """Whether its work was merged; set where all runs are listed."""
    problem: str = ""
    """Why its record cannot be read and what to do, if its status is `unreadable`."""


async def overviews(home: Home) -> tuple[Overview, ...]:
    """Return every run with its usage; an unfinished run without a driver is interrupted."""
    found: list[Overview] = []
    summaries = await list_runs(home)
    if not summaries:
        return ()
    merged = merged_runs(home)
    async with opened(home) as journal:
        for each in summaries:
            try:
                one = overview_of(home, each, await journal.load(each.run))
            except FlyballError as error:
                one = unreadable_overview(each, error)
            found.append(one._replace(is_merged=each.run in merged))
    return tuple(found)


def overview_of(home: Home, summary: RunSummary, state: RunState) -> Overview:
    """Return a run's row in the list, from its summary and its state."""
    held = held_by(home, summary)
    return Overview(
        summary.run,
        # From the state and not from the journal's own column, which an earlier version may have
        # written.
        status_now(status_of(state), held or summary.queue),
        state.intent.value if state.intent else "",
        summary.request,
        summary.created_at,
        summary.updated_at,
        state.spend.calls,
        state.budget.limit,
        held,
        ending_of(state) or "",
        _reverted_words(home, state),
    )


def unreadable_overview(summary: RunSummary, error: FlyballError) -> Overview:
    """Return the row of a run whose record cannot be read."""
    hint = error.hint or (
        f"`flyball runs prune {summary.run} --abandon` deletes what is stored of it; its branch "
        f"flyball/{summary.run} stays until then."
    )
    return Overview(
        summary.run,
        UNREADABLE,
        "",
        summary.request,
        summary.created_at,
        summary.updated_at,
        0,
        0,
        "",
        problem=f"{error.message} {hint}",
    )


def held_by(home: Home, summary: RunSummary) -> str:
    """Return who drives a run now: a process that may be alive, or the host of its session."""
    holder = summary.holder
    return holder if may_live(holder) else Sessions(home.state).host_of(summary.run)


def _reverted_words(home: Home, state: RunState) -> str:
    """Describe reverted cards from their accounts: asking git for every run would take seconds."""
    return reverted_words(state, noted_reverted(home, state))


def reverted_words(state: RunState, back: frozenset[str]) -> str:
    """Return whether the work of a run is gone, entirely or in part."""
    kept = [card for card in state.cards if card.commit]
    if not back:
        return ""
    return REVERTED if len(back) == len(kept) else f"{len(back)} of {len(kept)} cards {REVERTED}"


def noted_reverted(home: Home, state: RunState) -> frozenset[str]:
    """Return the committed cards that were reverted, according to their accounts."""
    return frozenset(
        card.id
        for card in state.cards
        if card.commit and (card.is_taken_back or _is_noted_reverted(home, state, card))
    )


def _is_noted_reverted(home: Home, state: RunState, card: CardState) -> bool:
    try:
        account = read_artifact(home.repo, state.run, card.id)
    except (ValueError, OSError, msgspec.MsgspecError):
        # The file was edited; it is in the user's project, and must not break a list.
        return False
    return account is not None and account.status == REVERTED


def status_now(status: str, held: str) -> str:
    """Return `interrupted` for an unfinished run without a driver, else its status."""
    return "interrupted" if status == "running" and not held else status


def reverted_in(home: Home, state: RunState) -> frozenset[str]:
    """Return the cards whose work is gone: rolled back by the run, or reverted by a person."""
    own = frozenset(card.id for card in state.cards if card.is_taken_back)
    if not any(card.commit for card in state.cards):
        return own
    # A revert in a checkout is in no commit before the user makes one.
    own |= noted_reverted(home, state)
    try:
        places = ProjectPlaces(home.repo, home.state, Path(home.environ.get("HOME", "/")))
        return own | reverted_cards(places, state.run)
    except FlyballError:
        # An imported or pruned run, or a project without git: nothing of it can be reverted.
        return own
