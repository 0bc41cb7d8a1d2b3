"""`flyball guards`: what the guards say of recorded runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from flyball.core.record.recording import GuardReport


@click.command("guards")
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per file.")
def guards(files: tuple[str, ...], as_json: bool) -> None:
    """Judge recorded runs: SWE-agent .traj files and exported journals.

    For each run: how many steps it has, which guards tripped where, and the step at which the
    first hard trip would have stopped it.
    """
    from flyball.errors import UsageError

    judged: list[tuple[str, GuardReport]] = []
    faults: list[UsageError] = []
    for file in files:
        try:
            judged.append((_shown(file), _judge(file)))
        except UsageError as error:
            faults.append(error)
    if judged:
        (_print_lines if as_json else _print_table)(judged)
    if faults:
        raise faults[0]


def _judge(file: str) -> GuardReport:
    from pathlib import Path

    from flyball.core.record.recording import judge_recording
    from flyball.core.record.swe_agent import WANTED
    from flyball.errors import NotFound, UsageError

    try:
        data = Path(file).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound("file", _shown(file), WANTED) from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{_shown(file)} cannot be read: {why}.", WANTED) from None
    try:
        return judge_recording(data)
    except UsageError as error:
        raise UsageError(f"{_shown(file)}: {error.message}", error.hint) from None


def _shown(file: str) -> str:
    """A file name that can always be printed."""
    return file.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _print_lines(judged: list[tuple[str, GuardReport]]) -> None:
    import msgspec

    for file, judgement in judged:
        line = {"file": file, **msgspec.to_builtins(judgement)}
        click.echo(msgspec.json.encode(line).decode())


PIPED_WIDTH = 400
"""Wide enough that a reason stays on its line when a program or a file reads the table."""


def _print_table(judged: list[tuple[str, GuardReport]]) -> None:
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PIPED_WIDTH)
    run = Column("run", overflow="fold")
    table = Table(run, "steps", "stopped at", "trips", box=None, pad_edge=False)
    for file, judgement in judged:
        trips = Text("\n").join(
            Text(f"{trip.step} {trip.level} {trip.guard}: {trip.reason}")
            for trip in judgement.trips
        )
        stopped = "-" if judgement.stopped_at is None else str(judgement.stopped_at)
        table.add_row(Text(file), str(judgement.steps), stopped, trips or Text("none"))
    console.print(table)
