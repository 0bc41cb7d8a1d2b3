"""What a reviewer without a model can honestly say."""

from __future__ import annotations

from flyball.drivers.protocol import Reply
from flyball.drivers.repair.repairing import call
from flyball.drivers.repair.thread_facts import ThreadFacts

RISK = "medium: found by search; it is right as far as the tests can tell, and no further"
ASSUMPTIONS = (
    "the tests describe what is wanted",
    "the fault is in one place",
)
NOBODY = "Nobody has read this change yet: read its diff, and what else would have passed."


def review(story: ThreadFacts) -> Reply:
    """Risk and assumptions of any change that was found by search."""
    if story.count("note"):
        return Reply(text=NOBODY)
    return Reply(calls=(call("note", risk=RISK, assumptions=list(ASSUMPTIONS)),))
