"""`flyball guards`: apply the guards to recorded runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flyball.cli.terminal.edge import clean_console, say
from flyball.cli.typed.words import complete_file

if TYPE_CHECKING:
    from flyball.guards.guard import GuardLimits
    from flyball.record.recording import GuardReport


@click.command("guards")
@click.argument("files", nargs=-1, required=True, metavar="FILE…", shell_complete=complete_file)
@click.option(
    "--limits",
    "limits_file",
    metavar="FILE",
    shell_complete=complete_file,
    help="Use these limits: a TOML or JSON file with the keys of [guards].",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per file.")
def guards(files: tuple[str, ...], limits_file: str | None, as_json: bool) -> None:
    """Check recorded runs for doom loops: SWE-agent, mini-SWE-agent, OpenHands, journals.

    For each run it reports the number of steps, which guards tripped where, and the step at which
    the first hard trip would have stopped it. Without --limits this project's settings apply; an
    exported journal is judged by its own policy unless limits are given.
    """
    from flyball.errors import UsageError

    limits = _read_limits(limits_file) if limits_file else _settled_limits()
    judged: list[tuple[str, GuardReport]] = []
    faults: list[UsageError] = []
    for file in files:
        try:
            judged.append((_shown(file), _judge(file, limits, bool(limits_file))))
        except UsageError as error:
            faults.append(error)
    if judged:
        (_print_lines if as_json else _print_table)(judged)
    if faults:
        raise faults[0]


def _settled_limits() -> GuardLimits:
    """Return the configured limits of the user and this project, or the defaults."""
    import os
    from pathlib import Path

    from flyball.app.project import open_home

    return open_home(Path.cwd(), os.environ, {}).effective.settings.policy.guards


def _read_limits(file: str) -> GuardLimits:
    import tomllib
    from pathlib import Path

    import msgspec

    from flyball.errors import NotFound, UsageError
    from flyball.guards.guard import GuardLimits

    hint = "Write the keys of [guards], such as repetition_hard = 5."
    try:
        text = Path(file).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise NotFound("file", _shown(file), hint) from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{_shown(file)} cannot be read: {error}.", hint) from None
    try:
        read = msgspec.json.decode(text) if text.lstrip().startswith("{") else tomllib.loads(text)
        return msgspec.convert(read.get("guards", read), GuardLimits)
    except (msgspec.MsgspecError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{_shown(file)}: {error}.", hint) from None


def _judge(file: str, limits: GuardLimits, are_given: bool) -> GuardReport:
    from pathlib import Path

    from flyball.agents.swe_agent import WANTED
    from flyball.errors import NotFound, UsageError
    from flyball.record.recording import judge_recording

    try:
        data = Path(file).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound("file", _shown(file), WANTED) from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{_shown(file)} cannot be read: {why}.", WANTED) from None
    try:
        return judge_recording(data, limits, for_journals=are_given)
    except UsageError as error:
        raise UsageError(f"{_shown(file)}: {error.message}", error.hint) from None


def _shown(file: str) -> str:
    """Return a file name that can always be printed."""
    return file.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _print_lines(judged: list[tuple[str, GuardReport]]) -> None:
    import msgspec

    for file, judgement in judged:
        line = {"file": file, **msgspec.to_builtins(judgement)}
        say(msgspec.json.encode(line).decode())


PIPED_WIDTH = 400
"""Wide enough to keep a reason on its line when the output is not a terminal."""


def _print_table(judged: list[tuple[str, GuardReport]]) -> None:
    from rich.table import Column, Table
    from rich.text import Text

    console = clean_console(highlight=False)
    if not console.is_terminal:
        console = clean_console(highlight=False, width=PIPED_WIDTH)
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
