"""Of several changes that hold, the one a person would make is taken."""

import pytest

from flyball.repair.inside.hot_swap import Edit
from flyball.repair.ranking import changed_size, rank
from flyball.repair.site import Candidate, common_prefix, diff_of
from flyball.repair.source import Source

TEXT = """\
class Money:
    def __init__(self, cents):
        self.cents = cents

    def __eq__(self, other):
        return self.cents == other.cents

    def half(self):
        part = self.cents / 2
        return Money(part)
"""


def change(old, new, template="comparison", chance=1.0):
    start = TEXT.index(old)
    line = TEXT[:start].count("\n") + 1
    edit = Edit(start, start + len(old), new)
    return Candidate("m.py", line, template, f"{old} → {new}", (edit,), chance)


def order(*candidates, passing=None):
    sources = {"m.py": Source("m.py", TEXT.encode())}
    return [each.label for each in rank(candidates, sources, passing or {})]


BETTER = ("cents / 2", "cents // 2")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.cents == other", "self.cents >= other"),
        ("Money(part)", "Money(self)"),
        ("return Money(part)", "pass"),
        ("        return Money(part)", "        return None\n        return Money(part)"),
        ("cents / 2", "cents / 2 + 0"),
        ("cents / 2", "cents * 1 / 2"),
        ("cents / 2", "cents // 2 if True else 0"),
        ("Money(part)", "Money(part, part)"),
    ],
    ids=[
        "hides",
        "unread",
        "left out",
        "dead",
        "plus nothing",
        "times one",
        "no condition",
        "said twice",
    ],
)
def test_implausible_changes_rank_last(old, new):
    template = "left out" if new == "pass" else "comparison"
    worse = change(old, new, template, chance=1.1)
    better = change(*BETTER)
    assert order(worse, better)[0] == better.label


def test_the_smaller_of_two_comes_first():
    small, large = change(*BETTER), change("self.cents / 2", "round(self.cents // 2 + self.cents)")
    assert order(large, small) == [small.label, large.label]


def test_a_change_that_passing_tests_ran_counts_for_more():
    here, there = change(*BETTER), change("Money(part)", "Money(part - 1)", chance=1.5)
    assert order(here, there)[0] == there.label
    assert order(here, there, passing={("m.py", here.line): 7})[0] == here.label


def test_a_label_is_one_line():
    assert order(change(*BETTER)._replace(label="one\n   two")) == ["one two"]


def test_a_diff_of_a_file_without_a_last_newline():
    diff = diff_of("a.py", b"x = 1", b"x = 2")
    assert diff.count("\\ No newline at end of file") == 2
    assert "-x = 1\n" in diff
    assert diff_of("a.py", b"x = 1\r\n", b"x = 2\r\n").endswith("+x = 2\r\n")


def test_size_is_what_changes():
    data = TEXT.encode()
    assert changed_size(change("cents / 2", "cents // 2"), data) == 1
    assert changed_size(change("part = self", "whole = self"), data) == 5
    assert common_prefix(b"abcd", b"abxd") == 2
    assert common_prefix(b"", b"a") == 0
    assert common_prefix(b"ab", b"abc") == 2
