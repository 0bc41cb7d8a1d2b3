"""Edits of what decides which tests run."""

from __future__ import annotations

import pytest

from flyball.terms.test_paths import is_ci, is_expectation, is_test_config, is_test_path
from flyball.verdict.tests import weakenings

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
    ("package.json", '{"scripts": {"test": "ava"}}', '{"scripts": {"test": "ava --match=foo"}}'),
    (
        "package.json",
        '{"scripts": {"test": "jest"}}',
        '{"scripts": {"test": "jest src/a.test.js"}}',
    ),
    (
        "package.json",
        '{"scripts": {"test": "mocha test/"}}',
        '{"scripts": {"test": "mocha test/a"}}',
    ),
    (
        "package.json",
        '{"scripts": {"test": "mocha"}}',
        '{"scripts": {"test": "mocha --grep fast"}}',
    ),
    ("package.json", '{"scripts": {"test": "jest"}}', '{"scripts": {"test": "echo ok"}}'),
    ("package.json", '{"scripts": {"test": "jest"}}', '{"scripts": {}}'),
    (
        "package.json",
        '{"scripts": {"test": "node --test"}}',
        '{"scripts": {"test": "node --test --test-name-pattern=a"}}',
    ),
    ("package.json", '{"ava": {"files": ["test/*"]}}', '{"ava": {"files": ["test/a.js"]}}'),
    ("package.json", "{}", '{"jest": {"testMatch": ["x"]}}'),
    ("deno.json", '{"tasks": {"test": "deno test"}}', '{"tasks": {"test": "deno test a.ts"}}'),
    ("vitest.config.ts", "test: {}", "test: { exclude: ['a.test.ts'] }"),
    ("vite.config.ts", "test: {}", "test: {\n  exclude: ['a.test.ts'],\n}"),
    (".mocharc.yml", "spec: test/*.js\n", "spec: test/a.js\n"),
    ("jest.config.js", "module.exports = {}", "module.exports = {testNamePattern: 'a'}"),
    (
        "tsconfig.json",
        '{"compilerOptions": {"strict": true}}',
        '{"compilerOptions": {"strict": false}}',
    ),
    (
        "tsconfig.json",
        '{"compilerOptions": {"noImplicitAny": true,},} // all',
        '{"compilerOptions": {}}',
    ),
    ("tsconfig.json", '{"exclude": ["dist"]}', '{"exclude": ["dist", "src/bad.ts"]}'),
    (".npmrc", "save-exact=true\n", "save-exact=true\nscript-shell=/bin/true\n"),
    (".npmrc", "", "node-options=--require ./hook.js\n"),
    ("Cargo.toml", "[lib]\nname = 'a'\n", "[lib]\nname = 'a'\ntest = false\n"),
    ("Cargo.toml", "[package]\nname = 'a'\n", "[package]\nname = 'a'\nautotests = false\n"),
    (
        "Cargo.toml",
        "[[test]]\nname = 'a'\n",
        "[[test]]\nname = 'a'\nrequired-features = ['never']\n",
    ),
    ("pytest.toml", "[pytest]\naddopts = ['-q']\n", "[pytest]\naddopts = ['-q', '-k', 'fast']\n"),
    ("pytest.ini", "[pytest]\n", "[pytest]\naddopts = -p no:cacheprovider --deselect a.py::b\n"),
    ("tox.ini", "[testenv]\ncommands = pytest tests\n", "[testenv]\ncommands = pytest tests/a\n"),
    ("noxfile.py", 'session.run("pytest")\n', 'session.run("true")\n'),
    (
        "pyproject.toml",
        "[tool.pytest.ini_options]\naddopts = ['-ra', '--strict-markers']\nxfail_strict = true\n",
        "[tool.pytest]\naddopts = ['-ra']\n",
    ),
    ("Rakefile", "Rake::TestTask.new do |t|\n", "task :test\n"),
    ("pom.xml", "<a/>\n", "<skipTests>true</skipTests>\n"),
    ("build.gradle", "test {}\n", "test {\n  ignoreFailures = true\n}\n"),
    ("CMakeLists.txt", "enable_testing()\nadd_test(NAME a COMMAND a)\n", "enable_testing()\n"),
    ("Makefile", MAKEFILE, MAKEFILE.replace("pytest -q", "pytest -q tests/test_a.py")),
    ("Makefile", "check: all\n\t./check\n", "check:\n\texit 0\n"),
    (".rspec", "--color\n", "--color --tag ~slow\n--exclude x\n"),
    (
        "conftest.py",
        "",
        "def pytest_runtest_makereport(item, call):\n    return None\n",
    ),
    ("pytest.ini", "[pytest]\nnorecursedirs = a\n", "[pytest]\nnorecursedirs = a tests/b\n"),
    ("pytest.ini", "[pytest]\nfilterwarnings = error\n", "[pytest]\n"),
    (
        "pytest.ini",
        "[pytest]\nfilterwarnings =\n  error\n  ignore:a\n",
        "[pytest]\nfilterwarnings =\n  ignore:a\n",
    ),
    (".coveragerc", "[report]\nfail_under = 90\n", "[report]\n"),
    ("package.json", '{"nyc": {"check-coverage": true}}', "{}"),
    ("package.json", '{"nyc": {"lines": 90}}', '{"nyc": {"lines": 80}}'),
    (
        "package.json",
        '{"scripts": {"test": "jest && tsc"}}',
        '{"scripts": {"test": "jest"}}',
    ),
    (
        "package.json",
        '{"scripts": {"test": "mocha"}}',
        '{"scripts": {"test": "jest src/a.test.js"}}',
    ),
    (
        "package.json",
        '{"scripts": {"test": "mocha"}}',
        '{"scripts": {"test": "jest --testNamePattern=a"}}',
    ),
    ("package.json", '{"ava": {"failWithoutAssertions": true}}', '{"ava": {}}'),
    (
        "tox.ini",
        "[testenv:docs]\ncommands = sphinx-build -b doctest a b\n",
        "[testenv:docs]\ncommands = true\n",
    ),
    ("conftest.py", "def pytest_ignore_collect():\n    return g()\n", ""),
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
    (".github/workflows/ci.yml", WORKFLOW, WORKFLOW.replace("pytest -q", "tox -e py")),
    ("package.json", '{"scripts": {"test": "mocha"}}', '{"scripts": {"test": "nyc mocha"}}'),
    ("package.json", '{"scripts": {"test": "mocha -R spec"}}', '{"scripts": {"test": "mocha"}}'),
    ("package.json", '{"scripts": {"lint": "eslint a"}}', '{"scripts": {"lint": "eslint ."}}'),
    (
        "package.json",
        '{"scripts": {"test": "mocha test/a"}}',
        '{"scripts": {"test": "mocha test"}}',
    ),
    (
        "package.json",
        '{"scripts": {"test": "mocha a/b"}}',
        '{"scripts": {"test": "mocha a/b a/c"}}',
    ),
    ("tsconfig.json", '{"compilerOptions": {}}', '{"compilerOptions": {"strict": true}}'),
    (
        "tsconfig.json",
        '{"compilerOptions": {"target": "a"}}',
        '{"compilerOptions": {"target": "b"}}',
    ),
    ("Cargo.toml", "[package]\nversion = '1'\n", "[package]\nversion = '2'\n"),
    ("Cargo.toml", "test = 3\n[lib]\ntest = false\n", "[lib]\nname = 'a'\n"),
    ("tox.ini", "[testenv]\ncommands = pytest -v\n", "[testenv]\ncommands = pytest --tb=short\n"),
    ("tox.ini", "[testenv]\ndescription = a\n", "[testenv]\ndescription = b\n"),
    ("vite.config.ts", "plugins: [a()]\n", "plugins: [b()]\n"),
    ("noxfile.py", "x = 1\n", "x = 2\n"),
    ("deno.json", '{"tasks": {"dev": "a"}}', '{"tasks": {"dev": "b"}}'),
    (
        "tox.ini",
        "[tox]\nrequires = tox>=4\nenv_list = py39, py310\n[testenv:c]\ndepends = py39\n",
        "[tox]\nrequires = tox>=5\nenv_list = py310\n[testenv:c]\ndepends = py310\n",
    ),
    (
        "tox.ini",
        "[testenv]\ncommands = pytest {posargs:-n auto}\n",
        "[testenv]\ncommands = pytest {posargs}\n",
    ),
    (
        "tox.ini",
        "[testenv]\ncommands = pytest tests\n",
        "[testenv]\ncommands = pytest {posargs:tests}\n",
    ),
    ("examples/a/package.json", '{"scripts": {"test": "jest"}}', "{}"),
    (
        "tox.ini",
        "[testenv:pyright]\ncommands = pytest tests/a.py -vv\n",
        "[testenv:typing]\ncommands =\n    pyright src\n    pytest tests/a.py -vv\n",
    ),
    ("tox.ini", "[testenv]\ncommands = pytest tests/a.py\n", "[testenv]\ncommands = pytest\n"),
    (
        "pyproject.toml",
        "[tool.pytest.ini_options]\naddopts = ['-ra', '--strict-markers']\nxfail_strict = true\n",
        "[tool.pytest]\nstrict = true\naddopts = ['-ra']\n",
    ),
    ("pom.xml", "<skipTests>true</skipTests>\n", "<a/>\n"),
    ("pytest.ini", "[pytest]\nnorecursedirs = a b\n", "[pytest]\nnorecursedirs = b\n"),
    ("pytest.ini", "[pytest]\nnorecursedirs = a b\n", "[pytest]\n"),
    (
        "pytest.ini",
        "[pytest]\nfilterwarnings =\n  error\n  ignore:a\n",
        "[pytest]\nfilterwarnings = error\n",
    ),
    (
        "setup.cfg",
        "[coverage:html]\nshow_contexts = true\n[coverage:report]\nfail_under = 70\n",
        "[coverage:run]\nomit = x/*\n[coverage:report]\nfail_under = 71\n",
    ),
    (".coveragerc", "[report]\n", "[report]\nfail_under = 7\n"),
    ("package.json", '{"nyc": {"reporter": ["lcov"]}}', '{"c8": {"check-coverage": true}}'),
    ("package.json", '{"nyc": {"check-coverage": false}}', "{}"),
    (
        "package.json",
        '{"scripts": {"test": "npm run build && nyc ava && rm -rf out"}}',
        '{"scripts": {"test": "ava"}}',
    ),
    ("package.json", '{"scripts": {"//test": "ava"}}', '{"scripts": {}}'),
    (
        "package.json",
        '{"ava": {"babel": false, "require": ["a"], "extensions": ["ts"]}}',
        '{"ava": {"extensions": {"ts": "module"}, "require": ["b"]}}',
    ),
    (
        "tox.ini",
        "[testenv:docs]\ncommands = sphinx-build -b html a b\n",
        "[testenv:docs]\ncommands = sphinx-build -E -b dirhtml a b\n",
    ),
    (".travis.yml", "script: lint . || :\n", "script: lint . || :;\n"),
    (".travis.yml", "script: lint . || :\n", "script: lint .\n"),
]


