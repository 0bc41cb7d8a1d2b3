"""A candidate: a small change that might be the right one."""

from __future__ import annotations

import difflib
from typing import NamedTuple

from flyball.tools.inside.swapping import Edit, edited


class Draft(NamedTuple):
    """What a template proposes at one place; `weight` is against its own other proposals."""

    label: str
    edits: tuple[Edit, ...]
    weight: float = 1.0


class Candidate(NamedTuple):
    """A change, where it is, what made it, and how likely it seemed beforehand."""

    path: str
    line: int
    template: str
    label: str
    edits: tuple[Edit, ...]
    chance: float


def diff_of(path: str, before: bytes, after: bytes) -> str:
    """A unified diff from one content of a file to another."""
    lines = difflib.unified_diff(_lines(before), _lines(after), f"a/{path}", f"b/{path}")
    said: list[str] = []
    for line in lines:
        said.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(said)


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8").split("\n") and [
        each + "\n" for each in data.decode("utf-8").split("\n")[:-1]
    ] + ([last] if (last := data.decode("utf-8").split("\n")[-1]) else [])


def size(candidate: Candidate, data: bytes) -> int:
    """How much text a candidate changes."""
    after = edited(data, candidate.edits)
    matcher = difflib.SequenceMatcher(None, data, after, autojunk=False)
    return sum(
        max(i2 - i1, j2 - j1) for tag, i1, i2, j1, j2 in matcher.get_opcodes() if tag != "equal"
    )
