"""What a change left alone is not read, unless something beside it decides about it."""

from __future__ import annotations

import pytest
from tests.work import calls_of

from flyball.core.weakening.change import compare_tests
from flyball.core.weakening.styles.family import Family
from flyball.core.weakening.styles.unchanged import without_unchanged

TESTS = """const cases = [[1, 2], [2, 4]]
function look(x) {
  expect(x).toBe(1)
}
it('doubles', () => {
  for (const [n, want] of cases) {
    expect(double(n)).toBe(want)
  }
})
it('looks', () => {
  look(one())
})
it('stays', () => {
  expect(f()).toBe(1)
})
"""
PATH = "a.test.js"


def test_a_test_that_is_the_same_on_both_sides_is_cut_and_lines_keep_their_numbers():
    new = TESTS.replace("expect(f()).toBe(1)", "expect(f()).toBe(2)")
    was, now = without_unchanged(Family.JS, TESTS, new)
    assert "doubles" not in was + now
    assert was.index("stays") > 0
    assert was.count("\n") == now.count("\n") == TESTS.count("\n")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (", [2, 4]]", "]"),
        ("  expect(x).toBe(1)\n", "  expect(x).toBeDefined()\n"),
        ("it('looks'", "xit('looks'"),
    ],
)
def test_what_decides_about_a_test_from_beside_it_is_noticed(old: str, new: str):
    assert old in TESTS
    found = compare_tests({PATH: TESTS}, {PATH: TESTS.replace(old, new, 1)})
    assert {test.comparison for test in found} & {"weaker", "skipped"}


def test_a_condition_around_a_test_that_stays_is_noticed():
    inside = TESTS.replace("it('stays'", "if (false) {\nit('stays'", 1) + "}\n"
    (found,) = compare_tests({PATH: TESTS}, {PATH: inside})
    assert (found.function, found.comparison) == ("stays", "weaker")


LARGE = {
    "tests/test_a.py": "def test_{0}():\n    x = make({0})\n    assert x.size == {0}\n\n\n",
    "a.test.js": "it('does {0}', () => {{\n  expect(make({0}).size).toBe({0})\n}})\n\n\n",
    "a_test.go": "func Test{0}(t *T) {{\n\tif Size({0}) != {0} {{\n\t\tt.Fail()\n\t}}\n}}\n",
}


@pytest.mark.parametrize("path", LARGE)
def test_a_file_of_twice_the_length_takes_about_twice_the_work(path: str):
    assert work(path, 400) < 3 * work(path, 200)


def work(path: str, count: int) -> int:
    """How much is done to find one changed expectation among so many tests."""
    text = "".join(LARGE[path].format(number) for number in range(count))
    changed = text.replace("ize == 50", "ize == 51").replace("toBe(50)", "toBe(51)")
    changed = changed.replace("Size(50) != 50", "Size(50) != 51")

    def compare() -> None:
        (found,) = compare_tests({path: text}, {path: changed})
        assert found.comparison == "other-expectation"

    return calls_of(compare)
