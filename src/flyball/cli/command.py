"""`flyball command`: judge a shell command without running it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click
import msgspec

from flyball.cli.terminal.edge import say
from flyball.errors import NotFound, UsageError

if TYPE_CHECKING:
    from flyball.shell import Judgement

EXIT_CODES = {"allow": 0, "deny": 1, "ask": 3}
_COLOURS = {
    "allow": "green",
    "ask": "yellow",
    "deny": "red",
    "read-only": "green",
    "verification": "cyan",
    "mutating": "yellow",
    "destructive": "red",
    "unknown": "magenta",
}


class BatchLine(msgspec.Struct, frozen=True):
    """One line of a batch file; other fields are ignored."""

    cmd: str
    phase: str | None = None


@click.command("command")
@click.argument("cmd", required=False)
@click.option(
    "--phase",
    default="recon",
    show_default=True,
    metavar="PHASE",
    help="recon, checkpoint, execute, verify or final; dotted names work too.",
)
@click.option("--batch", type=click.Path(dir_okay=False), metavar="FILE.jsonl",
              help='Judge one {"cmd", "phase"?} per line; - reads standard input.')  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(cmd: str | None, phase: str, batch: str | None, as_json: bool) -> None:
    """Judge a shell command for a phase, without running it.

    Exit code: 0 allow, 1 deny, 3 ask; a batch exits with 0 if every line was judged.
    """
    _check_phase(phase)
    if (cmd is None) == (batch is None):
        raise UsageError("Give either one command or --batch FILE.jsonl.", "See --help.")
    if batch is not None:
        _judge_batch(batch, phase)
        return
    assert cmd is not None
    judgement = _judge(cmd, phase)
    if as_json:
        say(msgspec.json.encode(judgement))
    else:
        _show(judgement, phase)
    raise SystemExit(EXIT_CODES[judgement.decision])


def _judge(cmd: str, phase: str) -> Judgement:
    from flyball.shell import judge

    # Without pathlib, whose import takes half as long as the judgement.
    return judge(cmd, phase=phase, root=os.getcwd())  # noqa: PTH109


def _check_phase(phase: str, where: str = "--phase") -> None:
    from flyball.shell import PHASES, phase_of

    if phase_of(phase) is None:
        raise UsageError(f"{where}: there is no phase {phase!r}.", f"Use {', '.join(PHASES)}.")


def _judge_batch(path: str, phase: str) -> None:
    for number, line in _lines(path):
        where = f"{path}, line {number}"
        try:
            item = msgspec.json.decode(line, type=BatchLine)
        except msgspec.MsgspecError as error:
            raise UsageError(
                f"{where}: {error}.", 'Each line must be {"cmd": "…"} with an optional "phase".'
            ) from None
        _check_phase(item.phase or phase, where)
        say(msgspec.json.encode(_judge(item.cmd, item.phase or phase)))


def _lines(path: str) -> Iterator[tuple[int, bytes]]:
    from pathlib import Path

    if path == "-":
        data = sys.stdin.buffer.read()
    else:
        try:
            data = Path(path).read_bytes()
        except FileNotFoundError:
            raise NotFound("file", path, "Name a file of JSON lines.") from None
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.strip():
            yield number, line


def _show(judgement: Judgement, phase: str) -> None:
    # Without rich, whose import takes longer than the whole judgement.
    say(judgement.decision, nl=False, fg=_COLOURS[judgement.decision])
    say(f" in {phase} · ", nl=False)
    say(judgement.kind, fg=_COLOURS[judgement.kind])
    for part in judgement.parts:
        say(f"  {part.kind:<13}", nl=False, fg=_COLOURS[part.kind])
        say(f"{part.text}  {part.reason}".replace("\n", "⏎"))
    if judgement.decision != "allow":
        say(judgement.reason)
