"""Each row reads what its runner really left of one and the same small suite."""

from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from flyball.tools.suite import SuiteForm
from flyball.verdict.case import CaseOutcome, SuiteCase
from flyball.verdict.runners.parts import COMMAND
from flyball.verdict.runners.reports.output import RunnerOutput
from flyball.verdict.runners.row import refusal
from flyball.verdict.runners.table import BY_NAME

RECORDED = Path(__file__).parents[3] / "golden" / "runners" / "suites"

SUM = [
    "passed test/a.test.js > sum > works",
    "failed test/a.test.js > sum > bad",
    "passed test/a.test.js > sum > deep ü > works",
    "failed test/a.test.js > sum > deep ü > worse",
    "passed test/a.test.js > sum > each 1",
    "failed test/a.test.js > sum > each 2",
    "skipped test/a.test.js > sum > later",
    "skipped test/a.test.js > sum > some day",
    "failed test/b.test.js > sum > works",
]
EXPECTED = {
    "jest": [*SUM, "error test/c.test.js > (file)"],
    "vitest": [*SUM, "error test/c.test.js > (file)"],
    "node": [
        *SUM,
        "passed test/a.test.js > outer > inner",
        "failed test/a.test.js > outer > inbad",
        "error test/c.test.js > (file)",
    ],
    "mocha": [
        *(line for line in SUM if "some day" not in line),
        "skipped test/a.test.js > sum > pending",
        'error test/a.test.js > hook > "before all" hook for "never"',
        "passed test/b.test.js > top",
    ],
    "ava": [
        "passed test/a.js > works",
        "failed test/a.js > bad",
        "passed test/a.js > deep: ü works",
        "skipped test/a.js > later",
        "skipped test/a.js > some day",
        "passed test/a.js > known",
        "passed test/a.js > each 1",
        "failed test/a.js > each 2",
        "failed test/b.js > works",
    ],
    "tape": ["passed works", "failed bad", "skipped todo", "passed inner", "failed works #2"],
    "bats": [
        "passed a.bats > works",
        "failed a.bats > bad ü",
        "skipped a.bats > later",
        "failed b.bats > works",
    ],
    "deno": [
        "passed a.test.ts > works",
        "failed a.test.ts > bad ü",
        "skipped a.test.ts > later",
        "passed a.test.ts > outer > inner",
        "failed a.test.ts > outer > inbad",
        "failed b.test.ts > works",
    ],
    "rspec": [
        "passed spec/a_spec.rb > sum > works",
        "failed spec/a_spec.rb > sum > bad ü",
        "failed spec/a_spec.rb > sum deep > works",
        "passed spec/a_spec.rb > sum > each 1",
        "failed spec/a_spec.rb > sum > each 2",
        "skipped spec/a_spec.rb > sum > pending",
        "skipped spec/a_spec.rb > sum > later",
        "failed spec/b_spec.rb > sum > works",
    ],
    "rake": [
        "passed TestSum > test_works",
        "failed TestSum > test_bad",
        "error TestSum > test_boom",
        "skipped TestSum > test_later",
        "passed Deep::TestSum > test_works",
    ],
    "phpunit": [
        "passed tests/ATest.php > ATest > testWorks",
        "failed tests/ATest.php > ATest > testBad",
        "error tests/ATest.php > ATest > testBoom",
        "skipped tests/ATest.php > ATest > testLater",
        'passed tests/ATest.php > ATest > testEach["one"]',
        'failed tests/ATest.php > ATest > testEach["two"]',
        "failed tests/BTest.php > BTest > testWorks",
    ],
    "mix": [
        "passed test/a_test.exs > ATest > works",
        "failed test/a_test.exs > ATest > bad ü",
        "failed test/a_test.exs > ATest > deep works",
        "skipped test/a_test.exs > ATest > deep later",
        "passed test/a_test.exs > ATest > each 1",
        "failed test/a_test.exs > ATest > each 2",
        "failed test/b_test.exs > BTest > works",
    ],
    "ctest": ["passed works", "failed bad", "skipped later", "error gone"],
    "go": [
        "passed ex.org/m.TestWorks",
        "failed ex.org/m.TestBad",
        "passed ex.org/m.TestSub/one",
        "failed ex.org/m.TestSub/two_ü",
        "skipped ex.org/m.TestLater",
        "failed ex.org/m/sub.TestWorks",
    ],
    "cargo": [
        "passed src/lib.rs > s > tests > works",
        "failed src/lib.rs > s > tests > bad",
        "passed src/lib.rs > s > tests > deep > works",
        "skipped src/lib.rs > s > tests > deep > later",
        "passed tests/it.rs > it > panics",
        "failed tests/it.rs > it > works",
        "passed src/lib.rs > s > documentation > one[line 1]",
    ],
    "maven": [
        "passed x.ATest > works",
        "failed x.ATest > bad",
        "error x.ATest > boom",
        "skipped x.ATest > later",
        "passed x.ATest > each[1]",
        "failed x.ATest > each[2]",
        "passed x.ATest.Deep > works",
        "failed x.BTest > works",
    ],
    "dotnet": [
        "passed Shop.Tests.SumTests > Works",
        "failed Shop.Tests.SumTests > Bad",
        "passed Shop.Tests.SumTests > Each[n: 1]",
        "failed Shop.Tests.SumTests > Each[n: 2]",
        "skipped Shop.Tests.SumTests > Later",
        "failed Shop.Tests.OtherTests > Works",
    ],
}
REPORTS = {
    "jest": ["jest.json"],
    "vitest": ["vitest.json"],
    "node": ["node.jsonl"],
    "mocha": ["mocha.jsonl"],
    "deno": ["deno.xml"],
    "rspec": ["rspec.json"],
    "phpunit": ["phpunit.xml"],
    "ctest": ["ctest.xml"],
    "maven": ["surefire-0.xml", "surefire-1.xml", "surefire-2.xml"],
    "dotnet": ["dotnet.trx"],
}
OUTPUT = {"rake": "minitest.txt"}


