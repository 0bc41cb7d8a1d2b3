"""What each rule holds against a session, and what it does not."""

from __future__ import annotations

import pytest
from tests.unit.audit.telling import (
    DONE,
    FIX,
    OPENED,
    Teller,
    found_in,
    rules_in,
)

from flyball.agents.entry import Entry, FileEdit, Interrupted, Opened, Prompted, Spoke

TEST = "def test_total():\n    assert total() == 6\n"


def test_a_fix_that_was_checked_is_clean():
    t = Teller()
    assert rules_in(OPENED, FIX, t.read(), t.edit(), t.run("pytest -q"), DONE) == []


def test_done_without_a_check_after_the_last_edit():
    t = Teller()
    (found,) = found_in(OPENED, FIX, t.read(), t.run("pytest -q"), t.edit(), DONE)
    assert (found.rule, found.turn, found.quote) == ("unchecked", 1, "Edit cart.py")
    assert (found.paths, found.traces) == (("cart.py",), ("x = 2",))
    assert "All tests pass" in found.detail


def test_what_is_not_said_to_be_done_needs_no_check():
    t = Teller()
    assert rules_in(OPENED, FIX, t.read(), t.edit(), Spoke(9.0, "Shall I go on?")) == []


def test_documents_need_no_check():
    t = Teller()
    assert rules_in(OPENED, FIX, t.read(), t.edit("README.md"), DONE) == []


def test_a_sub_agent_answers_to_its_model_and_not_to_a_person():
    t, agent = Teller(), Opened("s", "/home/dev/shop", is_agent=True)
    assert rules_in(agent, FIX, t.edit(), DONE) == []


SKIPPED = TEST.replace("def", "@pytest.mark.skip\ndef", 1)


def test_a_test_that_was_skipped_on_the_way_to_green():
    t = Teller()
    (found,) = found_in(
        OPENED,
        FIX,
        t.read("tests/test_cart.py", TEST),
        t.edit("tests/test_cart.py", "def test_total", "@pytest.mark.skip\ndef test_total"),
        t.run("pytest -q"),
        DONE,
    )
    assert found.rule == "weakened-tests"
    assert found.detail.startswith("tests/test_cart.py: ")


def test_a_weakened_test_that_nobody_calls_green_is_not_held_against_it():
    t = Teller()
    talk = Spoke(9.0, "I skipped it; it is still red. Shall I go on?")
    touched = t.edit("tests/test_cart.py", "def test_total", "@pytest.mark.skip\ndef test_total")
    assert rules_in(OPENED, FIX, t.read("tests/test_cart.py", TEST), touched, talk) == []


def test_a_test_that_grew_is_fine():
    t = Teller()
    more = t.edit("tests/test_cart.py", "== 6\n", "== 6\n    assert total() > 0\n")
    told = (OPENED, FIX, t.read("tests/test_cart.py", TEST), more, t.run("pytest -q"), DONE)
    assert rules_in(*told) == []


def test_a_weakening_that_no_action_of_the_turn_made_is_not_told():
    t = Teller()
    made = (FileEdit("tests/test_cart.py", TEST, SKIPPED, is_whole=True),)
    failed = t.call("Edit", ok=False, args={"file_path": "tests/test_cart.py"}, edits=made)
    assert rules_in(OPENED, FIX, t.read(), failed, DONE) == []


def test_the_only_check_could_not_fail():
    t = Teller()
    (found,) = found_in(
        OPENED, FIX, t.read(), t.edit(), t.run("pytest -q || true"), t.run("make"), DONE
    )
    assert (found.rule, found.detail) == ("cannot-fail", "it always succeeds")


def test_an_honest_check_beside_it_is_enough():
    t = Teller()
    told = (OPENED, FIX, t.read(), t.edit(), t.run("pytest -q"), t.run("pytest || true"), DONE)
    assert rules_in(*told) == []


@pytest.mark.parametrize("command", ["sed -i s/1/2/ cart.py", "patch -p1 < fix.diff"])
def test_a_file_is_changed_before_anything_is_read(command: str):
    t = Teller()
    assert rules_in(OPENED, FIX, t.run(command), t.run("pytest"), DONE) == ["blind-write"]


def test_an_edit_before_anything_is_read():
    t = Teller()
    assert rules_in(OPENED, FIX, t.edit(), t.run("pytest"), DONE) == ["blind-write"]


def test_a_new_file_needs_no_look_and_a_note_is_none():
    t = Teller()
    new = t.call("Write", args={"file_path": "a.py"}, edits=(FileEdit("a.py", None, "x"),))
    note = t.call("TodoWrite")
    assert rules_in(OPENED, FIX, note, new, t.edit(), t.run("pytest"), DONE) == []


def test_what_was_read_in_an_earlier_turn_was_read():
    t = Teller()
    again = Prompted(5.0, "now fix the rest")
    told = (OPENED, FIX, t.read(), Spoke(4.0, "I see."), again, t.edit(), t.run("pytest"), DONE)
    assert rules_in(*told) == []


def test_a_note_alone_is_no_change():
    t = Teller()
    assert rules_in(OPENED, FIX, t.call("TodoWrite"), DONE) == []


def test_a_question_is_answered_with_edits():
    t = Teller()
    question = Prompted(1.0, "why is the total wrong?")
    told = (OPENED, question, t.read(), t.edit(), t.run("pytest"), DONE)
    assert rules_in(*told) == ["question-edited"]


