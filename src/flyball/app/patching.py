"""Apply a diff to a project's own files: computed in memory, stored for undo, then written."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from flyball.app.project import open_home
from flyball.errors import FlyballError, ToolError, UsageError
from flyball.patch import (
    Change,
    Code,
    PatchResult,
    Refusal,
    apply_diff,
    touched_paths,
    why_forbidden,
)
from flyball.terms.glob import matches
from flyball.workspace.cards.undo import UndoLog
from flyball.workspace.files.paths import Root

MOST_FILES = 50_000
"""Maximum number of files searched for one of the same name."""


class PatchRequest(NamedTuple):
    """A diff, the base of its paths, and how strictly it is applied."""

    diff: str
    repo: Path
    fuzz: int = 0
    max_offset: int | None = None
    keep_regions: bool = True
    partial: bool = False


class Patched(NamedTuple):
    """The result of a diff, and the snapshot that undoes it if it was written."""

    result: PatchResult
    snapshot: str = ""


def patch_project(request: PatchRequest, environ: Mapping[str, str], *, writes: bool) -> Patched:
    """Apply a diff to a project, all of it or nothing; without `writes`, only report the result."""
    if not request.repo.is_dir():
        raise UsageError(f"{request.repo} is not a directory.", "Give --repo a directory.")
    root = Root(request.repo)
    result = _compute(root, request, environ)
    if not (result.ok and writes and result.changes):
        return Patched(result)
    log = UndoLog(open_home(request.repo, environ, {}).state)
    # With links resolved, since that is where the bytes are.
    kept = {root.fact(c.path, write=True).path: (c.before, c.after) for c in result.changes}
    snapshot = log.note("patch apply", root.path, kept)
    write_all(root, result.changes)
    return Patched(result, snapshot)


def _compute(root: Root, request: PatchRequest, environ: Mapping[str, str]) -> PatchResult:
    settings = open_home(request.repo, environ, {}).effective.settings
    allowed = settings.patch_paths
    files: dict[str, bytes] = {}
    forbidden: list[Refusal] = []
    for path in touched_paths(request.diff):
        if why_forbidden(path):
            continue
        fact = root.fact(path, write=True)
        is_listed = not allowed or matches(fact.path, allowed)
        if not fact.inside or fact.protected or not is_listed:
            why = fact.protected or "it points outside the directory"
            why = why if is_listed else f"`patch.paths` allows only {', '.join(allowed)}"
            message = f"It may not be written: {why}. Choose another file."
            forbidden.append(Refusal(Code.PATH_FORBIDDEN, message, path))
        elif fact.exists:
            files[path] = root.read_bytes(path)
    if forbidden:
        return PatchResult(False, files, errors=tuple(forbidden))
    engine = partial(
        apply_diff,
        diff=request.diff,
        fuzz=request.fuzz,
        max_offset=settings.patch_max_offset if request.max_offset is None else request.max_offset,
        keep_regions=request.keep_regions,
        partial=request.partial,
    )
    result = engine(files)
    missing = {error.path for error in result.errors if error.code is Code.FILE_MISSING}
    if missing and not result.ok:
        return engine({**_similar_paths(root, missing), **files})
    return result


def _similar_paths(root: Root, missing: set[str]) -> dict[str, bytes]:
    """Return files that match the wrong names in a diff, for the error message."""
    names = {path.rpartition("/")[2].casefold() for path in missing}
    found = islice(root.walk(), MOST_FILES)
    return {path: b"" for path in found if path.rpartition("/")[2].casefold() in names}


def write_all(root: Root, changes: tuple[Change, ...]) -> None:
    """Write every change; if one cannot be written, restore the ones already written."""
    done: list[Change] = []
    try:
        for change in changes:
            _put(root, change.path, change.after)
            done.append(change)
    except FlyballError as error:
        stuck = [change.path for change in done if not _restored(root, change)]
        if stuck:
            names = ", ".join(stuck)
            raise ToolError(
                f"{error.message} {names} could not be restored.",
                "Restore them from version control.",
            ) from error
        raise ToolError(error.message, "Nothing was changed. " + error.hint) from error


def _put(root: Root, path: str, data: bytes | None) -> None:
    if data is None:
        root.delete(path)
    else:
        root.write_bytes(path, data)


def _restored(root: Root, change: Change) -> bool:
    try:
        _put(root, change.path, change.before)
    except FlyballError:
        return False
    return True
