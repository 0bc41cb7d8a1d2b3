"""The values of a parsed diff: sections (one per file), their hunks, and the lines of a hunk."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from flyball.patch.result import Code
from flyball.regex import regex

KEEP, CUT, ADD, BARE = b" "[0], b"-"[0], b"+"[0], b"?"[0]
"""The marks of a hunk's lines. A bare line had no mark at all; it may be context that lost it."""


class Span(NamedTuple):
    """The numbers between two `@@`: the stated place of a hunk."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int

    @property
    def old_index(self) -> int:
        """Return the stated place as a 0-based line of the old file."""
        return self.old_start - 1 if self.old_count else self.old_start

    @property
    def new_index(self) -> int:
        """Return the stated place as a 0-based line of the new file."""
        return self.new_start - 1 if self.new_count else self.new_start


class Hunk(NamedTuple):
    """One part of an edit: marked lines, and the statements of its header."""

    number: int
    span: Span | None
    marks: bytes
    texts: list[bytes]
    old_unended: bool = False
    new_unended: bool = False
    missing: tuple[int, int] = (0, 0)
    """How many old and new lines the header promises beyond those present (negative: too few)."""
    is_last: bool = False
    is_odd: bool = False
    """Every other header of the diff is right."""
    is_cut: bool = False
    """The diff's text ends inside this hunk's last line."""
    heading: bytes = b""
    """The text after the numbers of its @@ line: mostly the line that opens the enclosing block."""
    is_whole: bool = False
    """Nothing of the diff was lost on its way, so a header that promises more has miscounted."""
    is_vouched: bool = False
    """Its lines are literal, even if they look like placeholders."""

    @property
    def old(self) -> list[bytes]:
        """Return the lines that must be in the file."""
        return [t for m, t in zip(self.marks, self.texts, strict=True) if m != ADD]

    @property
    def new(self) -> list[bytes]:
        """Return the lines of the file afterwards."""
        return [t for m, t in zip(self.marks, self.texts, strict=True) if m != CUT]

    @property
    def agrees(self) -> bool:
        """Return whether the header's counts match the body."""
        return self.span is not None and self.missing == (0, 0)

    @property
    def changes(self) -> bool:
        """Return whether there is at least one line to add or remove."""
        return ADD in self.marks or CUT in self.marks


class SectionFault(NamedTuple):
    """A problem of a section, or of the whole text, that rejects it before any matching."""

    code: Code
    message: str


class Section(NamedTuple):
    """A diff's part about one file."""

    paths: tuple[str, ...]
    """The names the file may go by, likeliest first."""
    hunks: tuple[Hunk, ...]
    creates: bool = False
    deletes: bool = False
    fault: SectionFault | None = None
    outcome: str = ""
    """Git's name for the resulting content, if the header has it."""


class ParsedDiff(NamedTuple):
    """A parsed diff."""

    sections: tuple[Section, ...]
    fault: SectionFault | None = None


_MARKED = (b" ", b"+", b"-")
_MARKS = frozenset((KEEP, CUT, ADD))
_SAID, _STOP = 0, -1
_DOUBLED = (b"++ ", b"-- ")
_BEGINS = regex(
    rb"@@|diff --git |Index: |\*\*\* End Patch|Binary files .* differ|GIT binary patch"
    rb"|index [0-9a-f]{4,}\.\.[0-9a-f]{4,}|```\w*\s*$"
)
_FENCE = b"```"
_SIGNATURE = regex(rb"-- ?\r?$")
_VERSION = regex(rb"\d+\.\d+")
_NO_NEWLINE = regex(rb"\\ ?[Nn]o newline")
_PROSE = regex(rb"[-+] \S|([-+])\1|[-+]\s*$")
_PATH_LIKE = regex(rb"(---|\+\+\+) (?:[ab]/\S|/dev/null\b|\"[ab]/)")


class Body:
    """A hunk's lines, and where they end."""

    def __init__(self, start: int) -> None:
        self.end = start
        self.marks = bytearray()
        self.texts: list[bytes] = []
        self.unended: list[int] = []
        """Indexes of lines followed by "No newline at end of file"."""
        self.old_unended = False
        self.new_unended = False
        self.missing: tuple[int, int] = (0, 0)

    @property
    def changes(self) -> bool:
        """Return whether there is at least one line to add or remove so far."""
        return ADD in self.marks or CUT in self.marks


