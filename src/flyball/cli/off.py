"""`flyball off` and `flyball on`: let a person suspend governance."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import click

from flyball.cli.card import JSON, REPO, say_json
from flyball.cli.terminal.edge import say
from flyball.errors import UsageError

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
DEFAULT = "30m"


def seconds_in(text: str) -> float:
    """Return the seconds in `30m`, `2h` or `45` (minutes)."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd]?)", text.strip())
    if found is None:
        raise UsageError(f"--for {text!r} is not a time span.", "Write 30m, 2h or 90s.")
    return float(found[1]) * UNITS[found[2] or "m"]


@click.command()
@click.option(
    "--for",
    "how_long",
    default=DEFAULT,
    show_default=True,
    metavar="SPAN",
    help="Duration, such as 90s, 30m or 2h.",
)
@REPO
@JSON
def off(how_long: str, repo: Path, as_json: bool) -> None:
    """Temporarily disable governance in this project; it resumes automatically."""
    import asyncio

    from flyball.app.project import open_home
    from flyball.hosts.governor import HostGovernor
    from flyball.hosts.person import require_person

    seconds = seconds_in(how_long)
    home = open_home(repo, os.environ, {})
    require_person(home, os.environ)
    until = asyncio.run(HostGovernor(home).turn_off(seconds))
    when = time.strftime("%H:%M:%S", time.localtime(until))
    if as_json:
        say_json({"off_until": until})
    else:
        say(f"Flyball is off in {home.repo.name} until {when}. `flyball on` ends that.")


@click.command()
@REPO
@JSON
def on(repo: Path, as_json: bool) -> None:
    """Enable governance in this project again."""
    from flyball.app.project import open_home
    from flyball.app.sessions import Switch

    home = open_home(repo, os.environ, {})
    Switch(home.state).turn_on()
    if as_json:
        say_json({"off_until": 0})
    else:
        say(f"Flyball governs the agents in {home.repo.name}.")
