"""A git diff taken apart, so that it can be spoilt and put together again."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from bench.patch_cases import Case
from flyball.patch import unified_diff

Spoil = Callable[[Case, random.Random], Case | None]

_SPAN = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)")


@dataclass
class Piece:
    """One hunk: its numbers, what follows them, and its lines."""

    old: int
    olds: int
    new: int
    news: int
    heading: str
    body: list[str] = field(default_factory=list[str])
    header: str | None = None

    def lines(self) -> list[str]:
        """The hunk as lines of a diff."""
        span = f"@@ -{self.old},{self.olds} +{self.new},{self.news} @@{self.heading}"
        head = span if self.header is None else self.header
        return ([head] if head else []) + self.body


@dataclass
class Part:
    """One file's part: header lines and hunks."""

    head: list[str]
    pieces: list[Piece] = field(default_factory=list[Piece])

    @property
    def modifies(self) -> bool:
        """The file is there before and after."""
        return not any(line.startswith(("new file", "deleted file")) for line in self.head)


def take_apart(diff: str) -> list[Part]:
    """The parts of a diff as git writes it."""
    parts: list[Part] = []
    olds = news = 0
    for line in diff.split("\n")[:-1]:
        if olds > 0 or news > 0 or line.startswith("\\"):
            parts[-1].pieces[-1].body.append(line)
            olds -= line[:1] in " -"
            news -= line[:1] in " +"
        elif line.startswith("diff --git "):
            parts.append(Part([line]))
        elif match := _SPAN.match(line):
            old, old_count, new, new_count, heading = match.groups()
            olds, news = int(old_count or 1), int(new_count or 1)
            parts[-1].pieces.append(Piece(int(old), olds, int(new), news, heading))
        else:
            parts[-1].head.append(line)
    return parts


def put_together(parts: list[Part]) -> str:
    """The diff again."""
    lines: list[str] = []
    for part in parts:
        lines += part.head
        for piece in part.pieces:
            lines += piece.lines()
    return "".join(line + "\n" for line in lines)


def modified(case: Case) -> Case | None:
    """The case with only the files that it modifies."""
    paths = [p for p in case.before if p in case.after and case.before[p] != case.after[p]]
    parts = [p for p in take_apart(case.diff) if p.modifies and p.pieces]
    if not paths or len(parts) != len(paths):
        return None
    before = {p: case.before[p] for p in paths}
    return Case(case.name, before, put_together(parts), {p: case.after[p] for p in paths})


def one_file(case: Case, *, pieces: int = 1) -> Case | None:
    """The first modified file that has at least so many hunks, as a case of its own."""
    for part in take_apart(case.diff):
        if part.modifies and len(part.pieces) >= pieces:
            path = part.head[-1][6:].split("\t")[0]
            if path in case.before and path in case.after:
                diff = put_together([part])
                return Case(case.name, {path: case.before[path]}, diff, {path: case.after[path]})
    return None


def with_diff(case: Case, parts: list[Part]) -> Case:
    """The case with another diff."""
    return case._replace(diff=put_together(parts))


def rewritten(case: Case, change: Callable[[bytes], bytes]) -> Case | None:
    """The modified files of a case with other contents, and a diff made for them."""
    whole = modified(case)
    if whole is None:
        return None
    before = {path: change(data) for path, data in whole.before.items()}
    after = {path: change(data) for path, data in whole.after.items()}
    if any(before[path] == after[path] for path in before):
        return None
    diff = "".join(unified_diff(path, before[path], after[path]) for path in before)
    return Case(case.name, before, diff, after)


def all_pieces(parts: list[Part]) -> list[Piece]:
    """The hunks of all files."""
    return [piece for part in parts for piece in part.pieces]
