"""Watch a tree while a program runs in it: remove entries that may not be created there.

In the user's own checkout, ignored files are restored as well.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from flyball.workspace.errors import explain_disk_errors
from flyball.workspace.files.ignored_files import Returned, Shelf
from flyball.workspace.files.paths import Root
from flyball.workspace.files.standing import Standing, find_standing, take_away
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
    standing: Standing
    beyond: tuple[str, ...] = ()


def begin_watch(workspace: Workspace, root: Root, tree: TreeHash, *, with_packages: bool) -> None:
    """Record the sensitive entries of the tree before a program starts in it."""
    # In a run's own tree the installed packages are links that are created for each start.
    in_place = workspace.in_place
    with_packages = with_packages and in_place
    standing = find_standing(root.path, root.protected, with_packages=with_packages)
    with explain_disk_errors(str(workspace.directory)):
        beyond = _shelf(workspace).fill(lambda: workspace.trees.paths(tree)) if in_place else ()
        note = _Note(root.protected, with_packages, standing, beyond)
        workspace.watch_note.write_text(json.dumps(msgspec.to_builtins(note)))


def end_watch(
    workspace: Workspace, may_change: Callable[[str], bool] = lambda _: False
) -> TakenBack:
    """Remove entries created since the watch began, and restore stored files.

    The result includes that of an earlier `end_dead_watch`, which was not reported yet.
    """
    before = _read_told(workspace)
    done = _end(workspace, may_change)
    _told(workspace).unlink(missing_ok=True)
    return done if before == NOTHING_TAKEN_BACK else _joined(before, done)


def end_dead_watch(workspace: Workspace) -> None:
    """End the watch of a process that died; the next `end_watch` reports what was undone."""
    done = _joined(_read_told(workspace), _end(workspace, lambda _: False))
    _told(workspace).write_text(json.dumps(msgspec.to_builtins(done)))


def _end(workspace: Workspace, may_change: Callable[[str], bool]) -> TakenBack:
    file = workspace.watch_note
    if not file.exists():
        return NOTHING_TAKEN_BACK
    with suppress(ValueError, msgspec.MsgspecError):
        note = msgspec.convert(json.loads(file.read_text()), _Note)
        after = find_standing(workspace.root, note.protected, with_packages=note.with_packages)
        for name in LINKED:
            if not workspace.in_place and _is_ours(workspace, name):
                after.pop(name, None)
        gone, left = take_away(workspace.root, note.standing, after)
        back = _shelf(workspace).put_back(may_change) if workspace.in_place else Returned()
        file.unlink()
        return TakenBack(tuple(gone), tuple(left), back.put_back, back.lost, note.beyond)
    # The process died while writing the record, so nothing had been started yet.
    file.unlink()
    return NOTHING_TAKEN_BACK


def _joined(first: TakenBack, second: TakenBack) -> TakenBack:
    pairs = zip(msgspec.structs.astuple(first), msgspec.structs.astuple(second), strict=True)
    return TakenBack(*(tuple(dict.fromkeys((*one, *other))) for one, other in pairs))


def _read_told(workspace: Workspace) -> TakenBack:
    with suppress(OSError, ValueError, msgspec.MsgspecError):
        return msgspec.convert(json.loads(_told(workspace).read_text()), TakenBack)
    return NOTHING_TAKEN_BACK


def _told(workspace: Workspace) -> Path:
    return workspace.watch_note.with_suffix(".untold")


def _shelf(workspace: Workspace) -> Shelf:
    return Shelf(workspace.root, workspace.directory / "shelf")


def _is_ours(workspace: Workspace, name: str) -> bool:
    place = workspace.root / name
    return place.is_symlink() and place.readlink() == (workspace.project / name).resolve()
