"""The private directory that is HOME and TMPDIR of a command."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from flyball.errors import ToolError
from flyball.workspace.files.plain import walk_folders

CACHES = frozenset(
    (".cache", ".npm", ".cargo", ".rustup", ".gradle", ".m2", ".yarn", ".nuget", ".dotnet", "go")
)
MOST_FILES = 200


def make(kept: Path | None) -> Path:
    """Return the directory to use: the one kept between commands, or a new one."""
    try:
        if kept is None:
            # Resolved, because Landlock and mounts use real paths, and /tmp may be a link.
            place = Path(os.path.realpath(tempfile.mkdtemp(prefix="flyball-")))
        else:
            kept.mkdir(mode=0o700, parents=True, exist_ok=True)
            place = Path(os.path.realpath(kept))
        for name in ("home", "tmp", "stage"):
            (place / name).mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise ToolError(
            f"A command needs a temporary directory, and none could be made: {error.strerror}.",
            "Free some space, or set TMPDIR to a directory that can be written.",
        ) from None
    return place


def files(place: Path) -> set[str]:
    """Return the relative paths of files in that home, about `MOST_FILES` without caches."""
    found: set[str] = set()
    for folder, folders, names in walk_folders(place / "home"):
        folders[:] = [name for name in folders if name not in CACHES]
        found.update(os.path.relpath(Path(folder, name), place / "home") for name in names)
        # The report names a few files; it must not wait for a walk through an unpacked package.
        if len(found) > MOST_FILES:
            break
    return found


def variables(place: Path) -> dict[str, str]:
    """Return the variables for that home and its temporary directory."""
    scratch = str(place / "tmp")
    return {"HOME": str(place / "home"), "TMPDIR": scratch, "TMP": scratch, "TEMP": scratch}
