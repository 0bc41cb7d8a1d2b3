"""What a run is held to, and what is known of the project it works on."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from flyball.core.memory.guard import GuardLimits
from flyball.core.terms.budget import DEFAULT_RESERVE
from flyball.core.terms.intent import MAX_TOOL_ROUNDS


class OnWeakened(StrEnum):
    """What happens when a change makes tests easier to pass."""

    ASK = "ask"
    ALLOW = "allow"
    REFUSE = "refuse"


class Policy(msgspec.Struct, frozen=True, omit_defaults=True):
    """Every number and switch that `advance` and `decide` consult; fixed when the run starts."""

    reserve: int = DEFAULT_RESERVE
    max_tool_rounds: int = MAX_TOOL_ROUNDS
    max_tokens: int = 0
    max_money: float = 0.0
    max_scope_drift: int = 3
    max_rejections: int = 3
    max_continues: int = 8
    max_turns: int = 400
    max_driver_errors: int = 3
    max_iterations: int = 10
    steps_at_once: int = 4
    context_tokens: int = 120_000
    approve_checkpoint: bool = False
    preview: bool = False
    assume_yes: bool = False
    bash: bool = False
    bash_without_sandbox: bool = False
    release_keep_regions: bool = False
    self_modify: bool = False
    web: bool = False
    """A provider may search the web and fetch from it, where its model has such tools."""
    review: bool = True
    plan_big_requests: bool = True
    hosted: bool = False
    """The driver is an agent in its own program: it has none of our tools to verify with, so that
    its stop is what the verdict is taken on; and its person follows it there."""
    weakened_tests: OnWeakened = OnWeakened.ASK
    strictness: str = "normal"
    guards: GuardLimits = GuardLimits()

    def around_host(self) -> Policy:
        """The same as it holds for an agent that has its own tools and its own sandbox."""
        return msgspec.structs.replace(
            self,
            hosted=True,
            bash=True,
            bash_without_sandbox=True,
            review=False,
            plan_big_requests=False,
            reserve=0,
        )


class Project(msgspec.Struct, frozen=True, omit_defaults=True):
    """What Flyball found in the workspace that can verify a change."""

    runners: tuple[str, ...] = ()
    """What can run its tests; without any, a change is shown by checks."""
    checks: tuple[str, ...] = ()
    has_git: bool = True
    sandbox: str = "none"
    means: tuple[str, ...] = ()
    """What this machine has for tools that need more than files: see `ToolRow.needs`."""
