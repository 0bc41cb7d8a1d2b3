"""Select the view, project and user of a command, and print next steps."""

from __future__ import annotations

import getpass
import os
import shlex
import shutil
import sys
from pathlib import Path

from flyball.app.answering import NextStep
from flyball.app.project import Home, open_home, project_top
from flyball.cli.terminal.edge import clean_console
from flyball.cli.terminal.plain import JsonView, PlainView, View
from flyball.cli.terminal.story_words import StoryLine


def user() -> str:
    """Return the user name that the system reports."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"


def home_at(repo: Path, flags: dict[str, object] | None = None) -> Home:
    """Return the project of a command."""
    return open_home(repo, os.environ, flags or {})


def make_view(*, as_json: bool) -> View:
    """Return a JSON view for programs, a live view for terminals, else plain lines."""
    if as_json:
        return JsonView()
    if not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        return PlainView()

    from flyball.cli.terminal.live import LiveView

    return LiveView(clean_console(highlight=False))


def tell_steps(view: View, steps: tuple[NextStep, ...], repo: Path) -> None:
    """Print the exact commands, each with its effect."""
    commands = [with_repo(step.command, repo) for step in steps]
    width = max(map(len, commands), default=0)
    longest = max((len(step.effect) for step in steps), default=0)
    is_wide = width + longest + len("    # ") > shutil.get_terminal_size().columns
    for command, step in zip(commands, steps, strict=True):
        if is_wide:
            view.say(StoryLine("dim", f"# {step.effect}"))
            view.say(StoryLine("command", command))
        else:
            view.say(StoryLine("command", f"{command.ljust(width)}  # {step.effect}"))


def with_repo(command: str, repo: Path) -> str:
    """Return a command that names this project if the current directory is outside it."""
    if project_top(Path.cwd()) == repo:
        return command
    return f"{command} --repo {shlex.quote(os.fspath(repo))}"
