"""A conflict: two quotes, both found in their sources, that no change can satisfy together.

The driver quotes; Flyball looks the quotes up and keeps what it found there, so that a person reads
the file itself and not the driver's account of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from textwrap import dedent
from typing import NamedTuple

import msgspec

from flyball.regex import regex
from flyball.terms.test_paths import is_test_path

REQUEST = "the request"
"""The place of a quote from what the person asked for."""
LONGEST_QUOTE = 300
FEW_WORDS = 8
"""An answer of more words than these says more than which side to follow."""
NEAR = 12
"""How many lines from the named one a quote in other words may draw on."""

_PLACE = regex(r"(?P<path>.+?)(?::(?P<line>\d+)(?:-\d+)?)?")
_REQUESTS = frozenset({"request", "the request", "task", "the task", "prompt", "the prompt"})
_WORD = regex(r"[\w-]*\.[\w.-]+|[A-Z]\w*file\b")
_NEXT_PLACE = regex(r"\s*(?:[,;\n]|\s(?:and|vs\.?|versus)\s)\s*")
_REFUSES = regex(r"\b(?:no|not|never|neither|but|except|instead|unless)\b|n't\b|[?]")
_MARKS = "`'\"“”‘’«» \t\n"
_SIGN = regex(r"\"[^\"]+\"|'[^']+'|`[^`]+`|-?\d+(?:\.\d+)*|[A-Za-z]\w*[_.]\w[\w.]*|[a-z]+[A-Z]\w*")
"""What of a quote in other words must occur literally: values, quoted texts, names of code."""


class Choice(StrEnum):
    """A person's answer to a conflict."""

    SAYS = "says"
    """Follow the first quote."""
    BUT = "but"
    """Follow the second one."""
    TASK = "task"
    """Do something else, in the person's words."""


class Place(NamedTuple):
    """The place of a quote: the request, or a file and optionally a line."""

    path: str
    line: int = 0

    @property
    def is_request(self) -> bool:
        return self.path == REQUEST

    @property
    def words(self) -> str:
        return f"{self.path}:{self.line}" if self.line else self.path


class Source(NamedTuple):
    """A place and its text."""

    place: Place
    text: str
    is_observed: bool = False
    """Whether it is the output of a run."""

    @property
    def is_file(self) -> bool:
        return not (self.place.is_request or self.is_observed)


class Quote(msgspec.Struct, frozen=True, omit_defaults=True):
    """One side of a conflict: the place, the text found there, and the driver's wording."""

    place: str
    text: str
    said: str = ""
    """The driver's words, where they are not the text itself."""
    is_observed: bool = False
    """Whether it is the output of a run, which is no side to follow."""


class ConflictReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """Two quotes that contradict each other, and the command that shows it, if there is one."""

    says: Quote
    but: Quote
    reproduce: str = ""
    exit_code: int = 0
    output: str = ""
    """The end of what the command printed."""

    @property
    def question(self) -> str:
        """Return the question to a person, with both quotes."""
        lines = ["The task cannot be done as asked:"]
        width = max(len(each.place) for each in (self.says, self.but))
        for word, each in (("", self.says), ("but", self.but)):
            first, *more = each.text.splitlines() or [""]
            lines.append(f"  {word:3} {each.place:{width}}  {first}")
            lines += [f"  {'':3} {'':{width}}  {line}" for line in more]
        if self.reproduce:
            lines.append(f"`{self.reproduce}` shows it: exit {self.exit_code}.")
        labels = [label for _, label in choices(self)]
        asked = f"{', '.join(labels[:-1])} or {labels[-1]}?"
        lines.append(f"{asked[0].upper()}{asked[1:]}")
        return "\n".join(lines)

    def side(self, choice: Choice) -> Quote:
        """Return the quote to follow."""
        return self.says if choice is Choice.SAYS else self.but


