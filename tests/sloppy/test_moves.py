"""Slips in what is done when: each ends where the careful one ends, in at most two more turns."""

from __future__ import annotations

from pathlib import Path

from tests.sloppy.careful import feature, fix


def test_a_careful_driver_mends_the_total(tmp_path: Path) -> None:
    ended = fix(tmp_path)
    assert ended.came_to[0] == "success"
    assert ended.driver.moves == ["read", "checkpoint", "edit", "test", "stop", "review"]


def test_a_careful_driver_builds_what_was_planned(tmp_path: Path) -> None:
    assert feature(tmp_path).came_to[0] == "success"
