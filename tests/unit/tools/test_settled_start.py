"""Settled commands: which runner stands behind one, what it is told, and what is read of it."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from tests.repos import put
from tests.toolchains import need

from flyball.errors import ToolError
from flyball.verdict.runners.reports.output import RunnerOutput
from flyball.verdict.runners.reports.unknown import documents_left, from_unknown
from flyball.verdict.runners.settled_start import runner_behind
from flyball.verdict.settled import ProjectCommands, SettledCommand


@pytest.mark.parametrize(
    ("command", "runner"),
    [
        ("pytest -q tests", "pytest"),
        (".venv/bin/python -m pytest", "pytest"),
        ("PYTHONPATH=src uv run --no-sync pytest", "pytest"),
        ("coverage run -m unittest", "unittest"),
        ("npx --yes vitest run", "vitest"),
        ("pnpm exec jest", "jest"),
        ("yarn mocha test", "mocha"),
        ("go test ./...", "go"),
        ("go vet ./...", ""),
        ("node --enable-source-maps --test", "node"),
        ("node server.js", ""),
        ("./mvnw -q test", "maven"),
        ("./gradlew check test", "gradle"),
        ("vendor/bin/phpunit", "phpunit"),
        ("bundle exec rspec", "rspec"),
        ("env", ""),
        ("./run.sh", ""),
        ("", ""),
    ],
)
def test_the_runner_behind_a_command(command, runner):
    assert runner_behind(command) == runner


JUNIT = """<?xml version="1.0"?>
<testsuites><testsuite name="fw">
<testcase classname="boot" name="cold[3]" file="t/boot.c" time="0.5"/>
<testcase classname="boot" name="warm"><failure message="no power"/></testcase>
</testsuite></testsuites>
"""


def test_a_printed_or_a_written_document_is_read():
    for said in (RunnerOutput(f"hello\n{JUNIT}"), RunnerOutput("", [JUNIT.encode()])):
        found = from_unknown(said)
        assert found is not None
        assert (found.passed, found.failed) == (1, 1)
        assert [(case.file, case.suite, case.name, case.parameters) for case in found.cases] == [
            ("t/boot.c", ("boot",), "cold", "3"),
            ("", ("boot",), "warm", ""),
        ]


def test_other_documents_say_nothing():
    others = [b"<project/>", b"<broken", b"<testsuite/>"]
    assert from_unknown(RunnerOutput("built.", others)) is None
    found = from_unknown(RunnerOutput("2 passed, 1 failed", others))
    assert found is not None
    assert (found.passed, found.failed) == (2, 1)


def test_text_that_names_every_test_is_read_before_documents():
    tap = "TAP version 13\n1..2\nok 1 - a\nnot ok 2 - b\n"
    found = from_unknown(RunnerOutput(tap, [JUNIT.encode()]))
    assert found is not None
    assert [case.name for case in found.cases] == ["a", "b"]


def test_only_documents_of_this_start_are_looked_at(make_bench, tmp_path):
    bench = make_bench({"README.md": ""})
    put(bench.root, {"old.xml": JUNIT, "node_modules/x/new.xml": JUNIT})
    os.utime(bench.root / "old.xml", (1, 1))
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    put(bench.root, {"out/new.xml": JUNIT, "out/new.txt": ""})
    (bench.root / "linked.xml").symlink_to(bench.root / "out" / "new.xml")
    found = documents_left(bench.context._replace(shelf=shelf))
    assert [path.name for path in found] == ["new.xml"]


def settled(**tests):
    return ProjectCommands(
        tests={at: SettledCommand(command, "flyball.toml") for at, command in tests.items()}
    )


def test_unknown_command_is_judged_by_its_exit_code(make_bench):
    files = {"fw/run.sh": "exit $(cat end)\n", "fw/end": "0\n", "test_a.py": "def test_a(): 1/0\n"}
    bench = make_bench(files, commands=settled(fw="sh run.sh"))
    (good,) = bench.do("test", args=["fw"]).evidence
    assert (good.runner, good.command, good.part) == ("command", "sh run.sh", "fw")
    assert (good.counted, good.exit_code, good.is_red) == (False, 0, False)
    bench.put({"fw/end": "3\n"})
    (bad,) = bench.do("test", args=["fw"]).evidence
    assert bad.is_red
    with pytest.raises(ToolError, match="may not be passed on to command"):
        bench.do("test", args=["fw", "-x"])


def test_known_runner_in_a_command_gets_report_options(make_bench):
    files = {"t/test_a.py": "def test_a():\n    pass\ndef test_b():\n    assert 0\n"}
    command = f"cd t && {sys.executable} -m pytest -q -p no:cacheprovider"
    bench = make_bench(files, commands=settled(**{".": command}))
    result = bench.do("test")
    (report,) = result.evidence
    assert (report.passed, report.failed, report.counted) == (1, 1, True)
    assert [each.name for each in report.failures] == ["test_a.py::test_b"]
    assert report.command == command


@pytest.mark.slow
def test_go_in_a_command_names_its_tests(make_bench):
    need("go")
    files = {
        "m/go.mod": "module example.com/m\n\ngo 1.19\n",
        "m/a_test.go": 'package m\n\nimport "testing"\n\nfunc TestA(t *testing.T) {}\n',
    }
    bench = make_bench(files, commands=settled(m="go test ./..."))
    (report,) = bench.do("test", args=["m"]).evidence
    assert (report.passed, report.counted, bool(report.digest)) == (1, True, True)


def test_the_projects_own_programs_are_found(make_bench):
    bench = make_bench({"README.md": ""}, commands=settled(**{".": "mytest"}))
    put(bench.project, {"node_modules/.bin/mytest": "#!/bin/sh\necho 4 passed, 0 failed\n"})
    (bench.project / "node_modules/.bin/mytest").chmod(0o755)
    (report,) = bench.do("test").evidence
    assert (report.passed, report.is_green) == (4, True)


def test_missing_directory_is_reported(make_bench):
    bench = make_bench({"fw/run.sh": "exit 0\n"}, commands=settled(fw="sh run.sh"))
    shutil.rmtree(bench.root / "fw")
    with pytest.raises(ToolError, match="configured for fw, but this tree has no such directory"):
        bench.do("test", args=["fw"])


def test_project_lists_settings_with_their_origin(make_bench):
    commands = ProjectCommands(
        tests={"fw": SettledCommand("./run.sh", "flyball.toml")},
        checks={"fw": SettledCommand("./lint.sh", "/home/ada/config.toml")},
    )
    result = make_bench({"fw/a.c": ""}, commands=commands).do("project")
    assert (
        "fw: tests: `./run.sh` (settled in flyball.toml); "
        "checks: `./lint.sh` (settled in /home/ada/config.toml)." in result.text
    )
    (part,) = [each for each in result.data["parts"] if each.get("path") == "fw"]
    assert part["suites"][0]["origin"] == "flyball.toml"
    assert json.dumps(result.data)


def test_settled_checks_stand_in_for_what_was_found(make_bench):
    commands = ProjectCommands(
        checks={
            ".": SettledCommand("sh ./lint.sh", "flyball.toml"),
            "fw": SettledCommand("mypy .", "flyball.toml"),
        }
    )
    files = {"a.py": "x = 1\n", "lint.sh": "echo bad; exit 1\n", "fw/a.c": ""}
    bench = make_bench(files, commands=commands)
    place = Path(bench.project, "node_modules", ".bin")
    put(place, {"mypy": "#!/bin/sh\npwd\n"})
    (place / "mypy").chmod(0o755)
    top, inner = bench.do("check").evidence
    assert (top.command, top.kind.value, top.exit_code) == ("sh ./lint.sh", "diagnostics", 1)
    assert (inner.command, inner.kind.value, inner.exit_code) == ("mypy .", "types", 0)
    for name in ("fw", "fw/", "mypy .", "types"):
        assert [each.command for each in bench.do("check", name=name).evidence] == ["mypy ."]
    shutil.rmtree(bench.root / "fw")
    with pytest.raises(ToolError, match="configured for fw, but this tree has no such directory"):
        bench.do("check", name="fw")
