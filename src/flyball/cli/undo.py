"""`flyball undo`: undo the last edit, or the edit of a snapshot."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flyball.cli.card import JSON, REPO, readable, say_json
from flyball.cli.terminal.edge import say

if TYPE_CHECKING:
    from flyball.workspace.cards.undo import EditRecord


@click.command()
@click.argument("snapshot", required=False, default="")
@click.option("--list", "is_list", is_flag=True, help="List the edits that can be undone.")
@click.option("--preview", is_flag=True, help="Show what would be undone; write nothing.")
@click.option("--force", is_flag=True, help="Continue even if the files have changed since.")
@REPO
@JSON
def undo(
    snapshot: str, is_list: bool, preview: bool, force: bool, repo: Path, as_json: bool
) -> None:
    """Undo the last edit in this checkout, or the one with this SNAPSHOT.

    `flyball patch apply` and every edit of a run return a snapshot's id as `snapshotId`; its first
    characters are enough. An undo is an edit too, and can be undone by its own id.
    """
    from flyball.app.project import open_home
    from flyball.workspace.cards import undo as undoing
    from flyball.workspace.cards.use_cases import ProjectPlaces

    home = open_home(repo, os.environ, {})
    places = ProjectPlaces(home.repo, home.state, Path.home())
    if is_list:
        _say_edits(undoing.edits(places), as_json=as_json)
        return
    edit = undoing.find_edit(places, snapshot)
    if not as_json:
        say(f"{_when(edit)}  {edit.title}, in {readable(edit.root)}")
        for line in _lines(edit):
            say(f"  {line}")
    if preview:
        if as_json:
            say_json({"undoes": edit.id, "title": edit.title, "files": _files(edit)})
        return
    done = undoing.undo(places, edit, force=force)
    if as_json:
        files = [change.path for change in done.writes]
        told = {"undoes": edit.id, "snapshotId": done.snapshot, "files": files, "lost": done.lost}
        say_json({**told, "root": edit.root, "title": edit.title})
    elif not done.writes:
        say("The files are already as they were before that edit.")
    else:
        say(f"Restored. `flyball undo {done.snapshot}` reverts that.")


def _say_edits(found: tuple[EditRecord, ...], *, as_json: bool) -> None:
    if as_json:
        rows = [{"snapshotId": e.id, "title": e.title, "files": _files(e)} for e in found]
        say_json({"edits": [{**row, "at": e.at} for row, e in zip(rows, found, strict=True)]})
        return
    for edit in found:
        names = ", ".join(readable(file.path) for file in edit.files)
        say(f"{edit.id[:12]}  {_when(edit)}  {edit.title}: {names}")
    if not found:
        say("There is no edit to undo in this checkout.")


def _files(edit: EditRecord) -> list[dict[str, Any]]:
    return [{"path": file.path, "does": _action(file.before, file.after)} for file in edit.files]


def _lines(edit: EditRecord) -> list[str]:
    return [f"{_action(f.before, f.after):<8} {readable(f.path)}" for f in edit.files]


def _action(before: object, after: object) -> str:
    """Return the effect of undoing an edit on a file."""
    if before is None:
        return "remove"
    return "restore" if after is None else "reset"


def _when(edit: EditRecord) -> str:
    import time

    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(edit.at))
