"""Whether what a test says can still fail it."""

from __future__ import annotations

from enum import IntEnum


class Reach(IntEnum):
    """Whether an assertion can fail its test: always, sometimes, or not at all."""

    DEAD = 0
    SWALLOWED = 1
    CONDITIONAL = 2
    LIVE = 3


LOWERED = {
    Reach.DEAD: ("early-return", "is never reached"),
    Reach.SWALLOWED: ("swallowed-assertion", "cannot fail the test any more"),
    Reach.CONDITIONAL: ("conditional-assertion", "only runs under a condition now"),
}
