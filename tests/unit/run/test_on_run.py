"""Planned runs as the pure core sees them: cards come and go, messages pass, work is taken back."""

import json

import pytest
from msgspec.structs import replace
from tests.simulation.verdicts import NEVER_RED, REGRESSED, SHOWN, TOO_WEAK, judged
from tests.unit.run.stories import TESTED, suite

from flyball.errors import IllegalEvent
from flyball.plan.message import ExecutionPlan, PlanRequest, UserResponse
from flyball.run.effect import CloseCard, Inspect, Publish, RollBack, Think
from flyball.run.event import (
    Answered,
    CallReturned,
    Cancelled,
    CardClosed,
    CheckpointStated,
    DriverReplied,
    EvidenceTaken,
    Finish,
    Messaged,
    Resumed,
    RolledBack,
    RunStarted,
    WorkspaceReady,
)
from flyball.run.machine import advance, moves
from flyball.run.policy import Policy, Project
from flyball.run.state import Ending, RunState
from flyball.terms.call import Access, Call, Outcome
from flyball.terms.evidence import DiffReport, WeakeningReport
from flyball.terms.intent import Intent
from flyball.terms.phase import Phase


class Course:
    """A planned run, told effect by effect."""

    def __init__(self, project=TESTED, **policy):
        self.state = RunState()
        self.messages = []
        held = Policy(review=False, max_rejections=1, **policy)
        start = RunStarted(run="r", request="x", policy=held, intent=Intent.FEATURE_BUILD, at=1.0)
        self.happens(start)
        self.happens(WorkspaceReady(tree="t0", project=project, effect=1))

    def happens(self, event):
        self.state, _ = advance(self.state, event)
        while self.state.due and isinstance(effect := self.state.due[0].effect, Publish):
            self.messages.append(effect.message)
            event = Messaged(message=effect.message, effect=self.state.due[0].n)
            self.state, _ = advance(self.state, event)
        return self

    def owed(self, kind, card=""):
        for owed in self.state.due:
            if isinstance(owed.effect, kind) and card in ("", getattr(owed.effect, "card", "")):
                return owed
        raise AssertionError(f"no {kind.__name__} is due for {card!r}: {self.state.due}")

    def says(self, card, text="", *calls):
        finish = Finish.TOOL_CALLS if calls else Finish.STOP
        n = self.owed(Think, card).n
        return self.happens(
            DriverReplied(card=card, text=text, calls=calls, finish=finish, effect=n)
        )

    def plans(self, iteration, *steps, work="keep"):
        listed = [{"id": id, "title": id, "success_criteria": ["green"]} for id in steps]
        plan = {"goal": "g", "steps": listed, "work": work}
        return self.says(f"plan.{iteration}", json.dumps(plan))

    def works(self, card, tree, verdict=SHOWN):
        """One step up to its verdict: checkpoint, edit, green tests, stop.

        Without a verdict it is a step of a log from before there were any.
        """
        self.says(card, "", Call("k", "checkpoint", access=Access.CHECKPOINT))
        fields = {"goal": "g", "findings": "f", "proposed_action": "p"}
        self.happens(
            CheckpointStated(card=card, call="k", files=("a",), verify_with=("t",), **fields)
        )
        self._calls(card, Call("e", "edit_diff", access=Access.MUTATE), tree)
        self._calls(
            card, Call("t", "test", access=Access.VERIFY), tree, suite("s", tree, red=False)
        )
        self.says(card, "done")
        return self.sees(card, verdict)

    def sees(self, card, verdict=SHOWN):
        """What the inspection that is owed to a card finds."""
        owed = self.owed(Inspect, card)
        base, tree = owed.effect.base, owed.effect.tree
        looked = WeakeningReport(id="w", tree=tree, base=base)
        seen = (
            judged(tree, base, verdict) if verdict else looked,
            DiffReport(id="d", tree=tree, base=base),
        )
        return self.happens(EvidenceTaken(card=card, evidence=seen, effect=owed.n))

    def finds(self, card, *evidence):
        """What a look that is owed to a card brings, without a verdict."""
        n = self.owed(Inspect, card).n
        return self.happens(EvidenceTaken(card=card, evidence=evidence, effect=n))

    def _calls(self, card, call, tree, *evidence):
        self.says(card, "", call)
        changed = ("a",) if call.access is Access.MUTATE else ()
        outcome = Outcome(ok=True, digest=call.id)
        self.happens(
            CallReturned(
                card=card,
                call=call.id,
                outcome=outcome,
                tree=tree,
                evidence=evidence,
                changed=changed,
            )
        )

    def closes(self, card, tree="", **more):
        n = self.owed(CloseCard, card).n
        return self.happens(CardClosed(card=card, commit="c", tree=tree, effect=n, **more))

    def verifies(self, iteration, *, achieved=True, green=True, verdict=None):
        """The verifier's card up to its close; `verdict` is Flyball's on the whole run."""
        card = f"verify.{iteration}"
        self.sees_if_owed(card, verdict)
        if green:
            tree = self.state.card(card).tree
            self._calls(
                card, Call("v", "test", access=Access.VERIFY), tree, suite("v", tree, red=False)
            )
        issues = [] if achieved else [{"step_id": "a", "issue": "wrong"}]
        self.says(card, json.dumps({"goal_achieved": achieved, "issues": issues}))
        return self.sees_if_owed(card, verdict).closes(card)

    def sees_if_owed(self, card, verdict):
        owed = any(isinstance(owed.effect, Inspect) for owed in self.state.due)
        return self.sees(card, verdict) if owed else self

    @property
    def last(self):
        return self.messages[-1]


