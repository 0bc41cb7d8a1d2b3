"""Tests as values: parse, compare and invert them; small changes that a test should notice.
Pure."""

from flyball.verdict.tests._change import compare_tests, weakenings
from flyball.verdict.tests._finding import ALARMS, GRAVITY, comparison_of
from flyball.verdict.tests._invert import (
    Inverted,
    find_test,
    inversions,
    invert_program,
    invert_test,
)
from flyball.verdict.tests._model import Assertion, Reach, Skip, TestCase
from flyball.verdict.tests._mutants import Mutant, mutants
from flyball.verdict.tests._reader import read_tests
from flyball.verdict.tests._tree import Node, is_code, language_of, parse

__all__ = [
    "ALARMS",
    "GRAVITY",
    "Assertion",
    "Inverted",
    "Mutant",
    "Node",
    "Reach",
    "Skip",
    "TestCase",
    "compare_tests",
    "comparison_of",
    "find_test",
    "inversions",
    "invert_program",
    "invert_test",
    "is_code",
    "language_of",
    "mutants",
    "parse",
    "read_tests",
    "weakenings",
]
