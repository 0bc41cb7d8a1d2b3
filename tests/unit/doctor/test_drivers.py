"""Models and their keys, trust, and hooks whose program is gone."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.unit.doctor.patient import home_of, seen_by

from flyball.app.project import Home, offer, trust
from flyball.doctor.examine import examine_driver, examine_hooks, examine_trust
from flyball.doctor.symptom import Symptom
from flyball.hosts.install.plan import carry_out, plan_install
from flyball.hosts.install.targets import HostPlaces, InstallScope, find_target


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop").mkdir()
    return tmp_path / "shop"


def driver(shop: Path, **environ: str) -> Symptom:
    home = home_of(shop.parent, shop, PATH=str(shop.parent), **environ)
    (found,) = seen_by(examine_driver, home).values()
    return found


def test_without_a_model_the_repairer_works(shop: Path):
    found = driver(shop)
    assert found.holds
    assert "none is configured; the built-in repairer needs neither" in found.seen
    assert "--model" in found.seen


def test_a_model_without_its_key_blocks_and_names_the_variable(shop: Path):
    found = driver(shop, FLYBALL_MODEL_DEFAULT="anthropic:claude")
    assert found.blocks
    assert found.seen == "The anthropic model needs a key, and ANTHROPIC_API_KEY is not set."
    assert "keyring" in found.hint
    assert "--driver repair" in found.hint


def test_a_model_with_its_key_is_fine(shop: Path):
    found = driver(shop, FLYBALL_MODEL_DEFAULT="openai:gpt-5", OPENAI_API_KEY="k")
    assert (found.holds, found.seen) == (True, "openai:gpt-5")


@pytest.mark.parametrize("package", ["pydantic_ai", "anthropic"])
def test_a_model_whose_library_is_missing_is_reported_with_what_to_install(
    package: str, shop: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, package, None)
    found = driver(shop, FLYBALL_MODEL_DEFAULT="anthropic:claude", ANTHROPIC_API_KEY="k")
    assert found.blocks
    assert f"{package} is not installed" in found.seen
    assert "pip install 'flyball[anthropic]'" in found.hint


@pytest.mark.parametrize("setting", [{"DRIVER_USE": "oracle:x"}, {"MODEL_DEFAULT": "gpt"}])
def test_a_driver_that_there_is_not_blocks(setting: dict[str, str], shop: Path):
    assert driver(shop, **{f"FLYBALL_{key}": value for key, value in setting.items()}).blocks


def test_a_person_who_drives_by_files_is_fine(shop: Path):
    assert driver(shop, FLYBALL_DRIVER_USE="relay:talk").seen == f"relay:{shop}/talk"


def test_configuration_that_nobody_accepted_is_worth_knowing_until_it_is(shop: Path):
    home = home_of(shop.parent, shop)
    assert seen_by(examine_trust, home) == {}
    (shop / "flyball.toml").write_text("[budget]\nreserve = 4\n")
    home = home_of(shop.parent, shop)
    found = seen_by(examine_trust, home)["trust"]
    assert found.seen == "1 file of this repository not accepted: flyball.toml"
    assert "`flyball trust`" in found.hint
    assert not found.blocks
    trust(home.environ, offer(home.environ, shop))
    assert seen_by(examine_trust, home)["trust"].holds


def install(home: Home, host: str, executable: Path) -> Path:
    executable.write_text("#!/bin/sh\n")
    executable.chmod(0o755)
    target = find_target(host, InstallScope.USER, HostPlaces(home.environ, home.repo))
    carry_out(plan_install(target, str(executable), home.environ))
    return target.path


@pytest.mark.parametrize("host", ["claude", "codex", "gemini", "opencode"])
def test_hooks_whose_program_is_gone_block(host: str, shop: Path, tmp_path: Path):
    home = home_of(tmp_path, shop)
    assert seen_by(examine_hooks, home) == {}
    program = tmp_path / "flyball-hook"
    path = install(home, host, program)
    (found,) = seen_by(examine_hooks, home).values()
    assert not found.blocks
    assert found.holds == (host != "codex"), "Codex runs a hook only once it is trusted"
    program.unlink()
    (found,) = seen_by(examine_hooks, home).values()
    assert found.blocks
    assert found.seen == f"{path} names {program}, which is gone: nothing is governed"
    assert f"flyball init --host {host} --scope user" in found.hint


def test_settings_of_a_host_that_cannot_be_read_are_worth_knowing(shop: Path, tmp_path: Path):
    home = home_of(tmp_path, shop)
    file = tmp_path / "home" / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text("{broken")
    found = seen_by(examine_hooks, home)["hooks of Claude Code"]
    assert (found.holds, found.blocks) == (False, False)
    assert str(file) in found.seen
