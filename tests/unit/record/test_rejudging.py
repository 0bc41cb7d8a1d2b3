"""A recorded run under another policy."""

from __future__ import annotations

from msgspec.structs import replace

from flyball.record.rejudging import Rejudgement, rejudge
from flyball.run.event import (
    AnyEvent,
    CallReturned,
    CheckpointStated,
    DriverReplied,
    Messaged,
    RunStarted,
    WorkspaceReady,
)
from flyball.run.machine import advance
from flyball.run.policy import Policy, Project
from flyball.run.state import RunState
from flyball.terms.call import Access, Call, CommandFact, Outcome, PathFact
from flyball.terms.intent import Intent

READ = Call("r", "read", digest="r", paths=(PathFact("a.py"),))
ASK = Call(
    "b",
    "bash",
    access=Access.MUTATE,
    digest="b",
    command=CommandFact("make clean", "mutating", "ask", "it deletes."),
)
EDIT = Call(
    "e", "edit_diff", access=Access.MUTATE, digest="e", paths=(PathFact("a.py", write=True),)
)


class Story:
    """Events that follow one another, as an engine would have appended them."""

    def __init__(self, policy: Policy) -> None:
        self.events: list[AnyEvent] = []
        self.state = RunState()
        self.add(RunStarted(run="r1", request="x", policy=policy, intent=Intent.SMALL_FIX))
        project = Project(runners=("pytest",), sandbox="kernel")
        self.add(WorkspaceReady(tree="t0", project=project, effect=self.state.owed[0].n))
        self.publish()

    def add(self, event: AnyEvent) -> None:
        self.events.append(event)
        self.state = advance(self.state, event).state

    def publish(self) -> None:
        owed = self.state.owed[0]
        self.add(Messaged(message=owed.effect.message, effect=owed.n))  # type: ignore[union-attr]

    @property
    def card(self) -> str:
        return self.state.cards[-1].id

    def reply(self, *calls: Call) -> None:
        owed = self.state.owed[0]
        self.add(DriverReplied(card=self.card, calls=calls, effect=owed.n))

    def returned(self, call: str) -> None:
        owed = self.state.owed[0]
        outcome = Outcome(ok=True, digest=call)
        tree = self.state.cards[-1].tree
        self.add(CallReturned(card=self.card, call=call, outcome=outcome, tree=tree, effect=owed.n))

    def checkpoint(self) -> None:
        self.reply(Call("c", "checkpoint", access=Access.CHECKPOINT, digest="c"))
        owed = self.state.owed[0]
        point = CheckpointStated(
            card=self.card,
            call="c",
            goal="g",
            findings="f",
            proposed_action="p",
            files=("a.py",),
            verify_with=("pytest",),
            effect=owed.n,
        )
        self.add(point)


def answers(found: Rejudgement) -> dict[str, str]:
    return {each.was.call: each.now.answer for each in found.calls}


def test_the_same_policy_changes_nothing():
    story = Story(Policy())
    story.reply(READ, EDIT)
    story.returned("r")
    story.checkpoint()
    story.reply(EDIT)
    found = rejudge(story.events, Policy())
    assert [each.was for each in found.calls] == [each.now for each in found.calls]
    assert (found.differences, found.questions) == ((), ())


def test_what_was_blocked_may_be_allowed_and_the_other_way():
    story = Story(Policy(bash=True))
    story.checkpoint()
    story.reply(replace(ASK, command=replace(ASK.command, decision="allow")))
    assert answers(rejudge(story.events, Policy(bash=False)))["b"] == "deny"
    story = Story(Policy(bash=False))
    story.checkpoint()
    story.reply(replace(ASK, command=replace(ASK.command, decision="allow")))
    assert answers(rejudge(story.events, Policy(bash=True)))["b"] == "allow"


def test_a_call_behind_one_that_would_be_asked_about_is_judged_where_it_stood():
    story = Story(Policy(bash=True, assume_yes=True))
    story.checkpoint()
    story.reply(ASK, EDIT)
    story.returned("b")
    assert answers(rejudge(story.events, Policy(bash=True)))["b"] == "ask"
    assert answers(rejudge(story.events, Policy(bash=True)))["e"] == "allow"
    assert answers(rejudge(story.events, Policy(bash=True, preview=True)))["e"] == "ask"


def test_calls_after_a_checkpoint_that_would_wait_are_judged_as_if_it_were_accepted():
    story = Story(Policy())
    story.reply(Call("c", "checkpoint", access=Access.CHECKPOINT, digest="c"), EDIT)
    owed = story.state.owed[0]
    story.add(
        CheckpointStated(
            card=story.card,
            call="c",
            goal="g",
            findings="f",
            proposed_action="p",
            files=("a.py",),
            verify_with=("pytest",),
            effect=owed.n,
        )
    )
    found = rejudge(story.events, Policy(approve_checkpoint=True))
    assert answers(found) == {"c": "allow", "e": "allow"}
    assert [question.kind for question in found.questions] == ["checkpoint"]
    spent = rejudge(story.events, Policy(approve_checkpoint=True, reserve=20))
    assert answers(spent)["e"] == "deny"


def test_a_smaller_ceiling_is_the_budget():
    story = Story(Policy())
    story.reply(READ)
    story.returned("r")
    story.reply(replace(READ, id="r2"))
    found = rejudge(story.events, Policy(max_tool_rounds=1))
    assert answers(found) == {"r": "allow", "r2": "deny"}
    assert found.differences[0].now.code == "budget_spent"
