"""Trees without git: what is written in one tick of the clock is told apart all the same."""

from __future__ import annotations

from pathlib import Path

from flyball.workspace.trees.plain_trees import PlainTrees


def test_quick_edits_of_the_same_size_are_each_in_a_tree(tmp_path: Path):
    (tmp_path / "root").mkdir()
    trees = PlainTrees(tmp_path / "store", tmp_path / "root")
    found: set[str] = set()
    for n in range(200):
        (tmp_path / "root" / "a.txt").write_text(f"{n:03}")
        found.add(trees.capture().tree)
    assert len(found) == 200
