"""Recorded output of real runners, all on suites with the same kinds of endings."""

from pathlib import Path
from xml.etree.ElementTree import Element

import pytest

from flyball.verdict.case import CaseOutcome
from flyball.verdict.runners.reports.cargo import from_cargo
from flyball.verdict.runners.reports.console import (
    from_go_text,
    from_jest_text,
    from_mocha,
    from_node,
    from_pytest,
    from_pytest_steps,
    from_text,
    from_unittest,
    from_vitest_text,
)
from flyball.verdict.runners.reports.documents import from_jest, from_own
from flyball.verdict.runners.reports.golang import from_go_json
from flyball.verdict.runners.reports.junit import junit, pytest_case
from flyball.verdict.runners.reports.output import RunnerOutput, reported
from flyball.verdict.runners.reports.tap import from_tap, from_tape
from flyball.verdict.runners.reports.verbose import from_test_unit
from flyball.verdict.runners.tally import plain, tally_of

RECORDED = Path(__file__).parents[4] / "golden" / "runners"

PYTEST_FAILURES = [
    "tests/test_err.py",
    "tests/test_syn.py",
    "tests/test_many.py::test_bad",
    r"tests/test_many.py::test_par[\xfc/\u03c0]",
    "tests/test_many.py::test_par[1::2]",
    "tests/test_many.py::test_xps",
    "tests/test_many.py::TestC::test_in",
    "tests/test_many.py::test_td",
    "tests/test_many.py::test_tdf",
    "tests/test_many.py::test_su",
    "tests/test_many.py::U::test_sub",
    "tests/test_many.py::test_subt",
]

FROM_JUNIT = junit(pytest_case, twice=True)


def test_inherited_test_is_of_the_file_that_runs_it():
    """pytest names the file of its text, which another one may run as its own."""
    rows = (
        ("tests.a.test_url.TestUrl", "tests/a/test_timed.py", ("tests/a/test_url.py", "TestUrl")),
        ("tests.a.test_url", "tests/a/test_timed.py", ("tests/a/test_url.py",)),
        ("tests.a.test_timed.TestT", "tests/a/test_timed.py", ("tests/a/test_timed.py", "TestT")),
        ("Odd", "tests/a/test_timed.py", ("tests/a/test_timed.py", "Odd")),
    )
    for owner, file, told in rows:
        attributes = {"classname": owner, "file": file, "name": "test_x"}
        found = pytest_case(Element("testcase", attributes), RunnerOutput())
        assert found.spelling == "::".join((*told, "test_x"))


def recorded(name):
    return (RECORDED / name).read_bytes()


def text(name):
    return plain(recorded(name).decode())


def names(found):
    return sorted(each.name for each in found.failures)


def counts(found):
    return found.passed, found.failed, found.skipped


@pytest.mark.parametrize(
    ("read", "name", "expected", "failures"),
    [
        (FROM_JUNIT, "pytest.xml", (3, 12, 2), PYTEST_FAILURES),
        (from_jest, "jest.json", (2, 4, 2), None),
        (from_jest, "vitest.json", (1, 2, 2), None),
    ],
)
def test_reports_for_machines(read, name, expected, failures):
    found = tally_of(read(recorded(name), RunnerOutput()))
    assert counts(found) == expected
    assert len(found.failures) == found.failed
    assert all(each.message for each in found.failures)
    if failures is not None:
        assert names(found) == sorted(failures)


@pytest.mark.parametrize(
    ("read", "name", "expected", "failures"),
    [
        (from_pytest, "pytest.txt", (5, 15, 2), PYTEST_FAILURES),
        (from_unittest, "unittest.txt", (1, 5, 2), None),
        (
            from_jest_text,
            "jest.txt",
            (2, 3, 2),
            ["sum ü › bad", "sum ü › each 2", "Test suite failed to run"],
        ),
        (
            from_vitest_text,
            "vitest.txt",
            (1, 2, 2),
            ["a.test.js > sum ü > bad", "b.test.js [ b.test.js ]"],
        ),
        (from_mocha, "mocha.txt", (1, 2, 1), ["sum bad", "sum deep worse"]),
        (from_node, "node-tap.txt", (2, 2, 1), ["bad", "inbad"]),
        (from_node, "node-spec.txt", (2, 2, 1), ["bad", "inbad"]),
        (from_tap, "tap.txt", (1, 1, 0), ["b > should be equal"]),
        (
            from_test_unit,
            "test-unit.txt",
            (5, 3, 2),
            ["ATest > test_bad", "ATest > test_err", "ATest > test_rows[two words]"],
        ),
        (
            from_go_json,
            "go.json",
            (3, 3, 1),
            ["ex.org/m.TestBad", "ex.org/m.TestSub/two_ü", "ex.org/m/bad"],
        ),
        (from_go_text, "go.txt", (1, 3, 0), ["TestBad", "TestSub/two_ü", "ex.org/m/bad"]),
        (from_go_text, "go-verbose.txt", (3, 3, 1), ["TestBad", "TestSub/two_ü", "ex.org/m/bad"]),
        (
            from_cargo,
            "cargo.txt",
            (4, 2, 1),
            ["src/lib.rs > c > tests > bad", "tests/it.rs > it > itbad"],
        ),
    ],
)
def test_output_for_people(read, name, expected, failures):
    found = read(text(name))
    assert counts(found) == expected
    if failures is not None:
        assert names(found) == sorted(failures)


