"""Clean checkouts: a tree as it would be committed, with nothing that a run left behind.

Files that git ignores are part of how a project works (a generated version module, a compiled
extension), and part of how a liar works (a conftest that no diff shows). So they are kept when the
run begins and given as they were then; what the run made of them since is never looked at.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from flyball.workspace.errors import explain_disk_errors
from flyball.workspace.files.path_rules import holds_secrets
from flyball.workspace.files.plain import walk_folders
from flyball.workspace.files.shelf import CHANGING, MADE_ANEW
from flyball.workspace.run.workspace import Workspace
from flyball.workspace.trees.git import find_repository
from flyball.workspace.trees.git_trees import GitTrees
from flyball.workspace.trees.records import lay_records
from flyball.workspace.trees.trees import TreeHash

NOT_OF_THE_CODE = MADE_ANEW | {".idea", ".vscode"}
"""Folders that are linked from the project, made in the checkout, or no part of how it works."""

SECRET = (".env", ".pem", ".key", ".p12", ".pfx", "id_rsa", "id_ed25519", ".netrc", ".pgpass")
MOST_SEEN = 20_000
MOST_KEPT = 2_000
LARGEST = 1 << 20
MOST_BYTES = 32 << 20
AT_ONCE = 500


def keep_ignored(workspace: Workspace, *others: str) -> None:
    """Copy the project's small ignored files aside, once, as the run begins.

    What one of the other trees holds is not ignored, even if the base does not have it.
    """
    shelf = workspace.directory / "ignored"
    if shelf.exists():
        return
    making = shelf.with_name("ignored.new")
    shutil.rmtree(making, ignore_errors=True)
    with explain_disk_errors(os.fspath(making)):
        making.mkdir(parents=True)
        left = MOST_BYTES
        for path, size in _ignored(workspace, others):
            left -= size
            if left < 0:
                break
            target = making / path
            target.parent.mkdir(parents=True, exist_ok=True)
            with suppress(OSError):
                shutil.copy2(workspace.project / path, target, follow_symlinks=False)
        making.rename(shelf)


@contextmanager
def clean_checkout(workspace: Workspace, tree: str) -> Generator[Path]:
    """A directory with exactly that tree and the ignored files from the beginning, then gone.

    It is a repository where the project is one: code must not know it by what is missing.
    """
    place = workspace.checkout_scratch(tree)
    try:
        _lay_records(workspace, place, tree)
        shelf = workspace.directory / "ignored"
        for folder, _, names in walk_folders(shelf):
            inside = place / os.path.relpath(folder, shelf)
            for name in names:
                if not os.path.lexists(inside / name):
                    inside.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(Path(folder, name), inside / name)
        yield place
    finally:
        workspace.discard_scratch(place)


def _lay_records(workspace: Workspace, place: Path, tree: str) -> None:
    repository = find_repository(workspace.project)
    if isinstance(workspace.trees, GitTrees) and repository is not None:
        started = workspace.facts.start or workspace.facts.base_commit
        with explain_disk_errors(os.fspath(place)):
            lay_records(workspace.trees.depot, repository, place, started, tree)


def users_secrets(workspace: Workspace) -> tuple[str, ...]:
    """Files that hold secrets and are in no commit: nothing that a run starts may read them."""
    found = [
        os.path.relpath(Path(folder, name), workspace.project)
        for folder, names in _folders(workspace.project)
        for name in names
        if holds_secrets(name)
    ]
    known = committed(workspace, found)
    return tuple(path for path in found if path not in known)


def committed(workspace: Workspace, paths: Sequence[str]) -> frozenset[str]:
    """Which files were in a commit when the run began, and so are no secrets of the user's."""
    start = workspace.facts.start
    return frozenset(workspace.trees.entries(TreeHash(start), paths) if start and paths else ())


def changed_installation(workspace: Workspace, began: float) -> str:
    """What was changed since then in what the project has installed, if a run works in place.

    Elsewhere a run cannot write there. The time of change of status is the kernel's own: unlike
    the time of modification no program can set it back.
    """
    if not workspace.in_place:
        return ""
    for name in (".venv", "venv", "node_modules"):
        for folder, _, names in walk_folders(workspace.project / name):
            for file in (Path(folder, each) for each in names):
                with suppress(OSError):
                    if file.lstat().st_ctime > began:
                        return os.path.relpath(file, workspace.project)
    return ""


def _ignored(workspace: Workspace, others: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Files of the project that no tree keeps: what is on disk and in none of them is ignored."""
    trees, waiting, kept = [TreeHash(workspace.base), *map(TreeHash, others)], dict[str, int](), 0
    for path, size in _small_files(workspace.project):
        waiting[path] = size
        if len(waiting) < AT_ONCE:
            continue
        for found in _outside(workspace, trees, waiting):
            kept += 1
            if kept > MOST_KEPT:
                return
            yield found
        waiting.clear()
    yield from _outside(workspace, trees, waiting)


def _outside(
    workspace: Workspace, trees: Sequence[TreeHash], files: dict[str, int]
) -> Iterator[tuple[str, int]]:
    known = {path for tree in trees for path in workspace.trees.entries(tree, list(files))}
    yield from ((path, size) for path, size in files.items() if path not in known)


def _small_files(project: Path) -> Iterator[tuple[str, int]]:
    """Regular files that may be worth keeping, as far as a bounded walk finds them."""
    for folder, names in _folders(project):
        for name in names:
            if name.endswith(CHANGING) or any(sign in name for sign in SECRET):
                continue
            full = Path(folder, name)
            with suppress(OSError):
                status = full.lstat()
                if stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST:
                    yield os.path.relpath(full, project), status.st_size


def _folders(project: Path) -> Iterator[tuple[str, list[str]]]:
    """The folders of a project but for what is made anew, with their files, up to a bound."""
    seen = 0
    for folder, folders, names in walk_folders(project):
        folders[:] = sorted(name for name in folders if name not in NOT_OF_THE_CODE)
        yield folder, sorted(names)[: MOST_SEEN - seen]
        seen += len(names)
        if seen >= MOST_SEEN:
            return
