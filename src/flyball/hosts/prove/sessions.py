"""Run sessions of a real host on a stage, end their processes, and read the results."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from flyball.errors import ToolError
from flyball.hosts.prove import session
from flyball.hosts.prove.launch import Launch
from flyball.hosts.prove.model.turns import Turn
from flyball.hosts.prove.session import SessionCase, SessionReport
from flyball.hosts.prove.stage import MARK, ProofStage
from flyball.workspace.process.spawn import run_sync

GRACE = 20.0
"""Seconds beyond the host's own limit after which the whole session is killed."""
_NO_TURN = 10**6


class Played(NamedTuple):
    """A finished session: how the host ended, and what its model received at each turn."""

    report: SessionReport
    requests: tuple[tuple[int, str], ...]

    def received(self, turn: int) -> str:
        """Return what the model had received when it was asked for this turn."""
        return next((text for at, text in self.requests if at == turn), "")

    @property
    def ended(self) -> str:
        """Describe how the session ended; empty if it exited by itself with success."""
        lines = [line.strip() for line in self.report.said.splitlines() if line.strip()]
        last = lines[-1][:300] if lines else "it said nothing"
        if self.report.exit_code is None:
            return last
        if self.report.exit_code:
            return f"it ended with exit code {self.report.exit_code}: {last}"
        return "" if self.requests else f"it sent no request to its model: {last}"


def can_be_alone(environ: Mapping[str, str]) -> list[str]:
    """Return the command prefix that gives a command its own network; empty if unavailable."""
    alone = ["unshare", "-n" if os.geteuid() == 0 else "-rn"]
    env = {"PATH": environ.get("PATH") or os.defpath}
    try:
        done = run_sync([*alone, "true"], cwd=Path("/"), env=env, seconds=10)
    except ToolError:
        return []
    return [] if done.exit_code else alone


def play_session(
    stage: ProofStage, launch: Launch, turns: list[Turn], environ: Mapping[str, str], seconds: float
) -> Played:
    """Run the host through the model's script, then end every process it started."""
    env = stage.environ(environ)
    alone = can_be_alone(env)
    case = SessionCase(
        argv=launch.argv,
        env={**env, **launch.env},
        cwd=os.fspath(stage.project),
        files=launch.files,
        script={"turns": turns},
        seconds=seconds,
        is_alone=bool(alone),
    )
    place = stage.place / "case.json"
    place.write_bytes(msgspec.json.encode(case))
    argv = [*alone, sys.executable, "-P", "-m", session.__name__, os.fspath(place)]
    report = SessionReport(None, f"it did not end within {seconds:g} s, and was ended")
    try:
        done = run_sync(argv, cwd=stage.place, env=env, seconds=seconds + GRACE)
        if (answer := place.with_name(session.REPORT)).exists():
            report = msgspec.json.decode(answer.read_bytes(), type=SessionReport)
        else:
            report = SessionReport(None, done.stderr.decode(errors="replace"))
    except ToolError as error:
        report = SessionReport(None, error.message)
    finally:
        end_leftovers(stage)
    return Played(report, _requests(place.with_name(session.REQUESTS)))


def _requests(log: Path) -> tuple[tuple[int, str], ...]:
    lines = log.read_text().splitlines() if log.exists() else []
    entries: list[dict[str, Any]] = [json.loads(line) for line in lines]
    found: list[tuple[int, str]] = []
    for entry in entries:
        _, _, turn = (entry["track"] or "").partition("/")
        at = int(turn) if turn.isdigit() else _NO_TURN
        found.append((at, json.dumps(entry["body"], ensure_ascii=False)))
    return tuple(found)


def end_leftovers(stage: ProofStage) -> None:
    """End processes left by a session: hosts start shells in groups of their own."""
    mark = f"{MARK}={stage.place}".encode()
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark in (place / "environ").read_bytes().split(b"\0"):
                os.kill(int(place.name), signal.SIGKILL)