@pytest.mark.parametrize(("path", "before", "after"), SOUND)
def test_a_harmless_edit_is_not_remarked(path: str, before: str | None, after: str | None):
    assert weakenings({path: before}, {path: after}) == ()


EXCHANGED = [
    ('"test": "jest"', '"test": "vitest"'),
    ('"test": "nyc mocha test"', '"test": "vitest run test"'),
    ('"test": "xo && ava"', '"test": "xo && node --import=tsx --test test/*.ts"'),
    ('"test": "ava && tsc --project types"', '"test": "ava && tsd-check"'),
]


@pytest.mark.parametrize(("before", "after"), EXCHANGED)
def test_another_runner_that_runs_as_much_is_another_expectation(before: str, after: str):
    old, new = (f'{{"scripts": {{{script}}}}}' for script in (before, after))
    (only,) = weakenings({"package.json": old}, {"package.json": new})
    assert only.kind == "changed-expected"


def test_the_settings_of_a_runner_go_with_it():
    before = {
        "package.json": '{"scripts": {"test": "jest"}, "jest": {"bail": true}}',
        "jest.config.js": "module.exports = {bail: true}",
    }
    other = {"package.json": '{"scripts": {"test": "vitest"}}'}
    assert [w.kind for w in weakenings(before, other)] == ["changed-expected"]
    same = {"package.json": '{"scripts": {"test": "jest"}}'}
    assert {w.kind for w in weakenings(before, same)} == {"edited-config"}


