"""The words that a shell is offered for an option or argument: files, directories, runs, cards.

Whatever is amiss, nothing is offered: nobody who presses a key wants to read about it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flyball.core.terms.printable import printable
from flyball.regex import regex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from click.shell_completion import CompletionItem

    from flyball.journal.glance import NamedRun

MOST_RUNS = 100
ABOUT_WIDTH = 60
LAST = "last"
NAME = regex(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""Names that a shell takes as they stand; no others are ever put on a command line."""


def complete_file(
    ctx: click.Context,  # noqa: ARG001
    param: click.Parameter,  # noqa: ARG001
    incomplete: str,
) -> list[CompletionItem]:
    """Any file, found by the shell itself."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def complete_directory(
    ctx: click.Context,  # noqa: ARG001
    param: click.Parameter,  # noqa: ARG001
    incomplete: str,
) -> list[CompletionItem]:
    """Any directory, found by the shell itself."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="dir")]


def complete_run(
    ctx: click.Context,
    param: click.Parameter,  # noqa: ARG001
    incomplete: str,
) -> list[CompletionItem]:
    """`last` and the project's runs, the newest first, each with its request."""
    _, found = _runs(ctx)
    last = [(LAST, f"The newest: {found[0].request}")] if found else []
    return _items([*last, *found], incomplete)


def complete_run_or_file(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The project's runs, or files where no run begins like that."""
    return complete_run(ctx, param, incomplete) or complete_file(ctx, param, incomplete)


def complete_card(
    ctx: click.Context,
    param: click.Parameter,  # noqa: ARG001
    incomplete: str,
) -> list[CompletionItem]:
    """The cards that the run named before has committed, each with its title."""
    from flyball.journal.glance import run_meant

    state, found = _runs(ctx)
    run = run_meant(found, ctx.params.get("run") or "")
    if state is None or not NAME.fullmatch(run):
        return []
    from flyball.workspace.run.snapshot import read_lines
    from flyball.workspace.run.worktree import CardRecord, CommitKind

    records = read_lines(state / "runs" / run / "cards.jsonl", CardRecord)
    cards = {each.card: each.title for each in records if each.step is CommitKind.CARD}
    return _items(list(cards.items()), incomplete)


def _runs(ctx: click.Context) -> tuple[Path | None, Sequence[NamedRun]]:
    """Where the project keeps its runs, and the newest of them."""
    from flyball.app.project import open_home
    from flyball.errors import FlyballError
    from flyball.journal.glance import newest_runs

    try:
        home = open_home(Path(ctx.params.get("repo") or "."), os.environ, {})
    except FlyballError:
        return None, ()
    # A database may be far away, or away: a key that is pressed does not wait for it.
    if home.database or not home.has_journal:
        return None, ()
    return home.state, newest_runs(home.journal_path, MOST_RUNS)


def _items(rows: Sequence[tuple[str, str]], incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [
        CompletionItem(name, help=_about(text))
        for name, text in rows
        if name.startswith(incomplete) and NAME.fullmatch(name)
    ]


def _about(text: str) -> str:
    """A text as the description of a word: short, on one line, and nothing a terminal obeys."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= ABOUT_WIDTH else f"{line[: ABOUT_WIDTH - 1]}…"
