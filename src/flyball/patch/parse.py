"""Parse a diff, whatever surrounds it: sections, hunks, and errors that refuse it entirely."""

from __future__ import annotations

import re
from functools import lru_cache

from flyball.patch.hunk import (
    Body,
    Hunk,
    ParsedDiff,
    Section,
    SectionFault,
    Span,
    ends_body,
    is_stray,
    read_body,
)
from flyball.patch.result import Code
from flyball.regex import regex

EXAMPLE = "--- a/src/app.py\n+++ b/src/app.py\n@@ -1,3 +1,3 @@"
_HOW = (
    "Begin it like this, and below that write the lines: a space before unchanged lines, - "
    "before removed lines, + before added lines."
)

_SPAN = regex(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_FOREIGN = {
    b"*** Begin Patch": "This is the *** Begin Patch format",
    b"*** Update File:": "This is the *** Begin Patch format",
    b"*** Add File:": "This is the *** Begin Patch format",
    b"*** Delete File:": "This is the *** Begin Patch format",
    b"<<<<<<< SEARCH": "These are SEARCH/REPLACE blocks",
    b"@@@ ": "This is a combined merge diff",
}
_FOREIGN_STARTS = frozenset(start[:1] for start in _FOREIGN)
_OTHER_KINDS = (
    (regex(rb"^\*\*\* \d+(,\d+)? \*\*\*\*", re.MULTILINE), "This is a context diff"),
    (
        regex(rb"^\d+(,\d+)?[acd]\d+(,\d+)?\r?\n[<>] ", re.MULTILINE),
        "This is a normal diff",
    ),
    (regex(rb"^<<<<<<< |^>>>>>>> ", re.MULTILINE), "These are conflict markers"),
)
_MODE = regex(rb"(old mode|new mode|new file mode|deleted file mode) (\d{6})")
_INDEX = regex(rb"index ([0-9a-f]+)\.\.([0-9a-f]+)")
_EMPTY = "e69de29"
"""How git abbreviates the name of the empty blob."""
_CUT_HEADER = regex(rb"diff -?-?g?i?t? ?")
_MOVED = (b"rename from ", b"rename to ", b"copy from ", b"copy to ")


# A call asks which paths a diff touches before it is judged and again when it is applied; what is
# read is never changed, so the same text is read once.
NULL = "/dev/null"
_STAMP = regex(rb"[ \t]+\(?\d{4}-\d\d-\d\d([ T]\d\d:\d\d.*)?$")
_PREFIX = regex(r"^([abciow]|old|new)/(?=.)")
_PAIRS = frozenset(("ab", "ba", "iw", "wi", "ci", "ic", "cw", "wc", "ow", "wo", "oldnew", "newold"))
_OCTAL = regex(rb"\\([0-3][0-7]{2}|.)", re.DOTALL)
_ESCAPES = dict(zip(b"abfnrtv", b"\a\b\f\n\r\t\v", strict=True))


@lru_cache(maxsize=4)
def parse(diff: str) -> ParsedDiff:
    """Read every section of a diff, without comparing it with any file yet."""
    try:
        # Bytes that are not UTF-8 come as lone surrogates and must leave as the same bytes.
        data = diff.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        data = diff.encode("utf-8", "surrogatepass")
    reader = _Reader(data.removeprefix(b"\xef\xbb\xbf"))
    reader.read()
    return reader.parsed()


class _Draft:
    """A section while it is being read."""

    def __init__(self, git: bytes | None) -> None:
        self.git = git
        """What follows `diff --git `."""
        self.index = ""
        self.old = self.new = ""
        self.named = self.crlf = self.creates = self.deletes = False
        self.fault: SectionFault | None = None
        self.hunks: list[Hunk] = []


class _Reader:
    """A single pass over a diff's lines."""

    def __init__(self, data: bytes) -> None:
        self.ended = data.endswith(b"\n")
        self.data = data
        self.lines = data.split(b"\n")
        if self.ended:
            self.lines.pop()
        self.at = 0
        self.drafts: list[_Draft] = []
        self.current: _Draft | None = None
        self.fault: SectionFault | None = None

    def read(self) -> None:
        """Go through all lines; every step consumes at least one."""
        while self.at < len(self.lines) and self.fault is None:
            line = self.lines[self.at]
            if line.startswith(b"@@"):
                self._hunk(line)
            elif line.startswith(b"diff --git "):
                self._begin(line[11:])
                self.at += 1
            elif line.startswith((b"--- ", b"+++ ")) and self._header(line):
                self._implied_hunk()
            else:
                self._aside(line)
                self.at += 1

    def parsed(self) -> ParsedDiff:
        """Return everything that was read."""
        fault = self.fault or (None if self.drafts else self._nothing())
        if not fault and _CUT_HEADER.fullmatch(self.lines[-1]):
            fault = SectionFault(Code.TRUNCATED, "The diff stops in a file header. Send it whole.")
        self._mark_last()
        last = len(self.drafts) - 1
        sections = [_section(d, is_last=i == last) for i, d in enumerate(self.drafts)]
        return ParsedDiff(tuple(sections), fault)

    def _mark_last(self) -> None:
        """Mark the hunk that ends the diff, which may have been cut."""
        hunks = self.drafts[-1].hunks if self.drafts else []
        if hunks:
            others = [h.agrees for d in self.drafts for h in d.hunks if h is not hunks[-1]]
            is_odd = bool(others) and all(others)
            hunks[-1] = hunks[-1]._replace(is_last=True, is_odd=is_odd)

    def _begin(self, git: bytes | None = None) -> _Draft:
        self.current = _Draft(git)
        self.drafts.append(self.current)
        return self.current

    def _header(self, line: bytes) -> bool:
        """Read a `---`/`+++` pair, or one of them alone before a hunk."""
        following = self.lines[self.at + 1] if self.at + 1 < len(self.lines) else b""
        pair = line.startswith(b"--- ") and following.startswith(b"+++ ")
        if not pair and not following.startswith(b"@@") and not self._is_alone(line, following):
            return False
        draft = self.current
        if draft is None or draft.named or draft.hunks:
            draft = self._begin()
        draft.named = True
        draft.crlf = line.endswith(b"\r")
        for part in (line, following) if pair else (line,):
            name = header_name(part[4:])
            draft.old, draft.new = (name, draft.new) if part[0] == 45 else (draft.old, name)
        self.at += 2 if pair else 1
        return True

    def _is_alone(self, line: bytes, following: bytes) -> bool:
        """Return whether a lone header line precedes marked lines and its name is certainly a
        path."""
        return line[4:6] in (b"a/", b"b/") and following[:1] in (b" ", b"+", b"-")

    def _implied_hunk(self) -> None:
        """Read lines right below a header without any `@@` as one hunk."""
        if self.at < len(self.lines):
            line = self.lines[self.at]
            if line[:1] in (b" ", b"+", b"-") and not ends_body(self.lines, self.at):
                self._take(None)

    def _hunk(self, line: bytes) -> None:
        if self.current is None:
            self._aside(line)
            self.fault = self.fault or SectionFault(
                Code.NOT_A_DIFF,
                f"Line {self.at + 1} of the diff starts a hunk, but no file is named above it. "
                "Put '--- a/PATH' and '+++ b/PATH' before the first @@.",
            )
            return
        match = _SPAN.match(line)
        span = None
        if match:
            old, olds, new, news = match.groups()
            if {olds, news} != {b"0"}:
                span = Span(int(old), int(olds or 1), int(new), int(news or 1))
        self.at += 1
        self._take(span, line[match.end() if match else 2 :].strip(b"@ \t\r"))

    def _take(self, span: Span | None, heading: bytes = b"") -> None:
        draft = self.current
        assert draft is not None
        body: Body = read_body(self.lines, self.at, span, crlf=draft.crlf)
        draft.hunks.append(
            Hunk(
                number=len(draft.hunks) + 1,
                span=span,
                marks=bytes(body.marks),
                texts=body.texts,
                old_unended=body.old_unended,
                new_unended=body.new_unended,
                missing=body.missing,
                is_cut=body.end == len(self.lines) and not self.ended,
                heading=heading,
            )
        )
        self.at = body.end

    def _aside(self, line: bytes) -> None:
        """Read lines between hunks: extended headers, foreign formats, prose."""
        if line[:1] in _FOREIGN_STARTS:
            for start, name in _FOREIGN.items():
                if line.startswith(start):
                    self.fault = _foreign_fault(name)
                    return
        draft = self.current
        if draft is None:
            return
        if draft.hunks:
            if is_stray(line) and not draft.fault:
                draft.fault = _stray_fault(self.at + 1, line)
            return
        mode = _MODE.match(line)
        if index := _INDEX.match(line):
            draft.index = index[2].decode()
        elif mode:
            _take_mode(draft, mode[1], mode[2])
        elif line.startswith(_MOVED):
            draft.fault = SectionFault(
                Code.NOT_A_DIFF,
                f"`{line.decode('utf-8', 'replace').strip()}`: a diff here edits text, it does not "
                "rename or copy. Delete the old file and add the new one in full.",
            )
        elif line.startswith((b"GIT binary patch", b"Binary files ")):
            draft.fault = SectionFault(
                Code.BINARY, "Binary content cannot be edited by a diff. Write the file whole."
            )

    def _nothing(self) -> SectionFault:
        for pattern, name in _OTHER_KINDS:
            if pattern.search(self.data):
                return _foreign_fault(name)
        return SectionFault(
            Code.NOT_A_DIFF,
            f"No unified diff was found in the text. {_HOW}\n{EXAMPLE}",
        )


def _take_mode(draft: _Draft, what: bytes, mode: bytes) -> None:
    if mode[:3] == b"120" or mode[:3] == b"160":
        draft.fault = SectionFault(
            Code.PATH_FORBIDDEN,
            "Symbolic links and submodules are not made by a diff. Write a regular file.",
        )
    elif what == b"deleted file mode":
        draft.deletes = True
    elif what == b"new file mode" and mode == b"100644":
        draft.creates = True
    else:
        draft.fault = SectionFault(
            Code.NOT_A_DIFF,
            "A diff here edits text; it does not set file modes. Leave the mode lines out.",
        )


def _stray_fault(number: int, line: bytes) -> SectionFault:
    return SectionFault(
        Code.NOT_A_DIFF,
        f"Line {number} of the diff is marked with {chr(line[0])}, but belongs to no hunk. Put @@ "
        "above the lines it stands with, and begin every unchanged line with a space.",
    )


def _foreign_fault(name: str) -> SectionFault:
    return SectionFault(
        Code.NOT_A_DIFF,
        f"{name}; a unified diff is wanted. {_HOW}\n{EXAMPLE}",
    )


def _section(draft: _Draft, *, is_last: bool) -> Section:
    old, new = draft.old, draft.new
    is_open = not (old or new) or (not (old and new) and NULL in (old, new))
    if is_open and draft.git and (names := git_names(draft.git)):
        old, new = old or names[0], new or names[1]
    creates = draft.creates or old == NULL
    deletes = draft.deletes or new == NULL
    before, after = candidates(old, new)
    paths = tuple(dict.fromkeys(after + before))
    hunks = draft.hunks
    fault = draft.fault
    if before and after and not set(before) & set(after):
        fault = fault or SectionFault(
            Code.NOT_A_DIFF,
            f"The header names two files, {before[0]} and {after[0]}. A diff here does not rename: "
            "name the same file twice, or /dev/null for a file that is added or deleted.",
        )
    if not hunks and not _is_whole(draft, creates=creates, deletes=deletes, is_last=is_last):
        fault = fault or SectionFault(
            Code.TRUNCATED, "The header is there, but its hunks are not. Send the diff whole."
        )
    return Section(paths, tuple(hunks), creates, deletes, fault, draft.index)


def _is_whole(draft: _Draft, *, creates: bool, deletes: bool, is_last: bool) -> bool:
    """Return whether a section without hunks is complete: it adds or deletes an empty file."""
    if draft.named or not draft.git or not git_names(draft.git):
        return False
    if creates:
        return draft.index.startswith(_EMPTY) or not (draft.index or is_last)
    return deletes


def header_name(rest: bytes) -> str:
    """Return the name after `--- ` or `+++ `, without quotes or timestamp."""
    rest = rest.strip(b" \r")
    if rest[:1] == b'"' and rest.count(b'"') > 1:
        rest = _unquote(rest[1 : rest.rindex(b'"')])
    elif b"\t" in rest or b" " in rest:
        rest = _STAMP.sub(b"", rest.split(b"\t")[0]).rstrip()
    return rest.decode("utf-8", "surrogateescape")


def git_names(rest: bytes) -> tuple[str, str] | None:
    """Return both names after `diff --git `, if they are one name with two prefixes."""
    rest = rest.strip(b" \r")
    if rest[:1] == b'"':
        rest = b" ".join(_unquote(part) for part in re.findall(rb'"((?:[^"\\]|\\.)*)"', rest))
    half = len(rest) // 2
    old = rest[:half].decode("utf-8", "surrogateescape")
    new = rest[half + 1 :].decode("utf-8", "surrogateescape")
    return (old, new) if rest[half : half + 1] == b" " and old[1:] == new[1:] else None


def candidates(old: str, new: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the possible names of the old and the new file, likeliest first; may be empty."""
    if old.startswith("a/") and new.startswith("b/"):
        return (_tidy(old[2:]),), (_tidy(new[2:]),)
    before, after = _PREFIX.match(old), _PREFIX.match(new)
    if before and after and before[1] + after[1] in _PAIRS:
        return (_tidy(old[before.end() :]),), (_tidy(new[after.end() :]),)
    if old == NULL and new.startswith("b/"):
        return (), (_tidy(new[2:]),)
    if new == NULL and old.startswith("a/"):
        return (_tidy(old[2:]),), ()
    return _readings(old), _readings(new)


def _readings(name: str) -> tuple[str, ...]:
    if not name or name == NULL:
        return ()
    match = _PREFIX.match(name)
    whole = _tidy(name)
    return (_tidy(name[match.end() :]), whole) if match and match[1] in "ab" else (whole,)


def _tidy(name: str) -> str:
    if "//" not in name and "./" not in name:
        return name
    root = "/" if name.startswith("/") else ""
    return root + "/".join(part for part in name.split("/") if part not in ("", "."))


def _unquote(quoted: bytes) -> bytes:
    def plain(match: re.Match[bytes]) -> bytes:
        code = match[1]
        return bytes([int(code, 8) if len(code) == 3 else _ESCAPES.get(code[0], code[0])])

    return _OCTAL.sub(plain, quoted)
