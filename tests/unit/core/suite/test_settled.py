"""Commands that somebody settled for directories, and what is wrong with some."""

import pytest

from flyball.core.suite.settled import ProjectPlace, SettledCommand, add_commands
from flyball.errors import ConfigError, EmptyCommand, NoSuchDirectory, UnbalancedCommand

HERE = ProjectPlace("/home/ada/shop", "/home/ada")


def added(value, known=None):
    found = add_commands(known or {}, value, "test.command", "config.toml", HERE)
    return {at: each.command for at, each in found.items()}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("tox", {".": "tox"}),
        ({"": "tox"}, {".": "tox"}),
        ({"fw/": " ./run.sh ", "./web": "npm test"}, {"fw": "./run.sh", "web": "npm test"}),
        ({"/home/ada/shop/fw": "a"}, {"fw": "a"}),
        ({"~/shop": "a", "~/shop/fw": "b"}, {".": "a", "fw": "b"}),
        ({"~": "a", "/srv/other": "b", "/home/ada/shopping": "c"}, {}),
    ],
)
def test_directories_are_named_from_the_top_or_whole(value, expected):
    assert added(value) == expected


def test_without_a_project_a_whole_path_is_none_of_it():
    assert add_commands({}, {"/srv/x": "a", "~/y": "b"}, "test.command", "flyball.toml") == {}


def test_a_later_source_wins_for_its_directories_alone():
    known = {"fw": SettledCommand("old", "a"), "web": SettledCommand("kept", "a")}
    assert added({"fw": "new"}, known) == {"fw": "new", "web": "kept"}
    found = add_commands(known, {"fw": "new"}, "test.command", "b")
    assert (found["fw"].origin, found["web"].origin) == ("b", "a")


@pytest.mark.parametrize(
    ("value", "kind", "code", "words"),
    [
        (
            {"fw": " "},
            EmptyCommand,
            "command-empty",
            "config.toml: `test.command` for 'fw'",
        ),
        ("", EmptyCommand, "command-empty", "for the top is empty"),
        ({"fw": "sh -c 'x"}, UnbalancedCommand, "command-unbalanced", "no closing quotation"),
        ({"../other": "x"}, NoSuchDirectory, "no-such-directory", "points outside the project"),
        ({"fw": 3}, ConfigError, "config", "neither a command nor a table"),
        (["a"], ConfigError, "config", "neither a command nor a table"),
    ],
)
def test_what_cannot_be_meant_is_said(value, kind, code, words):
    with pytest.raises(kind, match=words) as caught:
        added(value)
    assert caught.value.code == code
    assert caught.value.hint
