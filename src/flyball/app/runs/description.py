"""A project's runs as its journal has them: finding, listing, recounting and following them."""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from flyball.app.answering import next_steps, pending
from flyball.app.carrying.fetching import bring_run
from flyball.app.people.decisions import MERGED, decisions_of, merged_runs
from flyball.app.project import Home, load_extra, project_name, redactor_of
from flyball.app.sessions import HOSTED, Sessions
from flyball.app.settling import Sources, settle
from flyball.core.machine.machine import advance
from flyball.core.record.costs import CostRow, CostTally, costs, is_spent
from flyball.core.run.event import AnyEvent, CallReturned, Messaged, RunStarted, name_of
from flyball.core.run.state import CardState, Judged, RunState
from flyball.core.run.thread import ThreadLine, thread_lines
from flyball.core.terms.intent import Turn
from flyball.core.terms.tool import TOOL_ROWS, Touch
from flyball.engine.loop import LEASE_SECONDS
from flyball.engine.telemetry import Telemetry, telemetry
from flyball.errors import Corrupt, FlyballError, NotFound, UsageError
from flyball.journal.protocol import SUBMITTED, Journal, JournalEntry, Lease, RunSummary
from flyball.journal.sqlite import SqliteJournal, status_of
from flyball.settings import Settings
from flyball.workspace.cards.artifacts import REVERTED, read_artifact
from flyball.workspace.cards.use_cases import ProjectPlaces, reverted_cards
from flyball.workspace.process.holder import is_gone, may_live, name_this_process
from flyball.workspace.run.opening import find_workspace, peek_workspace
from flyball.workspace.run.workspace import Workspace

LAST = "last"
POSTGRES = "flyball.journal.postgres"
"""Loaded only where a database is named: the embedded journal needs nothing of it."""
POLL = 0.25
LIST_THEM = "`flyball runs list` shows the runs of this project."


def new_run_id() -> str:
    """Sorts by time and is easy to say: date, time, four letters."""
    stamp = datetime.now(UTC).strftime("%m%d-%H%M%S")
    return f"{stamp}-{''.join(secrets.choice('bcdfghjkmnpqrstvwxz') for _ in range(4))}"


def open_journal(home: Home) -> Journal:
    """The project's journal: its own file, or its part of a cluster's database."""
    if not home.database:
        return SqliteJournal(home.journal_path)
    return load_extra(POSTGRES).PostgresJournal(home.database, project_name(home))


@asynccontextmanager
async def opened(home: Home) -> AsyncGenerator[Journal]:
    """The project's journal, for as long as it is looked at."""
    journal = open_journal(home)
    try:
        yield journal
    finally:
        await journal.close()


class Record(NamedTuple):
    """A run's whole log, and the state it stands for."""

    state: RunState
    entries: Sequence[JournalEntry]

    @property
    def started(self) -> RunStarted:
        event = self.entries[0].event
        if not isinstance(event, RunStarted):
            raise Corrupt("The log does not begin with the start of a run.")
        return event

    @property
    def is_hosted(self) -> bool:
        """Whether an agent in another program drives it, and we only govern it."""
        return self.started.shell.get("driver", "").startswith(HOSTED)

    @property
    def is_submitted(self) -> bool:
        """Whether the workers of a cluster drive it, and nobody else."""
        return bool(self.started.shell.get(SUBMITTED))


async def record_of(home: Home, run: str) -> Record:
    """Everything that is known of a run; an unknown one is `NotFound`."""
    async with opened(home) as journal:
        return Record(await journal.load(run), await journal.events(run))


async def find_run(home: Home, name: str) -> str:
    """The run that is meant: its whole name, a part of it that only one has, or `last`."""
    found = [each.run for each in await list_runs(home)]
    if not found:
        raise NotFound("run", name, "This project has no runs yet.")
    if name == LAST:
        return found[0]
    if name in found:
        return name
    meant = [run for run in found if name and (run.startswith(name) or run.endswith(name))]
    if len(meant) > 1:
        raise UsageError(f"{name!r} may mean {' or '.join(meant[:4])}.", "Say more of the name.")
    if not meant:
        raise NotFound("run", name, LIST_THEM)
    return meant[0]


