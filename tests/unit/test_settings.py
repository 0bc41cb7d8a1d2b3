"""Settings have names and say what they are for; how deep JSON is, without parsing it."""

from __future__ import annotations

import json

import pytest

from flyball.app.settling import env_of
from flyball.bounds import DEEPEST, is_nested_too_deeply
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


@pytest.mark.parametrize(("opens", "shuts"), [(b"[", b"]"), (b'{"]":', b"}"), (b"[1,", b",2]")])
def test_levels_are_counted_and_not_what_stands_side_by_side(opens: bytes, shuts: bytes):
    assert not is_nested_too_deeply(opens * DEEPEST + b"1" + shuts * DEEPEST)
    assert is_nested_too_deeply(opens * (DEEPEST + 1) + b"1" + shuts * (DEEPEST + 1))
    assert not is_nested_too_deeply(b"[" + b",".join([opens + b"1" + shuts] * 1_000) + b"]")


def test_brackets_in_strings_do_not_count():
    text = '[{"\\' * 1_000
    assert not is_nested_too_deeply(json.dumps([text, {text: text}]).encode())
    assert is_nested_too_deeply(json.dumps(text).encode() + b"[" * (DEEPEST + 1))