def read_body(lines: Sequence[bytes], start: int, span: Span | None, *, crlf: bool) -> Body:
    """Read one hunk's lines from `start`; `crlf` says that the whole text has CRLF endings."""
    body = Body(start)
    olds, news = (span.old_count, span.new_count) if span else (0, 0)
    if span:
        _read_counted(body, lines, olds, news)
    while body.end < len(lines) and _NO_NEWLINE.match(lines[body.end]):
        body.unended.append(len(body.marks) - 1)
        body.end += 1
    # Counts are believed first, because a removed line may look like a header; but models miscount,
    # and then the hunk goes on as long as lines look like its own.
    if not span or _is_continued(body, lines):
        _read_on(body, lines)
        _drop_tail(body)
    if span:
        adds, cuts = body.marks.count(ADD), body.marks.count(CUT)
        body.missing = (olds - len(body.marks) + adds, news - len(body.marks) + cuts)
    if crlf:
        body.texts = [t.removesuffix(b"\r") for t in body.texts]
    if body.unended:
        _settle_ends(body)
    return body


def ends_body(lines: Sequence[bytes], at: int) -> bool:
    """Return whether this line begins another hunk, another file, or a fence."""
    line = lines[at]
    if _BEGINS.match(line):
        return True
    if line.startswith(b"--- "):
        return _is_pair(lines, at)
    if line.startswith(b"+++ "):
        following = _line_or_empty(lines, at + 1)
        return following.startswith(b"@@") and bool(_PATH_LIKE.match(line))
    return bool(_SIGNATURE.match(line)) and _ends_mail(lines, at)


def _is_pair(lines: Sequence[bytes], at: int) -> bool:
    """Return whether `--- x` is a file header rather than a removed line that begins with `-- `."""
    following = _line_or_empty(lines, at + 1)
    if following.startswith(b"+++ "):
        if _line_or_empty(lines, at + 2).startswith(b"@@"):
            return True
        return bool(_PATH_LIKE.match(lines[at]) and _PATH_LIKE.match(following))
    return following.startswith(b"@@") and bool(_PATH_LIKE.match(lines[at]))


def _starts_file(lines: Sequence[bytes], at: int) -> bool:
    """Return whether a file header with its first hunk starts here, which no counted body can
    contain."""
    follows = 2 if lines[at].startswith(b"---") else 1
    return _line_or_empty(lines, at + follows).startswith(b"@@") and ends_body(lines, at)


def _ends_mail(lines: Sequence[bytes], at: int) -> bool:
    """Return whether `-- ` ends a mail, because git's version follows."""
    return bool(_VERSION.match(_line_or_empty(lines, at + 1)))


def _line_or_empty(lines: Sequence[bytes], at: int) -> bytes:
    return lines[at] if at < len(lines) else b""


def _read_counted(body: Body, lines: Sequence[bytes], olds: int, news: int) -> None:
    """Read as many old and new lines as the header states, unless another part begins."""
    at, total = body.end, len(lines)
    marks, texts = body.marks, body.texts
    while (olds > 0 or news > 0) and at < total:
        line = lines[at]
        mark, text = (line[0], line[1:]) if line else (KEEP, line)
        if mark not in _MARKS:
            mark, text = _mark_meant(lines, at), line
        elif mark != KEEP and text[:3] in _DOUBLED and _starts_file(lines, at):
            mark = _STOP
        if mark == _STOP:
            break
        at += 1
        if mark == _SAID:
            body.unended.append(len(marks) - 1)
            continue
        if mark != ADD:
            olds -= 1
        if mark != CUT:
            news -= 1
        marks.append(mark)
        texts.append(text)
    body.end = at


def _mark_meant(lines: Sequence[bytes], at: int) -> int:
    """Return the meaning of a line without a mark: a note, an end, or context without its space."""
    line = lines[at]
    if _NO_NEWLINE.match(line):
        return _SAID
    if ends_body(lines, at) and not _is_fenced_text(lines, at):
        return _STOP
    return BARE if line.strip() else KEEP


def _is_fenced_text(lines: Sequence[bytes], at: int) -> bool:
    """Return whether a fence is context without its space, because the hunk continues after it."""
    if not lines[at].startswith(_FENCE):
        return False
    for index in range(at + 1, len(lines)):
        line = lines[index]
        if line.startswith(_FENCE):
            if not is_stray(_line_or_empty(lines, index + 1)):
                return False
        elif ends_body(lines, index):
            return False
        elif line[:1] in (b" ", b"+"):
            return True
    return False


def is_stray(line: bytes) -> bool:
    """Return whether a line marked as added or removed is neither a list item nor a rule."""
    return line[:1] in (b"+", b"-") and not _PROSE.match(line)


def _is_continued(body: Body, lines: Sequence[bytes]) -> bool:
    """Return whether more lines of the hunk follow the counted ones, so that its counts were
    wrong."""
    rest: list[bytes] = []
    for index in range(body.end, len(lines)):
        if ends_body(lines, index):
            break
        rest.append(lines[index])
    while rest and not rest[-1].strip():
        rest.pop()
    if not rest:
        return False
    if rest[0].strip():
        return rest[0][:1] in _MARKED
    if not body.changes and any(line[:1] in (b"+", b"-") for line in rest):
        return True
    return all(line[:1] in _MARKED or not line or _NO_NEWLINE.match(line) for line in rest) and any(
        is_stray(line) or (line[:1] == b" " and line.strip()) for line in rest
    )


