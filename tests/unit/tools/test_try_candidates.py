"""Small changes under which every test passes, found without touching the workspace."""

import re
import textwrap
from typing import Any

import msgspec
import pytest

from flyball.repair.localise import recall
from flyball.repair.search import try_on_tests

SURVIVOR = re.compile(r"^\d+\. (\S+):(\d+) ([^:\n]+): ([^\n]*)\n```diff\n(.*?)^```$", re.M | re.S)
CANDIDATES = 400
CALC = "def add(a, b):\n    # a sum\n    return a - b\n"
TESTS = """\
    from calc import add


    def test_add():
        assert add(1, 2) == 3


    def test_more():
        assert add(5, -2) == 3


    def test_zero():
        assert add(4, 0) == 4
    """


def searched(bench):
    """The result, and each survivor as path, line, template, label and diff.

    They are read from the text, and are the same as the values beside it.
    """
    result = bench.do("try_candidates")
    found = SURVIVOR.findall(result.text)
    if result.finding is not None:
        holding = [msgspec.structs.astuple(each) for each in result.finding.holding]
        assert [(path, str(line), *more) for path, line, *more in holding] == found
    return result, found


def project(make_bench, files):
    """A desk at which a search counts candidates, so that a busy machine does not shorten it."""
    dedented = {name: textwrap.dedent(text) for name, text in files.items()}
    return make_bench(dedented, candidates=CANDIDATES)


def mended(make_bench, files, path):
    """The file after the best survivor's diff was applied as a driver would."""
    bench = project(make_bench, files)
    result, found = searched(bench)
    assert found, result.text
    bench.do("edit_diff", diff=found[0][4])
    return bench.text(path)


@pytest.mark.slow
def test_the_best_survivor_comes_with_a_diff_that_applies(make_bench):
    files = {"calc.py": CALC, "test_calc.py": TESTS}
    assert mended(make_bench, files, "calc.py") == CALC.replace("a - b", "a + b")


@pytest.mark.slow
@pytest.mark.parametrize(("sum_of", "is_limited"), [(2, False), (120, True)])
def test_a_search_says_when_no_more_changes_were_made(make_bench, sum_of: int, is_limited: bool):
    names = [f"n{n}" for n in range(sum_of)]
    calc = f"def add({', '.join(names)}):\n    return {' - '.join(names)}\n"
    test = f"from calc import add\n\ndef test_add():\n    assert add(*range({sum_of})) == -1\n"
    bench = make_bench({"calc.py": calc, "test_calc.py": test}, candidates=1)
    result = bench.do("try_candidates")
    assert result.finding.is_limited == is_limited
    assert (", the most that are made, in" in result.text) == is_limited


@pytest.mark.slow
def test_nothing_in_the_workspace_changes_and_nothing_is_left(make_bench):
    bench = project(make_bench, {"calc.py": CALC, "test_calc.py": TESTS})
    before = bench.context.workspace.tree_hash()
    result, found = searched(bench)
    assert result.ok
    assert result.data["holding"] == len(found)
    assert result.evidence[0].tree == before
    assert result.evidence[0].exit_code == 0
    assert bench.context.workspace.tree_hash() == before
    assert not list((bench.context.workspace.directory / "apart").iterdir())


@pytest.mark.exhaustive
@pytest.mark.slow
def test_how_far_the_search_is_can_be_watched(make_bench):
    bench = project(make_bench, {"calc.py": CALC, "test_calc.py": TESTS})
    said = []
    bench.context = bench.context._replace(on_output=said.append)
    result, found = searched(bench)
    assert said[0] == "Running 3 tests, each by itself\n"
    tried = result.data["tried"]
    assert said[-1].startswith(f"{tried} of ")
    assert said[-1].endswith(f"candidates tried, {len(found)} make every test pass\n")


def test_a_search_of_a_run_that_is_to_rest_is_ended_and_leaves_nothing(make_bench):
    bench = project(make_bench, {"calc.py": CALC, "test_calc.py": TESTS})
    bench.context = bench.context._replace(is_to_rest=lambda: True)
    result, found = searched(bench)
    assert not result.ok
    assert result.text.startswith("`try_candidates` was interrupted")
    assert found == []
    assert not list((bench.context.workspace.directory / "apart").iterdir())


@pytest.mark.exhaustive
@pytest.mark.slow
def test_what_an_ended_search_had_found_is_kept(make_bench):
    """The tests compute long enough for the search to be under way when it is ended."""
    slow = TESTS.replace("assert", "sum(range(10**6))\n        assert")
    bench = project(make_bench, {"calc.py": CALC, "test_calc.py": slow})
    said = []
    bench.context = bench.context._replace(
        on_output=said.append,
        is_to_rest=lambda: bool(said) and "tried" in said[-1] and ", 0 make" not in said[-1],
    )
    result, found = searched(bench)
    assert "The search was ended early: the run is to rest." in result.text
    assert found[0][3] == "`-` → `+`"


