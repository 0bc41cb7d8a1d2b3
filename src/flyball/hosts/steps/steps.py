"""Steps for an agent in another program: each of its calls is one reply of the run's driver."""

from __future__ import annotations

import copy
import dataclasses
import json
import os
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from flyball.app.answering import asked as question_of
from flyball.app.answering import no, pending, words, yes
from flyball.app.driving import RunControl, Watcher
from flyball.app.project import Home
from flyball.app.runs.journals import Record, find_run, record_of
from flyball.app.sessions import HOSTED, MCP, Session, Sessions
from flyball.app.starting import RunRequest, started_of
from flyball.app.templates import project_templates, read_flow_file
from flyball.engine.telemetry import Telemetry
from flyball.errors import Conflict, NotFound, OutsideWorkspace, TemplateError, UsageError
from flyball.hosts.driven import driven, ignore_output
from flyball.hosts.governor import HostGovernor
from flyball.hosts.steps.client import StepClient, client_at
from flyball.hosts.steps.turn import (
    NOBODY,
    SILENT,
    HeldTurn,
    OneReply,
    TurnWatcher,
    held,
    is_thinking,
    locked,
)
from flyball.hosts.steps.view import StepView, TurnView, card_at_work, step_view, turn_view
from flyball.hosts.words import waiting_for
from flyball.plan.flow import Flow
from flyball.run.event import AnyEvent, RunStarted
from flyball.run.state import Checkpoint, RunState
from flyball.run.thread import SpokenCall
from flyball.terms.intent import Intent
from flyball.tools.conflict import ConflictForm
from flyball.workspace.cards.revert import Moved
from flyball.workspace.cards.use_cases import ProjectPlaces, move_card, unmerged_cards
from flyball.workspace.run.worktree import CommitKind

DRIVER = f"{HOSTED}{MCP}"
BEGIN = "`start_run` begins one."
NOT_BY_STEPS = "Use your own tools: the hooks judge each call, and verify your work when you stop."
STATED = "The checkpoint is recorded."


