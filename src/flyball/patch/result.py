"""Results of applying a diff: new files, changes, and why a hunk was refused."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from flyball.patch.compare import unified_diff


class Code(StrEnum):
    """The reason why a hunk, a file's section, or a whole diff was refused."""

    NO_MATCH = "no_match"
    AMBIGUOUS = "ambiguous"
    WEAK_CONTEXT = "weak_context"
    ALREADY_APPLIED = "already_applied"
    TRUNCATED = "truncated"
    PLACEHOLDER = "placeholder"
    OFFSET_EXCEEDED = "offset_exceeded"
    OVERLAP = "overlap"
    KEEP_REGION = "keep_region"
    PATH_FORBIDDEN = "path_forbidden"
    FILE_EXISTS = "file_exists"
    FILE_MISSING = "file_missing"
    BINARY = "binary"
    NOT_A_DIFF = "not_a_diff"


class Refusal(NamedTuple):
    """One refusal: the place, the code, and a sentence that says what to change."""

    code: Code
    message: str
    path: str = ""
    hunk: int = 0
    """Counted from 1 within the file; 0 when the refusal is not about one hunk."""
    lines: tuple[int, ...] = ()
    nearest: str = ""
    proposal: str = ""

    def to_json(self) -> dict[str, object]:
        """Return the refusal as plain values."""
        fields = {name: value for name, value in self._asdict().items() if value}
        return {
            **fields,
            "code": self.code.value,
            **({"lines": [*self.lines]} if self.lines else {}),
        }


class HunkTaken(NamedTuple):
    """The position at which a hunk was applied, and how it was found."""

    hunk: int
    line: int
    offset: int
    how: str
    fuzz: int = 0


class ChangeType(StrEnum):
    """How a diff changes a file."""

    ADD = "add"
    MODIFY = "modify"
    DELETE = "delete"


class Change(NamedTuple):
    """One file before and after, with the hunks that changed it."""

    path: str
    type: ChangeType
    before: bytes | None
    after: bytes | None
    taken: tuple[HunkTaken, ...] = ()
    skipped: tuple[int, ...] = ()

    @property
    def diff(self) -> str:
        """Return the change as a git-style diff."""
        return unified_diff(self.path, self.before, self.after)

    @property
    def bytes_changed(self) -> int:
        """Return how many bytes lie between the first and the last difference."""
        before, after = self.before or b"", self.after or b""
        same = _common_prefix(before, after)
        tail = _common_prefix(before[same:][::-1], after[same:][::-1])
        return max(len(before), len(after)) - same - tail


class PatchResult(NamedTuple):
    """All files after the diff (None: deleted), or unchanged if it was refused."""

    ok: bool
    files: Mapping[str, bytes | None]
    changes: tuple[Change, ...] = ()
    warnings: tuple[str, ...] = ()
    errors: tuple[Refusal, ...] = ()

    @property
    def diff(self) -> str:
        """Return all changes as one git-style diff."""
        return "".join(change.diff for change in self.changes)

    def to_json(self, snapshot: str | None = None) -> dict[str, object]:
        """Return the result as plain values, ready for any JSON encoder."""
        # Each diff is made once here: comparing two large files is the dearest part of an edit.
        diffs = [change.diff for change in self.changes]
        changes = [
            {
                "path": change.path,
                "type": change.type.value,
                "diff": _printable(diff),
                "appliedHunks": len(change.taken),
                "skippedHunks": len(change.skipped),
                "bytesChanged": change.bytes_changed,
                "hunks": [taken._asdict() for taken in change.taken],
            }
            for change, diff in zip(self.changes, diffs, strict=True)
        ]
        return {
            "ok": self.ok,
            **({"snapshotId": snapshot} if snapshot else {}),
            "changes": changes,
            "diff": _printable("".join(diffs)),
            "warnings": list(self.warnings),
            "errors": [refusal.to_json() for refusal in self.errors],
        }


def _printable(text: str) -> str:
    """Replace bytes that are not UTF-8, which JSON cannot hold, with question marks."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _common_prefix(left: bytes, right: bytes) -> int:
    """Return the length of the common prefix in bytes."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
