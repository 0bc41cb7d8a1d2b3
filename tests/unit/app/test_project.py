"""Projects, their state directories and what was settled for them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flyball.app.project import offer, open_home, project_top, settings_report, trust
from flyball.errors import NoSuchDirectory, NotFound
from flyball.settings import Settings, key_of


def environ(tmp_path: Path, **more: str) -> dict[str, str]:
    return {"HOME": str(tmp_path), "FLYBALL_STATE_DIR": str(tmp_path / "state"), **more}


def test_a_project_begins_where_git_does(tmp_path: Path):
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "shop" / "src").mkdir()
    assert project_top(tmp_path / "shop" / "src") == tmp_path / "shop"
    assert project_top(tmp_path) == tmp_path


def test_two_projects_of_one_name_have_two_journals(tmp_path: Path):
    for place in ("a/shop", "b/shop"):
        (tmp_path / place).mkdir(parents=True)
    one, other = (open_home(tmp_path / p, environ(tmp_path), {}) for p in ("a/shop", "b/shop"))
    assert one.journal_path != other.journal_path
    assert not one.state.exists()


def test_no_configuration_may_be_named_as_the_null_device(tmp_path: Path):
    home = open_home(tmp_path, environ(tmp_path, FLYBALL_CONFIG=os.devnull), {})
    assert home.effective.settings == Settings()


def test_a_missing_directory_is_named(tmp_path: Path):
    with pytest.raises(NotFound, match="nowhere"):
        open_home(tmp_path / "nowhere", environ(tmp_path), {})


def test_every_setting_is_reported_with_its_origin(tmp_path: Path):
    config = tmp_path / "config.toml"
    config.write_text('[model]\ndefault = "openai:gpt-5"\n')
    (tmp_path / "flyball.toml").write_text("[budget]\nreserve = 4\n")
    env = environ(tmp_path, FLYBALL_CONFIG=str(config), FLYBALL_ENABLE_BASH="1")
    trust(env, offer(env, tmp_path))
    home = open_home(tmp_path, env, {"policy_max_iterations": 3})
    report = {key: (value, origin) for key, value, origin in settings_report(home)}
    assert set(report) == {key_of(field) for field in Settings.__struct_fields__}
    assert report["model.default"] == ('"openai:gpt-5"', str(config))
    assert report["bash.enabled"] == ("true", "environment")
    assert report["policy.max_iterations"] == ("3", "command line")
    assert report["budget.reserve"] == ("4", "flyball.toml")
    assert report["policy.review"] == ("true", "default")


def test_a_damaged_record_of_trust_is_no_trust(tmp_path: Path):
    (tmp_path / "flyball.toml").write_text("[budget]\nreserve = 4\n")
    env = environ(tmp_path)
    trust(env, offer(env, tmp_path))
    (tmp_path / "state" / "trusted.json").write_text("[1,")
    assert open_home(tmp_path, env, {}).effective.settings.budget_reserve == 2


def test_an_offer_changes_nothing(tmp_path: Path):
    (tmp_path / "flyball.toml").write_text("[budget]\nreserve = 4\n")
    env = environ(tmp_path)
    assert offer(env, tmp_path).settings == (("budget.reserve", "4"),)
    assert not (tmp_path / "state").exists()


def test_a_command_for_a_directory_that_is_not_there_is_refused(tmp_path: Path):
    top = tmp_path / "shop"
    (top / "fw").mkdir(parents=True)
    (top / "away").symlink_to(tmp_path)
    env = environ(tmp_path)
    home = open_home(top, {**env, "FLYBALL_TEST_COMMAND": '{"~/shop/fw" = "x"}'}, {})
    assert set(home.effective.commands.tests) == {"fw"}
    for name in ("firmware", "away"):
        with pytest.raises(NoSuchDirectory, match=f"environment: `check.command` .* '{name}'"):
            open_home(top, {**env, "FLYBALL_CHECK_COMMAND": f'{{{name} = "x"}}'}, {})


def test_an_offer_shows_the_commands_that_would_count(tmp_path: Path):
    (tmp_path / "fw").mkdir()
    file = tmp_path / "flyball.toml"
    file.write_text('[test.command]\nfw = "./run.sh"\n')
    env = environ(tmp_path, FLYBALL_TEST_COMMAND="tox")
    assert offer(env, tmp_path).settings == (("test.command", '{"fw": "./run.sh", ".": "tox"}'),)
    file.write_text('[test.command]\nnowhere = "./run.sh"\n')
    with pytest.raises(NoSuchDirectory):
        offer(env, tmp_path)