def choices(conflict: ConflictReport) -> tuple[tuple[Choice, str], ...]:
    """Return the possible answers of a person, with their words: "follow the request"."""
    sides = (Choice.SAYS, conflict.says), (Choice.BUT, conflict.but)
    found = [(choice, f"follow {_name(side, conflict)}") for choice, side in sides if _can_be(side)]
    return (*found, (Choice.TASK, "change the task"))


def read_choice(conflict: ConflictReport, text: str) -> Choice | None:
    """Return the side that a person's words name; None if they name neither."""
    plain = " ".join(text.strip().strip(".!").lower().split())
    said = plain.removeprefix("follow ").removeprefix("the ")
    for number, (choice, label) in enumerate(choices(conflict), 1):
        if choice is Choice.TASK:
            continue
        bare = label.removeprefix("follow ").lower()
        order = "first" if choice is Choice.SAYS else "second"
        names = {str(number), choice.value, order, f"{order} one", bare.removeprefix("the ")}
        if said in names or said == conflict.side(choice).place.lower():
            return choice
    named = [choice for choice, label in choices(conflict) if label.lower() in plain]
    is_short = len(plain.split()) <= FEW_WORDS and not _REFUSES.search(plain)
    return named[0] if len(named) == 1 and is_short and named[0] is not Choice.TASK else None


def decision(conflict: ConflictReport, choice: Choice, note: str) -> str:
    """Return a person's decision in the form in which it is added to the request.

    It names places and never quotes them: the text of a file is data, and the request is trusted.
    """
    if choice is Choice.TASK:
        return f"The task was changed: {note.strip()}"
    side = conflict.side(choice)
    other = conflict.side(Choice.BUT if choice is Choice.SAYS else Choice.SAYS)
    what = f"Decided: where {conflict.says.place} and {conflict.but.place} contradict each other, "
    what += f"follow {side.place}."
    if other.place == REQUEST:
        return f"{what} What the request says otherwise does not count."
    return what if other.is_observed else f"{what} Change {other.place} to agree with it."


def overruled(conflict: ConflictReport, choice: Choice) -> tuple[str, ...]:
    """Return the files, or the request, that no longer have to hold as they are."""
    sides = [(Choice.SAYS, conflict.says), (Choice.BUT, conflict.but)]
    lost = [side for each, side in sides if each is not choice and not side.is_observed]
    return tuple([side.place.partition(":")[0] for side in lost])


def _can_be(side: Quote) -> bool:
    return not side.is_observed


def _name(side: Quote, conflict: ConflictReport) -> str:
    """Return a short name for one side: the request, or the test if it is the only one."""
    if side.place == REQUEST:
        return REQUEST
    files = [each for each in (conflict.says, conflict.but) if _is_in_test(each)]
    return "the test" if files == [side] else side.place


def _is_in_test(side: Quote) -> bool:
    return is_test_path(side.place.partition(":")[0])


def read_places(where: str) -> tuple[Place, ...]:
    """Return the places that `where` names: for the first quote, and optionally for the second."""
    return tuple([_place(each) for each in _NEXT_PLACE.split(where.strip()) if each.strip()])


def _place(text: str) -> Place:
    plain = text.strip().strip("`'\"")
    if plain.lower() in _REQUESTS:
        return Place(REQUEST)
    found = _PLACE.fullmatch(plain)
    assert found is not None, "any text is a path"
    return Place(found["path"].removeprefix("./"), int(found["line"] or 0))


def find_quote(quote: str, sources: Sequence[Source]) -> Quote | None:
    """Return a quote as it occurs in the first source that has it.

    An exact quote counts anywhere in a source. In a paraphrase ("test_x expects 5") each value and
    each name of code must occur near the named place.
    """
    for literal in (True, False):
        for source in sources:
            lines = _literally(quote, source) if literal else _in_other_words(quote, source)
            if lines is not None:
                return _quoted(quote, source, lines)
    return None


