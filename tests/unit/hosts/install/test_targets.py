"""Each host's file for each scope, and what goes into it."""

from __future__ import annotations

from pathlib import Path

import pytest

from flyball.errors import UsageError
from flyball.hosts.install.targets import (
    HOSTS,
    FileForm,
    HostPlaces,
    InstallScope,
    find_target,
    wanted_hooks,
)

PLACES = HostPlaces({"HOME": "/home/ada"}, Path("/src/shop"))


@pytest.mark.parametrize(
    ("host", "scope", "path"),
    [
        ("claude", "user", "/home/ada/.claude/settings.json"),
        ("claude", "project", "/src/shop/.claude/settings.json"),
        ("claude", "managed", "/etc/claude-code/managed-settings.json"),
        ("codex", "user", "/home/ada/.codex/hooks.json"),
        ("codex", "project", "/src/shop/.codex/hooks.json"),
        ("codex", "managed", "/etc/codex/requirements.toml"),
        ("gemini", "user", "/home/ada/.gemini/settings.json"),
        ("gemini", "project", "/src/shop/.gemini/settings.json"),
        ("gemini", "managed", "/etc/gemini-cli/settings.json"),
        ("opencode", "user", "/home/ada/.config/opencode/plugins/flyball.js"),
        ("opencode", "project", "/src/shop/.opencode/plugins/flyball.js"),
    ],
)
def test_where_a_host_reads_its_hooks(host: str, scope: str, path: str):
    assert str(find_target(host, InstallScope(scope), PLACES).path) == path


@pytest.mark.parametrize(
    ("host", "variable", "path"),
    [
        ("claude", "CLAUDE_CONFIG_DIR", "/else/settings.json"),
        ("codex", "CODEX_HOME", "/else/hooks.json"),
        ("gemini", "GEMINI_CLI_HOME", "/else/.gemini/settings.json"),
        ("opencode", "XDG_CONFIG_HOME", "/else/opencode/plugins/flyball.js"),
    ],
)
def test_a_host_that_was_moved_is_found(host: str, variable: str, path: str):
    places = PLACES._replace(environ={"HOME": "/home/ada", variable: "/else"})

    assert str(find_target(host, InstallScope.USER, places).path) == path


def test_the_system_settings_of_gemini_can_be_moved():
    environ = {"GEMINI_CLI_SYSTEM_SETTINGS_PATH": "/else/all.json"}
    places = PLACES._replace(environ=environ)

    assert str(find_target("gemini", InstallScope.MANAGED, places).path) == "/else/all.json"


def test_only_codex_is_managed_by_toml_and_only_opencode_by_a_plugin():
    def form(host: str, scope: InstallScope) -> FileForm:
        return find_target(host, scope, PLACES).form

    assert form("codex", InstallScope.MANAGED) is FileForm.TOML
    assert form("codex", InstallScope.USER) is FileForm.JSON
    assert form("opencode", InstallScope.USER) is FileForm.PLUGIN


def test_a_scope_that_a_host_has_not_is_refused():
    with pytest.raises(UsageError, match="opencode has no managed settings"):
        find_target("opencode", InstallScope.MANAGED, PLACES)


def test_every_tool_is_hooked_and_a_stop_may_take_long():
    claude = wanted_hooks(HOSTS["claude"], "/x/flyball-hook")
    gemini = wanted_hooks(HOSTS["gemini"], "/x/flyball-hook")
    codex = wanted_hooks(HOSTS["codex"], "/x/flyball-hook")

    assert all(set(group) == {"hooks"} for group in claude.values()), "no matcher"
    command = {"type": "command", "command": "/x/flyball-hook claude"}
    assert claude["PreToolUse"] == {"hooks": [{**command, "timeout": 30}]}
    assert claude["Stop"]["hooks"][0]["timeout"] == 600
    assert gemini["AfterAgent"]["hooks"][0]["timeout"] == 600_000
    assert codex["SessionEnd"]["hooks"][0]["timeout"] == 3
    assert [len(claude), len(codex), len(gemini)] == [14, 11, 7]


def test_a_path_with_a_space_is_one_word_for_the_shell():
    hooks = wanted_hooks(HOSTS["codex"], "/my tools/flyball-hook")

    assert hooks["Stop"]["hooks"][0]["command"] == "'/my tools/flyball-hook' codex"
