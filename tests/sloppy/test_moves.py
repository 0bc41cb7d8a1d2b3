"""Slips in what is done when: each ends where the careful one ends, in at most two more turns."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.sloppy.careful import (
    FIX,
    PLAN,
    Careful,
    Ended,
    Move,
    Slip,
    call,
    calls,
    checkpoint_args,
    drive,
    feature,
    fenced,
    fix,
    has_made,
    instead_of,
    say,
)
from tests.tiers import named

from flyball.drivers.protocol import Request
from flyball.run.event import Finish
from flyball.run.thread import Speaker
from flyball.terms.intent import Intent

MOST = 2
"""How many more turns an honest slip may cost."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sloppy")


@pytest.fixture(scope="module")
def careful_fix(place: Path) -> Ended:
    return fix(place)


@pytest.fixture(scope="module")
def careful_feature(place: Path) -> Ended:
    return feature(place)


def test_a_careful_driver_needs_two_turns_more_than_a_bare_loop(careful_fix: Ended) -> None:
    bare = ["read", "edit", "test", "stop"]
    assert careful_fix.came_to[0] == "success"
    assert careful_fix.driver.moves == ["read", "checkpoint", "edit", "test", "stop", "review"]
    assert careful_fix.turns - len(bare) <= 2


@pytest.mark.exhaustive
def test_a_planned_feature_needs_at_most_eight_turns_more(careful_feature: Ended) -> None:
    bare = ["read", "edit", "test", "read", "edit", "test", "stop"]
    assert careful_feature.came_to[0] == "success"
    assert careful_feature.turns - len(bare) <= 8, careful_feature.driver.moves


def ends_with_somebody_else(ended: Ended) -> Iterator[bool]:
    """Whether each request ends with a word that is not the driver's own."""
    for request in ended.driver.requests:
        yield not request.lines or request.lines[-1].speaker is not Speaker.DRIVER


SAID_READ = {"path": "cart.py"}
WRONG = {"file": "no such file.py", "offset": -3}

FIXES: dict[str, Slip] = {
    "stops at once": instead_of("read", say("I will look at the cart.")),
    "stops before the checkpoint": instead_of("checkpoint", say("The quantity is left out.")),
    "stops in execute without an edit": instead_of("edit", say("I will multiply it.")),
    "stops in verify without a test": instead_of("test", say("It is done.")),
    "writes the diff in prose": instead_of("edit", say(f"Here it is:\n\n{fenced(FIX, 'diff')}")),
    "writes the diff in a plain fence": instead_of("edit", say(f"So:\n{fenced(FIX, '')}")),
    "repeats the diff in its last words": instead_of(
        "stop", say(f"Done:\n{fenced(FIX, 'diff')}\nThe tests pass.")
    ),
    "thinks aloud": instead_of("edit", say("Let me think.", finish=Finish.TOOL_CALLS)),
    "is cut off": instead_of("edit", say("I will now", finish=Finish.LENGTH)),
    "says nothing": instead_of("edit", say("")),
    "makes five mistakes at once": instead_of("read", calls(*[("read", WRONG)] * 5)),
    "makes nine different mistakes at once": instead_of(
        "read", calls(*[("read", {"path": f"no{n}.py"}) for n in range(9)])
    ),
    "asks for tools that are not there": instead_of(
        "read", calls(*[(name, {}) for name in ("ls", "cat", "open", "view", "search")])
    ),
    "edits before it has promised": instead_of("checkpoint", call("edit_diff", diff=FIX)),
    "checkpoints twice": instead_of("edit", call("checkpoint", **checkpoint_args())),
    "checkpoints again in verify": instead_of("stop", call("checkpoint", **checkpoint_args())),
    "reads what it has read": instead_of("edit", call("read", path="cart.py")),
    "reads it five times in one reply": instead_of("edit", calls(*[("read", SAID_READ)] * 5)),
    "promises, edits and tests at once": instead_of(
        "checkpoint",
        calls(("checkpoint", checkpoint_args()), ("edit_diff", {"diff": FIX}), ("test", {})),
    ),
    "edits and tests after a malformed promise": instead_of(
        "checkpoint", calls(("checkpoint", {"goal": "x"}), ("edit_diff", {"diff": FIX}))
    ),
    "tests twice": instead_of("stop", call("test")),
    "reviews in words": instead_of("review", say("The risk is low.")),
    "reviews with a look first": instead_of("review", call("read", path="cart.py")),
    "reviews with a remark first": instead_of("review", call("note", text="one line")),
}