@pytest.mark.parametrize(
    "name",
    [
        "pytest.txt",
        "pytest-quiet.txt",
        "unittest.txt",
        "jest.txt",
        "vitest.txt",
        "mocha.txt",
        "node-tap.txt",
        "node-spec.txt",
        "tap.txt",
        "test-unit.txt",
        "ava.txt",
        "go.txt",
        "cargo.txt",
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_whatever_a_make_target_runs_is_recognised_by_what_it_prints(name, end):
    found = from_text(recorded(name).decode().replace("\n", end))
    assert found.failed


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("46 tests, 46 passed, 0 failed\n", (46, 0, 0)),
        ("102 tests conducted, 2 failed.\n", (100, 2, 0)),
        ("9 tests, 6 passed, 2 failed, 1 skipped\n", (6, 2, 1)),
        ("ALL TESTS PASSED (4930/4930)\n", (4930, 0, 0)),
        ("SOME TESTS FAILED (4/6)\n", (4, 2, 0)),
    ],
)
def test_closing_lines_of_small_c_suites(said, expected):
    assert counts(from_text(said)) == expected


def test_a_crash_blames_the_test_under_way():
    found = from_pytest_steps(text("pytest-crash.txt"))
    assert counts(found) == (1, 1, 0)
    assert found.failures[0].name == "tests/test_c.py::test_b"
    assert found.failures[0].message == "it did not finish"


def test_code_that_does_not_compile_says_so():
    found = from_cargo(text("cargo-broken.txt"))
    assert counts(found) == (0, 0, 0)
    assert found.reason == "it does not compile: mismatched types"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Ran 0 tests in 0.000s\n\nOK\n", (0, 0, 0)),
        ("Ran 2 tests in 0.1s\n\nOK (skipped=1)\n\nRan 3 tests in 0.1s\n\nOK\n", (4, 0, 1)),
        ("==== no tests ran in 0.01s ====\n", (0, 0, 0)),
        ("1 passed, 2 warnings in 0.3s\n", (1, 0, 0)),
        ("Tests:       0 total\nTest Suites: 1 failed, 1 total\n", (0, 1, 0)),
        ("Tests: 3 passed, 3 total\nTests: 1 failed, 1 total\n", (3, 1, 0)),
        ("[INFO] Tests run: 5, Failures: 1, Errors: 1, Skipped: 1\n", (2, 2, 1)),
        ("OK (3 tests, 5 assertions)\n", (3, 0, 0)),
        ("Tests: 4, Assertions: 5, Failures: 1, Skipped: 1.\n", (2, 1, 1)),
        ("7 examples, 2 failures, 1 pending\n", (4, 2, 1)),
        ("9 runs, 12 assertions, 0 failures, 0 errors, 0 skips\n", (9, 0, 0)),
        (
            "8 tests, 9 assertions, 1 failures, 0 errors, 1 pendings, 2 omissions, 0 notifications",
            (4, 1, 3),
        ),
        ("75% tests passed, 1 tests failed out of 4\n", (3, 1, 0)),
        ("  3 passed (2.1s)\n", (3, 0, 0)),
        (" 2 pass\n 1 fail\n", (2, 1, 0)),
        ("  2 tests passed\n", (2, 0, 0)),
        ("?   \tex.org/m\t[no test files]\nok  \tex.org/s\t0.1s\n", (1, 0, 0)),
        ("1..2\nok 1 - a\nok 2 - b # SKIP no\n", (1, 0, 1)),
    ],
)
def test_closing_lines(said, expected):
    assert counts(from_text(said)) == expected


@pytest.mark.parametrize("said", ["", "hello\n", "built in 3s\n", "ok\n", "\x1b[31mred\x1b[0m\n"])
def test_what_counts_nothing_is_not_counted(said):
    assert from_text(said) is None


@pytest.mark.parametrize("data", [b"", b"<a", b"{", b"[]", b"\xff\xfe", b'{"testResults": 3}'])
def test_a_broken_report_is_no_report(data):
    assert FROM_JUNIT(data, RunnerOutput()) is None
    assert from_jest(data, RunnerOutput()) is None
    assert not data or from_own(data, RunnerOutput()) is None
    assert from_go_json(data.decode("latin-1")) is None


def test_a_long_message_keeps_its_end():
    body = "x" * 9_000 + "the heart of it"
    data = f'<a><testcase name="n"><failure>{body}</failure></testcase></a>'.encode()
    found = reported(FROM_JUNIT, from_text)(RunnerOutput(reports=(data,)))
    assert found.failures[0].message.endswith("the heart of it")
    assert len(found.failures[0].message) < 2_100


def test_tape_tests_of_one_name_after_each_other_are_two():
    said = "TAP version 13\n# same\nok 1 a\nok 2 b\n# same\nnot ok 3 c\n\n1..3\n"
    tally = from_tape(said)
    assert tally
    assert [(case.name, case.outcome) for case in tally.cases] == [
        ("same", CaseOutcome.PASSED),
        ("same #2", CaseOutcome.FAILED),
    ]


def test_numbered_tests_of_c_suites_keep_their_names():
    said = "1 - Cuts: PASSED\n2 - Joins: at 3\tFAILED\n2 tests, 1 passed, 1 failed\n"
    assert names(from_text(said)) == ["Joins"]
    assert not from_text(said.replace("2 - ", "")).cases
