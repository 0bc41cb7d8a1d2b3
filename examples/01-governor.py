"""The governor as a library: tell it what happened, ask it what may happen next.

`advance` and `decide` are pure. Time, ids and tree hashes come in with the events; nothing here
touches a file, a model or a clock.
"""

from msgspec.structs import replace

from flyball import Access, Call, RunState, advance, decide, moves, replay
from flyball.run.event import (
    AnyEvent,
    CheckpointStated,
    DriverReplied,
    Finish,
    Messaged,
    RunStarted,
    WorkspaceReady,
)
from flyball.run.policy import Project
from flyball.terms.intent import Intent

EDIT = Call(id="e", tool="edit_diff", access=Access.MUTATE, digest="the edit")
READ = Call(id="r", tool="read", access=Access.READ, digest="the read")
PROMISE = Call(id="p", tool="checkpoint", access=Access.CHECKPOINT, digest="the promise")

journal: list[AnyEvent] = []
state = RunState()


def tell(event: AnyEvent) -> None:
    """Append one event. What answers an effect carries the effect's number."""
    global state
    if state.owed:
        event = replace(event, effect=state.owed[0].n)
    journal.append(event)
    state = advance(state, event).state


def show(when: str) -> None:
    print(f"{when}: {state.cards[-1].phase.value}")
    for call in (READ, EDIT):
        print(f"  {call.tool}: {decide(state, call)}")


tell(RunStarted(run="r1", request="the total is wrong", intent=Intent.SMALL_FIX))
tell(WorkspaceReady(tree="t0", project=Project(runners=("pytest",))))
tell(Messaged(message=state.owed[0].effect.message))  # the plan of a small fix is one card
show("The card is open")

card = state.cards[-1].id
tell(DriverReplied(card=card, calls=(PROMISE,), finish=Finish.TOOL_CALLS))
tell(
    CheckpointStated(
        card=card,
        call="p",
        goal="The total counts every piece.",
        findings="total() ignores the quantity.",
        proposed_action="Multiply by it.",
        files=("cart.py",),
        verify_with=("pytest",),
    )
)
show("After the checkpoint")

print("The shell owes:", type(state.owed[0].effect).__name__)
print("Legal now:", ", ".join(move.event for move in moves(state) if move.card))
print("The journal folds into the same state:", replay(journal) == state)
