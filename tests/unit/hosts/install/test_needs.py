"""What a host needs besides the hooks, looked up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flyball.hosts.install.json_hooks import put_in, put_in_switch
from flyball.hosts.install.needs import HostNeed, NeedState, host_needs, trust_entries
from flyball.hosts.install.targets import (
    HostPlaces,
    InstallScope,
    InstallTarget,
    find_target,
    wanted_hooks,
)

FLYBALL = "/bin/sh"
"""Something that can be run; what it is does not matter here."""

DIGESTS = [
    "sha256:6abd1ce1de57f6862ba814887c3a4494a309ce4c5af00082991ce5a1c84717fb",
    "sha256:da4a1022f6d2cd59e398ebcc24b537b575c383189a35c8921ec8c4b94d6c9ef5",
    "sha256:fa6e2ab0aa172249be595476d5ca9de34788c0823521daa2457c44afa3bd911a",
    "sha256:9b5e77958513bb79e012e80dec704cf46a3373daaf28705c7f21e5b824de01a0",
    "sha256:f97aaee976d6fc0a7ca21eb8d912b5acb2b825f7c5ff654f5487587c08eb8f50",
    "sha256:94e8f90fc8b5e62c2ebd7a68bc8c2ca8c86a5278620516eed18c56487dea5b83",
    "sha256:7ddfc837420b8e501e7fe73eac160976c3618d1cd17acac34cb9c18b23b7e317",
    "sha256:be3b810a6205c13ed41cacd97b26cd2154864edfbbb785db596888ddd031ab4c",
    "sha256:6cc461e1b967e2aee8a3f68a91d0e3f40d140c973bca28c5d7efc5b0b9c2c05b",
    "sha256:42908ff642ca8c9ff3e4e2f6cd4e3f6a16753491cabda279aa7b20b4e33b42e2",
    "sha256:6be528d55ce5a1291725b313f954ae186125faea4cda48091f1add5670abbdc9",
]
"""What `hooks/list` of Codex 0.166.0 says of each of our hooks, with /x/flyball-hook."""


class World:
    """Files of hosts below one directory, and what is needed with them."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.places = HostPlaces({"HOME": str(base / "home")}, base / "project", base)

    def write(self, name: str, value: object) -> None:
        path = self.base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value))

    def target(self, host: str, scope: str = "user") -> InstallTarget:
        return find_target(host, InstallScope(scope), self.places)

    def needs(
        self, host: str, scope: str = "user", *, before: str = "", executable: str = FLYBALL
    ) -> list[HostNeed]:
        target = self.target(host, scope)
        text = ""
        if target.path.suffix == ".json":
            text = put_in(before, "f", wanted_hooks(target.host, executable)).text
            text = put_in_switch(text, "f", target.switch).text if target.switch else text
        return host_needs(target, self.places, executable, text)

    def missing(self, host: str, scope: str = "user", *, before: str = "") -> list[str]:
        found = self.needs(host, scope, before=before)
        return [need.text for need in found if need.state is NeedState.MISSING]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_nothing_is_missing_where_all_is_well(world: World):
    for host, scope in (("claude", "user"), ("gemini", "project"), ("codex", "managed")):
        assert world.missing(host, scope) == []


def test_missing_hook_is_reported_first(world: World):
    need = world.needs("codex", executable="/nowhere/flyball-hook")[0]

    assert need.state is NeedState.MISSING
    assert "/nowhere/flyball-hook does not exist" in need.text


@pytest.mark.parametrize(
    ("host", "before", "what"),
    [
        ("claude", '{\n  "a": 1 // one\n}', ":2:11: Claude Code does not load a file with a line"),
        ("claude", '{"a": [1,]}', ":1:9: Claude Code does not load a file with a comma"),
        ("codex", '{"hooks": {}} /* x */', "Codex does not load a file with a comment"),
        ("codex", "\ufeff{}", ":1:1: Codex does not load a file with a byte order mark"),
        ("codex", '{"hooks": {}, "hooks": {}}', "does not load a file with a key that is given"),
        ("codex", '{"model": "x"}', "Codex does not load a file with the key 'model'"),
        ("gemini", '{"a": 1,}', "Gemini CLI does not load a file with a comma"),
        ("gemini", "\ufeff{}", "Gemini CLI does not load a file with a byte order mark"),
    ],
)
def test_unloaded_file_is_reported_with_its_path(world: World, host: str, before: str, what: str):
    assert what in world.missing(host, before=before)[0]


@pytest.mark.parametrize(
    ("host", "before"),
    [("gemini", '{"a": 1} // c'), ("claude", "\ufeff{}"), ("claude", '{"a": 1, "a": 2}')],
)
def test_what_a_host_does_load_is_no_fault(world: World, host: str, before: str):
    assert world.missing(host, before=before) == []


