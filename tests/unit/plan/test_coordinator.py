import msgspec
import pytest
from msgspec.structs import replace

from flyball.plan import coordinator
from flyball.plan.coordinator import (
    ROWS,
    Begin,
    Cancel,
    Coordinator,
    Fail,
    Stage,
    begin,
    coordinate,
    progress,
)
from flyball.plan.message import (
    Context,
    ExecuteTask,
    ExecutionPlan,
    ExecutionResults,
    Issue,
    NextAction,
    PlanRequest,
    Severity,
    Status,
    Step,
    StepResult,
    UserResponse,
    VerificationReport,
    VerifyRequest,
)
from flyball.plan.template import Escalation
from flyball.terms.evidence import Strength
from flyball.terms.intent import Intent

R = "req-1"


def plan(id="plan-1", *, chain=(), steps=("step-1",)):
    """A plan whose steps stand side by side, or in a chain."""
    return ExecutionPlan(
        id=id,
        request_id=R,
        goal="Add warning icon",
        steps=tuple(
            Step(id=each, title=f"Do {each}", success_criteria=("it works",)) for each in steps
        )
        + tuple(
            Step(
                id=each,
                title=f"Do {each}",
                success_criteria=("it works",),
                depends_on=chain[:i],
            )
            for i, each in enumerate(chain)
        ),
    )


def green(step_id="step-1", **more):
    fields = {"success": True, "mutated": True, "evidence": ("e1",), "proof": Strength.GREEN}
    return StepResult(step_id=step_id, **(fields | more))


def red(step_id="step-1", **more):
    return StepResult(step_id=step_id, success=False, **more)


def results(*step_results, plan_id="plan-1", all_success=None):
    said = all(each.success for each in step_results) if all_success is None else all_success
    return ExecutionResults(
        request_id=R, plan_id=plan_id, step_results=step_results, all_success=said
    )


def report(id="v-1", achieved=True, *issues, actions=()):
    return VerificationReport(
        id=id, request_id=R, goal_achieved=achieved, issues=issues, next_actions=actions
    )


def issue(text="Tests failed: syntax error", step_id="step-4", severity=Severity.CRITICAL):
    return Issue(step_id=step_id, issue=text, severity=severity)


def tell(state, *messages):
    said = ()
    for message in messages:
        state, more = coordinate(state, message)
        said += more
    return state, said


def start(intent=Intent.FEATURE_BUILD, **more):
    return begin(R, "Add warning icon", intent, **more)


def only(said, kind):
    (message,) = said
    assert isinstance(message, kind)
    return message


def test_success_in_one_iteration():
    state, said = start(context=Context(target="project/shop"))
    request = only(said, PlanRequest)
    assert (request.iteration, request.previous_plan, request.previous_issues) == (1, "", ())
    assert request.context.target == "project/shop"
    state, said = coordinate(state, plan(steps=("step-1", "step-2")))
    assert [message.step.id for message in said] == ["step-1", "step-2"]
    state, said = coordinate(state, results(green("step-1"), green("step-2")))
    asked = only(said, VerifyRequest)
    assert asked.goal == "Add warning icon"
    assert len(asked.results) == 2
    state, said = coordinate(state, report())
    response = only(said, UserResponse)
    assert (response.status, response.iterations, response.goal_achieved) == ("success", 1, True)
    state, said = coordinate(state, response)
    assert (state.stage, said) == (Stage.ENDED, ())


def test_success_in_three_iterations_with_the_exact_issue_strings():
    state, _ = start()
    state, said = tell(
        state,
        plan("plan-1"),
        results(green()),
        report(
            "v-1",
            False,
            issue("Tests failed with compilation error"),
            issue("Patch applied incorrectly", "step-3", Severity.HIGH),
        ),
    )
    request = said[-1]
    assert isinstance(request, PlanRequest)
    assert request.iteration == 2
    assert request.previous_plan == "plan-1"
    assert request.previous_issues == (
        "[critical] Step step-4: Tests failed with compilation error",
        "[high] Step step-3: Patch applied incorrectly",
    )
    state, said = tell(
        state,
        plan("plan-2"),
        results(green(), plan_id="plan-2"),
        report("v-2", False, issue("Tests still failing")),
    )
    assert said[-1].iteration == 3
    state, said = tell(
        state, plan("plan-3"), results(green(), plan_id="plan-3"), report("v-3", True)
    )
    assert said[-1].status is Status.SUCCESS
    assert said[-1].iterations == 3


