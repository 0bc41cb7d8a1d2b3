"""What a test run came to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from flyball.core.terms.evidence import FailedTest

KEPT_FAILURES = 50
KEPT_MESSAGE = 2_000

_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")


class Tally(NamedTuple):
    """Counts and failures; `reason` says what kept tests from running."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: tuple[FailedTest, ...] = ()
    reason: str = ""


def tally(
    passed: int, skipped: int, bad: Iterable[tuple[str, str]], failed: int = 0, reason: str = ""
) -> Tally:
    """A tally with each failing test once, whatever went wrong in it and how often."""
    said: dict[str, list[str]] = {}
    for name, message in bad:
        said.setdefault(name.strip() or "(unnamed)", []).append(message.strip())
    failures = [_failure(name, "\n".join(filter(None, each))) for name, each in said.items()]
    return Tally(
        passed, max(failed, len(failures)), skipped, tuple(failures[:KEPT_FAILURES]), reason
    )


def _failure(name: str, text: str) -> FailedTest:
    """The beginning of why, and its end, where most runners put the heart of it."""
    if len(text) > KEPT_MESSAGE:
        text = f"{text[: KEPT_MESSAGE // 4]}\n…\n{text[-3 * KEPT_MESSAGE // 4 :]}"
    return FailedTest(name, text)


def plain(output: str) -> str:
    """Output without colours, and with one kind of line end."""
    return _ANSI.sub("", output).replace("\r\n", "\n")
