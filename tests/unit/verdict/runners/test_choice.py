import json
import os
import time

import pytest
from tests.repos import put

from flyball.errors import ToolError
from flyball.verdict.runners.checker import checks_of
from flyball.verdict.runners.choice import choose, not_installed, set_up_command
from flyball.verdict.runners.layout import look
from flyball.verdict.runners.parts import runners_and_checks, survey_parts
from flyball.verdict.runners.table import BY_NAME, runners_of

FUNCTION = "def test_a():\n    assert 1\n"
CASE = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass\n"


def package(test="", **more):
    return json.dumps({"scripts": {"test": test} if test else {}, **more})


@pytest.mark.parametrize(
    ("files", "runners"),
    [
        ({}, ()),
        ({"mod.py": '"""\n>>> 1\n1\n"""\n'}, ()),
        ({"pytest.ini": "[pytest]\n"}, ()),
        ({"pkg/testing.py": "HELP = 1\n"}, ()),
        ({"test_a.py": "class A(Base):\n    def test_a(self): pass\n"}, ("unittest",)),
        ({"pytest.ini": "[pytest]\naddopts = --doctest-modules\n", "m.py": ""}, ("pytest",)),
        ({"tests/test_a.py": FUNCTION}, ("pytest", "unittest")),
        ({"a/b/c/d/thing_test.py": FUNCTION}, ("pytest", "unittest")),
        ({"tests/test_a.py": CASE}, ("unittest",)),
        ({"tests/test_a.py": CASE, "conftest.py": ""}, ("pytest", "unittest")),
        (
            {"test_a.py": CASE, "pyproject.toml": "[tool.pytest.ini_options]\n"},
            ("pytest", "unittest"),
        ),
        ({"test_a.py": CASE, "setup.cfg": "[tool:pytest]\n"}, ("pytest", "unittest")),
        ({"test_a.py": CASE, "pyproject.toml": "not toml ["}, ("unittest",)),
        ({".venv/lib/test_a.py": FUNCTION, "env/pyvenv.cfg": "", "env/test_b.py": FUNCTION}, ()),
        ({"node_modules/x/test_a.py": FUNCTION}, ()),
        ({"package.json": package("jest --ci")}, ("jest",)),
        ({"package.json": package("npx vitest run")}, ("vitest",)),
        ({"package.json": package("jest && eslint .")}, ("jest",)),
        ({"package.json": package("NODE_ENV=test jest")}, ("jest",)),
        ({"package.json": package("jest | tee log")}, ("npm",)),
        ({"package.json": package("node run.js"), "yarn.lock": ""}, ("yarn",)),
        ({"package.json": package("node run.js"), "pnpm-lock.yaml": ""}, ("pnpm",)),
        ({"package.json": package('echo "Error: no test specified" && exit 1')}, ()),
        ({"package.json": package(devDependencies={"vitest": "1"})}, ("vitest",)),
        ({"package.json": "{broken"}, ()),
        ({"package.json": '{"scripts": ["test"]}'}, ()),
        ({"go.mod": "module x\n", "a/a_test.go": ""}, ("go",)),
        ({"go.mod": "module x\n"}, ()),
        ({"Cargo.toml": ""}, ("cargo",)),
        ({"Makefile": "build:\n\ntest: build\n\tx\n"}, ("make",)),
        ({"GNUmakefile": "lint test:\n\tx\n"}, ("make",)),
        ({"Makefile": "test := 1\ntests:\n\tx\n"}, ()),
    ],
)
def test_what_a_project_is_tested_with(tmp_path, files, runners):
    put(tmp_path, files)
    assert runners_of(look(tmp_path)) == runners


def test_a_part_is_named_by_the_first_word(tmp_path):
    put(tmp_path, {"web/package.json": package("jest"), "api/go.mod": "", "api/a_test.go": ""})
    choice = choose("", ["web", "-t", "x"], tmp_path)
    assert (choice.name, choice.at, choice.args) == ("jest", "web", ("-t", "x"))
    with pytest.raises(ToolError, match=r"Name one .*: api \(go\), web \(jest\)"):
        choose("", [], tmp_path)
    assert runners_and_checks(tmp_path)[0] == ("go", "jest")


def test_the_only_part_with_tests_is_taken(tmp_path):
    put(tmp_path, {"web/package.json": package("jest"), "docs/package.json": "{}"})
    assert choose("", [], tmp_path).at == "web"


