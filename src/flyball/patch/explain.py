"""Turn a miss into a sentence that says what to change in the diff."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from flyball.patch.compare import compare
from flyball.patch.hunk import ADD, CUT, Hunk, placeholders
from flyball.patch.locate import Miss, has_numbers
from flyball.patch.result import Code, Refusal
from flyball.patch.text import Text
from flyball.regex import regex

_SHOWN = 5


def explain(path: str, hunk: Hunk, miss: Miss, text: Text) -> Refusal:
    """Return the refusal of one hunk."""
    if miss.code is Code.NO_MATCH:
        finding = diagnose(path, hunk, text)
    else:
        finding = HunkFinding(miss.code, _sentence(hunk, miss))
    return Refusal(
        code=finding.code,
        message=finding.sentence,
        path=path,
        hunk=hunk.number,
        lines=finding.lines or miss.lines,
        nearest=finding.nearest,
        proposal=finding.proposal,
    )


def _sentence(hunk: Hunk, miss: Miss) -> str:
    match miss.code:
        case Code.AMBIGUOUS:
            return (
                f"The text to replace occurs at lines {_list_lines(miss.lines)}. Include more of "
                "the unchanged lines around it, name the function it is in after @@, or state its "
                "line."
            )
        case Code.WEAK_CONTEXT:
            return _weak_sentence(hunk)
        case Code.ALREADY_APPLIED:
            return (
                f"The file already reads as this hunk wants (line {miss.lines[0]}). "
                "Leave the hunk out."
            )
        case Code.TRUNCATED:
            missing = max(hunk.missing)
            return (
                "The diff stops in the middle of it; its header promises "
                f"{missing} more line{'s' * (missing != 1)}. Send it whole."
            )
        case Code.PLACEHOLDER:
            return (
                f"{show(miss.what)} stands for code that is not written out. Write the real "
                "lines, or end the hunk before them and begin another with @@ after them."
            )
        case Code.OFFSET_EXCEEDED:
            return _offset_sentence(miss)
        case _:
            if miss.what:
                return f"It says the same as hunk {miss.lines[0]}. Use only one of them."
            return (
                f"It changes lines that hunk {miss.lines[0]} also changes or shows as unchanged. "
                "Write the two as one hunk."
            )


def _offset_sentence(miss: Miss) -> str:
    if miss.what:
        side = "above" if miss.what == b"top" else "below"
        return (
            f"By its line number and the missing unchanged lines {side} it belongs at the "
            f"{miss.what.decode()} of the file, but the text is at line {miss.lines[0]}. Correct "
            f"the @@ header's line number, or show three unchanged lines {side} the change."
        )
    lines = f"{abs(miss.offset)} line{'s' * (abs(miss.offset) != 1)}"
    return (
        f"The text is at line {miss.lines[0]}, {lines} from where the @@ header says. Correct "
        "the header's line number, or allow a larger max_offset."
    )


def _weak_sentence(hunk: Hunk) -> str:
    if not hunk.old:
        return (
            "It adds lines without a location. Put two or three unchanged lines of the file "
            "before and after them."
        )
    return (
        "Its unchanged and removed lines have too few letters and digits to identify the place. "
        "Include neighbouring lines that do."
    )


def _list_lines(lines: tuple[int, ...]) -> str:
    more = f" and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
    return ", ".join(map(str, lines[:_SHOWN])) + more


# Why a hunk's lines are nowhere in the file: the nearest place and the likeliest mistake.
#
# Nothing here decides where an edit goes; it only gives whoever wrote the diff a hint.

_LONGEST = 12
_AROUND = 2
_COMPARED = 5_000
"""In a longer file only exact lines are used to find the place."""
_WORD = regex(rb"\w+")
_ENTITY = regex(rb"&(lt|gt|amp|quot|apos|nbsp|#0*39|#x0*27|#0*34|#x0*22);", re.IGNORECASE)
_MEANT = {b"lt": b"<", b"gt": b">", b"amp": b"&", b"quot": b'"', b"nbsp": b" "}
_TYPOGRAPHY = str.maketrans(
    {"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\u00a0": " ", "…": "..."}
)


class HunkFinding(NamedTuple):
    """A problem with a hunk, in words, and the affected position in the file."""

    code: Code
    sentence: str
    lines: tuple[int, ...] = ()
    nearest: str = ""
    proposal: str = ""


def diagnose(path: str, hunk: Hunk, text: Text) -> HunkFinding:
    """Return the first explanation that fits."""
    look = _Look(path, hunk, text)
    return (
        look.dots()
        or look.cut()
        or look.numbers()
        or look.typography()
        or look.indentation()
        or look.gap()
        or look.extra()
        or look.nearest()
    )


class _Look(NamedTuple):
    """A hunk and the file it was written for."""

    path: str
    hunk: Hunk
    text: Text

    def dots(self) -> HunkFinding | None:
        for line in placeholders(self.hunk, only_dots=True):
            return HunkFinding(
                Code.PLACEHOLDER,
                f"{show(line)} stands for lines that are not written out. End the hunk before them "
                "and begin another with @@ after them.",
            )
        return None

    def cut(self) -> HunkFinding | None:
        """Report a diff that ends inside its last context or removed line."""
        old = [line.rstrip() for line in self.hunk.old]
        stops = self.hunk.is_cut or (self.hunk.is_last and max(self.hunk.missing) > 0)
        if not (stops and self.hunk.marks[-1] != ADD and len(old) > 1):
            return None
        for at in self.text.find_loose(old[:-1]):
            end = at + len(old) - 1
            there = self.text.loose[end] if end < len(self.text.lines) else b""
            if there != old[-1] and there.startswith(old[-1]):
                return HunkFinding(
                    Code.TRUNCATED,
                    f"The diff stops inside {show(self.text.lines[end])} (line {end + 1}). "
                    "Send it whole.",
                    (end + 1,),
                )
        return None

    def numbers(self) -> HunkFinding | None:
        old = [line for line in self.hunk.old if line.strip()]
        if not has_numbers(old, step=len(self.hunk.marks)):
            return None
        return HunkFinding(
            Code.NO_MATCH,
            "Its lines begin with line numbers, which are not in the file. Take the numbers out.",
        )

    def typography(self) -> HunkFinding | None:
        if [_plain_characters(line) for line in self.hunk.old] == [
            line.rstrip() for line in self.hunk.old
        ]:
            return None
        at = _find_normalised(self.text, self.hunk, _plain_characters)
        if at is None:
            return None
        return HunkFinding(
            Code.NO_MATCH,
            f"The text is at line {at + 1}, but the hunk has typographic quotes or HTML entities "
            "where the file has plain characters. Copy the lines as the file has them.",
            (at + 1,),
            _contrast(self.hunk, self.text, at),
        )

    def indentation(self) -> HunkFinding | None:
        at = _find_normalised(self.text, self.hunk, bytes.strip)
        if at is None:
            return None
        return HunkFinding(
            Code.NO_MATCH,
            f"The text is at line {at + 1}, but with other indentation. Resend the hunk with the "
            "file's own indentation; a re-indented version is proposed.",
            (at + 1,),
            _contrast(self.hunk, self.text, at),
            reindent(self.path, self.hunk, self.text, at),
        )

    def gap(self) -> HunkFinding | None:
        """Report a hunk whose lines all occur, but with other lines in between."""
        old = [line.rstrip() for line in self.hunk.old]
        size, starts = _longest_start(self.text, old)
        if not size or size == len(old):
            return None
        rest = self.text.find_loose(old[size:])
        pairs = [(s, r) for s in starts for r in rest if r > s + size]
        if not pairs:
            return None
        start, after = min(pairs, key=lambda pair: pair[1] - pair[0])
        first, last = start + size + 1, after
        lines = f"line {first}" if first == last else f"lines {first} to {last}"
        return HunkFinding(
            Code.NO_MATCH,
            f"The file has {lines} between {show(old[size - 1])} and {show(old[size])}, which the "
            "hunk leaves out. Write them as context, or begin a new hunk with @@ there.",
            (first, last),
        )

    def extra(self) -> HunkFinding | None:
        """Report a hunk whose lines all occur, except for some that the file does not have."""
        old = [line.rstrip() for line in self.hunk.old]
        size, starts = _longest_start(self.text, old)
        # More lines must be there than are missing, or the place is a chance likeness.
        for extra in range(1, min(len(old) - size, _LONGEST, (len(old) + 1) // 2)):
            for start in starts or self.text.find_loose(old[extra:]):
                rest = old[size + extra :]
                at = start + size
                if self.text.loose[at : at + len(rest)] == rest:
                    line = show(old[size])
                    return HunkFinding(
                        Code.NO_MATCH,
                        f"{line} is not in the file at line {at + 1}. If it is to be added, put + "
                        "in front of it; otherwise copy the line that is there.",
                        (at + 1,),
                        _real_lines(self.text, start, len(old)),
                    )
        return None

    def nearest(self) -> HunkFinding:
        votes: Counter[int] = Counter()
        for index, line in enumerate(self.hunk.old):
            places = self.text.loose_places.get(line.rstrip(), ())
            for place in places if line.strip() and len(places) < _LONGEST else ():
                votes[place - index] += _LIKE
        _add_likeness(votes, self.hunk, self.text)
        if not votes:
            return HunkFinding(
                Code.NO_MATCH,
                "None of its unchanged or removed lines is in the file. Read the file again and "
                "copy the lines from it.",
            )
        at = max(0, min(votes, key=lambda start: (-votes[start], start)))
        return HunkFinding(
            Code.NO_MATCH,
            f"Its unchanged and removed lines differ from the file near line {at + 1}. Copy them "
            "exactly as they are there:",
            (at + 1,),
            _real_lines(self.text, at, len(self.hunk.old)),
        )


_LIKE = 4
"""The weight of an exact line; a similar one counts half."""


def _add_likeness(votes: Counter[int], hunk: Hunk, text: Text) -> None:
    """Add votes of lines that are at least half alike; this only chooses which lines to show."""
    if len(text.lines) > _COMPARED:
        return
    there = [frozenset(_WORD.findall(line)) for line in text.lines]
    for index, line in enumerate(hunk.old[:_LONGEST]):
        words = frozenset(_WORD.findall(line))
        for place, others in enumerate(there):
            shared = len(words & others)
            if shared * 2 > len(words | others) and text.lines[place].strip() != line.strip():
                votes[place - index] += _LIKE * shared // len(words | others)


def _real_lines(text: Text, at: int, size: int) -> str:
    """Return the file's lines there, with their numbers."""
    first = max(0, at - _AROUND)
    last = min(len(text.lines), at + size + _AROUND, first + _LONGEST + _AROUND)
    return "\n".join(f"{n + 1:>6}\t{_text(text.loose[n])}" for n in range(first, last))


