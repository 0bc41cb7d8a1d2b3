"""Sessions of a real host on a stage: started, ended with everything they began, and read."""

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

from flyball.app.proving import session
from flyball.app.proving.launch import Launch
from flyball.app.proving.model.turns import Turn
from flyball.app.proving.session import SessionCase, SessionReport
from flyball.app.proving.stage import MARK, ProofStage
from flyball.errors import ToolError
from flyball.workspace.process.spawn import run_sync

GRACE = 20.0
"""Seconds beyond the host's own limit after which the whole session is ended from outside."""
_NO_TURN = 10**6


class Played(NamedTuple):
    """A session that is over: how the host ended, and what its model was told at each turn."""

    report: SessionReport
    requests: tuple[tuple[int, str], ...]

    def heard(self, turn: int) -> str:
        """What the model had been told when it was asked for its turn with this number."""
        return next((text for at, text in self.requests if at == turn), "")

    @property
    def ended(self) -> str:
        """How it ended, in words, where that was not by itself and well."""
        said = [line.strip() for line in self.report.said.splitlines() if line.strip()]
        last = said[-1][:300] if said else "it said nothing"
        if self.report.exit_code is None:
            return last
        if self.report.exit_code:
            return f"it ended with exit code {self.report.exit_code}: {last}"
        return "" if self.requests else f"it asked its model nothing: {last}"


def can_be_alone(environ: Mapping[str, str]) -> list[str]:
    """The command before another one that gives it a network of its own; empty if none can be."""
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
    """Let the host work through what its model says; whatever it started is ended then."""
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
    """End what a session left running: hosts start shells in groups of their own."""
    mark = f"{MARK}={stage.place}".encode()
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark in (place / "environ").read_bytes().split(b"\0"):
                os.kill(int(place.name), signal.SIGKILL)
