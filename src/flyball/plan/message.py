"""Messages between coordinator, planner, executor and verifier.

Names and fields are a contract: they go over the bus, into the journal and to other programs.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import msgspec

from flyball.plan.template import Escalation
from flyball.terms.evidence import Strength

Id = Annotated[str, msgspec.Meta(min_length=1)]


class Severity(StrEnum):
    """Severity of an issue, worst first."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Status(StrEnum):
    """The result of a request."""

    SUCCESS = "success"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Work(StrEnum):
    """What a plan does with the work of a failed iteration."""

    KEEP = "keep"
    ROLLBACK = "rollback"


class MessagePart(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A value inside a message."""


class Context(MessagePart, frozen=True, kw_only=True):
    """The subject of a request, and what earlier iterations tried."""

    target: str = "project"
    self_modify: bool = False
    tried: tuple[str, ...] = ()


class Step(MessagePart, frozen=True, kw_only=True):
    """One step of a plan; `work` says what happens to a failed iteration's work before it."""

    id: Id
    title: str
    description: str = ""
    success_criteria: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    template: str = ""
    work: Work = Work.KEEP


class StepResult(MessagePart, frozen=True, kw_only=True):
    """The result of a step; `evidence` and its strength are the governor's own facts."""

    step_id: Id
    success: bool
    summary: str = ""
    mutated: bool = False
    evidence: tuple[str, ...] = ()
    proof: Strength = Strength.NOTHING
    escalation: Escalation | None = None


class Issue(MessagePart, frozen=True, kw_only=True):
    """A problem that was found."""

    step_id: str
    issue: str
    severity: Severity = Severity.HIGH

    def __str__(self) -> str:
        return f"[{self.severity}] Step {self.step_id}: {self.issue}"


class NextAction(MessagePart, frozen=True, kw_only=True):
    """A suggestion of what to do next."""

    type: str
    description: str
    priority: str = "medium"


class Message(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="type", forbid_unknown_fields=True
):
    """A message about one request."""

    request_id: Id


class PlanRequest(Message, frozen=True, kw_only=True, tag="plan_request"):
    """Asks the planner for a plan, with what went wrong before."""

    user_request: str
    context: Context = Context()
    iteration: int = 1
    previous_plan: str = ""
    previous_issues: tuple[str, ...] = ()


class ExecutionPlan(Message, frozen=True, kw_only=True, tag="execution_plan"):
    """The planner's plan."""

    id: Id
    goal: str
    steps: tuple[Step, ...]


class ExecuteTask(Message, frozen=True, kw_only=True, tag="execute_task"):
    """Asks the executor for one step."""

    plan_id: Id
    step: Step


class ExecutionResults(Message, frozen=True, kw_only=True, tag="execution_results"):
    """The results of one or more steps."""

    plan_id: Id
    step_results: tuple[StepResult, ...]
    all_success: bool


class VerifyRequest(Message, frozen=True, kw_only=True, tag="verify_request"):
    """Asks the verifier whether the goal is reached."""

    plan_id: Id
    goal: str
    results: tuple[StepResult, ...]


class VerificationReport(Message, frozen=True, kw_only=True, tag="verification_report"):
    """The verifier's findings."""

    id: Id
    goal_achieved: bool
    issues: tuple[Issue, ...] = ()
    next_actions: tuple[NextAction, ...] = ()


class UserResponse(Message, frozen=True, kw_only=True, tag="user_response"):
    """The one answer that a request gets."""

    status: Status
    iterations: int
    goal_achieved: bool
    message: str
    issues: tuple[str, ...] = ()
    next_actions: tuple[NextAction, ...] = ()


AnyMessage = (
    PlanRequest
    | ExecutionPlan
    | ExecuteTask
    | ExecutionResults
    | VerifyRequest
    | VerificationReport
    | UserResponse
)

MESSAGES: tuple[type[Message], ...] = AnyMessage.__args__


def name_of(kind: type[Message]) -> str:
    """Return a message's name on the bus."""
    return str(kind.__struct_config__.tag)
