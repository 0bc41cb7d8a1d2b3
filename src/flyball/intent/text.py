"""Prepare the text of a request: limited in length, without pasted output, split into clauses."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from flyball.intent import lexicon

HEAD = 4_000
TAIL = 2_000
LONGEST_PHRASE = 6

SET_ASIDE = (
    ("{[", r"\{[^{}]{0,400}\}|\[[^\[\]]{0,200}\]", " . "),
    (
        '"“„«「',
        r"\"[^\"\n]{0,200}\"|“[^”\n]{0,200}”|„[^“”\n]{0,200}[“”]|«[^»\n]{0,200}»|「[^」\n]{0,200}」",
        " quote ",
    ),
    ("→>", r"(?<=\w) *(?:→|=>|->) *(?=\w)", " becomes "),
    ("`", r"`[^`\n]{0,200}`", " that "),
)

# The shapes by which lines that a machine wrote are told from those of a person.
TROUBLE_LINE = (
    r"^\s*(?:traceback \(most recent|file \"|at [\w$.<>]+ ?\("
    r"|caused by:|e {3}|npm err!|error(?:\[| ts|:)|fatal(?: error)?:"
    r"|panic:|goroutine \d|thread '|exception in thread|failed (?:tests?/"
    r"|test_|to compile)|[\w.]*(?:error|exception)(?::|\b.*:)"
    r"|segmentation fault|e(?:addr|conn|noent|acces|perm|pipe|timedout|notempty)\w*\b"
    r"|uncaught |error in \./"
    r"|module not found|get http\S+ \d{3}|\d{4}-\d\d-\d\d[ t]\d\d:\d\d.*(?:error"
    r"|fail)|note: run with|warning:|[\w./-]+\.\w+:\d+:\d+: )"
)
LOG_LINE = (
    r"^(?:\s*(?:\d{4}-\d\d-\d\d[ t]\d\d:\d\d|\d\d:\d\d:\d\d|\d+ failed, \d+ passed|.*\berr!"
    r"|\[(?:info|warn|warning|error|debug|trace)\]|[\w./-]+\.\w+:\d+|[\w./-]+\(\d+,\d+\)|[=-]+>"
    r"|.*git:\(|\d+ *\||\||\[[^\]]*\d\d:\d\d[^\]]*\]|\S*~\S* ?[$#%❯] |[✓✗✔✘❌⏭♻✨📊🔗⚠]|\^+|>"
    r"|#include|def \w+\(|assert |import \w+$|\$ )|(?:\t| {3,})\S)"
)
TROUBLE_SIGNS = (
    "error exception err! trace fatal panic goroutine thread failed fault uncaught found file"
)
TROUBLE_MARKS = "err warn fail exception fatal panic denied refused timeout ❌ ✗ ошибк"
PLAIN_WORD = r"[(\"'“«]*[^\W\d_]+(?:['/-][^\W\d_]+)*[)\"'”»,.;:!?…]*"
UNPARTED = (("\u3040", "\u30ff"), ("\u3400", "\u9fff"), ("\uac00", "\ud7af"))
"""Signs of scripts that do not part words; compiled as one class they would take milliseconds."""


class CleanedText(NamedTuple):
    """A request without pasted output, and whether that output reported a problem."""

    text: str
    has_trouble_paste: bool


class Shape(NamedTuple):
    """A pattern in a word list, and the texts that must occur for it to match."""

    needles: tuple[str, ...]
    pattern: str


class Lexicon(NamedTuple):
    """A prepared word list: phrases to look up, and patterns to match."""

    phrases: frozenset[str]
    shapes: tuple[Shape, ...]


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@cache
def _lexicon(alternation: str) -> Lexicon:
    """Prepare a word list: phrases are looked up, patterns compiled only for texts that might
    match.

    Compiling each list as one regular expression would take longer than the rest of the reading.
    """
    phrases: set[str] = set()
    others: list[Shape] = []
    for entry in _entries(alternation):
        if entry.replace(" ", "").replace("'", "").replace("-", "").isalnum():
            phrases.add(entry)
        else:
            others.append(Shape(_needles(entry), rf"(?<![\w-])(?:{entry})(?!\w)"))
    return Lexicon(frozenset(phrases), tuple(others))


def _entries(alternation: str) -> Iterator[str]:
    """Yield the alternatives of a word list, each of which may contain alternations."""
    pending = ""
    for piece in alternation.split("|"):
        if not pending and "(" not in piece:
            yield piece
            continue
        pending = f"{pending}|{piece}" if pending else piece
        if pending.count("(") == pending.count(")"):
            yield pending
            pending = ""


def _needles(shape: str) -> tuple[str, ...]:
    """Return literal beginnings, at least one of which occurs in every text of this shape."""
    shape = shape.removeprefix("^").removeprefix(".*")
    if not shape.startswith("(?:"):
        return (_beginning(shape),)
    ends = (n for n, sign in enumerate(shape) if sign == ")")
    end = next(n for n in ends if shape[:n].count("(") == shape[: n + 1].count(")"))
    if shape[end + 1 : end + 2] in ("?", "*"):
        return ("",)
    return tuple(map(_beginning, _entries(shape[3:end])))


def _beginning(shape: str) -> str:
    for n, sign in enumerate(shape):
        if not (sign.isalnum() or sign in " '-"):
            return shape[: n - 1] if n and sign in "?*+{" else shape[:n]
    return shape


def _fitting_patterns(known: Lexicon, text: str) -> Iterator[re.Pattern[str]]:
    for shape in known.shapes:
        if any(needle in text for needle in shape.needles):
            yield _compile(shape.pattern)


@lru_cache(maxsize=64)
def _phrases(text: str) -> frozenset[str]:
    """Return every run of up to six words in the text."""
    spans = [found.span() for found in _compile(r"\w+(?:['-]\w+)*").finditer(text)]
    runs: set[str] = set()
    for n, (start, _) in enumerate(spans):
        for m in range(n, min(n + LONGEST_PHRASE, len(spans))):
            if m > n and text[spans[m - 1][1] : spans[m][0]] != " ":
                break
            runs.add(text[start : spans[m][1]])
    return frozenset(runs)


@lru_cache(maxsize=64)
def _openings(text: str) -> tuple[str, ...]:
    """Return the first words of the text, the longest run first."""
    found: list[str] = []
    end = 0
    for word in _compile(r"\w+(?:['-]\w+)*").finditer(text):
        if len(found) == LONGEST_PHRASE or word.start() != (end + 1 if found else 0):
            break
        end = word.end()
        found.append(text[:end])
    return tuple(reversed(found))


def says(text: str, latin: str, cjk: str = "") -> bool:
    """Return whether any of these words occurs."""
    known = _lexicon(latin)
    if not known.phrases.isdisjoint(_phrases(text)):
        return True
    if any(pattern.search(text) for pattern in _fitting_patterns(known, text)):
        return True
    return contains(text, cjk)


def contains(text: str, cjk: str) -> bool:
    """Return whether any of these signs occurs, in a script that does not separate words."""
    return bool(cjk) and not text.isascii() and _compile(cjk).search(text) is not None


def opening_words(text: str, latin: str, cjk: str = "") -> str:
    """Return the longest phrase of this kind that the text begins with, or an empty string."""
    known = _lexicon(latin)
    best = next((run for run in _openings(text) if run in known.phrases), "")
    for pattern in _fitting_patterns(known, text):
        if found := pattern.match(text):
            best = max(best, found.group(), key=len)
    if not best and contains(text, cjk):
        found = _compile(cjk).search(text)
        return found.group() if found else ""
    return best


def says_only(text: str, *kinds: tuple[str, str]) -> bool:
    """Return whether the text consists only of phrases of these kinds."""
    rest = text
    while rest:
        said = max((opening_words(rest, latin, cjk) for latin, cjk in kinds), key=len)
        if not said or not rest.startswith(said):
            return False
        rest = rest[len(said) :].lstrip(" ,.!'\"()~-…👍")
    return bool(text)


def head_and_tail(text: str) -> str:
    """Return the beginning and the end of a text too long to be a request."""
    if len(text) <= HEAD + TAIL:
        return text
    return f"{text[:HEAD]}\n{text[-TAIL:]}"


def clean_text(text: str) -> CleanedText:
    """Return the text in normalised case and form, without code, traces, logs and quotations."""
    whole = head_and_tail(text).encode("utf-8", "replace").decode("utf-8")
    plain = unicodedata.normalize("NFKC", whole).casefold().replace("’", "'").replace("\r\n", "\n")
    told = False
    if "```" in plain:
        fence = _compile(r"(?s)```.*?(?:```|\Z)")
        told = any("error" in block or "exception" in block for block in fence.findall(plain))
        plain = fence.sub("\n", plain)
    if "\n" in plain or any(sign in plain for sign in TROUBLE_SIGNS.split()):
        plain, told_in_lines = _without_output(plain.split("\n"))
        told = told or told_in_lines
    for signs, pattern, instead in SET_ASIDE:
        if any(sign in plain for sign in signs):
            plain = _compile(pattern).sub(instead, plain)
    return CleanedText(plain.strip(), told)


def _without_output(lines: list[str]) -> tuple[str, bool]:
    """Return the lines that a person wrote, and whether the pasted output reported a problem."""
    written = [line for line in lines if line.strip()]
    if len(written) < 2:
        is_trouble = any(map(_tells_trouble, written))
        return ("" if is_trouble else "\n".join(lines)), is_trouble
    is_output = [_is_output(line) for line in written]
    for n in range(1, len(written) - 1):
        if is_output[n - 1] and is_output[n + 1] and not _is_spoken(written[n]):
            is_output[n] = True
    kept = [line for line, out in zip(written, is_output, strict=True) if not out]
    pasted = [line for line, out in zip(written, is_output, strict=True) if out]
    return "\n".join(kept), _is_trouble(pasted, kept)


def _is_trouble(pasted: list[str], kept: list[str]) -> bool:
    """Return whether pasted text reports a problem: it says so, or it has no comment."""
    signs = TROUBLE_MARKS.split()
    told = any(sign in line for line in pasted for sign in signs) or any(
        map(_tells_trouble, pasted)
    )
    return told or (bool(pasted) and not kept)


def _tells_trouble(line: str) -> bool:
    return bool(_compile(TROUBLE_LINE).search(line)) and not _ends_in_order(line)


def _is_output(line: str) -> bool:
    """Return whether a machine wrote a line: a trace, a log, code, or anything but words."""
    if _tells_trouble(line) or _compile(LOG_LINE).search(line) or "\t" in line.strip():
        return True
    if _is_unparted(line) or line.rstrip().endswith("?"):
        return False
    if line.rstrip().endswith((";", "{", "}")):
        return True
    said = _compile(r"^\s*(?:[-*•]|\d+[.)])\s").sub("", line).split()
    plain = sum(_compile(PLAIN_WORD).fullmatch(word) is not None for word in said)
    return 2 * plain < len(said)


def _is_unparted(line: str) -> bool:
    """Return whether a line holds characters of a script that does not separate words."""
    if line.isascii():
        return False
    return any(first <= sign <= last for sign in line for first, last in UNPARTED)


def _is_spoken(line: str) -> bool:
    """Return whether a line inside pasted output begins like a question or a request."""
    kinds = (lexicon.FIX, lexicon.INQUIRE, lexicon.QUESTION, lexicon.REQUEST)
    return line.rstrip().endswith("?") or any(opening_words(line.strip(), kind) for kind in kinds)


def _ends_in_order(line: str) -> bool:
    """Return whether an error on one line is followed by an order to handle it."""
    ends = r"\s(?:please|pls|can you|could you|-|->|→|,)\s|[.,;?]\s"
    *before, tail = _compile(ends).split(line)
    kinds = (lexicon.FIX, lexicon.BUILD, lexicon.QUESTION)
    return bool(before) and any(opening_words(tail.strip(), kind) for kind in kinds)


def _joins_clauses(before: str, after: str) -> bool:
    """Return whether an "and" joins two clauses rather than two words."""
    if opening_words(before, lexicon.QUESTION) or opening_words(before, lexicon.WISHED):
        return False
    is_noun = (
        re.match(rf"(?:{lexicon.NOUN_OR_VERB})\b(?! (?:{lexicon.OBJECT})\b)", after) is not None
    )
    kinds = (
        lexicon.GOES_ON,
        lexicon.FIX,
        lexicon.BUILD,
        lexicon.INQUIRE,
        lexicon.LOOK,
        lexicon.QUESTION,
    )
    return not is_noun and any(opening_words(after, kind) for kind in kinds)


def clauses(text: str) -> list[tuple[str, bool]]:
    """Return the clauses in order, each with whether it ends in a question mark."""
    found: list[tuple[str, bool]] = []
    start = 0
    for cut in _compile(lexicon.SEPARATOR).finditer(text):
        if cut.group().strip() in lexicon.JOINTS.split("|") and not _joins_clauses(
            text[start:].lstrip(), text[cut.end() :]
        ):
            continue
        found.append((text[start : cut.start()], "?" in cut.group()))
        start = cut.end()
    found.append((text[start:], False))
    stripped = ((piece.strip(" \t\n-*•\"'()#"), mark) for piece, mark in found)
    return [(" ".join(piece.split()), mark) for piece, mark in stripped if piece]
