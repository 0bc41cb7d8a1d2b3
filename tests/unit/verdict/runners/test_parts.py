import json
import os

import pytest
from tests.repos import put

from flyball.verdict.part import PartSuite, owner_of, reached
from flyball.verdict.runners.layout import look
from flyball.verdict.runners.parts import suites_of, survey_parts
from flyball.verdict.settled import NOTHING_SETTLED, ProjectCommands, SettledCommand

FUNCTION = "def test_a():\n    assert 1\n"


def package(test="", **more):
    return json.dumps({"scripts": {"test": test} if test else {}, **more})


def surveyed(tmp_path, files, settled=NOTHING_SETTLED):
    put(tmp_path, files)
    return survey_parts(look(tmp_path), settled)


def suites(parts):
    return {part.path: [suite.runner for suite in part.suites] for part in parts}


def test_a_monorepo_has_every_part_with_its_own_suite(tmp_path):
    parts = surveyed(
        tmp_path,
        {
            "README.md": "",
            "api/pyproject.toml": "[tool.ruff]\n",
            "api/tests/test_a.py": FUNCTION,
            "web/package.json": package("vitest"),
            "web/tsconfig.json": "{}",
            "web/icons/package.json": "{}",
            "tools/gen/go.mod": "module x\n",
            "tools/gen/a_test.go": "",
            "native/Makefile": "check:\n\t./run\n",
            "node_modules/x/package.json": package("jest"),
            "vendor/y/go.mod": "module y\n",
        },
    )
    assert suites(parts) == {
        ".": [],
        "api": ["pytest"],
        "native": ["make"],
        "tools/gen": ["go"],
        "web": ["vitest"],
        "web/icons": [],
    }
    checks = {part.path: part.checks for part in parts}
    assert checks["api"] == ("ruff",)
    assert checks["web"] == ("tsc",)
    assert owner_of(parts, "web/icons/a.svg").path == "web"
    assert next(part for part in parts if part.path == "native").suites[0].command == "make check"


def test_a_package_without_tests_does_not_make_a_django_project_javascript(tmp_path):
    parts = surveyed(
        tmp_path,
        {
            "package.json": package(devDependencies={"tailwindcss": "3"}),
            "manage.py": "import django\n",
            "shop/tests.py": "from django.test import TestCase\n",
        },
    )
    assert suites(parts) == {".": ["unittest"]}
    assert parts[0].kinds == ("node",)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"test_a.py": FUNCTION}, {".": ["pytest"]}),
        ({"a.bats": ""}, {".": ["bats"]}),
        ({"a.test.js": "import test from 'node:test'"}, {".": ["node"]}),
        ({"test/a.js": "require('node:test')", "package.json": "{}"}, {".": ["node"]}),
        ({"test/a.js": "require('tap')", "package.json": "{}"}, {".": []}),
        ({"a_test.ts": "Deno.test('a', f)", "deno.json": "{}"}, {".": ["deno"]}),
        ({"pom.xml": "", "src/test/java/ATest.java": ""}, {".": ["maven"]}),
        ({"build.gradle.kts": "", "src/test/kotlin/ATest.kt": ""}, {".": ["gradle"]}),
        ({"T/T.csproj": "xunit", "S.sln": ""}, {".": ["dotnet"]}),
        ({"T/T.csproj": "xunit", "L/L.csproj": ""}, {".": [], "L": [], "T": ["dotnet"]}),
        ({"CMakeLists.txt": "enable_testing()", "test/CMakeLists.txt": ""}, {".": ["ctest"]}),
        ({"CMakeLists.txt": "project(x)"}, {".": []}),
        ({"Gemfile": "", "spec/a_spec.rb": ""}, {".": ["rspec"]}),
        ({"Rakefile": "", "test/test_a.rb": ""}, {".": ["rake"]}),
        ({"composer.json": '{"require-dev": {"phpunit/phpunit": "*"}}'}, {".": ["phpunit"]}),
        ({"mix.exs": "", "test/a_test.exs": ""}, {".": ["mix"]}),
        ({"justfile": "test:\n  ./x\n"}, {".": ["just"]}),
        ({"justfile": "test := 1\n"}, {".": []}),
        ({"Makefile.am": "TESTS = a", "Makefile": "all:\n"}, {".": ["make"]}),
    ],
)
def test_every_kind_of_project_has_its_runner(tmp_path, files, expected):
    assert suites(surveyed(tmp_path, files)) == expected


