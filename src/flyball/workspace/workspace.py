"""The tree a run works in, and every way back: the one thing the engine needs to know."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import msgspec

from flyball.errors import NotFound, UsageError
from flyball.workspace.gittrees import GitTrees
from flyball.workspace.hold import Hold, NoHold
from flyball.workspace.snapshot import (
    MAX_AGE,
    MAX_COUNT,
    Pruned,
    Snapshots,
    append_line,
    as_id,
    read_lines,
)
from flyball.workspace.trees import Changed, Skipped, SnapshotId, TreeHash, Trees
from flyball.workspace.trouble import told
from flyball.workspace.worktree import CardRecord, RunBranch, Step, remove_worktree, share_index
from flyball.workspace.writes import Writer


class Facts(msgspec.Struct, frozen=True):
    """What was settled when the workspace was made."""

    run: str
    project: str
    root: str
    in_place: bool
    base: TreeHash
    base_commit: str = ""
    start: str = ""
    carried_skipped: tuple[Skipped, ...] = ()

    @property
    def has_git(self) -> bool:
        """Whether git keeps this workspace's trees."""
        return bool(self.base_commit)


class Workspace:
    """One run's tree: captured, snapshotted, committed card by card, and restorable.

    Made by `flyball.workspace.opening.open_workspace`. Only one process holds it at a time (unless
    it only peeks); use it as a context manager, or call `close`.
    """

    def __init__(
        self,
        facts: Facts,
        directory: Path,
        trees: Trees,
        branch: RunBranch | None,
        hold: Hold | None,
    ) -> None:
        self.facts = facts
        self.run = facts.run
        self.project = Path(facts.project)
        self.root = Path(facts.root)
        self.base = facts.base
        self.directory = directory
        self.trees = trees
        self.branch = branch
        self.writer = Writer(trees, self.root, directory / "pending.json")
        self.snapshots = Snapshots(trees, directory / "snapshots.jsonl")
        self.skipped: tuple[Skipped, ...] = facts.carried_skipped
        self._hold = hold or NoHold()

    def __enter__(self) -> Workspace:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def in_place(self) -> bool:
        """Whether the run works in the user's own checkout."""
        return self.facts.in_place

    def tree_hash(self) -> TreeHash:
        """The hash of every tracked and every untracked, not ignored file as it is now."""
        captured = self.trees.capture()
        self.skipped = captured.skipped
        return captured.tree

    def snapshot(self, key: str) -> SnapshotId:
        """Keep the present tree; the same key again gives the same snapshot."""
        record = self.snapshots.take(key)
        self.skipped = record.skipped
        return as_id(record)

    def has_snapshot(self, key: str) -> bool:
        """Whether a snapshot was taken under this key."""
        return self.snapshots.find(key) is not None

    def restore(self, snapshot: SnapshotId | TreeHash) -> tuple[Changed, ...]:
        """Bring every file back to what it was then; what had to change."""
        self.writer.finish()
        changes = self.trees.changes(self.tree_hash(), TreeHash(snapshot))
        self.writer.perform(f"restore {snapshot}", changes)
        return changes

    def changed_since(self, tree: SnapshotId | TreeHash) -> tuple[Changed, ...]:
        """Every path that differs now from what it was in that tree."""
        return self.trees.changes(TreeHash(tree), self.tree_hash())

    def diff(self, from_tree: str, to_tree: str | None = None) -> bytes:
        """The difference between two trees, or between one and the present, as a diff."""
        return self.trees.diff(TreeHash(from_tree), TreeHash(to_tree or self.tree_hash()))

    def file_at(self, tree: str, path: str) -> bytes | None:
        """A file's content in a tree, or nothing if it was not there or not kept."""
        entry = self.trees.entries(TreeHash(tree), [path]).get(path)
        if entry is None or not self.trees.is_kept(entry.blob):
            return None
        return self.trees.contents([entry.blob])[entry.blob]

    def checkout_scratch(self, tree: str) -> Path:
        """A throw-away directory with that tree's files; it goes when the workspace closes."""
        with told(os.fspath(self.directory)):
            scratch = self.directory / "scratch"
            scratch.mkdir(exist_ok=True)
            place = Path(tempfile.mkdtemp(dir=scratch)) / self.project.name
            place.mkdir()
            self.trees.checkout(TreeHash(tree), place)
        return place

    def discard_scratch(self, place: Path) -> None:
        """Delete a throw-away directory at once."""
        shutil.rmtree(place.parent, ignore_errors=True)

    def history(self) -> tuple[CardRecord, ...]:
        """Every step committed so far, cards and what was taken back or put again, oldest first."""
        noted = read_lines(self.directory / "cards.jsonl", CardRecord)
        if self.branch is None:
            return tuple(noted)
        by_commit = {record.commit: record for record in noted}
        return tuple(by_commit.get(record.commit, record) for record in self.branch.history())

    def cards(self) -> tuple[CardRecord, ...]:
        """The cards committed so far, oldest first."""
        return tuple(record for record in self.history() if record.step is Step.CARD)

    def card(self, card: str) -> CardRecord:
        """One committed card."""
        cards = self.cards()
        for record in cards:
            if record.card == card:
                return record
        known = ", ".join(record.card for record in cards) or "none yet"
        raise NotFound("card", card, f"Run {self.run} has these cards: {known}.")

    def commit_card(self, run: str, card: str, title: str, evidence: Sequence[str] = ()) -> str:
        """Commit what changed since the last step; a card already committed is only found."""
        if run != self.run:
            raise UsageError(f"This is the workspace of run {self.run}, not of {run}.")
        for record in self.cards():
            if record.card == card:
                return record.commit
        return self.commit_step(Step.CARD, card, title, self.tree_hash(), evidence)

    def commit_step(
        self, step: Step, card: str, title: str, after: TreeHash, evidence: Sequence[str] = ()
    ) -> str:
        """Commit the way from the last step's tree to this one."""
        before = self.committed_tree()
        facts = (before, after, (*evidence,), step)
        if self.branch is None:
            named = json.dumps([self.run, card, title, facts, len(self.history())])
            commit = hashlib.sha1(named.encode(), usedforsecurity=False).hexdigest()
            self._note_card(CardRecord(self.run, card, title, commit, *facts))
            return commit
        assert isinstance(self.trees, GitTrees)
        trailers = [("Flyball-Run", self.run), (step, card)]
        trailers += [("Flyball-Evidence", each) for each in evidence]
        parent = self.branch.tip() or self.facts.base_commit
        tree = self.branch.project(self.trees, parent, before, after)
        commit = self.branch.write_commit(tree, parent, title, trailers)
        self._note_card(CardRecord(self.run, card, title, commit, *facts))
        self.branch.advance(commit, parent)
        if not self.in_place:
            share_index(self.branch.depot, self.branch.repository, self.root, tree)
        return commit

    def committed_tree(self) -> TreeHash:
        """The tree the last step left, whatever has changed since."""
        history = self.history()
        return history[-1].after if history else self.base

    def _note_card(self, record: CardRecord) -> None:
        append_line(self.directory / "cards.jsonl", record)

    def prune(self, *, max_age: float = MAX_AGE, max_count: int = MAX_COUNT) -> Pruned:
        """Forget old snapshots; cards can still be taken back afterwards."""
        trees = [tree for record in self.history() for tree in (record.before, record.after)]
        keep = [self.base, *trees]
        return self.snapshots.prune(max_age=max_age, max_count=max_count, also_keep=keep)

    def verify(self) -> tuple[str, ...]:
        """What is damaged or gone among everything kept for this run; nothing means all is well."""
        trees = [tree for record in self.history() for tree in (record.before, record.after)]
        return (*self.snapshots.verify(), *self.trees.missing([self.base, *trees]))

    def remove(self) -> None:
        """Abandon the run: its worktree, its branch and all that was kept for it go."""
        if self.branch:
            if not self.in_place:
                remove_worktree(self.branch.repository, self.root)
            self.branch.delete()
        shutil.rmtree(self.directory, ignore_errors=True)
        self._hold.release()

    def close(self) -> None:
        """Let go of the workspace; it can be opened again."""
        if isinstance(self._hold, Hold):
            shutil.rmtree(self.directory / "scratch", ignore_errors=True)
        self._hold.release()
