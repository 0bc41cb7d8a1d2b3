"""Map a person's answer to the event it becomes, and list what a person can do next."""

from __future__ import annotations

from typing import NamedTuple

from flyball.errors import Conflict, UsageError
from flyball.run.event import Answered, AnyEvent, Extended
from flyball.run.state import Asking, CardState, Question, RunState
from flyball.terms.conflict import Choice, choices, read_choice
from flyball.terms.intent import LIMITS
from flyball.terms.shape import counted

RESTING = frozenset(
    {Asking.PERSON, Asking.DRIVER, Asking.CONTENT_FILTER, Asking.LIMIT, Asking.GUARD}
)
"""Questions other than permissions: any message resumes the run."""

ENDS_ON_NO = frozenset({Asking.PROMOTION, Asking.EXTENSION})
"""Questions that a message cannot answer: a no ends the run."""

YES = frozenset({"yes", "y", "ok", "okay", "go", "go on", "approve", "approved"})
NO = frozenset({"no", "n", "stop", "deny", "denied"})


TITLE = 48


class Pending(NamedTuple):
    """A question and the card that waits for its answer."""

    card: CardState
    question: Question


def pending(state: RunState) -> tuple[Pending, ...]:
    """Return the run's open questions, oldest first."""
    waiting = (card for card in state.cards if card.is_live)
    found = [Pending(card, card.question) for card in waiting if card.question]
    return tuple(sorted(found, key=lambda each: int(each.question.id.removeprefix("q"))))


def asked(state: RunState) -> Question:
    """Return the question to answer next."""
    if waiting := pending(state):
        return waiting[0].question
    if state.has_ended:
        raise Conflict(f"Run {state.run} has ended; it asks nothing.", _show(state))
    raise Conflict(f"Run {state.run} asks nothing now.", _show(state))


def _show(state: RunState) -> str:
    return f"Look at it with `flyball runs show {state.run}`."


def yes(state: RunState, by: str, note: str = "") -> AnyEvent:
    """Approve the run's question; approving an extension grants the intent's own budget again."""
    question = asked(state)
    if question.conflict is not None:
        raise Conflict(f"A yes does not say what to follow. {question.text}", _how(state, question))
    if question.kind is Asking.EXTENSION:
        why = note or "the offer to extend was accepted"
        return Extended(by=by, calls=offered_calls(state), why=why)
    return Answered(question=question.id, granted=True, by=by, note=note)


def no(state: RunState, by: str, why: str = "") -> AnyEvent:
    """Reject the run's question."""
    return Answered(question=asked(state).id, granted=False, by=by, note=why)


def words(state: RunState, by: str, text: str) -> AnyEvent:
    """Answer with a message: it resumes a resting run and never counts as a permission."""
    if not text.strip():
        raise UsageError("The answer is empty.", "Say something, or use approve or deny.")
    if (conflict := asked(state).conflict) is not None:
        choice = read_choice(conflict, text)
        return decide(state, by, choice or Choice.TASK, "" if choice else text)
    plain = text.strip().lower().rstrip(".!")
    if plain in YES:
        return yes(state, by)
    if plain in NO:
        return no(state, by)
    question = asked(state)
    if question.kind in ENDS_ON_NO:
        raise Conflict(
            f"Run {state.run} asks for a yes or a no: {question.text}",
            f"Use `flyball approve {state.run}` or `flyball deny {state.run}`.",
        )
    goes_on = question.kind in RESTING or question.kind is Asking.FAILURE
    return Answered(question=question.id, granted=goes_on, by=by, note=text)


def more(state: RunState, by: str, calls: int, why: str) -> AnyEvent:
    """Add calls to a budget, whether the run asked for it or not."""
    if state.has_ended:
        raise Conflict(f"Run {state.run} has ended; it needs no budget.", _show(state))
    return Extended(by=by, calls=calls, why=why)


def offered_calls(state: RunState) -> int:
    """Return how many calls a plain yes to an extension adds."""
    usual = LIMITS[state.intent] if state.intent else 0
    return usual or max(state.budget.calls, 1)


def needs_only_resume(state: RunState) -> bool:
    """Return whether a resting run only needs to be resumed."""
    return any(each.question.kind in RESTING for each in pending(state))


def decide(state: RunState, by: str, choice: Choice, note: str = "") -> AnyEvent:
    """Answer a conflict: which side to follow, or in `note` what to do instead."""
    question = asked(state)
    if question.conflict is None:
        raise Conflict(f"Run {state.run} asks about no conflict: {question.text}", _show(state))
    if choice is Choice.TASK and not note.strip():
        raise UsageError("The new task is empty.", "Say what to do instead.")
    if choice is not Choice.TASK and question.conflict.side(choice).is_observed:
        raise UsageError("The output of a run cannot be followed.", _how(state, question))
    return Answered(question=question.id, granted=True, by=by, note=note, choice=choice)


