"""`edit_diff`: the primary way to write. A unified diff over one or more files."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import msgspec

from flyball.patch import Change, ChangeType, PatchResult, Refusal, apply_diff, touched_paths
from flyball.regex import regex
from flyball.tools.call.facts import copied_mask, path_fact, present
from flyball.tools.call.protocol import CallContext, CallFacts, Form, Result, Text, Tool, bounded

SHOWN_SPANS = 8
_START = regex(r"@@ .*?\+(\d+)")


class EditForm(Form, frozen=True, kw_only=True):
    """A diff; by default keep regions are checked and the result is written."""

    diff: Text
    preview: bool = False
    partial: bool = False
    fuzz: Annotated[int, msgspec.Meta(ge=0, le=2)] = 0
    keep_regions: bool = msgspec.field(default=True, name="keepRegions")


def facts(form: EditForm, context: CallContext) -> CallFacts:
    deletes = "+++ /dev/null" in form.diff
    paths = tuple(
        path_fact(path, context, write=True, deletes=deletes) for path in touched_paths(form.diff)
    )
    return CallFacts(paths=paths, keeps_regions=form.keep_regions)


async def perform(form: EditForm, context: CallContext) -> Result:
    found = _compute(
        form, context, {path: present(path, context) for path in touched_paths(form.diff)}
    )
    if not found.ok:
        return _refused(found, context)
    masked = [copied_mask(each.path, each.before, each.after) for each in found.changes]
    if reasons := "\n".join(filter(None, masked)):
        return Result(False, f"Nothing was changed. {reasons}", error="redacted", same=reasons)
    if not form.preview:
        _write(found, context)
    return _done(form, found, context)


class Foreseen(NamedTuple):
    """The diff of an edit's result, or why it cannot be applied."""

    diff: str = ""
    fault: str = ""


def foresee(form: EditForm, context: CallContext, ahead: dict[str, bytes | None]) -> Foreseen:
    """Return the effect of the edit, without writing anything.

    `ahead` contains files as pending edits will change them; this edit is added to it.
    """
    facts = [(path, context.root.fact(path, write=True)) for path in touched_paths(form.diff)]
    if any(not fact.inside or fact.protected for _, fact in facts):
        # It will be denied for that.
        return Foreseen()
    files = {
        path: ahead[fact.path] if fact.path in ahead else present(path, context)
        for path, fact in facts
    }
    found = _compute(form, context, files)
    if not found.ok:
        return Foreseen(fault="\n".join(map(_refusal_text, found.errors)))
    ahead |= {change.path: change.after for change in found.changes}
    return Foreseen(found.diff)


def probe(form: EditForm, context: CallContext) -> Result | None:
    """Return a result if the files already are what this diff makes of the tree before it."""
    if form.preview:
        return None
    before = {p: context.workspace.file_at(context.tree, p) for p in touched_paths(form.diff)}
    found = _compute(form, context, before)
    if found.ok and all(present(each.path, context) == each.after for each in found.changes):
        return _done(form, found, context)
    return None


def _compute(form: EditForm, context: CallContext, files: dict[str, bytes | None]) -> PatchResult:
    """Compute all files in memory; the version that the driver last read is the merge base."""
    there = {path: data for path, data in files.items() if data is not None}
    base: dict[str, bytes] = {}
    for path, data in there.items():
        real = context.root.fact(path, write=False).path
        seen = context.workspace.file_at(context.seen[real], real) if real in context.seen else None
        if seen is not None and seen != data:
            base[path] = seen
    return apply_diff(
        there,
        form.diff,
        base=base or None,
        fuzz=form.fuzz,
        max_offset=context.settings.max_offset,
        keep_regions=form.keep_regions,
        partial=form.partial,
        # A call's argument has its closing quote, so the diff is not truncated.
        whole=True,
    )


def _write(found: PatchResult, context: CallContext) -> None:
    """Write each file atomically; if one fails, raise and restore the others."""
    for change in found.changes:
        if change.after is None:
            context.root.delete(change.path)
        else:
            context.root.write_bytes(change.path, change.after)


def _refused(found: PatchResult, context: CallContext) -> Result:
    codes = [error.code.value for error in found.errors]
    reasons = "\n".join(map(_refusal_text, found.errors))
    text, cut = bounded(f"Nothing was changed. {reasons}", context.settings.max_text)
    data: dict[str, object] = {"patch": found.to_json(), "event": "PATCH_DIFF_REFUSED"}
    return Result(False, text, data, error=" ".join(codes), same=codes, cut=cut)


def _refusal_text(error: Refusal) -> str:
    hunk = f" hunk {error.hunk}" if error.hunk else ""
    where = f"{error.path}{hunk} " if error.path else ""
    lines = (f"{where}[{error.code.value}] {error.message}", error.nearest, error.proposal)
    return "\n".join(filter(None, lines))


def _done(form: EditForm, found: PatchResult, context: CallContext) -> Result:
    verb = "Would change" if form.preview else "Changed"
    lines = [f"{verb} {_count(len(found.changes), 'file')}.", *map(_summary, found.changes)]
    lines += [f"Skipped: {_refusal_text(error)}" for error in found.errors]
    lines += [f"Warning: {warning}" for warning in found.warnings]
    # The author knows the diff; it is repeated only if it was not applied yet.
    shown = [found.diff] if form.preview else []
    see = "Read the files to see the rest."
    text, cut = bounded("\n".join([*lines, *shown]), context.settings.max_text, see)
    event = "PATCH_DIFF_PREVIEW" if form.preview else "PATCH_DIFF_APPLIED"
    data: dict[str, object] = {"patch": found.to_json(), "event": event}
    return Result(True, text, data, cut=cut, same=found.diff)


class _Touched(NamedTuple):
    """How many lines a change adds and removes, and where the added ones are now."""

    added: int
    removed: int
    spans: list[str]


def _summary(change: Change) -> str:
    """Return one line per file: how many lines were added and removed, and where."""
    touched = _touched(change.diff)
    head = f"{change.type.value} {change.path}: +{touched.added} -{touched.removed}"
    if change.type is not ChangeType.MODIFY or not touched.spans:
        return head
    more = len(touched.spans) - SHOWN_SPANS
    rest = f" and {more} more places" if more > 0 else ""
    return f"{head}, now at line {', '.join(touched.spans[:SHOWN_SPANS])}{rest}"


def _touched(diff: str) -> _Touched:
    added = removed = 0
    spans: list[str] = []
    at = first = 0
    for line in [*diff.split("\n"), "@@ +0"]:
        if not line.startswith("+") and first:
            spans.append(f"{first}-{at}" if at > first else str(at))
            first = 0
        if start := _START.match(line):
            at = int(start[1]) - 1
        elif line.startswith(("+++ ", "--- ")) and not at:
            continue
        elif line.startswith("+"):
            at, added = at + 1, added + 1
            first = first or at
        elif line.startswith("-"):
            removed += 1
        elif line.startswith(" "):
            at += 1
    return _Touched(added, removed, spans)


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


EDIT_DIFF = Tool(
    "edit_diff",
    "Change files by a unified diff: `--- a/path`, `+++ b/path`, hunks. A bare `@@` begins a hunk "
    "and needs no numbers. Copy a few lines exactly around each change. New files come from "
    "/dev/null.",
    EditForm,
    facts,
    perform,
    probe,
    example={
        "diff": "--- a/docs/prices.md\n+++ b/docs/prices.md\n@@\n # Prices\n"
        "-A pen costs 2.\n+A pen costs 3.\n"
    },
)
