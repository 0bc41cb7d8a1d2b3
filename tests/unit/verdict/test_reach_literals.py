"""Values that code may have learnt from its tests."""

from __future__ import annotations

from flyball.verdict.reach import shared_literals


def test_distinctive_values_in_both_are_shown():
    code = ["if text == 'hello wonderful': return 1234", "return 'plain'", "x = 12"]
    tests = ["assert f('hello wonderful') == 1234", "g('plain', 12)"]
    assert shared_literals(code, tests) == ("'hello wonderful'", "1234")


def test_code_without_literals_shares_none():
    assert shared_literals(["return a + b"], ["assert f(1234) == 'hello wonderful'"]) == ()
