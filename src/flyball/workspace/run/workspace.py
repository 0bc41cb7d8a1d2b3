"""`Workspace`: the tree a run works in, with its snapshots and commits; used by the engine."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import threading
from collections.abc import Sequence
from copy import copy
from functools import cached_property
from pathlib import Path

import msgspec

from flyball.errors import IllegalEvent, NotFound, UsageError
from flyball.workspace.errors import explain_disk_errors
from flyball.workspace.files.plain import remove_tree
from flyball.workspace.run.lock import BorrowedLock, NoLock, WorkspaceLock
from flyball.workspace.run.merge_card import MergedCard, merge_card
from flyball.workspace.run.rollback import roll_back_to
from flyball.workspace.run.side import Side, Sides
from flyball.workspace.run.snapshot import (
    MAX_AGE,
    MAX_COUNT,
    Pruned,
    Snapshots,
    UntrackedWork,
    append_line,
    read_lines,
)
from flyball.workspace.run.visible import visible_name
from flyball.workspace.run.worktree import (
    CardRecord,
    CommitKind,
    RunBranch,
    forget_worktrees,
    remove_trees_home,
    remove_whole,
    remove_worktree,
    share_index,
)
from flyball.workspace.trees.git_trees import GitTrees
from flyball.workspace.trees.trees import Captured, Changed, Skipped, SnapshotId, TreeHash
from flyball.workspace.trees.working_form import CommitForm
from flyball.workspace.trees.writer import Writer


class WorkspaceFacts(msgspec.Struct, frozen=True):
    """The properties fixed when the workspace was created."""

    run: str
    project: str
    root: str
    in_place: bool
    base: TreeHash
    base_commit: str = ""
    start: str = ""
    carried_skipped: tuple[Skipped, ...] = ()
    run_base: TreeHash = TreeHash("")
    """The tree at the start of the whole run, if this is a card's side workspace."""
    trees_home: str = ""
    """The directory of its trees, if not its own: older runs have them there."""
    apart: tuple[str, ...] = ()
    """Flyball's own directories in the project."""

    @property
    def began_dirty(self) -> bool:
        """Return whether there was uncommitted work in the checkout when the run began."""
        return not self.start or self.base_commit != self.start

    @property
    def has_git(self) -> bool:
        """Return whether the project is a git repository, with a branch for the run."""
        return bool(self.base_commit)


