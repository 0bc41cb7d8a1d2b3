"""`flyball checkpoint`: an agent in another program records its findings and plan."""

from __future__ import annotations

import os
from pathlib import Path

import click

from flyball.surfaces.cli.card import JSON, REPO, say_json
from flyball.surfaces.cli.terminal.edge import say
from flyball.surfaces.cli.typed.words import complete_file


@click.command()
@click.option("--goal", required=True, help="The desired end state.")
@click.option("--findings", required=True, help="What you found.")
@click.option("--action", required=True, help="What you will do.")
@click.option(
    "--file",
    "files",
    multiple=True,
    required=True,
    metavar="PATH",
    shell_complete=complete_file,
    help="A file you will change; may be repeated.",
)
@click.option(
    "--verify",
    multiple=True,
    required=True,
    help="How to verify the result; may be repeated.",
)
@REPO
@JSON
def checkpoint(
    goal: str,
    findings: str,
    action: str,
    files: tuple[str, ...],
    verify: tuple[str, ...],
    repo: Path,
    as_json: bool,
) -> None:
    """Record an agent's plan for its session in this project; then it may change files."""
    import asyncio

    from flyball.app.hosts.governor import HostGovernor
    from flyball.app.hosts.words import where
    from flyball.app.project import open_home
    from flyball.core.run.state import Checkpoint

    home = open_home(repo, os.environ, {})
    point = Checkpoint(goal, findings, action, files, verify)
    run = asyncio.run(HostGovernor(home).checkpoint(point))
    words = where(run.state, run.card)
    if as_json:
        say_json({"run": run.state.run, "phase": run.card.phase.value, "standing": words})
    else:
        say(f"The checkpoint is accepted. {words}".rstrip())
