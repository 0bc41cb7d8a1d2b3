"""A candidate: a small change that might be the right one."""

from __future__ import annotations

import difflib
from typing import NamedTuple

from flyball.tools.repair.inside.hot_swap import Edit


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
    """The lines of a text with their ends; only `\\n` ends one."""
    *whole, last = data.decode("utf-8").split("\n")
    return [f"{line}\n" for line in whole] + ([last] if last else [])


def common_prefix(a: bytes, b: bytes) -> int:
    """How many bytes two texts begin with in common."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