def test_a_wished_runner_is_looked_for_in_the_parts(tmp_path):
    put(tmp_path, {"web/package.json": package("jest"), "tests/test_a.py": FUNCTION})
    assert choose("jest", [], tmp_path).at == "web"
    assert choose("", [], tmp_path).name == "pytest"
    with pytest.raises(ToolError, match="no tests that cargo would run"):
        choose("cargo", [], tmp_path)


@pytest.mark.parametrize(
    ("files", "at"),
    [
        ({"api/pyproject.toml": "", "api/tests/test_a.py": FUNCTION}, "api"),
        ({"api/pyproject.toml": "", "api/tests/test_a.py": FUNCTION, "conftest.py": ""}, "."),
        ({"api/pyproject.toml": "", "api/test_a.py": FUNCTION, "test_b.py": FUNCTION}, "."),
        ({"a/pyproject.toml": "", "a/b/setup.py": "", "a/b/test_a.py": FUNCTION}, "a/b"),
    ],
)
def test_python_tests_start_where_their_project_is(tmp_path, files, at):
    put(tmp_path, files)
    assert choose("", [], tmp_path).at == at


def test_a_path_from_the_top_is_seen_from_within_the_part(tmp_path):
    put(tmp_path, {"api/pyproject.toml": "", "api/tests/test_a.py": FUNCTION})
    choice = choose("", ["api/tests/test_a.py::test_a", "-x"], tmp_path)
    assert (choice.at, choice.args) == ("api", ("tests/test_a.py::test_a", "-x"))


def test_words_that_are_no_part_are_passed_on(tmp_path):
    put(tmp_path, {"tests/test_a.py": FUNCTION, "outside/go.mod": ""})
    assert choose("", ["tests"], tmp_path).args == ("tests",)
    assert choose("", ["../x"], tmp_path).at == "."
    assert choose("", ["-k", "outside"], tmp_path).args == ("-k", "outside")


@pytest.mark.parametrize(
    ("words", "seen"),
    [
        (["./..."], ("./...",)),
        (["./"], ("./",)),
        (["api/..."], ("...",)),
        (["./api/..."], ("...",)),
        (["-v", "./api/"], ("-v",)),
        (["./api/pkg/a_test.go::TestX"], ("pkg/a_test.go::TestX",)),
    ],
)
def test_a_path_keeps_its_meaning_in_a_part(tmp_path, words, seen):
    put(tmp_path, {"go.mod": "", "a_test.go": "", "api/go.mod": "", "api/pkg/a_test.go": ""})
    assert choose("", words, tmp_path).args == seen


def test_nothing_found_names_the_setting_and_what_was_looked_at(tmp_path):
    put(tmp_path, {"Makefile": "all:\n", "README.md": ""})
    with pytest.raises(ToolError) as caught:
        choose("", [], tmp_path)
    assert "2 files" in str(caught.value)
    assert "Makefile" in str(caught.value)
    assert "`test.command`" in caught.value.hint


@pytest.mark.parametrize(
    ("files", "paths"),
    [
        ({"tests/tests_bar.py": FUNCTION}, ("tests/tests_bar.py",)),
        ({"tests/bar_tests.py": FUNCTION}, ("tests/bar_tests.py",)),
        ({"testing/test_a.py": FUNCTION}, ()),
        (
            {"a/test_a.py": FUNCTION, "tox.ini": "[testenv]\ncommands = pytest -q {posargs:a}"},
            ("a",),
        ),
        ({"a/test_a.py": FUNCTION, "tox.ini": "[testenv]\ncommands = pytest --ignore a"}, ()),
        ({"a/test_a.py": FUNCTION, "noxfile.py": 's.run("pytest", "a", "--cov=x")'}, ("a",)),
        (
            {
                "a/test_a.py": FUNCTION,
                "b/test_b.py": FUNCTION,
                "pyproject.toml": '[tool.hatch.envs.default.scripts]\ntest = "pytest a"\n',
            },
            ("a",),
        ),
        ({"a/test_a.py": FUNCTION, "Makefile": "test:\n\tpython -m pytest a\n"}, ("a",)),
        (
            {
                "a/test_a.py": FUNCTION,
                "Makefile": "test:\n\tpytest a\n",
                "pytest.ini": "[pytest]\ntestpaths = a b\n",
            },
            (),
        ),
    ],
)
def test_pytest_looks_where_the_project_has_it_look(start, files, paths):
    put(start.root.path, files)
    choice = choose("", [], start.root.path)
    assert choice.name == "pytest"
    argv = BY_NAME["pytest"].argv(start, choice.land, ())
    assert tuple(argv[argv.index("--continue-on-collection-errors") + 1 :]) == paths


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"uv.lock": "", "test_a.py": FUNCTION}, "uv sync"),
        ({"poetry.lock": "", "test_a.py": FUNCTION}, "poetry install"),
        ({"pyproject.toml": "[tool.hatch.build]\n", "test_a.py": FUNCTION}, "hatch env create"),
        (
            {
                "pyproject.toml": "[project.optional-dependencies]\ntest = ['pytest']\n",
                "test_a.py": FUNCTION,
            },
            "python3 -m venv .venv && .venv/bin/pip install -e '.[test]'",
        ),
        ({"package.json": package("jest"), "pnpm-lock.yaml": ""}, "pnpm install"),
        ({"package.json": package("jest")}, "npm install"),
        ({"go.mod": "", "a_test.go": ""}, ""),
        ({"spec/a_spec.rb": "", "Gemfile": ""}, "bundle install"),
    ],
)
def test_a_missing_runner_names_the_projects_own_set_up(tmp_path, files, command):
    put(tmp_path, files)
    choice = choose("", [], tmp_path)
    assert set_up_command(choice.name, choice.land) == command
    assert not command or command in not_installed(choice, "it is not there").hint


