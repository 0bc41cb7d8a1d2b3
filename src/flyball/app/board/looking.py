"""Serve a project's files to a page: a file or part of it, the tree, and a search."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from flyball.app.project import Home, redactor_of
from flyball.errors import NotFound, OutsideWorkspace, ToolError, UsageError
from flyball.tools.call.ripgrep import counts, files_below, lines
from flyball.workspace.files.paths import PathKind, Root
from flyball.workspace.run.opening import find_workspace

MAX_BYTES = 2_000_000
MOST_LINES = 5_000
MOST_FILES = 5_000
LONGEST = 400


class Looked(NamedTuple):
    """A directory to read, and the environment of the search program."""

    root: Root
    env: Mapping[str, str]


class Lines(NamedTuple):
    """A range of lines: from the start, from the end, or between two numbers from 1."""

    head: int = 0
    tail: int = 0
    first: int = 0
    last: int = 0


def look_into(home: Home, run: str = "") -> Looked:
    """Return the project's own directory, or the workspace of one of its runs."""
    place = home.repo
    if run:
        facts = find_workspace(run, home.state)
        if facts is None or not Path(facts.root).is_dir():
            raise NotFound("workspace of run", run, "The run never started, or it was pruned.")
        place = Path(facts.root)
    return Looked(Root(place), {"PATH": home.environ.get("PATH", os.defpath)})


def read_lines(home: Home, looked: Looked, path: str, wanted: Lines) -> dict[str, Any]:
    """Return a file as lines of text, with known secrets redacted."""
    _require_readable(looked.root, path)
    data = looked.root.read_bytes(path, MAX_BYTES + 1)
    if b"\0" in data[:8_000]:
        return {"path": path, "binary": True, "lines": [], "first": 1, "total": 0}
    text = redactor_of(home).text(data[:MAX_BYTES].decode("utf-8", "replace"))
    found = text.split("\n")
    if found[-1] == "":
        found.pop()
    at, end = _span(wanted, len(found))
    end = min(end, at + MOST_LINES)
    return {
        "path": path,
        "binary": False,
        "lines": found[at:end],
        "first": at + 1,
        "total": len(found),
        "cut": len(data) > MAX_BYTES or end < len(found),
    }


def _span(wanted: Lines, total: int) -> tuple[int, int]:
    given = [bool(wanted.head), bool(wanted.tail), bool(wanted.first or wanted.last)]
    if sum(given) > 1:
        raise UsageError("`head`, `tail` and a range cannot be combined.", "Give one of them.")
    if wanted.head:
        return 0, wanted.head
    if wanted.tail:
        return max(total - wanted.tail, 0), total
    return max(wanted.first - 1, 0), wanted.last or total


def _require_readable(root: Root, path: str) -> None:
    fact = root.fact(path, write=False)
    if not fact.inside or fact.path == ".git" or fact.path.startswith(".git/"):
        raise OutsideWorkspace(path, "It is outside the project.", "Name a file of the project.")
    if fact.kind is PathKind.MISSING:
        raise NotFound("file", path, "`GET /api/tree` lists the files.")
    if fact.kind is not PathKind.FILE:
        raise UsageError(f"{path} is not a file.", "`GET /api/tree` lists the files.")


def files_of(looked: Looked, path: str) -> dict[str, Any]:
    """Return the files below a directory that are not ignored."""
    fact = looked.root.fact(path, write=False)
    if not fact.inside:
        raise OutsideWorkspace(path, "It is outside the project.", "Name a directory of it.")
    if fact.kind is not PathKind.DIR:
        raise NotFound("directory", path, "`GET /api/tree` lists the files.")
    found = files_below(looked, fact.path)
    return {"path": path, "files": found[:MOST_FILES], "total": len(found)}


def search_in(
    home: Home, looked: Looked, q: str, *, is_regex: bool = False, most: int = 200
) -> dict[str, Any]:
    """Return the lines that match a text, with file and line; an invalid expression is an error."""
    if not q.strip() or "\n" in q or "\0" in q:
        raise UsageError("The search is empty or has more than one line.", "Set `q` to some words.")
    option = ["--smart-case", f"--regexp={q}"] + ([] if is_regex else ["--fixed-strings"])
    found, problem = counts(looked, option, ".")
    if problem:
        raise ToolError(f"The search failed: {problem}", "Search for plain text.")
    clean = redactor_of(home).text
    shown: list[dict[str, Any]] = []
    if found:
        for kind, data in lines(looked, [*option, f"--max-count={most}"], list(found)[:most]):
            if kind == "match" and len(shown) < most:
                text = str(data["lines"].get("text") or "(not text)").rstrip("\r\n")
                path = str(data["path"].get("text") or "(not text)").removeprefix("./")
                shown.append({"path": path, "line": data["line_number"]})
                shown[-1]["text"] = clean(text[:LONGEST])
    return {"matches": shown, "total": sum(found.values()), "files": len(found)}
