"""How deep JSON is, without parsing it."""

from __future__ import annotations

import json

import pytest

from flyball.bounds import DEEPEST, is_nested_too_deeply


@pytest.mark.parametrize(("opens", "shuts"), [(b"[", b"]"), (b'{"]":', b"}"), (b"[1,", b",2]")])
def test_levels_are_counted_and_not_what_stands_side_by_side(opens: bytes, shuts: bytes):
    assert not is_nested_too_deeply(opens * DEEPEST + b"1" + shuts * DEEPEST)
    assert is_nested_too_deeply(opens * (DEEPEST + 1) + b"1" + shuts * (DEEPEST + 1))
    assert not is_nested_too_deeply(b"[" + b",".join([opens + b"1" + shuts] * 1_000) + b"]")


def test_brackets_in_strings_do_not_count():
    text = '[{"\\' * 1_000
    assert not is_nested_too_deeply(json.dumps([text, {text: text}]).encode())
    assert is_nested_too_deeply(json.dumps(text).encode() + b"[" * (DEEPEST + 1))
