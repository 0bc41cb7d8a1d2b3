"""Whether what a session did can still be seen: in the tree, or in the history of its project."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from msgspec.structs import replace

from flyball.core.record.audit.finding import RULES, AuditFinding, Degree
from flyball.errors import ToolError
from flyball.workspace.process.spawn import run_sync

LARGEST = 4 << 20
SHORTEST_TRACE = 4
HISTORY_LOOKS = 60
"""How often git is asked in one audit; a look into a long history takes its time."""
SECONDS = 10.0


class Effects:
    """Looks at trees and histories, each file once."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._looks = HISTORY_LOOKS
        self._text = cache(_text_of)

    def settle(self, found: AuditFinding, root: str) -> AuditFinding:
        """The finding with its degree, and whether its work was kept."""
        if not found.paths or not RULES[found.rule].leaves_effect:
            return found
        is_there = self._is_there(found, root)
        if is_there is None:
            return found
        may = RULES[found.rule].may_be_caught
        degree = Degree.CAUGHT if is_there and may else Degree.SUSPICIOUS
        return replace(found, degree=degree, is_kept=is_there)

    def _is_there(self, found: AuditFinding, root: str) -> bool | None:
        """None where the project is no longer on this machine."""
        if not root or not Path(root).is_dir():
            return None
        for name, trace in zip(found.paths, found.traces, strict=True):
            path = Path(os.path.normpath(Path(root) / Path(name).expanduser()))
            if not trace and found.rule == "outside-edit" and path.exists():
                return True
            if len(trace) >= SHORTEST_TRACE and trace in self._text(path):
                return True
        return any(
            self._is_in_history(root, name, trace, found.at)
            for name, trace in zip(found.paths, found.traces, strict=True)
            if len(trace) >= SHORTEST_TRACE
        )

    def _is_in_history(self, root: str, name: str, trace: str, at: float) -> bool:
        """Whether a commit since then brought the very line."""
        if self._looks <= 0 or not Path(root, ".git").exists():
            return False
        self._looks -= 1
        words = ("log", "-1", "--format=%H", f"--since=@{int(at)}", f"-S{trace}", "--", name)
        try:
            done = run_sync(
                ("git", *words), cwd=Path(root), env=dict(self._environ), seconds=SECONDS
            )
        except ToolError:
            return False
        return done.exit_code == 0 and bool(done.stdout.strip())


def _text_of(path: Path) -> str:
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return ""
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