def test_one_start_tests_every_crate_of_a_workspace(tmp_path):
    outer = '[workspace]\nmembers = ["a", "b"]\nexclude = ["c"]\n'
    put(tmp_path, {"Cargo.toml": outer, **{f"{each}/Cargo.toml": "" for each in "abc"}})
    parts = survey_parts(look(tmp_path))
    assert [part.path for part in parts if part.suites] == [".", "c"]


def test_no_tests_and_no_such_runner_are_sentences(tmp_path):
    with pytest.raises(ToolError, match="no tests that a known runner would find"):
        choose("", [], tmp_path)
    with pytest.raises(ToolError, match="no test runner 'nose'"):
        choose("nose", [], tmp_path)


def test_tests_that_are_linked_in_from_elsewhere_are_named_as_such(tmp_path):
    put(tmp_path, {"elsewhere/test_a.py": FUNCTION, "shop/src/data": ""})
    for link, target in {
        "tests": "../elsewhere",
        "src/spec": "data",
        "docs": "../elsewhere",
    }.items():
        (tmp_path / "shop" / link).symlink_to(target)
    with pytest.raises(
        ToolError, match=r"[0-9]+ files were looked at\. tests is a link that"
    ) as no:
        choose("", [], tmp_path / "shop")
    assert "spec" not in no.value.message and "docs" not in no.value.message


@pytest.mark.parametrize(
    ("files", "checks"),
    [
        ({}, []),
        ({"a/b/c.py": ""}, ["compileall"]),
        ({"pyproject.toml": "[tool.ruff]\n[tool.mypy]\n[tool.pyright]\n[tool.ty]\n"},
         ["pyright", "mypy", "ty", "ruff"]),
        ({"setup.cfg": "[mypy]\n"}, ["mypy"]),
        ({"tsconfig.json": "{}", "eslint.config.mjs": ""}, ["tsc", "eslint"]),
        ({"package.json": package(devDependencies={"eslint": "9"})}, ["eslint"]),
        ({"package.json": '{"scripts": {"build": "tsc"}}'}, ["build"]),
        ({"go.mod": ""}, ["go-build", "go-vet"]),
        ({"Cargo.toml": ""}, ["cargo"]),
        ({"Makefile": "build:\n\tx\n"}, ["make-build"]),
    ],
)  # fmt: skip
def test_what_a_project_is_checked_with(tmp_path, files, checks):
    put(tmp_path, files)
    assert [check.name for check in checks_of(look(tmp_path))] == checks


@pytest.mark.exhaustive
def test_a_large_tree_is_surveyed_quickly(tmp_path):
    for n in range(500):
        place = tmp_path / f"d{n % 20}" / f"e{n}"
        place.mkdir(parents=True)
        for m in range(100):
            os.close(os.open(place / f"f{m}.py", os.O_CREAT | os.O_WRONLY))
    put(tmp_path, {"zz/test_last.py": FUNCTION})
    began = time.process_time()
    runners, checks = runners_and_checks(tmp_path)
    assert time.process_time() - began < 60
    assert (runners, checks) == (("pytest",), ("compileall",))
