"""Flyball in public repositories: what works there as in a plain checkout, and what does not.

python -m bench field --repos DIR [--only NAME]… [--tests-only] [--page]

DIR has a clone of each repository in `field.toml`, as `OWNER+NAME`; what is missing is left out.
Each is set up once by the commands in the list. Then the project's own test command runs in that
checkout, and Flyball beside it: a run that tests, edits, is merged and taken back; the same command
under `flyball confined`; `flyball verify` of the newest commit that changes code and whose tests
fail without it, of that commit undone, and of its tests alone. What came of each is kept in DIR,
and `--page` writes `docs/field.md` from it.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import difflib
import hashlib
import itertools
import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from bench.figure import Figure, conclude
from flyball.regex import regex
from flyball.terms.test_paths import is_test_path
from flyball.verdict.tests import is_code

LIST = Path(__file__).with_suffix(".toml")
PAGE = Path(__file__).parents[1] / "docs" / "field.md"
FLYBALL = str(Path(sys.executable).with_name("flyball"))
SECONDS = 900.0
"""The most that one repository may take, its set-up apart, on a machine with other work."""
COMMITS = 120
MOST_FILES = 8
MOST_TRIED = 4
NEW_LINES = 4
"""By which the tests of a commit must grow: one that only tidies up proves nothing undone."""

COUNTS: Mapping[str, tuple[str, str]] = {
    "pytest": (r"(\d+) passed", r"(\d+) (?:failed|errors?)\b"),
    "unittest": (r"Ran (\d+) test", r"(?:failures|errors)=(\d+)"),
    "uvu": (r"Passed:\s+(\d+)", r"(?!)"),
    "go": (r"(?m)^\s*--- (PASS):", r"(?m)^\s*--- (FAIL):"),
    "cargo": (r"test result:.* (\d+) passed", r"test result:.* (\d+) failed"),
    "node": (r"(?m)^(?:#|ℹ) pass +(\d+)", r"(?m)^(?:#|ℹ) fail +(\d+)"),
    "vitest": (r"(?m)^\s*Tests .*?(\d+) passed", r"(?m)^\s*Tests .*?(\d+) failed"),
    "jest": (r"(?m)^Tests:.* (\d+) passed", r"(?m)^Tests:.* (\d+) failed"),
    "mocha": (r"(\d+) passing", r"(\d+) failing"),
    "ava": (r"(\d+) tests? passed", r"(\d+) tests? failed"),
    "tape": (
        r"(?m)^(#) .*\n(?=(?:ok .*\n)++(?!not ok ))",
        r"(?m)^(#) .*\n(?:ok .*\n)*+(?=not ok )",
    ),
    "tests": (r"(?m)^(\d+) tests?(?: [a-z]+)?,", r"(?m)(\d+) failed\.?$"),
    "minctest": (r"(?m)^ALL TESTS PASSED \((\d+)/", r"(?m)^SOME (TESTS) FAILED"),
    "words": (r"(?mi)\bpassed: *(\d+)$", r"(?mi)\bfailed: *(\d+)$"),
    "lines": (r"(?m)^(ok) ", r"(?m)^(not ok) "),
    "rake": (r"(\d+) (?:tests|runs),", r"(\d+) (?:failures|errors),"),
    "phpunit": (r"(?:OK \(|Tests: )(\d+)", r"(?:Failures|Errors): (\d+)"),
    "maven": (
        r"(?m)Tests run: (\d+), Failures: \d+, Errors: \d+, Skipped: \d+$",
        r"(?m)(?:Failures|Errors): (\d+)(?=.*Skipped: \d+$)",
    ),
    "ctest": (r"tests failed out of (\d+)", r"(\d+) tests failed out of"),
}
"""How each kind of suite says how many tests passed and failed, in its own words."""
RUN_AND_FAILED = frozenset({"rake", "phpunit", "ctest", "unittest", "tests", "maven"})
"""These say how many ran, those that failed among them."""
COLOURS = regex(r"\x1b\[[0-9;]*m")


class Repository(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A repository of the list, and how its own people set it up and test it."""

    name: str
    commit: str
    language: str
    plain: str
    edit: str
    """The file that the run edits."""
    set_up: tuple[str, ...] = ()
    counts: str = ""
    """A key of `COUNTS`; without one the exit code is all that the command says."""
    command: str = ""
    """What the user says in `test.command`, where no known runner tests it."""
    why: str = ""
    """Why the counts differ although nothing is amiss."""