def test_old_runners_of_python_may_be_exchanged():
    for old, new in (("nosetests tests", "pytest tests"), ("python tests.py", "py.test tests.py")):
        before, after = (f"[testenv]\ncommands = {command}\n" for command in (old, new))
        (only,) = weakenings({"tox.ini": before}, {"tox.ini": after})
        assert only.kind == "changed-expected"


def test_a_first_place_for_tests_is_another_expectation_if_it_is_the_usual_one():
    for paths, kind in (("tests", "changed-expected"), ("tests/unit", "edited-config")):
        after = f"[pytest]\ntestpaths = {paths}\n"
        (only,) = weakenings({"pytest.ini": "[pytest]\n"}, {"pytest.ini": after})
        assert only.kind == kind


def test_a_place_that_came_with_the_change_may_be_left_out():
    before = {"setup.cfg": "[tool:pytest]\nnorecursedirs = docs\n"}
    after = {"setup.cfg": "[tool:pytest]\nnorecursedirs = docs tests/typing\n"}
    assert weakenings(before, {**after, "tests/typing/a.py": "x = 1\n"}) == ()
    (only,) = weakenings(before, {**after, "tests/b.py": "x = 1\n"})
    assert only.kind == "edited-config"


def test_a_file_that_is_gone_need_not_be_looked_for():
    test = "def test_a():\n    assert f() == 1\n"
    before = {"setup.cfg": "[tool:pytest]\ntestpaths = tests.py\n", "tests.py": test}
    after = {"setup.cfg": "[tool:pytest]\ntestpaths = tests\n", "tests/test_a.py": test}
    assert weakenings(before, after) == ()
    assert weakenings(before, {**after, "tests.py": test})


