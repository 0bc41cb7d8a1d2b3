"""What the judge would say of calls that are yet to come; the machine itself is asked."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from flyball.app.hosts.words import refusal
from flyball.core.host.tool import HOST_TOOLS
from flyball.core.machine.machine import advance
from flyball.core.run.effect import Perform, Think
from flyball.core.run.event import CallReturned, DriverReplied, Finish
from flyball.core.run.state import RunState
from flyball.core.terms.call import Access, Call, CommandFact, Outcome
from flyball.core.terms.phase import PLAN, Phase
from flyball.shellcheck import CommandKind

MOST_READS = 10
"""The next guard speaks up after twelve, and what waits in a file is not yet in the journal."""
MOST_REFUSALS = 2
"""A third one in a row is for a guard to see."""


class Refusals(NamedTuple):
    """The words with which writes are refused, none where that is not sure; and the state then."""

    words: str
    state: RunState


def reads_ahead(state: RunState, most: int = MOST_READS) -> int:
    """How many different reads are sure to pass without a word; the machine itself is asked."""
    return _ahead(state, (), most)


def looks_ahead(state: RunState, most: int = MOST_READS) -> int:
    """How many calls are sure to pass if they are reads and commands that only look, in any order.

    Three orders are tried: a guard that heeds the kind of a call sees it alone and mixed.
    """
    orders = ({*range(most)}, {*range(0, most, 2)}, {*range(1, most, 2)})
    return min(reads_ahead(state, most), *(_ahead(state, each, most) for each in orders))


def _ahead(state: RunState, looks: Collection[int], most: int) -> int:
    """How many calls pass without a word, if these among them are commands that only look."""
    return sum(1 for _ in _states_ahead(state, looks, most))


def _states_ahead(state: RunState, looks: Collection[int], most: int) -> Iterator[RunState]:
    """The state after each of these calls, as long as they pass without a word."""
    for n in range(most):
        card = state.cards[-1]
        call = Call(f"ahead-{n}", "read", digest=f"ahead-{n}", access=Access.READ)
        if n in looks:
            fact = CommandFact(f"ahead {n}", CommandKind.READ_ONLY.value)
            call = replace(call, tool="bash", command=fact, confirmed=True)
        state, owed = begun(state, call)
        if not owed:
            return
        came = Outcome(ok=True, digest=call.digest)
        back = CallReturned(card=card.id, call=call.id, outcome=came, tree=card.tree, effect=owed)
        state = advance(state, back).state
        if state.cards[-1].said:
            return
        yield state


def begun(state: RunState, call: Call) -> tuple[RunState, int]:
    """The state once a call was asked for, and what is owed for it; 0 if it is not let pass."""
    card = state.cards[-1]
    if not card.is_live or card.phase is Phase.PAUSED or card.is_summing_up:
        return state, 0
    thought = max((o.n for o in state.owed if isinstance(o.effect, Think)), default=0)
    asked = DriverReplied(card=card.id, calls=(call,), finish=Finish.TOOL_CALLS, effect=thought)
    state = advance(state, asked).state
    performs = ((o.n, o.effect) for o in state.owed if isinstance(o.effect, Perform))
    owed = [n for n, effect in performs if effect.call.id == call.id]
    return state, owed[0] if owed and not state.cards[-1].said else 0


def repeats_ahead(state: RunState, call: Call, most: int = MOST_READS) -> int:
    """How often a call that is under way is sure to be let begin once more, without a word."""
    for n in range(most):
        state, owed = begun(state, replace(call, id=f"ahead-{n}"))
        if not owed:
            return n
    return most


def changes_ahead(state: RunState, changes: Sequence[Call], most: int = MOST_READS) -> int:
    """After how many reads and looks each of these calls is sure to be let begin without a word.

    -1 where there are none, or not even now.
    """
    if not changes or not all(begun(state, each)[1] for each in changes):
        return -1
    return min(_changes_after(state, looks, changes, most) for looks in ((), range(most)))


def _changes_after(
    state: RunState, looks: Collection[int], changes: Sequence[Call], most: int
) -> int:
    found = 0
    for later in _states_ahead(state, looks, most):
        if not all(begun(later, each)[1] for each in changes):
            break
        found += 1
    return found


def refusals_ahead(state: RunState, tool: str, most: int = MOST_REFUSALS) -> Refusals:
    """With which words that many different writes are sure to be refused, and what comes of it."""
    words = ""
    for n in range(most):
        card = state.cards[-1]
        if not card.phase.is_in(PLAN) or card.is_summing_up:
            return Refusals("", state)
        id = f"refused-{n}"
        row = HOST_TOOLS[tool]
        call = Call(id, row.tool, digest=id, access=row.access, confirmed=True, called=tool)
        thought = max((o.n for o in state.owed if isinstance(o.effect, Think)), default=0)
        asked = DriverReplied(card=card.id, calls=(call,), finish=Finish.TOOL_CALLS, effect=thought)
        state = advance(state, asked).state
        card = state.cards[-1]
        judged = [each for each in card.judged if each.call == id]
        is_denied = not any(each.id == id for each in card.in_flight)
        said = refusal(card, id, judged[-1].code if judged else "")
        if not (judged and is_denied) or card.phase is Phase.PAUSED or said != (words or said):
            return Refusals("", state)
        words = said
    return Refusals(words, state)