@pytest.mark.parametrize(
    "name",
    [
        "home/.claude/settings.json",
        "project/.claude/settings.json",
        "project/.claude/settings.local.json",
        "etc/claude-code/managed-settings.json",
    ],
)
def test_claude_without_hooks_is_reported(world: World, name: str):
    world.write(name, {"disableAllHooks": True})
    (text,) = world.missing("claude")

    assert text.startswith(str(world.base / name))
    assert "disableAllHooks" in text


def test_claude_with_managed_hooks_only_needs_the_other_scope(world: World):
    world.write("etc/claude-code/managed-settings.json", {"allowManagedHooksOnly": True})

    assert "use --scope managed" in world.missing("claude")[0]
    assert world.missing("claude", "managed") == []


def test_untrusted_codex_hooks_are_reported(world: World):
    assert "(0 of 11 are trusted): start `codex`, type `/hooks`" in world.missing("codex")[0]


def trust(world: World, scope: str = "user", leave: int = 0) -> str:
    target = world.target("codex", scope)
    text = put_in("", "f", wanted_hooks(target.host, FLYBALL)).text
    entries = list(trust_entries(target, FLYBALL, text))[leave:]
    rows = [f'[hooks.state."{keys[0]}"]\ntrusted_hash = "{digest}"\n' for keys, digest in entries]
    return "\n".join(rows)


def test_codex_that_trusts_every_hook_needs_no_more(world: World):
    world.write("home/.codex/config.toml", trust(world))
    assert world.missing("codex") == []

    world.write("home/.codex/config.toml", trust(world, leave=3))
    assert "(8 of 11 are trusted)" in world.missing("codex")[0]


def test_the_digest_is_the_one_that_codex_makes(world: World):
    target = world.target("codex")
    text = put_in("", "f", wanted_hooks(target.host, "/x/flyball-hook")).text
    digests = [digest for _, digest in trust_entries(target, "/x/flyball-hook", text)]

    assert digests == DIGESTS


def test_codex_reads_the_hooks_of_projects_that_it_trusts(world: World):
    project = world.places.project
    world.write("home/.codex/config.toml", trust(world, "project"))
    assert f"say yes when `codex` asks in {project}" in world.missing("codex", "project")[0]

    table = f'[projects."{project}"]\ntrust_level = "trusted"\n'
    world.write("home/.codex/config.toml", trust(world, "project") + table)
    assert world.missing("codex", "project") == []


def test_codex_with_hooks_off_is_reported(world: World):
    world.write("home/.codex/config.toml", "[features]\nhooks = false\n")
    assert any("features.hooks = false" in text for text in world.missing("codex"))

    world.write("home/.codex/config.toml", "broken =")
    world.write("etc/codex/requirements.toml", "allow_managed_hooks_only = true\n")
    assert any("use --scope managed" in text for text in world.missing("codex"))


@pytest.mark.parametrize(
    "config", [{"enabled": False}, {"disabled": ["other", "flyball"]}], ids=["all", "ours"]
)
def test_gemini_without_hooks_is_reported(world: World, config: object):
    world.write("project/.gemini/settings.json", {"hooksConfig": config})
    (text,) = world.missing("gemini")

    assert text.startswith(str(world.base / "project/.gemini/settings.json"))


def test_managed_hooks_of_gemini_need_a_line_that_no_project_can_undo(world: World):
    world.write("project/.gemini/settings.json", {"hooksConfig": {"enabled": False}})
    assert world.missing("gemini", "managed") == [], "it is written with the hooks"
    off = json.dumps({"hooksConfig": {"enabled": False}})
    *unrun, unheld = world.missing("gemini", "managed", before=off)
    assert all("no hook runs" in text for text in unrun)
    assert '`"hooksConfig": {"enabled": true}`' in unheld
    managed = world.places.files("gemini")[InstallScope.MANAGED]
    world.write(str(managed.relative_to(world.base)), {"hooksConfig": {"enabled": True}})
    assert world.missing("gemini", "user") == []


def test_unreadable_settings_are_reported(world: World):
    def told(host: str) -> str:
        return " ".join(n.text for n in world.needs(host) if n.state is NeedState.TOLD)

    assert "only with --yolo" in told("gemini")
    assert "`opencode run` exits before reading it" in told("opencode")


@pytest.mark.parametrize(
    ("host", "lost"),
    [("claude", "Claude Code continues ungoverned"), ("opencode", "no tool may write")],
)
def test_local_path_in_a_shared_file_is_reported(world: World, host: str, lost: str):
    shared = [need for need in world.needs(host, "project") if "out of commits" in need.text]
    path = world.target(host, "project").path

    assert [need.state for need in shared] == [NeedState.TOLD]
    assert f"{FLYBALL} is a path of this machine" in shared[0].text
    assert lost in shared[0].text
    assert f"Leave {path} out of commits" in shared[0].text
    for scope in ("user", "managed") if host == "claude" else ("user",):
        assert not any("out of commits" in need.text for need in world.needs(host, scope))
