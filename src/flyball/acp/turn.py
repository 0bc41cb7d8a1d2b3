"""One prompt of an editor: the run that it starts or answers, reported until it rests or ends."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable

from acp import text_block, tool_content, update_agent_message_text
from acp.interfaces import Client
from acp.schema import (
    AllowedOutcome,
    ContentToolCallContent,
    FileEditToolCallContent,
    PermissionOption,
    PermissionOptionKind,
    StopReason,
    TerminalToolCallContent,
    ToolCallUpdate,
)

from flyball.acp.update import (
    EditorUpdates,
    RunFiles,
    Update,
    Words,
    call_id,
    diff_content,
    kind_of,
    locations,
)
from flyball.app import answering
from flyball.app.answering import RESTING, Pending, asked, decide, next_steps, no, pending, yes
from flyball.app.driving import RunControl, RunRequest, RunResult, Watcher, Word
from flyball.app.project import Home
from flyball.engine.telemetry import Telemetry
from flyball.errors import Conflict, NotAPerson
from flyball.hosts.person import require_no_host
from flyball.run.event import AnyEvent
from flyball.run.state import Asking, Checkpoint, RunState
from flyball.terms.conflict import Choice, choices

HERE = "Type here how to continue."


class PromptTurn:
    """Drives one run for an editor, and passes the run's questions to its user."""

    def __init__(self, home: Home, session: str, client: Client, by: str, words: Words) -> None:
        self._home = home
        self._session = session
        self._client = client
        self._by = by
        self._files = RunFiles(home)
        self._story = EditorUpdates(self._files, words)
        self._control = RunControl(home, Watcher(self._told, self._heard, _discard))
        self._due: deque[Update] = deque()
        self._has_news = asyncio.Event()
        self._sending = asyncio.Lock()
        self._began = asyncio.Event()
        self._is_cancelled = False
        self.state = RunState()
        """The run's state at rest or at its end, once this turn is over."""

    async def start(self, wanted: RunRequest) -> StopReason:
        """Start a run."""
        return await self._take(wanted=wanted)

    async def answer(self, run: str, text: str) -> StopReason:
        """Send a message to a run that waits for one."""
        return await self._take(run=run, text=text)

    async def cancel(self) -> None:
        """Cancel the run of this turn."""
        self._is_cancelled = True
        await self._began.wait()
        if run := self._control.run:
            silent = RunControl(self._home, Watcher(_discard, _discard, _discard))
            await silent.cancel(run, self._by, "cancelled in the editor")

    async def _take(
        self, wanted: RunRequest | None = None, run: str = "", text: str = ""
    ) -> StopReason:
        pump = asyncio.create_task(self._pump())
        try:
            if wanted is not None:
                result = await self._control.start(wanted)
            else:
                self._require_person()
                spoken = self._control.say(
                    run, lambda state: answering.words(state, self._by, text), self._by
                )
                result = await spoken
            reason, result = await self._decided(result)
            self.state = result.state
            self._tell(_ending(result))
            await self._flush()
            return "cancelled" if self._is_cancelled else reason
        finally:
            self._began.set()
            pump.cancel()
            await asyncio.gather(pump, return_exceptions=True)

    async def _decided(self, result: RunResult) -> tuple[StopReason, RunResult]:
        """Ask the person while the run waits for a yes or a no."""
        while not self._is_cancelled and (asks := to_choose(result.state)):
            await self._flush()
            run = result.state.run
            call = tool_call(run, asks, self._files)
            answer = await self._client.request_permission(
                self._session, call, options(result.state)
            )
            if not isinstance(answer.outcome, AllowedOutcome):
                return "cancelled", result
            try:
                self._require_person()
            except NotAPerson as error:
                self._tell([update_agent_message_text(f"{error}\n\n")])
                return "end_turn", result
            said = word(asks, answer.outcome.option_id, self._by)
            result = await self._control.say(run, said, self._by)
        return "end_turn", result

    def _require_person(self) -> None:
        """Raise if a governed agent started the editor; otherwise the editor acts for its user."""
        require_no_host(self._home, self._home.environ)

    def _told(self, line: Telemetry) -> None:
        self._began.set()
        self._tell(self._story.tell(line))

    def _heard(self, delta: str) -> None:
        self._tell(self._story.hear(delta))

    def _tell(self, updates: Iterable[Update]) -> None:
        self._due.extend(updates)
        self._has_news.set()

    async def _pump(self) -> None:
        while True:
            await self._has_news.wait()
            self._has_news.clear()
            await self._flush()

    async def _flush(self) -> None:
        """Send all pending updates in order."""
        async with self._sending:
            while self._due:
                await self._client.session_update(self._session, self._due.popleft())


