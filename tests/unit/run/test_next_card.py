"""The way through a flow, around a failed step, and back to the coordinator."""

from __future__ import annotations

import pytest
from tests.simulation.verdicts import REGRESSED
from tests.unit.run.walking import Walk, form, look, step

from flyball.plan.escalation import Trouble
from flyball.plan.library import LIBRARY
from flyball.plan.message import ExecuteTask, Status, Step, StepResult
from flyball.plan.template import Escalation, GateUse, OnFail, OnPass, Template
from flyball.run.event import CardClosed, Messaged
from flyball.run.next_card import card_id
from flyball.run.policy import Policy
from flyball.run.state import Asking, RunState
from flyball.terms.evidence import CommandReport, Strength
from flyball.terms.intent import Intent
from flyball.terms.phase import Phase

P = Phase
CHECK = GateUse("command_succeeds", {"command": "make check"})
DIAGNOSIS = form(
    diff_summary="nothing", notes="the check is wrong", devlog_line="d",
    criteria_checklist={"c1": True, "c2": True},
)  # fmt: skip
YES = Policy(review=False, assume_yes=True, plan_big_requests=False)


def to(target: str, **more: object) -> OnPass:
    return OnPass(next_step_id=target, **more)


def ids(walk: Walk) -> list[str]:
    return [card.id for card in walk.state.cards]


def passes(walk: Walk, text: str = "seen") -> Walk:
    return walk.stops(text).closes()


def fails(walk: Walk, times: int = 3) -> Walk:
    """The gate of the present card, which only looks, fails as often."""
    for _ in range(times):
        bad = CommandReport(id="c", tree="t0", command="make check", exit_code=2)
        walk.stops("seen").sees(bad)
    return walk.closes()


def after(then: Escalation, *more: Template, retries: int = 0, **told: object) -> Walk:
    """A flow whose first step has just failed for good."""
    rules = OnFail(max_retries=retries, escalate_policy=then)
    return fails(Walk(look(gates=(CHECK,), on_fail=rules), *more, **told), retries + 1)


def results(walk: Walk) -> list[StepResult]:
    """Every result that a step of this run came to."""
    coordinator = walk.state.coordinator
    assert coordinator is not None
    return list(coordinator.results)


def test_a_flow_is_walked_from_its_start_to_its_end():
    walk = Walk(look("S1", on_pass=to("S2")), step("S2", on_pass=to("S3")), look("S3"))
    assert [(c.id, c.title, c.step) for c in walk.state.cards] == [("S1", "Do S1", "step-1")]
    passes(walk)
    walk.fixes().sees().closes()
    assert ids(walk) == ["S1", "S2", "S3"]
    assert walk.card.base == "t1"
    passes(walk, "all is well")
    response = walk.state.response
    assert (response.status, response.message) == (Status.SUCCESS, "all is well")
    (execution,) = walk.state.executions
    assert execution.cards == ("S1", "S2", "S3")
    assert execution.is_over
    (result,) = results(walk)
    assert result.mutated
    assert result.proof is Strength.RED_GREEN
    assert result.evidence


def test_a_bounded_way_back_is_taken_as_often_as_it_says():
    back = OnPass(next_step_id="S1", max_rounds=2, then="S3")
    walk = Walk(look("S1", on_pass=to("S2")), look("S2", on_pass=back), look("S3"))
    for _ in range(7):
        passes(walk)
    assert ids(walk) == ["S1", "S2", "S1.r2", "S2.r2", "S1.r3", "S2.r3", "S3"]
    assert walk.state.response.status is Status.SUCCESS


def test_a_flow_may_lead_to_planning():
    walk = passes(Walk(look(on_pass=to("ROUTE_TO_PLANNING"))), "it is bigger than this")
    assert walk.state.coordinator.iteration == 2
    assert walk.card.id == "plan.2"
    assert walk.card.template.step_id == "plan"
    assert walk.state.coordinator.issues[0].issue == "Do S1: it is bigger than this"


def test_after_planning_the_steps_of_the_plan_are_carried_out():
    walk = passes(Walk(look(on_pass=to("ROUTE_TO_PLANNING"))))
    planned(walk, template="refactor")
    assert walk.card.id == "one.2"
    assert walk.card.template.step_id == "refactor"
    assert walk.state.executions[-1].at == ""


