"""The messages of Flyball to a host's model and to its user."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from flyball.agents.tool import files_in_words
from flyball.run.ending import status_of
from flyball.run.state import CardState, Checkpoint, GovernorMessage, RunState
from flyball.run.working_copy import WAY_OUT
from flyball.terms.call import Call
from flyball.terms.phase import PLAN, Phase
from flyball.verdict.words import verdict_lines

HOW_TO_STATE = (
    "State it from the shell: {flyball} checkpoint --goal 'the desired end state' --findings 'what "
    "you saw' --action 'what you will do' --file path/to/file "
    "--verify 'the test that will show it' "
    "(--file and --verify can be repeated)."
)
HOW_TO_CONFLICT = (
    "If it cannot be done as asked: {flyball} conflict --says 'a quote' --but 'what contradicts "
    "it' --where path/to/file:LINE. A person decides then, and it never counts against you."
)
DISARMED = (
    "{file} was not applied: while Flyball governs this session, its hooks cannot be changed. A "
    "person can with `flyball init --remove` or `flyball off` in their own terminal."
)
PRETENDED = (
    "This hook was called by a program that the agent started, not by the agent itself, so it is "
    "ignored."
)
ALONE = (
    "Until a checkpoint is stated this runs confined: no other command reaches its ports, and "
    "nothing that it writes to the project is kept. State a checkpoint first to start a server, or "
    "start, ask and end it in one command."
)
UNDER_WAY = (
    "Flyball is verifying this work: it runs the tests itself, which takes a while. Run "
    "`{flyball} wait`, and stop again when it returns."
)
GOES_ON = (
    "Flyball's verdict on this work takes longer: it continues in the background. You will see "
    "it with your next prompt, or with `flyball runs show {run}`."
)
LATE = "The verdict on the previous work is in, and it is not done:"
NOBODY_LOOKS = "No verification is running. Stop again to start one."
TOO_LONG = "the verdict took longer than the host waits, and hooks that decide alone cannot go on"
CAPPED = (
    "No more calls are allowed: {spent}. A person can raise `caps.{name}` in their settings, or "
    "let you go on with `flyball off`. Stop now, and summarise where you are."
)
SHOWN = "the plan that was shown"
GREETING = "Flyball governs this session"
THEN = "\n\nThen: "
"""Separates the request of a run from the prompt that continues it."""
HELD = (
    "Not made: `{call}` waits for your approval. Approve it in your next message, such as `yes`, "
    "and the agent may make it."
)
UNCHANGED = "Flyball: nothing was changed, and nothing was verified (run {run})."
NEXT_PROMPT = "the next prompt came before anything changed"
SESSION_ENDED = "the host's session ended"


def how_to_state() -> str:
    """Return the sentence that explains how to record a checkpoint."""
    return HOW_TO_STATE.format(flyball=_flyball())


def how_to_conflict() -> str:
    """Return the command that explains why a task cannot be done as asked."""
    return HOW_TO_CONFLICT.format(flyball=_flyball())


def under_way() -> str:
    """Return the message for an agent that would continue while a verdict is taken."""
    return UNDER_WAY.format(flyball=_flyball())


def _flyball() -> str:
    """Return our command by a name that every shell of the host can find."""
    # The absolute path: a host's login shell may have another search path.
    return shlex.quote(str(Path(sys.executable).with_name("flyball")))


def greeting(state: RunState, card: CardState, level: str) -> str:
    """Return the message for a model when its work begins."""
    lines = [f"{GREETING} at level {level} (run {state.run})."]
    if level != "verdict":
        lines[0] += f" {where(state, card)}"
    if level != "verdict" and card.phase.is_in(PLAN):
        lines.append(f"Look first; files can be changed after a checkpoint. {how_to_state()}")
    lines.append("When you stop, Flyball runs the tests itself and says whether it is done.")
    lines.append(how_to_conflict())
    return "\n".join(lines)


def where(state: RunState, card: CardState) -> str:
    """Return a card's phase, and how many calls it has left where the budget is enforced."""
    phase, budget = f"Phase {card.phase.name_for_people}", state.budget
    if budget.is_reported:
        return f"{phase}."
    left = max(budget.limit - state.spend.calls, 0)
    return f"{phase}; {left} of {budget.limit} calls left."


