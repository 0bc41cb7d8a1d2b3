"""Who disarms the hooks, and from where."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.unit.hosts.alone import alone_in

from flyball.agents.event import HostEvent, Moment
from flyball.hosts.hook_files import disarms

OURS = '{"hooks": {"Stop": [{"hooks": [{"command": "/usr/bin/flyball-hook claude"}]}]}}'
MOVED = {
    "claude": ("CLAUDE_CONFIG_DIR", "settings.json"),
    "codex": ("CODEX_HOME", "hooks.json"),
    "gemini": ("GEMINI_CLI_HOME", ".gemini/settings.json"),
    "opencode": ("OPENCODE_CONFIG_DIR", "plugins/flyball.js"),
}


def changed(host: str, file: Path) -> HostEvent:
    return HostEvent(host, Moment.CONFIG_CHANGED, "s1", "", file=str(file))


@pytest.mark.parametrize("host", MOVED)
def test_hooks_are_found_in_configured_directories(host: str, tmp_path: Path):
    variable, name = MOVED[host]
    file = tmp_path / "moved" / name
    file.parent.mkdir(parents=True)
    file.write_text(OURS)
    elsewhere = changed(host, tmp_path / "other.json")
    environ = {"HOME": str(tmp_path / "home")}
    assert disarms(elsewhere, tmp_path / "repo", environ, "govern")
    environ[variable] = str(tmp_path / "moved")
    assert not disarms(elsewhere, tmp_path / "repo", environ, "govern")
    file.write_text("{}")
    assert disarms(elsewhere, tmp_path / "repo", environ, "govern"), "they are gone from there"


def test_a_file_that_turns_hooks_off_disarms_wherever_they_are(tmp_path: Path):
    file = tmp_path / ".claude/settings.json"
    file.parent.mkdir()
    file.write_text(OURS)
    environ = {"HOME": str(tmp_path)}
    assert not disarms(changed("claude", file), tmp_path / "repo", environ, "govern")
    file.write_text(OURS.replace("{", '{"disableAllHooks": true, ', 1))
    assert disarms(changed("claude", file), tmp_path / "repo", environ, "govern")


def test_lower_level_hooks_count_as_disabled(tmp_path: Path):
    file = tmp_path / ".claude/settings.json"
    file.parent.mkdir()
    environ = {"HOME": str(tmp_path)}
    file.write_text(OURS.replace("flyball-hook claude", "flyball-hook claude verdict"))
    assert disarms(changed("claude", file), tmp_path / "repo", environ, "govern")


@pytest.mark.parametrize("ignored", ["", ".claude/\n"], ids=["seen by git", "ignored"])
def test_what_a_person_makes_of_the_hooks_stays(tmp_path: Path, ignored: str):
    host = alone_in(tmp_path)
    (host.repo / ".git/info/exclude").write_text(ignored)
    file = host.repo / ".claude/settings.local.json"
    file.parent.mkdir()

    async def change() -> None:
        await host.governor.let_person(lambda: file.write_text(OURS) and None)

    asyncio.run(change())
    host.judged(host.look("ls"))
    assert not host.judged(host.look("ls", "PostToolUse", tool_response="")).text
    assert file.read_text() == OURS
    file.write_text("{}")
    host.judged(host.look("ls -l"))
    told = host.judged(host.look("ls -l", "PostToolUse", tool_response=""))
    assert file.read_text() == OURS
    assert told.text
