"""`flyball trust`: accept a repository's configuration."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flyball.cli.card import JSON, REPO
from flyball.cli.terminal.edge import say

if TYPE_CHECKING:
    from flyball.app.project import Offer


@click.command()
@REPO
@click.option("--yes", is_flag=True, help="Do not ask.")
@JSON
def trust(repo: Path, yes: bool, as_json: bool) -> None:
    """Trust this repository's flyball.toml and its templates.

    The settings can tighten rules, never loosen them. You accept the files as they are now; if one
    changes, it must be accepted again.
    """
    from flyball.app.project import offer, open_home
    from flyball.app.project import trust as accept
    from flyball.errors import UsageError
    from flyball.hosts.person import require_person

    require_person(open_home(repo, os.environ, {}), os.environ)
    found = offer(os.environ, repo)
    if not as_json:
        _show(found)
    if not found.is_trusted and not yes:
        if as_json or not sys.stdin.isatty():
            raise UsageError("Only a person can trust it.", "Repeat with --yes to accept it.")
        if not click.confirm("\nTrust it?"):
            say("It is not trusted; none of it applies.")
            return
    if not found.is_trusted:
        accept(os.environ, found)
    if as_json:
        said = {"path": str(found.path), "settings": dict(found.settings), "trusted": True}
        files = [str(each.path) for each in found.templates]
        say(json.dumps({**said, "ignored": found.ignored, "templates": files}))
    else:
        say("It was trusted already." if found.is_trusted else "It is trusted now.")


def _show(found: Offer) -> None:
    """Print what would be accepted: every file, and the settings that would apply."""
    if found.text:
        _show_file(found.path, found.text)
        say("\nWould count:" if found.settings else "\nNone of it would apply.")
        for key, value in found.settings:
            say(f"  {key} = {value}")
        for line in found.ignored:
            say(f"  not heeded: {line}")
    for each in found.templates:
        _show_file(each.path, each.text)


def _show_file(path: Path, text: str) -> None:
    say(f"{path}:\n")
    say("\n".join(f"  {line}" for line in text.rstrip().split("\n")))
