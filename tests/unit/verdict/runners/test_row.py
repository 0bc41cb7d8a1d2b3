"""What a driver may pass on to a runner: each of these once ran code, wrote or destroyed files."""

import pytest

from flyball.verdict.runners.row import refusal
from flyball.verdict.runners.table import BY_NAME

REFUSED = {
    "make": [
        "--eval test:;@id",
        "-f/tmp/x",
        "-f other.mk",
        "-C ..",
        "test SHELL=/tmp/x",
        "install",
    ],
    "just": ["--justfile other", "--set shell x", "-f other", "deploy"],
    "pytest": [
        "--basetemp=data",
        "--basetemp data",
        "-p evil",
        "-pevil",
        "-c other.ini",
        "--rootdir=..",
        "--confcutdir=..",
        "-o addopts=-pevil",
        "--override-ini=addopts=-pevil",
        "--junitxml=data/x",
        "--junit-xml data/x",
        "--cache-clear",
        "--pastebin=all",
        "--debug=data",
        "--log-file=data/x",
        "--resultlog=x",
        "--pyargs os",
        "--import-mode=append",
        "--trace-config",
        "--pdbcls=os:system",
        "--tx popen//python=/tmp/x",
        "--rsyncdir=..",
        "-xpevil",
        "@args.txt",
        "/etc",
        "../other",
        "--cov-report=html:data",
    ],
    "unittest": ["-s ..", "--settings=evil", "--pythonpath=..", "--testrunner=evil"],
    "vitest": [
        "init",
        "bench",
        "--config=evil.ts",
        "--globalSetup=x",
        "--outputFile=data/x",
        "--root ..",
        "-r ..",
    ],
    "jest": [
        "--config={}",
        "-c evil.js",
        "--globalSetup=evil",
        "--outputFile=data/x",
        "--coverageDirectory=data",
        "--rootDir=..",
        "--runner=evil",
        "--reporters=evil",
        "--updateSnapshot",
        "--clearCache",
        "--setupFiles=x",
    ],
    "mocha": ["-r evil", "--require=evil", "--reporter=evil", "--config x", "-O output=data/x"],
    "ava": ["--config=evil.js", "--node-arguments=-revil", "-u"],
    "tap": ["--test-arg=x", "--node-arg=-revil", "--before=x", "--save-fixture"],
    "tape": ["-r evil", "--require=evil"],
    "node": ["-r evil", "--import=evil", "-e id", "--eval=id", "--loader=evil", "--inspect"],
    "npm": ["--prefix ..", "--script-shell=/tmp/x", "--ignore-scripts=false"],
    "go": [
        "-exec /tmp/x",
        "-toolexec=/tmp/x",
        "-o data/x",
        "-coverprofile=data/x",
        "-outputdir=data",
        "-modfile=x",
        "-overlay=x",
        "-C ..",
        "-vettool=x",
        "-ldflags=x",
    ],
    "cargo": [
        "--config=x",
        "--target-dir=data",
        "--manifest-path=../x",
        "-Zunstable",
        "--logfile=x",
    ],
    "maven": ["-f ..", "-Dexec.executable=id", "exec:exec", "-s x", "--settings=x", "-Pevil"],
    "gradle": [
        "publish",
        "-b evil",
        "-I evil",
        "--init-script=evil",
        "-p ..",
        "-Dx=y",
        "--project-dir=..",
    ],
    "dotnet": [
        "-o data",
        "--output=data",
        "--logger=x",
        "-s x",
        "--settings=x",
        "--collect=x",
        "-p:x=y",
    ],
    "ctest": [
        "-S evil",
        "-D Nightly",
        "-O data/x",
        "--build-and-test x",
        "-SP x",
        "--output-log=x",
    ],
    "rspec": ["-r evil", "--require=evil", "-o data/x", "--out=x", "-O x", "-I x", "--init"],
    "rake": ["-f evil", "-r evil", "deploy", "-e id", "-I x"],
    "phpunit": ["--bootstrap=evil", "-c x", "--log-junit=x", "--coverage-html=x", "--printer=x"],
    "mix": ["--include-dir=..", "-r evil", "--require=evil", "--formatter=evil", "--cover"],
    "deno": ["--allow-all", "-A", "--import-map=x", "--config=x", "--coverage=data", "--unstable"],
    "bats": ["-o data", "--output=data", "--formatter=evil", "--setup-suite-file=x", "-F x"],
}
WAYS_OUT = ("../x", "/etc/passwd", "@file", "X=1", "X:=1", "-", "\n", "a\0b", "--=x")


def passed_on(runner, lines):
    return [line for line in lines if not refusal(BY_NAME[runner].accepts, line.split(" "))]


@pytest.mark.parametrize("runner", REFUSED)
def test_what_runs_code_writes_or_leads_elsewhere_is_refused(runner):
    assert passed_on(runner, REFUSED[runner]) == []


@pytest.mark.parametrize("runner", sorted(BY_NAME))
def test_no_runner_takes_a_way_out(runner):
    assert passed_on(runner, WAYS_OUT) == []


@pytest.mark.parametrize(
    ("runner", "words"),
    [
        ("pytest", "-xvs tests/test_a.py::test_b[1] -k one"),
        ("pytest", "--maxfail=3 --tb short"),
        ("unittest", "-k one tests.test_a"),
        ("jest", "-t name src/a.test.js"),
        ("go", "-run TestA ./pkg/..."),
        ("cargo", "--lib name -- --exact"),
        ("ctest", "-R one -V"),
        ("maven", "-Dtest=A"),
    ],
)
def test_what_selects_tests_is_passed_on(runner, words):
    assert refusal(BY_NAME[runner].accepts, words.split(" ")) == ""