def planned(*steps, **policy):
    return Course(**policy).plans(1, *steps).closes("plan.1")


def test_one_step_works_in_the_runs_own_tree_and_several_beside_it():
    assert planned("a").state.card("a").place == ""
    course = planned("a", "b")
    assert [course.state.card(id).place for id in ("a", "b")] == ["a", "b"]


def test_cards_beside_each_other_are_closed_in_the_order_of_the_plan():
    course = planned("a", "b").works("b", "tb")
    with pytest.raises(AssertionError, match="no CloseCard is due"):
        course.owed(CloseCard, "b")
    course.works("a", "ta").closes("a", "ta").closes("b", "tab")
    assert course.state.tree == "tab"
    assert course.state.card("verify.1").base == "tab"


def merged(verdict=SHOWN, **policy):
    """Two steps beside each other whose work lies in one tree, before the verifier speaks."""
    course = planned("a", "b", **policy).works("a", "ta", verdict).works("b", "tb", verdict)
    return course.closes("a", "ta").closes("b", "tab")


def test_the_merged_tree_is_judged_as_a_whole_before_the_verifiers_word_counts():
    course = merged()
    effect = course.owed(Inspect, "verify.1").effect
    assert (effect.base, effect.tree, effect.wants_red) == ("t0", "tab", False)
    course.sees("verify.1").says("verify.1", '{"goal_achieved": true}').closes("verify.1")
    assert (course.last.status, course.last.goal_achieved) == ("success", True)
    assert course.state.verdict_on("tab") == SHOWN
    assert sum(isinstance(each, UserResponse) for each in course.messages) == 1


def test_a_yes_against_the_verdict_on_the_whole_is_an_issue_that_says_why():
    course = merged(max_iterations=1).verifies(1, verdict=REGRESSED)
    assert course.last.status == "failed"
    assert "no evidence shows it. test_a fails; it passed before." in course.last.issues[0]
    course = merged(max_iterations=1).verifies(1, verdict=TOO_WEAK)
    assert "no evidence shows it. unverified" in course.last.issues[0]


def test_a_no_needs_no_verdict_to_be_believed():
    course = merged(max_iterations=1).verifies(1, achieved=False, verdict=SHOWN)
    assert course.last.status == "failed"
    assert "wrong" in course.last.issues[0]


