"""`flyball approve`, `deny`, `extend`, `answer`: a person's decisions, which no model can forge."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flyball.cli.card import DATABASE, REPO, RUN
from flyball.cli.run import JSON

if TYPE_CHECKING:
    from flyball.app.driving import Word

NO_DRIVE = click.option(
    "--no-drive", is_flag=True, help="Only record it; `flyball runs resume` continues later."
)


@click.command()
@RUN
@click.option("--note", default="", metavar="TEXT", help="A message to the driver.")
@NO_DRIVE
@REPO
@DATABASE
@JSON
@click.pass_context
def approve(
    ctx: click.Context, run: str, note: str, no_drive: bool, repo: Path, as_json: bool
) -> None:
    """Approve what a run asks for, and continue it.

    Approving a spent budget grants the intent's budget once more.
    """
    from flyball.app.answering import yes
    from flyball.cli.terminal.view import user

    by = user()
    _say(ctx, run, lambda state: yes(state, by, note), repo, no_drive=no_drive, as_json=as_json)


@click.command()
@RUN
@click.option("--why", default="", metavar="TEXT", help="The reason, for the driver.")
@NO_DRIVE
@REPO
@DATABASE
@JSON
@click.pass_context
def deny(ctx: click.Context, run: str, why: str, no_drive: bool, repo: Path, as_json: bool) -> None:
    """Refuse what a run asks for, and continue it."""
    from flyball.app.answering import no
    from flyball.cli.terminal.view import user

    by = user()
    _say(ctx, run, lambda state: no(state, by, why), repo, no_drive=no_drive, as_json=as_json)


@click.command()
@RUN
@click.argument("text", nargs=-1, required=True, metavar="TEXT…")
@NO_DRIVE
@REPO
@DATABASE
@JSON
@click.pass_context
def answer(
    ctx: click.Context,
    run: str,
    text: tuple[str, ...],
    no_drive: bool,
    repo: Path,
    as_json: bool,
) -> None:
    """Answer a run's question in words, and continue it.

    Words never grant a permission: if a run asks about a call, a checkpoint or the tests, they are
    a refusal with guidance. Only a bare yes or no counts as such. The answer to a conflict is
    `follow the request`, `follow the test`, or the new task.
    """
    from flyball.app.answering import words
    from flyball.cli.terminal.view import user

    by, said = user(), " ".join(text)
    _say(ctx, run, lambda state: words(state, by, said), repo, no_drive=no_drive, as_json=as_json)


@click.command()
@RUN
@click.argument("calls", type=click.IntRange(1), metavar="N")
@click.option("--why", required=True, metavar="TEXT", help="The reason, for the record.")
@NO_DRIVE
@REPO
@DATABASE
@JSON
@click.pass_context
def extend(
    ctx: click.Context,
    run: str,
    calls: int,
    why: str,
    no_drive: bool,
    repo: Path,
    as_json: bool,
) -> None:
    """Add calls to a run's budget, and continue it if it waited for that."""
    from flyball.app.answering import more
    from flyball.cli.terminal.view import user
    from flyball.errors import UsageError

    if not why.strip():
        raise UsageError("--why is empty.", "An extension is recorded with its reason.")
    by = user()
    _say(
        ctx,
        run,
        lambda state: more(state, by, calls, why),
        repo,
        no_drive=no_drive,
        as_json=as_json,
        extends=True,
    )


def _say(
    ctx: click.Context,
    run: str,
    word: Word,
    repo: Path,
    *,
    no_drive: bool,
    as_json: bool,
    extends: bool = False,
) -> None:
    import asyncio

    from flyball.app.runs.journals import find_run
    from flyball.cli.terminal.driving import drive
    from flyball.cli.terminal.view import home_at, user
    from flyball.hosts.person import require_person

    home = home_at(repo)
    require_person(home, os.environ)
    name = asyncio.run(find_run(home, run))
    code = drive(
        home,
        lambda it: (it.extend if extends else it.say)(name, word, user(), drive=not no_drive),
        as_json=as_json,
    )
    ctx.exit(0 if no_drive else code)
