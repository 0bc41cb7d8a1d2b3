"""Add elements to a container in a text, and remove some; the rest stays byte for byte."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from flyball.hosts.install.jsonc import JsonNode, JsonPart, JsonText
from flyball.regex import regex

_BLANKS = regex(r"[ \t]*")
_SPACES = regex(r"[ \t\r\n]*")
_LINE_END = regex(r"[ \t]*\r?\n")


class Splice(NamedTuple):
    """The replacement of a range of a text."""

    start: int
    end: int
    text: str = ""


class Padding(NamedTuple):
    """The whitespace added before and after an element."""

    lead: str
    tail: str = ""


class Layout(NamedTuple):
    """The layout of a text: its line endings, its indentation, and whether it has several lines."""

    newline: str
    unit: str
    has_lines: bool


class Filling(NamedTuple):
    """A splice that adds elements to a container, and the padding of each."""

    splices: list[Splice]
    paddings: list[Padding]


def spliced(text: str, splices: Sequence[Splice]) -> str:
    """Return the text with every splice applied; they must not overlap."""
    pieces: list[str] = []
    at = 0
    for each in sorted(splices, key=lambda each: (each.start, each.end)):
        pieces += [text[at : each.start], each.text]
        at = each.end
    return "".join([*pieces, text[at:]])


def layout_of(doc: JsonText) -> Layout:
    """Return the text's layout; by default two spaces and plain line endings."""
    first = re.search(r"\r?\n", doc.text)
    newline = first[0] if first else "\n"
    parts = doc.root.parts if doc.root else ()
    unit = _indent_within(doc.text, parts[0].start) if parts else None
    return Layout(newline, unit or "  ", bool(first) or not parts)


def _indent_within(text: str, offset: int) -> str | None:
    """Return the blanks before an offset if nothing else precedes it on its line; None on the first
    line."""
    line = text.rfind("\n", 0, offset) + 1
    lead = text[line:offset]
    return lead if line and not lead.strip(" \t") else None


def _line_indent(text: str, offset: int) -> str:
    found = _BLANKS.match(text, text.rfind("\n", 0, offset) + 1)
    return found[0] if found else ""


class Slot:
    """The position in a container where elements can be added: after its last one."""

    def __init__(self, doc: JsonText, container: JsonNode, layout: Layout) -> None:
        self.doc, self.container, self.layout = doc, container, layout
        text, parts = doc.text, container.parts
        outer = _line_indent(text, container.start)
        self.indent: str | None = outer + layout.unit
        if parts:
            last = parts[-1].start
            if "\n" not in text[container.start : last]:
                self.indent = None
            else:
                own = _indent_within(text, last)
                self.indent = self.indent if own is None else own
        elif not layout.has_lines:
            self.indent = None
        self.outer = outer

    def fill(self, rendered: Sequence[str]) -> Filling:
        """Add elements, each given as text without padding."""
        return self._after_last(rendered) if self.container.parts else self._into_empty(rendered)

    def _after_last(self, rendered: Sequence[str]) -> Filling:
        last = self.container.parts[-1]
        gap = " " if self.indent is None else self.layout.newline + self.indent
        is_open = last.comma >= 0
        after = last.comma + 1 if is_open else last.end
        point = after if self.indent is None else _past_notes(self.doc, after)
        pieces = [gap + each for each in rendered]
        if is_open:
            added = [Splice(point, point, "".join(f"{each}," for each in pieces))]
        else:
            # The comma belongs to the preceding element, even before a comment.
            added = [Splice(after, after, ","), Splice(point, point, ",".join(pieces))]
        return Filling(added, [Padding(gap)] * len(rendered))

    def _into_empty(self, rendered: Sequence[str]) -> Filling:
        point = self.container.start + 1
        if self.indent is None:
            leads, tail = ["", *[" "] * (len(rendered) - 1)], ""
        else:
            leads = [self.layout.newline + self.indent] * len(rendered)
            has_end = _LINE_END.match(self.doc.text, point)
            tail = "" if has_end else self.layout.newline + self.outer
        pieces = [lead + each for lead, each in zip(leads, rendered, strict=True)]
        paddings = [Padding(lead) for lead in leads]
        paddings[-1] = Padding(leads[-1], tail)
        return Filling([Splice(point, point, ",".join(pieces) + tail)], paddings)


def _past_notes(doc: JsonText, after: int) -> int:
    """Return the end of the comments on the same line: they refer to what precedes them."""
    point = after
    for note in doc.comments(after):
        if doc.text[point : note.start].strip(" \t"):
            break
        point = note.end
    return point


def taken_out(
    doc: JsonText, container: JsonNode, paddings: Mapping[int, Padding | None], *, is_tidy: bool
) -> list[Splice]:
    """Return splices that remove elements by index, with their padding and redundant commas.

    Without known padding, an element is removed with the whitespace before it. An irregularly
    formatted text keeps that whitespace.
    """
    parts = container.parts
    kept = [part for n, part in enumerate(parts) if n not in paddings]
    is_bare = not kept and not any(doc.comments(container.start, container.end))
    cuts: list[Splice] = []
    for n, padding in paddings.items():
        part = parts[n]
        start = part.start - (_lead(doc.text, part, padding) if is_tidy else 0)
        end = part.end + (_tail(doc.text, part, padding, is_bare=is_bare) if is_tidy else 0)
        cuts.append(Splice(start, end))
        if part.comma >= 0:
            cuts.append(Splice(part.comma, part.comma + 1))
    is_end_gone = len(parts) - 1 in paddings
    if kept and is_end_gone and parts[-1].comma < 0:
        cuts.append(Splice(kept[-1].comma, kept[-1].comma + 1))
    return cuts


def _lead(text: str, part: JsonPart, padding: Padding | None) -> int:
    known = padding.lead if padding else ""
    if padding and text[: part.start].endswith(known):
        return len(known)
    return part.start - len(text[: part.start].rstrip(" \t\r\n"))


def _tail(text: str, part: JsonPart, padding: Padding | None, *, is_bare: bool) -> int:
    if padding:
        return len(padding.tail) if text.startswith(padding.tail, part.end) else 0
    spaces = _SPACES.match(text, part.end)
    return len(spaces[0]) if spaces and is_bare else 0


def rebuilt(node: JsonNode, gone: Mapping[int, Collection[int]]) -> object:
    """Return a node's value without these elements, keyed by the container's start."""
    without = gone.get(node.start, ())
    parts = [part for n, part in enumerate(node.parts) if n not in without]
    if isinstance(node.value, dict):
        return {part.key: rebuilt(part.node, gone) for part in parts}
    if isinstance(node.value, list):
        return [rebuilt(part.node, gone) for part in parts]
    return node.value
