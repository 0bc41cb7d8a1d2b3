"""Weakened tests: what a change did to make its tests easier to pass."""

from flyball.core.weakening.change import weakenings
from flyball.core.weakening.paths import is_test_config, is_test_path

__all__ = ["is_test_config", "is_test_path", "weakenings"]
