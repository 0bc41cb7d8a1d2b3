"""Which lines failing tests run and passing ones do not."""

import pytest

from flyball.repair.source import Source
from flyball.repair.spectrum import Traced, count_passing, rank_lines

TEXT = (
    b"def f(a):\n    b = a\n    if b:\n        b = (\n            b + 1\n        )\n    return b\n"
)
SOURCES = {"m.py": Source("m.py", TEXT)}


def red(*lines, frames=(), end="fail", late=()):
    places = tuple(("m.py", line) for line in frames)
    return Traced("r", end, places, {"m.py": lines}, {"m.py": late} if late else {})


def green(*lines):
    return Traced("g", "pass", (), {"m.py": lines})


def lines(*tests):
    return [place.line for place in rank_lines(tests, SOURCES)]


def test_lines_of_failing_tests_only_come_first():
    assert lines(red(2, 3, 5, 7), green(2, 3, 7)) == [4, 3, 2, 7]


def test_lines_of_one_statement_are_one_place():
    assert lines(red(3, 4, 5, 6)) == [4, 3]


def test_of_lines_as_suspicious_the_one_with_more_in_it_comes_first():
    assert lines(red(2, 3, 5)) == [4, 2, 3]


def test_lines_that_ran_only_before_what_failed_are_less_suspicious():
    assert lines(red(2, 3, 7, late=(7,))) == [7, 2, 3]


def test_a_condition_is_nearly_as_suspicious_as_what_it_let_run():
    scores = {p.line: p.score for p in rank_lines([red(3, 5), green(3), green(3)], SOURCES)}
    assert scores == {4: 1.0, 3: pytest.approx(0.9)}


def test_enclosing_statements_of_a_line_have_run():
    assert lines(red(5)) == [4, 3]


def test_lines_that_only_introduce_others_come_later():
    text = b"def f(a):\n    try:\n        return a\n    finally:\n        pass\n"
    places = rank_lines([red(2, 3, 5)], {"m.py": Source("m.py", text)})
    assert [place.line for place in places] == [3, 5, 2]


def test_lines_that_only_report_a_fault_rank_lower():
    text = (
        b"class Wrong(ValueError):\n    def __init__(self):\n        self.a = 1\n\n\n"
        b"def f(a):\n    if a:\n        raise Wrong()\n    return a\n"
    )
    places = rank_lines([red(3, 7, 8)], {"m.py": Source("m.py", text)})
    assert [(place.line, place.score) for place in places] == [(7, 1.0), (3, 0.8), (8, 0.8)]


def test_a_line_whose_value_is_lost_comes_first():
    text = b"def f(a):\n    b = a + 1\n    if b:\n        g(b)\n        False\n    return b\n"
    places = rank_lines([red(2, 3, 4, 5, 6)], {"m.py": Source("m.py", text)})
    assert places[0].line == 5


def test_where_a_traceback_ends_is_more_suspicious():
    assert lines(red(2, 3, 7, frames=(2, 7))) == [7, 2, 3]


def test_tests_that_do_not_end_or_crash_count_as_failing():
    assert lines(red(2, end="time"), red(3, end="crash")) == [2, 3]


def test_nothing_is_suspicious_without_a_failure():
    assert lines(green(2, 3)) == []


def test_lines_of_tests_are_left_out():
    test = Traced("t", "fail", (("test_m.py", 2),), {"test_m.py": (2,), "m.py": (2,)})
    assert [place.path for place in rank_lines([test], SOURCES)] == ["m.py"]


def test_passing_tests_are_counted_by_line():
    assert count_passing([green(2, 3), green(3), red(7)]) == {("m.py", 2): 1, ("m.py", 3): 2}


def test_definitions_that_suspicious_lines_go_by_are_suspicious_too():
    text = (
        b'RATE = 2\nOTHER = 3\n\n\nclass Box:\n    size: int = 4\n    name = "box"\n\n'
        b"    def grow(self, by=5):\n        return self.size * RATE + by\n"
    )
    sources = {"m.py": Source("m.py", text)}
    test = Traced("t", "fail", (), {"m.py": (10,)})
    places = {place.line: place.score for place in rank_lines([test], sources)}
    assert set(places) == {10, 1, 6, 9}
    assert places[10] == 1.0 > places[1] == places[6] == places[9]
