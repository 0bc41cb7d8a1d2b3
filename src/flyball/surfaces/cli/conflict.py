"""`flyball conflict`: an agent in another program says why its task cannot be done as asked."""

from __future__ import annotations

import os
from pathlib import Path

import click

from flyball.surfaces.cli.card import JSON, REPO, say_json
from flyball.surfaces.cli.terminal.edge import say


@click.command()
@click.option("--says", required=True, metavar="QUOTE", help="What one side says.")
@click.option("--but", required=True, metavar="QUOTE", help="What the other side says.")
@click.option(
    "--where",
    required=True,
    metavar="PLACE",
    help="Where the first quote is: FILE:LINE or `request`; after a comma, the second.",
)
@click.option(
    "--reproduce", default="", metavar="CMD", help="A test command that fails because of it."
)
@REPO
@JSON
def conflict(says: str, but: str, where: str, reproduce: str, repo: Path, as_json: bool) -> None:
    """Say that the task cannot be done as asked, by two quotes; a person decides.

    For an agent: the request and a test contradict each other, or two tests do, or something is
    missing. Flyball looks both quotes up. It never counts against the agent.
    """
    import asyncio

    from flyball.app.hosts.governor import HostGovernor
    from flyball.app.hosts.words import waiting_for
    from flyball.app.project import open_home
    from flyball.tools.conflict import ConflictForm

    home = open_home(repo, os.environ, {})
    form = ConflictForm(says=says, but=but, where=where, reproduce=reproduce)
    run = asyncio.run(HostGovernor(home).conflict(form))
    if as_json:
        question = run.card.question
        told = {"id": question.id, "text": question.text} if question else None
        say_json({"run": run.state.run, "question": told})
    else:
        say(waiting_for(run.card))