def test_a_failed_step_is_diagnosed_by_a_card_of_its_own():
    walk = after(Escalation.ROUTE_TO_PLANNING, retries=2)
    assert ids(walk) == ["S1", "S1.D1"]
    failed, diagnosis = walk.state.cards
    assert failed.phase is P.FAILED
    assert failed.escalation is Escalation.DIAGNOSE
    assert diagnosis.template == LIBRARY["D1"]
    assert diagnosis.title == "Diagnose: Do S1"
    assert walk.state.executions[0].failed == "S1"
    walk.stops(DIAGNOSIS)
    question = walk.card.question
    assert question.kind is Asking.REVIEW
    assert question.text.startswith("Do S1: The gate command_succeeds did not pass")
    walk.grants().closes()
    assert walk.state.coordinator.iteration == 2
    (issue,) = walk.state.coordinator.issues
    assert "`make check` ended with exit code 2." in issue.issue
    assert "Diagnosis: So it is." in issue.issue


def test_yes_to_everything_accepts_the_built_in_diagnosis():
    walk = after(Escalation.ROUTE_TO_PLANNING, policy=YES).stops(DIAGNOSIS)
    assert walk.card.question is None
    assert walk.closes().card.id == "plan.2"


def test_a_diagnosis_that_a_person_refuses_goes_back_to_the_driver():
    walk = after(Escalation.PAUSE_FOR_HUMAN).stops(DIAGNOSIS)
    walk.refuses("it is the cache")
    assert walk.owed == ["Think"]
    assert [said.text for said in walk.card.said] == [
        "it is the cache",
        "The person did not accept the diagnosis. Investigate again.",
    ]
    walk.stops(DIAGNOSIS)
    assert walk.card.question.kind is Asking.REVIEW
    assert walk.grants().closes().card.id == "plan.2"


def test_a_person_who_accepts_the_diagnosis_has_it_replanned():
    walk = after(Escalation.PAUSE_FOR_HUMAN).stops(DIAGNOSIS).grants().closes()
    assert walk.card.id == "plan.2"


def test_where_the_job_fails_anyway_nobody_is_asked_about_the_diagnosis():
    walk = after(Escalation.FAIL_JOB).stops(DIAGNOSIS)
    assert walk.card.question is None
    walk.closes()
    assert walk.state.response.message == "A step failed permanently."
    assert walk.state.cards[0].failures


def test_a_flow_has_its_own_diagnosis():
    walk = after(Escalation.PAUSE_FOR_HUMAN, look("D1", on_pass=to("S2")), look("S2"))
    assert walk.card.template.title == "Do D1"
    assert walk.stops("because").card.question.kind is Asking.REVIEW
    walk.grants().closes()
    assert ids(walk) == ["S1", "S1.D1", "S2"]
    assert passes(walk).state.response.status is Status.SUCCESS


@pytest.mark.parametrize(
    ("target", "message"),
    [("END", "A step failed permanently."), ("ROUTE_TO_PLANNING", "")],
)
def test_where_a_flows_own_diagnosis_leads(target: str, message: str):
    walk = after(Escalation.PAUSE_FOR_HUMAN, look("D1", on_pass=to(target)))
    walk.stops("because").grants().closes()
    if message:
        assert walk.state.response.message == message
    else:
        assert walk.card.id == "plan.2"
        assert "Diagnosis: because" in walk.state.coordinator.issues[0].issue


def test_a_flows_own_diagnosis_asks_only_where_it_or_the_policy_says_so():
    walk = after(Escalation.ROUTE_TO_PLANNING, look("D1")).stops("because")
    assert walk.owed == ["CloseCard"]
    asks = after(Escalation.ROUTE_TO_PLANNING, look("D1", checkpoint=True)).stops("because")
    assert asks.card.question.kind is Asking.REVIEW


def test_a_step_is_diagnosed_once_however_often_the_flow_comes_back():
    walk = after(Escalation.PAUSE_FOR_HUMAN, look("D1", on_pass=to("S1")))
    walk.stops("try it so").grants().closes()
    assert ids(walk) == ["S1", "S1.D1", "S1.r2"]
    bad = CommandReport(id="c", tree="t0", command="make check", exit_code=2)
    walk.stops("seen").sees(bad)
    assert walk.card.question.kind is Asking.FAILURE
    assert walk.card.trouble is Trouble.FAILING_CHECK