def test_a_report_that_was_unclear_at_first_is_still_the_verifiers_answer():
    course = merged().sees("verify.1")
    course.says("verify.1", "All is well.").says("verify.1", '{"goal_achieved": true}')
    course.closes("verify.1")
    assert course.last.status == "success"


def test_a_test_that_was_asked_for_in_vain_does_not_speak_against_the_whole():
    course = planned("a").works("a", "ta", NEVER_RED).says("a", "there can be none")
    course.says("a", "that is all").closes("a")
    assert course.verifies(1, green=False).last.status == "success"


def test_without_verdicts_the_verifiers_own_tests_show_the_merged_tree():
    course = merged(verdict=None).verifies(1)
    assert (course.last.status, course.last.goal_achieved) == ("success", True)


def test_without_verdicts_a_yes_that_no_evidence_shows_is_an_issue():
    course = merged(verdict=None, max_iterations=1).verifies(1, green=False)
    assert course.last.status == "failed"
    assert "no evidence shows it" in course.last.issues[0]


def test_what_a_step_showed_of_the_very_tree_counts():
    course = planned("a").works("a", "ta").closes("a").verifies(1, green=False)
    assert course.last.status == "success"
    old = planned("a").works("a", "ta", None).closes("a").verifies(1, green=False)
    assert old.last.status == "success"


def test_a_log_in_which_the_verifier_spoke_before_flyball_looked_is_gone_on_with():
    course = merged()
    asked = course.owed(Inspect, "verify.1").n
    said = DriverReplied(card="verify.1", text='{"goal_achieved": true}', effect=asked)
    course.happens(said).sees("verify.1").closes("verify.1")
    assert course.last.status == "success"


def test_a_yes_where_nobody_has_run_anything_has_the_tests_run():
    course = planned("a").says("a", "it is there").says("a", "it is")
    course.says("a", "it holds already")
    gates = course.owed(Inspect, "a").effect.gates
    assert [each.type for each in gates] == ["tests_pass"]
    course.finds("a", suite("s", "t0", red=False))
    assert course.state.card("a").ending is Ending.SUCCEEDED
    assert course.closes("a").verifies(1, green=False).last.status == "failed"
    assert "Nothing was changed" in course.last.message


def test_a_step_is_not_confirmed_by_tests_that_its_driver_chose():
    course = planned("a")
    chosen = replace(suite("s", "t0", red=False), selected=True)
    course._calls("a", Call("t", "test", access=Access.VERIFY), "t0", chosen)
    course.says("a", "it holds already").says("a", "it does")
    assert course.state.card("a").ending is None


def test_a_step_that_finds_nothing_to_change_succeeds_on_fresh_green_evidence():
    course = planned("a")
    course._calls("a", Call("t", "test", access=Access.VERIFY), "t0", suite("s", "t0", red=False))
    course.says("a", "it holds already")
    assert course.state.card("a").phase is Phase.CHECKPOINT
    course.says("a", "it does")
    assert course.state.card("a").ending is Ending.SUCCEEDED
    # Green tests show that nothing is broken, and not that what was asked for is there.
    assert course.closes("a").verifies(1, green=False).last.status == "failed"


def test_a_step_that_promises_and_then_finds_nothing_to_change():
    course = promised("a").says("a", "it holds already")
    assert "run `test` to show it" in course.state.card("a").said[-1].text
    course._calls("a", Call("t", "test", access=Access.VERIFY), "t0", suite("s", "t0", red=False))
    assert course.says("a", "so it does").state.card("a").ending is Ending.SUCCEEDED
    idle = promised("a").says("a", "it holds already").says("a", "it does")
    assert idle.state.card("a").phase is Phase.VERIFY
    idle.finds("a", suite("s", "t0", red=True))
    assert idle.state.card("a").ending is Ending.UNCHANGED