def read(runner):
    reports = [(RECORDED / name).read_bytes() for name in REPORTS.get(runner, [])]
    output = RECORDED / OUTPUT.get(runner, f"{runner}.txt")
    text = "" if reports else output.read_text()
    files = ("index.js", "test/a.js", "test/b.js")
    return BY_NAME[runner].read(RunnerOutput(text, reports, "/tree", files))


@pytest.mark.parametrize("runner", EXPECTED)
def test_every_test_is_told_with_its_file_its_suites_and_its_end(runner):
    found = read(runner)
    said = [f"{case.outcome.value} {case.label}" for case in found.cases]
    assert sorted(said) == sorted(EXPECTED[runner])
    counts = {word: sum(line.startswith(word) for line in said) for word in CaseOutcome}
    assert found.passed == counts["passed"]
    assert found.failed == counts["failed"] + counts["error"]
    assert found.skipped == counts["skipped"]
    assert all(case.message for case in found.cases if case.is_bad)
    assert not any(case.message for case in found.cases if not case.is_bad)


@pytest.mark.parametrize(("runner", "name"), [("maven", "maven.txt"), ("ctest", "ctest.txt")])
def test_without_a_report_the_closing_line_is_counted(runner, name):
    text = (RECORDED / name).read_text()
    found = BY_NAME[runner].read(RunnerOutput(text, (), "/tree"))
    assert found.failed == read(runner).failed


def test_a_report_that_is_broken_is_not_taken_for_an_empty_one():
    assert BY_NAME["jest"].read(RunnerOutput("", (b"{",), "/tree")) is None
    assert BY_NAME["node"].read(RunnerOutput("", (b'{"no": "case"}',), "/tree")) is None


def test_the_form_of_the_tool_knows_every_runner():
    literal = get_args(get_type_hints(SuiteForm)["runner"])[0]
    assert set(get_args(literal)) == {*BY_NAME, COMMAND}


PASSED = CaseOutcome.PASSED
ONE = SuiteCase("works", PASSED, "test/a.js", ("sum",))
TWO = SuiteCase("bad (1)", PASSED, "test/b.js", ("sum", "deep"))