class Ran(msgspec.Struct, frozen=True):
    """What a test run said."""

    passed: int
    failed: int
    seconds: float


class Row(msgspec.Struct):
    """What came of one repository."""

    name: str
    commit: str
    language: str
    date: str
    plain: Ran | None = None
    tree: Ran | None = None
    runner: str = ""
    edit: str = ""
    confined: str = ""
    fix: str = ""
    lie: str = ""
    alone: str = ""
    """The verdict on the tests of the fix without its code."""
    stopped: str = ""
    """What went wrong, in Flyball's or the project's own words."""
    why: str = ""

    @property
    def agrees(self) -> bool:
        """Whether Flyball saw what the plain run saw, or the difference is explained."""
        if self.plain is None or self.tree is None:
            return False
        same = (self.plain.passed, self.plain.failed) == (self.tree.passed, self.tree.failed)
        return same or bool(self.why)

    @property
    def works(self) -> bool:
        """Whether everything went as in a plain checkout, and no lie was shown to hold."""
        return (
            self.agrees
            and self.edit in ("", "back")
            and self.confined in ("", "same")
            and not self.lie.startswith(("shown", "no verdict"))
            and not self.alone.startswith(("shown", "no verdict"))
            and not self.stopped
        )


EXIT_ONLY = "of its own command only the exit code was read"


class GaveUp(Exception):
    """Nothing more can be tried in this repository."""


class OutOfTime(Exception):
    """The repository has had its time."""


def repositories() -> list[Repository]:
    """Return every repository of the list."""
    with LIST.open("rb") as file:
        return msgspec.convert(tomllib.load(file)["repository"], list[Repository])