def _find_normalised(text: Text, hunk: Hunk, norm: Callable[[bytes], bytes]) -> int | None:
    """Return the only place where the hunk's lines match after normalisation."""
    plain = Text(b"")
    plain.lines = [norm(line) for line in text.lines]
    old = [norm(line) for line in hunk.old]
    places = plain.find(old) if old and any(old) else []
    return places[0] if len(places) == 1 else None


def _plain_characters(line: bytes) -> bytes:
    """Return the line with plain quotes, dashes and spaces, and without HTML entities."""
    decoded = line.decode("utf-8", "surrogateescape").translate(_TYPOGRAPHY)
    plain = _ENTITY.sub(_character, decoded.encode("utf-8", "surrogateescape"))
    return plain.rstrip()


def _character(entity: re.Match[bytes]) -> bytes:
    name = entity[1].lower()
    return _MEANT.get(name, b'"' if name.endswith((b"34", b"22")) else b"'")


def _longest_start(text: Text, old: list[bytes]) -> tuple[int, list[int]]:
    """Return how many of the first lines occur together somewhere, and where."""
    loose = text.loose
    starts = list(text.loose_places.get(old[0], ())) if old else []
    size = 1 if starts else 0
    while starts and size < len(old):
        ahead = [s for s in starts if s + size < len(loose) and loose[s + size] == old[size]]
        if not ahead:
            break
        starts, size = ahead, size + 1
    return size, starts


