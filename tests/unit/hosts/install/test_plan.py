"""One settings file, changed whole or not at all, and brought back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.hosts.install.settings_texts import ODD_TEXTS, TEXTS

from flyball.errors import BrokenSettings, ConfigError, Conflict
from flyball.hosts.install.json_hooks import level_of
from flyball.hosts.install.jsonc import scan
from flyball.hosts.install.plan import (
    InstallPlan,
    carry_out,
    installed_elsewhere,
    plan_install,
    plan_removal,
)
from flyball.hosts.install.targets import HostPlaces, InstallScope, InstallTarget, find_target
from flyball.settings import LEVELS

EXECUTABLE = "/opt/bin/flyball-hook"
CASES = [
    (host, scope)
    for host in ("claude", "codex", "gemini", "opencode")
    for scope in InstallScope
    if (host, scope) != ("opencode", InstallScope.MANAGED)
]


class Machine:
    """A home, a project and an /etc of its own."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.environ = {"HOME": str(base / "home")}
        self.places = HostPlaces(self.environ, base / "project", base)
        for name in ("home", "project"):
            (base / name).mkdir()

    def target(self, host: str = "claude", scope: str = "user") -> InstallTarget:
        return find_target(host, InstallScope(scope), self.places)

    def install(self, target: InstallTarget, executable: str = EXECUTABLE) -> InstallPlan:
        plan = plan_install(target, executable, self.environ)
        carry_out(plan)
        return plan

    def remove(self, target: InstallTarget) -> InstallPlan:
        plan = plan_removal(target, self.environ)
        carry_out(plan)
        return plan

    def files(self) -> dict[str, bytes | None]:
        """Everything but our own records."""
        found = sorted(self.base.rglob("*"))
        names = [path for path in found if ".local" not in path.parts]
        return {str(p): p.read_bytes() if p.is_file() else None for p in names}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize(("host", "scope"), CASES)
def test_new_file_is_removed_with_its_directories(machine: Machine, host: str, scope: str):
    before, target = machine.files(), machine.target(host, scope)

    assert machine.install(target).is_change
    assert EXECUTABLE in target.path.read_text()
    assert not machine.install(target).is_change, "twice is once"
    assert machine.remove(target).is_change
    assert machine.files() == before
    assert not machine.remove(target).is_change


SWITCHED = {
    "a table without the switch": '{\n  "hooksConfig": {\n    "disabled": ["x"]\n  }\n}\n',
    "an empty table": '{"hooksConfig": {}, "theme": "dark"}',
    "a table with a note": '{\n  "hooksConfig": { // ours\n    "loud": true, // so\n  }\n}',
    "on already": '{"hooksConfig": {"enabled": true}}\n',
}


@pytest.mark.parametrize("name", sorted({**TEXTS, **ODD_TEXTS, **SWITCHED}))
def test_managed_switch_is_removed_completely(machine: Machine, name: str):
    target = machine.target("gemini", "managed")
    target.path.parent.mkdir(parents=True)
    target.path.write_bytes({**TEXTS, **ODD_TEXTS, **SWITCHED}[name].encode())
    before = machine.files()

    machine.install(target)
    doc = scan(target.path.read_text(), "f").value
    assert isinstance(doc, dict)
    assert doc["hooksConfig"]["enabled"] is True
    assert not machine.install(target).is_change
    machine.remove(target)
    assert machine.files() == before


def test_switch_turned_off_by_the_user_stays_off(machine: Machine):
    target = machine.target("gemini", "managed")
    target.path.parent.mkdir(parents=True)
    target.path.write_text('{"hooksConfig": {"enabled": false}}')
    machine.install(target)
    assert not machine.install(target).is_change
    assert json.loads(target.path.read_text())["hooksConfig"] == {"enabled": False}


def test_settings_next_to_our_switch_stay(machine: Machine):
    target = machine.target("gemini", "managed")
    machine.install(target)
    text = target.path.read_text()
    target.path.write_text(text.replace('{"enabled": true}', '{"enabled": true, "disabled": []}'))
    machine.remove(target)
    assert json.loads(target.path.read_text()) == {"hooksConfig": {"disabled": []}}


@pytest.mark.parametrize("name", sorted({**TEXTS, **ODD_TEXTS}))
def test_a_file_that_was_there_comes_back(machine: Machine, name: str):
    target = machine.target("gemini")
    target.path.parent.mkdir()
    target.path.write_bytes({**TEXTS, **ODD_TEXTS}[name].encode())
    before = machine.files()

    machine.install(target)
    assert not machine.install(target).is_change
    machine.remove(target)
    assert machine.files() == before


