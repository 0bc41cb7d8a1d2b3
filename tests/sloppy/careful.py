"""A careful driver, the small shop that it works on, and slips that it may be made to commit.

The careful driver decides by what it was told: it looks, states a checkpoint, edits, tests, stops,
and says a reviewer's, planner's or verifier's words where it is asked as one. A slip takes the
place of one of its moves, once; from then on it goes by what the governor made of that.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.governed import CART, FIX, TESTS
from tests.repos import repository
from tests.small_python import small_path
from tests.unit.journal.runs import take

from flyball.drivers.form import give_ids
from flyball.drivers.protocol import Reply, Request
from flyball.engine.effects import EffectPerformer
from flyball.engine.loop import Engine
from flyball.engine.run_context import RunContext
from flyball.journal.sqlite import memory_journal
from flyball.plan.template import Role
from flyball.run.ending import status_of
from flyball.run.event import Finish, RunStarted, Usage
from flyball.run.policy import Policy
from flyball.run.state import RunState
from flyball.run.thread import SpokenCall, ThreadLine
from flyball.terms.intent import Intent
from flyball.terms.phase import Phase
from flyball.tools.call.protocol import ToolSettings
from flyball.workspace.redaction import Redactor

SHOP: dict[str, str | bytes] = {
    ".gitignore": "__pycache__/\n",
    "cart.py": CART,
    "test_cart.py": TESTS,
}
"""A shop whose total is wrong, and one test that says so."""

COUNT = """\
--- /dev/null
+++ b/count.py
@@ -0,0 +1,2 @@
+def count(items):
+    return sum(quantity for _, quantity in items)
--- /dev/null
+++ b/test_count.py
@@ -0,0 +1,8 @@
+import unittest
+
+from count import count
+
+
+class CountTest(unittest.TestCase):
+    def test_three_pens(self):
+        self.assertEqual(count([(2, 3)]), 3)
"""

WORK: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "step-1": (FIX, ("cart.py",)),
    "step-2": (COUNT, ("count.py", "test_count.py")),
}
"""What each card is to change: the diff, and the files that its checkpoint names."""

PLAN: dict[str, Any] = {
    "goal": "The total counts every piece, and pieces can be counted.",
    "steps": [
        {
            "id": "step-1",
            "title": "Mend the total",
            "description": "total() in cart.py leaves the quantity out.",
            "success_criteria": ["test_three_pens in test_cart.py passes"],
        },
        {
            "id": "step-2",
            "title": "Count the pieces",
            "description": "Add count() in count.py, with a test.",
            "success_criteria": ["test_count.py passes"],
            "depends_on": ["step-1"],
        },
    ],
}
"""The plan of the two-step feature, as a careful planner writes it."""

FIX_REQUEST = "the total is wrong"
FEATURE_REQUEST = "count every piece in the total, and add a count of pieces"


def say(text: str, **more: Any) -> Reply:
    """A reply in words."""
    return Reply(text=text, **more)


def call(tool: str, **args: Any) -> Reply:
    """A reply that asks for one call."""
    return calls((tool, args))


def calls(*asked: tuple[str, dict[str, Any]], text: str = "", **more: Any) -> Reply:
    """A reply that asks for several calls at once."""
    spoken = tuple(SpokenCall("", tool, args) for tool, args in asked)
    return Reply(text=text, calls=spoken, **{"finish": Finish.TOOL_CALLS, **more})


def fenced(value: object, language: str = "json") -> str:
    """A value in a fenced block, as it is where it is text."""
    text = value if isinstance(value, str) else json.dumps(value, indent=1)
    return f"```{language}\n{text}\n```"


def checkpoint_args(card: str = "step-1") -> dict[str, Any]:
    """The five fields that a careful driver fills in for its card."""
    files = WORK.get(card, WORK["step-1"])[1]
    return {
        "goal": f"{files[0]} does what was asked.",
        "findings": "cart.py:4 leaves the quantity out.",
        "proposed_action": f"Change {', '.join(files)}.",
        "files": list(files),
        "verify_with": ["python -m unittest"],
    }


class Move(NamedTuple):
    """What a careful driver does next: the name of the move, and the reply that makes it."""

    name: str
    reply: Reply


Slip = Callable[[Request, Move], Reply | None]
"""What a driver does instead of a careful move; None where it is careful."""


def instead_of(name: str, *replies: Reply) -> Slip:
    """Commit this slip, reply by reply, when the careful driver would first make the move."""
    left = list(replies)

    def slip(_request: Request, move: Move) -> Reply | None:
        return left.pop(0) if left and (move.name == name or len(left) < len(replies)) else None

    return slip


def never(_request: Request, _move: Move) -> None:
    """Be careful throughout."""


class Careful:
    """A driver that decides by its thread alone, and keeps every request that it was sent."""

    def __init__(self, slip: Slip = never, work: Mapping[str, Any] = WORK) -> None:
        self._slip = slip
        self._work = work
        self.requests: list[Request] = []
        self.moves: list[str] = []

    async def think(self, request: Request, on_text: Callable[[str], None]) -> Reply:
        """The slip, where it is due; else the careful move."""
        self.requests.append(request)
        move = self.next_move(request)
        slipped = self._slip(request, move)
        self.moves.append(move.name if slipped is None else f"slip at {move.name}")
        reply = move.reply if slipped is None else slipped
        on_text(reply.text)
        usage = reply.usage if reply.usage != Usage() else Usage(100, 10)
        return Reply(
            text=reply.text,
            calls=give_ids(reply.calls, request),
            finish=reply.finish,
            usage=usage,
            model="careful",
        )

    def next_move(self, request: Request) -> Move:
        """What a careful driver does in this role, phase and thread."""
        if request.role == Role.REVIEWER:
            risk = {"risk": "low: one small change", "assumptions": ["the tests are right"]}
            return Move("review", calls(("note", risk), text="It is as promised."))
        if request.role == Role.PLANNER:
            return self._plan(request)
        if request.role == Role.VERIFIER:
            return self._verify(request)
        if request.role == Role.RESEARCHER:
            return Move("research", say("cart.py:4 leaves the quantity out."))
        return self._execute(request)

    def _plan(self, request: Request) -> Move:
        if request.phase is not Phase.FINAL and not has_made(request, "read"):
            return Move("read", call("read", path="cart.py"))
        return Move("plan", say(f"Two steps.\n\n{fenced(PLAN)}"))

    def _verify(self, request: Request) -> Move:
        # A careful verifier that is told what Flyball itself ran on this tree need not repeat it.
        if "red → green" not in request.opening and not has_made(request, "test"):
            return Move("verify-test", call("test"))
        return Move("report", say(fenced({"goal_achieved": True, "issues": []})))

    def _execute(self, request: Request) -> Move:
        """Look, promise, edit, test, stop; after a red test or a failed edit, read again."""
        diff, _ = self._work.get(request.card.partition(".")[0], self._work["step-1"])
        if request.phase is Phase.FINAL:
            return Move("answer", say("The total counts every piece."))
        if not has_made(request, "read"):
            return Move("read", call("read", path="cart.py"))
        if not has_made(request, "checkpoint"):
            return Move("checkpoint", call("checkpoint", **checkpoint_args(request.card)))
        if not has_made(request, "edit_diff") and not has_made(request, "write_file"):
            return Move("edit", call("edit_diff", diff=diff))
        if not has_made(request, "test", after=("edit_diff", "write_file")):
            return Move("test", call("test"))
        return Move("stop", say("The total counts every piece; the tests pass."))

    async def close(self) -> None:
        """Nothing is held."""


def has_made(request: Request, tool: str, after: tuple[str, ...] = ()) -> bool:
    """Whether a call of this tool went well, since the last one of those it must come after."""
    made: list[ThreadLine] = [line for line in request.lines if line.tool and line.ok]
    last = max((i for i, line in enumerate(made) if line.tool in after), default=-1)
    return any(line.tool == tool for line in made[last + 1 :])


class Ended(NamedTuple):
    """Where a run came to rest, and what it took."""

    state: RunState
    driver: Careful

    @property
    def came_to(self) -> tuple[str, str, str, tuple[str, ...]]:
        """What must be the same for a careful and a sloppy driver."""
        working = [card for card in self.state.cards if card.step]
        labels = tuple(card.label for card in working if card.has_changed)
        files = " ".join(sorted({path for card in working for path in card.changed}))
        return status_of(self.state), self.state.tree, files, labels

    @property
    def turns(self) -> int:
        return len(self.driver.requests)

    @property
    def question(self) -> str:
        """What a person is asked, where the run rests on a question."""
        return next((card.question.text for card in self.state.paused if card.question), "")


def fix(place: Path, slip: Slip = never, **more: Any) -> Ended:
    """The small fix, by a driver with this slip."""
    return drive(place, Careful(slip), FIX_REQUEST, Intent.SMALL_FIX, **more)


def feature(place: Path, slip: Slip = never, **more: Any) -> Ended:
    """The planned feature of two steps, by a driver with this slip."""
    return drive(place, Careful(slip), FEATURE_REQUEST, Intent.FEATURE_BUILD, **more)


NUMBERS = itertools.count(1)


def drive(
    place: Path,
    driver: Careful,
    request: str,
    intent: Intent,
    *,
    policy: Policy | None = None,
    files: dict[str, str | bytes] | None = None,
    budget: int | None = None,
) -> Ended:
    """Drive one run in this process until it rests or ends: real git, real tests, no model.

    Runs in the same place share the shop and what is known of its base, which saves a test run.
    """
    repo = place / "shop"
    if not repo.exists():
        repository(repo, files or SHOP)
    started = RunStarted(
        run=f"r{next(NUMBERS)}",
        request=request,
        intent=intent,
        policy=policy or Policy(),
        budget=budget,
    )
    state = asyncio.run(_drive(repo, place / "state", driver, started))
    return Ended(state, driver)


async def _drive(repo: Path, home: Path, driver: Careful, started: RunStarted) -> RunState:
    journal = memory_journal()
    context = RunContext(
        repo,
        home,
        environ={
            "PATH": small_path(),
            "HOME": os.environ.get("HOME", "/"),
        },
        redactor=Redactor(()),
        on_output=lambda _: None,
        settings=ToolSettings(),
    )
    try:
        lease = await take(journal, started.run)
        performer = EffectPerformer(journal, driver, context, on_text=lambda _card, _text: None)
        engine = Engine(journal, lease, performer, clock=clock(), watch=lambda _line: None)
        return await engine.run(await engine.append(RunState(), started))
    finally:
        context.close()
        await journal.close()


def clock() -> Callable[[], float]:
    """A clock that moves on by a little whenever it is read."""
    now = [1000.0]

    def tick() -> float:
        now[0] += 0.01
        return now[0]

    return tick