def _contrast(hunk: Hunk, text: Text, at: int) -> str:
    """Contrast what the hunk expects (-) with what the file has (+), in a few lines."""
    wanted = [line.rstrip() for line in hunk.old]
    there = text.loose[at : at + len(wanted)]
    shown: list[str] = []
    done = 0
    for run in compare(wanted, there):
        shown += [f"  {_text(line)}" for line in wanted[max(done, run.old_at - 2) : run.old_at]]
        shown += [f"- {_text(line)}" for line in wanted[run.old_at : run.old_end]]
        shown += [f"+ {_text(line)}" for line in there[run.new_at : run.new_end]]
        done = run.old_end
    return "\n".join(shown[:_LONGEST])


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace")


def show(line: bytes) -> str:
    """Return a line in the form in which a sentence quotes it."""
    plain = _text(line.strip())
    if not plain:
        return "an empty line"
    return f"`{plain[:77]}...`" if len(plain) > 80 else f"`{plain}`"


def reindent(path: str, hunk: Hunk, text: Text, at: int) -> str:
    """Return the hunk as a diff with the indentation of the file's lines from `at` on."""
    body: list[bytes] = []
    place, wrote, reads = at, b"", b""
    known = _pairs(hunk, text, at)
    for mark, line in zip(hunk.marks, hunk.texts, strict=True):
        indent, rest = _indent(line), line.lstrip(b" \t")
        if mark != ADD:
            theirs = text.lines[place]
            place += 1
            if theirs.strip():
                wrote, reads = indent, _indent(theirs)
                known[wrote] = reads
            body.append((b"-" if mark == CUT else b" ") + theirs.rstrip(b"\r"))
        elif not rest.strip():
            body.append(b"+")
        else:
            body.append(b"+" + known.get(indent, reads + indent.removeprefix(wrote)) + rest)
    olds, news = len(hunk.old), len(hunk.new)
    head = f"--- a/{path}\n+++ b/{path}\n@@ -{at + 1},{olds} +{at + 1},{news} @@\n"
    return head + b"\n".join(body).decode("utf-8", "replace") + "\n"


def _pairs(hunk: Hunk, text: Text, at: int) -> dict[bytes, bytes]:
    """Return each indentation of the hunk with the corresponding one of the file."""
    pairs: dict[bytes, bytes] = {}
    for line, theirs in zip(hunk.old, text.lines[at:], strict=False):
        if line.strip():
            pairs.setdefault(_indent(line), _indent(theirs))
    return pairs


def _indent(line: bytes) -> bytes:
    return line[: len(line) - len(line.lstrip(b" \t"))]
