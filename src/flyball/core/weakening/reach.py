"""Whether what a test says can still fail it."""

from __future__ import annotations

from enum import IntEnum


class Reach(IntEnum):
    """Whether an assertion can fail its test: always, sometimes, or not at all.

    `EITHER` stands in one of two branches of which the other asserts something, too.
    """

    DEAD = 0
    SWALLOWED = 1
    CONDITIONAL = 2
    EITHER = 3
    LIVE = 4


LOWERED = {
    Reach.DEAD: ("early-return", "is never reached"),
    Reach.SWALLOWED: ("swallowed-assertion", "cannot fail the test any more"),
    Reach.CONDITIONAL: ("conditional-assertion", "only runs under a condition now"),
    Reach.EITHER: ("changed-expected", "is one of two now, whichever way a condition goes"),
}