class Trial:
    """One repository, in the time that it has."""

    def __init__(self, asked: Repository, checkout: Path, *, tests_only: bool = False) -> None:
        self.asked = asked
        self.tests_only = tests_only
        self.checkout = checkout
        self.ends = 0.0
        self.state = checkout.parent / "state" / checkout.name
        self.row = Row(
            asked.name,
            asked.commit,
            asked.language,
            f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
        )

    def run(self) -> Row:
        """Try everything, and return what came of it."""
        try:
            self._set_up()
            self.ends = time.monotonic() + SECONDS
            self._plain()
            self._governed_run()
            if self.tests_only:
                return self.row
            self._confined()
            with contextlib.suppress(OutOfTime):
                self._verify()
        except (GaveUp, OutOfTime) as end:
            self.row.stopped = str(end)
        return self.row

    def _set_up(self) -> None:
        self._go_back()
        mark = self.checkout / ".git" / "field-ready"
        wanted = hashlib.sha256("\n".join(self.asked.set_up).encode()).hexdigest()
        if not mark.is_file() or mark.read_text() != wanted:
            self.ends = time.monotonic() + 3 * SECONDS
            for command in self.asked.set_up:
                code, said = self._start(["sh", "-c", command])
                if code:
                    raise GaveUp(f"not set up: `{command}`: {last_line(said)}")
            mark.write_text(wanted)

    def _plain(self) -> None:
        began = time.monotonic()
        code, said = self._start(["sh", "-c", self.asked.plain])
        passed, failed = self._counted(said, code)
        self.row.plain = Ran(passed, failed, time.monotonic() - began)
        self.row.why = self.asked.why or ("" if self.asked.counts else EXIT_ONLY)
        if not passed:
            raise GaveUp(f"its own command passes nothing: {last_line(said)}")

    def _counted(self, said: str, code: int) -> tuple[int, int]:
        if not self.asked.counts:
            return (0, 1) if code else (1, 0)
        plain = COLOURS.sub("", said)
        if self.asked.counts == "go":
            plain = without_outer(plain)
        passed, failed = (
            sum(int(each) if each.isdigit() else 1 for each in regex(pattern).findall(plain))
            for pattern in COUNTS[self.asked.counts]
        )
        return (passed - failed if self.asked.counts in RUN_AND_FAILED else passed), failed

    def _governed_run(self) -> None:
        """Test, edit, stop, merge, take back."""
        before = self._git("rev-parse", "HEAD^{tree}")
        script = self.state.with_suffix(".jsonl")
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text("".join(f"{json.dumps(line)}\n" for line in self._lines()))
        request = f"Add a comment to {self.asked.edit}"
        options = ("--intent", "small_fix", "--driver", f"scripted:{script}", "--json")
        _, said = self._flyball("run", request, *options)
        told = [each for each in objects(said) if "type" in each]
        suites = [each for each in told if each.get("kind") == "suite-report"]
        if not suites:
            raise GaveUp(self._refusal(told, said))
        report = suites[0]["evidence"]
        self.row.runner = f"{report['runner']}"
        self.row.tree = Ran(report.get("passed", 0), report.get("failed", 0), report["elapsed"])
        if self.tests_only:
            return
        ended = next((each for each in told if each["type"] == "final"), {})
        self.row.edit = f"{ended.get('ending', 'no end')}"
        if self.row.edit != "succeeded":
            self.row.stopped = " ".join(map(str, ended.get("issues") or ended.get("verdict") or []))
            return
        for command in (("runs", "merge", "last"), ("card", "revert", "last", "step-1")):
            code, said = self._flyball(*command, "--json")
            if code:
                raise GaveUp(f"{' '.join(command)}: {last_line(said)}")
        self._git("add", "-u")
        after = self._git("write-tree")
        self.row.edit = "back" if before == after else "not back"
        self._go_back()

    def _lines(self) -> Iterator[dict[str, Any]]:
        def call(tool: str, **args: object) -> dict[str, Any]:
            return {"calls": [{"tool": tool, "args": args}]}

        yield call("test", timeout=SECONDS)
        if self.tests_only:
            yield {"text": "The tests were run."}
            return
        yield call(
            "checkpoint",
            goal="The file has a comment.",
            findings="It has none.",
            proposed_action="Add one.",
            files=[self.asked.edit],
            verify_with=["test"],
        )
        yield call("edit_diff", diff=commented(self.checkout, self.asked.edit))
        yield {"text": "The comment is there."}

    def _refusal(self, told: Sequence[dict[str, Any]], said: str) -> str:
        """Return why no test was run, in Flyball's own words."""
        for each in told:
            if each["type"] == "call" and each.get("tool") == "test" and each.get("ok") is False:
                return f"{each.get('summary')}"
        return last_line(said)

    def _confined(self) -> None:
        """The project's own command must come to the same where it can do no harm."""
        assert self.row.plain
        code, said = self._flyball("confined", "--project", "--", "sh", "-c", self.asked.plain)
        passed, failed = self._counted(said, code)
        same = (passed, failed) == (self.row.plain.passed, self.row.plain.failed)
        self.row.confined = "same" if same else f"{passed} passed, {failed} failed"

    def _verify(self) -> None:
        """The newest commit that changes code and tests, and two lies made of it."""
        fix, tests = self._newest_fix()
        if not fix:
            self.row.fix = self.row.lie = self.row.alone = "no such commit"
            return
        # Where the suite is slow, there may be no time for this.
        self.row.fix = self.row.lie = self.row.alone = "out of time"
        self.row.fix = self._status(f"{fix}^", fix)
        undone = self._commit(f"{fix}^^{{tree}}", fix)
        self.row.lie = self._status(fix, undone)
        self._lay_out_tests(fix, tests)
        alone = self._commit(self._git("write-tree"), f"{fix}^")
        self._go_back()
        self.row.alone = self._status(f"{fix}^", alone)

    def _commit(self, tree: str, parent: str) -> str:
        ada = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        return self._git(*ada, "commit-tree", tree, "-p", parent, "-m", "Improve it")

    def _status(self, base: str, head: str) -> str:
        _, said = self._flyball("verify", "--base", base, "--head", head, "--json")
        told = next((each for each in objects(said) if each.get("type") == "verdict"), None)
        return f"{told['status']}" if told else f"no verdict: {last_line(said)}"

    def _newest_fix(self) -> tuple[str, list[str]]:
        """Return the newest of a few commits whose tests pass with its code and not without it."""
        for commit, tests in itertools.islice(self._candidates(), MOST_TRIED):
            self._git("checkout", "-q", "-f", "--detach", commit)
            is_green = self._passes()
            self._lay_out_tests(commit, tests)
            is_noticed = is_green and not self._passes()
            self._go_back()
            if is_noticed:
                return commit, tests
        return "", []

    def _lay_out_tests(self, fix: str, tests: Sequence[str]) -> None:
        """Check out what was before a commit, with the tests that it brought."""
        self._git("checkout", "-q", "-f", "--detach", f"{fix}^")
        self._git("checkout", "-q", fix, "--", *tests)

    def _go_back(self) -> None:
        self._git("checkout", "-q", "-f", "-B", "field", self.asked.commit)

    def _passes(self) -> bool:
        """Return whether no more fails, of what is checked out, than in the whole trial."""
        assert self.row.plain
        code, said = self._start(["sh", "-c", self.asked.plain])
        passed, failed = self._counted(said, code)
        known = self.row.plain.failed
        return passed > 0 and failed <= known and (not code or known > 0)

    def _candidates(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the commits that change code and add to its tests, with the tests they touch."""
        options = ("--no-merges", "--no-renames", "--numstat", "--format=%x00%H")
        log = self._git("log", f"-{COMMITS}", *options)
        for entry in log.split("\0")[1:]:
            name, *lines = entry.strip().splitlines()
            touched = [line.split("\t", 2) for line in lines if line.count("\t") == 2]
            code = [path for _, _, path in touched if is_code(path) and not is_test_path(path)]
            tests = {
                path: int(added) - int(gone)
                for added, gone, path in touched
                if is_test_path(path) and added != "-"
            }
            # A file that the commit removes cannot be checked out of it.
            if code and sum(tests.values()) >= NEW_LINES and len(touched) <= MOST_FILES:
                yield name[:12], self._git("ls-tree", "-r", "--name-only", name, *tests).split("\n")

    def _git(self, *args: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(self.checkout), *args], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise GaveUp(f"git {args[0]}: {last_line(done.stderr)}")
        return done.stdout.strip()

    def _flyball(self, *args: str) -> tuple[int, str]:
        settled = {"FLYBALL_VERDICT_MUTANT_SECONDS": "0"}
        if self.asked.command:
            settled["FLYBALL_TEST_COMMAND"] = self.asked.command
        return self._start([FLYBALL, *args], FLYBALL_STATE_DIR=str(self.state), **settled)

    def _start(self, argv: Sequence[str], **more: str) -> tuple[int, str]:
        """Run a program in the checkout; all that it started ends with the repository's time."""
        left = self.ends - time.monotonic()
        if left <= 0:
            raise OutOfTime(f"out of time before `{' '.join([Path(argv[0]).name, *argv[1:3]])}`")
        with subprocess.Popen(
            argv,
            cwd=self.checkout,
            env={**os.environ, "NO_COLOR": "1", **more},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        ) as process:
            try:
                said, _ = process.communicate(timeout=left)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM)
                raise OutOfTime(
                    f"out of time in `{' '.join([Path(argv[0]).name, *argv[1:3]])}`"
                ) from None
        return process.returncode, said


