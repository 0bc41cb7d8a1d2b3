"""The built-in templates."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from flyball.plan.template import (
    ROUTE_TO_PLANNING,
    Escalation,
    EvidenceSchema,
    GateUse,
    OnFail,
    OnPass,
    Role,
    Template,
)
from flyball.terms.intent import Intent
from flyball.terms.phase import Phase

_LOOK = (Phase.ANALYZE_CODE, Phase.FINAL)
_STUDY = (Phase.ANALYZE_CODE, Phase.RESEARCH, Phase.DESIGN, Phase.FINAL)
_ALL = (
    Phase.ANALYZE_CODE,
    Phase.RESEARCH,
    Phase.DESIGN,
    Phase.CHECKPOINT,
    Phase.EXECUTE,
    Phase.VERIFY,
    Phase.FINAL,
)

_INTACT = (
    GateUse("keep_regions_intact", description="Marked regions stay as they are."),
    GateUse("no_secrets_added", description="Nothing that looks like a secret is added."),
)
_HONEST = (
    GateUse("tests_not_weakened", description="No test gets easier to pass."),
    *_INTACT,
)

ANSWER = Template(
    step_id="answer",
    title="Answer",
    objective="Answer from the conversation alone.",
    prompt_template="Answer the person briefly. No tool is available, and none is needed.",
    phases=(Phase.FINAL,),
)

STATUS = Template(
    step_id="status",
    title="Report the status",
    objective="Report the current state from what can be observed now.",
    prompt_template=(
        "Look once or twice, then report the current state. Name what you looked at. Change "
        "nothing."
    ),
    phases=_LOOK,
)

DIAGNOSE = Template(
    step_id="diagnose",
    title="Find the cause",
    objective="Explain why it happens, with the place in the code and how to see it.",
    prompt_template=(
        "Find the cause. Reproduce the failure if a test or a page can show it. Say what happens, "
        "where, why, and the smallest change that would fix it. Change nothing."
    ),
    injections=("ledger", "repo_map"),
    phases=_LOOK,
)

FIX = Template(
    step_id="fix",
    title="Fix it",
    objective="Make the smallest change that fixes the cause, and show that it does.",
    prompt_template=(
        "Find the cause first, then state your checkpoint. Prefer minimal diffs. Where a test can "
        "show the fault, write it first: it must fail before the change and pass after it."
    ),
    injections=("ledger", "repo_map"),
    gates=_HONEST,
    falsify=True,
)

FEATURE = Template(
    step_id="feature",
    title="Build it",
    objective="Add what was asked for, with tests that show it works.",
    prompt_template=(
        "Follow the way the project already does such things. State your checkpoint, "
        "build in small steps, add tests for what is new, and run the whole suite at the end."
    ),
    injections=("ledger", "repo_map", "plan"),
    gates=_HONEST,
    phases=_ALL,
)

STEP = Template(
    step_id="step",
    title="Do one step",
    objective="Do this one step of the plan, with evidence that its criteria hold.",
    prompt_template=(
        "Do only what this step asks, nothing from the other steps. State your checkpoint, make "
        "the change, and show with tests that every success criterion holds."
    ),
    injections=("plan", "ledger", "repo_map"),
    gates=_HONEST,
    on_fail=OnFail(escalate_policy=Escalation.ROUTE_TO_PLANNING),
)

PLAN = Template(
    step_id="plan",
    title="Plan the work",
    objective="Cut the request into one to eight steps that can each be verified.",
    prompt_template=(
        "Read what is needed to plan. Answer with an execution plan: a goal and one to eight "
        "steps, each with an id, a title, success criteria that can be checked, and the steps it "
        "depends on. Take the issues of earlier iterations into account. Change nothing."
    ),
    injections=("issues", "diff", "ledger", "repo_map"),
    role=Role.PLANNER,
    phases=_STUDY,
)

VERIFY = Template(
    step_id="verify",
    title="Verify the goal",
    objective="Judge from evidence whether the goal is reached.",
    prompt_template=(
        "Run the checks that would fail if the goal were not reached. Report the goal as achieved "
        "only on their evidence; list every issue with its step and severity. Change nothing."
    ),
    injections=("plan", "diff", "evidence"),
    role=Role.VERIFIER,
    phases=_LOOK,
)

REVIEW = Template(
    step_id="review",
    title="Review the change",
    objective="Name the risk of the change and what it takes for granted.",
    prompt_template=(
        "Read the diff and the findings. Note the risk (low, medium or high, and why) and every "
        "assumption the change makes. Change nothing."
    ),
    injections=("diff", "findings", "evidence"),
    role=Role.REVIEWER,
    phases=_LOOK,
)

REFACTOR = Template(
    step_id="refactor",
    title="Refactor",
    objective="Change the shape of the code and nothing that it does.",
    prompt_template=(
        "Run the suite before you begin. Change structure only; leave the tests as they are and "
        "keep them green after every step."
    ),
    injections=("ledger", "repo_map"),
    gates=(GateUse("tests_pass", description="What worked before still works."), *_HONEST),
)

TEST_FIRST = Template(
    step_id="test-first",
    title="Test first",
    objective="Write a test that fails for the right reason, then make it pass.",
    prompt_template=(
        "Write the test and see it fail. Then write the least code that makes it pass, and run the "
        "whole suite."
    ),
    injections=("ledger", "repo_map"),
    gates=(
        GateUse("tests_pass", description="The suite is green with the change."),
        GateUse("new_test_fails_before", description="The new test is red without it."),
        *_HONEST,
    ),
    falsify=True,
)

DIAGNOSE_FAILURE = Template(
    step_id="D1",
    title="Diagnose failure",
    objective=("Explain why the gates failed and propose a minimal safe fix or planning update."),
    prompt_template=(
        "Diagnose ONLY. Do not implement fixes unless explicitly allowed.\n\n"
        "Output: diagnosis + proposed repair plan + risk list."
    ),
    injections=("ledger", "repo_map", "verdicts"),
    evidence_schema=EvidenceSchema(
        required=("diff_summary", "notes", "devlog_line"),
        optional=("commands_run", "artifacts_created"),
        criteria_checklist={"c1": "Failure explained", "c2": "Repair plan proposed"},
    ),
    gates=(
        GateUse(
            "criteria_checklist_complete",
            description="Diagnosis must cover all required criteria.",
        ),
    ),
    on_fail=OnFail(max_retries=0, escalate_policy=Escalation.PAUSE_FOR_HUMAN),
    on_pass=OnPass(next_step_id=ROUTE_TO_PLANNING),
    human_review=True,
    checkpoint=True,
    role=Role.RESEARCHER,
    phases=_LOOK,
)

LIBRARY: Mapping[str, Template] = MappingProxyType(
    {
        template.step_id: template
        for template in (
            ANSWER,
            STATUS,
            DIAGNOSE,
            FIX,
            FEATURE,
            STEP,
            PLAN,
            VERIFY,
            REVIEW,
            REFACTOR,
            TEST_FIRST,
            DIAGNOSE_FAILURE,
        )
    }
)

_BY_INTENT: Mapping[Intent, Template] = MappingProxyType(
    {
        Intent.CONVERSATIONAL: ANSWER,
        Intent.STATUS_CHECK: STATUS,
        Intent.DIAGNOSE: DIAGNOSE,
        Intent.SMALL_FIX: FIX,
        Intent.FEATURE_BUILD: FEATURE,
        Intent.AUTONOMOUS: FEATURE,
    }
)


def template_for(intent: Intent) -> Template:
    """Return the template for a request of this intent."""
    return _BY_INTENT[intent]
