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

    from flyball.core.flow.gates.gate import judge_done
    from flyball.core.flow.template import Template
    from flyball.core.machine.machine import Move, advance, moves, replay
    from flyball.core.memory.guard import GuardLimits, Trip
    from flyball.core.reading.classifier import classify
    from flyball.core.run.decision import Allow, Ask, Decision, Deny, decide
    from flyball.core.run.policy import Policy
    from flyball.core.run.state import CardState, RunState, Transition
    from flyball.core.terms.call import Access, Call, Outcome
    from flyball.core.terms.intent import Intent, Reading
    from flyball.core.terms.phase import Phase
    from flyball.errors import FlyballError
    from flyball.patch import PatchResult, apply_diff
    from flyball.shellcheck import Judgement, judge

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
    "Access": "core.terms.call",
    "Allow": "core.run.decision",
    "Ask": "core.run.decision",
    "Call": "core.terms.call",
    "CardState": "core.run.state",
    "Decision": "core.run.decision",
    "Deny": "core.run.decision",
    "FlyballError": "errors",
    "GuardLimits": "core.memory.guard",
    "Intent": "core.terms.intent",
    "Judgement": "shellcheck",
    "Move": "core.machine.machine",
    "Outcome": "core.terms.call",
    "PatchResult": "patch",
    "Phase": "core.terms.phase",
    "Policy": "core.run.policy",
    "Reading": "core.terms.intent",
    "RunState": "core.run.state",
    "Template": "core.flow.template",
    "Transition": "core.run.state",
    "Trip": "core.memory.guard",
    "advance": "core.machine.machine",
    "apply_diff": "patch",
    "classify": "core.reading.classifier",
    "decide": "core.run.decision",
    "judge": "shellcheck",
    "moves": "core.machine.machine",
    "judge_done": "core.flow.gates.gate",
    "replay": "core.machine.machine",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'flyball' has no attribute {name!r}")
    return getattr(import_module(f"flyball.{home}"), name)


def __dir__() -> list[str]:
    return __all__
