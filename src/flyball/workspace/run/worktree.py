"""A run's branch and worktree in the user's repository, and the work carried into it."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import msgspec

from flyball.regex import regex
from flyball.terms.printable import UNSEEN
from flyball.workspace.errors import GitFailed, NotWritable
from flyball.workspace.files.plain import remove_tree
from flyball.workspace.run.visible import remove_empty_folders
from flyball.workspace.trees.git import Git, Identity, Repository
from flyball.workspace.trees.git_objects import object_name, split_batch
from flyball.workspace.trees.git_trees import GitTrees
from flyball.workspace.trees.trees import Skipped, TreeHash
from flyball.workspace.trees.working_form import (
    CommitForm,
    Listing,
    Outside,
    WorkingForm,
    copy_index,
)

_AT_ONCE = 32
_TRAILER = regex(r"^(Flyball-[A-Za-z]+): (.*)$", re.MULTILINE)


class CommitKind(StrEnum):
    """The kind of a commit on a run's branch; the value is its trailer's name."""

    CARD = "Flyball-Card"
    REVERT = "Flyball-Reverted"
    APPLY = "Flyball-Applied"


class CardRecord(msgspec.Struct, frozen=True):
    """One step of a card: its commit, and the trees before and after it."""

    run: str
    card: str
    title: str
    commit: str
    before: TreeHash
    after: TreeHash
    evidence: tuple[str, ...] = ()
    step: CommitKind = CommitKind.CARD
    left: tuple[str, ...] = ()
    """Files that existed but are not in the commit, because only programs created them."""


class Commit(NamedTuple):
    """The parts of a commit that are used here."""

    id: str
    tree: TreeHash
    parents: tuple[str, ...]
    message: str

    def trailers(self, name: str) -> tuple[str, ...]:
        """Return the values of one of our trailers."""
        return tuple(value for key, value in _TRAILER.findall(self.message) if key == name)


class Carried(NamedTuple):
    """The user's uncommitted work: as a commit would store it, and as files."""

    tree: TreeHash
    files: TreeHash
    skipped: tuple[Skipped, ...]
    missing: tuple[str, ...]
    """The submodules that the user has not initialised."""

    @property
    def not_carried(self) -> tuple[Skipped, ...]:
        """Return everything that is not carried along, with the reason."""
        return (*self.skipped, *(Skipped(path, NOT_INITIALISED) for path in self.missing))


NOT_INITIALISED = "a submodule that is not initialised"


def branch_of(run: str) -> str:
    """Return the full name of a run's branch."""
    return f"refs/heads/flyball/{run}"


def carry(form: WorkingForm, repository: Repository, index: Path, large: int) -> Carried:
    """Return the user's checkout as it is, staged or not, read through a copy of their index."""
    # A copy of their index, never the index itself: its cached times show what is unchanged without
    # running a filter, and git would write to it.
    depot = form.depot
    trees = GitTrees(depot, repository.top, index, large=large)
    copy_index(repository, depot, index)
    if index.exists():
        trees.clear_overlook_marks()
    else:
        trees.seed(head_tree(depot) or trees.empty_tree(), write=False)
    head = TreeHash(head_tree(depot) or trees.empty_tree())
    kept, skipped = trees.capture_without_nested()
    files, missing = _working_files(form, trees, kept)
    # What git would convert back to the committed content is not the user's work.
    commit = form.normalise(trees, head, kept)
    return Carried(commit, files, skipped, tuple(missing))


def _working_files(
    form: WorkingForm, trees: GitTrees, kept: TreeHash
) -> tuple[TreeHash, list[str]]:
    """Return the tree of a checkout's actual bytes, and the submodules without files.

    A large repository without submodules and conversions costs one listing of its index.
    """
    listing = Listing(trees.index)
    missing: list[str] = []
    if has_modules := bool(listing.links):
        missing = trees.open_submodules(form)
        listing = Listing(trees.index)
    differing = form.differing_files(listing, trees.root)
    if form.outside:
        trees.update(sorted(form.outside.files), ())
        differing = [path for path in differing if path not in form.outside.files]
    if not has_modules and not differing and not form.outside:
        return kept, missing
    trees.read_again(differing)
    return trees.capture_kept().tree, missing


def head_tree(depot: Git) -> str | None:
    """Return the tree of the depot's current commit."""
    return depot.resolve("HEAD^{tree}")


