"""Whatever arrives, in whatever order and however often: one response, within the bound."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from flyball.plan.coordinator import (
    ROWS,
    Cancel,
    Fail,
    Stage,
    begin,
    coordinate,
)
from flyball.plan.message import (
    ExecuteTask,
    ExecutionPlan,
    ExecutionResults,
    Issue,
    PlanRequest,
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

R = "req"
PLAN_IDS = [f"{R}-plan", *(f"plan-{n}" for n in range(6))]
STEP_IDS = ["step-1", "step-2", "step-3"]
TARGETS = {(row.stage, target) for row in ROWS for target in row.targets}

ids = st.sampled_from(STEP_IDS)
steps = st.builds(
    Step,
    id=ids,
    title=st.just("t"),
    success_criteria=st.sampled_from([("c",), ("c",), ()]),
    depends_on=st.lists(ids, max_size=1).map(tuple),
)
plans = st.builds(
    ExecutionPlan,
    id=st.sampled_from(PLAN_IDS),
    request_id=st.just(R),
    goal=st.just("g"),
    steps=st.lists(steps, max_size=4).map(tuple),
)
step_results = st.builds(
    StepResult,
    step_id=ids,
    success=st.booleans(),
    mutated=st.booleans(),
    evidence=st.sampled_from([(), ("e",)]),
    proof=st.sampled_from(Strength),
    escalation=st.sampled_from(
        [None, None, None, Escalation.ROUTE_TO_PLANNING, Escalation.FAIL_JOB]
    ),
)
results = st.builds(
    ExecutionResults,
    request_id=st.sampled_from([R, R, R, "other"]),
    plan_id=st.sampled_from(PLAN_IDS),
    step_results=st.lists(step_results, max_size=4).map(tuple),
    all_success=st.booleans(),
)
reports = st.builds(
    VerificationReport,
    id=st.sampled_from([f"v-{n}" for n in range(6)]),
    request_id=st.just(R),
    goal_achieved=st.booleans(),
    issues=st.lists(st.builds(Issue, step_id=ids, issue=st.just("broken")), max_size=2).map(tuple),
)
orders = st.sampled_from([Cancel(why="enough"), Fail(error="gone")])
stories = st.lists(st.one_of(plans, plans, results, results, results, reports, orders), max_size=40)


def play(state, story):
    """Every message that is said on the way, and every state."""
    said, states = (), [state]
    for message in story:
        state, more = coordinate(state, message)
        said += more
        states.append(state)
    return states, said


def responses(said):
    return [message for message in said if isinstance(message, UserResponse)]


def start(intent, limit):
    return begin(R, "do it", intent, max_iterations=limit)


@given(st.sampled_from(Intent), st.integers(1, 4), stories)
def test_there_is_never_more_than_one_response_and_one_can_always_be_had(intent, limit, story):
    state, _ = start(intent, limit)
    states, said = play(state, story)
    found = responses(said)
    assert len(found) <= 1
    assert all(each.iteration <= limit for each in states)
    ended, more = play(states[-1], [Cancel()])
    found += responses(more)
    assert len(found) == 1
    closed, after = play(ended[-1], found)
    assert closed[-1].stage is Stage.ENDED
    assert after == ()


@given(st.sampled_from(Intent), st.integers(1, 4), stories)
def test_every_step_taken_is_in_the_table(intent, limit, story):
    states, _ = play(start(intent, limit)[0], story)
    for before, after in pairwise(states):
        assert before == after or (before.stage, after.stage) in TARGETS


@given(st.sampled_from(Intent), st.integers(1, 4), stories, st.data())
def test_a_message_that_is_delivered_twice_counts_once(intent, limit, story, data):
    state, _ = start(intent, limit)
    twice = [copy for message in story for copy in [message] * data.draw(st.integers(1, 2))]
    once_states, once_said = play(state, story)
    twice_states, twice_said = play(state, twice)
    assert twice_states[-1] == once_states[-1]
    assert twice_said == once_said


def answer(message, n, draw):
    """What a planner, executor or verifier of mixed honesty says to a message."""
    match message:
        case PlanRequest():
            return replace(draw(plans), id=f"p-{n}")
        case ExecuteTask():
            result = replace(draw(step_results), step_id=message.step.id)
            return ExecutionResults(
                request_id=R,
                plan_id=message.plan_id,
                step_results=draw(st.sampled_from([(result,), (result,), (result,), ()])),
                all_success=draw(st.booleans()) or result.success,
            )
        case VerifyRequest():
            return replace(draw(reports), id=f"v-{n}")
        case _:
            return message


@given(st.sampled_from(Intent), st.integers(1, 10), st.data())
def test_a_run_whose_every_message_is_answered_ends_with_one_response(intent, limit, data):
    state, said = start(intent, limit)
    waiting, heard, all_said = list(said), 0, list(said)
    while waiting:
        heard += 1
        message = waiting.pop(data.draw(st.integers(0, len(waiting) - 1)))
        reply = answer(message, heard, data.draw)
        state, said = coordinate(state, reply)
        waiting += said
        all_said += said
        if data.draw(st.booleans()):
            assert coordinate(state, reply) == (state, ())
    assert state.stage is Stage.ENDED
    assert len(responses(all_said)) == 1
    assert state.iteration <= limit
    assert heard <= limit * (2 + len(STEP_IDS)) + 1


@given(st.sampled_from(Intent), st.integers(1, 4), stories)
def test_success_is_never_said_without_evidence_for_every_change(intent, limit, story):
    states, said = play(start(intent, limit)[0], story)
    for response in responses(said):
        if response.status is Status.SUCCESS:
            done = states[-1].results
            assert response.goal_achieved
            assert done
            assert all(each.success for each in done)
            assert all(
                each.evidence and each.proof >= Strength.SHOWN for each in done if each.mutated
            )
