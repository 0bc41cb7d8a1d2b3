"""Handle the prompts of hosts: which run a person's message begins, ends or continues."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec.structs import replace

from flyball.agents.event import GO_ON, HostAnswer, HostEvent, Moment
from flyball.app.project import Home, redactor_of
from flyball.app.runs.journals import opened
from flyball.app.sessions import HOSTED, WITHIN, Session, Sessions
from flyball.errors import Conflict, NotFound
from flyball.hosts.armed import record_hook_settings
from flyball.hosts.hook_files import remember_hooks
from flyball.hosts.opening import HostedRuns
from flyball.hosts.person import is_below
from flyball.hosts.words import (
    NEXT_PROMPT,
    SESSION_ENDED,
    THEN,
    asked_about,
    asks_about_conflict,
    is_notification,
)
from flyball.intent.classifier import classify
from flyball.intent.context import consents, goes_on
from flyball.run.event import Cancelled, RunStarted
from flyball.run.policy import Policy
from flyball.run.state import RunState
from flyball.terms.intent import LIMITS, Intent

TOO_SMALL = frozenset({Intent.CONVERSATIONAL, Intent.STATUS_CHECK})
"""Intents that a few words in the middle of a session map to; the agent may explore."""
UNDER_WAY = "Work that was in progress when Flyball joined"


class HostPrompts:
    """Begins and ends the runs of all hosts' sessions in one project."""

    def __init__(
        self,
        home: Home,
        sessions: Sessions,
        runs: HostedRuns,
        marks: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._home = home
        self._sessions = sessions
        self._runs = runs
        self._marks = marks
        """The governing state recorded in each run's log."""

    async def answer(self, event: HostEvent, session: Session) -> HostAnswer:
        """Handle a person's prompt: start a new run, unless one is unfinished."""
        state = await self._runs.live_state(session)
        if state is None and session.tree:
            begun, _ = await self.begin(event, session)
            # Changes by a slash command's own shell are detected before the model is asked.
            found = await self._runs.at(begun, lambda run: run.seen(session.tree))
            return joined(found, await self._greet(begun))
        if state and session.is_fresh:
            self._sessions.keep(replace(session, is_fresh=False))
            # Changes by a slash command's own shell are detected before the model is asked.
            found = await self._runs.at(session, lambda run: run.seen())
            return joined(found, await self._greet(session))
        if state and asks_about_conflict(state.cards[-1]):
            return await self._runs.at(session, lambda run: run.decided(event))
        if state and (call := _held(state)) and consents(event.text, call):
            granted = await self._runs.at(session, lambda run: run.answered(event))
            if not state.cards[-1].has_changed:
                return granted
            return joined(granted, await self._runs.at(session, lambda run: run.message(event)))
        left = GO_ON
        if state and state.cards[-1].in_flight:
            left = await self._runs.at(session, lambda run: run.cut_off())
            state = await self._runs.live_state(session)
        if state and state.cards[-1].has_changed:
            return joined(left, await self._runs.at(session, lambda run: run.message(event)))
        before = state or await self._ended(session)
        if state:
            await self._end_run(session, NEXT_PROMPT)
        held = before.cards[-1].held_call if before else None
        is_yes = before is not None and held is not None and consents(event.text, _held(before))
        is_more = before is not None and goes_on(event.text, before.request, _last(before))
        follows = before if is_yes or is_more else None
        begun, _ = await self.begin(event, session, follows=follows)
        point = follows.cards[-1].checkpoint if follows else None
        if point:
            # Continued work with a recorded checkpoint needs no new one.
            await self._runs.at(begun, lambda run: run.go_on_from(point))
        greeting = await self._greet(begun)
        if held and is_yes:
            # The run that asked has ended, for example since its work was shown.
            granted = await self._runs.at(begun, lambda run: run.approved(event, held))
            greeting = joined(greeting, granted)
        return joined(left, greeting)

    async def _ended(self, session: Session) -> RunState | None:
        """Return the last run of a session, which has ended."""
        if not session.run or not self._home.has_journal:
            return None
        async with opened(self._home) as journal:
            try:
                found = await journal.load(session.run)
            except NotFound:
                return None
        return found if found.cards else None

    async def _left(self, session: Session) -> str:
        """Return the tree as the session's last run left it."""
        last = await self._ended(session)
        return last.cards[-1].tree if last else ""

    async def _greet(self, session: Session) -> HostAnswer:
        return await self._runs.at(session, lambda run: run.greeted())

    async def begin(
        self,
        event: HostEvent,
        session: Session,
        *,
        is_fresh: bool = False,
        follows: RunState | None = None,
    ) -> tuple[Session, RunState]:
        """Start a run for what a person asked, in the checkout as it is now."""
        clean = redactor_of(self._home).text
        request = clean(event.text if event.moment is not Moment.BEFORE_CALL else "") or UNDER_WAY
        read = classify(request).intent
        if follows and follows.intent:
            read = max(read, follows.intent, key=LIMITS.__getitem__)
            request = f"{follows.request}{THEN}{request}"
        shell = {
            "driver": f"{HOSTED}{event.host}",
            "in_place": "yes",
            "session": event.session,
            **self._marks,
            **self._within(session),
        }

        def started(run: str) -> RunStarted:
            return RunStarted(
                run=run,
                request=request,
                policy=self._policy(),
                target=f"project/{self._home.repo.name}",
                intent=Intent.SMALL_FIX if request == UNDER_WAY else _at_least(read),
                shell=shell,
            )

        state = await self._runs.begin(session.awaited, started)
        if state.response is not None:
            raise Conflict(state.response.message, "Run `flyball doctor`.")
        clean = not self._runs.began_dirty(state.run) or (
            session.began_clean and await self._left(session) == state.cards[-1].base
        )
        begun = replace(
            session, run=state.run, is_fresh=is_fresh, awaited="", tree="", began_clean=clean
        )
        self._sessions.keep(begun)
        remember_hooks(self._home, state.run)
        record_hook_settings(self._home, state.run, session.run, event)
        return begun, state

    def _within(self, session: Session) -> dict[str, str]:
        """Return the sessions inside which a host was started: its work also counts as theirs."""
        others = [each for each in self._sessions.in_checkout() if each.session != session.session]
        found = [each.session for each in others if is_below(session.process, each.process)]
        return {WITHIN: "\n".join(found)} if found else {}

    async def leave(self, session: Session, why: str) -> None:
        """End an abandoned run; one that asks about a conflict waits for its person."""
        state = await self._runs.live_state(session)
        if state is not None and not asks_about_conflict(state.cards[-1]):
            await self._end_run(session, why)

    async def end(self, session: Session) -> None:
        """End a session, unless its person was asked about a call.

        A host that is resumed brings the answer in a session of the same name.
        """
        state = await self._runs.live_state(session)
        if state is None or not _held(state):
            await self.leave(session, SESSION_ENDED)
            self._sessions.end(session)

    async def _end_run(self, session: Session, why: str) -> None:
        async with self._runs.driven(session.run) as (engine, _):
            state = await engine.journal.load(session.run)
            state = await engine.append(state, Cancelled(by=session.host, why=why))
            await engine.run_pending_effects(state)

    def _policy(self) -> Policy:
        settings = self._home.effective.settings
        return settings.policy.around_host(is_strict=settings.hooks_budget == "strict")


def _held(state: RunState) -> str:
    """Return the command or the tool of the call that a person was asked about."""
    call = state.cards[-1].held_call
    return asked_about(call) if call else ""


def _last(state: RunState) -> str:
    return state.response.message if state.response else ""


def joined(found: HostAnswer, answer: HostAnswer) -> HostAnswer:
    """Return an answer, preceded by an earlier finding."""
    text = "\n".join(filter(None, (found.text, answer.text)))
    notice = "\n".join(filter(None, (found.notice, answer.notice)))
    return replace(answer, notice=notice, text=text)


def is_written_by_host(event: HostEvent, session: Session) -> bool:
    """Return whether the host wrote the prompt: a subagent's notice, or our own text."""
    rejected = session.rejected.strip()
    # Anything reverted at that stop is mentioned before the rejection.
    is_ours = bool(rejected) and event.text.strip().endswith(rejected)
    return is_notification(event.text) or is_ours


def _at_least(intent: Intent) -> Intent:
    return Intent.DIAGNOSE if intent in TOO_SMALL else intent
