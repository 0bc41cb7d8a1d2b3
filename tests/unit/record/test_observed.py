"""What would have been in a run that was only observed."""

from __future__ import annotations

from msgspec.structs import replace
from tests.unit.record.test_rejudging import EDIT, READ, Story

from flyball.record.observed import hypothetical_blocks
from flyball.run.event import (
    CallReturned,
    CheckpointStated,
    DriverReplied,
    Extended,
    Finish,
)
from flyball.run.policy import Policy
from flyball.terms.call import Access, Call, CommandFact, Outcome

CHECK = Call(
    "t",
    "bash",
    access=Access.MUTATE,
    digest="t",
    args={"command": "pytest"},
    command=CommandFact("pytest", "verifying", "allow", ""),
)
POLICY = Policy(bash=True, hosted=True, bash_without_sandbox=True)


class Observed(Story):
    """A story whose agent does what it likes."""

    def comes(self, call: str, tree: str, *changed: str, ok: bool = True, **data: object) -> None:
        owed = self.state.owed[0]
        result = Outcome(ok=ok, digest=f"{call} {tree}", data=data)
        self.add(
            CallReturned(
                card=self.card,
                call=call,
                outcome=result,
                tree=tree,
                changed=changed,
                effect=owed.n,
            )
        )

    def assumes(self) -> None:
        point = CheckpointStated(
            card=self.card,
            goal="g",
            findings="f",
            proposed_action="p",
            files=("a.py",),
            verify_with=("pytest",),
            effect=self.state.owed[0].n,
        )
        self.add(point)

    def stops(self) -> None:
        owed = self.state.owed[0]
        self.add(DriverReplied(card=self.card, text="Done.", finish=Finish.STOP, effect=owed.n))

    @property
    def found(self) -> list[tuple[str, str, str]]:
        told = hypothetical_blocks(self.events, lambda command: command == "pytest")
        return [(each.rule, each.what, each.tree) for each in told]


def test_a_call_that_would_have_been_refused_and_a_stop_that_nothing_proves():
    story = Observed(POLICY)
    story.reply(EDIT)
    story.assumes()
    story.reply(EDIT)
    story.comes("e", "t1", "a.py")
    story.stops()
    assert story.found == [
        ("would-block", "edit_diff", "t0"),
        ("would-hold", "Done.", "t1"),
    ]


def test_a_check_that_passed_on_the_very_tree_lets_the_stop_go():
    story = Observed(POLICY)
    story.assumes()
    story.reply(EDIT)
    story.comes("e", "t1", "a.py")
    story.reply(CHECK)
    story.comes("t", "t1")
    story.stops()
    assert story.found == []


def test_a_check_that_failed_or_was_of_another_tree_does_not():
    story = Observed(POLICY)
    story.assumes()
    story.reply(CHECK)
    story.comes("t", "t0")
    story.reply(EDIT)
    story.comes("e", "t1", "a.py")
    story.reply(CHECK)
    story.comes("t", "t1", ok=False)
    story.stops()
    assert story.found == [("would-hold", "Done.", "t1")]


def test_a_change_while_only_looking_and_one_of_what_nobody_may_change():
    story = Observed(POLICY)
    story.reply(READ)
    story.comes("r", "t1", "b.py")
    story.assumes()
    story.reply(CHECK)
    hooks = ".claude/settings.json"
    story.comes("t", "t2", "a.py", hooks, would_undo=[hooks])
    assert story.found == [
        ("would-take-back", "read", "t1"),
        ("would-take-back", "bash: pytest", "t2"),
    ]


def test_where_a_guard_or_the_budget_would_have_ended_it():
    story = Observed(POLICY)
    story.add(Extended(by="nobody", calls=5, why="nobody was there"))
    for _ in range(12):
        if story.state.cards[-1].question:
            break
        story.reply(READ)
        story.comes("r", "t0")
    rules = [(rule, what) for rule, what, _ in story.found]
    assert rules[0] == ("would-block", "all further calls")
    assert len(rules) == 2


def test_an_agent_that_was_refused_nothing_does_not_insist():
    story = Observed(POLICY)
    for n in range(12):
        if story.state.cards[-1].question:
            break
        story.reply(replace(EDIT, id=f"e{n}", digest=f"e{n}"))
    question = story.state.cards[-1].question
    assert question is not None
    assert question.guard == "refused"
    assert {what for _, what, _ in story.found} == {"edit_diff"}