class Steps:
    """Starts runs, returns their pending steps, and takes the replies of their clients."""

    def __init__(
        self, home: Home, client: StepClient, clock: Callable[[], float] = time.time
    ) -> None:
        self.home = home
        self.sessions = Sessions(home.state)
        self._client = client
        self._clock = clock
        self._last: dict[str, str] = {}
        """The most recently active run of each client, so that its result can be requested."""

    def of_client_at(self, theirs: tuple[str, int], ours: tuple[str, int]) -> Steps:
        """Return these steps for the client at the other end of a connection."""
        own = copy.copy(self)
        own._client = client_at(self._client, theirs, ours)
        return own

    async def start(
        self,
        goal: str,
        flow: str,
        plan: Mapping[str, Any] | None,
        watcher: TurnWatcher = NOBODY,
    ) -> StepView:
        """Start a run with the client as its driver; return its first step."""
        read = self._flow(flow) if flow else None
        if not goal.strip() and read is None:
            raise UsageError("The goal is empty.", "State the desired end state.")
        if read is not None and plan is not None:
            raise UsageError("A flow is already a plan.", "Give a flow or a plan, not both.")
        wanted = RunRequest(
            request=goal.strip() or (read.name if read else ""),
            flow=read,
            intent=Intent.FEATURE_BUILD if plan is not None else None,
        )
        started = started_of(self.home, wanted, DRIVER, project_templates(self.home).templates)
        # One card at a time: a client makes one call after the other for a single card.
        policy = replace(started.policy, steps_at_once=1)
        if plan is not None:
            policy = replace(policy, plan_big_requests=True)
        await self._begin(replace(started, policy=policy), watcher)
        if plan is not None:
            await self.submit(started.run, "", "", plan, watcher)
        return await self.next(started.run, watcher)

    async def next(self, run: str = "", watcher: TurnWatcher = NOBODY) -> StepView:
        """Return a run's next step, after any pending work of Flyball's own."""
        record = await self._record(run)
        if _is_elsewhere(record.started) or record.state.is_at_rest:
            # Not locked: an agent may ask repeatedly while its person answers elsewhere.
            return step_view(record.state, None)
        async with self._held(record, SILENT, watcher) as turn:
            return step_view(turn.state, await turn.asked())

    async def call(
        self, run: str, card: str, tool: str, args: Mapping[str, Any], watcher: TurnWatcher = NOBODY
    ) -> TurnView:
        """Make a call as the run's driver: judged, journaled and undoable like any other."""
        spoken = SpokenCall("", tool, dict(args))
        return await self._take(run, card, OneReply(calls=(spoken,)), watcher)

    async def submit(
        self,
        run: str,
        card: str,
        summary: str,
        evidence: Mapping[str, Any] | None,
        watcher: TurnWatcher = NOBODY,
    ) -> TurnView:
        """Report a step as done; Flyball checks it and reports any false claim."""
        form = f"```json\n{json.dumps(evidence, indent=1)}\n```" if evidence else ""
        words = "\n\n".join(filter(None, (summary.strip(), form)))
        if not words:
            raise UsageError(
                "Nothing was submitted.", "Give a summary and the fields that the step asks for."
            )
        return await self._take(run, card, OneReply(words), watcher)

    async def checkpoint(self, run: str, card: str, point: Checkpoint) -> TurnView:
        """Record a checkpoint: for a run of steps, or for the session whose hooks govern it."""
        record = await self._record(run)
        if _is_elsewhere(record.started):
            hosted = await HostGovernor(self.home).checkpoint(point)
            return dataclasses.replace(turn_view(hosted.state, None, "", (), ()), text=STATED)
        fields = {
            "goal": point.goal,
            "findings": point.findings,
            "proposed_action": point.proposed_action,
            "files": list(point.files),
            "verify_with": list(point.verify_with),
        }
        return await self.call(record.state.run, card, "checkpoint", fields)

    async def conflict(self, run: str, card: str, form: ConflictForm) -> TurnView:
        """State a conflict: for a run of steps, or for the session whose hooks govern it."""
        record = await self._record(run)
        if _is_elsewhere(record.started):
            hosted = await HostGovernor(self.home).conflict(form)
            return dataclasses.replace(
                turn_view(hosted.state, None, "", (), ()), text=waiting_for(hosted.card)
            )
        return await self.call(record.state.run, card, "conflict", msgspec.to_builtins(form))

    async def question(self, run: str, call: str, reason: str) -> RunState:
        """Return the state of a run that asks a person; raise `Conflict` if none does.

        A refused call that is named becomes a question first, unless it already is one.
        """
        record = await self._record(run)
        is_open = not record.state.has_ended and not _is_elsewhere(record.started)
        if is_open and call and not pending(record.state):
            appeal = {"about": call, "reason": reason}
            filed = await self.call(record.state.run, "", "appeal", appeal)
            if filed.question is None:
                raise Conflict(f"The appeal was not accepted. {filed.text}", "Do something else.")
            record = await self._record(record.state.run)
        question_of(record.state)
        return record.state

    def require_person(self, run: str) -> None:
        """Raise unless an answer through this client is a person's."""
        self._client.require_person(self.sessions, run)

    async def answer(
        self, run: str, question: str, by: str, *, granted: bool, note: str
    ) -> TurnView:
        """Record a person's answer to a question, and continue the run until it needs a driver."""
        before = (await self._record(run)).state
        name, card = before.run, card_at_work(before, None)
        self.require_person(name)
        waiting = pending(before)
        call = waiting[0].question.call if waiting else None

        def word(state: RunState) -> AnyEvent:
            if question_of(state).id != question:
                raise Conflict(
                    f"Run {name} now asks a different question.", "Ask the person again."
                )
            if question_of(state).conflict is not None and (granted or note):
                return words(state, by, note)
            return yes(state, by, note) if granted else no(state, by, note)

        told: list[Telemetry] = []
        async with locked(self.home, name):
            await RunControl(self.home, Watcher(told.append, ignore_output, ignore_output)).say(
                name, word, by
            )
        record = await self._record(name)
        if card is None or record.state.has_ended or _is_elsewhere(record.started):
            return turn_view(record.state, None, "", (), told)
        async with self._held(record, SILENT) as turn:
            return await turn.outcome(card, call.id if call else "", told)

    async def revert(self, run: str, card: str, paths: tuple[str, ...]) -> tuple[Moved, Path]:
        """Revert a card's work in the tree of an ended run; never discard later work.

        Merged work belongs to the person, who reverts it in their own checkout.
        """
        state = (await self._record(run)).state
        if state.card(card) is None:
            raise _no_card(state, card)
        if not state.has_ended:
            raise Conflict(f"Run {state.run} is under way.", "Revert the unwanted parts by hand.")
        home = Path(self.home.environ.get("HOME", "/"))
        places = ProjectPlaces(self.home.repo, self.home.state, home)
        if card not in {record.card for record in unmerged_cards(places, state.run)}:
            raise Conflict(
                f"Card {card} has nothing in the tree of run {state.run}: it was merged, or it "
                "changed nothing.",
                f"A person can revert what was merged: `flyball card revert {state.run} …`.",
            )
        async with locked(self.home, state.run):
            return move_card(places, state.run, card, CommitKind.REVERT, paths, force=False)

    async def find(self, run: str) -> str:
        """Return the named run, or by default the only one in progress."""
        if run:
            return await find_run(self.home, run)
        own = [each for each in self.sessions.all() if each.host == MCP]
        mine = [each.run for each in own if each.process == self._client.process]
        live = mine or [each.run for each in self.sessions.in_checkout() if each.run]
        if len(live) == 1:
            return live[0]
        if live:
            raise Conflict(f"Several runs are in progress: {', '.join(live)}.", "Name the run.")
        if last := self._last.get(self._client.process):
            return last
        raise NotFound("run", "under way", BEGIN)

    async def _begin(self, started: RunStarted, watcher: TurnWatcher) -> None:
        name = started.run
        async with (
            locked(self.home, name),
            driven(self.home, name, SILENT.performs, in_place=False, clock=self._clock) as (
                engine,
                performer,
            ),
        ):
            performer.context.on_progress = watcher.telemetry
            state = await engine.append(RunState(), started)
            self._register(name)
            await engine.run(state, lambda _, owed: is_thinking(owed))

    async def _record(self, run: str) -> Record:
        record = await record_of(self.home, await self.find(run))
        driver = record.started.shell.get("driver", "")
        if not driver.startswith(HOSTED):
            raise Conflict(f"Run {record.state.run} is driven by {driver}.", BEGIN)
        return record

    async def _take(self, run: str, card: str, driver: OneReply, watcher: TurnWatcher) -> TurnView:
        """Take one reply of the run's driver, and perform everything that needs no further
        reply."""
        record = await self._record(run)
        if _is_elsewhere(record.started):
            host = record.started.shell["driver"].removeprefix(HOSTED)
            raise Conflict(f"Run {record.state.run} is a session of {host}.", NOT_BY_STEPS)
        async with self._held(record, driver, watcher) as turn:
            asked = await turn.asked()
            _require_card(turn.state, card, asked.effect.card if asked else "")
            if asked is None:
                raise _nothing_pending(turn.state)
            return await turn.reply(asked)

    @asynccontextmanager
    async def _held(
        self, record: Record, driver: OneReply, watcher: TurnWatcher = NOBODY
    ) -> AsyncGenerator[HeldTurn]:
        run = record.state.run
        async with held(self.home, record, driver, self._clock, watcher) as turn:
            self._register(run)
            yield turn
            if turn.state.has_ended:
                self.sessions.end(Session(MCP, run))

    def _register(self, run: str) -> None:
        """Record who drives a run, so that no process started by the driver can answer for a
        person.
        """
        self._last[self._client.process] = run
        if self._client.may_take_up(self.sessions.find(MCP, run).process):
            self.sessions.keep(Session(MCP, run, run, self._client.process))

    def _flow(self, name: str) -> Flow:
        """Return the flow in a file of the project."""
        path = (self.home.repo / name).resolve()
        if not path.is_relative_to(self.home.repo.resolve()):
            raise OutsideWorkspace(name, f"{name} is not in this project.", "Name a file of it.")
        reading = read_flow_file(os.fspath(path))
        if reading.flow is not None:
            return reading.flow
        first = reading.problems[0]
        message = "\n".join(map(str, reading.problems))
        raise TemplateError(message, file=first.file, line=first.line, hint="Fix the file.")


def _is_elsewhere(started: RunStarted) -> bool:
    """Return whether a host's hooks drive a run instead of steps."""
    return started.shell.get("driver", "") != DRIVER


def _nothing_pending(state: RunState) -> Conflict:
    if state.has_ended:
        return Conflict(f"Run {state.run} has ended.", BEGIN)
    message = pending(state)[0].question.text if pending(state) else ""
    return Conflict(f"Run {state.run} waits for a person. {message}", "Use `request_approval`.")


def _require_card(state: RunState, card: str, asked: str) -> None:
    """Raise unless the named card, if any, is the one whose step is pending."""
    if card in ("", asked):
        return
    if state.card(card) is None:
        raise _no_card(state, card)
    where = f"card {asked} is asked" if asked else "none is"
    raise Conflict(f"Card {card} is not asked now: {where}.", "`next_step` returns the next step.")


def _no_card(state: RunState, card: str) -> NotFound:
    known = ", ".join(each.id for each in state.cards) or "none yet"
    return NotFound("card", card, f"Run {state.run} has these: {known}.")