def test_moved_hook_is_replaced_and_removed_completely(machine: Machine):
    target = machine.target()
    target.path.parent.mkdir()
    target.path.write_text('{\n    "hooks": {}\n}')
    machine.install(target, "/old/venv/bin/flyball-hook")
    machine.install(target)

    text = target.path.read_text()
    assert "/old/" not in text
    assert len(json.loads(text)["hooks"]["Stop"]) == 1
    machine.remove(target)
    assert target.path.read_text() == '{\n    "hooks": {}\n}'


@pytest.mark.parametrize(("host", "scope"), CASES)
def test_a_replaced_installation_still_remembers_what_it_made(
    machine: Machine, host: str, scope: str
):
    before, target = machine.files(), machine.target(host, scope)
    machine.install(target, "/old/flyball-hook")
    machine.install(target)
    machine.remove(target)

    assert machine.files() == before


def test_removed_hook_is_installed_again(machine: Machine):
    target = machine.target()
    machine.install(target)
    value = json.loads(target.path.read_text())
    del value["hooks"]["Stop"]
    value["hooks"]["PreToolUse"][0]["matcher"] = "Read"
    target.path.write_text(json.dumps(value))

    machine.install(target)
    hooks = json.loads(target.path.read_text())["hooks"]
    assert "matcher" not in hooks["PreToolUse"][0]
    assert hooks["Stop"]


def test_what_was_added_to_a_file_that_we_made_keeps_it(machine: Machine):
    target = machine.target()
    machine.install(target)
    text = target.path.read_text()
    target.path.write_text(text.replace("{\n", '{\n  "model": "opus",\n', 1))
    machine.remove(target)

    assert json.loads(target.path.read_text()) == {"model": "opus"}


def test_an_edited_plugin_is_ours_and_a_foreign_one_is_not(machine: Machine):
    target = machine.target("opencode")
    machine.install(target)
    target.path.write_text(target.path.read_text() + "// mine\n")
    assert machine.install(target).is_change
    machine.remove(target)
    target.path.parent.mkdir(parents=True)
    target.path.write_text("export const Other = async () => ({})\n")

    with pytest.raises(Conflict, match="is not Flyball's"):
        machine.install(target)
    assert not machine.remove(target).is_change
    assert target.path.exists()


def test_mode_and_link_are_kept(machine: Machine):
    target = machine.target()
    real = machine.base / "dotfiles" / "claude.json"
    real.parent.mkdir()
    real.write_text("{}")
    real.chmod(0o640)
    target.path.parent.mkdir()
    target.path.symlink_to(real)

    machine.install(target)
    assert target.path.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert "flyball-hook" in real.read_text()
    machine.remove(target)
    assert real.read_text() == "{}"
    assert real.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in real.parent.iterdir()] == ["claude.json"]


def test_a_dangling_link_dangles_again(machine: Machine):
    target = machine.target()
    target.path.parent.mkdir()
    target.path.symlink_to(machine.base / "dotfiles" / "claude.json")

    machine.install(target)
    assert "flyball-hook" in target.path.read_text()
    machine.remove(target)
    assert target.path.is_symlink()
    assert not (machine.base / "dotfiles").exists()


def test_a_broken_file_is_refused_and_stays(machine: Machine):
    target = machine.target()
    target.path.parent.mkdir()
    for data in (b'{\n  "a": \xff\n}', b'{"a": 1,\n "b" 2}'):
        target.path.write_bytes(data)
        for attempt in (machine.install, machine.remove):
            with pytest.raises(BrokenSettings) as caught:
                attempt(target)
            assert caught.value.place in ("2:8", "2:6")
            assert str(target.path) in str(caught.value)
        assert target.path.read_bytes() == data


def test_file_changed_since_the_preview_is_not_written(machine: Machine):
    target = machine.target()
    plan = plan_install(target, EXECUTABLE, machine.environ)
    target.path.parent.mkdir()
    target.path.write_text("{}")

    with pytest.raises(Conflict, match="changed meanwhile"):
        carry_out(plan)
    assert target.path.read_text() == "{}"


def test_directory_in_place_of_the_file_is_reported(machine: Machine):
    target = machine.target()
    target.path.mkdir(parents=True)

    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        machine.install(target)


@pytest.mark.parametrize(("scope", "hint"), [("user", ""), ("managed", "belong to root")])
def test_failed_write_is_reported_and_leaves_nothing_behind(
    machine: Machine, scope: str, hint: str
):
    target = machine.target("claude", scope)
    (machine.base / "home" / ".local").write_text("a file where our records should be")

    with pytest.raises(ConfigError, match="cannot be written: Not a directory") as caught:
        machine.install(target)
    assert hint in caught.value.hint
    assert not target.path.exists()


