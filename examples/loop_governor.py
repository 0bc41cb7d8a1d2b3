"""A governor for any loop: it is asked before a call is made, and told what came of it.

Examples 06 and 07 use it. All of it is `advance` and `decide`; nothing here touches a file.
"""

from __future__ import annotations

from msgspec.structs import replace

from flyball import Access, Allow, Call, Decision, Outcome, RunState, advance, decide
from flyball.run.event import (
    AnyEvent,
    CallReturned,
    CheckpointStated,
    DriverReplied,
    Finish,
    Messaged,
    RunStarted,
    WorkspaceReady,
)
from flyball.run.policy import Project
from flyball.terms.call import digest
from flyball.terms.intent import Intent

ACCESS = {"read": Access.READ, "edit_diff": Access.MUTATE, "checkpoint": Access.CHECKPOINT}


class LoopGovernor:
    """One governed request: what happened so far, and what may happen next."""

    def __init__(self, request: str, intent: Intent = Intent.SMALL_FIX) -> None:
        self.events: list[AnyEvent] = []
        self.state = RunState()
        self._calls = 0
        self._tell(RunStarted(run="r1", request=request, intent=intent))
        self._tell(WorkspaceReady(tree="t0", project=Project(runners=("pytest",))))
        self._tell(Messaged(message=self.state.owed[0].effect.message))

    @property
    def phase(self) -> str:
        """Where the card stands."""
        return self.state.cards[-1].phase.value

    def ask(self, tool: str, **args: object) -> tuple[Call, Decision]:
        """Whether a call may be made; a call that may not is known to the governor, too."""
        self._calls += 1
        access = ACCESS[tool]
        call = Call(f"c{self._calls}", tool, args, access, digest([tool, args]))
        decision = decide(self.state, call)
        card = self.state.cards[-1].id
        self._tell(DriverReplied(card=card, calls=(call,), finish=Finish.TOOL_CALLS))
        return call, decision

    def returned(self, call: Call, text: str, tree: str = "t0") -> None:
        """What an allowed call gave, and which tree it left."""
        outcome = Outcome(True, text, digest=digest(text))
        card = self.state.cards[-1].id
        self._tell(CallReturned(card=card, call=call.id, outcome=outcome, tree=tree))

    def promise(self, goal: str, findings: str, action: str, file: str, proof: str) -> None:
        """State a checkpoint: from then on files may be changed."""
        call, decision = self.ask("checkpoint", goal=goal)
        assert isinstance(decision, Allow)
        self._tell(
            CheckpointStated(
                card=self.state.cards[-1].id,
                call=call.id,
                goal=goal,
                findings=findings,
                proposed_action=action,
                files=(file,),
                verify_with=(proof,),
            )
        )

    def _tell(self, event: AnyEvent) -> None:
        if self.state.owed:
            event = replace(event, effect=self.state.owed[0].n)
        self.events.append(event)
        self.state = advance(self.state, event).state
