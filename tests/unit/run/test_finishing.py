"""What follows a setback: the one table decides, and every path ends."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.simulation.verdicts import REGRESSED
from tests.simulation.world import bash, call
from tests.unit.run.stories import ALONE, Story
from tests.unit.run.walking import Walk, look, step

from flyball.plan.escalation import Trouble
from flyball.plan.template import Escalation, GateUse, OnFail
from flyball.run.event import CallReturned, PauseAsked, Resumed
from flyball.run.policy import Policy, Project
from flyball.run.state import Asking, Ending
from flyball.terms.call import Call, Outcome
from flyball.terms.evidence import CommandReport
from flyball.terms.phase import Phase

P = Phase
TESTS = GateUse("tests_pass")
COMMAND = GateUse("command_succeeds", {"command": "make check"})


def failing(walk: Walk) -> Walk:
    return walk.stops("done").sees(verdict=REGRESSED)


BARE = Project(sandbox="kernel")
"""A project with nothing that Flyball could run by itself."""


def failed(tries: int, **more: object) -> Walk:
    walk = Walk(step(gates=(TESTS,), **more)).checkpoints().edits("t1")
    for _ in range(tries):
        failing(walk)
    return walk


def test_a_step_is_tried_again_as_often_as_its_template_says():
    rules = OnFail(max_retries=3)
    assert failed(3, on_fail=rules).phase is P.EXECUTE
    walk = failed(4, on_fail=rules)
    assert walk.card.failures_in_row == 4
    assert walk.card.escalation is Escalation.DIAGNOSE
    assert walk.card.trouble is Trouble.FAILING_CHECK
    assert walk.card.ending is Ending.FAILED
    assert "tests_pass" in walk.card.failures[-1].error


def test_proof_that_never_comes_is_a_setback_of_a_step_in_a_plan():
    walk = Walk(step(), project=BARE).checkpoints().edits("t1")
    walk.stops().stops().stops().stops()
    assert walk.card.escalation is Escalation.DIAGNOSE
    assert walk.card.trouble is Trouble.MISSING_EVIDENCE


def test_a_step_that_breaks_tests_time_and_again_has_a_failing_check():
    walk = Walk(step()).checkpoints().edits("t1").tests(red=True).stops().sees(verdict=REGRESSED)
    assert walk.phase is P.EXECUTE
    assert "This is not done yet: test_a fails; it passed before." in walk.said
    walk.edits("t2").tests(red=True).stops().sees(verdict=REGRESSED).stops()
    assert walk.card.rejections == 3
    assert walk.card.failures_in_row == 0
    walk.stops()
    assert walk.card.trouble is Trouble.FAILING_CHECK
    assert walk.card.escalation is Escalation.DIAGNOSE


def test_outside_a_plan_work_without_proof_is_called_unverified():
    walk = Walk(project=BARE).checkpoints().edits("t1").stops().stops().stops().stops()
    assert walk.card.ending is Ending.UNVERIFIED
    assert walk.card.escalation is None


def slow(walk: Walk) -> Walk:
    report = CommandReport(id="c", tree="t0", command="make check", exit_code=1, timed_out=True)
    return walk.stops("seen").sees(report)


def test_trouble_with_a_tool_is_a_persons_to_judge():
    walk = slow(Walk(look(gates=(COMMAND,), on_fail=OnFail(max_retries=0))))
    assert walk.card.trouble is Trouble.TOOL_TROUBLE
    question = walk.card.question
    assert question.kind is Asking.FAILURE
    assert "it took too long" in question.text
    walk.grants("the machine was busy")
    assert walk.phase is P.ANALYZE_CODE
    assert "the machine was busy" in walk.said
    assert "it took too long" in walk.said
    slow(walk)
    walk.refuses()
    assert walk.card.escalation is Escalation.FAIL_JOB
    assert "it took too long" in walk.card.ending_reason
    walk.closes()
    assert walk.state.response.status == "failed"
    assert walk.state.response.message == "A step failed permanently."


def test_the_strictness_of_the_run_counts():
    policy = Policy(review=False, strictness="strict", plan_big_requests=False)
    rules = OnFail(max_retries=0, escalate_policy=Escalation.ROUTE_TO_PLANNING)
    walk = Walk(step(gates=(TESTS,), on_fail=rules), policy=policy).checkpoints().edits("t1")
    assert failing(walk).card.escalation is Escalation.ROUTE_TO_PLANNING


def stumbles(walk: Walk) -> Walk:
    for n in range(5):
        walk.asks(Call(id=f"b{n}", tool="reed", digest=f"reed{n}", fault="There is no such tool."))
    return walk


def test_a_hard_guard_is_no_progress_on_a_step_of_a_plan():
    walk = stumbles(Walk(look()))
    assert walk.card.trouble is Trouble.NO_PROGRESS
    assert walk.card.escalation is Escalation.DIAGNOSE
    assert "refused" in walk.card.ending_reason
    assert walk.phase is P.FINAL
    alone = stumbles(Walk())
    assert alone.card.question.kind is Asking.GUARD


def test_a_lenient_run_begins_a_new_thread_after_a_hard_guard():
    policy = Policy(review=False, strictness="lenient", plan_big_requests=False)
    walk = stumbles(Walk(look(), policy=policy))
    assert walk.owed == ["ResetThread"]
    assert walk.phase is P.ANALYZE_CODE
    assert walk.resets().owed == ["Think"]


def broken(id: str) -> Call:
    return Call(id=id, tool="reed", digest="reed", fault="There is no such tool.")


def test_a_guard_waits_for_the_calls_that_are_under_way():
    walk = Walk(look())
    walk.asks(broken("1")).asks(broken("2")).asks(broken("3")).asks(broken("4"))
    walk.asks(call("r", "read"), broken("5"), call("s", "read"))
    assert walk.phase is P.ANALYZE_CODE
    assert walk.card.halted is not None
    assert "the same call gave the same outcome" in walk.card.halted.reason
    assert [made.id for made in walk.card.in_flight] == ["r"]
    assert walk.card.queue == ()
    walk.returns()
    assert walk.card.escalation is Escalation.DIAGNOSE
    assert walk.owed == ["Think"]
    assert walk.stops("so far I came").owed == ["CloseCard"]


def test_a_guard_that_waits_is_applied_after_a_pause():
    walk = Walk(look())
    walk.asks(broken("1")).asks(broken("2")).asks(broken("3")).asks(broken("4"))
    walk.asks(call("r", "read"), broken("5"))
    walk.happens(PauseAsked(by="ann"))
    assert walk.card.halted
    outcome = Outcome(ok=True, digest="d")
    number = walk.state.owed[0].n
    walk.happens(CallReturned(card="S1", call="r", outcome=outcome, tree="t0", effect=number))
    walk.happens(Resumed(by="ann", tree="t0"))
    assert walk.card.escalation is Escalation.DIAGNOSE


def test_a_diagnosis_is_never_diagnosed():
    own = look("D1", on_fail=OnFail(max_retries=0, escalate_policy=Escalation.FAIL_JOB))
    walk = stumbles(Walk(own))
    assert walk.card.escalation is Escalation.FAIL_JOB


@pytest.mark.parametrize("policy", [Escalation.RETRY, Escalation.DIAGNOSE])
def test_a_policy_that_would_go_round_again_asks_a_person(policy: Escalation):
    walk = Walk(look("D1", gates=(COMMAND,), on_fail=OnFail(max_retries=0, escalate_policy=policy)))
    walk.stops("seen").sees(CommandReport(id="c", tree="t0", command="make check", exit_code=1))
    assert walk.card.question.kind is Asking.FAILURE


def test_promise_without_a_change_is_refused_once_where_no_suite_can_be_looked_at():
    story = Story(project=Project(sandbox="kernel")).checkpoints().stops()
    assert "Nothing was changed." in story.said
    story.stops()
    assert story.card.ending is Ending.UNCHANGED


@pytest.mark.parametrize(
    ("failed", "later", "is_dropped"),
    [
        (call("v", "test", fault="unknown option"), bash("b", "mutating"), True),
        (call("v", "test", fault="unknown option"), call("w", "write_file", "b.py"), False),
        (call("c", "checkpoint"), call("w", "write_file", "b.py"), True),
        (call("w", "write_file", "a.py"), call("v", "test"), True),
        (call("w", "write_file", "a.py"), call("x", "write_file", "b.py"), False),
        (call("r", "read"), call("w", "write_file", "a.py"), False),
    ],
)
def test_only_what_depends_on_a_failed_call_is_dropped(failed: Call, later: Call, is_dropped: bool):
    story = Story(policy=replace(ALONE, bash=True)).checkpoints("a.py", "b.py")
    story.says(failed, later)
    if not failed.fault:
        story.returns(ok=False)
    dropped = [each for each in story.card.judged if each.code == "after_failure"]
    assert bool(dropped) is is_dropped