def test_the_diff_shows_what_would_change_and_no_more(machine: Machine):
    target = machine.target()
    target.path.parent.mkdir()
    target.path.write_text('{\n  "model": "opus"\n}')
    lines = plan_install(target, EXECUTABLE, machine.environ).diff.splitlines()

    assert lines[:2] == [f"--- {target.path}", f"+++ {target.path}"]
    assert '-  "model": "opus"' in lines
    assert '+  "model": "opus",' in lines
    assert sum("flyball-hook claude" in line for line in lines) == 14
    assert "\\ No newline at end of file" in lines
    new = plan_install(machine.target("codex"), EXECUTABLE, machine.environ).diff
    assert new.startswith("--- /dev/null\n+++ ")


@pytest.mark.parametrize(("host", "scope"), CASES)
def test_change_is_described(machine: Machine, host: str, scope: str):
    target = machine.target(host, scope)
    plan = machine.install(target)
    names = ", ".join(target.host.events)
    whole = [f"to {names}: {EXECUTABLE} {host}"] if names else []
    whole += ["to hooksConfig: enabled: true"] if target.switch else []

    assert plan.changes == [f"adds {each}" for each in whole]
    assert not machine.install(target).changes
    out = plan_removal(target, machine.environ).changes
    assert out == [f"takes out of {each.removeprefix('to ')}" for each in whole]


def test_only_changes_are_reported(machine: Machine):
    target = machine.target()
    target.path.parent.mkdir()
    target.path.write_text('{"hooks": {"Stop": [{"hooks": [{"command": "guard.sh"}]}]}}')
    machine.install(target, "/old/flyball-hook")
    added, gone = plan_install(target, EXECUTABLE, machine.environ).changes

    assert added.startswith("adds to Stop, SessionStart, ")
    assert added.endswith(f": {EXECUTABLE} claude")
    assert gone.endswith(": /old/flyball-hook claude")


def test_broken_block_is_removed_silently(machine: Machine):
    target = machine.target("codex", "managed")
    machine.install(target)
    target.path.write_text(target.path.read_text().replace("[[hooks.Stop]]", "[[hooks.Stop"))
    plan = machine.remove(target)

    assert (plan.is_change, plan.changes) == (True, [])
    assert not target.path.exists()


@pytest.mark.parametrize("host", ["claude", "codex", "gemini", "opencode"])
def test_hooks_in_other_scopes_are_found(machine: Machine, host: str):
    scopes = [scope for each, scope in CASES if each == host]
    for scope in scopes:
        machine.install(machine.target(host, scope))
    for scope in scopes:
        found = installed_elsewhere(machine.target(host, scope), machine.places, machine.environ)
        assert [each.scope for each in found] == [each for each in scopes if each != scope]


def test_another_scope_that_cannot_be_read_or_is_the_same_file_is_none(machine: Machine):
    machine.install(machine.target("claude", "project"))
    broken = machine.target("claude", "managed").path
    broken.parent.mkdir(parents=True)
    broken.write_text("{")
    places = HostPlaces(machine.environ, machine.base / "home", machine.base)
    user = machine.target()

    assert len(installed_elsewhere(user, machine.places, machine.environ)) == 1
    machine.install(user)
    assert installed_elsewhere(user, places, machine.environ) == []


def test_the_record_holds_nothing_of_the_user(machine: Machine):
    """Settings may have keys and tokens in them."""
    target = machine.target()
    target.path.parent.mkdir()
    target.path.write_text('{"env": {"API_KEY": "s3cret"}}')
    machine.install(target)

    (record,) = (machine.base / "home/.local/state/flyball/installed").iterdir()
    assert "s3cret" not in record.read_text()


def test_a_damaged_record_is_no_record(machine: Machine):
    target = machine.target()
    target.path.parent.mkdir()
    target.path.write_text('{"a": 1}')
    machine.install(target)
    (record,) = (machine.base / "home/.local/state/flyball/installed").iterdir()
    record.write_text("{")
    machine.remove(target)

    assert target.path.read_text() == '{"a": 1}'


@pytest.mark.parametrize(("host", "scope"), CASES)
def test_level_is_named_in_the_file_changed_and_removed_to_the_byte(
    machine: Machine, host: str, scope: str
):
    target = machine.target(host, scope)
    before = machine.files()
    machine.install(target)
    governed = target.path.read_bytes()
    machine.remove(target)
    for level in LEVELS:
        carry_out(plan_install(target, EXECUTABLE, machine.environ, level=level))
        assert level_of(target.path.read_text()) == level
        assert not plan_install(target, EXECUTABLE, machine.environ, level=level).is_change
    machine.install(target)
    assert target.path.read_bytes() == governed
    assert level_of(governed.decode()) == ""
    carry_out(plan_install(target, EXECUTABLE, machine.environ, level="verdict"))
    machine.remove(target)
    assert machine.files() == before
