"""Weakened tests: what a change did to make its tests easier to pass."""

from flyball.core.weakening.change import compare_tests, weakenings
from flyball.core.weakening.finding import ALARMS
from flyball.core.weakening.paths import is_test_config, is_test_path

__all__ = ["ALARMS", "compare_tests", "is_test_config", "is_test_path", "weakenings"]