def test_a_diagnosis_that_fails_has_a_person_asked():
    walk = after(Escalation.ROUTE_TO_PLANNING)
    bad = form(
        diff_summary="d", notes="n", devlog_line="l", criteria_checklist={"c1": True, "c2": False}
    )
    walk.stops(bad)
    assert walk.card.question.kind is Asking.FAILURE
    walk.refuses().closes()
    assert walk.state.response.message == "A step failed permanently."
    assert "Not diagnosed: The gate criteria_checklist_complete" in walk.state.response.issues[0]


@pytest.mark.parametrize(
    ("then", "is_planned"),
    [(Escalation.ROUTE_TO_PLANNING, True), (Escalation.PAUSE_FOR_HUMAN, False)],
)
def test_a_diagnosis_that_was_cut_short_leaves_the_steps_own_policy(
    then: Escalation, is_planned: bool
):
    walk = after(then, policy=YES).stops(DIAGNOSIS)
    walk.answers(CardClosed(card=walk.card.id, error="no room")).deliver()
    assert (walk.card.id == "plan.2") is is_planned
    assert (walk.state.response is None) is is_planned


def test_a_forbidden_change_of_a_small_request_is_a_persons_to_judge():
    walk = Walk(policy=YES).checkpoints()
    for n in (1, 2, 3):
        walk.edits(f"t{n}").tests().stops().sees(secrets_added=("a.py:1",))
    assert walk.card.question.kind is Asking.FAILURE
    assert walk.card.trouble is Trouble.FORBIDDEN_CHANGE


def planned(walk: Walk, **step: str) -> Walk:
    """The planner's card ends with a plan of one step."""
    only = {"id": "one", "title": "Do one", "success_criteria": ["it works"], **step}
    return walk.stops(form(goal="g", steps=[only])).closes()


def test_a_planned_step_fails_is_tried_again_diagnosed_and_replanned():
    policy = Policy(review=False, assume_yes=True)
    walk = planned(Walk(policy=policy, intent=Intent.FEATURE_BUILD))
    assert walk.card.id == "one"
    assert walk.card.template.step_id == "step"
    walk.checkpoints().edits("t1").tests(red=True)
    while walk.card.id == "one":
        walk.stops()
        if walk.owed == ["Inspect"]:
            walk.sees(verdict=REGRESSED)
        if walk.owed == ["CloseCard"]:
            walk.closes()
    assert walk.card.id == "one.D1"
    walk.stops(DIAGNOSIS).closes()
    assert walk.card.id == "plan.2"
    request = next(issue for issue in walk.state.coordinator.issues if "Diagnosis" in issue.issue)
    assert str(request).startswith("[high] Step one: ")


def test_ids_of_cards_are_fit_for_files_and_all_different():
    walk = Walk(look("a/../b c", on_pass=to("A/../B C")), look("A/../B C"))
    assert ids(walk) == ["a_.._b_c"]
    assert ids(passes(walk)) == ["a_.._b_c", "A_.._B_C.r2"]
    assert card_id(RunState(), "...") == "step"
    assert len(card_id(RunState(), "x" * 200)) == 48


def test_a_task_that_comes_twice_opens_no_second_card():
    walk = Walk()
    task = ExecuteTask(request_id="r", plan_id="other", step=Step(id="step-1", title="again"))
    walk.happens(Messaged(message=task))
    assert ids(walk) == ["step-1"]


def test_a_trusted_template_of_the_project_carries_out_a_step():
    own = look("audit")
    walk = Walk(templates=(own,), policy=Policy(review=False), intent=Intent.FEATURE_BUILD)
    planned(walk, template="audit")
    assert walk.card.template == own
    assert walk.card.title == "Do one"
    built_in = Walk(templates=(own,), policy=Policy(review=False), intent=Intent.FEATURE_BUILD)
    assert planned(built_in).card.template == LIBRARY["step"]


def test_a_flow_that_changes_asks_before_it_does_so_under_an_intent_that_only_looks():
    walk = Walk(step(), intent=Intent.DIAGNOSE).checkpoints()
    assert walk.card.question.kind is Asking.PROMOTION
    walk.grants()
    assert walk.phase is P.EXECUTE
    assert walk.card.template == step()
    assert walk.state.intent is Intent.SMALL_FIX


def test_a_step_that_names_research_and_design_goes_through_them():
    phases = (P.ANALYZE_CODE, P.RESEARCH, P.DESIGN, P.FINAL)
    walk, seen = Walk(look("S1", phases=phases)), [P.ANALYZE_CODE]
    for words in ("looked", "read up", "thought"):
        walk.stops(words)
        seen.append(walk.card.phase)
    assert seen == list(phases)
