"""Walk a run through its cards in a few words: whatever is owed first is answered."""

from __future__ import annotations

import json
from typing import Any

from msgspec.structs import replace
from tests.simulation.verdicts import SHOWN, judged
from tests.simulation.world import call, suite

from flyball.plan.flow import Flow
from flyball.plan.template import Role, Template
from flyball.run.effect import CardEffect, Inspect, Publish
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
    ThreadReset,
    WorkspaceReady,
)
from flyball.run.machine import advance
from flyball.run.policy import Policy, Project
from flyball.run.state import CardState, RunState
from flyball.terms.call import Call, Outcome
from flyball.terms.change_verdict import ChangeVerdict
from flyball.terms.evidence import AnyEvidence, DiffReport, WeakeningReport
from flyball.terms.intent import Intent
from flyball.terms.phase import Phase

LOOK = (Phase.ANALYZE_CODE, Phase.FINAL)


def step(step_id: str = "S1", **more: Any) -> Template:
    """A template that changes something."""
    return Template(
        step_id=step_id, title=f"Do {step_id}", objective="o", prompt_template="p", **more
    )


def look(step_id: str = "S1", **more: Any) -> Template:
    """A template that only looks."""
    return step(step_id, **{"role": Role.RESEARCHER, "phases": LOOK, **more})


def form(**fields: object) -> str:
    """An answer that ends with the evidence form."""
    return f"So it is.\n\n```json\n{json.dumps(fields)}\n```"


class Walk:
    """A run that is told from card to card."""

    def __init__(
        self,
        *steps: Template,
        policy: Policy | None = None,
        project: Project | None = None,
        **more: Any,
    ) -> None:
        self.state = RunState()
        flow = Flow("flow", steps[0].step_id, steps) if steps else None
        more.setdefault("intent", Intent.FEATURE_BUILD if steps else Intent.SMALL_FIX)
        policy = policy or Policy(review=False, plan_big_requests=False)
        self.happens(RunStarted(run="r", request="do it", policy=policy, flow=flow, **more))
        has_tests = Project(runners=("pytest",), sandbox="kernel")
        self.answers(WorkspaceReady(tree="t0", project=project or has_tests))
        self.deliver()

    @property
    def card(self) -> CardState:
        """The card that is under way, or was the last."""
        return next((c for c in reversed(self.state.cards) if c.is_live), self.state.cards[-1])

    @property
    def phase(self) -> Phase:
        return self.card.phase

    @property
    def said(self) -> str:
        return "\n".join(said.text for said in self.card.said)

    @property
    def inspect(self) -> Inspect:
        effect = self.state.owed[0].effect
        assert isinstance(effect, Inspect)
        return effect

    @property
    def owed(self) -> list[str]:
        return [type(owed.effect).__name__ for owed in self.state.owed]

    def happens(self, event: AnyEvent) -> Walk:
        self.state = advance(self.state, event).state
        return self

    def answers(self, event: AnyEvent) -> Walk:
        return self.happens(replace(event, effect=self.state.due[0].n))

    def deliver(self) -> Walk:
        while self.state.owed and isinstance(effect := self.state.owed[0].effect, Publish):
            self.answers(Messaged(message=effect.message))
        return self

    def _asked(self) -> str:
        effect = self.state.due[0].effect
        assert isinstance(effect, CardEffect)
        return effect.card

    def stops(self, text: str = "done") -> Walk:
        self.answers(DriverReplied(card=self._asked(), text=text))
        return self

    def asks(self, *calls: Call) -> Walk:
        reply = DriverReplied(card=self._asked(), calls=calls, finish=Finish.TOOL_CALLS)
        return self.answers(reply)

    def checkpoints(self, *files: str) -> Walk:
        self.asks(call("k", "checkpoint"))
        event = CheckpointStated(
            card=self.card.id, call="k", goal="g", findings="f", proposed_action="p",
            files=files or ("a.py",), verify_with=("test",),
        )  # fmt: skip
        return self.answers(event)

    def returns(self, tree: str = "", *evidence: AnyEvidence, ok: bool = True) -> Walk:
        asked, now = self.card.in_flight[0], tree or self.card.tree
        outcome = Outcome(ok=ok, text="text", digest=f"{asked.id} {now}", error="" if ok else "no")
        changed = asked.writes if now != self.card.tree else ()
        event = CallReturned(
            card=self.card.id, call=asked.id, outcome=outcome, tree=now, evidence=evidence,
            changed=changed,
        )  # fmt: skip
        return self.answers(event)

    def edits(self, tree: str) -> Walk:
        return self.asks(call("e", "edit_diff")).returns(tree)

    def tests(self, *, red: bool = False) -> Walk:
        self.asks(call("t", "test"))
        return self.returns("", suite(f"e{self.state.seq}", self.card.tree, red=red))

    def sees(
        self,
        *evidence: AnyEvidence,
        verdict: ChangeVerdict = SHOWN,
        undone: tuple[str, ...] = (),
        **more: Any,
    ) -> Walk:
        """What an inspection finds: the verdict on a change if there is one, and this evidence."""
        effect = self.inspect
        tree, base = effect.tree, effect.base
        looked: AnyEvidence = WeakeningReport(id="w", tree=tree, base=base)
        if tree != base:
            looked = judged(tree, base, verdict)
        found = (*evidence, looked, DiffReport(id="d", tree=tree, base=base, **more))
        return self.answers(EvidenceTaken(card=effect.card, evidence=found, undone=undone))

    def green(self, id: str = "s") -> AnyEvidence:
        return suite(id, self.card.tree, red=False)

    def red(self, id: str = "s") -> AnyEvidence:
        return suite(id, self.card.tree, red=True)

    def resets(self) -> Walk:
        return self.answers(ThreadReset(card=self.card.id, reason="r", text="t"))

    def closes(self) -> Walk:
        self.answers(CardClosed(card=self._asked(), commit="abc"))
        return self.deliver()

    def grants(self, note: str = "") -> Walk:
        return self._person(granted=True, note=note)

    def refuses(self, note: str = "") -> Walk:
        return self._person(granted=False, note=note)

    def _person(self, *, granted: bool, note: str) -> Walk:
        question = self.card.question
        assert question is not None
        return self.happens(Answered(question=question.id, granted=granted, by="ann", note=note))

    def fixes(self, tree: str = "t1") -> Walk:
        """A change that is proven, up to the driver's stop."""
        return self.checkpoints().edits(tree).tests().stops()
