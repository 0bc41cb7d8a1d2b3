"""Read a SWE-agent recording as the log of a run that was only observed.

The recorded actions are judged as if a governor had been present: a write before any checkpoint is
denied, and then recorded anyway, because it happened. Nothing in it is evidence, since Flyball saw
none of it: trees get labels that no real tree can have, and the run always ends unverified.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from msgspec.structs import replace

from flyball.agents.foreign import ENDS, call_in
from flyball.agents.swe_agent import Json, RecordedTurn, kind_of, object_of, step_of, text_of
from flyball.agents.swe_agent import turns_of as turns_in
from flyball.record.observed import OBSERVED
from flyball.run.effect import OpenWorkspace, Publish, Think
from flyball.run.event import (
    AnyEvent,
    CallReturned,
    Cancelled,
    CheckpointStated,
    DriverReplied,
    Finish,
    Messaged,
    Resumed,
    RunStarted,
    WorkspaceReady,
)
from flyball.run.machine import advance
from flyball.run.policy import Policy
from flyball.run.state import CardState, RunState
from flyball.terms.call import Access, Call, Outcome, digest
from flyball.terms.intent import Intent
from flyball.terms.phase import PLAN, Phase

RECORDED = "recorded"
"""The marker in the log of a run that was read from a recording."""
AGENT = "swe-agent"
NOBODY = "nobody (recorded)"
ASSUMED = "(assumed: the recorded agent was not asked to state it)"
NOT_SAID = "(the recording does not say what was asked)"
UNVERIFIED = "The recording ends{how}. Nobody verified the result"
LONGEST = 8_000
"""Characters of one outcome that are kept."""
ACCESS = {
    "read": Access.READ,
    "verify": Access.VERIFY,
    "mutate": Access.MUTATE,
    # What is unclear is held against nobody.
    "run": Access.READ,
}


def recorded_run(recording: object, run: str, clean: Callable[[str], str]) -> Sequence[AnyEvent]:
    """Return the log of a decoded recording; invalid input raises an error that explains it.

    `clean` removes known secrets from the recorded text.
    """
    turns = turns_in(recording)
    paths = [text_of(call_in(turn.action.strip())[1].get("path")) for turn in turns]
    told = _Log(clean, [path for path in dict.fromkeys(paths) if path])
    # Room for every call, also for those that are refused first: its own limits ended it.
    room = 4 * len(turns) + 10
    policy = Policy(max_tool_rounds=room, max_turns=room).around_host()
    started = RunStarted(
        run=run,
        request=clean(_request(recording)).strip() or NOT_SAID,
        policy=policy,
        intent=Intent.SMALL_FIX,
        budget=room,
        shell={"driver": f"host:{AGENT}", OBSERVED: "yes", RECORDED: "yes"},
    )
    told.begin(started)
    for number, turn in enumerate(turns, 1):
        told.turn(number, turn)
    told.end(_how_it_ended(recording))
    return told.events


def _request(recording: object) -> str:
    """Return the first request to the recorded agent, if the messages are kept."""
    if isinstance(recording, Mapping):
        document = cast("Json", recording)
        recording = document.get("history") or document.get("messages")
    for entry in cast("list[object]", recording) if isinstance(recording, list) else ():
        message = object_of(entry)
        if message.get("role") == "user" and not message.get("is_demo"):
            return text_of(message.get("content", message.get("text")))
    return ""


def _how_it_ended(recording: object) -> str:
    info = object_of(object_of(recording).get("info"))
    return text_of(info.get("exit_status"))


class _Log:
    """The events so far; each is applied at once, and answers an owed effect."""

    def __init__(self, clean: Callable[[str], str], files: Sequence[str]) -> None:
        self.events: list[AnyEvent] = []
        self._clean = clean
        self._files = files
        self._state = RunState()
        self._said: list[str] = []
        """Text without a call: it is added to the next one."""

    @property
    def _card(self) -> CardState:
        return self._state.cards[-1]

    def begin(self, started: RunStarted) -> None:
        self._add(started)
        self._add(WorkspaceReady(tree=f"{RECORDED}-0", effect=self._owed(OpenWorkspace)))
        self._settle()

    def turn(self, number: int, turn: RecordedTurn) -> None:
        """Record a request and its result, even if the governor would have denied it."""
        if turn.said.strip():
            self._said.append(turn.said.strip())
        action = turn.action.strip()
        if not action or action.startswith(ENDS):
            return
        call = self._call(number, action)
        self._reply(call)
        if call not in self._card.in_flight and self._card.phase.is_in(PLAN):
            self._assume_checkpoint()
            call = replace(call, id=f"{call.id}-made")
            self._reply(call)
        self._returned(number, turn, call)

    def end(self, how: str) -> None:
        """Record the last words, and that nothing was verified."""
        words = "\n\n".join(self._said)
        if words:
            self._driver_says((), Finish.STOP, words)
        why = UNVERIFIED.format(how=f" with {self._clean(how)!r}" if how else "")
        self._add(Cancelled(by=NOBODY, why=why))
        self._settle()

    def _call(self, number: int, action: str) -> Call:
        name, args = call_in(action)
        access = ACCESS[kind_of(action)]
        tool = "bash" if name == "bash" else "read" if access is Access.READ else "write_file"
        return Call(
            id=str(number),
            tool=tool,
            args={key: self._short(text_of(value)) for key, value in args.items()},
            access=access,
            digest=digest([name, args]),
            confirmed=True,
            called=name,
        )

    def _reply(self, call: Call) -> None:
        words = "\n\n".join(self._said)
        self._said = []
        self._driver_says((call,), Finish.TOOL_CALLS, words)
        self._settle()

    def _driver_says(self, calls: tuple[Call, ...], finish: Finish, words: str) -> None:
        text, thought = self._clean(words), self._owed(Think)
        card = self._card.id
        self._add(DriverReplied(card=card, text=text, calls=calls, finish=finish, effect=thought))

    def _assume_checkpoint(self) -> None:
        self._add(
            CheckpointStated(
                card=self._card.id,
                goal=ASSUMED,
                findings=ASSUMED,
                proposed_action=ASSUMED,
                files=(*self._files, "./"),
                verify_with=(ASSUMED,),
                effect=self._owed(Think),
            )
        )
        self._settle()

    def _returned(self, number: int, turn: RecordedTurn, call: Call) -> None:
        step, seen = step_of(turn), self._short(turn.seen)
        is_change = step.kind == "mutate" and step.ok
        path = text_of(call.args.get("path"))
        outcome = Outcome(
            ok=step.ok,
            text=seen,
            digest=step.outcome,
            error="" if step.ok else seen,
            bytes=len(turn.seen.encode("utf-8", "surrogateescape")),
            cut=max(len(turn.seen) - LONGEST, 0),
        )
        for owed in [o.n for o in self._state.owed if getattr(o.effect, "call", None) == call]:
            self._add(
                CallReturned(
                    card=self._card.id,
                    call=call.id,
                    outcome=outcome,
                    tree=f"{RECORDED}-{number}" if is_change else self._card.tree,
                    changed=(path,) if is_change and path else (),
                    effect=owed,
                )
            )
        self._settle()

    def _settle(self) -> None:
        """Deliver pending effects, and continue where a person would have been asked."""
        while self._state.owed and isinstance(effect := self._state.owed[0].effect, Publish):
            self._add(Messaged(message=effect.message, effect=self._state.owed[0].n))
        if self._state.cards and self._card.phase is Phase.PAUSED:
            self._add(Resumed(by=NOBODY, tree=self._card.tree))

    def _owed(self, kind: type[OpenWorkspace] | type[Think]) -> int:
        return max((o.n for o in self._state.owed if isinstance(o.effect, kind)), default=0)

    def _short(self, text: str) -> str:
        return self._clean(text)[:LONGEST]

    def _add(self, event: AnyEvent) -> None:
        self._state = advance(self._state, event).state
        self.events.append(event)
