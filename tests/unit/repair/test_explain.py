"""Failures in the words of the code: what was expected, what came, and where."""

from __future__ import annotations

import pytest

from flyball.repair.sentences import explain
from flyball.terms.evidence import FailedTest

AT = '  File "/s/runs/r1/apart/t1/tree/shop/'
PYTEST = (
    '  File "/usr/lib/python3.11/site-packages/_pytest/python.py", line 166, in call\n    f()\n'
)


def frame(path: str, line: int, code: str, name: str = "f") -> str:
    return f'{AT}{path}", line {line}, in {name}\n    {code}\n'


TOLD = {
    "a comparison under pytest": (
        (
            f"{PYTEST}{frame('test_a.py', 13, 'assert clamp(9, 1) == 5')}"
            "AssertionError: assert 1 == 5\n +  where 1 = clamp(9, 1)"
        ),
        "test_a.py:13 expects `clamp(9, 1) == 5`, but `clamp(9, 1)` is 1.",
    ),
    "both sides are computed": (
        f"{frame('test_a.py', 13, 'assert x in names')}AssertionError: assert 'a' in ['b', 'c']",
        "test_a.py:13 expects `x in names`, but `x` is 'a' and `names` is ['b', 'c'].",
    ),
    "a plain condition": (
        f"{frame('test_a.py', 3, 'assert is_ok(1)')}AssertionError: assert False\n +  where False",
        "test_a.py:3 expects `is_ok(1)`, but it is False.",
    ),
    "a negated condition": (
        f"{frame('test_a.py', 3, 'assert not bad(1)')}AssertionError: assert not True",
        "test_a.py:3 expects `not bad(1)`, but `bad(1)` is True.",
    ),
    "an assertion with words of its own": (
        f"{frame('test_a.py', 3, 'assert ok, why')}AssertionError: must be ok\nassert False",
        "test_a.py:3 expects `ok`: must be ok.",
    ),
    "unittest, equal": (
        (
            f"{frame('test_a.py', 8, 'self.assertEqual(f([3]), [1, 2])')}"
            "AssertionError: Lists differ: [3] != [1, 2]\n\nFirst differing element 0:"
        ),
        "test_a.py:8 expects `f([3]) == [1, 2]`, but `f([3])` is [3].",
    ),
    "unittest, another method": (
        f"{frame('test_a.py', 8, 'self.assertTrue(is_ok(3))')}AssertionError: False is not true",
        "test_a.py:8 expects `self.assertTrue(is_ok(3))`: False is not true.",
    ),
    "a line that is only part of a statement": (
        (
            f"{frame('test_a.py', 8, 'with self.assertRaises(ValueError):')}"
            "AssertionError: ValueError not raised"
        ),
        "test_a.py:8 does not hold: `with self.assertRaises(ValueError):`: ValueError not raised.",
    ),
    "an exception below the test": (
        (
            f"{frame('test_a.py', 8, 'assert mean([]) == 0')}           ^^^^^^^^\n"
            f"{frame('calc.py', 14, 'return sum(v) / len(v)')}           ~~~~~~~^~~~~~~~\n"
            "ZeroDivisionError: division by zero"
        ),
        (
            "ZeroDivisionError: division by zero, at calc.py:14: `return sum(v) / len(v)`, called "
            "from test_a.py:8 (`assert mean([]) == 0`)."
        ),
    ),
    "pytest's own form": (
        (
            "    def test_above():\n>       assert clamp(9) == 5\nE       assert 1 == 5\n"
            "E        +  where 1 = clamp(9)\n\ntests/test_a.py:13: AssertionError"
        ),
        "tests/test_a.py:13 expects `clamp(9) == 5`, but `clamp(9)` is 1.",
    ),
    "a file that cannot be parsed": (
        (
            "test_a.py:1: in <module>\n    from calc import mean\n"
            f'E   {AT}calc.py", line 13\nE       def mean(values)\nE                       ^\n'
            "E   SyntaxError: expected ':'"
        ),
        "calc.py:13 is not valid Python (expected ':'): `def mean(values)`.",
    ),
    "a module that is not there": (
        (
            "test_a.py:1: in <module>\n    from calc import mean\ncalc.py:3: in <module>\n"
            "    import colections\nE   ModuleNotFoundError: No module named 'colections'"
        ),
        (
            "ModuleNotFoundError: No module named 'colections', at calc.py:3: `import colections`, "
            "called from test_a.py:1 (`from calc import mean`)."
        ),
    ),
    "no end": (
        f"It did not end in 2.0 s of computing.\n{frame('calc.py', 3, 'a, b = b, a')}",
        "It did not end in 2.0 s of computing. It was last seen at calc.py:3: `a, b = b, a`.",
    ),
    "another language": (
        "Expected values to be strictly equal:\n\n-1 !== 3\n",
        "Expected values to be strictly equal: -1 !== 3",
    ),
    "nothing": ("", "no reason was given"),
}


@pytest.mark.parametrize(("why", "told"), TOLD.values(), ids=TOLD)
def test_failure_becomes_a_sentence(why: str, told: str):
    assert explain(FailedTest("a test", why)) == told


def test_a_long_value_is_cut():
    why = f"{frame('test_a.py', 3, 'assert f() == 1')}AssertionError: assert '{'x' * 900}' == 1"
    assert len(explain(FailedTest("a test", why))) < 300


def test_scratch_paths_are_hidden():
    why = "E   ImportError: cannot import name 'g' from 'm' (/s/runs/r1/apart/t1/tree/shop/m.py)"
    assert explain(FailedTest("t", why)) == "ImportError: cannot import name 'g' from 'm' (m.py)."
