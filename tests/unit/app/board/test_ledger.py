"""Finding a mistake by the beginning of its fingerprint."""

from __future__ import annotations

import pytest

from flyball.app.board.ledger import meant
from flyball.core.memory.ledger import Mistake
from flyball.errors import NotFound, UsageError

LEDGER = (Mistake("abc1", "one"), Mistake("abd2", "two"))


@pytest.mark.parametrize(("name", "error"), [("abc", "one"), (" ABD2 ", "two")])
def test_the_beginning_is_enough(name: str, error: str):
    assert meant(LEDGER, name).error == error


def test_a_beginning_that_several_share_is_refused_with_their_names():
    with pytest.raises(UsageError, match="'ab' may mean abc1 or abd2") as caught:
        meant(LEDGER, "ab")
    assert caught.value.hint == "Say more of the fingerprint."


@pytest.mark.parametrize("name", ["", "x", "abc12"])
def test_an_unknown_one_is_not_found(name: str):
    with pytest.raises(NotFound, match="There is no mistake"):
        meant(LEDGER, name)
