"""The block at the end of a TOML file."""

from __future__ import annotations

import tomllib

import pytest

from flyball.errors import BrokenSettings, Conflict
from flyball.hosts.install import toml_block
from flyball.hosts.install.targets import HOSTS, wanted_hooks

HOOKS = wanted_hooks(HOSTS["codex"], "/opt/b\\ in/flyball-hook")
TEXTS = [
    "",
    "\n",
    "allow_managed_hooks_only = true\n",
    "# rules of the house\n[features]\nhooks = true # keep",
    "[hooks]\nmanaged_dir = '/x'\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = 'command'\n\n\n",
    "a = 1\r\n[b]\r\nc = 2\r\n",
]


@pytest.mark.parametrize("text", TEXTS)
def test_in_and_out_again_is_the_same_to_the_byte(text: str):
    merged = toml_block.put_in(text, "requirements.toml", HOOKS)
    value = tomllib.loads(merged.text)

    assert toml_block.is_installed(merged.text, HOOKS)
    assert not toml_block.is_installed(text, HOOKS)
    for event, group in HOOKS.items():
        assert value["hooks"][event][-1] == group
    assert toml_block.take_out(merged.text, "requirements.toml", merged.put) == text


@pytest.mark.parametrize("text", TEXTS)
def test_edits_around_the_block_stay(text: str):
    merged = toml_block.put_in(text, "r.toml", HOOKS)
    edited = "# top\n" + merged.text + "[later]\nx = 1\n"

    assert toml_block.take_out(edited, "r.toml", merged.put) == f"# top\n{text}[later]\nx = 1\n"


def test_empty_line_is_removed_without_a_record():
    merged = toml_block.put_in("a = 1\n", "r.toml", HOOKS)

    assert toml_block.take_out(merged.text, "r.toml", None) == "a = 1\n"
    assert toml_block.take_out("a = 1\n", "r.toml", None) == "a = 1\n"


def test_other_hooks_make_another_block():
    other = wanted_hooks(HOSTS["codex"], "/elsewhere/flyball-hook")
    merged = toml_block.put_in("", "r.toml", other)

    assert not toml_block.is_installed(merged.text, HOOKS)


@pytest.mark.parametrize(("text", "where"), [("a = \n", "1:5"), ("a = 1\nb", "2:2"), ("[a", "1:3")])
def test_a_broken_file_is_refused_with_its_place(text: str, where: str):
    with pytest.raises(BrokenSettings) as caught:
        toml_block.put_in(text, "r.toml", HOOKS)
    assert caught.value.place == where


def test_hooks_that_nothing_can_be_added_to_are_refused():
    with pytest.raises(Conflict, match=r"r\.toml defines hooks"):
        toml_block.put_in("hooks = {Stop = []}\n", "r.toml", HOOKS)
