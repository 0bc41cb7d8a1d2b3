"""What a driver is told of an outcome, and what it is spared."""

from pathlib import Path

from flyball.terms.evidence import FailedTest
from flyball.tools.call.protocol import bounded
from flyball.tools.suite import failure_texts, without_runner_frames
from flyball.workspace.files.paths import relative_paths

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
    told = "\n".join(failure_texts(failures, ROOT))
    assert told.count("cart = Cart(n)") == 1
    assert told.count("(the rest as above)") == 4
    for n in range(5):
        assert f"E   assert 1 == {n}" in told
    assert told.endswith("Also failing:\n  test_total[5], [6]")


def test_failures_of_their_own_are_shown_whole():
    failures = [FailedTest("a", "E   one\nx = 1"), FailedTest("b", "E   two\ny = 2")]
    assert "\n".join(failure_texts(failures, ROOT)) == (
        "FAILED a\nE   one\nx = 1\nFAILED b\nE   two\ny = 2"
    )


PARAMETRISED = """\
assert 2 == (2 * {n})
n = {n}

    def test_many(n):
        got = total([(2, n)])
>       assert got == 2 * n
E       assert 2 == (2 * {n})

test_p.py:9: AssertionError"""


def test_what_stands_behind_an_e_is_not_said_before_it():
    told = "\n".join(failure_texts([FailedTest("t[2]", PARAMETRISED.format(n=2))], ROOT))
    assert told.count("assert 2 == (2 * 2)") == 1


def test_a_test_of_its_own_is_not_hidden_behind_the_cases_of_another():
    many = [FailedTest(f"test_many[{n}]", PARAMETRISED.format(n=n)) for n in range(7)]
    told = "\n".join(failure_texts([*many, FailedTest("test_deep", "E   ValueError: no")], ROOT))
    assert "FAILED test_deep\nE   ValueError: no" in told
    assert told.endswith("Also failing:\n  test_many[4], [5], [6]")


def test_first_of_many_names_are_shown():
    failures = [FailedTest(f"test_{n}", "no") for n in range(100)]
    told = list(failure_texts(failures, ROOT))
    assert told[-1] == "  and 75 more"
    assert len(told) == 2 * 5 + 1 + 20 + 1


def test_a_long_failure_is_its_head_and_its_tail():
    message = "\n".join(f"line {n}" for n in range(200))
    (_, *told, where) = failure_texts([FailedTest("t", message)], ROOT, "c1.log")
    assert where == "The whole output can be read as c1.log."
    assert told[0] == "line 0"
    assert told[-1] == "line 199"
    assert "[… 164 lines …]" in told
    assert len(told) == 37


def test_what_a_go_runner_says_of_itself_is_left_out():
    message = (
        "=== RUN   TestTotal/pens\n    cart_test.go:9: 2, want 4\n    --- FAIL: TestTotal/pens"
    )
    told = list(failure_texts([FailedTest("shop.TestTotal/pens", message)], ROOT))
    assert told == ["FAILED shop.TestTotal/pens", "    cart_test.go:9: 2, want 4"]


def test_the_frames_of_go_itself_are_left_out():
    trace = (
        "panic: assignment to entry in nil map\n"
        "testing.tRunner.func1()\n\t/usr/lib/go/src/testing/testing.go:1399 +0x374\n"
        "shop.TestPanics(0x4000096680?)\n\tcart_test.go:17 +0x34"
    )
    kept = without_runner_frames(trace).split("\n")
    assert [line.strip() for line in kept] == [
        "panic: assignment to entry in nil map",
        "shop.TestPanics(0x4000096680?)",
        "cart_test.go:17 +0x34",
    ]


def test_long_output_is_its_head_and_its_tail_in_whole_lines():
    text = "\n".join(f"line {n}" for n in range(1_000))
    shown, cut = bounded(text, 400, "Read log.txt.")
    head, mark, tail = shown.partition("[… ")
    assert head.split("\n")[0] == "line 0"
    assert shown.split("\n")[-1] == "line 999"
    assert "characters cut. Read log.txt. …]" in mark + tail
    assert all(line.startswith(("line ", "[… ")) for line in shown.split("\n"))
    assert len(shown) < 500
    assert len(text) - len(shown) < cut < len(text)
