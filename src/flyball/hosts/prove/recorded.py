"""Test without a host: send recorded hook payloads to the installed command."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from flyball.errors import ToolError
from flyball.hosts.install.json_hooks import command_of
from flyball.hosts.install.targets import HostPlaces
from flyball.hosts.prove.installed import InstalledHooks
from flyball.hosts.prove.lines import ProofLine, ProofState
from flyball.hosts.prove.sessions import end_leftovers
from flyball.hosts.prove.stage import ProofStage, set_stage
from flyball.workspace.process.spawn import OwnOutput, run_sync

WRITE = "a recorded write before the checkpoint is refused with exit 2 and a reason"
READ = "a recorded read is allowed"
BROKEN = "input that cannot be read never lets a write pass"
REFUSED = 2
SECONDS = 60.0
_RECORDED = Path(__file__).with_name("recorded.json")
_RECORDED_IN = "/home/dev/project"


def recorded(host: str, what: str, project: Path) -> bytes:
    """Return a recorded payload of the host, adapted to another project."""
    payload = json.loads(_RECORDED.read_bytes())[host][what]
    text = json.dumps(payload).replace(_RECORDED_IN, json.dumps(os.fspath(project))[1:-1])
    return text.encode()


def show_recorded(host: str, places: HostPlaces, hooks: list[InstalledHooks]) -> list[ProofLine]:
    """Return the installed command's answers to recorded payloads, on a stage of its own."""
    with tempfile.TemporaryDirectory(prefix="fb-", ignore_cleanup_errors=True) as place:
        stage = ProofStage(Path(place).resolve())
        set_stage(stage, host, places, hooks)
        try:
            return list(_lines(host, stage, places, hooks[0]))
        finally:
            end_leftovers(stage)


def _lines(
    host: str, stage: ProofStage, places: HostPlaces, hooks: InstalledHooks
) -> Iterator[ProofLine]:
    argv = ("/bin/sh", "-c", command_of(hooks.executable, host, hooks.level))
    env = stage.environ(places.environ)
    send = partial(run_sync, argv, cwd=stage.project, env=env, seconds=SECONDS)
    next = f"flyball init --host {host} --scope {hooks.target.scope}"

    def line(name: str, claim: str, fault: str, seen: str) -> ProofLine:
        if fault:
            return ProofLine(name, claim, ProofState.FAILED, fault, next)
        return ProofLine(name, claim, ProofState.SHOWN, seen)

    write = recorded(host, "write", stage.project)
    try:
        answer = send(stdin=write)
        text = answer.stderr.decode(errors="replace").strip()
        yield line("write", WRITE, _not_refused(answer), text.partition("\n")[0][:200])
        answer = send(stdin=recorded(host, "read", stage.project))
        yield line("read", READ, _not_allowed(answer), "exit 0, and nothing refused")
        broken = (b"", b"{", b"[]", b"\x00\xff", write[: len(write) // 2])
        faults = [fault for each in broken if (fault := _not_refused(send(stdin=each)))]
        yield line("broken", BROKEN, "; ".join(faults), f"{len(broken)} kinds, each refused")
    except ToolError as error:
        yield line("command", "the installed command answers", error.message, "")


def _not_refused(answer: OwnOutput) -> str:
    """Return the error in a refusal; some hosts obey only one that has all three parts."""
    if answer.exit_code != REFUSED:
        return f"it ended with exit code {answer.exit_code}: {_error_text(answer)}"
    if answer.stdout:
        return "it printed something besides the refusal, which some hosts read as approval"
    return "" if answer.stderr.strip() else "it gave no reason, which some hosts take for a yes"


def _not_allowed(answer: OwnOutput) -> str:
    return (
        f"it ended with exit code {answer.exit_code}: {_error_text(answer)}"
        if answer.exit_code
        else ""
    )


def _error_text(answer: OwnOutput) -> str:
    return answer.stderr.decode(errors="replace").strip()[:200] or "it said nothing"
