"""Where the files of a run are: a place that no program hides because of a dot in its path.

Web servers refuse to serve, and test runners, watchers and globs skip, what lies below a directory
whose name begins with a dot. The state directory usually does (`~/.local/state`), so the trees of a
run are put beside it; everything else that is kept of the run stays there.
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
    """Where the trees of the run kept in this directory go; the same at every call.

    The directory itself if no part of its path begins with a dot, else a folder in the user's home,
    else one in /var/tmp that only the user can enter; the directory again where there is neither.
    """
    for place in _candidates(directory, home):
        if not is_hidden(place) and _can_be_made(place):
            return place
    return directory


def own_folders(top: Path, directory: Path, home: Path) -> tuple[str, ...]:
    """Flyball's own directories inside a project, such as a home directory: no part of its trees.

    `directory` is what is kept of one run, so that the state is two directories above it.
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
    """Whether a part of the path, as it is spelled or as it really is, begins with a dot."""
    spelled = Path.cwd() / place
    parts = (*spelled.parts, *spelled.resolve().parts)
    return any(part.startswith(".") for part in parts)


def visible_name(name: str) -> str:
    """The name of a project's directory as a run's tree has it."""
    return name.lstrip(".") or "project"


def _candidates(directory: Path, home: Path) -> Iterator[Path]:
    yield directory
    below = Path(visible_name(directory.parent.parent.name), "runs", visible_name(directory.name))
    yield home / FOLDER / below
    if _is_private(_SHARED):
        yield _SHARED / below


def _is_private(place: Path) -> bool:
    """Whether a directory where everybody may write is ours alone, made if it was not there."""
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
    """Take away the folders made for a home of trees that is gone, unless others need them."""
    tops = (FOLDER, _SHARED.name)
    ours = [folder for folder in place.parents if any(top in folder.parts for top in tops)]
    with suppress(OSError):
        for folder in ours:
            folder.rmdir()
