"""Keep regions: marked blocks of a file that an edit must not change."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from flyball.regex import regex

WORD = b"VIBE-KEEP"
"""Without it in them, files have no keep regions."""
_MARKER = regex(rb"VIBE-KEEP[ \t]+(START|END)(?:[ \t]+([^\s*\->\"'`][^\s*>\"'`]*))?")
_OPENER = regex(
    rb"(?:#|//|/\*|<!--|--|;|%|\*|\(\*|\{#|\{-|\{\{!|!|\.\.|<%|\bREM\b|::)[!*\-#/;%\s]*$",
    re.IGNORECASE,
)
_QUOTES = regex(rb"\\.|([\"'`])")


class Region(NamedTuple):
    """One block, from its START to its END line, lines counted from 1."""

    name: str
    first: int
    last: int
    data: bytes


class Regions(NamedTuple):
    """The blocks of a file, and the errors in its markers."""

    found: tuple[Region, ...] = ()
    problems: tuple[str, ...] = ()


def regions(data: bytes) -> Regions:
    """Return every keep region of a file."""
    if WORD not in data:
        return Regions()
    lines = data.split(b"\n")
    open_at: list[tuple[str, int]] = []
    found: list[Region] = []
    problems: list[str] = []
    for index, line in enumerate(lines):
        for side, name in _markers(line):
            if side == b"START":
                if open_at:
                    outer = open_at[-1]
                    problems.append(
                        f"keep region '{name}' at line {index + 1} starts inside "
                        f"'{outer[0]}' (line {outer[1] + 1})"
                    )
                open_at.append((name, index))
                continue
            opened = next((o for o in reversed(open_at) if name in (o[0], "")), None)
            if opened is None:
                problems.append(f"keep region '{name}' ends at line {index + 1} without a START")
                continue
            open_at.remove(opened)
            block = b"\n".join(lines[opened[1] : index + 1])
            found.append(Region(opened[0], opened[1] + 1, index + 1, block))
    problems += [f"keep region '{name}' at line {at + 1} has no END" for name, at in open_at]
    problems += _repeated_names(found)
    return Regions(tuple(sorted(found, key=lambda r: r.first)), tuple(problems))


def changed_regions(before: Regions, after: Regions) -> list[Region]:
    """Return the regions of the old content that the new one no longer has, byte for byte."""
    # By name and content, not by place: a region may move with the lines around it.
    left = Counter((region.name, region.data) for region in after.found)
    lost: list[Region] = []
    for region in before.found:
        key = (region.name, region.data)
        if left[key]:
            left[key] -= 1
        else:
            lost.append(region)
    return lost


def _markers(line: bytes) -> list[tuple[bytes, str]]:
    if WORD not in line:
        return []
    return [
        (match[1], (match[2] or b"").rstrip(b"-*/").decode("utf-8", "replace"))
        for match in _MARKER.finditer(line)
        if _is_in_comment(line, match.start(), match.end())
    ]


def _is_in_comment(line: bytes, start: int, end: int) -> bool:
    """Return whether the marker follows the start of a comment, and is not inside a string."""
    before = line[:start]
    bare = before.strip()
    if bare in (b"", b"'", b'"', b"*"):
        return not bare or bare == b"*" or bare not in line[end:]
    opener = _OPENER.search(before)
    if opener is None:
        return False
    quote = b""
    for match in _QUOTES.finditer(before[: opener.start()]):
        if match[1] and not quote:
            quote = match[1]
        elif match[1] == quote:
            quote = b""
    return not quote or quote not in line[end:]


def _repeated_names(found: list[Region]) -> list[str]:
    names = Counter(region.name for region in found)
    return [f"keep region '{name}' occurs {n} times" for name, n in names.items() if n > 1]
