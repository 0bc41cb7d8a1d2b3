"""Weakened tests: what a change did to make its tests easier to pass."""
