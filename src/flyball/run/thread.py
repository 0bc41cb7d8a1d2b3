"""Threads: what each driver of a card said and received, as a projection of the journal.

Every request ends with a status line about its card: the phase, the remaining calls, and what is
missing. So no driver has to guess, and none has to continue after its own words. The line is
composed only here. It is not part of the state, because it follows from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import msgspec
from msgspec.structs import replace

from flyball.plan.gate import judge_done
from flyball.plan.template import Role
from flyball.plan.verdict import Passed
from flyball.run.decision import may_build
from flyball.run.effect import Think
from flyball.run.event import (
    Appealed,
    CallReturned,
    CardEvent,
    CheckpointStated,
    ConflictStated,
    DriverFailed,
    DriverReplied,
    Event,
    Noted,
    ThreadReset,
)
from flyball.run.state import CardState, RunState
from flyball.terms.budget import spent_limit
from flyball.terms.call import INTERRUPTED, WebLook
from flyball.terms.evidence import AnyEvidence
from flyball.terms.finding import AnyFinding
from flyball.terms.phase import RECON_PHASES, Phase


class Speaker(StrEnum):
    """The author of a line of a thread."""

    DRIVER = "driver"
    TOOL = "tool"
    GOVERNOR = "governor"


class SpokenCall(msgspec.Struct, frozen=True):
    """A call in the driver's own form."""

    id: str
    tool: str
    args: dict[str, object]


class ThreadLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of a thread. A thread is named by card, attempt and role."""

    card: str
    attempt: int
    role: str
    speaker: Speaker
    text: str = ""
    calls: tuple[SpokenCall, ...] = ()
    call: str = ""
    tool: str = ""
    artifact: str = ""
    images: tuple[str, ...] = ()
    kind: str = ""
    """The kind of a governor's line, as in `Said`."""
    guard: str = ""
    """The guard that speaks, if any."""
    ok: bool = False
    """Whether a call was made and did what it should."""
    error: str = ""
    evidence: tuple[AnyEvidence, ...] = ()
    """What Flyball observed in a call."""
    finding: AnyFinding | None = None
    """The tool's finding, so that it need not be parsed from the text."""

    @property
    def is_interrupted(self) -> bool:
        """Return whether the line answers a call that was interrupted, so that its effect is
        unknown."""
        return INTERRUPTED in (self.kind, self.error)


def thread_lines(before: RunState, event: Event, after: RunState) -> tuple[ThreadLine, ...]:
    """Return the lines that an event adds to the threads of the affected cards."""
    lines: list[ThreadLine] = []
    for card in after.cards:
        previous = before.card(card.id)
        if previous is card:
            continue
        if isinstance(event, CardEvent) and event.card == card.id and previous is not None:
            lines += _spoken(previous, event)
        if previous is None or card.said is not previous.said:
            lines += _answers(previous or card, card)
    # Asked again after a failure, the driver has the same line before it already.
    if not isinstance(event, DriverFailed):
        lines += _status_lines(before, after)
    return tuple(lines)


def _status_lines(before: RunState, after: RunState) -> list[ThreadLine]:
    """Return the status line of each card whose driver is asked next: the last line of its
    request."""
    lines: list[ThreadLine] = []
    for owed in after.owed:
        effect = owed.effect
        card = after.card(effect.card) if isinstance(effect, Think) else None
        if owed.n <= before.effects or not isinstance(effect, Think) or card is None:
            continue
        text = status_line(after, card, effect)
        line = ThreadLine(card.id, card.attempt, effect.role, Speaker.GOVERNOR, text)
        lines.append(replace(line, kind=STANDING))
    return lines


def _spoken(card: CardState, event: CardEvent) -> list[ThreadLine]:
    match event:
        case DriverReplied():
            calls = tuple([SpokenCall(c.id, c.tool, c.args) for c in event.calls])
            said = cut_middle(event.text, LONGEST_WORDS)
            who = (card.id, card.attempt, card.role)
            own = ThreadLine(*who, Speaker.DRIVER, said, calls)
            # A provider keeps its own tools' results to itself: without these lines the next
            # request would not know what the last one found.
            return [own, *(_looked_up(who, look) for look in event.looks)]
        case CallReturned():
            return [_returned(card, event)]
        case CheckpointStated(call=call) if call:
            return [_result(card, call, "The checkpoint is recorded.")]
        case Noted(call=call) if call:
            return [_result(card, call, "Noted.")]
        case Appealed():
            return [_result(card, event.call, "The appeal is filed.")]
        case ConflictStated(call=call) if call and event.report and card.phase is not Phase.PAUSED:
            return [_result(card, call, "The conflict is recorded. A person decides.")]
        case ThreadReset():
            return [ThreadLine(card.id, card.attempt + 1, card.role, Speaker.GOVERNOR, event.text)]
        case _:
            return []


def _looked_up(who: tuple[str, int, str], look: WebLook) -> ThreadLine:
    text = f"{look.about}\n{look.text}".rstrip()
    line = ThreadLine(*who, Speaker.TOOL, text, call=look.id, tool=look.tool)
    return replace(line, ok=look.ok)


