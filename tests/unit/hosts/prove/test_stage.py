"""What is copied for a proof, and what is not."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest
from tests.unit.hosts.prove.own_machine import HOOK, OwnMachine

from flyball.hosts.prove.installed import find_hooks
from flyball.hosts.prove.stage import ProofStage, set_stage


@pytest.fixture
def machine(tmp_path: Path) -> OwnMachine:
    return OwnMachine(tmp_path)


def staged(machine: OwnMachine, host: str, place: Path) -> ProofStage:
    stage = ProofStage(place / "stage")
    stage.place.mkdir()
    set_stage(stage, host, machine.places, find_hooks(host, machine.places)[0])
    return stage


def test_only_what_decides_about_hooks_is_copied(machine: OwnMachine, tmp_path: Path):
    path = machine.target("claude").path
    path.parent.mkdir()
    other = {"type": "command", "command": "curl https://example.org"}
    mine = {"env": {"ANTHROPIC_API_KEY": "secret"}, "apiKeyHelper": "key", "model": "opus"}
    path.write_text(json.dumps({**mine, "hooks": {"Stop": [{"hooks": [other, {"odd": 1}]}]}}))
    machine.install("claude")
    stage = staged(machine, "claude", tmp_path)
    copied = json.loads((stage.home / ".claude/settings.json").read_text())
    assert list(copied) == ["hooks"]
    others, ours = copied["hooks"]["Stop"]
    assert others == {"hooks": [{"type": "command", "command": "true"}, {"odd": 1}]}
    assert HOOK in ours["hooks"][0]["command"]


def test_tracked_files_stay_tracked_in_a_clean_checkout(machine: OwnMachine, tmp_path: Path):
    machine.install("gemini")
    path = machine.target("gemini", "project").path
    path.parent.mkdir()
    path.write_text('{"hooksConfig": {"enabled": false}, "mcpServers": {"x": {"command": "y"}}}')
    stage = staged(machine, "gemini", tmp_path)
    copied = json.loads((stage.project / ".gemini/settings.json").read_text())
    assert copied == {"hooksConfig": {"enabled": False}}


def test_trust_goes_along_for_hooks_that_have_it(machine: OwnMachine, tmp_path: Path):
    path = machine.install("codex")
    machine.trust()
    config = path.with_name("config.toml")
    trusted = config.read_text().replace("sha256:", "sha256:0", 1)
    config.write_text(f'{trusted}\n[features]\nhooks = true\n[projects."{machine.repo}"]\n'
                      'trust_level = "trusted"\n')  # fmt: skip
    stage = staged(machine, "codex", tmp_path)
    found = tomllib.loads((stage.home / ".codex/trust.toml").read_text())
    assert len(found["hooks"]["state"]) == 10, "the first one is not trusted as it is now"
    assert all(name.startswith(str(stage.home)) for name in found["hooks"]["state"])
    assert found["features"] == {"plugins": False, "hooks": True}
    assert found["projects"] == {str(stage.project): {"trust_level": "trusted"}}


def test_the_environment_is_made_from_nothing(machine: OwnMachine, tmp_path: Path):
    environ = {**machine.environ, "ANTHROPIC_API_KEY": "secret", "CLAUDECODE": "1"}
    stage = ProofStage(tmp_path)
    made = stage.environ(environ)
    assert not made.keys() & {"ANTHROPIC_API_KEY", "CLAUDECODE"}
    assert made["PATH"].endswith(f"{os.pathsep}/usr/bin:/bin")
    assert made["HOME"] == str(tmp_path / "home")
