"""`flyball trust`: let a repository's configuration count."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import click

from flyball.surfaces.cli.card import JSON, REPO


@click.command()
@REPO
@click.option("--yes", is_flag=True, help="Do not ask.")
@JSON
def trust(repo: Path, yes: bool, as_json: bool) -> None:
    """Let this repository's flyball.toml count: it can tighten rules, never loosen them.

    What is accepted is the file as it is now; after a change it must be accepted again.
    """
    from flyball.app.home import offer
    from flyball.app.home import trust as accept
    from flyball.errors import UsageError
    from flyball.surfaces.cli.story import printable

    found = offer(os.environ, repo)
    if not as_json:
        click.echo(f"{found.path}:\n")
        click.echo("\n".join(f"  {line}" for line in printable(found.text).rstrip().split("\n")))
        click.echo("\nWould count:" if found.settings else "\nNothing of it would count.")
        for key, value in found.settings:
            click.echo(f"  {key} = {value}")
        for line in found.ignored:
            click.echo(f"  not heeded: {line}")
    if not found.is_trusted and not yes:
        if as_json or not sys.stdin.isatty():
            raise UsageError("Trust is given by a person.", "Repeat with --yes to accept the file.")
        if not click.confirm("\nTrust it?"):
            click.echo("It is not trusted; nothing of it counts.")
            return
    if not found.is_trusted:
        accept(os.environ, found)
    if as_json:
        said = {"path": str(found.path), "settings": dict(found.settings), "trusted": True}
        click.echo(json.dumps({**said, "ignored": found.ignored}))
    else:
        click.echo("It was trusted already." if found.is_trusted else "It is trusted now.")
