"""Show progress on stderr while a person waits."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

from flyball.cli.terminal.edge import clean_console, say
from flyball.terms.progress import Progress

FIRST = 10.0
"""Seconds until the first line where nothing can be shown in place."""


@contextmanager
def waiting(what: str, *, as_json: bool = False) -> Generator[Callable[[Progress], None]]:
    """Yield a function that shows progress: in place on a terminal, else as occasional lines."""
    if as_json:
        yield lambda now: say(json.dumps(now.line(), ensure_ascii=False), err=True)
        return
    if not sys.stderr.isatty():
        yield _seldom()
        return
    from rich.text import Text

    with clean_console(stderr=True).status(f"{what} …") as status:
        yield lambda now: status.update(Text(now.text))


def _seldom() -> Callable[[Progress], None]:
    """Return a function that prints progress after ten seconds, then whenever the time has
    doubled."""
    due = FIRST

    def tell(now: Progress) -> None:
        nonlocal due
        if now.elapsed >= due:
            due = 2 * now.elapsed
            say(f"… {now.text}", err=True)

    return tell