def _returned(card: CardState, event: CallReturned) -> ThreadLine:
    outcome = event.outcome
    return replace(
        _result(card, event.call, outcome.text),
        artifact=outcome.artifact,
        ok=outcome.ok,
        error=outcome.error,
        evidence=event.evidence,
        finding=outcome.finding,
    )


def _result(card: CardState, call: str, text: str) -> ThreadLine:
    """Return the result of a call as a line for its caller."""
    tool, understood = next(
        ((each.tool, each.understood) for each in card.in_flight if each.id == call), ("", "")
    )
    if understood:
        text = f"{text}\n(Understood: {understood}.)"
    who = (card.id, card.attempt, card.role)
    return ThreadLine(*who, Speaker.TOOL, text, call=call, tool=tool, ok=True)


def _answers(previous: CardState, card: CardState) -> list[ThreadLine]:
    """Return the governor's messages: answers go to the caller, all others to the next driver."""
    lines: list[ThreadLine] = []
    for said in card.said:
        role = previous.role if said.call else card.role
        speaker = Speaker.TOOL if said.call else Speaker.GOVERNOR
        line = ThreadLine(card.id, card.attempt, role, speaker, said.text, call=said.call)
        lines.append(replace(line, kind=said.kind, guard=said.guard))
    return lines


def trim_to(lines: Sequence[ThreadLine], limit: int) -> tuple[ThreadLine, ...]:
    """Return the thread in at most about `limit` characters: old tool output becomes a pointer."""
    total = sum(len(line.text) for line in lines)
    trimmed = list(lines)
    for i, line in enumerate(trimmed[:-2]):
        if total <= limit:
            break
        if line.speaker is not Speaker.TOOL or len(line.text) <= POINTER:
            continue
        where = f" The whole of it is in {line.artifact}." if line.artifact else ""
        text = f"(older output of {len(line.text)} characters left out.{where})"
        total -= len(line.text) - len(text)
        trimmed[i] = replace(line, text=text)
    return tuple(trimmed)


POINTER = 200
LONGEST_WORDS = 16_000
"""How much of one reply's text is kept in a thread; a driver need not reread more of its own."""


def cut_middle(text: str, limit: int) -> str:
    """Return a text in about `limit` characters: its head, its tail, and how much is left out."""
    if len(text) <= limit:
        return text
    head, tail = limit * 3 // 4, limit // 4
    left_out = len(text) - head - tail
    return f"{text[:head]}\n({left_out} characters are left out here)\n{text[-tail:]}"


STANDING = "standing"
"""The kind of a status line."""


def status_line(run: RunState, card: CardState, think: Think) -> str:
    """Return the status line that ends the request for this effect."""
    return f"[{_where(run, card, think)}] {_missing(run, card, think)}"


def _where(run: RunState, card: CardState, think: Think) -> str:
    phase = think.phase.name_for_people
    limit = run.budget.limit
    if not limit:
        return phase
    left = max(limit - run.spend.calls, 0)
    if card.has_changed and 0 < left <= run.budget.reserve:
        return f"{phase} · {left} of {limit} calls left, for verification only"
    return f"{phase} · {left} of {limit} calls left"


def _missing(run: RunState, card: CardState, think: Think) -> str:
    if think.role in OWED_BY_ROLE:
        return OWED_BY_ROLE[think.role]
    if think.text_only:
        return NO_CALLS if spent_limit(run.budget, run.spend) else IN_WORDS
    if think.phase is Phase.CHECKPOINT:
        return "Missing: the `checkpoint`. No other call is possible before it."
    if think.phase in RECON_PHASES:
        return _missing_in_recon(run, card, think)
    return _missing_in_build(run, card)


OWED_BY_ROLE: dict[str, str] = {
    Role.REVIEWER: "Missing: the risk of this change, in one `note` or one sentence.",
    Role.PLANNER: "Missing: the plan, in one JSON block.",
    Role.VERIFIER: "Missing: your report, in one JSON block.",
}
"""What a role with a single duty is asked for, whatever the phase."""

IN_WORDS = "Missing: your written answer. No more calls are allowed."
NO_CALLS = (
    "The budget is used up. Summarise what is done, what shows it, and what is left; if that "
    "answers the request, it is the answer."
)


def _missing_in_recon(run: RunState, card: CardState, think: Think) -> str:
    if think.role != card.template.role:
        return "Missing: your written findings."
    if not may_build(run, card):
        return "Missing: your written answer. Nothing is changed in this run."
    return "Missing: a `checkpoint`; nothing can be changed before it."


def is_verified(run: RunState, card: CardState) -> bool:
    """Return whether a change was made and the current tree has passed."""
    seen = judge_done(card.evidence, card.tree, card.base, has_suite=bool(run.project.runners))
    return card.has_changed and isinstance(seen, Passed)


def _missing_in_build(run: RunState, card: CardState) -> str:
    if not card.has_changed:
        return (
            "Missing: the change itself. Call `edit_diff` or `write_file`; prose changes nothing."
        )
    if is_verified(run, card):
        return (
            "Verified in its current state. Missing: your final message, if nothing else needs to "
            "change."
        )
    look = "`test`" if run.project.runners else "`check`"
    return f"Missing: a passing {look} of the current tree; then stop."
