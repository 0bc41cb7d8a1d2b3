"""Flyball: a governor for coding agents.

The names below are the public API. Each is imported on first use, so that importing the package is
cheap.
"""

from __future__ import annotations

from importlib import import_module

# Not from `typing`, whose import takes longer than a hook may.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from flyball.errors import FlyballError
    from flyball.guards.guard import GuardLimits, Trip
    from flyball.intent.classifier import classify
    from flyball.patch import PatchResult, apply_diff
    from flyball.plan.gate import judge_done
    from flyball.plan.template import Template
    from flyball.run.decision import Allow, Ask, Decision, Deny, decide
    from flyball.run.machine import Move, advance, moves, replay
    from flyball.run.policy import Policy
    from flyball.run.state import CardState, RunState, Transition
    from flyball.shell import Judgement, judge
    from flyball.terms.call import Access, Call, Outcome
    from flyball.terms.intent import Intent, Reading
    from flyball.terms.phase import Phase

__all__ = [
    "Access",
    "Allow",
    "Ask",
    "Call",
    "CardState",
    "Decision",
    "Deny",
    "FlyballError",
    "GuardLimits",
    "Intent",
    "Judgement",
    "Move",
    "Outcome",
    "PatchResult",
    "Phase",
    "Policy",
    "Reading",
    "RunState",
    "Template",
    "Transition",
    "Trip",
    "advance",
    "apply_diff",
    "classify",
    "decide",
    "judge",
    "judge_done",
    "moves",
    "replay",
]

_HOMES = {
    "Access": "terms.call",
    "Allow": "run.decision",
    "Ask": "run.decision",
    "Call": "terms.call",
    "CardState": "run.state",
    "Decision": "run.decision",
    "Deny": "run.decision",
    "FlyballError": "errors",
    "GuardLimits": "guards.guard",
    "Intent": "terms.intent",
    "Judgement": "shell",
    "Move": "run.machine",
    "Outcome": "terms.call",
    "PatchResult": "patch",
    "Phase": "terms.phase",
    "Policy": "run.policy",
    "Reading": "terms.intent",
    "RunState": "run.state",
    "Template": "plan.template",
    "Transition": "run.state",
    "Trip": "guards.guard",
    "advance": "run.machine",
    "apply_diff": "patch",
    "classify": "intent.classifier",
    "decide": "run.decision",
    "judge": "shell",
    "moves": "run.machine",
    "judge_done": "plan.gate",
    "replay": "run.machine",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'flyball' has no attribute {name!r}")
    return getattr(import_module(f"flyball.{home}"), name)


def __dir__() -> list[str]:
    return __all__
