"""`flyball doctor --host` with the real programs: it passes where they are held, and only there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.hosts.real.lab import program
from tests.hosts.real.test_real import HOSTS, modules
from tests.toolchains import need
from tests.unit.hosts.prove.own_machine import OwnMachine

pytestmark = [pytest.mark.slow, pytest.mark.exhaustive]

FLYBALL = Path(sys.executable).with_name("flyball")
OFF = {
    "claude": '{"disableAllHooks": true}',
    "gemini": '{"hooksConfig": {"enabled": false}}',
}


@pytest.fixture
def machine(tmp_path: Path) -> OwnMachine:
    need("node", "npm", "unshare")
    return OwnMachine(tmp_path)


def doctor(machine: OwnMachine, host: str, **environ: str) -> dict[str, Any]:
    """What doctor says with the real program, which lies where a name has spaces."""
    words = program(host, modules() / "node_modules")
    named = machine.program(host, f'exec {" ".join(words)} "$@"')
    done = subprocess.run(
        [FLYBALL, "doctor", "--host", host, "--program", named, "--json"],
        cwd=machine.repo,
        env={**machine.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    told = json.loads(done.stdout)
    assert done.returncode == (0 if told["ok"] else 1)
    return told


def states(told: dict[str, Any]) -> dict[str, str]:
    return {line["name"]: line["state"] for line in told["lines"]}


def of(told: dict[str, Any], name: str) -> dict[str, str]:
    return next(line for line in told["lines"] if line["name"] == name)


HELD = {"settings": "found", "recon": "proved", "stop": "proved", "disarm": "proved"}
LOOSE = {"settings": "failed", "recon": "failed", "stop": "failed", "disarm": "failed"}


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_with_our_hooks_is_held(host: str, machine: OwnMachine):
    machine.install(host)
    if host == "codex":
        machine.trust()
    before = {path: path.stat().st_mtime_ns for path in machine.home.rglob("*")}
    told = doctor(machine, host)
    assert (states(told), told["ok"]) == (HELD, True), told
    assert told["version"]
    assert {path: path.stat().st_mtime_ns for path in machine.home.rglob("*")} == before


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_without_our_hooks_is_not(host: str, machine: OwnMachine):
    told = doctor(machine, host)
    assert of(told, "settings")["next"] == f"flyball init --host {host}"
    assert states(told)["settings"] == "failed"


@pytest.mark.parametrize("host", sorted(OFF))
def test_a_project_that_disarms_our_hooks_is_seen_to(host: str, machine: OwnMachine):
    machine.install(host)
    path = machine.target(host, "project").path
    path.parent.mkdir()
    path.write_text(OFF[host])
    told = doctor(machine, host)
    assert states(told) == LOOSE, told
    assert of(told, "recon")["seen"] == "the file was written"
    assert "no hook runs" in of(told, "settings")["seen"]
    assert "take that out" in of(told, "recon")["next"]


def test_hooks_that_codex_does_not_trust_hold_nothing(machine: OwnMachine):
    machine.install("codex")
    told = doctor(machine, "codex")
    assert states(told) == LOOSE, told
    assert of(told, "recon")["seen"] == "the file was written"
    assert "type `/hooks`" in of(told, "recon")["next"]


def test_hooks_of_a_project_hold_there(machine: OwnMachine):
    machine.install("claude", "project")
    assert states(doctor(machine, "claude")) == HELD