def _read_on(body: Body, lines: Sequence[bytes]) -> None:
    """Read everything up to the next header."""
    at = body.end
    while at < len(lines) and not ends_body(lines, at):
        line = lines[at]
        at += 1
        if _NO_NEWLINE.match(line):
            body.unended.append(len(body.marks) - 1)
            continue
        if line[:1] in _MARKED:
            body.marks.append(line[0])
            body.texts.append(line[1:])
        else:
            body.marks.append(KEEP if not line.strip() else BARE)
            body.texts.append(line)
    body.end = at


def _drop_tail(body: Body) -> None:
    """Drop empty lines at the end, and prose after an empty line, which are not part of the
    hunk."""
    size = len(body.marks)
    soft = size
    while soft and _is_soft(body, soft - 1):
        soft -= 1
    cut = next((i for i in range(soft, size) if not body.texts[i].strip()), size)
    del body.marks[cut:]
    del body.texts[cut:]


def _is_soft(body: Body, index: int) -> bool:
    return body.marks[index] == BARE or (body.marks[index] == KEEP and not body.texts[index])


def _settle_ends(body: Body) -> None:
    """Separate real ends of files from misplaced "No newline" lines."""
    last_old = max((i for i, m in enumerate(body.marks) if m != ADD), default=-1)
    last_new = max((i for i, m in enumerate(body.marks) if m != CUT), default=-1)
    for index in body.unended:
        mark = body.marks[index] if 0 <= index < len(body.marks) else None
        if mark is not None and mark != ADD and index == last_old:
            body.old_unended = True
        if mark is not None and mark != CUT and index == last_new:
            body.new_unended = True


_DOTS = rb"(?:\.{3,}|\xe2\x80\xa6)"
_STANDS_FOR_MORE = regex(
    rb"\b(existing|rest|unchanged|remain(s|ing|der)?|same|previous|omitted|other|original|elided"
    rb"|as before)\b",
    re.IGNORECASE,
)
_DRESSING = rb"[\s#/*;%<!\-\"'{(\[>})\]]*"
_PHRASE = regex(_DRESSING + _DOTS + rb"[\w\s,'/\-]*?" + _DOTS + rb"?" + _DRESSING)
_TRAILING_OFF = regex(_DRESSING + rb"(?:[\w'/\-]+\s+){0,5}[\w'/\-]+\s*" + _DOTS + _DRESSING)
"""Few words before the dots: a longer line that trails off is a sentence of the file."""
_PLAINLY_MORE = regex(
    rb"\b(existing|rest|unchanged|remainder|omitted|elided|as before)\b", re.IGNORECASE
)
_ONLY_DOTS = regex(_DRESSING + _DOTS + _DRESSING)
_SPOKEN = regex(
    rb"\W*(the )?(rest|remainder) of (the |this )?(code|file|function|method|class|module)\b"
    rb"[\w\s]*\b(unchanged|same|here|as (is|before))\W*",
    re.IGNORECASE,
)
_QUOTED = regex(rb"""\s*(["'`])(?!\1\1)""")
"""Text in quotes is data of the program, and never a placeholder."""


def placeholders(hunk: Hunk, *, only_dots: bool) -> Iterator[bytes]:
    """Yield lines that represent code which the author left out."""
    whole = b"\n".join(hunk.texts)
    if not _has_sign(whole):
        return
    for mark, line in zip(hunk.marks, hunk.texts, strict=True):
        if is_placeholder(line) or (only_dots and mark != ADD and _ONLY_DOTS.fullmatch(line)):
            removed = {t.strip() for m, t in zip(hunk.marks, hunk.texts, strict=True) if m == CUT}
            if mark == CUT or line.strip() not in removed:
                yield line


def _has_sign(text: bytes) -> bool:
    """Return whether a text has a character that all placeholders have, and few hunks do."""
    dots, spoken = b"..." in text or b"\xe2\x80\xa6" in text, b"est of " in text
    return dots or spoken or b"mainder of " in text


def is_placeholder(line: bytes) -> bool:
    """Return whether the whole line is a phrase like `# ... existing code ...`."""
    if _QUOTED.match(line):
        return False
    has_dots = b"..." in line or b"\xe2\x80\xa6" in line
    if has_dots and _STANDS_FOR_MORE.search(line):
        if _PHRASE.fullmatch(line):
            return True
        if _PLAINLY_MORE.search(line) and _TRAILING_OFF.fullmatch(line):
            return True
    return b" of " in line and bool(_SPOKEN.fullmatch(line))
