"""Settings: each has a name in files and in the environment, and says what it is for."""

from __future__ import annotations

from flyball.app.settling import env_of
from flyball.settings import ABOUT, Settings, key_of


def test_every_setting_is_described():
    assert set(ABOUT) == set(Settings.__struct_fields__)


def test_names():
    assert (key_of("bash_enabled"), key_of("guards")) == ("bash.enabled", "guards")
    assert env_of("bash_enabled") == "FLYBALL_BASH_ENABLED"


def test_what_a_repository_may_do_is_told():
    assert ABOUT["test_command"].repository_may == "add directories that you left open"
    assert ABOUT["budget_reserve"].repository_may == "make it higher"
    assert ABOUT["model_default"].repository_may == "not set it"
    assert ABOUT["sandbox_readable"].repository_may == "not set it"
    assert ABOUT["sandbox_variables"].repository_may == "not set it"