def names_conflict(quotes: Iterable[Quote], failures: str, output: str) -> bool:
    """Return whether failures name the file of a quote, or all that was printed has its text."""
    plain, named = _plain_line(f"{failures}\n{output}"), file_names([failures])
    return any(
        _plain(each.text) in plain or named & file_names([each.place])
        for each in quotes
        if each.place != REQUEST
    )


def file_names(texts: Iterable[str]) -> set[str]:
    """Return all words that could be the name of a file, without its directory."""
    return {found.strip(".") for text in texts for found in _WORD.findall(text)}


def _quoted(quote: str, source: Source, lines: range) -> Quote:
    found = source.text.splitlines()[lines.start : lines.stop]
    text = dedent("\n".join(found))[:LONGEST_QUOTE].strip()
    if source.place.is_request:
        text = _sentence(quote, source.text)
    at = Place(source.place.path, lines.start + 1 if source.is_file else 0)
    said = "" if _plain(quote) in _plain(text) else quote.strip()[:LONGEST_QUOTE]
    return Quote(at.words, text, said, source.is_observed)


def _sentence(quote: str, text: str) -> str:
    """Return the part of a request around a quote, which may be one long line."""
    if len(text) <= LONGEST_QUOTE:
        return text
    at = text.lower().find(quote.strip(_MARKS).lower()[:LONGEST_QUOTE])
    if at < 0:
        sign = next(_signs(quote), "")
        at = max(text.find(sign), 0)
    start = max(text.rfind(" ", 0, max(at - LONGEST_QUOTE // 3, 0)), 0)
    return f"{'…' if start else ''}{text[start : start + LONGEST_QUOTE].strip()}…"


def _literally(quote: str, source: Source) -> range | None:
    """Return the lines that contain an exact quote, nearest to the named line."""
    wanted = _plain(quote)
    if not wanted:
        return None
    lines = [_plain_line(line) for line in source.text.splitlines()]
    most = quote.strip().count("\n") + 1
    found = [
        range(n, n + count)
        for n in range(len(lines))
        for count in {1, 2, most}
        if wanted in " ".join(filter(None, lines[n : n + count])).strip(_MARKS)
        and (count == 1 or lines[n])
    ]
    if not found:
        return _across(wanted, lines)
    return min(found, key=lambda each: (len(each), abs(each.start + 1 - source.place.line)))


def _across(wanted: str, lines: Sequence[str]) -> range | None:
    """Return all lines of a short text that contains a quote with other line breaks."""
    whole = " ".join(filter(None, lines))
    return range(len(lines)) if wanted in whole and len(whole) <= 2 * LONGEST_QUOTE else None


def _in_other_words(quote: str, source: Source) -> range | None:
    signs = [*_signs(quote)]
    if not signs:
        return None
    lines, at = source.text.splitlines(), source.place.line
    first = max(at - 1 - NEAR, 0) if at else 0
    last = min(at + NEAR, len(lines)) if at else len(lines)
    near = [n for n in range(first, last) if any(_holds(lines[n], sign) for sign in signs)]
    if not all(any(_holds(lines[n], sign) for n in near) for sign in signs):
        return None
    named = [n for n in near if _holds(lines[n], signs[-1])]
    best = min(named, key=lambda n: abs(n + 1 - at)) if named else near[0]
    return range(best, best + 1)


def _signs(quote: str) -> Iterator[str]:
    for found in _SIGN.finditer(quote):
        if sign := found[0].strip("`'\"").rstrip("."):
            yield sign


def _holds(line: str, sign: str) -> bool:
    start = r"(?<![\w.])" if sign[0].isalnum() else ""
    end = r"(?!\w|\.\d)" if sign[-1].isalnum() else ""
    return re.search(f"{start}{re.escape(sign)}{end}", line) is not None


def _plain(text: str) -> str:
    return _plain_line(text).strip(_MARKS).rstrip(".")


def _plain_line(text: str) -> str:
    return " ".join(text.split()).lower()
