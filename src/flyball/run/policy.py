"""The policy of a run, and what is known of the project it works on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

import msgspec

from flyball.guards.guard import GuardLimits
from flyball.terms.budget import DEFAULT_RESERVE
from flyball.terms.intent import MAX_TOOL_ROUNDS

HOST_SLACK = 10
"""Around a host a budget is reported, and only ten times as many calls are too many."""


class OnWeakened(StrEnum):
    """The reaction to a change that makes tests easier to pass."""

    ASK = "ask"
    ALLOW = "allow"
    REFUSE = "refuse"


EDITION = 3
"""The rules under which runs begin: Flyball inspects at a stop, a question holds one call."""


class Policy(msgspec.Struct, frozen=True, omit_defaults=True):
    """All settings that `advance` and `decide` use; fixed when the run starts."""

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
    edition: int = EDITION
    """The format under whose rules the run was begun; it is folded by them for ever."""
    hosted: bool = False
    """The driver is an agent in its own program: it cannot use Flyball's tools to verify, so the
    verdict is taken at its stop; and its person follows it there.
    """
    slack: int = 1
    """How many times a budget of calls may be spent before calls are refused."""
    weakened_tests: OnWeakened = OnWeakened.ASK
    strictness: str = "normal"
    guards: GuardLimits = GuardLimits()

    @property
    def is_current(self) -> bool:
        """Return whether the run started under the current rules rather than those of an older
        release."""
        return self.edition >= EDITION

    def around_host(self, *, is_strict: bool = False) -> Policy:
        """Return the policy for an agent that has its own tools and its own sandbox."""
        return msgspec.structs.replace(
            self,
            hosted=True,
            bash=True,
            bash_without_sandbox=True,
            review=False,
            plan_big_requests=False,
            reserve=0,
            slack=1 if is_strict else HOST_SLACK,
            guards=msgspec.structs.replace(self.guards, reading_on_soft=0, reading_on_hard=0),
        )


def _lowest_limit(one: Any, other: Any) -> Any:
    """Return the lower of two limits; zero and None mean no limit."""
    limits = [each for each in (one, other) if each]
    return min(limits) if limits else one


def _both(one: bool, other: bool) -> bool:
    return one and other


def _either(one: bool, other: bool) -> bool:
    return one or other


def _later_of(*order: str) -> Callable[[str, str], str]:
    """Return a function that picks the later word in an order; an unknown word is the strictest."""

    def rule(one: str, other: str) -> str:
        return max(one, other, key=lambda each: order.index(each) if each in order else len(order))

    return rule


def _stricter_guards(one: GuardLimits, other: GuardLimits) -> GuardLimits:
    return GuardLimits(**_joined(one, other, _GUARD_RULES))


def _joined(
    one: msgspec.Struct, other: msgspec.Struct, rules: Mapping[str, Callable[[Any, Any], Any]]
) -> dict[str, Any]:
    names = one.__struct_fields__
    return {name: rules[name](getattr(one, name), getattr(other, name)) for name in names}


_GUARD_RULES: Mapping[str, Callable[[Any, Any], Any]] = {
    **{
        name: _lowest_limit
        for name in GuardLimits.__struct_fields__
        if name.endswith(("_soft", "_hard", "_seconds"))
    },
    # The longer the cycles that are looked for, the more are found.
    "cycle_max": max,
}
_RULES: Mapping[str, Callable[[Any, Any], Any]] = {
    "edition": min,
    "reserve": max,
    "max_tool_rounds": min,
    "max_tokens": _lowest_limit,
    "max_money": _lowest_limit,
    "max_scope_drift": min,
    "max_rejections": min,
    "max_continues": min,
    "max_turns": min,
    "max_driver_errors": min,
    "max_iterations": min,
    "steps_at_once": min,
    "context_tokens": min,
    "approve_checkpoint": _either,
    "preview": _either,
    "assume_yes": _both,
    "bash": _both,
    "bash_without_sandbox": _both,
    "release_keep_regions": _both,
    "self_modify": _both,
    "web": _both,
    "review": _either,
    "plan_big_requests": _either,
    "hosted": _both,
    "slack": min,
    "weakened_tests": _later_of(OnWeakened.ALLOW, OnWeakened.ASK, OnWeakened.REFUSE),
    "strictness": _later_of("lenient", "normal", "strict"),
    "guards": _stricter_guards,
}
"""Which of two values of a field allows less; a field without a rule is an error."""


def stricter(travelling: Policy, own: Policy) -> Policy:
    """Combine two policies, the run's and the machine's: only what both allow is allowed."""
    return Policy(**_joined(travelling, own, _RULES))


class Project(msgspec.Struct, frozen=True, omit_defaults=True):
    """The available means of verifying a change to the project."""

    runners: tuple[str, ...] = ()
    """What can run its tests; without any, a change is verified by checks."""
    checks: tuple[str, ...] = ()
    serves: bool = False
    """Whether it has pages or an interface that a server of its own can show."""
    has_git: bool = True
    sandbox: str = "none"
    means: tuple[str, ...] = ()
    """What this machine has for tools that need more than files: see `ToolRow.needs`."""
