"""What may be under way at the same time, from what is due and what is under way already."""

from __future__ import annotations

import pytest
from tests.simulation.world import call

from flyball.plan.message import Status, UserResponse
from flyball.run.effect import (
    SIDE_BY_SIDE,
    AnyEffect,
    CloseCard,
    Owed,
    Perform,
    Publish,
    ResetThread,
    Think,
    startable,
)
from flyball.terms.phase import Phase

ANSWER = UserResponse(
    request_id="r1", status=Status.FAILED, iterations=1, goal_achieved=False, message="no"
)
SAY = Publish(message=ANSWER)


def think(card: str) -> Think:
    return Think(card=card, role="executor", phase=Phase.EXECUTE)


def read(card: str) -> Perform:
    return Perform(card=card, call=call("c1", "read"), phase=Phase.EXECUTE)


def write(card: str) -> Perform:
    return Perform(card=card, call=call("c1", "write_file"), phase=Phase.EXECUTE)


def close(card: str) -> CloseCard:
    return CloseCard(card=card, ending="succeeded", proof="tests")


def starts(*due: AnyEffect, busy: tuple[int, ...] = ()) -> list[list[int]]:
    """Which of the effects due may start, by number, while those of `busy` are under way."""
    numbered = [Owed(n, effect) for n, effect in enumerate(due, 1)]
    under_way = [owed for owed in numbered if owed.n in busy]
    return [[owed.n for owed in batch] for batch in startable(numbered, under_way)]


@pytest.mark.parametrize(
    ("due", "batches"),
    [
        ((think("a"), think("b"), write("c")), [[1], [2], [3]]),
        ((read("a"), read("b"), read("a"), read("b")), [[1, 3], [2, 4]]),
        ((read("a"), write("a"), read("a")), [[1]]),
        ((write("a"), read("a")), [[1]]),
        ((ResetThread(card="a", reason="long"), think("b")), [[1], [2]]),
        ((close("a"), close("b"), think("c")), [[1], [3]]),
        ((close("a"), read("b"), close("c")), [[1], [2]]),
        ((SAY, think("a")), [[1]]),
        ((think("a"), SAY, think("b")), [[1]]),
        ((read("a"), SAY, read("a")), [[1]]),
        ((SAY, SAY), [[1]]),
        ((), []),
    ],
)
def test_lanes_run_beside_each_other_and_each_in_its_own_order(
    due: tuple[AnyEffect, ...], batches: list[list[int]]
) -> None:
    assert starts(*due) == batches


@pytest.mark.parametrize(
    ("due", "busy", "batches"),
    [
        ((think("a"), think("b")), (1,), [[2]]),
        ((think("a"), think("b")), (1, 2), []),
        ((read("a"), read("a"), read("b")), (1,), [[3]]),
        ((close("a"), close("b"), read("c")), (1,), [[3]]),
        ((SAY, think("a")), (1,), []),
        ((think("a"), SAY, think("b")), (1,), []),
        ((think("a"), think("b"), SAY), (1,), [[2]]),
    ],
)
def test_what_is_under_way_is_not_started_again(
    due: tuple[AnyEffect, ...], busy: tuple[int, ...], batches: list[list[int]]
) -> None:
    assert starts(*due, busy=busy) == batches


def test_there_is_a_limit_to_what_is_under_way() -> None:
    many = [read(f"card-{n % 3}") for n in range(SIDE_BY_SIDE + 4)]
    begun = starts(*many)
    assert sum(map(len, begun)) == SIDE_BY_SIDE
    assert len(begun) == 3
    lone = [think(f"card-{n}") for n in range(SIDE_BY_SIDE + 4)]
    assert len(starts(*lone)) == SIDE_BY_SIDE
    assert len(starts(*lone, busy=(1, 2, 3))) == SIDE_BY_SIDE - 3