async def list_runs(home: Home) -> Sequence[RunSummary]:
    """The runs of a project, the newest first; looking makes no files."""
    if not home.has_journal:
        return ()
    async with opened(home) as journal:
        return await journal.runs()


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
    reverted: str = ""
    """Whether its work was taken back, whole or in part."""
    is_merged: bool = False
    """Whether somebody merged its work; told where all runs are listed."""


async def overviews(home: Home) -> tuple[Overview, ...]:
    """Every run with what it has used; one that nobody drives any more is called interrupted."""
    found: list[Overview] = []
    summaries = await list_runs(home)
    if not summaries:
        return ()
    merged = merged_runs(home)
    async with opened(home) as journal:
        for each in summaries:
            one = overview_of(home, each, await journal.load(each.run))
            found.append(one._replace(is_merged=each.run in merged))
    return tuple(found)


def overview_of(home: Home, summary: RunSummary, state: RunState) -> Overview:
    """A run's line in the list, from its line in the journal and its state."""
    held = held_by(home, summary)
    return Overview(
        summary.run,
        status_now(summary.status, held or summary.queue),
        state.intent.value if state.intent else "",
        summary.request,
        summary.created_at,
        summary.updated_at,
        state.spend.calls,
        state.budget.limit,
        held,
        _reverted_words(home, state),
    )


def held_by(home: Home, summary: RunSummary) -> str:
    """Who moves a run now: a process that may live, or the host in whose session it is."""
    holder = summary.holder
    return holder if may_live(holder) else Sessions(home.state).host_of(summary.run)


def _reverted_words(home: Home, state: RunState) -> str:
    """From the accounts of its cards: asking git about every run of a list would take seconds."""
    kept = [card for card in state.cards if card.commit]
    back = noted_reverted(home, state)
    if not back:
        return ""
    return REVERTED if len(back) == len(kept) else f"{len(back)} of {len(kept)} cards {REVERTED}"


def noted_reverted(home: Home, state: RunState) -> frozenset[str]:
    """The committed cards whose accounts say that they were taken back."""
    return frozenset(
        card.id
        for card in state.cards
        if card.commit and (card.is_taken_back or _is_noted_reverted(home, state, card))
    )


def _is_noted_reverted(home: Home, state: RunState, card: CardState) -> bool:
    try:
        account = read_artifact(home.repo, state.run, card.id)
    except (ValueError, OSError, msgspec.MsgspecError):
        # Somebody changed the file; it lies in their project, and a list must not fail for it.
        return False
    return account is not None and account.status == REVERTED


def status_now(status: str, held: str) -> str:
    """A run that should be moving but that nobody moves was interrupted."""
    return "interrupted" if status == "running" and not held else status


async def acquire(journal: Journal, run: str) -> Lease:
    """The right to drive a run, for this process alone; `LeaseHeld` says who has it."""
    return await journal.acquire(run, name_this_process(), time.time(), LEASE_SECONDS, is_gone)


async def holder_of(journal: Journal, run: str) -> str:
    """Who drives a run, if anybody who may be alive does."""
    holders = [each.holder for each in await journal.runs() if each.run == run]
    return holders[0] if holders and may_live(holders[0]) else ""


class Decided(NamedTuple):
    """One decision of a run, with when it fell."""

    seq: int
    card: str
    judged: Judged


class FailedEdit(NamedTuple):
    """An edit that was allowed and came to nothing, with the reason that its driver was given."""

    card: str
    tool: str
    reason: str


class Recount(NamedTuple):
    """What can only be known by going through a run's log from the start."""

    decisions: tuple[Decided, ...]
    failed_edits: tuple[FailedEdit, ...]
    lines: tuple[ThreadLine, ...]
    costs: tuple[CostRow, ...]


def recount(events: Iterable[AnyEvent]) -> Recount:
    """Fold a log, and keep the decisions, failed edits, threads and costs that it contains."""
    state, tally = RunState(), CostTally()
    failed: list[FailedEdit] = []
    decisions: list[Decided] = []
    lines: list[ThreadLine] = []
    for event in events:
        after = advance(state, event).state
        for card in after.cards:
            if card is not state.card(card.id):
                decisions += [Decided(after.seq, card.id, judged) for judged in card.judged]
        lines += thread_lines(state, event, after)
        if isinstance(event, CallReturned) and not event.outcome.ok:
            failed += _failed_edits(state, event)
        tally.add(state, event, after)
        state = after
    return Recount(tuple(decisions), tuple(failed), tuple(lines), tally.rows())


