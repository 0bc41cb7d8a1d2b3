"""`flyball ledger`: the mistakes seen in a project, and what resolved them."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flyball.cli.card import JSON, REPO
from flyball.cli.terminal.edge import clean_console, say

if TYPE_CHECKING:
    from flyball.app.board.ledger import LedgerEntry
    from flyball.app.project import Home
    from flyball.guards.ledger import Mistake

EMPTY = "This project's ledger is empty: no mistakes have been recorded."
SHORT = 8
ERROR_WIDTH = 70
FILES_WIDTH = 30


@click.group("ledger")
def ledger() -> None:
    """List, show and forget the mistakes of this project's runs.

    FINGERPRINT is the beginning of a mistake's fingerprint, as `list` shows it.
    """


@ledger.command("list")
@REPO
@JSON
def list_(repo: Path, as_json: bool) -> None:
    """List the mistakes of this project, most recent first."""
    import asyncio

    from flyball.app.board.ledger import mistakes_of
    from flyball.cli.terminal.view import home_at

    found = asyncio.run(mistakes_of(home_at(repo)))
    if as_json:
        for each in found:
            say(json.dumps(_as_dict(each), ensure_ascii=False))
    elif not found:
        say(EMPTY)
    else:
        _print_table(found)


@ledger.command()
@click.argument("fingerprint")
@REPO
@JSON
def show(fingerprint: str, repo: Path, as_json: bool) -> None:
    """Show one mistake: its error, location and resolution."""
    import asyncio

    from flyball.app.board.ledger import entry_of
    from flyball.cli.terminal.view import home_at

    entry = asyncio.run(entry_of(home_at(repo), fingerprint))
    if as_json:
        seen = [
            {"run": each.run, "card": each.card, "at": each.at, "resolution": each.resolution}
            for each in entry.seen
        ]
        say(json.dumps({**_as_dict(entry.mistake), "seen": seen}, ensure_ascii=False))
    else:
        _print_entry(entry)


@ledger.command()
@click.argument("fingerprints", nargs=-1, metavar="[FINGERPRINT…]")
@click.option("--all", "everything", is_flag=True, help="Delete the whole ledger.")
@click.option("--yes", is_flag=True, help="Do not ask first.")
@REPO
@JSON
def forget(
    fingerprints: tuple[str, ...], everything: bool, yes: bool, repo: Path, as_json: bool
) -> None:
    """Delete mistakes; runs are no longer warned of them."""
    import asyncio

    from flyball.app.board.ledger import forget as forget_them
    from flyball.cli.terminal.view import home_at

    home = home_at(repo)
    found = _chosen(home, fingerprints, everything)
    if found and not yes and not _may_forget(found, as_json):
        return
    gone = asyncio.run(forget_them(home, found))
    if as_json:
        say(json.dumps({"forgotten": [each.fingerprint for each in found]}))
    else:
        say(f"Forgot {_count(gone)}." if gone else EMPTY)


def _chosen(home: Home, names: Sequence[str], everything: bool) -> tuple[Mistake, ...]:
    import asyncio

    from flyball.app.board.ledger import meant, mistakes_of
    from flyball.errors import UsageError

    if everything == bool(names):
        what = "Both mistakes and --all are given." if names else "No mistake is named."
        raise UsageError(what, "Name fingerprints, or say --all.")
    known = asyncio.run(mistakes_of(home))
    if everything:
        return known
    return tuple(dict.fromkeys(meant(known, name) for name in names))


def _may_forget(found: Sequence[Mistake], as_json: bool) -> bool:
    from flyball.errors import UsageError

    if as_json or not sys.stdin.isatty():
        raise UsageError(f"This would forget {_count(len(found))}.", "Say --yes to do it.")
    for each in found:
        say(f"  {each.fingerprint[:SHORT]}  {_line(each.error, ERROR_WIDTH)}")
    return click.confirm(f"Forget {_count(len(found))}?")


def _count(number: int) -> str:
    return "1 mistake" if number == 1 else f"{number} mistakes"


def _as_dict(mistake: Mistake) -> dict[str, Any]:
    import msgspec

    return msgspec.structs.asdict(mistake)


def _line(text: str, width: int) -> str:
    """Return a text on one line of a table."""
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1]}…"


def _print_table(found: Sequence[Mistake]) -> None:
    import time

    from rich.table import Table
    from rich.text import Text

    from flyball.cli.terminal.show import age

    heads = ("mistake", "count", "last seen", "step", "files", "resolved", "error")
    table = Table(*heads, box=None, pad_edge=False)
    now = time.time()
    for each in found:
        row = (
            each.fingerprint[:SHORT],
            str(each.count),
            f"{age(now - each.last_seen)} ago",
            each.step_kind,
            _line(", ".join(each.files), FILES_WIDTH),
            "yes" if each.resolution else "no",
            _line(each.error, ERROR_WIDTH),
        )
        table.add_row(*(Text(cell, no_wrap=True) for cell in row))
    console = clean_console(highlight=False)
    if not console.is_terminal:
        console = clean_console(highlight=False, width=200)
    console.print(table)


def _print_entry(entry: LedgerEntry) -> None:
    import time

    from flyball.cli.terminal.show import age

    mistake, now = entry.mistake, time.time()
    times = "once" if mistake.count == 1 else f"{mistake.count} times"
    say(f"mistake {mistake.fingerprint}, seen {times}")
    say(f"step: {mistake.step_kind or 'any'}")
    say(f"files: {', '.join(mistake.files) or 'none named'}")
    say(f"resolved by: {mistake.resolution or 'nothing yet'}")
    say("error:")
    for line in mistake.error.split("\n"):
        say(f"  {line}")
    say("seen in:")
    for each in entry.seen:
        resolution = f", resolved by: {each.resolution}" if each.resolution else ""
        say(f"  run {each.run}, card {each.card}, {age(now - each.at)} ago{resolution}")
