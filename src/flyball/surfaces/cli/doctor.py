"""`flyball doctor`: test what this machine supports."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flyball.surfaces.cli.card import DATABASE, JSON, REPO
from flyball.surfaces.cli.doctor_host import examine_host
from flyball.surfaces.cli.init import HOSTS
from flyball.surfaces.cli.terminal.edge import clean_console, say
from flyball.surfaces.cli.typed.words import complete_file

if TYPE_CHECKING:
    from flyball.app.project import Home
    from flyball.errors import UsageError

PIPED_WIDTH = 100_000


@click.command()
@REPO
@DATABASE
@JSON
@click.option("--verbose", is_flag=True, help="Also list every attack, program and setting.")
@click.option("--host", type=HOSTS, help="Test this agent's hooks instead, with the real program.")
@click.option(
    "--program",
    default="",
    metavar="PATH",
    shell_complete=complete_file,
    help="The agent's executable; default: found on PATH.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    metavar="N",
    help="The most seconds for one agent session; default: 240.",
)
@click.pass_context
def doctor(
    ctx: click.Context,
    repo: Path,
    as_json: bool,
    verbose: bool,
    host: str | None,
    program: str,
    seconds: float | None,
) -> None:
    """Check this machine and this project, and suggest fixes.

    It really runs some forty attacks on the sandbox, and checks the project: git, tests, disk,
    journal, waiting runs, model, trust, hooks, settings. The answer comes first. The exit code is 1
    if something must be fixed before Flyball can work here.

    With --host, the agent itself is started with its installed hooks, in a temporary home and
    project, against a scripted model on this machine: no account, no network.
    """
    import asyncio
    import json

    from flyball.app.project import open_home, open_home_lenient
    from flyball.surfaces.cli.doctor_print import print_report

    if not host and (program or seconds):
        raise click.UsageError("--program and --seconds go with --host.")
    if host:
        # Only one of the two is requested: the attacks would take their time again.
        home = open_home(repo, os.environ, {})
        ctx.exit(0 if examine_host(home, host, program, seconds, as_json).holds else 1)
    home, refused = open_home_lenient(repo, os.environ)
    report = asyncio.run(_look(home, refused))
    if as_json:
        say(json.dumps(report, indent=2))
    else:
        # A pipe has no width at which a path would be broken.
        width = None if sys.stdout.isatty() else PIPED_WIDTH
        print_report(clean_console(highlight=False, width=width), report, verbose=verbose)
    ctx.exit(0 if report["ok"] else 1)


async def _look(home: Home, refused: UsageError | None) -> dict[str, Any]:
    """Return the report on this machine and this project."""
    from flyball.app.examining.examine import examine_project
    from flyball.surfaces.cli.doctor_confined import examine_confined
    from flyball.surfaces.cli.doctor_governor import examine_socket
    from flyball.surfaces.cli.doctor_machine import (
        examine_machine,
        language_servers_of,
        pages_of,
    )

    report = await examine_machine(home.effective.settings.sandbox_readable)
    report["pages"] = pages_of(home)
    report["language_servers"] = language_servers_of(home)
    report["settings"] = _settings(home)
    report["ignored"] = list(home.effective.ignored)
    report["database"] = _database(home)
    symptoms = [
        *examine_confined(home),
        *examine_socket(home),
        *await examine_project(home, refused),
    ]
    report["project"] = [each._asdict() for each in symptoms]
    held = all(row["holds"] for row in report["database"])
    report["ok"] = report["ok"] and held and not any(each.blocks for each in symptoms)
    return report


def _database(home: Home) -> list[dict[str, Any]]:
    """Return the database checks; empty if none is configured."""
    if not home.database:
        return []
    from flyball.app.project import load_extra
    from flyball.errors import MissingExtra

    try:
        found = load_extra("flyball.journal.connection").examine_database(home.database)
    except MissingExtra as error:
        return [{"name": "package", "holds": False, "seen": str(error)}]
    return [{"name": each.name, "holds": each.holds, "seen": each.seen} for each in found]


def _settings(home: Home) -> list[dict[str, str]]:
    from flyball.app.project import settings_report

    rows = settings_report(home)
    return [{"key": key, "value": value, "origin": origin} for key, value, origin in rows]
