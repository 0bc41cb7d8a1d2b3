"""Where the coordination of a run stands, and what it can be told from outside the bus."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from flyball.core.plan.message import (
    Context,
    ExecutionPlan,
    Issue,
    NextAction,
    StepResult,
    UserResponse,
)
from flyball.core.terms.intent import Intent

MAX_ITERATIONS = 10
STEPS_AT_ONCE = 4


class Stage(StrEnum):
    """Where a run stands between request and response."""

    INTAKE = "intake"
    PLANNING = "planning"
    EXECUTING = "executing"
    VERIFYING = "verifying"
    RESPONDING = "responding"
    ENDED = "ended"


class Order(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """Something told to the coordinator from outside the bus."""


class Begin(Order, frozen=True, kw_only=True, tag="begin"):
    """Start on the request."""


class Cancel(Order, frozen=True, kw_only=True, tag="cancel"):
    """A person wants no more of it."""

    why: str = ""


class Fail(Order, frozen=True, kw_only=True, tag="fail"):
    """Something broke that no plan can mend."""

    error: str


class Unplanned(Order, frozen=True, kw_only=True, tag="unplanned"):
    """The planner came to an end without a plan."""

    why: str


class Coordinator(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything that the coordination of one run has to remember."""

    request_id: str
    user_request: str
    intent: Intent
    context: Context = Context()
    max_iterations: int = MAX_ITERATIONS
    steps_at_once: int = STEPS_AT_ONCE
    planned: bool = True
    templates: tuple[str, ...] = ()
    """The templates that a step may name; without any, every name is taken."""
    stage: Stage = Stage.INTAKE
    iteration: int = 1
    plan: ExecutionPlan | None = None
    started: tuple[str, ...] = ()
    results: tuple[StepResult, ...] = ()
    seen: tuple[str, ...] = ()
    issues: tuple[Issue, ...] = ()
    next_actions: tuple[NextAction, ...] = ()
    response: UserResponse | None = None