def test_the_setting_its_values_and_its_line_are_told():
    before, after = "[pytest]\n\naddopts = -q\n", "[pytest]\n\naddopts = -k x\n"
    (only,) = weakenings({"pytest.ini": before}, {"pytest.ini": after})
    assert (only.line, only.detail) == (3, "pytest.addopts: -q became -k x")
    (gone,) = weakenings({".ci/run": "make test\n"}, {".ci/run": "x\n"})
    assert (gone.line, gone.detail) == (1, "tests are run: yes became nothing")
    (added,) = weakenings({".ci/run": "x\n"}, {".ci/run": "x\nallow_failure: true\n"})
    assert (added.line, added.detail) == (2, "`allow_failure: true` was added")


def test_a_setting_that_moved_to_another_file_is_kept():
    before = {"setup.cfg": "[tool:pytest]\naddopts = -q\ntestpaths = tests\n"}
    after = {
        "setup.cfg": "",
        "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-q'\ntestpaths = 'tests'\n",
    }
    assert weakenings(before, after) == ()


def test_a_path_that_was_deleted_need_not_be_checked_any_more():
    before = {"tox.ini": "[testenv]\ncommands = mypy src tests/old.py\n", "tests/old.py": "x = 1\n"}
    after = {"tox.ini": "[testenv]\ncommands = mypy src\n"}
    assert [w for w in weakenings(before, after) if w.path == "tox.ini"] == []
    assert weakenings(before, {**before, **after})


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
