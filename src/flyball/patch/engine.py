"""Apply one diff to many files: all of it in memory, all of it or nothing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from flyball.patch.hunk import ParsedDiff, Section
from flyball.patch.parse import parse
from flyball.patch.result import Change, Code, PatchResult, Refusal
from flyball.patch.revise import Options, revise
from flyball.regex import regex

PROTECTED = (".git", "node_modules", ".flyball")
_SHORT_NAME = regex(r"^(git|node_m|nodemo|flybal)~\d+$")
_SUSPECT = regex(r"^/|^$|[\\~:]|\.\.|[. ](?:/|$)|\.git|node_modules|\.flyball", re.IGNORECASE)
"""What a path must contain before it is examined further."""
_DRIVE = regex(r"^[A-Za-z]:")
_NOTHING_CHANGES = Refusal(
    Code.NOT_A_DIFF,
    "The diff changes nothing: no line is added or removed. Put - before each removed line and + "
    "before each added line.",
)


def apply_diff(
    files: Mapping[str, bytes],
    diff: str,
    *,
    base: Mapping[str, bytes] | None = None,
    fuzz: int = 0,
    max_offset: int = 200,
    keep_regions: bool = True,
    partial: bool = False,
    whole: bool = False,
) -> PatchResult:
    """Apply a diff to files held in memory; a refusal leaves every byte unchanged.

    `base` is the content that the diff's author had read, if known: the edit is then made on it and
    merged with the current content. `whole` says that the text is complete, like the argument of a
    call: its last hunk then ends where the text ends, whatever its header says.
    """
    options = Options(fuzz, max_offset, keep_regions, partial)
    parsed = _vouch(parse(diff)) if whole else parse(diff)
    changes: list[Change] = []
    errors: list[Refusal] = []
    warnings: list[str] = []
    if parsed.fault:
        errors.append(Refusal(parsed.fault.code, parsed.fault.message))
    else:
        for path, sections in _group_by_path(files, parsed.sections).items():
            refusal = _objection(path, sections)
            if refusal:
                errors.append(refusal)
                continue
            revision = revise(path, files.get(path), sections, (base or {}).get(path), options)
            errors += [_with_suggestion(files, refusal) for refusal in revision.errors]
            warnings += revision.warnings
            if revision.change:
                changes.append(revision.change)
    if not changes and not errors:
        errors.append(_NOTHING_CHANGES)
    if errors and (not partial or not changes):
        return PatchResult(False, dict(files), (), tuple(warnings), tuple(errors))
    after: dict[str, bytes | None] = dict(files)
    for change in changes:
        after[change.path] = change.after
    return PatchResult(True, after, tuple(changes), tuple(warnings), tuple(errors))


def touched_paths(diff: str) -> tuple[str, ...]:
    """Return every path that a diff may refer to, to judge them before it is applied."""
    named = [path for section in parse(diff).sections for path in section.paths]
    return tuple(dict.fromkeys(named))


def _vouch(parsed: ParsedDiff) -> ParsedDiff:
    """Return the same diff, marked as complete, so that its hunks end where the text ends."""
    sections = [
        section._replace(hunks=tuple(hunk._replace(is_whole=True) for hunk in section.hunks))
        for section in parsed.sections
    ]
    return parsed._replace(sections=tuple(sections))


def _group_by_path(
    files: Mapping[str, bytes], sections: tuple[Section, ...]
) -> dict[str, list[Section]]:
    """Return the sections of each file, in the order of their first appearance."""
    grouped: dict[str, list[Section]] = {}
    for section in sections:
        first = section.paths[0] if section.paths else ""
        path = next((p for p in section.paths if p in files), first)
        grouped.setdefault(path, []).append(section)
    return grouped


def _objection(path: str, sections: list[Section]) -> Refusal | None:
    """Return a problem with a file's part of the diff that shows before its lines are examined."""
    fault = next((section.fault for section in sections if section.fault), None)
    why = why_forbidden(path) if path or not fault else None
    if why:
        return Refusal(Code.PATH_FORBIDDEN, f"{path or 'The path'} {why}.", path)
    if fault:
        return Refusal(fault.code, fault.message, path)
    return None


def _with_suggestion(files: Mapping[str, bytes], refusal: Refusal) -> Refusal:
    """Return the refusal for a missing file, naming the only file with the same name elsewhere."""
    name = refusal.path.rpartition("/")[2].casefold()
    near = [path for path in files if path.rpartition("/")[2].casefold() == name]
    if refusal.code is not Code.FILE_MISSING or len(near) != 1:
        return refusal
    return refusal._replace(message=f"There is no such file. Did you mean {near[0]}?")


def why_forbidden(path: str) -> str | None:
    """Return why this path may not be written, or None."""
    # The usual path is let through by one look; only odd ones are folded letter by letter.
    if path.isascii() and path.isprintable() and not _SUSPECT.search(path):
        return None
    slashed = path.replace("\\", "/")
    parts = slashed.split("/")
    if not path or any(unicodedata.category(c) == "Cc" for c in path):
        return "is not a usable file name"
    if slashed.startswith(("/", "~")) or _DRIVE.match(path):
        return "is absolute; name it relative to the workspace"
    if ".." in parts:
        return "points outside with '..'; name a file inside the workspace"
    for part in parts:
        folded = _fold(part)
        if folded in PROTECTED or _SHORT_NAME.match(folded):
            return f"is in {folded}, which is protected; edits there are never allowed"
    return None


def _fold(part: str) -> str:
    """Return a name as the most tolerant file system would compare it."""
    shown = "".join(c for c in part if unicodedata.category(c) != "Cf")
    folded = unicodedata.normalize("NFKC", shown).casefold()
    return folded.split(":")[0].rstrip(". ")
