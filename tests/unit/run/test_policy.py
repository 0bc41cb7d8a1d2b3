"""Of two policies the stricter value of every field holds."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.unit.run.walking import Walk

from flyball.guards.guard import GuardLimits
from flyball.run.event import Tightened
from flyball.run.policy import OnWeakened, Policy, stricter
from flyball.terms.budget import Extension

LAX_AND_STRICT: dict[str, tuple[Any, Any]] = {
    "reserve": (1, 5),
    "max_tool_rounds": (200, 20),
    "max_tokens": (0, 1000),
    "max_money": (0.0, 2.5),
    "max_scope_drift": (9, 1),
    "max_rejections": (9, 1),
    "max_continues": (9, 1),
    "max_turns": (900, 10),
    "max_driver_errors": (9, 0),
    "max_iterations": (50, 1),
    "steps_at_once": (9, 1),
    "context_tokens": (900_000, 1_000),
    "approve_checkpoint": (False, True),
    "preview": (False, True),
    "assume_yes": (True, False),
    "bash": (True, False),
    "bash_without_sandbox": (True, False),
    "release_keep_regions": (True, False),
    "self_modify": (True, False),
    "web": (True, False),
    "review": (False, True),
    "plan_big_requests": (False, True),
    "hosted": (True, False),
    "slack": (10, 1),
    "edition": (3, 2),
    "weakened_tests": (OnWeakened.ALLOW, OnWeakened.REFUSE),
    "strictness": ("lenient", "strict"),
    "guards": (GuardLimits(repetition_hard=0), GuardLimits(repetition_hard=4)),
}
GUARDS: dict[str, tuple[Any, Any]] = {
    **{
        name: (0, 2)
        for name in GuardLimits.__struct_fields__
        if name.endswith(("_soft", "_hard")) and not name.startswith("time")
    },
    "cycle_max": (2, 5),
    "plan_seconds": (None, 60.0),
    "build_seconds": (600.0, 60.0),
    "time_soft": (0.9, 0.5),
    "time_hard": (2.0, 1.0),
}


def both_ways(lax: Any, strict: Any, make: Any) -> None:
    assert make(lax, strict) == make(strict, lax) == make(strict, strict) == strict
    assert make(lax, lax) == lax


def test_each_field_of_a_policy_takes_its_stricter_value_from_either_side() -> None:
    assert LAX_AND_STRICT.keys() == set(Policy.__struct_fields__)
    for name, (lax, strict) in LAX_AND_STRICT.items():

        def joined(one: Any, other: Any, name: str = name) -> Any:
            return getattr(stricter(Policy(**{name: one}), Policy(**{name: other})), name)

        both_ways(lax, strict, joined)


def test_each_guard_takes_its_stricter_limit_from_either_side() -> None:
    assert GUARDS.keys() == set(GuardLimits.__struct_fields__)
    for name, (lax, strict) in GUARDS.items():

        def joined(one: Any, other: Any, name: str = name) -> Any:
            policies = [Policy(guards=GuardLimits(**{name: each})) for each in (one, other)]
            return getattr(stricter(*policies).guards, name)

        both_ways(lax, strict, joined)


def test_a_field_without_a_rule_is_an_error_and_not_the_submitters_to_settle() -> None:
    class Wider(Policy, frozen=True):
        new: bool = True

    with pytest.raises(KeyError):
        stricter(Wider(), Wider())


def test_an_unknown_word_counts_as_the_strictest() -> None:
    assert stricter(Policy(strictness="odd"), Policy(strictness="lenient")).strictness == "odd"


def test_a_machine_tightens_a_run_and_never_loosens_it() -> None:
    travelling = Policy(bash=True, bash_without_sandbox=True, assume_yes=True, max_tokens=900)
    walk = Walk(policy=travelling)
    walk.happens(Tightened(by="worker", policy=Policy(bash=True, max_tokens=100)))
    policy = walk.state.policy
    assert (policy.bash, policy.bash_without_sandbox, policy.assume_yes) == (True, False, False)
    assert walk.state.budget.tokens == 100
    everything = Policy(bash=True, bash_without_sandbox=True, assume_yes=True, web=True)
    walk.happens(Tightened(by="another worker", policy=everything))
    assert walk.state.policy == policy


def test_a_machine_without_a_sandbox_takes_that_of_the_machine_before_away() -> None:
    walk = Walk()
    walk.happens(Tightened(by="worker", policy=Policy()))
    assert walk.state.project.sandbox == "kernel"
    walk.happens(Tightened(by="worker", policy=Policy(), has_sandbox=False))
    assert walk.state.project.sandbox == "none"


def test_a_persons_extension_outlives_the_tightening() -> None:
    walk = Walk()
    extended = walk.state.budget.extend(Extension("ann", 5, "more"))
    walk.state = msgspec.structs.replace(walk.state, budget=extended)
    walk.happens(Tightened(by="worker", policy=Policy(reserve=4)))
    assert (walk.state.budget.extensions, walk.state.budget.reserve) == (extended.extensions, 4)