def test_the_limit_ends_it_with_all_issues_and_next_actions():
    action = NextAction(type="fix", description="Fix test failures", priority="high")
    state, _ = start(max_iterations=2)
    for n in (1, 2):
        state, said = tell(
            state,
            plan(f"plan-{n}"),
            results(green(), plan_id=f"plan-{n}"),
            report(f"v-{n}", False, issue(), actions=(action,)),
        )
    response = said[-1]
    assert response.status is Status.FAILED
    assert response.message == "Failed after 2 iterations."
    assert response.issues == ("[critical] Step step-4: Tests failed: syntax error",)
    assert response.next_actions == (action,)
    assert not response.goal_achieved


def test_a_limit_below_one_still_allows_one_iteration():
    state, _ = start(max_iterations=0)
    _, said = tell(state, plan(), results(red()))
    assert said[-1].message == "Failed after 1 iteration."


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (green(evidence=(), proof=Strength.NOTHING), "no passing verification"),
        (green(proof=Strength.PARSES), "no passing verification"),
        (green(mutated=False, evidence=()), "without any evidence"),
        (green(mutated=False, proof=Strength.NOTHING), "without any evidence"),
    ],
)
def test_a_verifiers_word_without_evidence_is_not_success(result, words):
    state, _ = start()
    state, said = tell(state, plan(), results(result), report("v-1", True))
    assert state.stage is Stage.PLANNING
    assert words in said[-1].previous_issues[-1]


def test_all_success_without_step_results_is_not_success():
    state, _ = start()
    state, said = tell(state, plan(), results(all_success=True))
    assert state.stage is Stage.PLANNING
    assert "reported no result" in said[-1].previous_issues[0]


def test_a_failure_that_names_no_step_is_not_success():
    state, _ = start()
    state, said = tell(state, plan(), results(green(), all_success=False))
    assert state.stage is Stage.PLANNING
    assert "without naming the step" in said[-1].previous_issues[0]


def test_results_for_a_step_that_was_never_given_are_no_results():
    state, _ = start()
    state, said = tell(state, plan(), results(green("step-9")))
    assert "reported no result" in said[-1].previous_issues[0]


def test_a_critical_issue_outweighs_a_claimed_goal():
    state, _ = start()
    state, _ = tell(state, plan(), results(green()), report("v-1", True, issue()))
    assert state.stage is Stage.PLANNING


def test_small_issues_come_along_with_success():
    state, _ = start()
    small = issue("Docs are thin", "step-1", Severity.LOW)
    _, said = tell(state, plan(), results(green()), report("v-1", True, small))
    assert said[-1].status is Status.SUCCESS
    assert said[-1].issues == ("[low] Step step-1: Docs are thin",)


def test_a_goal_that_is_missed_without_a_word_still_gets_an_issue():
    state, _ = start()
    _, said = tell(state, plan(), results(green()), report("v-1", False))
    assert said[-1].previous_issues == ("[high] Step step-1: The goal is not reached",)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (plan("plan-1", steps=()), "no steps"),
        (plan("plan-1", steps=[f"s{i}" for i in range(9)]), "9 steps"),
        (
            ExecutionPlan(
                id="plan-1",
                request_id=R,
                goal="g",
                steps=(
                    Step(id="a", title="t", success_criteria=("c",), depends_on=("b",)),
                    Step(id="b", title="t", success_criteria=("c",), depends_on=("a",)),
                ),
            ),
            "wait for each other",
        ),
    ],
)
def test_a_plan_that_cannot_be_carried_out_is_replanned(bad, words):
    state, _ = start()
    state, said = coordinate(state, bad)
    request = only(said, PlanRequest)
    assert request.iteration == 2
    assert words in request.previous_issues[0]
    assert request.previous_plan == "plan-1"


def test_dependent_steps_wait_and_independent_ones_do_not():
    state, _ = start()
    state, said = coordinate(state, plan(steps=("a", "b"), chain=("c", "d")))
    assert [each.step.id for each in said] == ["a", "b", "c"]
    state, said = coordinate(state, results(green("a")))
    assert said == ()
    state, said = coordinate(state, results(green("c")))
    assert said == ()
    state, said = coordinate(state, results(green("b")))
    assert [each.step.id for each in said] == ["d"]
    state, said = coordinate(state, results(green("d")))
    assert isinstance(said[-1], VerifyRequest)


