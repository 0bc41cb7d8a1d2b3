"""Edits of what decides which tests run."""

from __future__ import annotations

import pytest

from flyball.core.weakening import is_test_config, is_test_path, weakenings
from flyball.core.weakening.paths import is_ci, is_expectation

WORKFLOW = """jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v3
      - name: Run the tests
        # test everything
        run: pytest -q
"""
MAKEFILE = """CC := gcc
test: build
\t# all of them
\tpytest -q

build:
\tcc x.c
"""

WEAKER = [
    ("pytest.ini", "[pytest]\naddopts = -q\n", "[pytest]\naddopts = -q --ignore=tests/x.py\n"),
    ("pytest.ini", "[pytest]\naddopts = -q\n", "[pytest]\naddopts = -q -k 'not slow'\n"),
    ("pytest.ini", "[pytest]\naddopts = -q --strict-markers\n", "[pytest]\naddopts = -q\n"),
    ("pytest.ini", "[pytest]\n", "[pytest]\ntestpaths = tests/unit\n"),
    ("pytest.ini", "[pytest]\ntestpaths = a\n", "[pytest]\ntestpaths = a b\n"),
    ("pytest.ini", "[pytest]\naddopts = -q\n", None),
    ("pytest.ini", None, "[pytest]\naddopts = --deselect tests/test_a.py\n"),
    ("tox.ini", "[testenv]\ncommands = pytest\n", "[testenv]\ncommands = true\n"),
    ("setup.cfg", "[tool:pytest]\nxfail_strict = true\n", "[tool:pytest]\nxfail_strict = false\n"),
    (".coveragerc", "[report]\nfail_under = 90\n", "[report]\nfail_under = 10\n"),
    (
        "pyproject.toml",
        "[tool.pytest.ini_options]\nx = ['a', 'b']\n",
        "[tool.pytest.ini_options]\nx = ['a']\n",
    ),
    (
        "pyproject.toml",
        "[tool.coverage.report]\nfail_under = 90\n",
        "[tool.coverage.report]\nfail_under = 9\n",
    ),
    ("pyproject.toml", "[tool.pytest]\nx = 1\n", "[tool.pytest\n"),
    ("conftest.py", "", "collect_ignore = ['test_a.py']\n"),
    ("tests/conftest.py", "", "collect_ignore_glob += ['*']\n"),
    (
        "tests/conftest.py",
        "x = 1\n",
        "def pytest_collection_modifyitems(items):\n    items.clear()\n",
    ),
    ("package.json", '{"scripts": {"test": "jest"}}', '{"scripts": {"test": "exit 0"}}'),
    ("package.json", '{"scripts": {"test": "jest"}}', '{"scripts": {"test": "jest || true"}}'),
    ("package.json", '{"jest": {"a": 1}}', '{"jest": {"a": 1, "testPathIgnorePatterns": ["x"]}}'),
    ("jest.config.js", "module.exports = {bail: true}", "module.exports = {bail: false}"),
    ("Makefile", MAKEFILE, MAKEFILE.replace("pytest -q", "pytest -q || true")),
    ("Makefile", MAKEFILE, MAKEFILE.replace("pytest -q", "true")),
    (".github/workflows/ci.yml", WORKFLOW, WORKFLOW.replace("pytest -q", "echo skipped")),
    (".github/workflows/ci.yml", WORKFLOW, WORKFLOW + "        continue-on-error: true\n"),
    (".gitlab-ci.yml", "script: make test", "script: make test || true\n"),
]


@pytest.mark.parametrize(("path", "before", "after"), WEAKER)
def test_a_weaker_setting_is_found(path: str, before: str | None, after: str | None):
    kinds = {w.kind for w in weakenings({path: before}, {path: after})}
    assert kinds == {"edited-config"}


