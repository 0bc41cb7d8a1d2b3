"""What a log tells of a card."""

from tests.unit.core.stories import Story

from flyball.core.record.card_account import CardAccount, account_of


def test_calls_are_counted_by_tool_and_refusals_apart():
    story = Story().asks("read").returns().asks("edit_diff").checkpoints().asks("read", "grep")
    account = account_of(story.events, "step-1")
    assert account.calls == {"read": 2, "checkpoint": 1, "grep": 1}
    assert account.refused == 1
    assert account_of(story.events, "step-9") == CardAccount()