def _how(state: RunState, question: Question) -> str:
    """Return what to type to answer a conflict."""
    return "; ".join(f"`{each.command}`" for each in _replies(state, question, is_hosted=False))


def sides(question: Question) -> list[str]:
    """Return the answers to a conflict that name a side, in words that `words` reads."""
    if question.conflict is None:
        return []
    return [label for choice, label in choices(question.conflict) if choice is not Choice.TASK]


class NextStep(NamedTuple):
    """A command a person can type now, and its effect."""

    command: str
    effect: str


def next_steps(
    state: RunState,
    status: str,
    *,
    in_place: bool = False,
    is_hosted: bool = False,
    is_merged: bool = False,
    reverted: frozenset[str] = frozenset(),
) -> tuple[NextStep, ...]:
    """Return the next steps for a run; a hosted run continues only in its host.

    `reverted` holds the cards that a person reverted.
    """
    run = state.run
    if waiting := pending(state):
        return _replies(state, waiting[0].question, is_hosted=is_hosted)
    if not state.has_ended:
        if is_hosted:
            return (NextStep(f"flyball runs cancel {run}", "end it, or go on in the agent"),)
        return (NextStep(f"flyball runs resume {run}", "go on with it"),)
    cards = [card for card in state.cards if card.commit and not card.is_taken_back]
    kept = [card for card in cards if card.id not in reverted]
    steps: list[NextStep] = []
    if kept and not in_place and not is_merged:
        despite = "" if status == "success" else ", although it is unproven"
        steps.append(NextStep(f"flyball runs merge {run}", f"merge it into your branch{despite}"))
    steps += [
        NextStep(f"flyball card revert {run} {card.id}", f"revert: {_short(card.title)}")
        if card in kept
        else NextStep(f"flyball card apply {run} {card.id}", f"put in again: {_short(card.title)}")
        for card in cards
    ]
    if cards and not in_place and (is_merged or status != "success"):
        away = "delete its worktree, branch and records" if is_merged else "throw it away"
        steps.append(NextStep(f"flyball runs prune {run} --abandon", away))
    return tuple(steps)


def _short(title: str) -> str:
    line = " ".join(title.split())
    return line if len(line) <= TITLE else f"{line[: TITLE - 1]}…"


def _replies(state: RunState, question: Question, *, is_hosted: bool) -> tuple[NextStep, ...]:
    run = state.run
    cancel = NextStep(f"flyball runs cancel {run}", "end it here")
    match question.kind:
        case Asking.PERSON | Asking.DRIVER | Asking.CONTENT_FILTER | Asking.LIMIT | Asking.GUARD:
            resume = NextStep(f"flyball runs resume {run}", "go on with it")
            allow = NextStep(f"flyball approve {run}", "let the agent go on")
            return (
                allow if is_hosted else resume,
                NextStep(f'flyball answer {run} "…"', "continue, with a message to the driver"),
                cancel,
            )
        case Asking.EXTENSION:
            calls = offered_calls(state)
            return (
                NextStep(f"flyball approve {run}", f"add {counted(calls, 'call')}"),
                NextStep(f'flyball extend {run} N --why "…"', "add the number of calls you give"),
                NextStep(f"flyball deny {run}", "end it with the current result"),
            )
        case Asking.FAILURE:
            return (
                NextStep(f"flyball approve {run}", "let it try again"),
                NextStep(f'flyball answer {run} "…"', "try again, with a message to the driver"),
                NextStep(f"flyball deny {run}", "let it fail"),
            )
        case Asking.CONFLICT:
            return (
                *(NextStep(f"flyball answer {run} {each}", each) for each in sides(question)),
                NextStep(f'flyball answer {run} "…"', "change the task in your own words"),
                cancel,
            )
        case Asking.REVIEW:
            return (
                NextStep(f"flyball approve {run}", "accept it"),
                NextStep(
                    f'flyball deny {run} --why "…"', "send it back, with a message to the driver"
                ),
                cancel,
            )
        case Asking.PROMOTION:
            return (
                NextStep(f"flyball approve {run}", "let it make the change"),
                NextStep(f"flyball deny {run}", "keep it to looking"),
            )
        case _:
            return (
                NextStep(f"flyball approve {run}", "say yes"),
                NextStep(f'flyball deny {run} --why "…"', "say no, and why"),
                cancel,
            )
