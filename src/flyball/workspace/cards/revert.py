"""Revert a card's work, reapply it, and replay a run's cards elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Protocol

import msgspec

from flyball.errors import UsageError
from flyball.workspace.errors import Diverged
from flyball.workspace.run.workspace import Workspace
from flyball.workspace.run.worktree import CardRecord, CommitKind
from flyball.workspace.trees.git_trees import GitTrees
from flyball.workspace.trees.trees import Changed, Clash, ClashKind, TreeEntry, TreeHash
from flyball.workspace.trees.writer import Writer, holds_file


class CardTree(Protocol):
    """A tree that cards can be moved in: a workspace, or the user's checkout."""

    @property
    def trees(self) -> GitTrees: ...

    @property
    def writer(self) -> Writer: ...

    def tree_hash(self) -> TreeHash: ...

    def uncommitted(self, paths: Sequence[str]) -> frozenset[str]: ...


class Moved(msgspec.Struct, frozen=True):
    """A reverted or reapplied card: what was written, and in which commit."""

    card: str
    step: CommitKind
    writes: tuple[Changed, ...]
    drifted: tuple[str, ...]
    lost: tuple[Clash, ...]
    commit: str = ""
    finished: str = ""


class ReplayStatus(StrEnum):
    """The result of replaying a card elsewhere."""

    APPLIED = "applied"
    ALREADY = "already there"
    REFUSED = "refused"


class Replayed(msgspec.Struct, frozen=True):
    """One card replayed elsewhere, with its divergence there."""

    card: str
    title: str
    fate: ReplayStatus
    drifted: tuple[str, ...] = ()
    clashes: tuple[Clash, ...] = ()


def foresee_move(
    place: CardTree, record: CardRecord, step: CommitKind, paths: Sequence[str] = ()
) -> Divergence:
    """Return the divergence for reverting or reapplying the card, without changing anything."""
    origin, goal = _ends_of_move(record, step)
    found = compare_move(place.trees, place.tree_hash(), origin, goal, paths)
    # Reverting restores the user's own content, which is never a loss.
    return found if step is CommitKind.REVERT else _with_untracked(place, found)


def _with_untracked(place: CardTree, found: Divergence) -> Divergence:
    """Return the divergence with uncommitted files that would be deleted added to the losses."""
    # A file missing on disk was created by an earlier card in the same replay.
    root = place.writer.root
    replaced = [c.path for c in found.writes if c.before and holds_file(root, c.path)]
    known = {loss.path for loss in found.losses}
    untracked = sorted(place.uncommitted(replaced) - known)
    losses = [Clash(path, ClashKind.UNTRACKED, ClashKind.UNTRACKED) for path in untracked]
    return msgspec.structs.replace(found, losses=(*found.losses, *losses))


def move_record(
    place: CardTree,
    record: CardRecord,
    step: CommitKind,
    paths: Sequence[str] = (),
    *,
    force: bool = False,
) -> Moved:
    """Revert a card or reapply it; refuse to lose later work unless forced."""
    finished = place.writer.finish() or ""
    found = foresee_move(place, record, step, paths)
    verb = "Reverting" if step is CommitKind.REVERT else "Applying"
    if found.losses and not force:
        raise Diverged(
            f"{verb} card {record.card} would lose later work: {found.sentence()}.",
            "Nothing was changed. Choose other --paths, or repeat with --yes to go on anyway.",
            [loss.path for loss in found.losses],
        )
    title = f"{verb} card {record.card} of run {record.run}"
    place.writer.perform(title, found.writes)
    commit = _commit(place, record, step, paths, found) if isinstance(place, Workspace) else ""
    return Moved(record.card, step, found.writes, found.drifted, found.losses, commit, finished)


def _commit(
    workspace: Workspace,
    record: CardRecord,
    step: CommitKind,
    paths: Sequence[str],
    found: Divergence,
) -> str:
    """Commit only the move: work in progress is excluded, and a move already made adds nothing."""
    committed = workspace.committed_tree()
    origin, goal = _ends_of_move(record, step)
    alone = compare_move(workspace.trees, committed, origin, goal, paths)
    tree = alone.tree
    if not alone.is_safe:
        written = {change.path: change.after for change in found.writes}
        tree = workspace.trees.overlay(committed, written)
    if tree == committed:
        return ""
    verb = "Revert" if step is CommitKind.REVERT else "Apply again"
    return workspace.commit_step(step, record.card, f"{verb}: {record.title}", tree)


def _ends_of_move(record: CardRecord, step: CommitKind) -> tuple[TreeHash, TreeHash]:
    if step is CommitKind.REVERT:
        return record.after, record.before
    return record.before, record.after


def replay_records(place: CardTree, records: Sequence[CardRecord]) -> tuple[Replayed, ...]:
    """Replay a run's cards in another tree: all of them, or none if one does not fit."""
    place.writer.finish()
    start = tree = place.tree_hash()
    report: list[Replayed] = []
    for record in records:
        moved = compare_move(place.trees, tree, record.before, record.after)
        found = _with_untracked(place, moved)
        if found.losses:
            fate = Replayed(
                record.card, record.title, ReplayStatus.REFUSED, found.drifted, found.losses
            )
            return (*report, fate)
        fate = ReplayStatus.APPLIED if found.writes else ReplayStatus.ALREADY
        report.append(Replayed(record.card, record.title, fate, found.drifted))
        tree = found.tree
    place.writer.perform("Replaying a run", place.trees.changes(start, tree))
    return tuple(report)


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
        """Describe what would be lost."""
        return "; ".join(f"{loss.path}: {loss.reason}" for loss in self.losses)


def compare_move(
    trees: GitTrees, present: TreeHash, origin: TreeHash, goal: TreeHash, paths: Sequence[str] = ()
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
    trees: GitTrees,
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
    trees: GitTrees, present: TreeHash, wanted: Sequence[Changed], losses: Sequence[Clash]
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
    trees: GitTrees, origin: TreeHash, goal: TreeHash, paths: Sequence[str]
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
