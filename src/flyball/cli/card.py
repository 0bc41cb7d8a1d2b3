"""`flyball card`: show, revert and reapply a card."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flyball.cli.terminal.edge import say
from flyball.cli.typed.words import (
    complete_card,
    complete_directory,
    complete_file,
    complete_run,
)
from flyball.errors import UsageError

if TYPE_CHECKING:
    from flyball.workspace.cards.revert import Moved
    from flyball.workspace.cards.use_cases import CardView, ProjectPlaces
    from flyball.workspace.run.worktree import CommitKind
    from flyball.workspace.trees.trees import Changed

REPO = click.option(
    "--repo",
    default=".",
    metavar="DIR",
    type=click.Path(path_type=Path),
    shell_complete=complete_directory,
    help="The project directory; default: the current one.",
)


def _use_database(url: str) -> str:
    """Set the database in the environment, where every part reads it."""
    os.environ["FLYBALL_DATABASE"] = url
    return url


DATABASE = click.option(
    "--database",
    metavar="URL",
    expose_value=False,
    type=_use_database,
    help="Postgres URL of the runs; FLYBALL_DATABASE keeps it out of the process list.",
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
HISTORY = click.option(
    "--history",
    metavar="FILE",
    shell_complete=complete_file,
    help="The conversation so far, as JSON; - reads stdin.",
)
YES = click.option("--yes", is_flag=True, help="Continue even if later work would be lost.")
PATHS = click.option(
    "--paths",
    multiple=True,
    metavar="PATH…",
    shell_complete=complete_file,
    help="Only these files or directories.",
)
MORE = click.argument("more", nargs=-1, metavar="", required=False, shell_complete=complete_file)
RUN = click.argument("run", shell_complete=complete_run)
NAME = click.argument("name", metavar="CARD", shell_complete=complete_card)


@click.group()
def card() -> None:
    """Show, revert or reapply a card.

    The change is made where the card's work is now: in the run's own worktree or, if the run was
    merged or ran in place, in your checkout. You are warned before later work is lost.
    """


@card.command()
@RUN
@NAME
@REPO
@JSON
def show(run: str, name: str, repo: Path, as_json: bool) -> None:
    """Show what a card changed, and its notes."""
    from flyball.workspace.cards.use_cases import show_card

    place, run = find_kept_run(repo, run)
    view = show_card(place, run, name)
    if as_json:
        say_json(_as_dict(view))
        return
    record = view.record
    state = "reverted" if view.is_reverted else (view.artifact and view.artifact.status) or "kept"
    say(f"{record.card}  {record.title}  ({state})")
    say(f"run {record.run}, commit {record.commit[:12]}")
    for change in view.changes:
        say(f"  {line_of(change)}")
    if record.left:
        say(f"  left behind, not committed: {', '.join(map(readable, record.left))}")
    for verdict in view.artifact.verdicts if view.artifact else ():
        say(f"  {verdict.check}: {verdict.verdict}. {verdict.sentence}".rstrip())
    for what, path in view.artifact.pictures.items() if view.artifact else ():
        say(f"  picture: {what}: {readable(path)}")
    if view.artifact and view.artifact.risk:
        say(f"  risk: {view.artifact.risk}")
    if view.artifact and view.artifact.assumptions:
        say(f"  assumes: {'; '.join(view.artifact.assumptions)}")
    say("")
    say_diff(view.diff)


@card.command()
@RUN
@NAME
@MORE
@PATHS
@REPO
@YES
@JSON
def revert(
    run: str, name: str, more: tuple[str, ...], paths: tuple[str, ...], repo: Path, **flags: bool
) -> None:
    """Revert a card, or only some of its paths."""
    from flyball.workspace.run.worktree import CommitKind

    _move(CommitKind.REVERT, run, name, _joined(paths, more), repo, **flags)


@card.command()
@RUN
@NAME
@MORE
@PATHS
@REPO
@YES
@JSON
def apply(
    run: str, name: str, more: tuple[str, ...], paths: tuple[str, ...], repo: Path, **flags: bool
) -> None:
    """Reapply a card that was reverted."""
    from flyball.workspace.run.worktree import CommitKind

    _move(CommitKind.APPLY, run, name, _joined(paths, more), repo, **flags)


def find_run(repo: Path, run: str) -> tuple[ProjectPlaces, str]:
    """Return the project and the named run; a run without a journal needs its whole name."""
    import asyncio

    from flyball.app.project import open_home
    from flyball.app.runs.journals import find_run
    from flyball.errors import NotFound
    from flyball.workspace.cards.use_cases import ProjectPlaces

    home = open_home(repo, os.environ, {})
    place = ProjectPlaces(home.repo, home.state, Path.home())
    try:
        return place, asyncio.run(find_run(home, run))
    except NotFound:
        return place, run


def find_kept_run(repo: Path, run: str) -> tuple[ProjectPlaces, str]:
    """Return the project and the run, with its files fetched if cluster workers drove it."""
    import asyncio

    from flyball.app.project import open_home
    from flyball.app.runs.files import bring_submitted

    place, run = find_run(repo, run)
    asyncio.run(bring_submitted(open_home(repo, os.environ, {}), run))
    return place, run


def say_json(value: dict[str, Any]) -> None:
    """Print one JSON object, including file names that are not valid UTF-8."""
    say(json.dumps(value, default=str))


def readable(name: str) -> str:
    """Return a file name that any terminal can print."""
    return os.fsencode(name).decode(errors="replace")


def line_of(change: Changed) -> str:
    """Return one line for a changed file."""
    size = "binary" if change.binary else f"+{change.added} −{change.removed}"
    return f"{change.kind.value:<9} {readable(change.path)}  {size}"


def _joined(paths: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    if more and not paths:
        raise UsageError(
            f"{more[0]!r} was not expected here.", "Name files with --paths, after run and card."
        )
    return (*paths, *more)


def _move(
    step: CommitKind,
    run: str,
    name: str,
    paths: tuple[str, ...],
    repo: Path,
    *,
    yes: bool,
    as_json: bool,
) -> None:
    import time

    from flyball.app.people.decisions import ACTIONS, NotedDecision, note_decision
    from flyball.cli.terminal.view import home_at, user
    from flyball.workspace.cards.use_cases import foresee, move_card

    place, run = find_kept_run(repo, run)
    if not yes and not as_json and sys.stdin.isatty():
        found = foresee(place, run, name, step, paths)
        if found.losses:
            say("Continuing would lose later work:")
            for loss in found.losses:
                say(f"  {readable(loss.path)}: {loss.reason}")
            yes = click.confirm("Go on?")
            if not yes:
                return
    moved, root = move_card(place, run, name, step, paths, force=yes)
    if moved.writes:
        note_decision(home_at(repo), NotedDecision(run, time.time(), user(), ACTIONS[step], name))
    if as_json:
        say_json(_moved_dict(moved, root))
    else:
        _say_moved(moved, root)


def _say_moved(moved: Moved, root: Path) -> None:
    from flyball.workspace.run.worktree import CommitKind

    if moved.finished:
        say(f"First completed an interrupted operation: {moved.finished}.")
    is_revert = moved.step is CommitKind.REVERT
    if not moved.writes:
        state = "already reverted" if is_revert else "already applied"
        say(f"Card {moved.card} is {state}; nothing to do in {root}.")
        return
    done = "Reverted" if is_revert else "Applied"
    say(f"{done} card {moved.card} in {root}:")
    for change in moved.writes:
        say(f"  {line_of(change)}")
    for path in moved.drifted:
        say(f"  kept later changes in {readable(path)}")
    for loss in moved.lost:
        say(f"  lost later changes in {readable(loss.path)}")


def _moved_dict(moved: Moved, root: Path) -> dict[str, Any]:
    import msgspec

    return {**msgspec.to_builtins(moved), "step": moved.step.name.lower(), "root": os.fspath(root)}


def _as_dict(view: CardView) -> dict[str, Any]:
    import msgspec

    return {**msgspec.to_builtins(view), "status": "reverted" if view.is_reverted else "kept"}


def say_diff(diff: str) -> None:
    """Print a diff, in colour unless disabled."""
    colours = {"+": "green", "-": "red", "@": "cyan"}
    plain = bool(os.environ.get("NO_COLOR"))
    for line in diff.rstrip("\n").split("\n"):
        colour = None if plain else colours.get(line[:1])
        say(line, fg=colour)
