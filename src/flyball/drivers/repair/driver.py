"""The repair driver: a driver like any other, whose thoughts are rules."""

from __future__ import annotations

from collections.abc import Callable

from flyball.drivers.protocol import Reply, Request
from flyball.drivers.repair.answer import answer
from flyball.drivers.repair.repairing import ask_for, next_move
from flyball.drivers.repair.request_words import clearly_asks_for_repair, may_ask_for_repair
from flyball.drivers.repair.thread_facts import ThreadFacts, read_thread

MODEL = "repair"
NO_RESEARCH = "There is nothing to research without a model: the tests will show what fails."
RISK = "medium: found by search; it is right as far as the tests can tell, and no further"
ASSUMPTIONS = (
    "the tests describe what is wanted",
    "the fault is in one place",
)
NOBODY = "Nobody has read this change yet: read its diff, and what else would have passed."


class RepairDriver:
    """Repairs what failing tests show, answers from evidence, and says when it cannot."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    async def think(self, request: Request, on_text: Callable[[str], None]) -> Reply:
        """The next move, from the thread alone: a run can resume in any process."""
        reply = self._reply(request)
        if reply.text:
            on_text(reply.text)
        return Reply(text=reply.text, calls=reply.calls, finish=reply.finish, model=MODEL)

    def _reply(self, request: Request) -> Reply:
        story = read_thread(request)
        if request.role == "reviewer":
            return review(story)
        if is_repair(story):
            if request.role == "researcher":
                return Reply(text=NO_RESEARCH)
            return next_move(story, request.phase, self._seconds)
        return answer(story, request, self._seconds)

    async def close(self) -> None:
        """Nothing is held."""


def is_repair(story: ThreadFacts) -> bool:
    """Whether a request is one that failing tests may describe."""
    match story.template:
        case "fix":
            return may_ask_for_repair(story.request) or story.count("checkpoint") > 0
        case "feature" | "refactor" | "test-first":
            return clearly_asks_for_repair(story.request)
        case _:
            return False


def review(story: ThreadFacts) -> Reply:
    """Risk and assumptions of any change that was found by search."""
    if story.count("note"):
        return Reply(text=NOBODY)
    return Reply(calls=(ask_for("note", risk=RISK, assumptions=list(ASSUMPTIONS)),))