def test_only_so_many_steps_run_at_once():
    state, _ = start(steps_at_once=2)
    state, said = coordinate(state, plan(steps=("a", "b", "c")))
    assert [each.step.id for each in said] == ["a", "b"]
    state, said = coordinate(state, results(green("a"), green("b")))
    assert [each.step.id for each in said] == ["c"]


def test_a_failed_step_waits_for_what_is_under_way_and_starts_nothing_new():
    state, _ = start()
    state, _ = coordinate(state, plan(steps=("a", "b"), chain=("c", "d")))
    state, said = coordinate(state, results(red("c", summary="Does not compile")))
    assert (state.stage, said) == (Stage.EXECUTING, ())
    state, said = coordinate(state, results(green("a", summary="fine"), green("b")))
    request = only(said, PlanRequest)
    assert request.previous_issues == ("[high] Step c: Does not compile",)
    assert request.context.tried == ("Do a: fine", "Do b: done", "Do c: Does not compile")


def test_a_step_that_failed_for_good_ends_the_run():
    state, _ = start()
    _, said = tell(state, plan(), results(red(escalation=Escalation.FAIL_JOB)))
    response = said[-1]
    assert response.status is Status.FAILED
    assert response.issues == ("[high] Step step-1: The step did not pass its gate",)


@pytest.mark.parametrize("intent", [Intent.CONVERSATIONAL, Intent.DIAGNOSE, Intent.SMALL_FIX])
def test_a_small_intent_is_one_step_without_planner_or_verifier(intent):
    state, said = start(intent)
    task = only(said, ExecuteTask)
    assert task.step.title == "Add warning icon"
    may_mutate = intent is Intent.SMALL_FIX
    state, said = coordinate(state, results(green(mutated=may_mutate), plan_id=task.plan_id))
    assert only(said, UserResponse).status is Status.SUCCESS
    assert state.stage is Stage.RESPONDING


def test_planning_can_be_chosen_apart_from_the_intent():
    assert isinstance(start(Intent.SMALL_FIX, planned=True)[1][0], PlanRequest)
    assert isinstance(start(Intent.FEATURE_BUILD, planned=False)[1][0], ExecuteTask)


def test_a_small_change_without_proof_is_not_success():
    state, said = start(Intent.SMALL_FIX)
    unproven = results(green(evidence=(), proof=Strength.NOTHING), plan_id=said[0].plan_id)
    _, said = coordinate(state, unproven)
    response = only(said, UserResponse)
    assert response.status is Status.FAILED
    assert response.message == "Not done: the change has no passing verification."


def test_a_small_step_that_fails_ends_unless_it_asks_for_planning():
    state, said = start(Intent.SMALL_FIX)
    plan_id = said[0].plan_id
    _, said = coordinate(state, results(red(summary="Cannot find it."), plan_id=plan_id))
    assert only(said, UserResponse).message == "Not done: cannot find it."
    asked = red(escalation=Escalation.ROUTE_TO_PLANNING)
    state, said = coordinate(state, results(asked, plan_id=plan_id))
    assert only(said, PlanRequest).iteration == 2
    assert state.planned


STAGES = {
    Stage.PLANNING: (),
    Stage.EXECUTING: (plan(),),
    Stage.VERIFYING: (plan(), results(green())),
    Stage.RESPONDING: (plan(), results(green()), report()),
}


def at(stage):
    state, more = tell(start()[0], *STAGES.get(stage, STAGES[Stage.RESPONDING]))
    if stage is Stage.ENDED:
        state, _ = coordinate(state, more[-1])
    assert state.stage is stage
    return state


@pytest.mark.parametrize("stage", STAGES)
def test_duplicates_change_nothing(stage):
    state = at(stage)
    for message in STAGES[stage]:
        assert coordinate(state, message) == (state, ())


def test_a_duplicate_of_a_partial_result_changes_nothing():
    state, _ = tell(start()[0], plan(steps=("a", "b")), results(green("a")))
    assert coordinate(state, results(green("a"))) == (state, ())
    assert coordinate(state, results(red("a"))) == (state, ())


@pytest.mark.parametrize(
    "late",
    [
        plan("plan-1"),
        results(green(), plan_id="plan-1"),
        report("v-1", True),
        UserResponse(
            request_id=R, status=Status.SUCCESS, iterations=1, goal_achieved=True, message="x"
        ),
        Begin(),
    ],
)
def test_late_messages_of_an_earlier_iteration_change_nothing(late):
    state, _ = tell(start()[0], plan(), results(green()), report("v-1", False, issue()))
    assert state.iteration == 2
    for messages in ((), (plan("plan-2"),), (plan("plan-2"), results(green(), plan_id="plan-2"))):
        now, _ = tell(state, *messages)
        assert coordinate(now, late) == (now, ())