MEDDLING = """\
    import sys

    from calc import add


    def orders():
        frame = sys._getframe()
        while frame:
            for name in ("orders", "self"):
                found = frame.f_locals.get(name)
                found = getattr(found, "orders", getattr(found, "_orders", found))
                if hasattr(found, "say"):
                    return found
            frame = frame.f_back


    def test_add():
        say = orders().say
        say(n="x", end=3)
        say(n=10**9, end="hold")
        say(ran=5)
        say(tests="many")
        say(name=[])
        assert add(1, 2) == 3
    """


@pytest.mark.exhaustive
@pytest.mark.slow
def test_lines_of_tests_in_the_report_are_ignored(make_bench):
    bench = project(make_bench, {"calc.py": CALC, "test_calc.py": MEDDLING})
    result, found = searched(bench)
    assert result.ok
    assert found[0][3] == "`-` → `+`"


@pytest.mark.exhaustive
@pytest.mark.slow
def test_unfixable_fault_ends_without_a_survivor(make_bench):
    bench = project(
        make_bench,
        {
            "calc.py": "def word():\n    return 'a'\n",
            "test_calc.py": "import calc\n\n\ndef test_it():\n    assert calc.word() == 'xyz-7'\n",
        },
    )
    result, found = searched(bench)
    assert not result.ok
    assert found == []
    assert result.evidence[0].exit_code == 1
    assert not list((bench.context.workspace.directory / "apart").iterdir())


@pytest.mark.slow
def test_a_single_test_is_enough(make_bench):
    files = {
        "calc.py": "def largest(items):\n    return min(items)\n",
        "test_calc.py": """\
            from calc import largest


            def test_largest():
                assert largest([3, 9, 4]) == 9
            """,
    }
    assert "return max(items)" in mended(make_bench, files, "calc.py")


@pytest.mark.slow
def test_only_what_is_no_test_is_changed(make_bench):
    bench = project(
        make_bench,
        {
            "calc.py": CALC,
            "test_calc.py": TESTS,
            "tests/support.py": "def wanted():\n    return 3\n",
            "tests/test_support.py": (
                "from calc import add\nfrom tests.support import wanted\n\n\n"
                "def test_it():\n    assert add(1, 2) == wanted()\n"
            ),
        },
    )
    _, found = searched(bench)
    assert {path for path, *_ in found} == {"calc.py"}


FAULTS = {
    "constant of a module": (
        """\
        LIMIT = 9


        def is_many(n):
            return n >= LIMIT
        """,
        "assert calc.is_many(10) and not calc.is_many(9)",
    ),
    "default": (
        """\
        def power(n, to=3):
            return n**to
        """,
        "assert (calc.power(3), calc.power(5)) == (9, 25)",
    ),
    "shared default": (
        """\
        def put(item, into=[]):
            into.append(item)
            return into
        """,
        "assert (calc.put(1), calc.put(2)) == ([1], [2])",
    ),
    "attribute of a class": (
        """\
        class Dog:
            legs = 3

            def walk(self):
                return self.legs * "tap"
        """,
        "assert calc.Dog().walk() == 'tap' * 4",
    ),
    "a cache that keeps wrong answers": (
        """\
        SEEN = {}


        def fib(n):
            if n < 2:
                return n
            if n not in SEEN:
                SEEN[n] = fib(n - 1) + fib(n - 3)
            return SEEN[n]
        """,
        "assert [calc.fib(n) for n in range(9)] == [0, 1, 1, 2, 3, 5, 8, 13, 21]",
    ),
    "a name at import": (
        """\
        FIRST = 1
        SECOND = FRIST + 1


        def both():
            return FIRST + SECOND
        """,
        "assert calc.both() == 3",
    ),
    "a missing import": (
        """\
        def root(n):
            return math.sqrt(n)
        """,
        "assert calc.root(9) == 3",
    ),
    "no end": (
        """\
        def halve(n):
            steps = 0
            while n > 0:
                n = n // 1
                steps += 1
            return steps
        """,
        "assert (calc.halve(8), calc.halve(1)) == (4, 1)",
    ),
    "a generator": (
        """\
        def pairs(items):
            for i in range(len(items)):
                yield items[i], items[i + 1]
        """,
        "assert list(calc.pairs('abc')) == [('a', 'b'), ('b', 'c')]",
    ),
}