def test_a_runner_behind_a_wrapper_is_started_itself(tmp_path):
    wrapped = package("ts-scripts test", devDependencies={"vitest": "3"})
    put(tmp_path, {"src/a.spec.ts": "", "package.json": wrapped})
    assert suites(surveyed(tmp_path, {})) == {".": ["npm"]}
    assert suites(surveyed(tmp_path, {"vitest.config.mts": ""})) == {".": ["vitest"]}
    other = package("mocha", devDependencies={"vitest": "3"})
    assert suites(surveyed(tmp_path, {"package.json": other})) == {".": ["mocha"]}


def test_the_same_tests_are_not_run_in_two_ways(tmp_path):
    put(
        tmp_path,
        {
            "test_a.py": FUNCTION + "import unittest\n",
            "Makefile": "test:\n\tpytest\n",
            "a.bats": "",
            "package.json": package("bats ."),
        },
    )
    assert suites_of(look(tmp_path)) == ("pytest", "bats")


def test_tests_of_an_inner_part_belong_to_where_pytest_is_configured(tmp_path):
    inner = {"lib/pyproject.toml": "", "lib/test_a.py": FUNCTION}
    parts = surveyed(tmp_path, {**inner, "pytest.ini": "[pytest]\n"})
    assert suites(parts) == {".": ["pytest"], "lib": []}
    assert owner_of(parts, "lib/a.py").path == "."
    put(tmp_path, {"lib/pytest.ini": "[pytest]\n", "test_b.py": FUNCTION})
    assert suites(survey_parts(look(tmp_path))) == {".": ["pytest"], "lib": ["pytest"]}


@pytest.mark.parametrize(
    "files",
    [
        {"pom.xml": "<modules><module>a</module></modules>", "a/pom.xml": ""},
        {"mix.exs": "apps_path: 'apps'", "apps/a/mix.exs": ""},
        {"settings.gradle": "", "a/build.gradle": ""},
        {"CMakeLists.txt": "add_subdirectory(a)", "a/CMakeLists.txt": "project(a)"},
    ],
)
def test_what_an_outer_build_tests_itself_is_no_part(tmp_path, files):
    assert [part.path for part in surveyed(tmp_path, files)] == ["."]


def test_a_change_reaches_the_parts_that_need_it(tmp_path):
    parts = surveyed(
        tmp_path,
        {
            "package.json": package(workspaces=["packages/*"]),
            "packages/ui/package.json": package("jest", name="@s/ui"),
            "packages/web/package.json": package("jest", dependencies={"@s/ui": "workspace:*"}),
            "packages/docs/package.json": package("jest"),
        },
    )
    paths = [part.path for part in reached(parts, ["packages/ui/index.js"])]
    assert paths == ["packages/ui", "packages/web"]


def test_a_person_may_settle_what_tests_and_checks_a_directory(tmp_path):
    parts = surveyed(
        tmp_path,
        {"fw/main.ino": "", "test_a.py": FUNCTION},
        ProjectCommands(
            tests={"fw": SettledCommand("./run.sh", "here"), ".": SettledCommand("tox", "there")},
            checks={"fw": SettledCommand("./lint.sh", "here"), ".": SettledCommand("ty", "there")},
        ),
    )
    assert suites(parts) == {".": ["command"], "fw": ["command"]}
    assert parts[1].suites[0] == PartSuite("command", "fw", "./run.sh", "here")
    assert [(part.checks, part.check_origin) for part in parts] == [
        (("ty",), "there"),
        (("./lint.sh",), "here"),
    ]


def test_neither_links_nor_pipes_are_followed(tmp_path):
    outside = tmp_path / "outside"
    put(outside, {"package.json": package("jest"), "test_a.py": FUNCTION})
    tree = tmp_path / "tree"
    put(tree, {"a.py": ""})
    (tree / "linked").symlink_to(outside)
    (tree / "package.json").symlink_to(outside / "package.json")
    (tree / "test_b.py").symlink_to(outside / "test_a.py")
    os.mkfifo(tree / "pyproject.toml")
    os.mkfifo(tree / "Makefile")
    assert suites(survey_parts(look(tree))) == {".": []}
