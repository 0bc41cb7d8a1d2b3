"""Complete options and arguments: files, directories, runs, cards.

On any error, offer nothing: an error message would garble the typed line.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flyball.regex import regex
from flyball.terms.printable import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from click.shell_completion import CompletionItem

    from flyball.journal.glance import NamedRun

MOST_RUNS = 100
ABOUT_WIDTH = 60
LAST = "last"
NAME = regex(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""Names that need no shell quoting; no others are offered."""


def complete_file(
    ctx: click.Context,  # noqa: ARG001
    param: click.Parameter,  # noqa: ARG001
    incomplete: str,
) -> list[CompletionItem]:
    """Complete any file; the shell finds the files itself."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def complete_directory(
    ctx: click.Context,  # noqa: ARG001
    param: click.Parameter,  # noqa: ARG001
    incomplete: str,
) -> list[CompletionItem]:
    """Complete any directory; the shell finds the directories itself."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="dir")]


def complete_run(
    ctx: click.Context,
    param: click.Parameter,  # noqa: ARG001
    incomplete: str,
) -> list[CompletionItem]:
    """Complete `last` and the project's runs, newest first, each with its request."""
    _, found = _runs(ctx)
    last = [(LAST, f"The newest: {found[0].request}")] if found else []
    return _items([*last, *found], incomplete)


def complete_run_or_file(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the project's runs, or files if no run matches."""
    return complete_run(ctx, param, incomplete) or complete_file(ctx, param, incomplete)


def complete_card(
    ctx: click.Context,
    param: click.Parameter,  # noqa: ARG001
    incomplete: str,
) -> list[CompletionItem]:
    """Complete the committed cards of the run named before, each with its title."""
    from flyball.journal.glance import resolve_run

    state, found = _runs(ctx)
    run = resolve_run(found, ctx.params.get("run") or "")
    if state is None or not NAME.fullmatch(run):
        return []
    from flyball.workspace.run.snapshot import read_lines
    from flyball.workspace.run.worktree import CardRecord, CommitKind

    records = read_lines(state / "runs" / run / "cards.jsonl", CardRecord)
    cards = {each.card: each.title for each in records if each.step is CommitKind.CARD}
    return _items(list(cards.items()), incomplete)


def _runs(ctx: click.Context) -> tuple[Path | None, Sequence[NamedRun]]:
    """Return the project's directory of runs, and the newest runs."""
    from flyball.app.project import open_home
    from flyball.errors import FlyballError
    from flyball.journal.glance import newest_runs

    try:
        home = open_home(Path(ctx.params.get("repo") or "."), os.environ, {})
    except FlyballError:
        return None, ()
    # A database may be slow or unavailable: a key press must not wait for it.
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
    """Return a completion's description: short, on one line, without control characters."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= ABOUT_WIDTH else f"{line[: ABOUT_WIDTH - 1]}…"