QUICKLY_MENDED = ("attribute of a class", "a missing import")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.exhaustive] * (name not in QUICKLY_MENDED))
        for name in FAULTS
    ],
)
def test_faults_of_many_kinds_are_fixed(make_bench, name):
    source, claim = FAULTS[name]
    tests = f"import calc\n\n\ndef test_it():\n    {claim}\n"
    bench = project(make_bench, {"calc.py": source, "test_calc.py": tests})
    result, found = searched(bench)
    assert found, result.text
    bench.do("edit_diff", diff=found[0][4])
    after = bench.do("test")
    assert after.ok, after.text


@pytest.mark.slow
def test_a_project_of_unittest_with_a_package(make_bench):
    files = {
        "shop/__init__.py": "",
        "shop/cart.py": "def total(prices):\n    return sum(prices[1:])\n",
        "tests/__init__.py": "",
        "tests/test_cart.py": """\
            import unittest

            from shop.cart import total


            class TestCart(unittest.TestCase):
                def test_some(self):
                    self.assertEqual(total([1, 2, 3]), 6)

                def test_none(self):
                    self.assertEqual(total([]), 0)
            """,
    }
    # Several small changes repair it, and which one is found first is the search's own affair.
    shop: dict[str, Any] = {}
    exec(mended(make_bench, files, "shop/cart.py"), shop)
    assert (shop["total"]([1, 2, 3]), shop["total"]([])) == (6, 0)


@pytest.mark.exhaustive
@pytest.mark.slow
def test_candidates_that_end_the_process_are_survived(make_bench):
    files = {
        "calc.py": """\
            import os


            def f(n):
                if n > 3:
                    os._exit(1)
                return n
            """,
        "test_calc.py": "from calc import f\n\n\ndef test_f():\n    assert f(4) == 4\n\n\n"
        "def test_g():\n    assert f(1) == 1\n",
    }
    bench = project(make_bench, files)
    result, found = searched(bench)
    assert found, result.text


@pytest.mark.exhaustive
@pytest.mark.slow
def test_a_test_that_looks_at_the_whole_suite_decides(make_bench):
    """A change that only mends the failing test and breaks another is no survivor."""
    files = {
        "calc.py": "def size(n):\n    if n > 10:\n        return 'big'\n    return 'small'\n",
        "test_calc.py": """\
            from calc import size


            def test_ten():
                assert size(10) == 'big'


            def test_nine():
                assert size(9) == 'small'


            def test_eleven():
                assert size(11) == 'big'
            """,
    }
    assert "if n >= 10:" in mended(make_bench, files, "calc.py")


@pytest.mark.exhaustive
@pytest.mark.slow
def test_what_was_learnt_is_used_again(make_bench):
    bench = project(make_bench, {"calc.py": CALC, "test_calc.py": TESTS})
    bench.do("localise_faults")
    kept = list((bench.context.workspace.directory / "repair").iterdir())
    assert len(kept) == 1
    stamp = kept[0].stat().st_mtime_ns
    assert searched(bench)[1]
    assert kept[0].stat().st_mtime_ns == stamp


@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.parametrize("seconds", [2.5, 9])
def test_a_change_holds_though_some_tests_take_long(make_bench, seconds):
    files = {
        "calc.py": CALC
        + "\n\ndef spin(seconds):\n    import time\n\n    end = time.process_time() + seconds\n"
        "    while time.process_time() < end:\n        pass\n    return True\n",
        "test_calc.py": textwrap.dedent(TESTS)
        + f"\n\ndef test_slow():\n    from calc import spin\n\n    assert spin({seconds})\n",
    }
    assert "return a + b" in mended(make_bench, files, "calc.py")


@pytest.mark.exhaustive
@pytest.mark.slow
def test_what_probing_has_refuted_is_not_tried_again(make_bench, monkeypatch):
    steps = "".join(f"    total = total + values[{n}] * 10\n" for n in range(14))
    text = f"def f(values):\n    total = 0\n{steps}    return total\n"
    files = {
        "calc.py": text.replace("+ values[9] *", "- values[9] *"),
        "test_calc.py": "from calc import f\n\n\ndef test_all():\n"
        "    assert f(list(range(14))) == 910\n",
    }
    bench = project(make_bench, files)
    bench.do("localise_faults")
    refuted = recall(bench.context).refuted
    given = []

    def spying(stage, known, proposed, *more):
        given.extend((each.path, each.edits) for each in proposed)
        return try_on_tests(stage, known, proposed, *more)

    monkeypatch.setattr("flyball.tools.try_candidates.try_on_tests", spying)
    _, found = searched(bench)
    assert refuted
    assert not set(refuted) & set(given)
    assert "+ values[9] * 10" in found[0][4]
