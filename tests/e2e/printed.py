"""What a page prints, compared with what a command really says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

RUN = re.compile(r"\b\d{4}-\d{6}-[a-z]{4}\b")


class Printed:
    """Knows which run of ours a run on the page stands for, once both have been named."""

    def __init__(self, home: Path) -> None:
        self.names: dict[str, str] = {}
        self._home = str(home)

    def ours(self, text: str) -> str:
        """A text of the page with our runs in it."""
        for printed, real in self.names.items():
            text = text.replace(printed, real)
        return text

    def compare(self, lines: Sequence[str], output: str) -> None:
        """The page's lines occur in this order; `…` stands for what it leaves out."""
        said = iter(output.splitlines())
        for line in lines:
            if line.strip() != "…":
                found = any(self._is_same(line, each) for each in said)
                assert found, f"{line!r} is not said there:\n{output}"

    def _is_same(self, printed: str, real: str) -> bool:
        if printed.startswith("run ") and real.startswith("run "):
            self.names.setdefault(RUN.findall(printed)[0], RUN.findall(real)[0])
        left = plain(self.ours(printed))
        right = plain(real.replace(self._home, "/home/ada"))
        return right.startswith(left[:-1].rstrip()) if left.endswith("…") else left == right


def plain(line: str) -> str:
    """A line without what differs between two runs of the same command."""
    return re.sub(r"\b[0-9a-f]{12}\b", "HASH", " ".join(line.split()))
