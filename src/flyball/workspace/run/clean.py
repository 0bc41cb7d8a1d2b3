"""Clean checkouts: a tree as it would be committed, without a run's leftovers.

Ignored files can be part of how a project works (a generated version module, a compiled extension),
and part of a deception (a conftest that no diff shows). So they are copied when the run begins and
provided in that state; later changes to them are ignored.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

from flyball.workspace.errors import explain_disk_errors
from flyball.workspace.files.ignored_files import CHANGING, MADE_ANEW
from flyball.workspace.files.path_rules import holds_secrets
from flyball.workspace.files.plain import walk_folders
from flyball.workspace.run.workspace import Workspace
from flyball.workspace.trees.git import Git, Repository, find_repository, quoted
from flyball.workspace.trees.trees import TreeHash
from flyball.workspace.trees.working_form import WorkingForm

NOT_OF_THE_CODE = MADE_ANEW | {".idea", ".vscode"}
"""Folders that are linked from the project, created in the checkout, or irrelevant to the code."""

MOST_SEEN = 20_000
MOST_KEPT = 2_000
LARGEST = 1 << 20
MOST_BYTES = 32 << 20


def keep_ignored(workspace: Workspace, *others: str) -> None:
    """Copy the project's small ignored files once, when the run begins.

    A file in one of the other trees is not ignored, even if the base does not have it.
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
    """Yield a temporary directory with exactly that tree and the original ignored files.

    It is a repository if the project is one, so that code cannot detect the checkout by its
    absence.
    """
    place = workspace.checkout_scratch(tree)
    try:
        _make_checkout_repository(workspace, place, tree)
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


def _make_checkout_repository(workspace: Workspace, place: Path, tree: str) -> None:
    repository = find_repository(workspace.project)
    if workspace.facts.has_git and repository is not None:
        started = workspace.facts.start or workspace.facts.base_commit
        trees = workspace.trees
        with explain_disk_errors(os.fspath(place)):
            index = TreeHash(tree)
            if base := workspace.facts.base_commit:
                form = WorkingForm(trees.depot, repository)
                parent = TreeHash(trees.depot.text("rev-parse", f"{base}^{{tree}}"))
                index = form.to_commit(trees, parent, workspace.base, index).tree
            make_checkout_repository(trees.depot, repository, place, started, index)


def users_secrets(workspace: Workspace, more: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the secret files that are in no commit, which nothing in a run may read.

    `more` are patterns of such files that the user's settings add.
    """
    paths = (
        os.path.relpath(Path(folder, name), workspace.project)
        for folder, names in _folders(workspace, is_whole=True)
        for name in names
    )
    found = [path for path in paths if holds_secrets(path, more)]
    known = committed(workspace, found)
    return tuple(path for path in found if path not in known)


def committed(workspace: Workspace, paths: Sequence[str]) -> frozenset[str]:
    """Return which files were committed when the run began, and so are not secret."""
    start = workspace.facts.start
    return frozenset(workspace.trees.entries(TreeHash(start), paths) if start and paths else ())


def changed_installation(workspace: Workspace, began: float) -> str:
    """Return changes to the project's installed packages since then, for a run in place.

    Other runs cannot write there. The status change time is used, which the kernel sets: unlike the
    modification time, no program can set it back.
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
    """Yield small files that are on disk and in no tree, as far as a limited scan finds them."""
    trees = (TreeHash(workspace.base), *map(TreeHash, others))
    # All names at once: asking git for a few at a time takes seconds in a large repository.
    known = frozenset[str]().union(*map(workspace.trees.paths, trees))
    unknown = (path for path in _candidates(workspace) if path not in known)
    return islice(_small_files(workspace.project, unknown), MOST_KEPT)


def _candidates(workspace: Workspace) -> Iterator[str]:
    for folder, names in _folders(workspace):
        inside = os.path.relpath(folder, workspace.project)
        for name in names:
            if name != ".git" and not name.endswith(CHANGING):
                yield name if inside == "." else f"{inside}/{name}"


def _small_files(project: Path, paths: Iterable[str]) -> Iterator[tuple[str, int]]:
    for path in paths:
        with suppress(OSError):
            status = (project / path).lstat()
            is_small = stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST
            if is_small and not holds_secrets(path.rpartition("/")[2]):
                yield path, status.st_size


def _folders(workspace: Workspace, *, is_whole: bool = False) -> Iterator[tuple[str, list[str]]]:
    """Yield the folders of a project except generated ones, with their files, up to a limit.

    Unless `is_whole`, a clone or a worktree of the user's inside the project is excluded; a
    submodule is included.
    """
    seen = 0
    own = {f"{workspace.project}/{each}" for each in workspace.facts.apart}
    for folder, folders, names in walk_folders(workspace.project):
        if not is_whole and ".git" in (*folders, *names) and _is_nested(workspace, folder):
            folders.clear()
            continue
        folders[:] = sorted(
            name
            for name in folders
            if name not in NOT_OF_THE_CODE and f"{folder}/{name}" not in own
        )
        yield folder, sorted(names)[: MOST_SEEN - seen]
        seen += len(names)
        if seen >= MOST_SEEN:
            return


def _is_nested(workspace: Workspace, folder: str) -> bool:
    """Return whether a folder is not the project's top and no tree of the run has files in it."""
    inside = os.path.relpath(folder, workspace.project)
    if inside == "." or not workspace.facts.has_git:
        return False
    return not workspace.trees.has_folder(workspace.base, inside)


_CONFIG = """\
[core]
\trepositoryformatversion = {version}
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
{extensions}"""


def make_checkout_repository(
    depot: Git, repository: Repository, place: Path, commit: str, tree: str
) -> None:
    """Turn checked-out files into a separate repository, at this commit of the user's.

    It borrows all objects and shares nothing writable: changes to it are deleted with it. Its index
    is the tree, so that git reports uncommitted changes as staged.
    """
    records = place / ".git"
    for part in ("objects/info", "refs/heads", "refs/tags", "info"):
        (records / part).mkdir(parents=True)
    extensions = "".join((depot.directory / "config").read_text().partition("[extensions]")[1:])
    version = 1 if extensions else 0
    (records / "config").write_text(_CONFIG.format(version=version, extensions=extensions))
    borrowed = (repository.objects, depot.directory / "objects")
    (records / "objects/info/alternates").write_text(
        "".join(f"{quoted(os.fspath(path))}\n" for path in borrowed)
    )
    # Packed tags and branches, as in a clone: builds derive a version from them.
    with suppress(OSError):
        shutil.copyfile(repository.common / "packed-refs", records / "packed-refs")
    head = (repository.directory / "HEAD").read_text().strip()
    if head.startswith("ref: refs/"):
        if commit:
            branch = records / head.removeprefix("ref: ")
            branch.parent.mkdir(parents=True, exist_ok=True)
            branch.write_text(f"{commit}\n")
    else:
        head = commit
    (records / "HEAD").write_text(f"{head}\n")
    depot.with_env(GIT_INDEX_FILE=os.fspath(records / "index")).call("read-tree", tree)
