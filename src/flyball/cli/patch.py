"""`flyball patch`: apply a unified diff to files on disk, or explain why it cannot be applied."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from flyball.cli.terminal.edge import clean_console, say
from flyball.cli.typed.words import complete_directory, complete_file
from flyball.errors import NotFound, UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from flyball.patch import Change, PatchResult, Refusal

STDIN = "-"
REFUSED = 1
STYLES = {"+": "green", "-": "red", "@": "cyan"}


class PatchArguments(NamedTuple):
    """The arguments of the command line."""

    file: str
    repo: Path
    as_json: bool
    fuzz: int
    max_offset: int | None
    keep_regions: bool
    partial: bool


@click.group("patch")
def patch() -> None:
    """Apply or check a unified diff as models write them."""


def _diff_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument and options that both commands take."""
    for add in (
        click.option("--preview", is_flag=True, help="Show the resulting diff; write nothing."),
        click.option("--partial", is_flag=True, help="Apply the hunks that fit; skip the others."),
        click.option("--no-keep-regions", is_flag=True, help="Allow changes to keep regions."),
        click.option("--max-offset", type=click.IntRange(0), default=None, metavar="N",
                     help="Maximum lines between a hunk's stated and actual position."),
        click.option("--fuzz", type=click.IntRange(0, 2), default=0, show_default=True, metavar="N",
                     help="Outer context lines that may differ."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
        click.option("--repo", type=click.Path(path_type=Path), default=Path(), metavar="DIR",
                     shell_complete=complete_directory,
                     help="The directory of the diff's paths; default: the current one."),
        click.argument("file", default=STDIN, shell_complete=complete_file),
    ):  # fmt: skip
        command = add(command)
    return command


@patch.command()
@_diff_options
@click.pass_context
def apply(context: click.Context, preview: bool, no_keep_regions: bool, **options: Any) -> None:
    """Apply the diff in FILE (or stdin): all of it, or nothing."""
    request = PatchArguments(**options, keep_regions=not no_keep_regions)
    context.exit(_perform(request, writes=not preview, shows_diff=preview))


@patch.command()
@_diff_options
@click.pass_context
def check(context: click.Context, preview: bool, no_keep_regions: bool, **options: Any) -> None:
    """Check whether the diff in FILE (or stdin) applies; write nothing."""
    request = PatchArguments(**options, keep_regions=not no_keep_regions)
    context.exit(_perform(request, writes=False, shows_diff=preview))


def _perform(request: PatchArguments, *, writes: bool, shows_diff: bool) -> int:
    from flyball.app.patching import PatchRequest, patch_project

    asked = PatchRequest(
        _read(request.file),
        request.repo,
        request.fuzz,
        request.max_offset,
        request.keep_regions,
        request.partial,
    )
    result, snapshot = patch_project(asked, os.environ, writes=writes)
    if request.as_json:
        taken = {"snapshotId": snapshot} if snapshot else {}
        say(json.dumps({**result.to_json(), **taken}))
    else:
        _show(result, done=writes, shows_diff=shows_diff)
        if snapshot:
            say(f"`flyball undo {snapshot}` takes it back.")
    return 0 if result.ok else REFUSED


def _read(file: str) -> str:
    try:
        data = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
    except FileNotFoundError:
        raise NotFound("file", file, "Give a file with a diff, or - for stdin.") from None
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from None
    return data.decode("utf-8", "surrogateescape")


def _show(result: PatchResult, *, done: bool, shows_diff: bool) -> None:

    console = clean_console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    for change in result.changes:
        _show_change(console, change)
    for warning in result.warnings:
        console.print(f"  note: {warning}", style="yellow")
    for refusal in result.errors:
        _show_refusal(console, refusal)
    if shows_diff:
        for line in result.diff.split("\n")[:-1]:
            console.print(line, style=STYLES.get(line[:1]))
    if not result.ok:
        console.print("Refused; nothing was changed.", style="bold red")
    elif done:
        console.print("Applied.", style="bold green")
    else:
        console.print("The diff applies; nothing was written.", style="bold green")


def _show_change(console: Console, change: Change) -> None:
    console.print(f"{change.type.value:6} {change.path}", style="bold")
    for taken in change.taken:
        moved = f", {taken.offset:+d} lines from its stated position" if taken.offset else ""
        console.print(f"  hunk {taken.hunk}: line {taken.line}, {taken.how}{moved}")


def _show_refusal(console: Console, refusal: Refusal) -> None:
    hunk = f", hunk {refusal.hunk}" if refusal.hunk else ""
    where = f"{refusal.path}{hunk}: " if refusal.path else ""
    console.print(f"{where}[{refusal.code.value}] {refusal.message}", style="red")
    against = "what the hunk expects (-) against what the file has (+)"
    for title, text in ((against, refusal.nearest), ("proposal", refusal.proposal)):
        if text:
            console.print(f"  {title}:")
            for line in text.rstrip("\n").split("\n"):
                console.print(f"    {line}", style=STYLES.get(line[:1]))
