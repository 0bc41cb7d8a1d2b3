"""Which tests fail, and which lines are to blame, whatever the tests do."""

import textwrap

import pytest

from flyball.errors import ToolError
from flyball.terms.finding import Suspect, SuspectLines

ADD = "def add(a, b):\n    return a - b\n\n\ndef twice(a):\n    return 2 * a\n"
TESTS = (
    "from calc import add, twice\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\n"
    "def test_twice():\n    assert twice(2) == 4\n"
)


def looked(make_bench, files, candidates=400, **args):
    """What a look finds that counts candidates, so that a busy machine does not shorten it."""
    dedented = {name: textwrap.dedent(text) for name, text in files.items()}
    return make_bench(dedented, candidates=candidates).do("localise_faults", **args)


def first_place(result):
    return tuple(result.data["places"][0][:2])


def test_the_failing_test_and_its_line_are_named(make_bench):
    result = looked(make_bench, {"calc.py": ADD, "test_calc.py": TESTS})
    assert (result.data["passed"], result.data["failed"]) == (1, 1)
    assert result.data["failures"] == ["test_calc.py::test_add"]
    assert result.data["places"] == [["calc.py", 2, 1.0]]
    assert result.finding == SuspectLines(lines=(Suspect("calc.py", 2, 1.0, "return a - b"),))
    assert "1.00  calc.py:2  return a - b" in result.text
    assert "assert -1 == 3" in result.text
    assert not result.ok


@pytest.mark.slow
def test_nothing_is_suspicious_where_all_pass(make_bench):
    files = {"calc.py": ADD.replace("a - b", "a + b"), "test_calc.py": TESTS}
    result = looked(make_bench, files)
    assert result.ok
    assert result.data["places"] == []
    assert result.evidence[0].is_green


@pytest.mark.slow
def test_one_test_alone_still_points_into_what_it_runs(make_bench):
    files = {
        "calc.py": "def f(x):\n    y = x + 1\n    return y\n\n\ndef g(x):\n    return x\n",
        "test_calc.py": "from calc import f\n\n\ndef test_f():\n    assert f(1) == 3\n",
    }
    result = looked(make_bench, files)
    assert {line for _, line, _ in result.data["places"]} == {2, 3}


@pytest.mark.slow
def test_the_end_of_a_traceback_counts_for_more(make_bench):
    files = {
        "calc.py": "def f(x):\n    y = x\n    z = y.real.missing\n    return z\n",
        "test_calc.py": "from calc import f\n\n\ndef test_f():\n    assert f(1) == 3\n",
    }
    assert first_place(looked(make_bench, files)) == ("calc.py", 3)


ENDINGS = {
    "endless": "while x: x += 1",
    "exits": "os._exit(3)",
    "segfault": "ctypes.string_at(0)",
    "endless in C": "sum(itertools.count())",
    "too deep": "sys.setrecursionlimit(10**5); f(x)",
    "killed": "os.kill(os.getpid(), 9)",
}
LONG = frozenset({"endless", "endless in C", "too deep"})


@pytest.mark.slow
@pytest.mark.parametrize(
    "ending",
    [
        pytest.param(text, id=name, marks=[pytest.mark.exhaustive] * (name in LONG))
        for name, text in ENDINGS.items()
    ],
)
def test_a_test_that_ends_its_process_does_not_end_the_look(make_bench, ending):
    files = {
        "calc.py": f"""\
            import ctypes, itertools, os, sys


            def f(x):
                if x:
                    {ending}
                return x
            """,
        "test_calc.py": """\
            from calc import f


            def test_zero():
                assert f(0) == 0


            def test_one():
                assert f(1) == 1


            def test_none():
                assert f(None) is None
            """,
    }
    result = looked(make_bench, files)
    assert result.data["failures"] == ["test_calc.py::test_one"]
    assert result.data["passed"] == 2
    assert first_place(result) == ("calc.py", 6)


