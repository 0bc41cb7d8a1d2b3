"""What a few changes at each suspicious line show."""

from collections import Counter

import pytest

from flyball.repair.inside.hot_swap import Edit
from flyball.repair.search import EACH, PLACES, choose_probes, read_signs
from flyball.repair.site import Candidate
from flyball.repair.source import Source
from flyball.repair.spectrum import Sign, SuspectLine, add_signs

LINES = PLACES + 2
TEXT = "def f(a, b):\n" + "    a = a + b\n" * LINES + "    return a\n"
SOURCES = {"m.py": Source("m.py", TEXT.encode())}


def at(line, start=0):
    return Candidate("m.py", line, "comparison", "", (Edit(start, start, ""),), 1.0)


@pytest.mark.exhaustive
def test_each_of_the_most_suspicious_lines_gets_as_many_as_any_other():
    places = [SuspectLine("m.py", line, 1.0) for line in range(2, LINES + 2)]
    found = Counter(each.line for each in choose_probes(SOURCES, places, frozenset()))
    assert found == dict.fromkeys(range(2, PLACES + 2), EACH)


def test_the_likeliest_come_first():
    places = [SuspectLine("m.py", 2, 1.0), SuspectLine("m.py", 3, 0.1)]
    chances = [each.chance for each in choose_probes(SOURCES, places, frozenset())]
    assert chances == sorted(chances, reverse=True)


def test_a_line_is_marked_by_the_best_of_its_changes():
    proposed = [at(2), at(2), at(3), at(4), at(5)]
    ends = {0: "broke", 1: "hold", 2: "broke", 3: "fail", 4: "promising"}
    found = {place.line: place.score for place in read_signs(SOURCES, proposed, ends)}
    assert list(found) == [2, 3, 5]
    assert found[2] > found[5] > found[3] > 0


def test_of_a_long_statement_the_line_that_was_changed_is_named():
    text = b"def f(a):\n    return {\n        1: a,\n        2: a - 1,\n    }\n"
    sources = {"m.py": Source("m.py", text)}
    marks = read_signs(sources, [at(2, text.index(b"- 1")), at(2, 0)], {0: "hold", 1: "broke"})
    assert add_signs([SuspectLine("m.py", 2, 1.0)], marks) == [SuspectLine("m.py", 4, 1.0)]


def test_suspicious_line_ranks_higher():
    places = [SuspectLine("m.py", 2, 1.0), SuspectLine("m.py", 3, 1.0), SuspectLine("m.py", 4, 0.5)]
    found = add_signs(places, [Sign("m.py", 4, 1.0, 4), Sign("m.py", 99, 1.0, 99)])
    assert found == [
        SuspectLine("m.py", 4, 1.0),
        SuspectLine("m.py", 2, 1 / 1.5),
        SuspectLine("m.py", 3, 1 / 1.5),
    ]


def test_nothing_changes_where_nothing_was_seen():
    places = [SuspectLine("m.py", 2, 1.0), SuspectLine("m.py", 3, 0.5)]
    assert add_signs(places, ()) == places
