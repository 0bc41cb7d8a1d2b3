"""The evidence form in an answer, told apart from the words around it."""

from __future__ import annotations

import pytest

from flyball.core.plan.replies import split_answer


@pytest.mark.parametrize(
    ("text", "fields", "rest"),
    [
        ("So.\n\n```json\n{\"a\": 1}\n```", {"a": 1}, "So."),
        ("So.\n```json\n{\"a\": 1}\n```\nThat is all.", {"a": 1}, "So.\nThat is all."),
        ("```json\n{\"a\": 1}\n```\n```py\nx = 1\n```", {"a": 1}, "```py\nx = 1\n```"),
        ("```\n{\"a\": 1}\n```\n~~~json\n{\"b\": 2}\n~~~", {"b": 2}, "```\n{\"a\": 1}\n```"),
        ("{\"a\": 1}", {"a": 1}, ""),
        ("It is {\"a\": 1}.", {"a": 1}, "It is\n."),
        ("no form", None, "no form"),
        ("{broken", None, "{broken"),
        ("```json\n[1]\n```", None, "```json\n[1]\n```"),
    ],
)  # fmt: skip
def test_the_last_block_is_the_form(text: str, fields: object, rest: str):
    assert split_answer(text) == (fields, rest)