@pytest.mark.slow
def test_what_a_test_prints_or_where_it_goes_does_not_matter(make_bench):
    files = {
        "calc.py": ADD,
        "conftest.py": "import pytest\n\n\n@pytest.fixture\ndef three():\n    return 3\n",
        "test_calc.py": """\
            import os
            import sys

            import pytest
            from calc import add, twice


            def test_loud(capsys):
                for _ in range(2000):
                    print("x" * 1000)
                    print("y" * 1000, file=sys.stderr)
                assert twice(1) == 2


            def test_elsewhere(tmp_path):
                os.chdir(tmp_path)
                (tmp_path / "a").write_text("")
                assert twice(1) == 2


            @pytest.mark.parametrize("n", [1, 2])
            def test_many(n, three, monkeypatch):
                monkeypatch.setenv("A", "b")
                assert add(n, 0) == n
                assert add(n, three) == n + 3


            def test_printed(capsys):
                print("hello")
                assert capsys.readouterr().out == "hello\\n"
            """,
    }
    result = looked(make_bench, files)
    assert result.data["passed"] == 3
    assert result.data["failures"] == ["test_calc.py::test_many[1]", "test_calc.py::test_many[2]"]
    assert first_place(result) == ("calc.py", 2)


@pytest.mark.slow
def test_tests_that_cannot_be_loaded_point_at_the_line(make_bench):
    files = {
        "calc.py": "A = 1\nB = AA + 1\n\n\ndef f():\n    return B\n",
        "test_calc.py": "from calc import f\n\n\ndef test_f():\n    assert f() == 2\n",
        "test_other.py": "def test_other():\n    assert True\n",
    }
    result = looked(make_bench, files)
    assert result.data["failures"] == ["test_calc.py"]
    assert result.data["passed"] == 1
    assert first_place(result) == ("calc.py", 2)


@pytest.mark.slow
def test_a_file_that_ends_the_process_when_imported_is_named(make_bench):
    files = {
        "calc.py": "import sys\n\nif len(sys.path):\n    sys.exit(0)\n",
        "test_calc.py": "import calc\n\n\ndef test_it():\n    assert calc\n",
        "test_other.py": "def test_other():\n    assert True\n",
    }
    result = looked(make_bench, files)
    assert result.data["failures"] == ["test_calc.py"]
    assert result.data["passed"] == 1
    assert first_place(result) == ("calc.py", 4)


@pytest.mark.exhaustive
@pytest.mark.slow
def test_a_package_below_src_and_options_for_plugins_that_are_not_there(make_bench):
    files = {
        "src/shop/__init__.py": "",
        "src/shop/calc.py": ADD,
        "tests/test_calc.py": TESTS.replace("from calc", "from shop.calc"),
        "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-n auto --cov=shop -q -x"\n',
    }
    result = looked(make_bench, files)
    assert result.data["failures"] == ["tests/test_calc.py::test_add"]
    assert first_place(result) == ("src/shop/calc.py", 2)


@pytest.mark.exhaustive
@pytest.mark.slow
def test_examples_in_docstrings_are_tests_of_the_lines_below_them(make_bench):
    files = {
        "calc.py": '''\
            def mean(values):
                """
                >>> mean([1, 2, 3])
                2.0
                """
                return sum(values) / (len(values) + 1)


            def twice(x):
                """
                >>> twice(2)
                4
                """
                return 2 * x
            ''',
        "pytest.ini": "[pytest]\naddopts = --doctest-modules\n",
    }
    result = looked(make_bench, files)
    assert result.data["failures"] == ["calc.py::calc.mean"]
    assert result.data["places"] == [["calc.py", 6, 1.0]]


@pytest.mark.exhaustive
@pytest.mark.slow
def test_what_is_done_once_in_a_process_is_not_blamed_on_those_that_fail(make_bench):
    files = {
        "calc.py": """\
            READY = []


            def prepare():
                if not READY:
                    READY.append(len("ready") + len("steady"))


            def twice(a):
                prepare()
                return a + a


            def thrice(a):
                prepare()
                return a + a
            """,
        "test_calc.py": """\
            import pytest
            from calc import thrice, twice


            @pytest.mark.parametrize("n", range(8))
            def test_twice(n):
                assert twice(n) == 2 * n


            def test_thrice():
                assert thrice(2) == 6
            """,
    }
    result = looked(make_bench, files)
    assert {line for _, line, score in result.data["places"] if score > 0.9} == {15, 16}


@pytest.mark.exhaustive
@pytest.mark.slow
def test_of_many_lines_as_suspicious_those_where_a_change_helps_come_first(make_bench):
    steps = "".join(f"    total = total + values[{n}] * 10\n" for n in range(14))
    files = {
        "calc.py": f"def f(values):\n    total = 0\n{steps}    return total\n".replace(
            "+ values[9] *", "- values[9] *"
        ),
        "test_calc.py": """\
            from calc import f


            def test_all():
                assert f(list(range(14))) == 910
            """,
    }
    result = looked(make_bench, files)
    assert first_place(result) == ("calc.py", 12)
    assert len(result.data["places"]) == 16


