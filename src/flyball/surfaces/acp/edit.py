"""Convert a call's changes for editors: absolute paths, with text before and after."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from acp import tool_diff_content
from acp.schema import FileEditToolCallContent, ToolCallLocation

from flyball.app.project import Home, redactor_of
from flyball.patch import Hunk, parse
from flyball.workspace.files.plain import read_within
from flyball.workspace.run.opening import find_workspace

LONGEST = 1 << 20
"""Maximum size in bytes of a file shown whole to an editor."""


class RunFiles:
    """The files of one run at their real location: its own worktree, or the checkout."""

    def __init__(self, home: Home, *, is_live: bool = True) -> None:
        self._home = home
        self._is_live = is_live
        self._clean = redactor_of(home)
        self._root: Path | None = None

    def place(self, run: str) -> None:
        """Find where a run works, once it has started."""
        facts = find_workspace(run, self._home.state)
        self._root = Path(facts.root) if facts else None

    def path(self, name: str) -> str:
        """Return the absolute path of a file of the run."""
        return os.fspath((self._root or self._home.repo) / name)

    def is_there(self, name: str) -> bool:
        """Return whether the run has such a file or directory now."""
        return Path(self.path(name)).exists()

    def read(self, name: str) -> str | None:
        """Return a text file's current content; None if it is missing or the run is in the past."""
        if not self._is_live or self._root is None:
            return None
        data = read_within(self._root, name, LONGEST + 1)
        if data is None or len(data) > LONGEST:
            return None
        try:
            return self._clean.text(data.decode())
        except UnicodeDecodeError:
            return None


def diff_content(diff: str, files: RunFiles) -> Iterator[FileEditToolCallContent]:
    """Yield each hunk of a unified diff, with its lines before and after."""
    for section in parse(diff).sections:
        for hunk in section.hunks:
            new = _text(hunk.new, unended=hunk.new_unended)
            old = None if section.creates else _text(hunk.old, unended=hunk.old_unended)
            yield tool_diff_content(files.path(section.paths[0]), new, old)


def diff_locations(diff: str, files: RunFiles) -> Iterator[ToolCallLocation]:
    """Yield the location of each hunk of a unified diff, by its line after the change."""
    for section in parse(diff).sections:
        for hunk in section.hunks:
            yield ToolCallLocation(path=files.path(section.paths[0]), line=_first_line(hunk))


def locations(names: Iterable[str], files: RunFiles) -> list[ToolCallLocation]:
    """Return files as locations that an editor can open."""
    return [ToolCallLocation(path=files.path(name)) for name in names]


def _first_line(hunk: Hunk) -> int | None:
    return hunk.span.new_index + 1 if hunk.span else None


def _text(lines: Sequence[bytes], *, unended: bool) -> str:
    whole = b"\n".join(lines) + (b"" if unended or not lines else b"\n")
    return whole.decode("utf-8", "replace")
