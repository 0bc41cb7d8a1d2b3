"""`flyball doctor`: test what this machine supports."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flyball.cli.card import DATABASE, JSON, REPO
from flyball.cli.init import HOSTS
from flyball.cli.terminal.edge import clean_console, say
from flyball.cli.typed.words import complete_file

if TYPE_CHECKING:
    from flyball.app.project import Home
    from flyball.errors import UsageError
    from flyball.hosts.prove.lines import HostProof

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

    It runs some forty real attacks on the sandbox, and checks the project: git, tests, disk,
    journal, waiting runs, model, trust, hooks, settings. The answer comes first. The exit code is 1
    if something must be fixed before Flyball can work here.

    With --host, the agent itself is started with its installed hooks, in a temporary home and
    project, against a scripted model on this machine: no account, no network.
    """
    import asyncio
    import json

    from flyball.app.project import open_home, open_home_lenient
    from flyball.cli.doctor_print import print_report

    if not host and (program or seconds):
        raise click.UsageError("--program and --seconds need --host.")
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
    from flyball.cli.doctor_machine import (
        examine_confined,
        examine_machine,
        examine_socket,
        language_servers_of,
        pages_of,
    )
    from flyball.doctor.examine import examine_project

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


def examine_host(
    home: Home, host: str, program: str, seconds: float | None, as_json: bool
) -> HostProof:
    """Prove one host, and print the proof in the requested format."""
    import asyncio

    from flyball.cli.card import say_json
    from flyball.hosts.prove.host import SECONDS, prove_host

    def tell(text: str) -> None:
        say(text, err=True)

    proof = asyncio.run(prove_host(host, home, program, seconds or SECONDS, tell))
    if as_json:
        say_json(as_dict(proof))
    else:
        say_proof(proof)
    return proof


def as_dict(proof: HostProof) -> dict[str, Any]:
    """Return a proof as JSON-compatible values."""
    return {
        "ok": proof.holds,
        "proved": proof.proves,
        "host": proof.host,
        "program": proof.program,
        "version": proof.version,
        "lines": [{**line._asdict(), "state": str(line.state)} for line in proof.lines],
        "notes": list(proof.notes),
    }


def say_proof(proof: HostProof) -> None:
    """Print the result of each line, and a conclusion."""
    is_shown = any(line.state == "shown" for line in proof.lines)
    if not proof.program:
        head = f"{proof.title} is not installed"
        say(f"{head}: shown with recorded payloads." if is_shown else f"{head}.")
    else:
        say(f"{proof.title} {proof.version} ({proof.program})")
        if is_shown:
            say("It was not started: tested with recorded payloads.")
    for line in proof.lines:
        say(f"  {line.state.value:<9}  {line.claim}")
        if line.seen:
            say(f"             {line.seen}")
    for next in dict.fromkeys(line.next for line in proof.lines if line.next):
        say(f"  next       {next}")
    for note in proof.notes:
        say(f"  know       {note}")
    say(f"\n{_verdict(proof)}")


def _verdict(proof: HostProof) -> str:
    """Return the conclusion: what was shown, and what was not."""
    from flyball.hosts.prove.launch import SEEN

    if not proof.holds:
        return f"{proof.title} is not governed by Flyball here: see the lines above."
    if proof.proves:
        return (
            f"{proof.title} is governed by Flyball here: each line was tried with the real program."
        )
    known = f"The hooks answer correctly. How {proof.title} handles the answers was not tested"
    more = f": install {proof.title} and repeat this to prove it" if proof.host in SEEN else ""
    return f"{known}{more}."
