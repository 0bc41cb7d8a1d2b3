"""What a verdict comes to: shown, a question for a person, or not shown."""

from __future__ import annotations

import pytest

from flyball.core.terms.change_verdict import (
    ChangeFinding,
    ChangeStrength,
    ChangeVerdict,
    FindingKind,
    VerdictStatus,
    Weight,
)

RED_GREEN = ChangeStrength.OLD_TESTS
WRONG = ChangeFinding(FindingKind.REGRESSION, Weight.BLOCKS, "a test fails that passed")
ASKED = ChangeFinding(FindingKind.PROMISE_CHANGED, Weight.ASKS, "a test expects something else")


@pytest.mark.parametrize(
    ("verdict", "status"),
    [
        (ChangeVerdict(RED_GREEN), VerdictStatus.SHOWN),
        (ChangeVerdict(RED_GREEN, (ASKED,)), VerdictStatus.QUESTION),
        (ChangeVerdict(RED_GREEN, (ASKED,), accepted_by="ada"), VerdictStatus.SHOWN),
        (ChangeVerdict(RED_GREEN, (ASKED, WRONG)), VerdictStatus.NOT_SHOWN),
        (ChangeVerdict(RED_GREEN, (WRONG,), accepted_by="ada"), VerdictStatus.NOT_SHOWN),
        (ChangeVerdict(), VerdictStatus.NOT_SHOWN),
    ],
    ids=["proven", "a question", "accepted", "wrong besides", "wrong all the same", "nothing"],
)
def test_what_it_comes_to(verdict: ChangeVerdict, status: VerdictStatus):
    assert verdict.status is status
