"""Hooks that ask over HTTP, in the settings of a host."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flyball.hosts.install.door import door_of, host_asked, make_door, read_door
from flyball.hosts.install.needs import asks_at_a_door, host_needs
from flyball.hosts.install.plan import carry_out, plan_install, plan_removal
from flyball.hosts.install.targets import OF_CALLS, HostPlaces, InstallScope, find_target

EXECUTABLE = "/opt/bin/flyball-hook"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "home").mkdir()
    return {"HOME": str(tmp_path / "home")}


def test_door_is_created_once_and_is_private(environ: dict[str, str]):
    assert read_door(environ) is None
    door = make_door(environ)
    assert make_door(environ) == read_door(environ) == door
    (file,) = Path(environ["HOME"]).rglob("hooks-door.json")
    assert file.stat().st_mode & 0o077 == 0


def test_calls_ask_at_the_door_and_everything_else_by_command(
    tmp_path: Path, environ: dict[str, str]
):
    places = HostPlaces(environ, tmp_path / "project", tmp_path)
    target = find_target("claude", InstallScope.USER, places)
    target.path.parent.mkdir()
    before = '{\n  // mine\n  "model": "opus"\n}\n'
    target.path.write_text(before)
    door = make_door(environ)
    carry_out(plan_install(target, EXECUTABLE, environ, door))
    text = target.path.read_text()
    hooks = json.loads(text.replace("// mine", ""))["hooks"]
    asked = {event for event, groups in hooks.items() if groups[0]["hooks"][0]["type"] == "http"}
    assert asked == OF_CALLS
    assert set(asks_at_a_door(text)) == {door}
    assert not plan_install(target, EXECUTABLE, environ, door).is_change
    told = [need.text for need in host_needs(target, places, EXECUTABLE, text)]
    assert any("Claude Code makes the call" in each for each in told)
    carry_out(plan_install(target, EXECUTABLE, environ))
    assert "http" not in target.path.read_text(), "a command again"
    carry_out(plan_install(target, EXECUTABLE, environ, door))
    carry_out(plan_removal(target, environ))
    assert target.path.read_text() == before


def test_what_others_ask_is_not_ours(environ: dict[str, str]):
    ours = make_door(environ).handler("claude", 30)
    assert (host_asked(ours), door_of(ours)) == ("claude", make_door(environ))
    for url in ("http://127.0.0.1:4322/hooks", "http://example.org/flyball-hook/claude", 7):
        assert host_asked({**ours, "url": url}) == ""
        assert door_of({**ours, "url": url}) is None
    assert door_of({"url": ours["url"]}) is None
