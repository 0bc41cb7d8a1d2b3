"""`flyball checkpoint`, `conflict`, `wait`: commands for an agent in another program."""

from __future__ import annotations

import os
from pathlib import Path

import click

from flyball.cli.card import JSON, REPO, say_json
from flyball.cli.terminal.edge import say
from flyball.cli.typed.words import complete_file


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

    from flyball.app.project import open_home
    from flyball.hosts.governor import HostGovernor
    from flyball.hosts.words import where
    from flyball.run.state import Checkpoint

    home = open_home(repo, os.environ, {})
    point = Checkpoint(goal, findings, action, files, verify)
    run = asyncio.run(HostGovernor(home).checkpoint(point))
    words = where(run.state, run.card)
    if as_json:
        say_json({"run": run.state.run, "phase": run.card.phase.value, "standing": words})
    else:
        say(f"The checkpoint is accepted. {words}".rstrip())


@click.command()
@click.option("--says", required=True, metavar="QUOTE", help="What one side says.")
@click.option("--but", required=True, metavar="QUOTE", help="The quote that contradicts it.")
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
    """Report with two quotes that the task cannot be done as asked; a person decides.

    For an agent: the request and a test contradict each other, or two tests do, or something is
    missing. Flyball looks both quotes up. It never counts against the agent.
    """
    import asyncio

    from flyball.app.project import open_home
    from flyball.hosts.governor import HostGovernor
    from flyball.hosts.words import waiting_for
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
    help="Maximum seconds to wait; hosts end commands after two minutes.",
)
@REPO
@JSON
def wait(seconds: float, repo: Path, as_json: bool) -> None:
    """Wait for Flyball's verdict on the last stop, and print it.

    The exit code is 0 if the verdict is ready, 4 if it is not ready yet.
    """
    import asyncio

    from flyball.app.project import open_home
    from flyball.cli.terminal.waiting import waiting
    from flyball.hosts.governor import HostGovernor
    from flyball.terms.progress import Progress

    stops = HostGovernor(open_home(repo, os.environ, {})).stops
    with waiting("Waiting for the verdict", as_json=as_json) as tell:
        words = asyncio.run(stops.wait(seconds, lambda line: tell(Progress.of_line(line))))
    if as_json:
        say_json({"done": bool(words), "verdict": words})
    else:
        say(words or NOT_YET)
    if not words:
        raise SystemExit(EXIT_NOT_YET)
