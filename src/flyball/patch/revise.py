"""Apply a diff's part about one file: created, changed, deleted, or refused."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha1
from typing import NamedTuple

from flyball.patch.apply import Applied, Placed, apply_hunks
from flyball.patch.explain import explain
from flyball.patch.hunk import ADD, Hunk, Section
from flyball.patch.keep import WORD, Region, changed_regions, regions
from flyball.patch.locate import MatchLevel, has_numbers, is_truncated, suspicion
from flyball.patch.merge import merge3
from flyball.patch.result import Change, ChangeType, Code, HunkTaken, Refusal
from flyball.patch.text import Text

_MARK = b"\xef\xbb\xbf"
_SHORTEST_NAME = 7
"""How many digits of an object's name git shows at least."""


_RECOGNISED = ("exact", "trailing white space ignored", "context without its leading space")
"""How a hunk was recognised, by the level of its match."""


class Options(NamedTuple):
    """The permitted repairs."""

    fuzz: int = 0
    max_offset: int = 200
    keep_regions: bool = True
    partial: bool = False


class Revision:
    """The result for one file, with everything to report about it."""

    def __init__(self, path: str, before: bytes | None) -> None:
        self.path = path
        self.before = before
        self.change: Change | None = None
        self.errors: list[Refusal] = []
        self.warnings: list[str] = []

    def refuse(self, code: Code, sentence: str, hunk: int = 0, lines: tuple[int, ...] = ()) -> None:
        """Record a refusal."""
        self.errors.append(Refusal(code, sentence, self.path, hunk, lines))

    def warn(self, sentence: str) -> None:
        """Record a repair, or something that was ignored."""
        self.warnings.append(f"{self.path}: {sentence}")


def revise(
    path: str,
    before: bytes | None,
    sections: Sequence[Section],
    seen: bytes | None,
    options: Options,
) -> Revision:
    """Apply a diff's part about one file; `seen` is the content that its author had read."""
    revision = Revision(path, before)
    hunks = _working_hunks(revision, sections)
    if revision.errors or not (hunks or any(s.creates or s.deletes for s in sections)):
        return revision
    if sections[0].creates or (before is None and _is_all_new(hunks)):
        _create(revision, hunks, sections[0].outcome)
    elif before is None:
        revision.refuse(
            Code.FILE_MISSING,
            "There is no such file. Check the path, or write '--- /dev/null' above it to add it.",
        )
    elif b"\0" in before:
        revision.refuse(Code.BINARY, "It is a binary file. Write it whole instead of by a diff.")
    else:
        _modify(revision, before, hunks, sections, seen, options)
    return revision


def _working_hunks(revision: Revision, sections: Sequence[Section]) -> list[Hunk]:
    """Return the hunks that change something, numbered consecutively."""
    hunks: list[Hunk] = []
    number = 0
    for section in sections:
        for hunk in section.hunks:
            number += 1
            if hunk.number != number:
                hunk = hunk._replace(number=number)
            if hunk.changes or is_truncated(hunk, Text(b"")):
                hunks.append(hunk)
            elif hunk.span and (hunk.missing != (0, 0) or not hunk.marks):
                revision.refuse(
                    Code.NO_MATCH,
                    "Its header promises other lines than there are, and none is marked with + or "
                    "-. Mark the lines that are added or removed.",
                    number,
                )
            else:
                revision.warn(f"hunk {number} changes nothing and was ignored.")
    return hunks


def _is_all_new(hunks: Sequence[Hunk]) -> bool:
    """Return whether there are only added lines, and a header that says the file was new."""
    return bool(hunks) and all(
        set(h.marks) == {ADD} and h.span is not None and h.span.old_start == h.span.old_count == 0
        for h in hunks
    )