def _failed_edits(state: RunState, event: CallReturned) -> Iterator[FailedEdit]:
    card = state.card(event.card)
    for call in card.in_flight if card else ():
        if call.id == event.call and TOOL_ROWS[call.tool].touches is Touch.NAMED_FILES:
            yield FailedEdit(event.card, call.tool, event.outcome.text.strip().partition("\n")[0])


async def describe(home: Home, run: str) -> dict[str, Any]:
    """A run as programs want to see it."""
    return (await read_through(home, run)).described


class ReadThrough(NamedTuple):
    """A run as programs want to see it, with the log that was read for it and what that says."""

    described: dict[str, Any]
    record: Record
    told: Recount


async def read_through(home: Home, run: str) -> ReadThrough:
    """Everything about a run by one reading of its log, and one folding."""
    async with opened(home) as journal:
        held = await holder_of(journal, run)
    state, entries = record = await record_of(home, run)
    if not held and not state.has_ended:
        held = Sessions(home.state).host_of(run)
    facts = find_workspace(run, home.state)
    told = recount(entry.event for entry in entries)
    status = status_now(status_of(state), held or record.started.shell.get(SUBMITTED, ""))
    reverted, decided = reverted_in(home, state), decisions_of(home, run, entries)
    steps = next_steps(
        state,
        status,
        in_place=bool(facts and facts.in_place),
        is_hosted=record.is_hosted,
        is_merged=any(each["what"] == MERGED for each in decided),
        reverted=reverted,
    )
    described = {
        "run": run,
        "status": status,
        "request": state.request,
        "intent": state.intent.value if state.intent else None,
        "budget": {"used": state.spend.calls, "limit": state.budget.limit},
        "spend": msgspec.to_builtins(state.spend),
        "extensions": msgspec.to_builtins(state.budget.extensions),
        "driver": record.started.shell.get("driver", ""),
        "target": state.target,
        "branch": state.branch,
        "workspace": facts.root if facts else "",
        "started_at": entries[0].event.at,
        "updated_at": state.at,
        "driven_by": held,
        "events": state.seq,
        "cards": [_card(card, told, is_reverted=card.id in reverted) for card in state.cards],
        "questions": [
            {"card": each.card.id, **msgspec.to_builtins(each.question)} for each in pending(state)
        ],
        "response": msgspec.to_builtins(state.response) if state.response else None,
        "decided": decided,
        "next": [{"command": step.command, "effect": step.effect} for step in steps],
    }
    return ReadThrough(described, record, told)


def reverted_in(home: Home, state: RunState) -> frozenset[str]:
    """The cards whose work is gone again: rolled back by the run, or taken back by a person."""
    own = frozenset(card.id for card in state.cards if card.is_taken_back)
    if not any(card.commit for card in state.cards):
        return own
    # What was taken back in a checkout is in no commit before the user makes one.
    own |= noted_reverted(home, state)
    try:
        places = ProjectPlaces(home.repo, home.state, Path(home.environ.get("HOME", "/")))
        return own | reverted_cards(places, state.run)
    except FlyballError:
        # An imported or pruned run, or a project without git: nothing of it can be taken back.
        return own


def _card(card: CardState, told: Recount, *, is_reverted: bool = False) -> dict[str, Any]:
    return {
        "id": card.id,
        "title": card.title,
        "status": REVERTED if is_reverted else card.status,
        "phase": card.phase.name_for_people,
        "label": card.phase.label,
        "attempt": card.attempt,
        "ending": card.ending.value if card.ending else None,
        "ending_reason": card.ending_reason,
        "proof": card.label if card.has_changed else "",
        "commit": card.commit,
        "is_taken_back": is_reverted,
        "checkpoint": msgspec.to_builtins(card.checkpoint) if card.checkpoint else None,
        "drift": list(card.drift),
        "evidence": [
            {"stale": item.tree != card.tree, **msgspec.to_builtins(item)} for item in card.evidence
        ],
        "verdicts": msgspec.to_builtins(card.verdicts),
        "notes": msgspec.to_builtins(card.remarks),
        "risk": card.review.risk,
        "assumptions": list(card.review.assumptions),
        "answer": card.answer,
        "decisions": [
            {"seq": each.seq, **msgspec.to_builtins(each.judged)}
            for each in told.decisions
            if each.card == card.id
        ],
        "failed_edits": [
            {"tool": each.tool, "reason": each.reason}
            for each in told.failed_edits
            if each.card == card.id
        ],
    }