class RunBranch:
    """The branch that holds one commit per card.

    Where the work is done in the user's own checkout it is a ref outside `refs/heads`, so that
    `git branch` does not list one for each of their prompts. Both resolve as `flyball/RUN`.
    """

    def __init__(
        self,
        run: str,
        repository: Repository,
        user: Git,
        depot: Git,
        identity: Identity,
        *,
        in_place: bool = False,
    ) -> None:
        self.run = run
        self.repository = repository
        self.user = user
        self.depot = depot
        self.identity = identity
        self.ref = f"refs/flyball/{run}" if in_place else branch_of(run)
        self.form = WorkingForm(depot, repository)

    def tip(self) -> str | None:
        """Return the branch's newest commit; None if there is no branch."""
        found = self.user.resolve(self.ref)
        if found is None and self.ref != branch_of(self.run):
            # Runs that began under an earlier version have a branch.
            found = self.user.resolve(branch_of(self.run))
            self.ref = branch_of(self.run) if found else self.ref
        return found

    def write_commit(
        self, tree: TreeHash, parent: str | None, text: str, trailers: Sequence[tuple[str, str]]
    ) -> str:
        """Write a commit to the depot, not yet visible to the user."""
        title, *body = text.split("\n")
        lines = "\n".join(f"{key}: {one_line(value)}" for key, value in trailers)
        rest = "\n".join([one_line(line) for line in body if line.strip()])
        parts = [part for part in (one_line(title), rest, lines) if part]
        message = ("\n\n".join(parts) + "\n").encode(errors="replace")
        git = self.depot.with_env(**self.identity.environment())
        above = ("-p", parent) if parent else ()
        return git.text("commit-tree", tree, *above, "-F", "-", stdin=message)

    def rewrite(self, commit: Commit, tree: TreeHash, parent: str | None) -> str:
        """Return the same commit with another tree, on another parent."""
        git = self.depot.with_env(**self.identity.environment())
        above = ("-p", parent) if parent else ()
        return git.text("commit-tree", tree, *above, "-F", "-", stdin=commit.message.encode())

    def publish(self, commit: str, known: str | None) -> None:
        """Copy a commit's objects into the user's repository."""
        wanted = f"{commit}\n" + (f"^{known}\n" if known else "")
        pack = self.depot.call("pack-objects", "--revs", "--stdout", "-q", stdin=wanted.encode())
        try:
            self.depot.with_env(GIT_OBJECT_DIRECTORY=os.fspath(self.repository.objects)).call(
                "unpack-objects", "-q", stdin=pack.stdout
            )
        except NotWritable as error:
            raise NotWritable(os.fspath(self.repository.objects)) from error

    def advance(self, commit: str, old: str | None) -> None:
        """Publish a commit and move the branch to it; fail if the branch is not at `old`."""
        self.publish(commit, old)
        self.user.set_ref(self.ref, commit, old or "0" * len(commit))

    def commit_form(
        self, trees: GitTrees, parent: str, before: TreeHash, after: TreeHash
    ) -> CommitForm:
        """Return the parent commit's tree with what changed between two captured trees."""
        committed = TreeHash(self.depot.text("rev-parse", f"{parent}^{{tree}}"))
        return self.form.to_commit(trees, committed, before, after)

    def history(self, start: str | None = None) -> list[CardRecord]:
        """Return the steps committed on this branch (or below another commit), oldest first."""
        found = [
            CardRecord(
                self.run,
                card,
                commit.message.partition("\n")[0],
                commit.id,
                before,
                commit.tree,
                commit.trailers("Flyball-Evidence"),
                step,
            )
            for commit, before in (
                self._own_commits() if start is None else self._commits_below(start)
            )
            if self._is_ours(commit)
            for step in CommitKind
            for card in commit.trailers(step)
        ]
        return found[::-1]

    def _own_commits(self) -> Iterator[tuple[Commit, TreeHash]]:
        """Yield the branch's commits and the trees before them, up to the first foreign one."""
        at = self.tip()
        while at:
            # Many at once, instead of two git calls for each card.
            commits = self._read_commits(f"{at}~{n}" for n in range(_AT_ONCE))
            if not commits:
                raise GitFailed(f"The commit {at} cannot be read.", "Run `git fsck`.")
            for commit, parent in pairwise(commits):
                if not self._is_ours(commit):
                    return
                yield commit, parent.tree
            at = commits[-1].id if len(commits) == _AT_ONCE else None
            if at is None and self._is_ours(commits[-1]):
                yield commits[-1], self._empty_tree()

    def _is_ours(self, commit: Commit) -> bool:
        return self.run in commit.trailers("Flyball-Run")

    def _commits_below(self, start: str) -> Iterator[tuple[Commit, TreeHash]]:
        """Yield the run's commits in another branch's history, and the trees before them."""
        args = ("rev-list", "--fixed-strings", f"--grep=Flyball-Run: {self.run}", start)
        commits = self._read_commits(self.user.text(*args).split())
        parents = self._read_commits(commit.parents[0] for commit in commits if commit.parents)
        trees = {parent.id: parent.tree for parent in parents}
        for commit in commits:
            above = trees.get(commit.parents[0]) if commit.parents else None
            yield commit, above or self._empty_tree()

    def _read_commits(self, names: Iterable[str]) -> list[Commit]:
        """Return these commits, up to the first missing one."""
        asked = "".join(f"{name}\n" for name in names).encode()
        answers = split_batch(self.user.call("cat-file", "--batch", stdin=asked).stdout)
        found: list[Commit] = []
        for answer in answers:
            if answer is None:
                break
            width = answer[1].index(b"\n") - len("tree ")
            found.append(parse_commit(object_name("commit", answer[1], width), answer[1]))
        return found

    def _empty_tree(self) -> TreeHash:
        return TreeHash(self.user.text("hash-object", "-t", "tree", "--stdin"))

    def delete(self) -> None:
        """Delete the branch from the user's repository."""
        self.user.delete_ref(self.ref)
        with suppress(OSError):
            (self.repository.common / self.ref).parent.rmdir()


