"""Our hooks in settings, looked up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.hosts.prove.own_machine import HOOK, OwnMachine

from flyball.hosts.install.plan import carry_out, plan_install
from flyball.hosts.install.targets import InstallScope, find_target
from flyball.hosts.prove.installed import find_hooks, read_settings_files
from flyball.hosts.prove.lines import ProofState
from flyball.settings import LEVELS


@pytest.fixture
def machine(tmp_path: Path) -> OwnMachine:
    return OwnMachine(tmp_path)


@pytest.mark.parametrize("host", ["claude", "gemini", "opencode"])
@pytest.mark.parametrize("scope", ["user", "project"])
def test_hooks_that_init_put_there_are_found(host: str, scope: str, machine: OwnMachine):
    path = machine.install(host, scope)
    line, (hooks,) = read_settings_files(host, machine.places)
    assert (line.state, hooks.executable, hooks.target.path) == (ProofState.FOUND, HOOK, path)
    assert str(path) in line.seen


@pytest.mark.parametrize("host", ["claude", "codex", "gemini", "opencode"])
def test_without_hooks_the_next_step_is_to_put_them_there(host: str, machine: OwnMachine):
    line, hooks = read_settings_files(host, machine.places)
    assert (line.state, line.next, hooks) == (ProofState.FAILED, f"flyball init --host {host}", [])


def test_hooks_of_codex_must_be_trusted(machine: OwnMachine):
    machine.install("codex")
    line, hooks = read_settings_files("codex", machine.places)
    assert hooks
    assert "0 of 11 are trusted" in line.seen
    assert "type `/hooks`" in line.next
    machine.trust()
    assert read_settings_files("codex", machine.places)[0].holds


def test_managed_hooks_of_codex_are_read_from_their_block(machine: OwnMachine):
    machine.install("codex", "managed")
    line, (hooks,) = read_settings_files("codex", machine.places)
    assert line.holds
    assert hooks.executable == HOOK


@pytest.mark.parametrize(
    ("host", "text", "said"),
    [
        ("claude", {"disableAllHooks": True}, "`disableAllHooks`: no hook runs"),
        ("gemini", {"hooksConfig": {"enabled": False}}, "`hooksConfig.enabled: false`"),
    ],
)
def test_a_project_that_turns_hooks_off_is_named(
    host: str, text: object, said: str, machine: OwnMachine
):
    machine.install(host)
    path = machine.target(host, "project").path
    path.parent.mkdir()
    path.write_text(json.dumps(text))
    line, _ = read_settings_files(host, machine.places)
    assert line.state is ProofState.FAILED
    assert said in line.seen
    assert str(path) in line.seen
    assert "take that out" in line.next


def test_a_hook_that_is_gone_and_a_set_of_another_release_want_init_again(machine: OwnMachine):
    path = machine.install("claude", executable="/gone/flyball-hook")
    line, _ = read_settings_files("claude", machine.places)
    assert "/gone/flyball-hook does not exist" in line.seen
    assert line.next == "flyball init --host claude --scope user"
    path.unlink()
    settings = json.loads(machine.install("claude").read_text())
    del settings["hooks"]["Stop"]
    path.write_text(json.dumps(settings))
    line, _ = read_settings_files("claude", machine.places)
    assert "another release" in line.seen
    assert line.next == "flyball init --host claude --scope user"


def test_unreadable_file_is_reported(machine: OwnMachine):
    path = machine.target("claude").path
    path.parent.mkdir()
    path.write_text("{ this is")
    found, troubles = find_hooks("claude", machine.places)
    assert found == []
    assert str(path) in troubles[0]
    assert str(path) in read_settings_files("claude", machine.places)[0].seen


@pytest.mark.parametrize("level", LEVELS)
def test_level_of_hooks_is_named(machine: OwnMachine, level: str):
    target = find_target("claude", InstallScope.USER, machine.places)
    carry_out(plan_install(target, HOOK, machine.places.environ, level=level))
    line, (hooks,) = read_settings_files("claude", machine.places)
    assert (hooks.level, line.state) == (level, ProofState.FOUND)
    assert f"level {level}: {LEVELS[level]}" in line.seen