def event_lines(entries: Iterable[JournalEntry]) -> list[dict[str, Any]]:
    """The log, one small object per event."""
    return [
        {
            "seq": entry.seq,
            "at": entry.event.at,
            "event": name_of(type(entry.event)),
            "card": getattr(entry.event, "card", ""),
        }
        for entry in entries
    ]


def cost_rows(entries: Iterable[JournalEntry]) -> list[dict[str, Any]]:
    """What a run cost, by card and phase; the last row is all of it."""
    found = costs(entry.event for entry in entries)
    return [msgspec.to_builtins(row) for row in found if is_spent(row) or row is found[-1]]


def messages_of(entries: Iterable[JournalEntry]) -> list[dict[str, Any]]:
    """What coordinator, planner, executor and verifier said to each other."""
    return [
        {"seq": entry.seq, "at": entry.event.at, **msgspec.to_builtins(entry.event.message)}
        for entry in entries
        if isinstance(entry.event, Messaged)
    ]


def turns_of(state: RunState) -> tuple[Turn, ...]:
    """What was asked and answered in a run, for one that follows it."""
    said = state.response.message if state.response else ""
    turns = (Turn("user", state.request), Turn("assistant", said))
    return tuple(turn for turn in turns if turn.text)


def retold(entries: Iterable[JournalEntry]) -> Iterator[Telemetry]:
    """Everything that a watcher of a run was told, from its log."""
    state = RunState()
    for entry in entries:
        after = advance(state, entry.event).state
        yield from telemetry(state, entry.event, after)
        state = after


def workspace_of(home: Home, record: Record) -> Workspace:
    """A run's files, to look at; those of a run that a cluster drives are fetched."""
    run = record.state.run
    if record.is_submitted:
        bring_run(home, run, present_tree(record.state))
    if find_workspace(run, home.state) is None:
        raise NotFound("workspace of run", run, "It never began to work, or it was pruned.")
    return peek_workspace(run, home.state)


async def submitted(home: Home, run: str) -> Record | None:
    """The record of a run that workers of a cluster drive; nothing of any other."""
    if any(each.run == run and each.queue for each in await list_runs(home)):
        return await record_of(home, run)
    return None


async def bring_submitted(home: Home, run: str) -> None:
    """See that a run's files are here if workers of a cluster drove it."""
    if record := await submitted(home, run):
        workspace_of(home, record)


async def diff_of(home: Home, run: str) -> str:
    """What a run has changed so far, without the secrets that are known."""
    record = await record_of(home, run)
    state, _ = record
    workspace = workspace_of(home, record)
    diff = workspace.diff(state.base, present_tree(state), without=state.left_behind())
    return redactor_of(home).text(diff.decode("utf-8", "replace"))


def settings_from(text: str, path: str) -> Settings:
    """The settings of one file alone, as the user's own would be read."""
    return settle(Sources(user=text, user_path=path)).settings


def present_tree(state: RunState) -> str:
    """The tree a run has come to: its live card's, or what its last card left."""
    live = [card.tree for card in state.cards if card.is_live and not card.place]
    return live[-1] if live else state.tree


class Follower:
    """Reads a run's telemetry from its log: from the start, then as it grows."""

    def __init__(self, home: Home, run: str) -> None:
        self._home = home
        self._run = run
        self.state = RunState()

    async def lines(self) -> AsyncIterator[Telemetry]:
        """Until the run rests or ends, or nobody drives it any more; no gap, no double."""
        async with opened(self._home) as journal:
            await journal.load(self._run)
            first = (await journal.events(self._run, limit=1))[0].event
            is_submitted = isinstance(first, RunStarted) and SUBMITTED in first.shell
            while True:
                hosted = Sessions(self._home.state).host_of(self._run)
                # One that waits for a worker will move.
                is_moving = is_submitted or bool(hosted or await holder_of(journal, self._run))
                for entry in await journal.events(self._run, self.state.seq):
                    after = advance(self.state, entry.event).state
                    for line in telemetry(self.state, entry.event, after):
                        yield line
                    self.state = after
                if self.state.is_at_rest or not is_moving:
                    return
                await journal.wait(POLL)