def test_a_verifier_of_a_run_that_changed_nothing_has_the_tests_run():
    course = promised("a").says("a", "holds").says("a", "it does")
    course.finds("a", suite("s", "t0", red=False)).closes("a")
    assert course.says("verify.1", '{"goal_achieved": true}').owed(CloseCard, "verify.1")


def test_where_there_are_no_tests_a_yes_has_nothing_run():
    course = Course(project=Project()).plans(1, "a").closes("plan.1")
    for _ in range(3):
        course.says("a", "nothing to do")
    assert course.state.card("a").ending is Ending.UNCHANGED
    look = Course(project=Project())
    step = {"id": "a", "title": "look", "success_criteria": ["seen"], "template": "diagnose"}
    look.says("plan.1", json.dumps({"goal": "g", "steps": [step]})).closes("plan.1")
    look.says("a", "seen").closes("a").says("verify.1", '{"goal_achieved": true}')
    assert look.owed(CloseCard, "verify.1")


def test_a_step_that_only_looks_proposes_nothing_to_a_person():
    step = {"id": "a", "title": "look", "success_criteria": ["seen"], "template": "diagnose"}
    course = Course().says("plan.1", json.dumps({"goal": "g", "steps": [step]})).closes("plan.1")
    course.says("a", "", Call("k", "checkpoint", access=Access.CHECKPOINT))
    fields = {"goal": "g", "findings": "f", "proposed_action": "p"}
    course.happens(CheckpointStated(card="a", call="k", files=("a",), verify_with=("t",), **fields))
    assert course.says("a", "it is so").state.card("a").ending is Ending.SUCCEEDED


def test_a_verifier_that_a_guard_stopped_is_an_issue():
    course = planned("a", max_iterations=1).works("a", "ta").closes("a")
    for n in range(5):
        course.says("verify.1", "", Call(f"b{n}", "reed", digest=f"{n}", fault="no such tool"))
    question = course.state.card("verify.1").question
    course.happens(Answered(question=question.id, granted=False, by="ann"))
    course.says("verify.1", "I could not").closes("verify.1")
    assert course.last.status == "failed"
    assert "Step goal: A guard stopped the run" in course.last.issues[0]


def test_a_plan_that_came_another_way_is_checked_all_the_same():
    course = Course()
    plan = ExecutionPlan(id="p", request_id="r", goal="g", steps=())
    course.happens(Messaged(message=plan))
    assert course.state.coordinator.iteration == 2
    assert "no steps" in course.state.coordinator.issues[-1].issue


def promised(step):
    """A step in `execute`, with nothing done yet."""
    course = planned(step)
    course.says(step, "", Call("k", "checkpoint", access=Access.CHECKPOINT))
    fields = {"goal": "g", "findings": "f", "proposed_action": "p"}
    stated = CheckpointStated(card=step, call="k", files=("a",), verify_with=("t",), **fields)
    return course.happens(stated)


def test_a_conflict_is_an_issue_for_the_next_plan():
    course = planned("a", "b").works("a", "ta").works("b", "tb").closes("a", "ta")
    course.happens(
        CardClosed(card="b", error="Merge conflict in a.py", effect=course.owed(CloseCard, "b").n)
    )
    assert course.state.card("b").phase is Phase.FAILED
    request = next(m for m in course.messages if isinstance(m, PlanRequest) and m.iteration == 2)
    assert request.previous_issues == ("[high] Step b: Merge conflict in a.py",)


def test_a_plan_may_undo_what_the_one_before_it_left():
    course = planned("a").works("a", "ta").closes("a").verifies(1, achieved=False)
    course.plans(2, "b", work="rollback").closes("plan.2")
    owed = course.owed(RollBack)
    assert (owed.effect.tree, owed.effect.cards) == ("t0", ("a",))
    assert ("", "rolled-back") in moves(course.state)
    course.happens(RolledBack(tree="t0", cards=("a",), effect=owed.n))
    assert course.state.card("a").is_taken_back
    assert course.state.card("b.2").base == "t0"


