"""Hunks that betray, apart from any matching, that something in them is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from flyball.patch.lines.text import Text
from flyball.patch.place.locate import Miss, outer_context
from flyball.patch.read.hunk import ADD, CUT, Hunk
from flyball.patch.result import Code

_CONTEXT = 3
_MISCOUNT = 2
"""By how many lines a header may be off before a hunk at the end of a file counts as cut."""
_DOTS = rb"(?:\.{3,}|\xe2\x80\xa6)"
_STANDS_FOR_MORE = re.compile(
    rb"\b(existing|rest|unchanged|remain(s|ing|der)?|same|previous|omitted|other|original|elided"
    rb"|as before)\b",
    re.IGNORECASE,
)
_DRESSING = rb"[\s#/*;%<!\-\"'{(\[>})\]]*"
_PHRASE = re.compile(_DRESSING + _DOTS + rb"[\w\s,'/\-]*?" + _DOTS + rb"?" + _DRESSING)
_TRAILING_OFF = re.compile(_DRESSING + rb"(?:[\w'/\-]+\s+){0,5}[\w'/\-]+\s*" + _DOTS + _DRESSING)
"""Few words before the dots: a longer line that trails off is a sentence of the file."""
_PLAINLY_MORE = re.compile(
    rb"\b(existing|rest|unchanged|remainder|omitted|elided|as before)\b", re.IGNORECASE
)
_ONLY_DOTS = re.compile(_DRESSING + _DOTS + _DRESSING)
_SPOKEN = re.compile(
    rb"\W*(the )?(rest|remainder) of (the |this )?(code|file|function|method|class|module)\b"
    rb"[\w\s]*\b(unchanged|same|here|as (is|before))\W*",
    re.IGNORECASE,
)
_QUOTED = re.compile(rb"""\s*(["'`])(?!\1\1)""")
"""Text in quotes is data of the program, whatever it says."""
_NUMBERED = re.compile(rb" *(\d+) ?(?:[:|]|\xe2\x86\x92)")


def suspicion(hunk: Hunk, text: Text) -> Miss | None:
    """What is wrong with a hunk as such, or None."""
    if hunk.is_vouched:
        return None
    if is_truncated(hunk, text):
        return Miss(Code.TRUNCATED)
    for line in placeholders(hunk, only_dots=False):
        # A file may really hold such a line.
        if line.strip() not in {known.strip() for known in text.lines}:
            return Miss(Code.PLACEHOLDER, what=line)
    return None


def is_truncated(hunk: Hunk, text: Text) -> bool:
    """The diff's last hunk stops short of what its header promises, and not by a miscount."""
    old, new = hunk.missing
    if not hunk.is_last or hunk.span is None or min(old, new) < 0 or not (old or new):
        return False
    if not hunk.changes:
        return True
    if hunk.new_unended or hunk.is_whole:
        return False
    ending = [line.rstrip() for line in hunk.old]
    reaches_end = text.loose[len(text.loose) - len(ending) :] == ending
    lead, trail = outer_context(hunk)
    if not trail:
        is_miscount = bool(old) or (new <= _MISCOUNT and not hunk.is_odd)
        return hunk.is_cut or not (reaches_end and is_miscount)
    if reaches_end or old == new == _CONTEXT - trail:
        return False
    if trail < min(lead, _CONTEXT):
        return True
    is_top = hunk.span.old_start <= 1 and trail < _CONTEXT
    return (hunk.is_odd or is_top) and max(old, new) > _MISCOUNT


def placeholders(hunk: Hunk, *, only_dots: bool) -> Iterator[bytes]:
    """Lines that stand for code the writer did not want to repeat."""
    whole = b"\n".join(hunk.texts)
    if not _has_sign(whole):
        return
    for mark, line in zip(hunk.marks, hunk.texts, strict=True):
        if is_placeholder(line) or (only_dots and mark != ADD and _ONLY_DOTS.fullmatch(line)):
            removed = {t.strip() for m, t in zip(hunk.marks, hunk.texts, strict=True) if m == CUT}
            if mark == CUT or line.strip() not in removed:
                yield line


def _has_sign(text: bytes) -> bool:
    """No placeholder is without one of these, and most hunks are."""
    dots, spoken = b"..." in text or b"\xe2\x80\xa6" in text, b"est of " in text
    return dots or spoken or b"mainder of " in text


def is_placeholder(line: bytes) -> bool:
    """The whole line is a phrase like `# ... existing code ...`."""
    if _QUOTED.match(line):
        return False
    has_dots = b"..." in line or b"\xe2\x80\xa6" in line
    if has_dots and _STANDS_FOR_MORE.search(line):
        if _PHRASE.fullmatch(line):
            return True
        if _PLAINLY_MORE.search(line) and _TRAILING_OFF.fullmatch(line):
            return True
    return b" of " in line and bool(_SPOKEN.fullmatch(line))


def has_numbers(lines: list[bytes], *, step: int = 1) -> bool:
    """Every line begins with a line number, each at most `step` above the one before."""
    matches = [match for line in lines if (match := _NUMBERED.match(line))]
    if len(lines) < 2 or len(matches) < len(lines):
        return False
    numbers = [int(match[1]) for match in matches]
    return all(0 <= after - before <= step for before, after in pairwise(numbers))
