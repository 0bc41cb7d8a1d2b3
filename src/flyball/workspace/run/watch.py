"""Watching over a tree while a program runs in it: what may not be born there is taken away."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import NamedTuple

import msgspec

from flyball.workspace.errors import explain_disk_errors
from flyball.workspace.files.paths import Root
from flyball.workspace.files.standing import Standing, find_standing, take_away
from flyball.workspace.run.workspace import Workspace

LINKED = (".venv", "venv")
"""What the project has installed is linked into a run's own tree under these names."""


class Intruders(NamedTuple):
    """What was born in a tree although it may not be."""

    gone: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    """What could not be taken away, or stands where something of the user's stood."""


NO_INTRUDERS = Intruders()


class _Note(msgspec.Struct, frozen=True):
    """What stood in a tree when a program was started, kept in case we die before it ends."""

    protected: tuple[str, ...]
    with_packages: bool
    standing: Standing


def begin_watch(workspace: Workspace, root: Root, *, with_packages: bool) -> None:
    """Remember what is of concern in the tree, before a program is started in it."""
    # In a run's own tree the installed packages are links that are put there for each start.
    with_packages = with_packages and workspace.in_place
    standing = find_standing(root.path, root.protected, with_packages=with_packages)
    note = _Note(root.protected, with_packages, standing)
    with explain_disk_errors(str(workspace.directory)):
        workspace.watch_note.write_text(json.dumps(msgspec.to_builtins(note)))


def end_watch(workspace: Workspace) -> Intruders:
    """Take away what was born since the watch began; nothing where none is under way."""
    file = workspace.watch_note
    if not file.exists():
        return NO_INTRUDERS
    with suppress(ValueError, msgspec.MsgspecError):
        note = msgspec.convert(json.loads(file.read_text()), _Note)
        after = find_standing(workspace.root, note.protected, with_packages=note.with_packages)
        for name in LINKED:
            if not workspace.in_place and _is_ours(workspace, name):
                after.pop(name, None)
        gone, left = take_away(workspace.root, note.standing, after)
        file.unlink()
        return Intruders(tuple(gone), tuple(left))
    # Half a note was written when we died, and so nothing had been started yet.
    file.unlink()
    return NO_INTRUDERS


def _is_ours(workspace: Workspace, name: str) -> bool:
    place = workspace.root / name
    return place.is_symlink() and place.readlink() == (workspace.project / name).resolve()