@pytest.mark.parametrize("slip", named(FIXES, 16))
def test_a_slip_in_a_fix_costs_no_more_than_two_turns(
    slip: Slip, place: Path, careful_fix: Ended
) -> None:
    ended = fix(place, slip)
    assert ended.came_to == careful_fix.came_to, (ended.question, ended.driver.moves)
    assert ended.turns <= careful_fix.turns + MOST, ended.driver.moves
    assert any(move.startswith("slip") for move in ended.driver.moves)
    assert all(ends_with_somebody_else(ended))


STEPS: list[dict[str, Any]] = PLAN["steps"]
PLAIN = json.dumps(PLAN)


def plan(text: str) -> Slip:
    """A planner that writes this instead of a careful plan."""
    return instead_of("plan", say(text))


PLANS: dict[str, Slip] = {
    "a comma too many": plan(fenced(PLAIN[:-2] + ",]}")),
    "comments": plan(fenced(PLAIN.replace("{", "{ // so\n", 1))),
    "a bare list": plan(fenced(STEPS)),
    "no ids": plan(
        fenced({**PLAN, "steps": [{k: v for k, v in s.items() if k != "id"} for s in STEPS]})
    ),
    "dependsOn": plan(fenced(PLAIN.replace("depends_on", "dependsOn"))),
    "depends on one text": plan(fenced(PLAIN.replace('["step-1"]', '"step-1"'))),
    "one criterion for a list": plan(
        fenced({**PLAN, "steps": [{**s, "success_criteria": "green"} for s in STEPS]})
    ),
    "other names": plan(fenced(PLAIN.replace("success_criteria", "acceptanceCriteria"))),
    "no fence": plan(f"I would do this: {PLAIN}"),
    "broken beyond mending": plan(fenced(PLAIN.replace('"title"', '"title', 1))),
    "no plan at all": plan("First the total, then the count."),
    "no criteria": plan(fenced({**PLAN, "steps": [{**s, "success_criteria": []} for s in STEPS]})),
    "a step that is not there": plan(fenced(PLAIN.replace('["step-1"]', '["step-9"]'))),
    "a verifier that tests what is tested": instead_of("report", call("test")),
    "a verifier in words": instead_of("report", say("All is well.")),
    "a verifier with a comma too many": instead_of(
        "report", say(fenced('{"goal_achieved": true, "issues": [],}'))
    ),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("slip", named(PLANS, 40))
def test_a_slip_in_a_plan_costs_no_more_than_two_turns(
    slip: Slip, place: Path, careful_feature: Ended
) -> None:
    ended = feature(place, slip)
    assert ended.came_to == careful_feature.came_to, (ended.question, ended.driver.moves)
    assert ended.turns <= careful_feature.turns + MOST, ended.driver.moves
    assert ended.state.coordinator is not None
    assert ended.state.coordinator.iteration == 1
    assert all(ends_with_somebody_else(ended))


class Looking(Careful):
    """A driver that is asked why, and answers."""

    def next_move(self, request: Request) -> Move:
        """Look once, then answer."""
        if request.offered and not has_made(request, "read"):
            return Move("read", call("read", path="cart.py"))
        return Move("answer", say("cart.py:4 leaves the quantity out."))


@pytest.mark.parametrize(
    "slip",
    [
        instead_of("read", call("edit_diff", diff=FIX)),
        instead_of("answer", say("Let me see.", finish=Finish.LENGTH)),
        instead_of("read", calls(*[("read", WRONG)] * 5)),
    ],
    ids=["edits", "is cut off", "makes five mistakes at once"],
)
def test_a_slip_in_a_look_still_ends_with_the_answer(slip: Slip, place: Path) -> None:
    ended = drive(place, Looking(slip), "why is the total wrong?", Intent.DIAGNOSE)
    assert ended.state.response is not None
    assert ended.state.response.message == "cart.py:4 leaves the quantity out."
    assert ended.turns <= 2 + MOST


def test_a_budget_that_is_spent_on_looking_ends_with_the_answer(place: Path) -> None:
    slip = instead_of("read", call("list"), call("list", path="."), call("read", path="cart.py"))
    ended = drive(place, Looking(slip), "why is it wrong?", Intent.DIAGNOSE, budget=2)
    assert ended.state.response is not None
    assert ended.state.response.status == "success"
