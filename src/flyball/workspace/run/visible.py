"""Choose a directory for a run's files without a dot in its path, which programs would hide.

Web servers refuse to serve, and test runners, watchers and globs skip, files below a directory
whose name begins with a dot. The state directory usually has one (`~/.local/state`), so the trees
of a run are stored elsewhere; the run's other data stays there.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

FOLDER = "flyball-worktrees"
_SHARED = Path("/var/tmp", f"flyball-{os.getuid()}")


def find_trees_home(directory: Path, home: Path) -> Path:
    """Return the directory for the trees of the run stored here; the same at every call.

    It is the directory itself if no part of its path begins with a dot, else a folder in the user's
    home, else one in /var/tmp that only the user can enter; the directory itself again if neither
    is available.
    """
    for place in _candidates(directory, home):
        if not is_hidden(place) and _can_be_made(place):
            return place
    return directory


def own_folders(top: Path, directory: Path, home: Path) -> tuple[str, ...]:
    """Return Flyball's own directories inside a project, such as a home directory, to exclude.

    `directory` holds one run's data, so the state is two directories above it.
    """
    state = directory.resolve().parent.parent
    if state.parent.name == "projects":
        state = state.parent.parent
    places = (state, (home / FOLDER).resolve())
    return tuple(
        os.path.relpath(place, top)
        for place in places
        if place.is_relative_to(top) and place != top
    )


def is_hidden(place: Path) -> bool:
    """Return whether a part of the path, literal or resolved, begins with a dot."""
    spelled = Path.cwd() / place
    parts = (*spelled.parts, *spelled.resolve().parts)
    return any(part.startswith(".") for part in parts)


def visible_name(name: str) -> str:
    """Return the name of a project's directory in a run's tree."""
    return name.lstrip(".") or "project"


def _candidates(directory: Path, home: Path) -> Iterator[Path]:
    yield directory
    below = Path(visible_name(directory.parent.parent.name), "runs", visible_name(directory.name))
    yield home / FOLDER / below
    if _is_private(_SHARED):
        yield _SHARED / below


def _is_private(place: Path) -> bool:
    """Return whether a folder in a shared directory belongs to us alone; create it if missing."""
    with suppress(OSError):
        with suppress(FileExistsError):
            place.mkdir(mode=0o700)
        status = place.lstat()
        is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
        return is_ours and not status.st_mode & 0o022
    return False


def _can_be_made(place: Path) -> bool:
    with suppress(OSError):
        place.mkdir(parents=True, exist_ok=True)
        return os.access(place, os.W_OK | os.X_OK)
    return False


def remove_empty_folders(place: Path) -> None:
    """Remove the folders created for a deleted home of trees, unless they are still used."""
    tops = (FOLDER, _SHARED.name)
    ours = [folder for folder in place.parents if any(top in folder.parts for top in tops)]
    with suppress(OSError):
        for folder in ours:
            folder.rmdir()