def _create(revision: Revision, hunks: Sequence[Hunk], outcome: str) -> None:
    nothing = Text(b"")
    lines = [line for hunk in hunks for line in hunk.texts]
    ended = not (hunks and hunks[-1].new_unended)
    data = b"\n".join(lines) + (b"\n" if lines and ended else b"")
    for hunk in hunks:
        doubt = suspicion(hunk, nothing)
        if doubt is not None and not _is_named(data, outcome):
            revision.errors.append(explain(revision.path, hunk, doubt, nothing))
        elif set(hunk.marks) != {ADD}:
            at = next(i for i, mark in enumerate(hunk.marks) if mark != ADD)
            revision.refuse(
                Code.NO_MATCH,
                f"Line {at + 1} of a new file has no + in front of it. Every line of a file that "
                "is added begins with +.",
                hunk.number,
            )
        elif has_numbers(hunk.texts):
            revision.refuse(
                Code.NO_MATCH, "Its lines begin with line numbers. Remove them.", hunk.number
            )
    if revision.before == data:
        revision.refuse(Code.ALREADY_APPLIED, "The file already exists with this very content.")
    elif revision.before is not None:
        revision.refuse(
            Code.FILE_EXISTS,
            "The file exists already. Change it with a diff against its content, or choose "
            "another name.",
        )
    if not revision.errors:
        taken = tuple(HunkTaken(h.number, 1, 0, "new file") for h in hunks)
        revision.change = Change(revision.path, ChangeType.ADD, None, data, taken)


def _modify(
    revision: Revision,
    before: bytes,
    hunks: Sequence[Hunk],
    sections: Sequence[Section],
    seen: bytes | None,
    options: Options,
) -> None:
    done = _apply(before, hunks, sections, options)
    after = done.data
    if seen is not None and seen != before:
        # Made on what its writer had read and merged, drift needs no search at all; see
        # docs/decisions/0007.
        rebased = _apply(seen, hunks, sections, options)
        if not rebased.missed:
            done, after = rebased, _merge(revision, seen, before, rebased.data)
    if revision.errors:
        return
    if done.missed:
        text = Text(before)
        revision.errors += [explain(revision.path, hunk, miss, text) for hunk, miss in done.missed]
        if not options.partial or not done.placed:
            return
    deletes = any(section.deletes for section in sections)
    if deletes and after:
        left = len(Text(after).lines)
        revision.refuse(
            Code.NO_MATCH,
            f"Deleting the file would lose {left} line{'s' * (left != 1)} that the diff does not "
            "remove. Show every line of the file with - in front.",
        )
        return
    if not _keeps_regions(revision, before, None if deletes else after, done, options):
        return
    _add_warnings(revision, done)
    revision.change = Change(
        revision.path,
        ChangeType.DELETE if deletes else ChangeType.MODIFY,
        before,
        None if deletes else after,
        tuple(_hunk_taken(one) for one in done.placed),
        tuple(hunk.number for hunk, _ in done.missed),
    )


def _apply(
    data: bytes, hunks: Sequence[Hunk], sections: Sequence[Section], options: Options
) -> Applied:
    """Apply all hunks to the current file, or to another decoding of it if they do not fit."""
    done = apply_hunks(
        data,
        hunks,
        fuzz=options.fuzz,
        max_offset=options.max_offset,
        in_order=len(sections) == 1,
    )
    if not done.missed:
        return done
    others = (
        _apply_without_mark(data, hunks, sections, options),
        _apply_recoded(data, hunks, options),
        _apply_in_turn(data, hunks, sections, options),
        _apply_vouched(data, hunks, sections, options),
    )
    # Only if all hunks fit in another reading is that taken; otherwise the refusal speaks of the
    # file as it is.
    return next((other for other in others if other and not other.missed), done)


def _apply_without_mark(
    data: bytes, hunks: Sequence[Hunk], sections: Sequence[Section], options: Options
) -> Applied | None:
    """Apply a diff to a file without its byte order mark, which a diff's author usually does not
    see."""
    if not data.startswith(_MARK) or any(t.startswith(_MARK) for h in hunks for t in h.texts):
        return None
    done = _apply(data.removeprefix(_MARK), hunks, sections, options)
    return done._replace(data=_MARK + done.data)


def _apply_recoded(data: bytes, hunks: Sequence[Hunk], options: Options) -> Applied | None:
    """Apply a diff to a file that is not UTF-8, but was shown to the author as text."""
    try:
        # UTF-8 is asked by decoding: bytes that happen to be valid are taken at their word.
        data.decode()
    except UnicodeDecodeError:
        pass
    else:
        return None
    try:
        recoded = [h._replace(texts=[t.decode().encode("cp1252") for t in h.texts]) for h in hunks]
    except UnicodeError:
        return None
    return apply_hunks(data, recoded, fuzz=options.fuzz, max_offset=options.max_offset)