def test_a_plan_that_keeps_the_work_builds_on_it():
    course = planned("a").works("a", "ta").closes("a").verifies(1, achieved=False)
    course.plans(2, "b").closes("plan.2")
    assert course.state.card("b.2").base == "ta"
    assert not course.state.card("a").is_taken_back


def test_a_roll_back_that_left_nothing_is_not_asked_for():
    course = Course().plans(1, "a", work="rollback").closes("plan.1")
    assert course.state.card("a").base == "t0"


def test_nothing_is_rolled_back_unasked():
    with pytest.raises(IllegalEvent, match="nobody was asked"):
        advance(planned("a").state, RolledBack(tree="t0"))


def test_a_step_is_sent_out_once():
    course = planned("a")
    task = next(m for m in course.messages if m.__class__.__name__ == "ExecuteTask")
    before = course.state.cards
    course.happens(Messaged(message=task))
    assert course.state.cards == before


def test_a_planner_that_speaks_in_riddles_is_asked_again_and_then_given_up():
    course = Course().says("plan.1", "Begin with the cart.")
    assert "End it with one JSON block" in course.state.card("plan.1").said[0].text
    assert course.state.card("plan.1").phase is Phase.ANALYZE_CODE
    course.says("plan.1", "I said so.")
    question = course.state.card("plan.1").question
    assert "The planner could not be understood" in question.text
    course.happens(Answered(question=question.id, granted=False, by="ann")).closes("plan.1")
    assert (course.last.status, course.last.iterations) == ("failed", 1)
    assert course.last.message == "There is no plan."


def test_a_planner_that_is_let_try_again_may_plan_after_all():
    course = Course().says("plan.1", "Begin with the cart.").says("plan.1", "I said so.")
    question = course.state.card("plan.1").question
    course.happens(Answered(question=question.id, granted=True, by="ann"))
    assert course.plans(1, "a").closes("plan.1").state.card("a") is not None


def test_a_yes_beforehand_lets_a_planner_try_once_more_and_waits_for_nobody():
    course = Course(assume_yes=True)
    for _ in range(4):
        assert course.state.card("plan.1").question is None
        course.says("plan.1", "Begin with the cart.")
    course.closes("plan.1")
    assert (course.last.status, course.last.iterations) == ("failed", 1)
    assert course.last.message == "There is no plan."
    course = Course(assume_yes=True)
    for _ in range(3):
        course.says("plan.1", "Begin with the cart.")
    assert course.plans(1, "a").closes("plan.1").state.card("a") is not None


def test_a_plan_that_cannot_be_carried_out_is_the_planners_to_mend():
    course = Course()
    course.says("plan.1", json.dumps({"goal": "g", "steps": [{"id": "a", "title": "t"}]}))
    said = course.state.card("plan.1").said[0].text
    assert said == "a: The step has no success criteria."
    assert course.plans(1, "a").closes("plan.1").state.coordinator.iteration == 1


def test_a_verifier_that_gives_no_report_is_an_issue():
    course = planned("a", max_iterations=1).works("a", "ta").closes("a")
    for _ in range(2):
        course.says("verify.1", "All is well.")
    question = course.state.card("verify.1").question
    assert "The verifier could not be understood" in question.text
    course.happens(Answered(question=question.id, granted=False, by="ann")).closes("verify.1")
    assert course.last.status == "failed"
    assert "The verifier could not be understood" in course.last.message


def test_a_cancelled_card_tells_the_coordinator_nothing():
    course = planned("a", "b")
    course.happens(Cancelled(by="ann"))
    assert [card.phase for card in course.state.cards[1:]] == [Phase.CANCELLED] * 2
    assert course.state.response.status == "cancelled"


def test_each_place_is_looked_at_when_a_run_goes_on():
    word = Resumed(by="ann", tree="t1", places={"a": "t2"})
    assert [word.tree_of(place) for place in ("", "a", "b")] == ["t1", "t2", ""]
    assert replace(word, tree="").tree_of("") == ""
