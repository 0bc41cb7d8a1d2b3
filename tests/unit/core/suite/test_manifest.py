import pytest

from flyball.core.suite.manifest import declared, dependencies


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
