"""`flyball patch`: apply a unified diff to files on disk, or say why it cannot be applied."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from flyball.errors import FlyballError, NotFound, ToolError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from flyball.patch import Change, PatchResult, Refusal
    from flyball.workspace.files.paths import Root

STDIN = "-"
REFUSED = 1
MOST_FILES = 50_000
"""Among how many files one of the same name is looked for."""
STYLES = {"+": "green", "-": "red", "@": "cyan"}


class PatchRequest(NamedTuple):
    """What was asked for on the command line."""

    file: str
    repo: Path
    as_json: bool
    fuzz: int
    max_offset: int | None
    keep_regions: bool
    partial: bool


@click.group("patch")
def patch() -> None:
    """Apply or check a unified diff, as a model may have written it."""


def _diff_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The argument and options that both commands take."""
    for add in (
        click.option("--preview", is_flag=True, help="Show the resulting diff; write nothing."),
        click.option("--partial", is_flag=True, help="Apply the hunks that fit, skip the others."),
        click.option("--no-keep-regions", is_flag=True, help="Let keep regions be changed."),
        click.option("--max-offset", type=click.IntRange(0), default=None,
                     help="How far from its stated line a hunk may be found; `patch.max_offset`."),
        click.option("--fuzz", type=click.IntRange(0, 2), default=0, show_default=True,
                     help="How many outer context lines may differ."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
        click.option("--repo", type=click.Path(path_type=Path), default=Path(),
                     help="The directory the diff's paths start from; by default this one."),
        click.argument("file", default=STDIN),
    ):  # fmt: skip
        command = add(command)
    return command


@patch.command()
@_diff_options
@click.pass_context
def apply(context: click.Context, preview: bool, no_keep_regions: bool, **options: Any) -> None:
    """Apply the diff in FILE (or stdin): all of it, or nothing."""
    request = PatchRequest(**options, keep_regions=not no_keep_regions)
    context.exit(_perform(request, writes=not preview, shows_diff=preview))


@patch.command()
@_diff_options
@click.pass_context
def check(context: click.Context, preview: bool, no_keep_regions: bool, **options: Any) -> None:
    """Say whether the diff in FILE (or stdin) would apply; write nothing."""
    request = PatchRequest(**options, keep_regions=not no_keep_regions)
    context.exit(_perform(request, writes=False, shows_diff=preview))


def _perform(request: PatchRequest, *, writes: bool, shows_diff: bool) -> int:
    from flyball.workspace.files.paths import Root

    if not request.repo.is_dir():
        raise UsageError(f"{request.repo} is not a directory.", "Give --repo a directory.")
    root = Root(request.repo)
    result = _compute(root, request)
    snapshot = ""
    if result.ok and writes and result.changes:
        snapshot = _note_edit(root, request.repo, result.changes)
        write_all(root, result.changes)
    if request.as_json:
        taken = {"snapshotId": snapshot} if snapshot else {}
        click.echo(json.dumps({**result.to_json(), **taken}))
    else:
        _show(result, done=writes, shows_diff=shows_diff)
        if snapshot:
            click.echo(f"`flyball undo {snapshot}` takes it back.")
    return 0 if result.ok else REFUSED


def _note_edit(root: Root, repo: Path, changes: tuple[Change, ...]) -> str:
    """Keep what is about to be replaced, under the paths that links lead to; the snapshot's id."""
    from flyball.app.project import open_home
    from flyball.workspace.cards.undo import UndoLog

    log = UndoLog(open_home(repo, os.environ, {}).state)
    kept = {root.fact(c.path, write=True).path: (c.before, c.after) for c in changes}
    return log.note("patch apply", root.path, kept)


def _compute(root: Root, request: PatchRequest) -> PatchResult:
    from flyball.app.project import open_home
    from flyball.core.terms.glob import matches
    from flyball.patch import Code, PatchResult, Refusal, apply_diff, touched_paths
    from flyball.patch.engine import why_forbidden

    diff = _read(request.file)
    settings = open_home(request.repo, os.environ, {}).effective.settings
    allowed = settings.patch_paths
    files: dict[str, bytes] = {}
    forbidden: list[Refusal] = []
    for path in touched_paths(diff):
        if why_forbidden(path):
            continue
        fact = root.fact(path, write=True)
        is_listed = not allowed or matches(fact.path, allowed)
        if not fact.inside or fact.protected or not is_listed:
            why = fact.protected or "it leads out of the directory"
            why = why if is_listed else f"`patch.paths` allows only {', '.join(allowed)}"
            message = f"It may not be written: {why}. Choose another file."
            forbidden.append(Refusal(Code.PATH_FORBIDDEN, message, path))
        elif fact.exists:
            files[path] = root.read_bytes(path)
    if forbidden:
        return PatchResult(False, files, errors=tuple(forbidden))
    engine = partial(
        apply_diff,
        diff=diff,
        fuzz=request.fuzz,
        max_offset=settings.patch_max_offset if request.max_offset is None else request.max_offset,
        keep_regions=request.keep_regions,
        partial=request.partial,
    )
    result = engine(files)
    missing = {error.path for error in result.errors if error.code is Code.FILE_MISSING}
    if missing and not result.ok:
        return engine({**_namesakes(root, missing), **files})
    return result


def _namesakes(root: Root, missing: set[str]) -> dict[str, bytes]:
    """Files that are called like those the diff names wrongly, so that it can say so."""
    names = {path.rpartition("/")[2].casefold() for path in missing}
    found = islice(root.walk(), MOST_FILES)
    return {path: b"" for path in found if path.rpartition("/")[2].casefold() in names}


def write_all(root: Root, changes: tuple[Change, ...]) -> None:
    """Write every change; when one cannot be written, put back those that were."""
    done: list[Change] = []
    try:
        for change in changes:
            _put(root, change.path, change.after)
            done.append(change)
    except FlyballError as error:
        stuck = [change.path for change in done if not _restored(root, change)]
        if stuck:
            names = ", ".join(stuck)
            raise ToolError(
                f"{error.message} {names} could not be put back.",
                "Restore them from version control.",
            ) from error
        raise ToolError(error.message, "Nothing was changed. " + error.hint) from error


def _put(root: Root, path: str, data: bytes | None) -> None:
    if data is None:
        root.delete(path)
    else:
        root.write_bytes(path, data)


def _restored(root: Root, change: Change) -> bool:
    try:
        _put(root, change.path, change.before)
    except FlyballError:
        return False
    return True


def _read(file: str) -> str:
    try:
        data = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
    except FileNotFoundError:
        raise NotFound("file", file, "Give a file with a diff, or - for stdin.") from None
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from None
    return data.decode("utf-8", "surrogateescape")


def _show(result: PatchResult, *, done: bool, shows_diff: bool) -> None:
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    for change in result.changes:
        _show_change(console, change)
    for warning in result.warnings:
        console.print(f"  note: {warning}", style="yellow")
    for refusal in result.errors:
        _show_refusal(console, refusal)
    if shows_diff:
        for line in _printable(result.diff).split("\n")[:-1]:
            console.print(line, style=STYLES.get(line[:1]))
    if not result.ok:
        console.print("Refused; nothing was changed.", style="bold red")
    elif done:
        console.print("Applied.", style="bold green")
    else:
        console.print("It would apply; nothing was written.", style="bold green")


def _show_change(console: Console, change: Change) -> None:
    console.print(f"{change.type.value:6} {_printable(change.path)}", style="bold")
    for taken in change.taken:
        moved = f", {taken.offset:+d} lines from where it says" if taken.offset else ""
        console.print(f"  hunk {taken.hunk}: line {taken.line}, {taken.how}{moved}")


def _show_refusal(console: Console, refusal: Refusal) -> None:
    hunk = f", hunk {refusal.hunk}" if refusal.hunk else ""
    where = f"{_printable(refusal.path)}{hunk}: " if refusal.path else ""
    console.print(f"{where}[{refusal.code.value}] {_printable(refusal.message)}", style="red")
    against = "what the hunk expects (-) against what the file has (+)"
    for title, text in ((against, refusal.nearest), ("proposal", refusal.proposal)):
        if text:
            console.print(f"  {title}:")
            for line in _printable(text).rstrip("\n").split("\n"):
                console.print(f"    {line}", style=STYLES.get(line[:1]))


def _printable(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