def commented(checkout: Path, path: str) -> str:
    """Return a diff that adds a comment near the top of a file."""
    before = (checkout / path).read_text(encoding="utf-8").splitlines(keepends=True)
    mark = "#" if path.endswith((".py", ".rb", ".bash", ".sh")) else "//"
    if path.endswith((".c", ".h")):
        line = "/* Seen in the field. */\n"
    else:
        line = f"{mark} Seen in the field.\n"
    at = 1 if before and before[0].startswith(("#!", "<?php")) else 0
    after = [*before[:at], line, *before[at:]]
    return "".join(difflib.unified_diff(before, after, f"a/{path}", f"b/{path}"))


def without_outer(said: str) -> str:
    """Return what `go test -v` said of the tests that hold no subtests."""
    ends = regex(r"(?m)^[ \t]*--- (?:PASS|FAIL|SKIP): (\S+) .*$").finditer(said)
    lines = [(found[1], found[0]) for found in ends]
    # A subtest's own name may hold slashes.
    parts = [name.split("/") for name, _ in lines]
    outer = {"/".join(each[:n]) for each in parts for n in range(1, len(each))}
    return "\n".join(line for name, line in lines if name not in outer)


def objects(said: str) -> list[dict[str, Any]]:
    """Return the JSON objects among the lines that a program printed."""
    found: list[dict[str, Any]] = []
    for line in said.splitlines():
        with contextlib.suppress(ValueError):
            if line.startswith("{"):
                found.append(json.loads(line))
    return found