def _apply_in_turn(
    data: bytes, hunks: Sequence[Hunk], sections: Sequence[Section], options: Options
) -> Applied | None:
    """Apply several sections for one file in turn, as each may build on those before it."""
    if len(sections) == 1:
        return None
    fuzz, max_offset = options.fuzz, options.max_offset
    step, placed, start = Applied(data), list[Placed](), 0
    for section in sections:
        numbers = range(start + 1, start + 1 + len(section.hunks))
        part = [hunk for hunk in hunks if hunk.number in numbers]
        step = apply_hunks(step.data, part, fuzz=fuzz, max_offset=max_offset)
        if step.missed:
            return None
        placed += step.placed
        start += len(section.hunks)
    return Applied(step.data, tuple(placed))


def _apply_vouched(
    data: bytes, hunks: Sequence[Hunk], sections: Sequence[Section], options: Options
) -> Applied | None:
    """Apply lines that look like placeholders if git's own hash of the result confirms them."""
    outcome = sections[0].outcome
    if len(sections) != 1 or not outcome:
        return None
    vouched = [hunk._replace(is_vouched=True) for hunk in hunks]
    done = apply_hunks(data, vouched, fuzz=0, max_offset=options.max_offset)
    return done if _is_named(done.data, outcome) else None


def _is_named(data: bytes, name: str) -> bool:
    """Return whether `name`, from the `index` line of a diff, is the hash of this exact content."""
    if len(name) < _SHORTEST_NAME:
        return False
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest().startswith(name)


def _merge(revision: Revision, seen: bytes, now: bytes, wanted: bytes) -> bytes:
    """Merge an edit of the content read earlier into the current content."""
    merged = merge3(seen, now, wanted)
    for clash in merged.clashes:
        lines = (clash.first, clash.last)
        revision.refuse(
            Code.OVERLAP,
            f"Lines {lines[0]} to {lines[1]} have changed since the file was read, and the diff "
            "changes them too. Read the file again and write the diff against it.",
            lines=lines,
        )
    if merged.ok and merged.data == now and wanted != seen:
        revision.refuse(
            Code.ALREADY_APPLIED, "The file already has this change. Leave it out of the diff."
        )
    return merged.data


def _keeps_regions(
    revision: Revision, before: bytes, after: bytes | None, done: Applied, options: Options
) -> bool:
    """Return whether every keep region is unchanged; report those that are not."""
    if WORD not in before:
        return True
    old = regions(before)
    for problem in old.problems:
        revision.warn(f"{problem}.")
    lost = changed_regions(old, regions(after or b""))
    for region in lost:
        place = f"keep region '{region.name}' (lines {region.first} to {region.last})"
        if options.keep_regions:
            revision.refuse(
                Code.KEEP_REGION,
                f"It changes {place}. Leave those lines as they are, or ask for the region "
                "to be released.",
                _hunk_inside(region, done),
                (region.first, region.last),
            )
        else:
            revision.warn(f"{place} was changed.")
    return not (lost and options.keep_regions)


def _hunk_inside(region: Region, done: Applied) -> int:
    """Return the hunk that reaches into a region; 0 if it cannot be determined."""
    for edit in done.edits:
        if edit.at < region.last and edit.end >= region.first:
            return edit.hunk
    return 0


def _add_warnings(revision: Revision, done: Applied) -> None:
    """Add warnings about what did not match the diff exactly."""
    for hunk, spot, believed in done.placed:
        if hunk.span is not None and not believed:
            revision.warn(f"hunk {hunk.number}: the numbers of its @@ header are wrong.")
        if spot.level is not MatchLevel.EXACT:
            revision.warn(f"hunk {hunk.number}: {_RECOGNISED[spot.level]}.")
        if spot.lead or spot.trail:
            revision.warn(f"hunk {hunk.number}: applied with fuzz {max(spot.lead, spot.trail)}.")


def _hunk_taken(one: Placed) -> HunkTaken:
    spot = one.spot
    return HunkTaken(
        one.hunk.number,
        spot.at - spot.lead + 1,
        spot.offset,
        _RECOGNISED[spot.level],
        max(spot.lead, spot.trail),
    )