SPINS = """\
    import time


    def spin(seconds):
        end = time.process_time() + seconds
        while time.process_time() < end:
            pass
        return True


    def add(a, b):
        return a - b
    """


@pytest.mark.exhaustive
def test_a_slow_test_is_not_blamed_where_others_fail(make_bench):
    files = {
        "calc.py": SPINS,
        "test_calc.py": """\
            from calc import add, spin


            def test_slow():
                assert spin(3)


            def test_add():
                assert add(1, 2) == 3
            """,
    }
    result = looked(make_bench, files)
    assert result.data["failures"] == ["test_calc.py::test_add"]
    assert "there was not enough time for 1 of 2 tests" in result.text
    assert {line for _, line, _ in result.data["places"]} == {12}


@pytest.mark.exhaustive
@pytest.mark.slow
def test_a_slow_test_is_waited_for_where_nothing_else_fails(make_bench):
    files = {
        "calc.py": SPINS,
        "test_calc.py": "from calc import spin\n\n\ndef test_slow():\n    assert spin(3)\n",
    }
    assert looked(make_bench, files).ok


def test_a_project_of_unittest(make_bench):
    files = {
        "calc.py": ADD,
        "tests/__init__.py": "",
        "tests/test_calc.py": """\
            import unittest

            from calc import add, twice


            class TestCalc(unittest.TestCase):
                def test_add(self):
                    self.assertEqual(add(1, 2), 3)

                def test_twice(self):
                    self.assertEqual(twice(2), 4)


            if __name__ == "__main__":
                unittest.main()
            """,
    }
    result = looked(make_bench, files)
    assert result.data["runner"] == "unittest"
    assert result.data["failures"] == ["tests.test_calc.TestCalc.test_add"]
    assert first_place(result) == ("calc.py", 2)


@pytest.mark.slow
def test_tests_are_never_suspicious(make_bench):
    files = {
        "test_calc.py": "def made():\n    return 1\n\n\ndef test_made():\n    assert made() == 2\n",
    }
    result = looked(make_bench, files)
    assert result.data["failed"] == 1
    assert result.data["places"] == []
    assert "No line of the project outside its tests" in result.text


def test_project_without_tests_is_reported(make_bench):
    with pytest.raises(ToolError, match="no tests"):
        looked(make_bench, {"calc.py": ADD})


@pytest.mark.slow
def test_nothing_is_left_behind(make_bench):
    bench = make_bench({"calc.py": ADD, "test_calc.py": TESTS}, candidates=400)
    before = bench.context.workspace.tree_hash()
    bench.do("localise_faults")
    assert bench.context.workspace.tree_hash() == before
    assert not list((bench.context.workspace.directory / "apart").iterdir())


@pytest.mark.exhaustive
def test_where_a_test_waits_for_ever_is_found(make_bench):
    files = {
        "calc.py": "import threading\n\n\ndef f(x):\n    lock = threading.Lock()\n"
        "    lock.acquire()\n    lock.acquire()\n    return x\n",
        "test_calc.py": "from calc import f\n\n\ndef test_f():\n    assert f(1) == 3\n",
    }
    result = looked(make_bench, files, candidates=None, seconds=30)
    assert first_place(result) == ("calc.py", 7)
    assert "It did not end and was waiting." in result.text


@pytest.mark.exhaustive
@pytest.mark.slow
def test_what_is_done_once_in_a_process_is_not_suspicious(make_bench):
    calc = """\
        MADE = []


        def table():
            if not MADE:
                MADE.append(2)
                MADE.append(3)
            return MADE


        def first():
            return table()[0]


        def last():
            return table()[0] + 0
        """
    tests = "from calc import first, last\n\n\ndef test_last():\n    assert last() == 3\n"
    tests += "".join(f"\n\ndef test_{n}():\n    assert first() == 2\n" for n in range(9))
    result = looked(make_bench, {"calc.py": calc, "test_calc.py": tests})
    assert [line for _, line, score in result.data["places"] if score > 0.7] == [16]


@pytest.mark.slow
def test_a_test_that_fails_only_on_its_own_is_still_traced(make_bench):
    files = {
        "calc.py": "MADE = []\n\n\ndef make():\n    MADE.append(1)\n\n\n"
        "def take():\n    return MADE[0]\n",
        "test_calc.py": "import calc\n\n\ndef test_take():\n    assert calc.take() == 1\n\n\n"
        "def test_make():\n    calc.make()\n",
    }
    assert first_place(looked(make_bench, files)) == ("calc.py", 9)
