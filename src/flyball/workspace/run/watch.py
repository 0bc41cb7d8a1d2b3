"""Watching over a tree while a program runs in it: what may not be born there is taken away.

In the user's own checkout what they have there and git ignores is put back as well.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from flyball.workspace.errors import explain_disk_errors
from flyball.workspace.files.paths import Root
from flyball.workspace.files.shelf import Returned, Shelf
from flyball.workspace.files.standing import Standing, find_standing, take_away
from flyball.workspace.run.workspace import Workspace
from flyball.workspace.trees.trees import TreeHash

LINKED = (".venv", "venv")
"""What the project has installed is linked into a run's own tree under these names."""


class TakenBack(msgspec.Struct, frozen=True):
    """What a program did to a tree that it may not do, and what became of it."""

    gone: tuple[str, ...] = ()
    """What was born although it may not be, and was taken away."""
    left: tuple[str, ...] = ()
    """What could not be taken away, or stands where something of the user's stood."""
    put_back: tuple[str, ...] = ()
    """Files of the user's in no tree that were changed or destroyed, and are as they were."""
    lost: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    """Files of the user's that were too many or too large to be copied; told once a run."""


NOTHING_TAKEN_BACK = TakenBack()


class _Note(msgspec.Struct, frozen=True):
    """What stood in a tree when a program was started, kept in case we die before it ends."""

    protected: tuple[str, ...]
    with_packages: bool
    standing: Standing
    beyond: tuple[str, ...] = ()


def begin_watch(workspace: Workspace, root: Root, tree: TreeHash, *, with_packages: bool) -> None:
    """Remember what is of concern in the tree, before a program is started in it."""
    # In a run's own tree the installed packages are links that are put there for each start.
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
    """Take away what was born since the watch began, and put back what it held.

    Also what `end_dead_watch` did before, for nobody was told of it yet.
    """
    before = _read_told(workspace)
    done = _end(workspace, may_change)
    _told(workspace).unlink(missing_ok=True)
    return done if before == NOTHING_TAKEN_BACK else _joined(before, done)


def end_dead_watch(workspace: Workspace) -> None:
    """End the watch of a process that died; the next to end one tells what was undone."""
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
    # Half a note was written when we died, and so nothing had been started yet.
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
