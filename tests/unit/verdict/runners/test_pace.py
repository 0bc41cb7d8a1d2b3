"""How long suites took, when one is stopped, and which tests were running then."""

import pytest

from flyball.terms.progress import Progress
from flyball.verdict.runners.pace import Course, Pace, Paces, limit_for
from flyball.verdict.runners.table import BY_NAME
from flyball.workspace.process.process import CommandLimits


@pytest.mark.parametrize(
    ("before", "requested", "seconds"),
    [
        ([], None, 600.0),
        ([], 20, 20),
        ([], 9000, 600.0),
        ([30.0], None, 90.0),
        ([40.0, 10.0], None, 120.0),
        ([0.1], None, 20.0),
        ([500.0], None, 600.0),
        ([30.0], 5, 5),
    ],
)
def test_a_suite_may_take_three_times_what_it_took(start, before, requested, seconds):
    limits = CommandLimits(seconds=600.0)
    context = start._replace(limits=limits)
    assert limit_for(context, Pace(before), requested).seconds == seconds


def test_the_last_times_are_kept_and_broken_files_are_nothing(start):
    paces = Paces(start.workspace.state_dir)
    assert paces.find("a") == Pace()
    for seconds in range(7):
        paces.keep("a", seconds, done=seconds)
    assert Paces(start.workspace.state_dir).find("a") == Pace([2, 3, 4, 5, 6], 6)
    (start.workspace.state_dir / "suite-times.json").write_text("{")
    assert Paces(start.workspace.state_dir).find("a") == Pace()


PYTEST = "a.py::t1 PASSED [ 50%]\na.py::t2 "
XDIST = "a.py::t1 \na.py::t2 \n[gw0] [ 50%] PASSED a.py::t1 \n"
SUMMED_UP = (
    "a.py::t1 PASSED [ 50%]\na.py::t2 FAILED [100%]\n"
    "=== short test summary info ===\nFAILED a.py::t2 - assert 1 == 2\nERROR a.py::t3\n"
)
UNITTEST = """\
test_a (m.T.test_a) ... ok
test_b (m.T.test_b)
Some words. ... ok
test_c (m.T.test_c) ... """
GO = """\
{"Action":"run","Package":"x","Test":"TestA"}
{"Action":"output","Package":"x","Test":"TestA","Output":"=== RUN TestA"}
{"Action":"pass","Package":"x","Test":"TestA","Elapsed":0}
{"Action":"run","Package":"x","Test":"TestB"}
"""
CARGO = "test a::b ... ok\ntest slow has been running for over 60 seconds\n"


@pytest.mark.parametrize(
    ("runner", "text", "done", "running"),
    [
        ("pytest", PYTEST, 1, ("a.py::t2",)),
        ("pytest", XDIST, 1, ("a.py::t2",)),
        ("pytest", SUMMED_UP, 2, ()),
        ("unittest", UNITTEST, 2, ("test_c (m.T.test_c)",)),
        ("go", GO, 1, ("TestB",)),
        ("cargo", CARGO, 1, ("slow",)),
        ("mocha", "  cart\n    ✔ adds\n    1) fails\n", 2, ()),
        ("tap", "ok 1 - adds\nnot ok 2 - fails\n", 2, ()),
        ("jest", "PASS test/a.test.js\n", 1, ()),
    ],
)
def test_output_says_what_has_ended_and_what_is_running(runner, text, done, running):
    course = Course(BY_NAME[runner].steps)
    for letter in text:
        course.hear(letter)
    assert (course.done, course.running) == (done, running)


def test_progress_says_how_far_it_is_and_how_long_it_took():
    now = Progress("pytest", 12.3, 30.2, 5, 40)
    assert now.text == "pytest: 5 of 40 tests, 12 s (last time 30 s)"
    assert Progress("pytest", 4.0, done=1).text == "pytest: 1 test, 4 s"
    assert Progress("make", 4.0).text == "make: 4 s"
    assert Progress("pytest", 4.0, done=8, of=2).text == "pytest: 8 tests, 4 s"
    line = Progress("go", 2.0, done=3).line("k1", "c1")
    assert (line["type"], line["card"], line["call"]) == ("progress", "k1", "c1")
    assert (line["done"], line["of"], line["before"]) == (3, 0, 0)
