"""Watch a tree while a program runs in it: remove entries that may not be created there.

In the user's own checkout, ignored files are restored as well.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from flyball.workspace.errors import explain_disk_errors
from flyball.workspace.files.ignored_files import FileStore, Returned
from flyball.workspace.files.path_rules import fold, why_protected
from flyball.workspace.files.paths import Root
from flyball.workspace.files.plain import DEEPEST, remove_within, walk_folders
from flyball.workspace.run.workspace import Workspace
from flyball.workspace.trees.trees import TreeHash

LINKED = (".venv", "venv")
"""Names under which the project's installed packages are linked into a run's own tree."""


class TakenBack(msgspec.Struct, frozen=True):
    """Forbidden changes of a program to a tree, and how they were handled."""

    gone: tuple[str, ...] = ()
    """Forbidden entries that were created, and removed."""
    left: tuple[str, ...] = ()
    """What could not be removed, or replaced a file of the user's."""
    put_back: tuple[str, ...] = ()
    """The user's ignored files that were changed or destroyed, and restored."""
    lost: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    """The user's files beyond the limits for copies; reported once per run."""


NOTHING_TAKEN_BACK = TakenBack()


class _Note(msgspec.Struct, frozen=True):
    """The entries of a tree when a program was started, stored in case this process dies."""

    protected: tuple[str, ...]
    with_packages: bool
    unreverted: ProtectedFiles
    beyond: tuple[str, ...] = ()


def begin_watch(workspace: Workspace, root: Root, tree: TreeHash, *, with_packages: bool) -> None:
    """Record the sensitive entries of the tree before a program starts in it."""
    # In a run's own tree the installed packages are links that are created for each start.
    in_place = workspace.in_place
    with_packages = with_packages and in_place
    unreverted = find_protected_files(root.path, root.protected, with_packages=with_packages)
    with explain_disk_errors(str(workspace.directory)):
        beyond = _store(workspace).fill(lambda: workspace.trees.paths(tree)) if in_place else ()
        note = _Note(root.protected, with_packages, unreverted, beyond)
        workspace.watch_note.write_text(json.dumps(msgspec.to_builtins(note)))


def end_watch(
    workspace: Workspace, may_change: Callable[[str], bool] = lambda _: False
) -> TakenBack:
    """Remove entries created since the watch began, and restore stored files.

    The result includes that of an earlier `end_dead_watch`, which was not reported yet.
    """
    before = _read_record(workspace)
    done = _end(workspace, may_change)
    _recorded(workspace).unlink(missing_ok=True)
    return done if before == NOTHING_TAKEN_BACK else _joined(before, done)


def end_dead_watch(workspace: Workspace) -> None:
    """End the watch of a process that died; the next `end_watch` reports what was undone."""
    done = _joined(_read_record(workspace), _end(workspace, lambda _: False))
    _recorded(workspace).write_text(json.dumps(msgspec.to_builtins(done)))


def _end(workspace: Workspace, may_change: Callable[[str], bool]) -> TakenBack:
    file = workspace.watch_note
    if not file.exists():
        return NOTHING_TAKEN_BACK
    with suppress(ValueError, msgspec.MsgspecError):
        note = msgspec.convert(json.loads(file.read_text()), _Note)
        after = find_protected_files(
            workspace.root, note.protected, with_packages=note.with_packages
        )
        for name in LINKED:
            if not workspace.in_place and _is_ours(workspace, name):
                after.pop(name, None)
        gone, left = take_away(workspace.root, note.unreverted, after)
        back = _store(workspace).put_back(may_change) if workspace.in_place else Returned()
        file.unlink()
        return TakenBack(tuple(gone), tuple(left), back.put_back, back.lost, note.beyond)
    # The process died while writing the record, so nothing had been started yet.
    file.unlink()
    return NOTHING_TAKEN_BACK


def _joined(first: TakenBack, second: TakenBack) -> TakenBack:
    pairs = zip(msgspec.structs.astuple(first), msgspec.structs.astuple(second), strict=True)
    return TakenBack(*(tuple(dict.fromkeys((*one, *other))) for one, other in pairs))


def _read_record(workspace: Workspace) -> TakenBack:
    with suppress(OSError, ValueError, msgspec.MsgspecError):
        return msgspec.convert(json.loads(_recorded(workspace).read_text()), TakenBack)
    return NOTHING_TAKEN_BACK


def _recorded(workspace: Workspace) -> Path:
    return workspace.watch_note.with_suffix(".untold")


def _store(workspace: Workspace) -> FileStore:
    return FileStore(workspace.root, workspace.directory / "shelf")


def _is_ours(workspace: Workspace, name: str) -> bool:
    place = workspace.root / name
    return place.is_symlink() and place.readlink() == (workspace.project / name).resolve()


