"""The honest way out, through the command line: both quotes, one answer, and the run goes on."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.governed import (
    EDIT,
    FIX,
    READ,
    REVIEW,
    Line,
    Shell,
    call,
    checkpoint,
    objects,
    say,
    script,
    shop,
)

REQUEST = "Fix cart.py: total([(2, 3)]) must be 7."
SAYS = "self.assertEqual(total([(2, 3)]), 6)"
WHERE = "test_cart.py:11"
SEVEN = FIX.replace(
    "+        result += price * quantity", "+        result += price * quantity + 1"
)
WITH_TEST = """\
--- a/test_cart.py
+++ b/test_cart.py
@@ -11,2 +11,2 @@
     def test_three_pens(self):
-        self.assertEqual(total([(2, 3)]), 6)
+        self.assertEqual(total([(2, 3)]), 7)
"""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(shop(tmp_path / "shop"), tmp_path)


def conflict(**more: str) -> Line:
    return call("conflict", **{"says": SAYS, "but": "must be 7", "where": WHERE} | more)


def run(shell: Shell, tmp_path: Path, *lines: Line, args: tuple[str, ...] = ()) -> tuple[int, str]:
    driver = script(tmp_path / "s.jsonl", *lines)
    done = shell("run", REQUEST, "--intent", "small_fix", "--driver", driver, *args)
    return done.returncode, done.stdout + done.stderr


def test_a_run_needs_you_with_both_quotes(shell: Shell, tmp_path: Path):
    code, said = run(shell, tmp_path, READ, conflict(), args=("--yes",))
    assert code == 3, said
    assert SAYS in said
    assert REQUEST in said
    (told,) = objects(shell("runs", "show", "last", "--json").stdout)
    (question,) = told["questions"]
    assert question["kind"] == "conflict"
    assert question["conflict"]["says"] == {"place": "test_cart.py:11", "text": SAYS}
    assert question["conflict"]["but"] == {"place": "the request", "text": REQUEST}
    assert told["ending"] == "needs-you"
    yes = shell("approve", "last")
    assert yes.returncode == 2
    assert "follow the test" in yes.stderr


@pytest.mark.exhaustive
def test_whoever_follows_the_test_goes_on_from_there(shell: Shell, tmp_path: Path):
    lines = (
        READ,
        conflict(),
        checkpoint(),
        EDIT,
        call("test"),
        say("Six, as the test says."),
        REVIEW,
    )
    assert run(shell, tmp_path, *lines)[0] == 3
    done = shell("answer", "last", "follow", "the", "test")
    assert done.returncode == 0, done.stdout + done.stderr
    (told,) = objects(shell("runs", "show", "last", "--json").stdout)
    assert told["ending"] == "succeeded"
    assert "follow test_cart.py:11" in told["request"]


@pytest.mark.slow
def test_whoever_follows_the_request_may_have_the_test_changed(shell: Shell, tmp_path: Path):
    both = checkpoint("cart.py", "test_cart.py")
    edits = call("edit_diff", diff=f"{SEVEN}{WITH_TEST}")
    lines = READ, conflict(), both, edits, call("test"), say("Seven."), REVIEW
    assert run(shell, tmp_path, *lines)[0] == 3
    done = shell("answer", "last", "follow the request")
    # How the test was changed is still a person's to see.
    assert done.returncode == 3, done.stdout + done.stderr
    (told,) = objects(shell("runs", "show", "last", "--json").stdout)
    assert "follow the request" in told["request"]
    (question,) = told["questions"]
    assert question["kind"] == "weakened-tests"
    assert "A person decided" in question["text"]
    done = shell("approve", "last")
    assert done.returncode == 0, done.stdout + done.stderr
    (told,) = objects(shell("runs", "show", "last", "--json").stdout)
    assert told["ending"] == "succeeded"


@pytest.mark.slow
def test_a_changed_test_that_said_otherwise_than_the_request_is_a_question(
    shell: Shell, tmp_path: Path
):
    both = checkpoint("cart.py", "test_cart.py")
    edits = call("edit_diff", diff=f"{SEVEN}{WITH_TEST}")
    code, said = run(shell, tmp_path, READ, both, edits, call("test"), say("Seven."), REVIEW)
    assert code == 3, said
    assert "It said `6`, and the request says `7`" in said


@pytest.mark.exhaustive
def test_whoever_changes_the_task_is_heard(shell: Shell, tmp_path: Path):
    lines = READ, conflict(), checkpoint(), EDIT, call("test"), say("Six."), REVIEW
    assert run(shell, tmp_path, *lines)[0] == 3
    done = shell("answer", "last", "It must be 6 after all.")
    assert done.returncode == 0, done.stdout + done.stderr
    (told,) = objects(shell("runs", "show", "last", "--json").stdout)
    assert "The task was changed: It must be 6 after all." in told["request"]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"says": "assertEqual(total([]), 9)"}, "`says` was not found in test_cart.py:11"),
        ({"but": "must be 8"}, "`but` was not found in the request"),
        ({"where": "gone.py:1"}, "gone.py is no text file here"),
        ({"where": "../out.py:1"}, "outside the workspace"),
        ({"reproduce": "python -m unittest test_cart.CartTest.test_nothing"}, "exit 0"),
        ({"reproduce": "touch x"}, "no test, check or import"),
        ({"reproduce": "! python -m unittest"}, "no test, check or import"),
        ({"reproduce": "python -m unittest test_cart && false"}, "no test, check or import"),
    ],
)
def test_what_cannot_be_found_or_shown_is_refused(
    shell: Shell, tmp_path: Path, more: dict[str, str], why: str
):
    code, said = run(shell, tmp_path, READ, conflict(**more), say("I cannot."), args=("--json",))
    assert why in said
    assert code != 3


def test_a_reproduction_that_fails_is_shown(shell: Shell, tmp_path: Path):
    command = "python -m unittest test_cart"
    code, said = run(shell, tmp_path, READ, conflict(reproduce=command))
    assert code == 3, said
    assert f"`{command}` shows it: exit 1" in said


@pytest.mark.exhaustive
def test_nobody_quotes_what_they_wrote_themselves(shell: Shell, tmp_path: Path):
    own = checkpoint("test_cart.py"), call("edit_diff", diff=WITH_TEST)
    stated = conflict(says="total([(2, 3)]), 7", but="assertEqual(total([]), 0)")
    code, said = run(shell, tmp_path, READ, *own, stated, say("No."), args=("--json",))
    assert "`says` was not found" in said
    assert code != 3


@pytest.mark.slow
def test_a_green_test_that_contradicts_the_request_is_a_question(shell: Shell, tmp_path: Path):
    lines = READ, checkpoint(), EDIT, call("test"), say("Six, as the test says."), REVIEW
    code, said = run(shell, tmp_path, *lines)
    assert code == 3, said
    assert "must be `7`, and test_cart.py:11 expects `6`" in said
