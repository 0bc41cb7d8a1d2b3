"""`flyball runs fetch|merge|replay|prune`: act on a run's tree."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flyball.cli.card import (
    DATABASE,
    JSON,
    REPO,
    RUN,
    find_kept_run,
    find_run,
    readable,
    say_json,
)
from flyball.cli.terminal.edge import say
from flyball.cli.typed.words import complete_directory, complete_run

if TYPE_CHECKING:
    from flyball.workspace.cards.revert import Replayed
    from flyball.workspace.cards.use_cases import ProjectPlaces


@click.command()
@RUN
@REPO
@DATABASE
@JSON
def fetch(run: str, repo: Path, as_json: bool) -> None:
    """Fetch the current state of a cluster's run into this clone.

    Its branch is flyball/RUN. Its cards can be shown, reverted and merged as if the run had been
    driven here. Commands that need its files fetch them automatically.
    """
    from flyball.app.runs.run_bundle import fetch_run
    from flyball.cli.terminal.view import home_at

    _, run = find_run(repo, run)
    fetched = fetch_run(home_at(repo), run)
    if as_json:
        say_json(fetched._asdict())
    elif fetched.is_new:
        say(f"Run {run} is here, on the branch {fetched.branch}.")
        say(f"flyball runs merge {run}   brings it into your branch.")
    else:
        say(f"Run {run} is already here, on the branch {fetched.branch}.")


@click.command()
@RUN
@click.option(
    "--remove-untracked",
    is_flag=True,
    help="Also remove your untracked files where the run removed them.",
)
@click.option("--unverified", is_flag=True, help="Merge without testing the merged tree.")
@REPO
@DATABASE
@JSON
def merge(run: str, remove_untracked: bool, unverified: bool, repo: Path, as_json: bool) -> None:
    """Merge a run's cards into your branch and checkout, unless your work would be lost.

    A file of yours that is not in git is kept, even if the run removed its copy. If your branch has
    moved on since the run began, the merged tree is tested against it first.
    """
    import msgspec

    from flyball.app.people.decisions import MERGED, NotedDecision, note_decision
    from flyball.app.verifying import refuse_bad_merge
    from flyball.cli.terminal.view import home_at, user
    from flyball.cli.terminal.waiting import waiting
    from flyball.workspace.cards.use_cases import merge as merge_run

    def approve(before: str, after: str) -> None:
        if not unverified:
            if not as_json:
                say("The merged tree is not the one that the run tested: testing it …", err=True)
            with waiting("Testing the merged tree", as_json=as_json) as tell:
                refuse_bad_merge(home_at(repo), before, after, tell)

    place, run = find_kept_run(repo, run)
    report = merge_run(place, run, remove_untracked=remove_untracked, approve=approve)
    note_decision(home_at(repo), NotedDecision(run, time.time(), user(), MERGED))
    branch = report.branch.removeprefix("refs/heads/")
    if as_json:
        say_json({**msgspec.to_builtins(report), "branch": branch})
    else:
        many = "commit" if len(report.commits) == 1 else "commits"
        say(f"Merged run {run} into {branch}: {len(report.commits)} {many}.")
        for path in report.files:
            say(f"  {readable(path)}")
        for path in report.kept:
            say(f"Kept {readable(path)}, which the run removed: it is not in git.")


@click.command()
@RUN
@click.option(
    "--into",
    required=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    shell_complete=complete_directory,
    help="The directory to replay the cards in.",
)
@REPO
@DATABASE
@JSON
@click.pass_context
def replay(ctx: click.Context, run: str, into: Path, repo: Path, as_json: bool) -> None:
    """Replay a run's cards in another directory: all of them, or none if one does not apply."""
    import msgspec

    from flyball.workspace.cards.revert import ReplayStatus
    from flyball.workspace.cards.use_cases import replay_run

    place, run = find_kept_run(repo, run)
    report = replay_run(place, run, into)
    fits = all(each.fate is not ReplayStatus.REFUSED for each in report)
    if as_json:
        say_json({"run": run, "ok": fits, "cards": msgspec.to_builtins(report)})
    else:
        for each in report:
            _say_card(each)
        if not fits:
            say("One card does not fit there, so nothing was written.")
    ctx.exit(0 if fits else 1)


@click.command()
@click.argument("run", required=False, shell_complete=complete_run)
@click.option(
    "--days",
    default=14.0,
    show_default=True,
    metavar="N",
    help="Delete snapshots older than this many days.",
)
@click.option(
    "--keep", default=500, show_default=True, metavar="N", help="Keep at most this many snapshots."
)
@click.option("--abandon", is_flag=True, help="Delete the run's worktree, branch and records.")
@click.option("--yes", is_flag=True, help="Do not ask, even if cards are not merged.")
@REPO
@DATABASE
@JSON
def prune(
    run: str | None, days: float, keep: int, abandon: bool, yes: bool, repo: Path, as_json: bool
) -> None:
    """Delete old snapshots of one run or of all; with --abandon, the run itself.

    With a database, it also deletes what such old runs of the cluster left at the project's remote;
    their branches stay there until they are abandoned.
    """
    import asyncio

    from flyball.cli.terminal.view import home_at
    from flyball.cluster.forgetting import forget_old
    from flyball.workspace.cards import use_cases

    place, named = find_run(repo, run or "")
    run = named if run else None
    if abandon:
        _abandon(run, repo, place, yes=yes, as_json=as_json)
        return
    dropped = freed = 0
    runs = [run] if run else use_cases.kept_runs(place)
    for name in runs:
        pruned = use_cases.prune(place, name, max_age=days * 86_400, max_count=keep)
        dropped, freed = dropped + pruned.snapshots, freed + pruned.freed
    gone = asyncio.run(forget_old(home_at(repo), days * 86_400, only=run or ""))
    if as_json:
        told = {"runs": list(runs), "snapshots": dropped, "freed_bytes": freed}
        say_json({**told, "forgotten_at_remote": gone})
        return
    say(f"Forgot {dropped} snapshots of {len(runs)} runs, {freed / 1e6:.1f} MB freed.")
    if gone:
        say(f"Deleted the snapshots of {gone} runs at the project's remote.")


def _abandon(
    run: str | None, repo: Path, place: ProjectPlaces, *, yes: bool, as_json: bool
) -> None:
    import asyncio

    from flyball.cli.terminal.view import home_at
    from flyball.cluster.forgetting import abandon_run
    from flyball.errors import Conflict, UsageError
    from flyball.workspace.cards import use_cases

    if run is None:
        raise UsageError("--abandon needs the name of a run.", "Name the run to delete.")
    lost = use_cases.unmerged_cards(place, run)
    titles = ", ".join(f"{record.card} ({record.title})" for record in lost)
    if lost and not yes:
        if as_json or not sys.stdin.isatty():
            raise Conflict(
                f"Run {run} has cards that were not merged: {titles}.",
                "Merge it first, or repeat with --yes to delete them.",
            )
        say(f"These cards were not merged and would be gone: {titles}.")
        if not click.confirm("Delete them?"):
            return
    asyncio.run(abandon_run(home_at(repo), place, run, is_sure=yes))
    if as_json:
        say_json({"run": run, "abandoned": True, "lost": [record.card for record in lost]})
    else:
        say(f"Deleted run {run}: worktree, branch and records.")


def _say_card(each: Replayed) -> None:
    say(f"{each.card}  {each.title}: {each.fate.value}")
    for path in each.drifted:
        say(f"  differs from where the run began: {readable(path)}")
    for clash in each.clashes:
        say(f"  does not fit: {readable(clash.path)}: {clash.reason}")
