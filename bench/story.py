"""A realistic card from request to commit, event by event."""

from __future__ import annotations

from msgspec.structs import replace
from tests.simulation.world import call, suite

from flyball.run.event import (
    AnyEvent,
    CallReturned,
    CardClosed,
    CheckpointStated,
    DriverReplied,
    EvidenceTaken,
    Finish,
    Messaged,
    RunStarted,
    WorkspaceReady,
)
from flyball.run.machine import advance
from flyball.run.policy import Project
from flyball.run.state import RunState
from flyball.terms.call import Outcome
from flyball.terms.evidence import BaseRun, DiffReport, WeakeningReport
from flyball.terms.intent import Intent

CARD = "step-1"


def opened() -> RunState:
    """A run whose card has just been opened."""
    state = RunState()
    started = RunStarted(run="bench", request="fix it", intent=Intent.SMALL_FIX, at=1.0)
    state = advance(state, started).state
    ready = WorkspaceReady(tree="t0", project=Project(runners=("pytest",)))
    state = answer(state, ready)
    return answer(state, Messaged(message=state.owed[0].effect.message))  # type: ignore[union-attr]


def answer(state: RunState, event: AnyEvent) -> RunState:
    return advance(state, replace(event, effect=state.owed[0].n, at=state.at + 1)).state


def events() -> tuple[AnyEvent, ...]:
    """Nineteen events: reading, a blocked write, a checkpoint, edits, red, green, review, end."""

    def said(*calls: object, text: str = "") -> DriverReplied:
        finish = Finish.TOOL_CALLS if calls else Finish.STOP
        return DriverReplied(card=CARD, calls=calls, text=text, finish=finish)  # type: ignore[arg-type]

    def back(id: str, tree: str, *evidence: object) -> CallReturned:
        done = Outcome(ok=True, text="ok", digest=id)
        return CallReturned(card=CARD, call=id, outcome=done, tree=tree, evidence=evidence)  # type: ignore[arg-type]

    return (
        said(call("1", "read")),
        back("1", "t0"),
        said(call("2", "grep"), call("3", "edit_diff")),
        back("2", "t0"),
        said(call("4", "checkpoint")),
        CheckpointStated(
            card=CARD, call="4", goal="g", findings="f", proposed_action="p",
            files=("a.py",), verify_with=("test",),
        ),
        said(call("5", "edit_diff")),
        back("5", "t1"),
        said(text="done"),
        said(call("6", "test")),
        back("6", "t1", suite("e1", "t1", red=True)),
        said(call("7", "edit_diff")),
        back("7", "t2"),
        said(call("8", "test")),
        back("8", "t2", suite("e2", "t2", red=False)),
        said(text="done now"),
        EvidenceTaken(
            card=CARD,
            evidence=(
                BaseRun(id="b", tree="t2", report="e2", base="t0", outcome="red"),
                WeakeningReport(id="w", tree="t2", base="t0"),
                DiffReport(id="d", tree="t2", base="t0"),
            ),
        ),
        said(text="The risk is low."),
        said(text="It adds now."),
        CardClosed(card=CARD, commit="abc"),
    )  # fmt: skip
