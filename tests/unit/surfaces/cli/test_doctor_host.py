"""What `flyball doctor --host` says at the end: what was shown, and what was not."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.unit.app.proving.own_machine import OwnMachine

from flyball.app.proving.lines import HostProof, ProofLine, ProofState
from flyball.surfaces.cli.doctor import doctor
from flyball.surfaces.cli.doctor_host import as_dict, say_proof

CLAIMS = ("a write is denied", "a stop is held")


def told(capsys: pytest.CaptureFixture[str], *states: ProofState, host: str = "claude") -> str:
    """The last line about a host whose lines came out like this."""
    lines = [ProofLine(claim, claim, state) for claim, state in zip(CLAIMS, states, strict=True)]
    say_proof(HostProof(host, "Some Host", "", "", tuple(lines)))
    return capsys.readouterr().out.splitlines()[-1]


def test_what_was_tried_with_the_real_program_is_held(capsys: pytest.CaptureFixture[str]):
    last = told(capsys, ProofState.FOUND, ProofState.PROVED)
    assert (
        last == "Some Host is governed by Flyball here: each line was tried with the real program."
    )


def test_what_was_not_tried_is_said_last(capsys: pytest.CaptureFixture[str]):
    known = "The hooks answer as they must. What Some Host makes of that was not tried"
    last = told(capsys, ProofState.SHOWN, ProofState.UNTRIED)
    assert last == f"{known}: install Some Host and repeat this to prove it."
    last = told(capsys, ProofState.SHOWN, ProofState.UNTRIED, host="opencode")
    assert last == f"{known}."


def test_one_line_that_failed_is_what_counts(capsys: pytest.CaptureFixture[str]):
    last = told(capsys, ProofState.FAILED, ProofState.UNTRIED)
    assert last == "Some Host is not governed by Flyball here: see the lines above."


def test_a_program_can_tell_shown_from_proved():
    line = ProofLine("stop", "a stop is held", ProofState.UNTRIED)
    said = as_dict(HostProof("claude", "Claude Code", "", "", (line,)))
    assert (said["ok"], said["proved"]) == (True, False)


def test_without_the_program_the_command_ends_well_and_hides_nothing(tmp_path: Path):
    machine = OwnMachine(tmp_path)
    machine.install("claude")
    env = {**machine.environ, "CLAUDE_CONFIG_DIR": None}
    done = CliRunner(env=env).invoke(doctor, ["--host", "claude", "--repo", str(machine.repo)])
    assert done.exit_code == 0, done.output
    assert done.stdout.count("  not tried  ") == 3
    assert "was not tried: install Claude Code" in done.stdout.splitlines()[-1]
