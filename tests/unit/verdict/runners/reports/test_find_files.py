"""Reports: files found in the tree where none is named; deep and long ones."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tests.repos import put

from flyball.bounds import DEEPEST
from flyball.verdict.case import CaseOutcome, SuiteCase
from flyball.verdict.runners.layout import look
from flyball.verdict.runners.reports.documents import from_rspec
from flyball.verdict.runners.reports.find_files import with_files
from flyball.verdict.runners.reports.output import RunnerOutput
from flyball.verdict.runners.reports.tap import from_tap
from flyball.verdict.runners.table import BY_NAME

RECORDED = Path(__file__).parents[4] / "golden" / "runners" / "suites"

GO = {
    "go.mod": "module ex.org/m\n\ngo 1.21\n",
    "a_test.go": "package m\nfunc TestWorks(t *T) {}\nfunc TestBad(t *T) {}\n",
    "b_test.go": "package m\nfunc TestSub(t *T) {}\nfunc TestLater(t *T) {}\n// func TestBad(\n",
    "sub/c_test.go": "package sub\nfunc TestWorks(t *T) {}\n",
    "sub/c.go": "package sub\nfunc TestBad() {}\n",
}
JAVA = {
    "core/src/test/java/x/ATest.java": "",
    "core/src/test/java/y/BTest.java": "",
    "core/src/test/kotlin/BTest.kt": "",
    "core/src/main/java/x/A.java": "",
}
CTEST = {
    "CMakeLists.txt": "enable_testing()\nadd_subdirectory(t)\n"
    "add_test(NAME bad COMMAND ${CMAKE_SOURCE_DIR}/bad.sh --all)\n",
    "bad.sh": "",
    "t/CMakeLists.txt": "add_executable(works_test works_test.c ../lib.c)\n"
    "add_executable(two a_test.c b_test.c)\nadd_executable()\n"
    'add_test(works "works_test")\nadd_test(NAME later COMMAND two)\nadd_test(NAME gone)\n',
    "t/works_test.c": "",
    "t/a_test.c": "",
    "t/b_test.c": "",
    "lib.c": "",
}
TAPE = {
    "test/a.js": "const t = require('tape');\nt('works', f);\nt('bad', f);\nt.skip('todo', f);\n",
    "test/b.js": "import test from 'tape'\ntest(\"works\", f)\ntest('outer', (t) => {\n"
    "  t.test('inner', f)\n  t.test('inner', f)\n})\n",
    "index.js": "call('bad')\n",
}


def files_of(runner: str, tree: dict[str, str], tmp_path: Path) -> dict[str, str]:
    put(tmp_path, tree)
    reports = sorted(RECORDED.glob("surefire-*.xml" if runner == "maven" else f"{runner}.xml"))
    text = "" if reports else (RECORDED / f"{runner}.txt").read_text()
    data = [path.read_bytes() for path in reports]
    tally = BY_NAME[runner].read(RunnerOutput(text, data, "/tree"))
    assert tally is not None
    found = with_files(runner, tally.cases, look(tmp_path))
    return {".".join((*case.suite, case.name)): case.file for case in found}


def test_go_by_package_and_function(tmp_path):
    assert files_of("go", GO, tmp_path) == {
        "ex.org/m.TestWorks": "a_test.go",
        "ex.org/m.TestBad": "a_test.go",
        "ex.org/m.TestSub.one": "b_test.go",
        "ex.org/m.TestSub.two_ü": "b_test.go",
        "ex.org/m.TestLater": "b_test.go",
        "ex.org/m/sub.TestWorks": "sub/c_test.go",
    }


def test_java_by_the_class_and_where_that_is_not_its_path_by_its_name(tmp_path):
    found = files_of("maven", JAVA, tmp_path)
    assert (
        found["x.ATest.works"] == found["x.ATest.Deep.works"] == "core/src/test/java/x/ATest.java"
    )
    assert found["x.BTest.works"] == "", "two files may hold it"
    (tmp_path / "core/src/test/java/y/BTest.java").unlink()
    assert files_of("maven", {}, tmp_path)["x.BTest.works"] == "core/src/test/kotlin/BTest.kt"


def test_ctest_by_what_its_command_names(tmp_path):
    assert files_of("ctest", CTEST, tmp_path) == {
        "works": "t/works_test.c",
        "bad": "bad.sh",
        "later": "",
        "gone": "",
    }


def test_tape_by_title_and_order(tmp_path):
    assert files_of("tape", TAPE, tmp_path) == {
        "works": "test/a.js",
        "bad": "test/a.js",
        "todo": "test/a.js",
        "inner": "",
        "works #2": "test/b.js",
    }


def test_tape_with_one_file_alone(tmp_path):
    assert set(files_of("tape", {"t.mjs": TAPE["test/a.js"]}, tmp_path).values()) == {"t.mjs"}


@pytest.mark.parametrize("runner", ["go", "maven", "gradle", "ctest", "tape"])
def test_a_test_of_no_known_place_stays_without_a_file(runner, tmp_path):
    put(tmp_path, {"README.md": ""})
    cases = [
        SuiteCase("works", CaseOutcome.PASSED),
        SuiteCase("works #3", CaseOutcome.PASSED, suite=("a.b",)),
        SuiteCase("kept", CaseOutcome.PASSED, "here.txt"),
    ]
    assert [case.file for case in with_files(runner, cases, look(tmp_path))] == ["", "", "here.txt"]


@pytest.mark.parametrize(("levels", "is_read"), [(10, True), (DEEPEST, False), (100_000, False)])
def test_a_report_that_is_nested_too_deeply_is_none(levels: int, is_read: bool):
    deep = b"[" * levels + b"]" * levels
    found = from_rspec(b'{"examples": [], "more": ' + deep + b"}", RunnerOutput())
    assert (found is not None) is is_read


def test_a_long_report_is_read_in_a_time_that_grows_with_its_length():
    began = time.process_time()
    found = from_tap("TAP version 13\n" + "".join(f"ok {n} - test {n}\n" for n in range(20_000)))
    assert found is not None
    assert len(found.cases) == 20_000
    assert time.process_time() - began < 8, "looked through once for each line it takes thrice that"
