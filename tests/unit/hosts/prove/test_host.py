"""The whole proof of a host, where programs stand for it that do not behave."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from tests.unit.hosts.prove.own_machine import OwnMachine

from flyball.app.sessions import Switch
from flyball.errors import NotFound
from flyball.hosts.prove.host import prove_host
from flyball.hosts.prove.lines import HostProof


@pytest.fixture
def machine(tmp_path: Path) -> OwnMachine:
    return OwnMachine(tmp_path)


def proved(machine: OwnMachine, host: str = "claude", program: str = "", seconds: float = 30):
    return asyncio.run(prove_host(host, machine.project, program, seconds))


def faults(proof: HostProof) -> dict[str, str]:
    return {line.name: line.seen for line in proof.lines if not line.holds}


def states(proof: HostProof) -> dict[str, str]:
    return {line.name: str(line.state) for line in proof.lines}


UNTRIED = dict.fromkeys(("recon", "stop", "disarm"), "not tried")


def test_a_host_that_is_not_there_is_shown_with_payloads(machine: OwnMachine):
    machine.install("claude")
    proof = proved(machine)
    assert (proof.program, proof.holds, proof.proves) == ("", True, False)
    shown = dict.fromkeys(("write", "read", "broken"), "shown")
    assert states(proof) == {"settings": "found", **shown, **UNTRIED}
    assert proof.lines[-1].seen == "Claude Code was not started: it is not installed"


def test_host_never_driven_is_not_reported_as_proved(machine: OwnMachine):
    machine.install("opencode")
    proof = proved(machine, "opencode", machine.program("opencode", "echo 1.0"))
    assert (proof.holds, proof.proves) == (True, False)
    assert proof.lines[-1].seen == "opencode was not started: Flyball does not start it"


def test_a_host_on_the_path_is_found(machine: OwnMachine):
    machine.install("claude")
    path = machine.program("claude", "echo 9.9.9; exit 1")
    machine.environ["PATH"] += f"{os.pathsep}{Path(path).parent}"
    proof = proved(machine)
    assert (proof.program, proof.version) == (path, "9.9.9")


def test_without_hooks_nothing_is_started(machine: OwnMachine):
    ran = machine.home / "ran"
    program = machine.program("claude", f'[ "$1" = --version ] || touch "{ran}"')
    proof = proved(machine, program=program)
    assert states(proof) == {"settings": "failed", **UNTRIED}
    assert not proof.holds
    assert proof.lines[1].next == "flyball init --host claude"
    assert not ran.exists()


def test_a_program_that_is_named_must_be_there(machine: OwnMachine):
    with pytest.raises(NotFound):
        proved(machine, program="/nowhere/claude")


def test_a_host_too_old_for_our_way_to_start_it_is_quoted(machine: OwnMachine):
    machine.install("claude")
    old = '[ "$1" = --version ] && echo 0.1.0 && exit; echo "error: unknown option -p" >&2; exit 1'
    proof = proved(machine, program=machine.program("claude", old))
    assert set(faults(proof)) == {"recon", "stop", "disarm"}
    assert all("exit code 1: error: unknown option -p" in seen for seen in faults(proof).values())
    assert "2.1.325 honours the hooks, and this one is 0.1.0" in proof.lines[1].next


def test_a_host_that_writes_unasked_is_caught(machine: OwnMachine):
    machine.install("claude")
    program = machine.program("claude", "echo x > early.py")
    assert faults(proved(machine, program=program))["recon"] == "the file was written"


@pytest.mark.exhaustive
def test_a_host_that_hangs_is_ended_with_all_that_it_started(machine: OwnMachine):
    machine.install("claude")
    noted = machine.home / "pids"
    apart = "setsid sh -c \"echo \\$\\$ >> '$1'; exec sleep 600\" >/dev/null 2>&1 </dev/null &"
    wait = f'[ "$1" = --version ] && exit; set -- "{noted}"; {apart} sleep 600'
    proof = proved(machine, program=machine.program("claude", wait), seconds=1)
    assert all("did not finish within 1 s" in seen for seen in faults(proof).values())
    pids = noted.read_text().split()
    assert len(pids) == 2
    assert not any(_runs(pid) for pid in pids)


def _runs(pid: str) -> bool:
    try:
        return "sleep" in Path(f"/proc/{pid}/cmdline").read_text()
    except FileNotFoundError:
        return False


def test_obstacles_to_refusals_are_reported(machine: OwnMachine):
    machine.install("claude")
    machine.environ["FLYBALL_HOOKS_LEVEL"] = "verdict"
    Switch(machine.project.state).turn_off(600)
    notes = " ".join(proved(machine).notes)
    assert "hooks.level is verdict" in notes
    assert "Flyball is off" in notes


def test_home_and_tmp_stay_unchanged(
    machine: OwnMachine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    machine.install("claude")
    before = sorted(machine.home.rglob("*"))
    place = tmp_path / "temporary place"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    proof = proved(machine, program=machine.program("claude", "echo hi > $HOME/made"))
    assert len(proof.lines) == 4
    assert sorted(machine.home.rglob("*")) == before
    assert list(place.iterdir()) == []


def test_attacks_run_without_a_network_namespace(machine: OwnMachine):
    machine.install("claude")
    asked = machine.home / "asked"
    machine.program("unshare", f"touch '{asked}'; exit 1")
    place = Path(machine.program("claude", "echo hi >&2; exit 3")).parent
    machine.environ["PATH"] = f"{place}{os.pathsep}{machine.environ['PATH']}"
    assert faults(proved(machine))["stop"] == "it ended with exit code 3: hi"
    assert asked.exists()
