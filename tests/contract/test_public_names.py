"""The library's face: adding or removing a name is a decision, not an accident."""

from __future__ import annotations

import pytest

import flyball

NAMES = [
    "Access", "Allow", "Ask", "Call", "CardState", "Decision", "Deny", "FlyballError",
    "GuardLimits", "Intent", "Judgement", "Move", "Outcome", "PatchResult", "Phase", "Policy",
    "Reading", "RunState", "Template", "Transition", "Trip", "advance", "apply_diff", "classify",
    "decide", "judge", "judge_done", "moves", "replay",
]  # fmt: skip


def test_the_public_names_are_these():
    assert flyball.__all__ == NAMES
    assert dir(flyball) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_can_be_had(name: str):
    assert getattr(flyball, name) is not None


def test_other_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = flyball.nonsense
