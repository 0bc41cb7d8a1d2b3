import pytest

from flyball.plan.escalation import ROWS, Strictness, Trouble, escalate, worst_failure
from flyball.plan.template import Escalation, GateUse, OnFail
from flyball.plan.verdict import Failed, Missing, Passed

E = Escalation
PLAN = OnFail(max_retries=2, escalate_policy=E.ROUTE_TO_PLANNING)


def test_there_is_one_row_for_each_error_and_strictness():
    keys = [(row.trouble, row.strictness) for row in ROWS]
    assert keys == [(trouble, strictness) for trouble in Trouble for strictness in Strictness]


@pytest.mark.parametrize(
    ("trouble", "strictness", "attempts", "diagnosed", "expected"),
    [
        (Trouble.FAILING_CHECK, "normal", 1, False, E.RETRY),
        (Trouble.FAILING_CHECK, "normal", 2, False, E.RETRY),
        (Trouble.FAILING_CHECK, "normal", 3, False, E.DIAGNOSE),
        (Trouble.FAILING_CHECK, "normal", 4, True, E.ROUTE_TO_PLANNING),
        (Trouble.FAILING_CHECK, "strict", 3, False, E.ROUTE_TO_PLANNING),
        (Trouble.MISSING_EVIDENCE, "strict", 2, False, E.RETRY),
        (Trouble.TOOL_TROUBLE, "normal", 3, False, E.PAUSE_FOR_HUMAN),
        (Trouble.TOOL_TROUBLE, "strict", 1, False, E.PAUSE_FOR_HUMAN),
        (Trouble.NO_PROGRESS, "normal", 1, False, E.DIAGNOSE),
        (Trouble.NO_PROGRESS, "normal", 2, True, E.ROUTE_TO_PLANNING),
        (Trouble.FORBIDDEN_CHANGE, "lenient", 1, False, E.RETRY),
        (Trouble.FORBIDDEN_CHANGE, "normal", 3, False, E.PAUSE_FOR_HUMAN),
        (Trouble.FORBIDDEN_CHANGE, "strict", 1, False, E.PAUSE_FOR_HUMAN),
        (Trouble.FORBIDDEN_CHANGE, "strict", 3, False, E.FAIL_JOB),
    ],
)
def test_what_follows_a_failure(trouble, strictness, attempts, diagnosed, expected):
    found = escalate(trouble, attempts, PLAN, Strictness(strictness), diagnosed=diagnosed)
    assert found is expected


@pytest.mark.parametrize("policy", [E.RETRY, E.DIAGNOSE])
def test_a_policy_that_would_go_round_again_asks_a_person(policy):
    on_fail = OnFail(max_retries=0, escalate_policy=policy)
    assert escalate(Trouble.FAILING_CHECK, 1, on_fail, diagnosed=True) is E.PAUSE_FOR_HUMAN


def test_a_strict_template_may_still_ask_for_a_diagnosis():
    on_fail = OnFail(max_retries=0, escalate_policy=E.DIAGNOSE)
    assert escalate(Trouble.FAILING_CHECK, 1, on_fail, Strictness.STRICT) is E.DIAGNOSE


def test_the_seeds_diagnosis_pauses_for_a_person():
    on_fail = OnFail(max_retries=0, escalate_policy=E.PAUSE_FOR_HUMAN)
    assert escalate(Trouble.MISSING_EVIDENCE, 1, on_fail, diagnosed=True) is E.PAUSE_FOR_HUMAN


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([], None),
        ([("tests_pass", Passed())], None),
        ([("tests_pass", Missing("m"))], Trouble.MISSING_EVIDENCE),
        ([("tests_pass", Missing("m")), ("http_ok", Failed("f"))], Trouble.FAILING_CHECK),
        ([("diff_within", Failed("f")), ("http_ok", Failed("f"))], Trouble.FORBIDDEN_CHANGE),
        ([("diff_within", Missing("m"))], Trouble.MISSING_EVIDENCE),
        ([("no_such_gate", Failed("f"))], Trouble.FAILING_CHECK),
    ],
)
def test_the_gravest_verdict_gives_the_class_of_the_error(verdicts, expected):
    assert worst_failure([(GateUse(name), verdict) for name, verdict in verdicts]) is expected