def test_a_plan_and_a_report_may_have_the_same_id():
    _, said = tell(start()[0], plan("1"), results(green(), plan_id="1"), report("1", True))
    assert said[-1].status is Status.SUCCESS


def test_messages_of_another_request_change_nothing():
    state = at(Stage.PLANNING)
    assert coordinate(state, replace(plan(), request_id="req-2")) == (state, ())


def test_a_foreign_response_does_not_end_the_run():
    state = at(Stage.RESPONDING)
    for forged in (
        replace(state.response, status=Status.CANCELLED),
        replace(state.response, request_id="another"),
    ):
        assert coordinate(state, forged) == (state, ())


def test_a_response_in_the_words_of_an_earlier_release_ends_the_run():
    state = at(Stage.RESPONDING)
    earlier = replace(state.response, message="Put otherwise.")
    ended, messages = coordinate(state, earlier)
    assert (ended.stage, ended.response, messages) == (Stage.ENDED, earlier, ())


@pytest.mark.parametrize("stage", [Stage.PLANNING, Stage.EXECUTING, Stage.VERIFYING])
@pytest.mark.parametrize(
    ("order", "status", "message"),
    [
        (Cancel(), Status.CANCELLED, "Cancelled."),
        (Cancel(why="wrong file"), Status.CANCELLED, "Cancelled: wrong file."),
        (Fail(error="The bus is gone."), Status.FAILED, "The bus is gone."),
    ],
)
def test_cancelling_and_failing_give_the_one_response(stage, order, status, message):
    state, said = coordinate(at(stage), order)
    response = only(said, UserResponse)
    assert (response.status, response.message) == (status, message)
    assert coordinate(state, order) == (state, ())


def test_an_error_inside_becomes_the_failed_response():
    broken = Coordinator(
        request_id=R, user_request="x", intent=Intent.FEATURE_BUILD, stage=Stage.EXECUTING
    )
    state, said = coordinate(broken, results(green()))
    response = only(said, UserResponse)
    assert response.status is Status.FAILED
    assert "The coordinator broke" in response.message
    assert state.stage is Stage.RESPONDING


def test_a_handler_cannot_go_where_its_row_does_not_say(monkeypatch):
    state = at(Stage.PLANNING)
    row = coordinator.TABLE[Stage.PLANNING, ExecutionPlan]
    narrow = row._replace(targets=(Stage.PLANNING,))
    monkeypatch.setitem(coordinator.TABLE, (Stage.PLANNING, ExecutionPlan), narrow)
    _, said = coordinate(state, plan())
    assert "may not go to executing" in only(said, UserResponse).message


@pytest.mark.parametrize(
    ("state", "line"),
    [
        (at(Stage.PLANNING), "Planning… (iteration 1/10)"),
        (at(Stage.EXECUTING), "Executing… (1 step)"),
        (tell(start()[0], plan(steps=("a", "b", "c", "d")))[0], "Executing… (4 steps)"),
        (at(Stage.VERIFYING), "Verifying… (checking goal)"),
        (
            tell(start()[0], plan(), results(green()), report("v", False, issue()))[0],
            "Re-planning… (tests failed)",
        ),
        (at(Stage.RESPONDING), "Reached: Add warning icon"),
        (at(Stage.ENDED), "Reached: Add warning icon"),
        (replace(at(Stage.PLANNING), stage=Stage.INTAKE), "Reading the request…"),
        (replace(at(Stage.PLANNING), stage=Stage.ENDED), "Ended"),
        (replace(at(Stage.PLANNING), stage=Stage.EXECUTING), "Executing… (0 steps)"),
    ],
)
def test_progress_is_one_line_for_people(state, line):
    assert progress(state) == line


def test_the_state_survives_the_journal():
    state = at(Stage.VERIFYING)
    assert msgspec.json.decode(msgspec.json.encode(state), type=Coordinator) == state


def test_every_stage_but_the_last_has_a_way_out_and_no_move_is_given_twice():
    keys = [(row.stage, row.message) for row in ROWS]
    assert len(keys) == len(set(keys))
    assert {row.stage for row in ROWS} == set(Stage) - {Stage.ENDED}