def add_worktree(user: Git, repository: Repository, place: Path, branch: str) -> None:
    """Register an empty worktree on a branch; its files are written separately."""
    _register_worktree(user, repository, place, branch.removeprefix("refs/heads/"))


def add_detached_worktree(user: Git, repository: Repository, place: Path, commit: str) -> None:
    """Register an empty worktree at a commit, on no branch; its files are written separately."""
    _register_worktree(user, repository, place, "--detach", commit)


def _register_worktree(user: Git, repository: Repository, place: Path, *at: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    options, start = at[:-1], at[-1]
    # Without a checkout, which would run the filters and hooks that the tree's attributes name.
    args = ("--no-checkout", "--quiet", *options, os.fspath(place), start)
    with alone_with(repository):
        user.call("worktree", "add", *args)
    if find_admin(repository, place) is None:
        raise GitFailed(f"git created no worktree at {place}.", "Check `git worktree list`.")


def find_admin(repository: Repository, place: Path) -> Path | None:
    """Return the repository's administrative directory of a worktree."""
    real = place.resolve()
    return next((admin for admin, at in _worktrees(repository) if at == real), None)


def _worktrees(repository: Repository) -> Iterator[tuple[Path, Path]]:
    """Yield the repository's administrative directory of each worktree, and the worktree's path."""
    for note in (repository.common / "worktrees").glob("*/gitdir"):
        with suppress(FileNotFoundError):
            yield note.parent, (note.parent / note.read_text().strip()).parent.resolve()


def give_index(repository: Repository, place: Path, index: Path) -> None:
    """Create an index in a new worktree that matches its files."""
    if admin := find_admin(repository, place):
        shutil.copy2(index, admin / "index")


def share_index(
    index_git: Git, repository: Repository, place: Path, tree: str, outside: Outside
) -> None:
    """Update the worktree's own index to a commit's state, so that git there reports correctly."""
    admin = find_admin(repository, place)
    # The user's git is running there, or died; a stale index is harmless, but a refused commit
    # would lose work.
    if admin is None or (admin / "index.lock").exists():
        return
    git = index_git.with_env(
        GIT_INDEX_FILE=os.fspath(admin / "index"), GIT_WORK_TREE=os.fspath(place)
    )
    git.call("read-tree", "--reset", tree)
    git.call("update-index", "-q", "--refresh", ok=(0, 1))
    if outside and (gone := [r.path for r in Listing(git).rows if outside.holds(r.path)]):
        names = b"".join(os.fsencode(path) + b"\0" for path in gone)
        git.call("update-index", "-z", "--skip-worktree", "--stdin", stdin=names)


def remove_worktree(repository: Repository, place: Path) -> None:
    """Delete a worktree and the repository's data about it."""
    remove_whole(place)
    forget_worktrees(repository, place)


def forget_worktrees(repository: Repository, folder: Path) -> None:
    """Delete the repository's data about worktrees at or below a directory."""
    real = folder.resolve()
    with alone_with(repository):
        for admin, at in list(_worktrees(repository)):
            if at.is_relative_to(real):
                shutil.rmtree(admin, ignore_errors=True)
        with suppress(OSError):
            (repository.common / "worktrees").rmdir()


@contextmanager
def alone_with(repository: Repository) -> Generator[None]:
    """Prevent our other processes from changing the worktrees' data at the same time.

    Git reads and writes it without a lock: two worktrees added at once can read each other's
    incomplete data. The lock is on the directory itself, so no lock file remains.
    """
    place = os.open(repository.common, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(place, fcntl.LOCK_EX)
        yield
    finally:
        os.close(place)


def remove_trees_home(place: Path) -> None:
    """Delete the directory of a run's trees, and parent folders that are then empty."""
    remove_whole(place)
    remove_empty_folders(place)


def remove_whole(place: Path) -> None:
    """Delete a directory, including read-only entries."""
    remove_tree(place)


def read_commit(git: Git, name: str) -> Commit:
    """Return a commit's tree, parents and message."""
    return parse_commit(name, git.call("cat-file", "commit", name).stdout)


def parse_commit(name: str, content: bytes) -> Commit:
    """Parse a stored commit."""
    header, _, message = content.decode(errors="replace").partition("\n\n")
    fields = [line.split(" ", 1) for line in header.splitlines() if not line.startswith(" ")]
    tree = next(value for key, value in fields if key == "tree")
    parents = tuple(value for key, value in fields if key == "parent")
    return Commit(name, TreeHash(tree), parents, message)


def one_line(text: str) -> str:
    """Return the text without line breaks and terminal control characters."""
    return " ".join(UNSEEN.sub(" ", text).split()) or "(no title)"
