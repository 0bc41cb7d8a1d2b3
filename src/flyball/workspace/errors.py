"""The errors of the workspace, each with a stable code.

Conflict
├── WorkspaceHeld     another process works in this tree (holder)
├── IndexLocked       git's index is locked, perhaps by a process that died (lock)
└── Diverged          continuing would discard later work (losses)
ToolError
├── GitFailed         a git command failed
├── DiskFull          there is no disk space
└── NotWritable       a directory cannot be written
"""

from __future__ import annotations

import errno
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from flyball.errors import Conflict, ToolError


class WorkspaceHeld(Conflict):
    """Another process works in this tree."""

    code = "workspace-held"

    def __init__(self, place: str, holder: str) -> None:
        super().__init__(
            f"{place} is in use by {holder}.",
            "Wait until it is done, or stop that process, and try again.",
        )
        self.holder = holder


class IndexLocked(Conflict):
    """Git's index is locked."""

    code = "index-locked"

    def __init__(self, lock: str) -> None:
        super().__init__(
            f"Git's index is locked by {lock}; nothing was changed.",
            "If no git command is running, a dead one left it behind: delete that file, try again.",
        )
        self.lock = lock


class Diverged(Conflict):
    """Continuing would discard later work."""

    code = "diverged"

    def __init__(self, message: str, hint: str, losses: Sequence[str] = ()) -> None:
        super().__init__(message, hint)
        self.losses = tuple(losses)


class GitFailed(ToolError):
    """A git command failed."""

    code = "git-failed"


class DiskFull(ToolError):
    """There is no disk space for what must be stored."""

    code = "disk-full"

    def __init__(self, place: str) -> None:
        super().__init__(
            f"The disk that holds {place} is full; nothing was lost.",
            "Free some space on that disk, then try again; an interrupted run continues with "
            "`flyball runs resume`.",
        )


class NotWritable(ToolError):
    """A directory or file cannot be written."""

    code = "not-writable"

    def __init__(self, place: str) -> None:
        super().__init__(
            f"{place} cannot be written; nothing was lost.",
            "Make it writable for you, or choose another place, and try again.",
        )


def _plain_error(error: OSError, place: str) -> DiskFull | NotWritable | None:
    named = str(error.filename or "")
    where = named if named.startswith("/") else place
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return DiskFull(where)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return NotWritable(where)
    return None


def disk_trouble(error: OSError) -> DiskFull | NotWritable | None:
    """Return the error for a full or read-only disk, for callers that do not know what was
    written.

    Missing permissions are excluded, as they may concern reading.
    """
    if error.errno in (errno.EACCES, errno.EPERM):
        return None
    return _plain_error(error, "Flyball's files")


@contextmanager
def explain_disk_errors(place: str) -> Generator[None]:
    """Convert errors of a full disk or a read-only directory to errors that say so."""
    try:
        yield
    except OSError as error:
        if plain := _plain_error(error, place):
            raise plain from error
        raise
