"""Store a run's current activity in a file, for watchers in other processes."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from flyball.workspace.files.plain import read_plain
from flyball.workspace.trees.git_objects import replace_whole

LARGEST = 1 << 16
"""Most bytes of a report that are read."""
FRESH = 5.0
"""Seconds after which a report is outdated: a new one comes every two seconds."""


def keep_progress(state_dir: Path, run: str, line: dict[str, Any]) -> None:
    """Write a progress line where other processes find it; ignore a failure to do so."""
    with suppress(OSError):
        replace_whole(_file(state_dir, run), json.dumps(line).encode())


def current_progress(state_dir: Path, run: str) -> dict[str, Any] | None:
    """Return the progress line of a run that is waiting for something now, if there is one."""
    file = _file(state_dir, run)
    try:
        # A report is replaced and never removed: without a recent one the work is done, or dead.
        if time.time() - file.stat().st_mtime > FRESH:
            return None
        return json.loads(read_plain(file, LARGEST) or b"null")
    except (OSError, ValueError):
        return None


def _file(state_dir: Path, run: str) -> Path:
    return state_dir / "runs" / run / "progress.json"
