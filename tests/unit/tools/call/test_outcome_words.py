"""What a driver is told of an outcome, and what it is spared."""

from pathlib import Path

from flyball.core.terms.evidence import FailedTest
from flyball.tools.call.outcome_words import relative_paths, told_failures, without_runner_frames

ROOT = Path("/state/flyball/worktrees/r-20260101-abcdef/tree")

TRACE = f"""Traceback (most recent call last):
  File "/usr/lib/python3.11/unittest/case.py", line 57, in testPartExecutor
    yield
  File "{ROOT}/tests/test_cart.py", line 9, in test_three
    self.assertEqual(total([(2, 3)]), 6)
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/usr/lib/python3.11/unittest/case.py", line 873, in assertEqual
    assertion_func(first, second, msg=msg)
AssertionError: 2 != 6"""


def test_a_file_of_the_workspace_goes_by_its_path_in_it():
    assert relative_paths(f"{ROOT}/a.py:3: no", ROOT) == "a.py:3: no"
    assert relative_paths("/elsewhere/a.py", ROOT) == "/elsewhere/a.py"


def test_the_frames_of_the_runner_are_left_out():
    told = without_runner_frames(relative_paths(TRACE, ROOT)).split("\n")
    assert told == [
        "Traceback (most recent call last):",
        '  File "tests/test_cart.py", line 9, in test_three',
        "    self.assertEqual(total([(2, 3)]), 6)",
        "    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
        "AssertionError: 2 != 6",
    ]


def test_a_script_runners_frames_are_left_out():
    text = (
        "AssertionError: expected 2 to be 6\n"
        "    at /repo/cart.test.js:4:20\n"
        "    at run (/repo/node_modules/vitest/dist/index.js:10:3)\n"
        "    at node:internal/process/task_queues:95:5"
    )
    assert without_runner_frames(text).split("\n") == text.split("\n")[:2]


SOURCE = """\
@pytest.mark.parametrize('n', range(5))
def test_total(n):
    cart = Cart(n)
    cart.add(1)
>   assert cart.total == n"""


def test_five_failures_of_one_test_show_its_source_once():
    failures = [FailedTest(f"test_total[{n}]", f"{SOURCE}\nE   assert 1 == {n}") for n in range(7)]
    told = "\n".join(told_failures(failures, ROOT))
    assert told.count("cart = Cart(n)") == 1
    assert told.count("(the rest as above)") == 4
    for n in range(5):
        assert f"E   assert 1 == {n}" in told
    assert told.endswith("Also failing:\n  test_total[5]\n  test_total[6]")


def test_failures_of_their_own_are_shown_whole():
    failures = [FailedTest("a", "E   one\nx = 1"), FailedTest("b", "E   two\ny = 2")]
    assert "\n".join(told_failures(failures, ROOT)) == (
        "FAILED a\nE   one\nx = 1\nFAILED b\nE   two\ny = 2"
    )