@pytest.mark.parametrize(
    ("runner", "files", "cases", "words"),
    [
        ("pytest", ["t.py"], [SuiteCase("t", PASSED, spelling="u.py::t")], ("t.py", "u.py::t")),
        ("unittest", [], [SuiteCase("t", PASSED, spelling="m.T.t")], ("m.T.t",)),
        ("unittest", ["test_a.py"], [], None),
        ("jest", ["a.test.js"], [], ("a.test.js",)),
        ("jest", ["a.test.js"], [TWO], ("a.test.js", "test/b.js")),
        (
            "vitest", [], [ONE, TWO],
            ("test/a.js", "test/b.js", r"--testNamePattern=^(?:sum\ works|sum\ deep\ bad\ \(1\))$"),
        ),
        ("mocha", [], [ONE], ("--grep", r"^(?:sum\ works)$")),
        ("mocha", ["test/a.js"], [], None),
        ("ava", [], [ONE], ("--match=works",)),
        ("ava", ["test/a.js"], [], None),
        ("tape", [], [ONE], None),
        ("node", ["a.js"], [ONE], ("a.js", "test/a.js")),
        ("node", [], [], None),
        ("go", ["sub/a_test.go", "a_test.go"], [], ("./sub", "./.")),
        ("go", [], [SuiteCase("one", PASSED, suite=("m", "TestS"))], ("-run", "^(TestS)$", "m")),
        ("go", ["a_test.go"], [ONE], None),
        ("go", [], [SuiteCase("(package)", PASSED, suite=("m",))], None),
        ("cargo", [], [SuiteCase("t", PASSED, "a.rs", ("s", "m"))], ("--", "--exact", "m::t")),
        ("cargo", [], [SuiteCase("t", PASSED, "src/lib.rs", ("s", "documentation"))], None),
        (
            "maven", ["src/test/java/x/ATest.java"], [SuiteCase("t", PASSED, suite=("x.B",))],
            ("-Dtest=ATest,x.B#t", "-Dsurefire.failIfNoSpecifiedTests=false"),
        ),
        ("maven", [], [], None),
        ("gradle", ["x/ATest.java"], [SuiteCase("t", PASSED, suite=("x.B",))],
         ("--tests", "*ATest", "--tests", "x.B.t")),
        ("dotnet", ["x/A.cs"], [SuiteCase("t", PASSED, suite=("x.B",))],
         ("--filter", "FullyQualifiedName~A|FullyQualifiedName=x.B.t")),
        ("dotnet", [], [], None),
        ("ctest", [], [SuiteCase("a.b", PASSED)], ("-R", r"^(a\.b)$")),
        ("ctest", ["a.c"], [], None),
        ("rspec", [], [SuiteCase("t", PASSED, "spec/a_spec.rb")], ("spec/a_spec.rb",)),
        ("rake", [], [SuiteCase("test_a", PASSED, suite=("T",))], ("--name=/^((?:T#)?test_a)$/",)),
        ("rake", ["a.rb"], [], None),
        ("phpunit", [], [SuiteCase("t", PASSED, suite=("A",))], ("--filter", r"/^(A::t)\b/")),
        ("phpunit", ["A.php"], [], None),
        ("mix", [], [SuiteCase("t", PASSED)], None),
        ("bats", [], [SuiteCase("t", PASSED, "a.bats")], ("a.bats", "--filter", "^(t)$")),
        ("make", ["a.c"], [], None),
    ],
)  # fmt: skip
def test_a_selection_in_the_words_of_the_runner(runner, files, cases, words):
    assert BY_NAME[runner].select(files, cases) == words


@pytest.mark.parametrize(
    ("runner", "words"),
    [
        ("pytest", ["tests/test_a.py::T::test_a[x y]", "-k", "not slow", "-xvs", "--maxfail=1"]),
        ("pytest", ["-kname", "-q", "--tb=short", "-n", "2"]),
        ("unittest", ["test.TestUtils", "-f"]),
        ("go", ["-run", "TestX/y", "-count=1", "./...", "pkg"]),
        ("cargo", ["parses", "--", "--exact", "--nocapture"]),
        ("jest", ["--", "-t", "adds", "src/a.test.ts"]),
        ("node", ["--test-name-pattern=adds", "test/a.js"]),
        ("maven", ["-Dtest=ATest#works", "-pl", "core"]),
        ("make", []),
    ],
)
def test_what_a_driver_may_pass_on(runner, words):
    assert refusal(BY_NAME[runner].accepts, words) == ""


@pytest.mark.parametrize(
    ("runner", "words", "refused"),
    [
        ("pytest", ["-x", "-p", "evil"], "-p"),
        ("pytest", ["-c", "other.ini"], "-c"),
        ("pytest", ["--rootdir=/"], "--rootdir=/"),
        ("pytest", ["--basetemp=src"], "--basetemp=src"),
        ("pytest", ["-o", "addopts="], "-o"),
        ("pytest", ["-pevil"], "-pevil"),
        ("pytest", ["@args.txt"], "@args.txt"),
        ("pytest", ["/etc/test_a.py"], "/etc/test_a.py"),
        ("pytest", ["../test_a.py"], "../test_a.py"),
        ("pytest", ["-k"], "-k"),
        ("npm", ["--prefix", "x"], "--prefix"),
        ("npm", ["--script-shell=x"], "--script-shell=x"),
        ("node", ["--require", "./x.js"], "--require"),
        ("node", ["--import=./x.mjs"], "--import=./x.mjs"),
        ("mocha", ["--require", "x"], "--require"),
        ("jest", ["--config={}"], "--config={}"),
        ("vitest", ["-u"], "-u"),
        ("go", ["-exec", "true"], "-exec"),
        ("go", ["-toolexec=x"], "-toolexec=x"),
        ("go", ["-args"], "-args"),
        ("go", ["-tags", "never"], "-tags"),
        ("cargo", ["--config", "x"], "--config"),
        ("maven", ["-DskipTests"], "-DskipTests"),
        ("maven", ["clean"], "clean"),
        ("gradle", ["--init-script=x"], "--init-script=x"),
        ("make", ["--eval=x"], "--eval=x"),
        ("make", ["CC=true"], "CC=true"),
        ("make", ["install"], "install"),
        ("rake", ["-n", "x", "TESTOPTS=x"], "TESTOPTS=x"),
        ("phpunit", ["--bootstrap", "x.php"], "--bootstrap"),
        ("deno", ["--allow-all"], "--allow-all"),
    ],
)  # fmt: skip
def test_what_a_driver_may_not_pass_on(runner, words, refused):
    assert refusal(BY_NAME[runner].accepts, words) == refused
