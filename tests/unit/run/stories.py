"""Tell a card's story in a few words; every event answers what is owed."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace
from tests.simulation.verdicts import SHOWN, judged
from tests.simulation.world import call, suite

from flyball.run.effect import AnyEffect, Publish
from flyball.run.event import (
    Answered,
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
from flyball.run.policy import Policy, Project
from flyball.run.state import CardState, RunState
from flyball.terms.call import Call, Outcome
from flyball.terms.change_verdict import ChangeVerdict
from flyball.terms.evidence import AnyEvidence, BaseRun, DiffReport, Weakened, WeakeningReport
from flyball.terms.intent import Intent
from flyball.terms.phase import Phase

CARD = "step-1"
ALONE = Policy(review=False, plan_big_requests=False)
"""No reviewer, no planner: one card and nobody else."""
TESTED = Project(runners=("pytest",), sandbox="kernel")


class Story:
    """A run that is told step by step."""

    def __init__(
        self,
        intent: Intent = Intent.SMALL_FIX,
        policy: Policy | None = None,
        project: Project = TESTED,
        **more: Any,
    ) -> None:
        self.state = RunState()
        self.effects: tuple[AnyEffect, ...] = ()
        self.events: list[AnyEvent] = []
        started = RunStarted(
            run="r", request="do it", policy=policy or ALONE, intent=intent, **more
        )
        self.happens(started)
        self.answers(WorkspaceReady(tree="t0", project=project))
        self.deliver()

    @property
    def card(self) -> CardState:
        return self.state.cards[0]

    @property
    def phase(self) -> Phase:
        return self.card.phase

    @property
    def said(self) -> str:
        return "\n".join(said.text for said in self.card.said)

    @property
    def owed(self) -> list[str]:
        return [type(owed.effect).__name__ for owed in self.state.owed]

    def happens(self, event: AnyEvent) -> Story:
        self.state, self.effects = advance(self.state, event)
        self.events.append(event)
        return self

    def answers(self, event: AnyEvent) -> Story:
        """The first owed effect leads to this event."""
        return self.happens(replace(event, effect=self.state.owed[0].n))

    def deliver(self) -> Story:
        """Let every message that is owed pass over the bus."""
        while self.state.owed and isinstance(effect := self.state.owed[0].effect, Publish):
            self.answers(Messaged(message=effect.message))
        return self

    def says(
        self, *calls: Call, text: str = "", finish: Finish | None = None, **more: Any
    ) -> Story:
        ended = finish or (Finish.TOOL_CALLS if calls else Finish.STOP)
        return self.answers(DriverReplied(card=CARD, calls=calls, text=text, finish=ended, **more))

    def stops(self, text: str = "done") -> Story:
        return self.says(text=text)

    def asks(self, *tools: str, path: str = "a.py") -> Story:
        return self.says(*(call(f"{tool}-{n}", tool, path) for n, tool in enumerate(tools)))

    def returns(
        self,
        tree: str = "",
        *evidence: AnyEvidence,
        ok: bool = True,
        changed: tuple[str, ...] = (),
        **more: Any,
    ) -> Story:
        id = self.card.in_flight[0].id
        now = tree or self.card.tree
        outcome = Outcome(ok=ok, text="text", digest=f"{id} {now}", error="" if ok else "it broke")
        return self.answers(
            CallReturned(
                card=CARD, call=id, outcome=outcome, tree=now, evidence=evidence,
                changed=changed or (("a.py",) if now != self.card.tree else ()), **more,
            )
        )  # fmt: skip

    def checkpoints(self, *files: str) -> Story:
        self.asks("checkpoint")
        return self.answers(stated(*files, call=self.card.in_flight[0].id))

    def edits(self, tree: str, path: str = "a.py") -> Story:
        return self.asks("edit_diff", path=path).returns(tree, changed=(path,))

    def tests(self, *, red: bool = False, ran: bool = True) -> Story:
        self.asks("test")
        return self.returns("", suite(f"e{self.state.seq}", self.card.tree, red=red, ran=ran))

    def inspects(self, verdict: ChangeVerdict = SHOWN, **more: Any) -> Story:
        """Flyball takes its verdict on the change."""
        tree, base = self.card.tree, self.card.base
        found = (judged(tree, base, verdict), DiffReport(id="d", tree=tree, base=base, **more))
        return self.answers(EvidenceTaken(card=CARD, evidence=found))

    def compares(self, *findings: Weakened, red: bool = True) -> Story:
        """What was looked at before verdicts were taken: texts, and one run on the base."""
        tree, base = self.card.tree, self.card.base
        report = WeakeningReport(id="w", tree=tree, base=base, findings=findings)
        diff = DiffReport(id="d", tree=tree, base=base)
        outcome = "red" if red else "green"
        run = BaseRun(id="b", tree=tree, report="e", base=base, outcome=outcome)
        return self.answers(EvidenceTaken(card=CARD, evidence=(run, report, diff)))

    def closes(self) -> Story:
        return self.answers(CardClosed(card=CARD, commit="abc")).deliver()

    def grants(self, note: str = "") -> Story:
        return self._person(granted=True, note=note)

    def refuses(self, note: str = "") -> Story:
        return self._person(granted=False, note=note)

    def _person(self, *, granted: bool, note: str) -> Story:
        question = self.card.question
        assert question is not None
        return self.happens(Answered(question=question.id, granted=granted, by="ann", note=note))


def stated(*files: str, call: str = "") -> CheckpointStated:
    return CheckpointStated(
        card=CARD,
        call=call,
        goal="mend it",
        findings="it is broken",
        proposed_action="edit a.py",
        files=files or ("a.py",),
        verify_with=("test",),
    )


def fixed() -> Story:
    """A fix up to the driver's last stop: edited, green, inspected."""
    return Story().checkpoints().edits("t1").tests().stops().inspects()
