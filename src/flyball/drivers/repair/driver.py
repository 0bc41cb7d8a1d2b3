"""The repair driver: a driver like any other, whose thoughts are rules."""

from __future__ import annotations

from collections.abc import Callable

from flyball.drivers.protocol import Reply, Request
from flyball.drivers.repair.answering import answer, is_about_failure
from flyball.drivers.repair.mending import mend
from flyball.drivers.repair.reviewing import review
from flyball.drivers.repair.story import story_of

MODEL = "repair"
MENDING = frozenset({"fix", "refactor", "test-first"})
BUILDING = frozenset({"feature"})


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
        story = story_of(request)
        if request.role == "reviewer":
            return review(story)
        mends = story.template in MENDING or (
            story.template in BUILDING and is_about_failure(story.request)
        )
        if mends:
            return mend(story, request.phase, self._seconds)
        return answer(story, request)

    async def close(self) -> None:
        """Nothing is held."""
