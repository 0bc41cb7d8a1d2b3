"""A session turn by turn."""

from __future__ import annotations

import pytest
from tests.unit.audit.telling import FIX, LOOKS, OPENED, Teller, turns_of

from flyball.agents.entry import (
    Billing,
    Called,
    CallResult,
    Entry,
    FileEdit,
    Interrupted,
    Opened,
    Prompted,
    Spoke,
)
from flyball.agents.usage import Billed
from flyball.audit import trail
from flyball.audit.audited_call import action_of
from flyball.audit.trail import Spent, Trail

TESTS = "test_cart.py"


def test_a_turn_begins_with_the_persons_words():
    t = Teller()
    first, second = turns_of(OPENED, FIX, t.read(), Prompted(5.0, "and now?"), Spoke(6.0, "Done."))
    assert (first.number, first.prompt, len(first.actions)) == (1, FIX.text, 1)
    assert (second.number, second.words, second.has_read_before) == (2, "Done.", True)


def test_another_session_in_the_same_file_is_a_turn_of_its_own():
    t = Teller()
    first, second = turns_of(OPENED, FIX, Opened("other"), t.read())
    assert (first.session.session, second.session.session) == ("s", "other")
    assert turns_of(OPENED, Opened("other")) == []


def test_words_before_a_call_are_not_the_last_ones():
    t = Teller()
    (turn,) = turns_of(FIX, Spoke(1.0, "Done."), t.read(), Spoke(2.0, "Shall I?"), Spoke(3.0, ""))
    assert turn.words == "Shall I?"


def test_an_outcome_without_its_call_is_nothing():
    (turn,) = turns_of(FIX, CallResult(2.0, "gone", "x"))
    assert turn.actions == []


def test_only_what_was_under_way_can_be_interrupted():
    assert not turns_of(FIX, Interrupted(2.0))[0].is_interrupted
    assert turns_of(FIX, Called(2.0, "c", "Bash", {}), Interrupted(3.0))[0].is_interrupted


def test_a_call_that_was_cut_off_came_to_nothing():
    action = action_of(Called(1.0, "c", "Bash", {"command": "ls"}), None, LOOKS)
    assert (action.ok, action.status, action.edits) == (False, None, ())


def test_bills_say_whether_a_guard_would_have_saved_them():
    t, bill = Teller(), Billing(1.0, Billed("b", fresh=1))
    same: list[Entry] = [entry for _ in range(5) for entry in t.run("ls")]
    told = [*Trail(LOOKS).follow([OPENED, FIX, bill, *same, bill, Prompted(9.0, "go on"), bill])]
    bills = [each.is_after_stop for each in told if isinstance(each, Spent)]
    assert bills == [False, True, False]
    assert [each.session for each in told if isinstance(each, Spent)] == ["s"] * 3


def sides(*entries: list[Entry] | Entry) -> tuple[object, object]:
    (turn,) = turns_of(OPENED, FIX, *entries)
    return turn.before.get(TESTS, "nothing"), turn.after.get(TESTS, "nothing")


def whole(old: str | None, new: str | None) -> list[Entry]:
    made = (FileEdit(f"/home/dev/shop/{TESTS}", old, new, is_whole=True),)
    return Teller().call("Write", args={"file_path": TESTS}, edits=made)


def test_both_sides_of_a_test_are_kept_as_the_turn_met_and_left_it():
    t = Teller()
    steps = (t.read(TESTS, "a\nb\n"), t.edit(TESTS, "a", "c"), t.edit(TESTS, "b", "d"))
    assert sides(*steps) == ("a\nb\n", "c\nd\n")


def test_a_piece_stands_for_a_file_that_was_not_seen():
    t = Teller()
    assert sides(t.edit(TESTS, "a", "b")) == ("a", "b")
    assert sides(t.read(TESTS, "other"), t.edit(TESTS, "a", "b")) == ("a", "b")


def test_a_whole_file_is_new_replaced_or_gone():
    t = Teller()
    assert sides(whole(None, "x")) == (None, "x")
    assert sides(whole("x", "y")) == ("x", "y")
    assert sides(t.read(TESTS, "seen"), whole("", "y")) == ("seen", "y")
    assert sides(whole("", "y")) == ("", "y")
    assert sides(whole("x", None)) == ("x", None)


def test_the_product_is_not_kept():
    (turn,) = turns_of(OPENED, FIX, Teller().edit("cart.py"))
    assert turn.before == {}


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(trail, "ACTIONS_KEPT", 2)
    monkeypatch.setattr(trail, "FILES_KEPT", 1)
    monkeypatch.setattr(trail, "LONGEST_FILE", 10)
    t = Teller()
    long = t.read("long.py", "x" * 11)
    more = (t.read("a.py", "x"), t.read("b.py", "x"), t.edit("test_a.py", "x", "y"))
    (turn,) = turns_of(
        OPENED, FIX, long, *more, t.edit("test_b.py", "x", "y"), t.edit("test_a.py", "x", "z" * 11)
    )
    assert len(turn.actions) == 2
    assert turn.after == {"test_a.py": "y"}


def test_without_a_place_paths_are_as_they_are_named():
    (turn,) = turns_of(FIX, Teller().edit(TESTS, "a", "b"))
    assert turn.after == {TESTS: "b"}