def _ending(result: RunResult) -> Iterable[Update]:
    """Return what the run waits for, or what to type next."""
    state, lines = result.state, list[str]()
    if waiting := pending(state):
        lines.append(f"{waiting[0].question.text} {HERE if to_choose(state) is None else ''}")
    steps = next_steps(state, result.status, in_place=result.in_place)
    lines += [f"- `{step.command}`: {step.effect}" for step in steps]
    if lines:
        yield update_agent_message_text("\n".join(lines) + "\n")


def _discard(_value: object) -> None:
    """Ignore the output: a program's output is reported with its result."""


LONGEST = 4_000
"""Maximum number of characters of an argument in the question about it."""
Content = ContentToolCallContent | FileEditToolCallContent | TerminalToolCallContent
YES, NO = "approve", "deny"
KINDS: dict[str, PermissionOptionKind] = {YES: "allow_once", NO: "reject_once"}


def to_choose(state: RunState) -> Pending | None:
    """Return the question for a yes or no; a question that a message answers is only shown."""
    waiting = pending(state)
    return waiting[0] if waiting and waiting[0].question.kind not in RESTING else None


def tool_call(run: str, asks: Pending, files: RunFiles) -> ToolCallUpdate:
    """Return what the person decides about: the exact call, or the question alone."""
    card, question = asks
    call = question.call
    if call is None:
        promise = card.checkpoint if question.kind is Asking.CHECKPOINT else None
        return ToolCallUpdate(
            tool_call_id=call_id(run, card.id, question.id),
            title=question.text,
            kind="other",
            status="pending",
            content=[_words(_promised(promise))] if promise else None,
        )
    diff = call.preview or str(call.args.get("diff", ""))
    shown: list[Content] = [*diff_content(diff, files)]
    args = {name: str(value)[:LONGEST] for name, value in call.args.items()}
    said = "\n".join(f"{name}: {text}" for name, text in args.items())
    return ToolCallUpdate(
        tool_call_id=call_id(run, card.id, call.id),
        title=f"{call.tool}: {question.text}",
        kind=kind_of(call.tool),
        status="pending",
        content=shown or [_words(said)],
        locations=locations([fact.path for fact in call.paths], files),
        raw_input=args,
    )


def options(state: RunState) -> list[PermissionOption]:
    """Return the options yes and no, described by their effects, or the sides of a conflict."""
    if waiting := pending(state):
        conflict = waiting[0].question.conflict
        if conflict is not None:
            return [
                PermissionOption(option_id=choice.value, name=label, kind="allow_once")
                for choice, label in choices(conflict)
                if choice is not Choice.TASK
            ]
    steps = {step.command.split()[1]: step.effect for step in next_steps(state, "paused")}
    return [
        PermissionOption(option_id=verb, name=f"{verb.capitalize()}: {steps[verb]}", kind=kind)
        for verb, kind in KINDS.items()
        if verb in steps
    ]


def word(asks: Pending, option: str, by: str) -> Word:
    """Return a person's choice for the question that they saw, ignoring any other."""

    def said(state: RunState) -> AnyEvent:
        if asked(state).id != asks.question.id:
            raise Conflict(f"Run {state.run} now asks a different question.", "Look at it again.")
        if asks.question.conflict is not None:
            return decide(state, by, Choice(option))
        return yes(state, by) if option == YES else no(state, by)

    return said


def _promised(promise: Checkpoint) -> str:
    """Return a complete checkpoint, so that the person sees all of it before accepting it."""
    return "\n\n".join(
        (
            f"Goal: {promise.goal}",
            f"Found: {promise.findings}",
            f"Will: {promise.proposed_action}",
            f"Files: {', '.join(promise.files)}",
            f"Verify with: {', '.join(promise.verify_with)}",
        )
    )


def _words(text: str) -> ContentToolCallContent:
    return tool_content(text_block(text))
