"""Merge a card's work from its side workspace: written and committed once, or not at all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec

from flyball.workspace.run.worktree import CardRecord, CommitKind
from flyball.workspace.trees.git_objects import replace_whole
from flyball.workspace.trees.git_trees import GitTrees
from flyball.workspace.trees.trees import Changed, Clash, ClashKind, SnapshotId, TreeHash
from flyball.workspace.trees.writer import Writer, entry_on_disk


class RunHistory(Protocol):
    """A run's workspace, as far as its history is changed here."""

    root: Path
    directory: Path
    base: TreeHash
    trees: GitTrees
    writer: Writer

    def tree_hash(self) -> TreeHash: ...

    def snapshot(self, key: str) -> SnapshotId: ...

    def restore(self, snapshot: SnapshotId | TreeHash) -> tuple[Changed, ...]: ...

    def history(self) -> tuple[CardRecord, ...]: ...

    def committed_tree(self) -> TreeHash: ...

    def commit_step(
        self,
        step: CommitKind,
        card: str,
        message: str,
        after: TreeHash,
        evidence: Sequence[str] = (),
        left: Sequence[str] = (),
    ) -> str: ...

    def leave_out(self, tree: TreeHash, base: TreeHash, paths: Sequence[str]) -> TreeHash: ...

    def share_index(self) -> None: ...


class MergedCard(NamedTuple):
    """The result of merging a card: its commit and tree, or why it does not fit."""

    commit: str
    tree: TreeHash
    clashes: tuple[Clash, ...] = ()


class _Plan(msgspec.Struct, frozen=True):
    """A planned write, recorded so that a merge is never applied twice."""

    card: str
    base: TreeHash
    theirs: TreeHash
    ours: TreeHash
    merged: TreeHash


def merge_card(
    run: RunHistory,
    card: str,
    message: str,
    base: TreeHash,
    theirs: TreeHash,
    evidence: Sequence[str],
    left: Sequence[str] = (),
) -> MergedCard:
    """Merge a card's work into the run's tree and commit it; all of it or, with clashes, none."""
    # The commit is the last step, so if it exists everything else does, except what follows it.
    for record in run.history():
        if record.card == card and record.step is CommitKind.CARD:
            _plan_file(run).unlink(missing_ok=True)
            run.share_index()
            has_left = any(each.left for each in run.history())
            return MergedCard(record.commit, run.tree_hash() if has_left else record.after)
    if not _is_merged_already(run, card, base, theirs):
        ours = run.tree_hash()
        if base == theirs:
            return MergedCard("", ours)
        merged = run.trees.merge(base, ours, theirs)
        writes = () if merged.clashes else run.trees.changes(ours, merged.tree)
        if clashes := (*map(_neutral, merged.clashes), *_obstacles(run, writes)):
            return MergedCard("", ours, clashes)
        plan = _Plan(card, base, theirs, ours, merged.tree)
        # Written before the files: after a kill the plan distinguishes partial work from work that
        # a person did since.
        replace_whole(_plan_file(run), json.dumps(msgspec.to_builtins(plan)).encode())
        run.writer.perform(f"Taking in card {card}", writes)
    after = run.tree_hash()
    commit = run.commit_step(CommitKind.CARD, card, message, after, evidence, left)
    _plan_file(run).unlink()
    return MergedCard(commit, after)


def forget_merge(run: RunHistory) -> None:
    """Discard the plan of a merge that a dead process began, and keep the files as they are."""
    run.writer.forget()
    _plan_file(run).unlink(missing_ok=True)


def _is_merged_already(run: RunHistory, card: str, base: TreeHash, theirs: TreeHash) -> bool:
    """Return whether this work is already in the files; undo other partial work."""
    file = _plan_file(run)
    if not file.exists():
        run.writer.finish()
        return False
    plan = msgspec.convert(json.loads(file.read_text()), _Plan)
    writes = run.trees.changes(plan.ours, plan.merged)
    if (plan.card, plan.base, plan.theirs) == (card, base, theirs):
        run.writer.finish()
        return _is_all_written(run, writes)
    if run.writer.roll_back() is None and _is_all_written(run, writes):
        back = [change.inverse() for change in writes]
        run.writer.perform(f"Leaving out card {plan.card}", back)
    file.unlink()
    return False


def _is_all_written(run: RunHistory, writes: Sequence[Changed]) -> bool:
    """Return whether all of it was written: a writer without a plan wrote everything or nothing."""
    width = len(run.base)
    return bool(writes) and all(entry_on_disk(run.root, c.path, width) == c.after for c in writes)


def _obstacles(run: RunHistory, writes: Sequence[Changed]) -> list[Clash]:
    """Return files that cannot be written, or only by losing their current content."""
    unkept = [
        change.path
        for change in writes
        if any(e and not run.trees.is_kept(e.blob) for e in (change.before, change.after))
    ]
    ignored = [path for path in run.writer.unexpected_paths(writes) if path not in unkept]
    return [
        Clash(path, kind, kind)
        for kind, paths in ((ClashKind.UNKEPT, unkept), (ClashKind.IGNORED, ignored))
        for path in paths
    ]


def _neutral(clash: Clash) -> Clash:
    """Describe the clash in words that fit two parallel cards."""
    return Clash(clash.path, clash.kind, clash.kind)


def _plan_file(run: RunHistory) -> Path:
    return run.directory / "taking.json"