LOOKED_AT = 400_000
"""Maximum number of entries to scan in a tree."""

PACKAGES = "node_modules"
OWN = ".flyball"
_STORE = frozenset({"HEAD", "objects", "refs"})
_VENV = "pyvenv.cfg"


class Mark(msgspec.Struct, frozen=True, array_like=True):
    """The reason why an entry is sensitive, and a mark that distinguishes it from a replacement."""

    reason: str
    kind: int
    inode: int
    target: str = ""


ProtectedFiles = dict[str, Mark]
"""By path from the top of the tree."""


def find_protected_files(
    root: Path, protected: Sequence[str], *, with_packages: bool = False
) -> ProtectedFiles:
    """Return all sensitive entries in a tree; installed programs only if requested."""
    found: ProtectedFiles = {}
    seen = 0
    names = frozenset(fold(each) for each in protected if "/" not in each) - {PACKAGES}
    deep = tuple(each for each in protected if "/" in each)
    waiting = [("", 0)]
    while waiting and seen <= LOOKED_AT:
        folder, depth = waiting.pop()
        entries = _entries(root, folder)
        seen += len(entries)
        here = {entry.name for entry in entries}
        if folder and (reason := _why_folder(here)):
            found[folder] = _mark(root / folder, reason)
            continue
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            reason = _why_named(entry.name, path, names, deep) or _why_kind(entry, root, is_folder)
            if not reason and is_folder and depth >= DEEPEST:
                reason = "it is nested deeper than Flyball looks"
            if path == OWN and is_folder:
                found |= _own(root)
            elif reason:
                found[path] = _mark(Path(entry.path), reason)
            elif is_folder and entry.name == PACKAGES:
                found |= _programs(root, path) if with_packages else {}
            elif is_folder:
                waiting.append((path, depth + 1))
    return found


def take_away(
    root: Path, before: ProtectedFiles, after: ProtectedFiles
) -> tuple[list[str], list[str]]:
    """Remove what was created between two scans; return what was removed, and what could not be.

    An entry that replaced an earlier one is kept for the caller that can restore its content.
    """
    gone: list[str] = []
    left: list[str] = []
    for path in sorted(path for path, mark in after.items() if before.get(path) != mark):
        is_replaced = path in before and not stat.S_ISLNK(after[path].kind)
        if not is_replaced and remove_within(root, path):
            gone.append(path)
        else:
            left.append(path)
    return gone, left


def _entries(root: Path, folder: str) -> list[os.DirEntry[str]]:
    with suppress(OSError), os.scandir(root / folder if folder else root) as entries:
        return list(entries)
    return []


def _why_folder(names: set[str]) -> str:
    if _VENV in names:
        return "it is a virtual environment"
    return "it is the inside of a git repository" if names >= _STORE else ""


def _why_named(name: str, path: str, names: frozenset[str], deep: Sequence[str]) -> str:
    # Folding is slow and almost every name is plain; only similar names are folded.
    folded = name if name.isascii() and name.islower() and name[0] != "." else fold(name)
    if folded in names:
        return "it is protected"
    return why_protected(path.split("/"), deep) if "/" in path and path[0] == "." else ""


def _why_kind(entry: os.DirEntry[str], root: Path, is_folder: bool) -> str:
    if is_folder or entry.is_file(follow_symlinks=False):
        return ""
    if not entry.is_symlink():
        return "it is a pipe, a socket or a device"
    real = os.path.realpath(entry.path)
    is_inside = real == os.fspath(root) or real.startswith(f"{root}/")
    return "" if is_inside else "it points outside the tree"


def _own(root: Path) -> Iterator[tuple[str, Mark]]:
    """Yield Flyball's own files one by one, since it adds a run's accounts next to them."""
    for folder, folders, files in walk_folders(root / OWN):
        inside = os.path.relpath(folder, root)
        if inside == OWN and "artifacts" in folders:
            folders.remove("artifacts")
        for name in files:
            yield f"{inside}/{name}", _mark(Path(folder, name), "it is protected")


def _programs(root: Path, packages: str) -> Iterator[tuple[str, Mark]]:
    """Yield installed programs that could divert a later start."""
    yield packages, _mark(root / packages, "a package manager owns it")
    for entry in _entries(root, f"{packages}/.bin"):
        yield f"{packages}/.bin/{entry.name}", _mark(Path(entry.path), "a package manager owns it")


def _mark(place: Path, reason: str) -> Mark:
    try:
        status = place.lstat()
        target = place.readlink() if stat.S_ISLNK(status.st_mode) else ""
    except OSError:
        return Mark(reason, 0, 0)
    return Mark(reason, stat.S_IFMT(status.st_mode), status.st_ino, os.fsencode(target).hex())
