"""The values a diff is read into: sections (one file each) and their hunks."""

from __future__ import annotations

from typing import NamedTuple

from flyball.patch.result import Code

KEEP, CUT, ADD, BARE = b" "[0], b"-"[0], b"+"[0], b"?"[0]
"""The marks of a hunk's lines. A bare line had no mark at all; it may be context that lost it."""


class Span(NamedTuple):
    """The numbers between two `@@`: where a hunk says it belongs."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int

    @property
    def old_index(self) -> int:
        """The stated place as a 0-based line of the old file."""
        return self.old_start - 1 if self.old_count else self.old_start

    @property
    def new_index(self) -> int:
        """The stated place as a 0-based line of the new file."""
        return self.new_start - 1 if self.new_count else self.new_start


class Hunk(NamedTuple):
    """One place of an edit: marked lines, and what the header said about them."""

    number: int
    span: Span | None
    marks: bytes
    texts: list[bytes]
    old_unended: bool = False
    new_unended: bool = False
    missing: tuple[int, int] = (0, 0)
    """How many old and new lines the header promises beyond what is there (negative: too few)."""
    is_last: bool = False
    is_odd: bool = False
    """Every other header of the diff is right."""
    is_cut: bool = False
    """The diff's text ends inside this hunk's last line."""
    heading: bytes = b""
    """What its @@ line says beside numbers: mostly the line that opens the block it is in."""
    is_whole: bool = False
    """Nothing of the diff was lost on its way, so a header that promises more has miscounted."""
    is_vouched: bool = False
    """Whatever its lines say, they are meant as they are."""

    @property
    def old(self) -> list[bytes]:
        """The lines that must be in the file."""
        return [t for m, t in zip(self.marks, self.texts, strict=True) if m != ADD]

    @property
    def new(self) -> list[bytes]:
        """The lines that stand there afterwards."""
        return [t for m, t in zip(self.marks, self.texts, strict=True) if m != CUT]

    @property
    def agrees(self) -> bool:
        """The header's counts are those of the body."""
        return self.span is not None and self.missing == (0, 0)

    @property
    def changes(self) -> bool:
        """There is at least one line to add or remove."""
        return ADD in self.marks or CUT in self.marks


class SectionFault(NamedTuple):
    """Something about a section, or the whole text, that refuses it before any matching."""

    code: Code
    message: str


class Section(NamedTuple):
    """What a diff says about one file."""

    paths: tuple[str, ...]
    """The names the file may go by, likeliest first."""
    hunks: tuple[Hunk, ...]
    creates: bool = False
    deletes: bool = False
    fault: SectionFault | None = None
    outcome: str = ""
    """How git names the content that comes of it, where the header says so."""


class ParsedDiff(NamedTuple):
    """A diff, read."""

    sections: tuple[Section, ...]
    fault: SectionFault | None = None