def refusal(card: CardState, call: str, code: str) -> str:
    """Return why a call is refused, and how to continue."""
    lines = [each.text for each in card.said if each.call in ("", call)]
    if code in ("out_of_phase", "checkpoint_owed") and card.phase.is_in(PLAN):
        lines.append(how_to_state())
    if card.phase is Phase.PAUSED and card.question is not None:
        lines.append(waiting_for(card))
    return "\n".join(dict.fromkeys(lines))


def waiting_for(card: CardState) -> str:
    """Explain what a person has to decide, and how."""
    text = card.question.text if card.question else ""
    if asks_about_conflict(card):
        return (
            f"A person must decide. {text}\nThey can answer in their next prompt, or with `flyball "
            "answer last …` in their own terminal. Until then stop and tell them."
        )
    return (
        f"A person must decide: {text} They can, with `flyball approve` or `flyball deny` in "
        f"their own terminal. Stop and tell them."
    )


def asked_about(call: Call) -> str:
    """Return the part of a call that a person is asked about."""
    return (call.command.asks or call.command.command) if call.command else call.name


def held_notice(card: CardState) -> str:
    """Tell the person which call was not made for want of their approval."""
    call = None if card.phase is Phase.PAUSED else card.held_call
    return HELD.format(call=asked_about(call)) if call else ""


def unchanged_notice(state: RunState, answer: str) -> str:
    """Tell the person that a request for a change changed nothing, unless the agent asks them."""
    if "?" in answer.strip()[-200:] or not answer.strip():
        return ""
    return UNCHANGED.format(run=state.run)


def asks_about_conflict(card: CardState) -> bool:
    """Return whether a person has to say which side of a conflict holds."""
    question = card.question
    return card.phase is Phase.PAUSED and question is not None and question.conflict is not None


def governor_text(lines: tuple[GovernorMessage, ...]) -> str:
    """Return the governor's message after an allowed call."""
    return "\n".join(each.text for each in lines)


def rejection(card: CardState) -> str:
    """Explain why a stop is not accepted."""
    lines = governor_text(card.said) or "This is not done yet."
    return f"{lines}\n{how_to_conflict()}" if WAY_OUT in lines else lines


def ending_notice(state: RunState, level: str) -> str:
    """Return a run's outcome, for the person."""
    card = state.cards[-1]
    lines = [f"Flyball: {status_of(state)} (run {state.run}, level {level})"]
    if card.verdict is not None:
        lines += verdict_lines(card.verdict)
    elif card.ending_reason:
        lines.append(card.ending_reason)
    return "\n".join(lines)


def taken_back(paths: tuple[str, ...], snapshot: str) -> str:
    """Return a message about changes that were made without an allowed call and reverted."""
    return (
        f"{_listed(paths)} changed without an allowed call, at a point where nothing may change. "
        f"It was reverted; `flyball undo {snapshot[:12]}` restores the change."
    )


def _listed(paths: tuple[str, ...]) -> str:
    return ", ".join(paths[:8]) + (f" and {len(paths) - 8} more" if len(paths) > 8 else "")


def is_notification(text: str) -> bool:
    """Return whether a prompt is the host's own notice about a subagent, and not a person's."""
    return text.lstrip().startswith("<task-notification>")


def plan_as_checkpoint(plan: str) -> Checkpoint:
    """Return a plan that a person approved in the host, as a checkpoint."""
    lines = [line.strip("# *\t") for line in plan.splitlines() if line.strip("# *\t-")]
    return Checkpoint(
        goal=(lines or [SHOWN])[0][:200],
        findings="as the plan says",
        proposed_action=plan.strip()[:4_000] or SHOWN,
        files=files_in_words(plan) or (SHOWN,),
        verify_with=("the project's tests",),
    )