class Workspace:
    """One run's tree: captured, snapshotted, committed card by card, and restorable.

    Created by `opening.open_workspace`. Only one process holds it at a time (except for reading);
    use it as a context manager, or call `close`.
    """

    def __init__(
        self,
        facts: WorkspaceFacts,
        directory: Path,
        trees: GitTrees,
        branch: RunBranch | None,
        lock: WorkspaceLock | BorrowedLock | None,
    ) -> None:
        self.facts = facts
        self.run = facts.run
        self.project = Path(facts.project)
        self.root = Path(facts.root)
        self.base = facts.base
        self.in_place = facts.in_place
        """Whether the run works in the user's own checkout."""
        self.directory = directory
        self.trees_home = Path(facts.trees_home) if facts.trees_home else directory
        self.trees = trees
        self.branch = branch
        self.writer = Writer(trees, self.root, directory / "pending.json")
        self.snapshots = Snapshots(trees, directory / "snapshots.jsonl")
        self.skipped: tuple[Skipped, ...] = facts.carried_skipped
        self._lock = lock or NoLock()
        # Older runs have their trees under the project's own name, including dots.
        name = self.project.name
        self.tree_name = visible_name(name) if facts.trees_home else name
        self._open_sides: dict[str, Workspace] = {}
        self._making = threading.Lock()
        began_from = facts.run_base or self.base
        self.untracked = UntrackedWork(
            trees, facts.start, began_from, self.root, directory / "held"
        )

    @property
    def state_dir(self) -> Path:
        """Return the project's state directory, which all its runs share."""
        return self.directory.parent.parent

    @property
    def began_dirty(self) -> bool:
        """Return whether there was uncommitted work when the run began."""
        return self.facts.began_dirty

    @property
    def has_carried(self) -> bool:
        """Return whether the run's branch begins with the user's uncommitted work."""
        return bool(self.facts.start) and self.began_dirty and not self.facts.in_place

    @cached_property
    def _sides(self) -> Sides:
        place = self.trees_home / "beside"
        return Sides(self.directory, place, self.tree_name, self.root, self.trees, self.branch)

    @cached_property
    def began(self) -> float:
        """Return when the run began; its own processes started later."""
        # Ignored files are copied before the first call; a workspace for reading has no such
        # copies.
        shelf = self.directory / "ignored"
        return (shelf if shelf.exists() else self.directory).stat().st_mtime

    def held_by(self, lock: WorkspaceLock) -> Workspace:
        """Return the workspace with this lock."""
        twin = copy(self)
        twin._lock = lock
        return twin

    def for_reading(self) -> Workspace:
        """Return the workspace for reading, after its holder released it."""
        if isinstance(self._lock, NoLock):
            return self
        twin = copy(self)
        twin._lock = NoLock()
        return twin

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def tree_hash(self) -> TreeHash:
        """Return the hash of the current tracked and untracked files, excluding ignored ones."""
        captured = self.trees.capture()
        self.skipped = captured.skipped
        return captured.tree

    def snapshot(self, key: str, present: TreeHash | None = None) -> SnapshotId:
        """Store the current tree; the same key returns the same snapshot, named by its tree.

        `present` is for a caller that has just computed the tree's hash.
        """
        record = self.snapshots.take(key, Captured(present, self.skipped) if present else None)
        self.skipped = record.skipped
        return SnapshotId(record.tree)

    def has_snapshot(self, key: str) -> bool:
        """Return whether a snapshot was taken under this key."""
        return self.snapshots.find(key) is not None

    def restore(self, snapshot: SnapshotId | TreeHash) -> tuple[Changed, ...]:
        """Restore every file from a snapshot; return the changes."""
        # Finish an interrupted write first, or its plan would later overwrite this.
        self.writer.finish()
        changes = self.trees.changes(self.tree_hash(), TreeHash(snapshot))
        self.writer.perform(f"restore {snapshot}", changes)
        return changes

    def changed_since(self, tree: SnapshotId | TreeHash) -> tuple[Changed, ...]:
        """Return every path that differs now from that tree."""
        return self.trees.changes(TreeHash(tree), self.tree_hash())

    def diff(
        self, from_tree: str, to_tree: str | None = None, *, without: Sequence[str] = ()
    ) -> bytes:
        """Return the diff between two trees, or between one and the current files."""
        old, new = TreeHash(from_tree), TreeHash(to_tree or self.tree_hash())
        return self.trees.diff(old, self.leave_out(new, old, without))

    def leave_out(self, tree: TreeHash, base: TreeHash, paths: Sequence[str]) -> TreeHash:
        """Return the tree with these paths as they are in the base, or without them."""
        if not paths:
            return tree
        known = self.trees.entries(base, paths)
        return self.trees.overlay(tree, {path: known.get(path) for path in paths})

    def file_at(self, tree: str, path: str) -> bytes | None:
        """Return a file's content in a tree; None if it was missing or not stored."""
        entry = self.trees.entries(TreeHash(tree), [path]).get(path)
        if entry is None or not self.trees.is_kept(entry.blob):
            return None
        return self.trees.contents([entry.blob])[entry.blob]

    def uncommitted(self, paths: Sequence[str]) -> frozenset[str]:
        """Return which of these are the user's own uncommitted files, not copies."""
        return self.untracked.paths.intersection(paths) if self.in_place else frozenset()

    def checkout_scratch(self, tree: str) -> Path:
        """Return a temporary directory with that tree's files, deleted when the workspace closes.

        Its path resembles a working tree, so that code cannot recognize it by its path.
        """
        with explain_disk_errors(os.fspath(self.directory)):
            self._throw_away.mkdir(parents=True, exist_ok=True)
            made = tempfile.mkdtemp(dir=self._throw_away, prefix="")
            place = Path(made, "tree", self.tree_name)
            place.mkdir(parents=True)
            self.trees.checkout(TreeHash(tree), place)
        return place

    def discard_scratch(self, place: Path) -> None:
        """Delete a temporary directory immediately."""
        remove_tree(place.parent.parent)

    @property
    def watch_note(self) -> Path:
        """Return the record of sensitive entries, kept until a program has ended."""
        return self.directory / "standing.json"

    @property
    def _throw_away(self) -> Path:
        return self.trees_home / "apart"

    def history(self) -> tuple[CardRecord, ...]:
        """Return every committed step, including reverted and reapplied cards, oldest first."""
        noted = read_lines(self.directory / "cards.jsonl", CardRecord)
        if self.branch is None:
            return tuple(noted)
        by_commit = {record.commit: record for record in noted}
        return tuple(by_commit.get(record.commit, record) for record in self.branch.history())

    def cards(self) -> tuple[CardRecord, ...]:
        """Return the committed cards, oldest first."""
        return tuple(record for record in self.history() if record.step is CommitKind.CARD)

    def card(self, card: str) -> CardRecord:
        """Return one committed card."""
        cards = self.cards()
        for record in cards:
            if record.card == card:
                return record
        known = ", ".join(record.card for record in cards) or "none yet"
        raise NotFound("card", card, f"These cards of run {self.run} changed something: {known}.")

    def commit_card(self, run: str, card: str, title: str, evidence: Sequence[str] = ()) -> str:
        """Commit what changed since the last step; return a card's earlier commit."""
        if run != self.run:
            raise UsageError(f"This is the workspace of run {self.run}, not of {run}.")
        for record in self.cards():
            if record.card == card:
                self.share_index()
                return record.commit
        return self.commit_step(CommitKind.CARD, card, title, self.tree_hash(), evidence)

    def commit_step(
        self,
        step: CommitKind,
        card: str,
        message: str,
        after: TreeHash,
        evidence: Sequence[str] = (),
        left: Sequence[str] = (),
    ) -> str:
        """Commit what changed from the last step's tree to this one, except the files in `left`;
        return the commit's id, or an empty string if nothing else changed. The message begins with
        the title."""
        title = message.partition("\n")[0]
        self._refuse_in_side()
        before = self.committed_tree()
        after = self.leave_out(after, before, left)
        form = self._commit_form(before, after)
        left = (*left, *form.left)
        if not self.in_place:
            # In the user's checkout it already exists, and is reverted with the card.
            after = self.leave_out(after, before, form.left)
        if left and after == before:
            return ""
        known = {path for record in self.history() for path in record.left}
        fresh = tuple(path for path in left if path not in known)
        facts = (before, after, (*evidence,), step, fresh)
        if self.branch is None:
            named = json.dumps([self.run, card, title, facts, len(self.history())])
            commit = hashlib.sha1(named.encode(), usedforsecurity=False).hexdigest()
            self._note_card(CardRecord(self.run, card, title, commit, *facts))
            self._track(before, after)
            return commit
        trailers = [("Flyball-Run", self.run), (step, card)]
        trailers += [("Flyball-Evidence", each) for each in evidence]
        parent = self.branch.tip() or self.facts.base_commit
        commit = self.branch.write_commit(form.tree, parent, message, trailers)
        # Recorded before the branch moves: a record without its commit is never read (`history`
        # follows the branch), but a commit without its record would have lost the exact trees.
        self._note_card(CardRecord(self.run, card, title, commit, *facts))
        self.branch.advance(commit, parent)
        self._track(before, after)
        self.share_index()
        return commit

    def _track(self, before: TreeHash, after: TreeHash) -> None:
        self.trees.track([each.path for each in self.trees.changes(before, after) if each.after])

    def _commit_form(self, before: TreeHash, after: TreeHash) -> CommitForm:
        if self.branch is None:
            return CommitForm(after)
        parent = self.branch.tip() or self.facts.base_commit
        return self.branch.commit_form(self.trees, parent, before, after)

    def share_index(self) -> None:
        """Update the index of the run's worktree, so that git sees the last step there."""
        if self.branch and not self.in_place:
            tree = f"{self.branch.tip() or self.facts.base_commit}^{{tree}}"
            form = self.branch.form
            share_index(form.converting, form.repository, self.root, tree, form.outside)

    def open_side(self, name: str, tree: TreeHash) -> Workspace:
        """Open a card's own workspace from this tree; the same name opens the same one."""
        self._refuse_in_side()
        with self._making:
            if name not in self._open_sides:
                found = self._sides.find(name) or self._make_side(name, tree)
                self._open_sides[name] = self._workspace_of(found)
            return self._open_sides[name]

    def discard_side(self, name: str) -> None:
        """Delete a card's own workspace, if it exists."""
        self._refuse_in_side()
        with self._making:
            self._open_sides.pop(name, None)
            self._sides.discard(name)

    def merge_card(
        self,
        card: str,
        message: str,
        base: TreeHash,
        theirs: TreeHash,
        evidence: Sequence[str] = (),
        left: Sequence[str] = (),
    ) -> MergedCard:
        """Merge a card's changes into the current tree and commit them once, or nothing."""
        self._refuse_in_side()
        return merge_card(self, card, message, base, theirs, evidence, left)

    def roll_back(self, tree: TreeHash) -> TreeHash:
        """Restore the files of a tree, and revert every card committed since."""
        self._refuse_in_side()
        return roll_back_to(self, tree)

    def _make_side(self, name: str, tree: TreeHash) -> Side:
        commits = {record.after: record.commit for record in self.history()}
        commit = ""
        if self.branch:
            tip = self.branch.tip() or self.facts.base_commit
            commit = commits.get(tree, self.facts.base_commit if tree == self.base else tip)
        return self._sides.make(name, tree, commit)

    def _workspace_of(self, side: Side) -> Workspace:
        facts = WorkspaceFacts(
            self.run,
            self.facts.project,
            os.fspath(side.root),
            in_place=False,
            base=side.base,
            base_commit=side.commit,
            start=self.facts.start,
            run_base=self.facts.run_base or self.base,
            trees_home=os.fspath(self.trees_home / "beside" / side.directory.parent.name),
        )
        return Workspace(facts, side.directory, side.trees, side.branch, BorrowedLock())

    def _refuse_in_side(self) -> None:
        if isinstance(self._lock, BorrowedLock):
            raise IllegalEvent("a workspace beside a run is asked for what only the run's can do")

    def _all_sides(self) -> list[Workspace]:
        found = [(name, self._sides.find(name)) for name in self._sides.names()]
        return [
            self._open_sides.get(name) or self._workspace_of(side) for name, side in found if side
        ]

    def committed_tree(self) -> TreeHash:
        """Return the tree of the last step, whatever has changed since."""
        history = self.history()
        return history[-1].after if history else self.base

    def _note_card(self, record: CardRecord) -> None:
        append_line(self.directory / "cards.jsonl", record)

    def prune(self, *, max_age: float = MAX_AGE, max_count: int = MAX_COUNT) -> Pruned:
        """Delete old snapshots; cards can still be reverted afterwards."""
        self._refuse_in_side()
        keep = self._needed_trees()
        for side in self._all_sides():
            records = side.snapshots.records()
            keep += [side.base, *(record.tree for record in records), *side.trees.trees_in_use()]
        return self.snapshots.prune(max_age=max_age, max_count=max_count, also_keep=keep)

    def verify(self) -> tuple[str, ...]:
        """Return what is damaged or missing in the run's stored data; empty if it is intact."""
        sides = [] if isinstance(self._lock, BorrowedLock) else self._all_sides()
        beside = [problem for side in sides for problem in side.verify()]
        found = (*self.snapshots.verify(), *self.trees.find_damage(self._needed_trees()), *beside)
        return tuple(dict.fromkeys(found))

    def _needed_trees(self) -> list[TreeHash]:
        """Return the trees that are needed to revert the run's cards."""
        steps = [tree for record in self.history() for tree in (record.before, record.after)]
        return [self.base, *steps]

    def remove(self) -> None:
        """Abandon the run: delete its worktree, its branch and all its data."""
        self._refuse_in_side()
        self._open_sides.clear()
        if self.branch:
            if not self.in_place:
                remove_worktree(self.branch.repository, self.root)
            forget_worktrees(self.branch.repository, self.directory)
            forget_worktrees(self.branch.repository, self.trees_home)
            self.branch.delete()
        remove_trees_home(self.trees_home)
        remove_whole(self.directory)
        self._lock.release()

    def close(self) -> None:
        """Close the workspace; it can be opened again."""
        for side in self._open_sides.values():
            side.close()
        if not isinstance(self._lock, NoLock):
            remove_tree(self._throw_away)
        self._lock.release()
