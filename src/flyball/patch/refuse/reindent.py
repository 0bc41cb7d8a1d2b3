"""Proposing a hunk again with the indentation of the file."""

from __future__ import annotations

from flyball.patch.lines.text import Text
from flyball.patch.read.hunk import ADD, CUT, Hunk


def reindent(path: str, hunk: Hunk, text: Text, at: int) -> str:
    """The hunk as a diff whose lines are indented as those of the file from `at` on."""
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
    """Each indentation the hunk writes, with the one the file has in its place."""
    pairs: dict[bytes, bytes] = {}
    for line, theirs in zip(hunk.old, text.lines[at:], strict=False):
        if line.strip():
            pairs.setdefault(_indent(line), _indent(theirs))
    return pairs


def _indent(line: bytes) -> bytes:
    return line[: len(line) - len(line.lstrip(b" \t"))]
