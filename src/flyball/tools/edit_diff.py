"""`edit_diff`: the primary way to write. A unified diff over one or more files."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from flyball.patch import apply_diff, touched_paths
from flyball.patch.result import Change, PatchResult
from flyball.tools.files import path_fact
from flyball.tools.protocol import Desk, Facts, Form, Result, Tool, bounded


class EditForm(Form, frozen=True, kw_only=True, rename="camel"):
    """A diff; keep regions stay on and nothing is only previewed unless asked."""

    diff: Annotated[str, msgspec.Meta(min_length=1)]
    keep_regions: bool = True
    preview: bool = False


def facts(form: EditForm, desk: Desk) -> Facts:
    paths = tuple(path_fact(path, desk, write=True) for path in touched_paths(form.diff))
    return Facts(paths=paths, keeps_regions=form.keep_regions)


async def perform(form: EditForm, desk: Desk) -> Result:
    found = compute(form, desk, {path: _now(path, desk) for path in touched_paths(form.diff)})
    if not found.ok:
        return refused(found)
    if not form.preview:
        write(found, desk)
    return done(form, found, desk)


def probe(form: EditForm, desk: Desk) -> Result | None:
    """Whether the files already are what this diff makes of the tree before it."""
    if form.preview:
        return None
    before = {p: desk.workspace.file_at(desk.key, p) for p in touched_paths(form.diff)}
    found = compute(form, desk, before)
    if found.ok and all(_now(path, desk) == data for path, data in found.files.items()):
        return done(form, found, desk)
    return None


def compute(form: EditForm, desk: Desk, files: dict[str, bytes | None]) -> PatchResult:
    """All files in memory; what the driver last read is the base to merge from."""
    present = {path: data for path, data in files.items() if data is not None}
    base = {
        path: content
        for path in present
        if path in desk.seen
        and (content := desk.workspace.file_at(desk.seen[path], path)) is not None
        and content != present[path]
    }
    return apply_diff(present, form.diff, base=base or None, keep_regions=form.keep_regions)


def write(found: PatchResult, desk: Desk) -> None:
    """Each file whole or not at all; the caller's snapshot undoes the rest if one cannot be."""
    for change in found.changes:
        if change.after is None:
            desk.root.delete(change.path)
        else:
            desk.root.write_bytes(change.path, change.after)


def refused(found: PatchResult) -> Result:
    said = "\n".join(
        "\n".join(filter(None, (f"{_where(error)}{error.message}", error.nearest, error.proposal)))
        for error in found.errors
    )
    codes = [error.code.value for error in found.errors]
    data: dict[str, object] = {"patch": found.to_json(), "event": "PATCH_DIFF_REFUSED"}
    return Result(False, f"Nothing was changed.\n{said}", data, error=" ".join(codes), same=codes)


def _where(error: Any) -> str:
    hunk = f" hunk {error.hunk}" if error.hunk else ""
    return f"{error.path}{hunk} [{error.code.value}]: " if error.path else f"[{error.code.value}] "


def done(form: EditForm, found: PatchResult, desk: Desk) -> Result:
    verb = "Would change" if form.preview else "Changed"
    lines = [f"{verb} {len(found.changes)} files."] + [_summary(each) for each in found.changes]
    lines += [f"Warning: {warning}" for warning in found.warnings]
    body, cut = bounded("\n".join([*lines, found.diff]), desk.settings.max_text)
    event = "PATCH_DIFF_PREVIEW" if form.preview else "PATCH_DIFF_APPLIED"
    data: dict[str, object] = {"patch": found.to_json(), "event": event}
    return Result(True, body, data, cut=cut, same=found.diff)


def _summary(change: Change) -> str:
    hunks = len(change.taken)
    return f"{change.type.value} {change.path}: {hunks} hunks, {change.bytes_changed} bytes"


def _now(path: str, desk: Desk) -> bytes | None:
    if desk.root.fact(path, write=False).kind.value == "missing":
        return None
    return desk.root.read_bytes(path)


EDIT_DIFF = Tool(
    "edit_diff",
    "Change files with a unified diff (`--- a/path`, `+++ b/path`, `@@ -l,s +l,s @@`). Prefer "
    "small hunks with a few lines of exact context. New files come from /dev/null. `preview: true` only "
    "shows the result. Lines between VIBE-KEEP markers stay.",
    EditForm,
    facts,
    perform,
    probe,
)