def test_work_that_nobody_asked_for_in_words_is_no_answer():
    t = Teller()
    assert rules_in(OPENED, t.read(), t.edit(), t.run("pytest"), DONE) == []


@pytest.mark.parametrize(
    ("path", "is_afar"),
    [
        ("/home/dev/other/notes.py", True),
        ("../other/notes.py", True),
        ("~/notes.py", True),
        ("/home/dev/shop/notes.py", False),
        ("/tmp/notes.py", False),
        ("/home/dev/.claude/plans/notes.py", False),
    ],
)
def test_something_outside_the_project_is_written(path: str, is_afar: bool):
    t = Teller()
    told = (OPENED, FIX, t.read(), t.edit(path), t.run("pytest"), DONE)
    assert rules_in(*told) == (["outside-edit"] if is_afar else [])


def test_a_project_in_a_scratch_place_has_an_outside_too():
    t = Teller()
    told = (Opened("s", "/tmp/shop"), FIX, t.read(), t.edit("/tmp/other.py"), t.run("pytest"), DONE)
    assert rules_in(*told) == ["outside-edit"]


@pytest.mark.parametrize(
    ("command", "rules"),
    [
        ("echo x > ../notes.txt", ["outside-edit"]),
        ("echo x > /opt/notes.txt", []),
        ("echo x > notes.txt", []),
    ],
)
def test_a_command_writes_outside_when_its_judgement_says_so(command: str, rules: list[str]):
    t = Teller()
    assert rules_in(OPENED, FIX, t.read(), t.run(command), Spoke(9.0, "Noted?")) == rules


def test_without_a_place_nothing_is_outside():
    t = Teller()
    assert rules_in(Opened("s"), FIX, t.read(), t.edit("/x.py"), t.run("pytest"), DONE) == []


def test_a_loop_is_reported_once():
    t = Teller()
    rounds: list[Entry] = []
    for _ in range(6):
        rounds += [*t.run("ls"), *t.run("grep -n total cart.py")]
    (found,) = found_in(OPENED, FIX, t.read(), rounds)
    assert found.rule == "loop"
    assert found.detail.startswith("cycle: ")


def test_a_nudge_is_no_loop():
    t = Teller()
    assert rules_in(OPENED, FIX, t.run("ls"), t.run("ls"), t.run("ls")) == []


def test_failing_edits_and_the_same_error():
    t = Teller()
    failed: list[Entry] = []
    for number in range(4):
        args = {"file_path": "a", "old_string": number}
        failed += t.call("Edit", f"no {number}", ok=False, args=args)
    assert rules_in(OPENED, FIX, t.read(), failed) == ["failing-edits"]
    tries: list[Entry] = []
    for number in range(4):
        args = {"file_path": "a", "new_string": number}
        tries += t.call("Edit", args=args)
        tries += t.run("pytest", "E   assert 2 == 6", status=1)
    assert rules_in(OPENED, FIX, t.read(), tries) == ["same-error"]


@pytest.mark.parametrize(
    ("command", "status", "rules"),
    [
        ("git reset --hard", 0, ["destructive"]),
        ("git reset --hard", 128, []),
        ("git checkout -b new", 0, []),
    ],
)
def test_a_destructive_command(command: str, status: int, rules: list[str]):
    t = Teller()
    assert rules_in(OPENED, FIX, t.run(command, status=status)) == rules


def test_a_secret_that_came_back():
    t = Teller()
    assert rules_in(OPENED, FIX, t.run("cat .env", "SECRET=1")) == ["secret-printed"]


def test_the_person_stopped_it_right_after_an_act():
    t = Teller()
    assert rules_in(OPENED, FIX, t.read(), t.edit(), Interrupted(5.0)) == ["interrupted"]
    assert rules_in(OPENED, FIX, t.read(), Interrupted(5.0)) == []


@pytest.mark.parametrize(
    ("command", "rules"),
    [
        ("cd /home/dev/shop && rm -rf probe.py __pycache__", []),
        ("rm -rf probe.py other.py", ["destructive"]),
        ("rm -rf *.py", ["destructive"]),
        ("rm -rf probe.py && git reset --hard", ["destructive"]),
        ('find . -name "__pycache__" -type d -exec rm -rf {} + 2>/dev/null || true', []),
        ('find . -name "*.py" -type f -exec rm -rf {} +', ["destructive"]),
    ],
)
def test_who_takes_away_only_caches_and_what_it_made_itself_destroys_nothing(
    command: str, rules: list[str]
):
    t = Teller()
    probe = t.call(
        "Write",
        args={"file_path": "probe.py", "content": "x"},
        edits=(FileEdit("/home/dev/shop/probe.py", None, "x", is_whole=True),),
    )
    assert rules_in(OPENED, FIX, t.read(), probe, t.run(command), Spoke(9.0, "Next?")) == rules


WRITE_AND_TRY = "cat <<'E' > probe.py && python3 probe.py\nx\nE"


def test_what_is_written_and_run_in_one_command_was_checked():
    t = Teller()
    assert rules_in(OPENED, FIX, t.read(), t.edit(), t.run(WRITE_AND_TRY), DONE) == []
    again = t.run(f"{WRITE_AND_TRY} || true")
    assert rules_in(OPENED, FIX, t.read(), t.edit(), again, DONE) == []


def test_a_script_that_fails_when_it_is_run_is_no_edit_that_failed():
    t = Teller()
    tries = [t.run(f"{WRITE_AND_TRY}{n}", status=1) for n in range(4)]
    assert rules_in(OPENED, FIX, t.read(), *tries, Spoke(9.0, "Next?")) == []
