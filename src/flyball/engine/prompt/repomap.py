"""The map of a workspace: its files, and what each of them defines at its top."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePosixPath

from flyball.errors import FlyballError
from flyball.regex import regex
from flyball.workspace.files.paths import Root

MAP_FILES = 200
MAP_CHARS = 6_000
FILE_BYTES = 64_000
FILE_SYMBOLS = 6
MAPS_KEPT = 8
ASIDE = frozenset(
    {"docs", "doc", "examples", "example", "samples", "demo", "demos", "vendor", "third_party"}
    | {"locale", "locales", "fixtures", "assets", "static", "images", ".github"}
)
"""Folders at the top that are counted and not listed."""

_C_LIKE = regex(
    r"^(?:export +)?(?:default +)?(?:pub(?:\([a-z]+\))? +|public +|abstract +|final +|async +)*"
    r"(?:class|interface|struct|enum|trait|type|func|fn|function|const|mod|module|object) +\*?"
    r"(?:\([^)]*\) *)?([A-Za-z_$][\w$]*)",
    re.MULTILINE,
)
_PYTHON = regex(r"^(?:async +)?(?:class|def) +(\w+)", re.MULTILINE)
_RUBY = regex(r"^ *(?:class|module|def) +([\w.:?!]+)", re.MULTILINE)
SYMBOLS: dict[str, re.Pattern[str]] = {
    ".py": _PYTHON,
    ".rb": _RUBY,
    **dict.fromkeys(
        (".js", ".mjs", ".jsx", ".ts", ".tsx", ".go", ".rs", ".java", ".kt", ".swift", ".php"),
        _C_LIKE,
    ),
}


class Maps:
    """Draws each tree once: the opening of a thread should stay the same."""

    def __init__(self) -> None:
        self._drawn: dict[str, str] = {}

    def of(self, tree: str, root: Root) -> str:
        """Return the map of the tree that a card began with."""
        if tree not in self._drawn:
            # Cards side by side begin with different trees; older ones do not come back.
            while len(self._drawn) >= MAPS_KEPT:
                del self._drawn[next(iter(self._drawn))]
            self._drawn[tree] = draw(root)
        return self._drawn[tree]


def draw(root: Root) -> str:
    """Return one line per file, with symbols while there is room."""
    lines: list[str] = []
    room, left_out = MAP_CHARS, 0
    aside: Counter[str] = Counter()
    for path in root.walk():
        if folder := _aside(path):
            aside[folder] += 1
            continue
        if len(lines) >= MAP_FILES or len(path) > room:
            left_out += 1
            continue
        names = symbols(root, path) if room > MAP_CHARS // 4 else ""
        line = f"{path}: {names}" if names else path
        room -= len(line) + 1
        lines.append(line)
    more = [f"{folder}/ ({n} files)" for folder, n in aside.items()]
    more += [f"(and {left_out} more files)"] if left_out else []
    return "\n".join([*lines, *more])


def _aside(path: str) -> str:
    """Return the folder of a file that shows how the project is used, and is no part of its
    code.
    """
    first, slash, _ = path.partition("/")
    return first if slash and first.lower() in ASIDE else ""


def symbols(root: Root, path: str) -> str:
    """Return what a source file defines at its top, or nothing."""
    pattern = SYMBOLS.get(PurePosixPath(path).suffix)
    if pattern is None:
        return ""
    try:
        text = root.read_bytes(path, FILE_BYTES).decode("utf-8", "replace")
    except FlyballError:
        return ""
    return ", ".join([*dict.fromkeys(pattern.findall(text))][:FILE_SYMBOLS])