SOUND = [
    ("pytest.ini", "[pytest]\naddopts = -q\n", "# more\n[pytest]\naddopts = -q -v\n"),
    ("pytest.ini", "[pytest]\n", "[pytest]\nmarkers =\n    slow: takes long\n"),
    ("pytest.ini", "[pytest]\nmarkers = a\n", "[pytest]\nmarkers = b\n"),
    ("pytest.ini", None, "[pytest]\naddopts = -q\n"),
    ("pytest.ini", "nonsense", "[pytest]\ntestpaths = x\n"),
    ("setup.cfg", "[metadata]\nname = a\n[run]\nx = 1\n", "[metadata]\nname = b\n[run]\nx = 2\n"),
    ("pyproject.toml", "[project]\nversion = '1'\n", "[project]\nversion = '2'\n"),
    ("pyproject.toml", "tool = 3\n", "tool = 4\n"),
    ("conftest.py", "import a\n", "import b\nx = 1\n\n\ndef pytest_configure():\n    pass\n"),
    ("package.json", '{"scripts": {"build": "a"}}', '{"scripts": {"build": "b"}}'),
    ("package.json", '{"scripts": 3}', "[1]"),
    ("jest.config.js", "module.exports = {}", "// tidy\nmodule.exports =  {}\n"),
    (
        "Makefile",
        MAKEFILE,
        MAKEFILE.replace("cc x.c", "cc -O2 x.c").replace("all of them", "every"),
    ),
    (".github/workflows/ci.yml", WORKFLOW, WORKFLOW.replace("@v3", "@v4").replace("latest", "24")),
    (".github/workflows/ci.yml", WORKFLOW, WORKFLOW.replace("Run the tests", "Test")),
]


@pytest.mark.parametrize(("path", "before", "after"), SOUND)
def test_a_harmless_edit_is_not_remarked(path: str, before: str | None, after: str | None):
    assert weakenings({path: before}, {path: after}) == ()


def test_the_setting_its_values_and_its_line_are_told():
    before, after = "[pytest]\n\naddopts = -q\n", "[pytest]\n\naddopts = -k x\n"
    (only,) = weakenings({"pytest.ini": before}, {"pytest.ini": after})
    assert (only.line, only.detail) == (3, "pytest.addopts: -q became -k x")
    (gone,) = weakenings({".ci/run": "make test\n"}, {".ci/run": "x\n"})
    assert (gone.line, gone.detail) == (1, "`make test` was removed")
    (added,) = weakenings({".ci/run": "x\n"}, {".ci/run": "x\nallow_failure: true\n"})
    assert (added.line, added.detail) == (2, "`allow_failure: true` was added")


def test_long_values_are_shortened():
    after = f"[pytest]\naddopts = --ignore={'x' * 500}\n"
    (only,) = weakenings({"pytest.ini": "[pytest]\n"}, {"pytest.ini": after})
    assert len(only.detail) < 200
    assert only.detail.endswith("…")


def test_files_that_are_not_about_tests_are_ignored():
    assert weakenings({"src/a.py": "assert x == 1\n"}, {"src/a.py": "pass\n"}) == ()
    assert weakenings({"README.md": "a"}, {"README.md": None}) == ()


@pytest.mark.parametrize(
    ("path", "is_test"),
    [
        ("tests/test_a.py", True),
        ("src/a_test.py", True),
        ("pkg/test_a.py", True),
        ("tests/helper.py", True),
        ("web/cart.spec.tsx", True),
        ("web/__tests__/cart.js", True),
        ("pkg/a_test.go", True),
        ("src/CartTest.java", True),
        ("spec/cart_spec.rb", True),
        ("src/a.snap", True),
        ("src/contest.py", False),
        ("src/latest.js", False),
        ("src/attestation.java", False),
        ("src/testing.py", False),
        ("tests", False),
        ("docs/tests.md", False),
    ],
)
def test_test_paths(path: str, is_test: bool):
    assert is_test_path(path) is is_test


@pytest.mark.parametrize(
    ("path", "is_config"),
    [
        ("pytest.ini", True),
        ("sub/conftest.py", True),
        ("pyproject.toml", True),
        ("web/package.json", True),
        ("web/vitest.config.ts", True),
        (".github/workflows/build.yml", True),
        (".ci/run", True),
        ("Makefile", True),
        ("package-lock.json", False),
        ("src/config.py", False),
        (".github/CODEOWNERS", False),
    ],
)
def test_test_config(path: str, is_config: bool):
    assert is_test_config(path) is is_config


def test_ci_and_expectations():
    assert is_ci(".circleci/config.yml")
    assert is_ci(".travis.yml")
    assert not is_ci("src/ci.py")
    assert is_expectation("tests/expected/a.txt")
    assert not is_expectation("docs/expected/a.txt")
