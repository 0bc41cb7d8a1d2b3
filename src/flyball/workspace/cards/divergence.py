"""Compare a card's change with the current files before it is reverted or reapplied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from flyball.errors import UsageError
from flyball.workspace.trees.trees import Changed, Clash, ClashKind, TreeEntry, TreeHash, Trees


class Divergence(msgspec.Struct, frozen=True):
    """The difference between the current files and what a card produced (or started from).

    `drifted` paths changed since but are compatible with the move; `losses` are not: moving would
    discard later work. `tree` is the result of the move, losses included if there are any.
    """

    writes: tuple[Changed, ...]
    drifted: tuple[str, ...]
    losses: tuple[Clash, ...]
    tree: TreeHash

    @property
    def is_safe(self) -> bool:
        """Return whether the move would lose nothing."""
        return not self.losses

    def sentence(self) -> str:
        """Return what would be lost, in words."""
        return "; ".join(f"{loss.path}: {loss.reason}" for loss in self.losses)


def compare_move(
    trees: Trees, present: TreeHash, origin: TreeHash, goal: TreeHash, paths: Sequence[str] = ()
) -> Divergence:
    """Return the effect of applying the change from origin to goal to the current tree."""
    goal = _restrict_goal(trees, origin, goal, paths)
    wanted = trees.changes(origin, goal)
    now = trees.entries(present, [change.path for change in wanted])
    merged = trees.merge(origin, present, goal)
    # A repeated move clashes with itself where a renamed file is mistaken for another; check that
    # before reporting a loss.
    if merged.clashes and _is_there(trees, present, origin, goal, wanted, now):
        return Divergence((), (), (), present)
    losses = list(merged.clashes)
    tree = merged.tree
    if losses:
        tree = _overrule(trees, present, wanted, losses)
    writes = trees.changes(present, tree)
    losses += [
        Clash(
            change.path,
            "its content was too large or unreadable and was never kept",
            ClashKind.UNKEPT,
        )
        for change in writes
        if change.before and not trees.is_kept(change.before.blob)
    ]
    drifted = tuple(
        change.path
        for change in wanted
        if now.get(change.path) not in (change.before, change.after)
    )
    return Divergence(writes, drifted, tuple(losses), tree)


def _is_there(
    trees: Trees,
    present: TreeHash,
    origin: TreeHash,
    goal: TreeHash,
    wanted: Sequence[Changed],
    now: Mapping[str, TreeEntry],
) -> bool:
    """Return whether the move was already made, even if a moved file now resembles another."""
    there = {c.path: c.after for c in wanted if now.get(c.path) == c.after}
    merged = trees.merge(trees.overlay(origin, there), present, goal)
    return not merged.clashes and merged.tree == present


def _overrule(
    trees: Trees, present: TreeHash, wanted: Sequence[Changed], losses: Sequence[Clash]
) -> TreeHash:
    """Return the tree in which the move wins every conflict."""
    lost = {loss.path for loss in losses}
    tree = present
    for change in wanted:
        if change.path in lost:
            continue
        alone = trees.overlay(tree, {change.path: change.before})
        merged = trees.merge(alone, tree, trees.overlay(alone, {change.path: change.after}))
        tree = merged.tree if not merged.clashes else tree
    return trees.overlay(
        tree, {change.path: change.after for change in wanted if change.path in lost}
    )


def _restrict_goal(
    trees: Trees, origin: TreeHash, goal: TreeHash, paths: Sequence[str]
) -> TreeHash:
    """Return the goal restricted to these files or directories."""
    if not paths:
        return goal
    changes = trees.changes(origin, goal)
    wanted = {path.strip("/").removeprefix("./") for path in paths}
    chosen = {
        change.path: change.after
        for change in changes
        if any(change.path == path or change.path.startswith(f"{path}/") for path in wanted)
    }
    strange = [
        path
        for path in wanted
        if not any(name == path or name.startswith(f"{path}/") for name in chosen)
    ]
    if strange:
        touched = ", ".join(change.path for change in changes) or "nothing"
        raise UsageError(
            f"The card did not touch {', '.join(sorted(strange))}.", f"It touched {touched}."
        )
    return trees.overlay(origin, chosen)
