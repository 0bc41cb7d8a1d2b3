"""`flyball wait`: let an agent in another program wait for a verdict that takes long."""

from __future__ import annotations

import os
from pathlib import Path

import click

from flyball.surfaces.cli.card import JSON, REPO, say_json
from flyball.surfaces.cli.terminal.edge import say

EXIT_NOT_YET = 4
NOT_YET = "The verdict is still being taken. Run this again."


@click.command()
@click.option(
    "--for",
    "seconds",
    type=click.FloatRange(min=0),
    default=100.0,
    show_default=True,
    metavar="N",
    help="Seconds to wait at most; hosts end what runs for two minutes.",
)
@REPO
@JSON
def wait(seconds: float, repo: Path, as_json: bool) -> None:
    """Wait for Flyball's verdict on the work that was last stopped, and say what it is.

    Exit code 0 when it is there, 4 when it is not there yet.
    """
    import asyncio

    from flyball.app.hosts.governor import HostGovernor
    from flyball.app.project import open_home
    from flyball.core.terms.progress import Progress
    from flyball.surfaces.cli.terminal.waiting import waiting

    stops = HostGovernor(open_home(repo, os.environ, {})).stops
    with waiting("Waiting for the verdict", as_json=as_json) as tell:
        words = asyncio.run(stops.wait(seconds, lambda line: tell(Progress.of_line(line))))
    if as_json:
        say_json({"done": bool(words), "verdict": words})
    else:
        say(words or NOT_YET)
    if not words:
        raise SystemExit(EXIT_NOT_YET)
