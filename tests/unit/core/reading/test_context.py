"""What a person's next words mean for what they were asked, and for the work before them."""

from __future__ import annotations

import pytest

from flyball.core.reading.context import consents, goes_on

PUSH = "git push origin main"


@pytest.mark.parametrize(
    "text", ["yes", "Yes, push it.", "ja, mach das", "do it", "please push", "ok go ahead", "はい"]
)
def test_clear_yes_consents_to_the_command(text: str):
    assert consents(text, PUSH)


@pytest.mark.parametrize(
    "text",
    [
        *("no", "yes but not to main", "yes, but first run the tests", "yes?", "what would it do?"),
        *("not yet", "great, thanks", "also add a test", "fix the typo in the readme", ""),
    ],
)
def test_anything_else_leaves_the_question_open(text: str):
    assert not consents(text, PUSH)


@pytest.mark.parametrize("text", ["go on", "also rename the function", "commit it", "yes"])
def test_follow_up_goes_on_with_the_request_before(text: str):
    assert goes_on(text, "fix the total in cart.py")


@pytest.mark.parametrize(
    "text", ["no, leave it", "why is the preview blank?", "add a pricing page with three plans"]
)
def test_another_request_begins_anew(text: str):
    assert not goes_on(text, "fix the total in cart.py")
