import pytest

from flyball.errors import ConfigError, EmptyCommand, NoSuchDirectory, UnbalancedCommand
from flyball.verdict.manifest import declared, dependencies
from flyball.verdict.settled import ProjectPlace, SettledCommand, add_commands


@pytest.mark.parametrize(
    ("name", "text", "names", "needs", "places"),
    [
        (
            "package.json",
            ('{"name": "@s/web", "dependencies": {"@s/ui": "workspace:*", "x": "file:../x"},'
            ' "devDependencies": {"jest": "^29"}}'),
            {"@s/web"}, {"@s/ui", "x", "jest"}, {"../x"},
        ),
        ("package.json", '["not", "a", "table"]', set(), set(), set()),
        ("package.json", "{broken", set(), set(), set()),
        ("package.json", '{"name": 3, "dependencies": []}', set(), set(), set()),
        (
            "composer.json",
            '{"name": "v/a", "require": {"v/b": "*"}, "require-dev": {"v/c": "*"}}',
            {"v/a"}, {"v/b", "v/c"}, set(),
        ),
        ("deno.json", '{"name": "@d/a", "imports": {"b": "@d/b"}}', {"@d/a"}, {"@d/b"}, set()),
        (
            "pyproject.toml",
            ('[project]\nname = "My_App"\ndependencies = ["my.lib>=1", "o @ file:../o", "--bad"]\n'
            '[project.optional-dependencies]\nx = ["extra"]\n[dependency-groups]\nd = ["pytest"]\n'
            '[tool.uv.sources]\nlib2 = {path = "../lib2"}\nws = {workspace = true}\n'),
            {"my-app"}, {"my-lib", "o", "extra", "pytest", "lib2", "ws"}, {"../o", "../lib2"},
        ),
        (
            "pyproject.toml",
            ('[tool.poetry]\nname = "p"\n[tool.poetry.dependencies]\nq = {path = "../q"}\n'
            '[tool.poetry.group.dev.dependencies]\nr = "^1"\n'),
            {"p"}, {"q", "r"}, {"../q"},
        ),
        ("pyproject.toml", "not toml [", set(), set(), set()),
        ("requirements-dev.txt", "-e ../lib\n./own # here\nflask\n", set(), set(),
         {"../lib", "./own"}),
        (
            "Cargo.toml",
            ('[package]\nname = "a"\n[dependencies]\nb = {path = "../b"}\nserde = "1"\n'
            "[target.'cfg(unix)'.dev-dependencies]\nc = {path = '../c'}\n"
            "[workspace.dependencies]\nd = {path = 'd'}\n"),
            {"a"}, {"b", "serde", "c", "d"}, {"../b", "../c", "d"},
        ),
        (
            "go.mod",
            ("module ex.org/a\nrequire ex.org/b v1.0.0\nrequire (\n\tex.org/c v0.1.0\n)\n"
            "replace ex.org/b => ../b\n"),
            {"ex.org/a"}, {"ex.org/b", "ex.org/c"}, {"../b"},
        ),
        ("T.csproj", '<ProjectReference Include="..\\Lib\\Lib.csproj" />', set(), set(),
         {"../Lib"}),
        ("mix.exs", '{:b, path: "../b"}', set(), set(), {"../b"}),
        ("Gemfile", "gem 'b', path: '../b'\n", set(), set(), {"../b"}),
        ("Makefile", "all:\n", set(), set(), set()),
    ],
)  # fmt: skip
def test_what_a_manifest_says(name, text, names, needs, places):
    found = declared({name: text})
    assert (found.names, found.needs, found.places) == (names, needs, places)


def test_parts_are_linked_by_name_and_by_place():
    parts = {
        "web": declared({"package.json": '{"name": "web", "dependencies": {"ui": "*"}}'}),
        "ui": declared({"package.json": '{"name": "ui", "dependencies": {"ui": "*"}}'}),
        "rs/a": declared({"Cargo.toml": "[dependencies]\nb = {path='../b'}\nz = {path='../z'}\n"}),
        "rs/b": declared({}),
    }
    assert dependencies(parts) == {"web": ("ui",), "ui": (), "rs/a": ("rs/b",), "rs/b": ()}


def test_a_part_that_imports_from_another_place_needs_the_part_there():
    web = '[tool.pytest.ini_options]\npythonpath = [".", "../core/src"]\n'
    parts = {
        ".": declared({}),
        "core": declared({}),
        "web": declared({"pyproject.toml": web}),
        "old": declared({"pytest.ini": "[pytest]\npythonpath = .. ../core\n"}),
    }
    needs = dependencies(parts)
    assert needs["web"] == ("core",)
    assert needs["old"] == (".", "core")


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
