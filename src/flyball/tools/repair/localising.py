"""From traced tests to suspicious lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from flyball.core.weakening import is_test_path
from flyball.tools.repair import memo
from flyball.tools.repair.memo import Memo
from flyball.tools.repair.source import Source
from flyball.tools.repair.spectrum import Place, Traced, suspicious
from flyball.tools.repair.trial import Stage, perform

SAMPLE = 400
MOST_FILE = 1 << 20


async def trace(stage: Stage, failing: Sequence[str], seconds: float) -> Memo:
    """Run the failing tests and their neighbours, and remember what was seen."""
    orders = {"task": "trace", "failing": list(failing), "seconds": seconds, "sample": SAMPLE}
    told = await perform(stage, orders)
    head: dict[str, Any] = next((line for line in told.lines if "tests" in line), {})
    tests = [msgspec.convert(line, Traced) for line in told.lines if "name" in line]
    found = Memo(tuple(tests), head.get("tests", 0), head.get("broken", {}))
    memo.keep(stage.desk, found)
    return found


def sources_of(root: Path, paths: Iterable[str]) -> dict[str, Source]:
    """The files that can be read and changed; tests are not among them."""
    found: dict[str, Source] = {}
    for path in paths:
        if is_test_path(path) or path.endswith("conftest.py"):
            continue
        file = root / path
        try:
            if file.is_symlink() or file.stat().st_size > MOST_FILE:
                continue
            found[path] = Source(path, file.read_bytes())
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue
    return found


def places_of(known: Memo, sources: dict[str, Source]) -> list[Place]:
    """The suspicious lines that a memo leads to."""
    return suspicious(known.tests, sources)


def touched(known: Memo) -> set[str]:
    """The files that failing tests ran."""
    return {path for test in known.tests if test.has_failed for path in test.lines}