def last_line(said: str) -> str:
    """Return the last line that says something, without what a table would break on."""
    lines = [line.strip() for line in COLOURS.sub("", said).splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it said nothing"


def figures(rows: Sequence[Row]) -> list[Figure]:
    """Return how many repositories went how well."""
    verified = [row for row in rows if row.fix in ("shown", "a question", "not shown")]
    edited = [row for row in rows if row.edit]
    confined = [row for row in rows if row.confined]
    return [
        Figure("repositories tried", len(rows)),
        Figure("the same tests pass and fail as plainly", sum(row.agrees for row in rows)),
        _share("an edit merged and taken back to the byte", "edit", "back", edited),
        _share("its own command, confined, says the same", "confined", "same", confined),
        _share("fixes shown", "fix", "shown", verified),
        Figure("undone fixes shown", sum(row.lie == "shown" for row in rows), most=0),
        Figure("tests shown without their code", sum(r.alone == "shown" for r in rows), most=0),
        Figure("worked like the plain run", sum(row.works for row in rows)),
    ]


def _share(name: str, field: str, wanted: str, rows: Sequence[Row]) -> Figure:
    count = sum(getattr(row, field) == wanted for row in rows)
    return Figure(name, count, "", "tried", len(rows))


HEAD = (
    "repository",
    "language",
    "runner",
    "plain",
    "in Flyball's tree",
    "time",
    "edit",
    "confined",
    "a fix",
    "the fix undone",
    "its tests alone",
    "what stopped it, or why it differs",
)


def as_page(rows: Sequence[Row]) -> str:
    """Return the page: the figures, and a line for each repository."""
    lines = [f"| {' | '.join(HEAD)} |", f"|{'---|' * len(HEAD)}"]
    for row in sorted(rows, key=lambda each: (each.language, each.name)):
        cells = [str(cell).replace("|", "\\|").replace("\n", " ") for cell in _cells(row)]
        lines.append(f"| {' | '.join(cells)} |")
    told = "\n".join(
        f"| {each.name} | {each.ours:g}{f' of {each.theirs:g}' if each.theirs else ''} |"
        for each in figures(rows)
    )
    dates = sorted({row.date for row in rows})
    return PAGE_TEXT.format(
        between=" to ".join(dict.fromkeys((dates[0], dates[-1]))) if dates else "nothing yet",
        figures=told,
        rows="\n".join(lines),
        minutes=SECONDS / 60,
    )


PAGE_TEXT = """\
# In the field

<!-- Written by `python -m bench field --page`; the next run writes it anew. -->
Flyball in public repositories, beside the project's own test command in the same checkout, on one
machine with two busy cores ({between}). No test of ours runs this; the figures are as old as their
date. `bench/field.toml` lists the repositories, their commits, and how each is set up and tested.

| | repositories |
|---|--:|
{figures}

*plain* and *in Flyball's tree* say how many tests passed, and how many failed where some did.
*time* is the run in Flyball's tree as a multiple of the plain one. *edit* is `back` where a run
tested, edited, was merged and taken back, and every file was what it had been, to the byte.
*confined* is `same` where the project's own command says the same under `flyball confined
--project`. *a fix* is the verdict on the newest commit that changes code and adds to its tests, of
those whose tests fail without its code by the project's own command (the newest four are tried; an
earlier trial, of which some rows are, took the newest as it was); *the fix undone* is the verdict
on its opposite, *its tests alone* on its tests without its code: neither may ever be `shown`, and
where an earlier trial did not ask about the second, it is empty. Small changes to the new lines
were not tried (`verdict.mutant_seconds` was 0). Where all are empty, only the tests were compared
(`--tests-only`).

{rows}

What does not work, and why: where a suite prints counts and names no test (uvu, and several C
programs that are their own runner), these counts are all that an edit is shown by, and a fix is
shown by the suite's end alone. CTest is configured with the project's preset, else with its
defaults, so tests behind an option that is off are seen only where `test.command` names the option
(DaveGamble/cJSON). Rust crates that keep their tests beside the code have `no such commit`, and so
has a project whose newest such commits need packages of their time. The Java project was built
offline: of the Maven plugins and JUnit artifacts that it names, near versions stood in for those
that were not at hand, and an empty one for the plugin that publishes it. Where a row says `out of
time`, nothing is known but that {minutes:g} minutes, or the five of an earlier trial, were too few.
"""


def _cells(row: Row) -> tuple[object, ...]:
    ratio = ""
    if row.plain and row.tree and row.plain.seconds:
        ratio = f"{row.tree.seconds / row.plain.seconds:.1f}×"
    return (
        f"[{row.name}](https://github.com/{row.name}) `{row.commit[:9]}`",
        row.language,
        row.runner,
        _ran(row.plain),
        _ran(row.tree),
        ratio,
        row.edit,
        row.confined,
        row.fix,
        row.lie,
        row.alone,
        row.stopped or row.why,
    )


def _ran(ran: Ran | None) -> str:
    if ran is None:
        return ""
    return f"{ran.passed}, {ran.failed} failed" if ran.failed else f"{ran.passed}"


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    parser = argparse.ArgumentParser(prog="python -m bench field", description=__doc__)
    parser.add_argument("--repos", type=Path, required=True, help="where the clones are")
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--tests-only", action="store_true", help="only compare the tests")
    parser.add_argument("--page", action="store_true", help=f"write docs/{PAGE.name}")
    asked = parser.parse_args(arguments)
    results: Path = asked.repos / "results"
    results.mkdir(parents=True, exist_ok=True)
    listed = repositories()
    for each in listed:
        checkout = asked.repos.resolve() / each.name.replace("/", "+")
        requested = not asked.only or any(part in each.name for part in asked.only)
        if requested and (checkout / ".git").is_dir():
            row = Trial(each, checkout, tests_only=asked.tests_only).run()
            (results / f"{checkout.name}.json").write_bytes(msgspec.json.encode(row))
            said = msgspec.json.encode(row).decode()
            print(f"{'works' if row.works else 'DIFFERS'}  {said}", flush=True)
    kept = [results / f"{each.name.replace('/', '+')}.json" for each in listed]
    rows = [msgspec.json.decode(path.read_bytes(), type=Row) for path in kept if path.is_file()]
    if asked.page:
        PAGE.write_text(as_page(rows), encoding="utf-8")
    return figures(rows)


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
