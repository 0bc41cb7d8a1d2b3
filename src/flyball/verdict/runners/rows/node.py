"""JavaScript and TypeScript: the runners that package.json starts, and `node --test` without it."""

from __future__ import annotations

import json
import os
import posixpath
import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

from flyball.regex import regex
from flyball.verdict.case import SuiteCase
from flyball.verdict.part import is_within
from flyball.verdict.runners.layout import READ_TESTS, FileIndex, depends_on, npm_script
from flyball.verdict.runners.pace import Steps
from flyball.verdict.runners.reports.console import from_text
from flyball.verdict.runners.reports.documents import from_jest, from_own
from flyball.verdict.runners.reports.output import RunnerOutput, printed, reported
from flyball.verdict.runners.reports.tap import from_ava, from_tap, from_tape
from flyball.verdict.runners.reports.unknown import documents_left, from_unknown
from flyball.verdict.runners.row import Argv, Runner, accepts, adding
from flyball.verdict.runners.rows.node_reporters import MOCHA, NODE
from flyball.verdict.runners.rows.script import composed, only_step, starts, steps_of
from flyball.verdict.runners.start_context import StartContext
from flyball.verdict.runners.start_env import program_of
from flyball.verdict.runners.tally import Tally

Options = Callable[[StartContext, int], list[str]]
"""Options that make a runner write a report; scripts may start it several times."""


def _from_script(name: str) -> Callable[[FileIndex], bool]:
    """Return whether the test script starts this runner or, without a script, the package lists
    it."""

    def is_here(land: FileIndex) -> bool:
        if starts(name, land):
            return True
        is_asked_for = name in _SETTLED_BY and depends_on(land, name)
        return is_asked_for and (not npm_script(land, "test") or _is_wrapped(name, land))

    return is_here


_SETTLED_BY = {
    "jest": regex(r"jest\.config\.\w+"),
    "vitest": regex(r"vitest\.(?:config|workspace)\.\w+"),
}


def _is_wrapped(name: str, land: FileIndex) -> bool:
    """Return whether the script starts another program that starts this runner, which is
    configured."""
    steps = steps_of(land) or ()
    is_started = not steps or any(step.runner for step in steps)
    return not is_started and bool(land.matching(_SETTLED_BY[name]))


def _started(name: str, options: Options, fixed: Sequence[str] = ()) -> Argv:
    """Return the runner's command if the script has nothing else, or the script with options
    added."""

    def argv(context: StartContext, land: FileIndex, args: Sequence[str]) -> list[str]:
        words = [word for word in args if word != "--"]
        step = only_step(land, name)
        if step and not _needs_shell(step.words):
            return [program_of(context, name), *step.words, *options(context, 1), *words]
        if not starts(name, land):
            return [program_of(context, name), *fixed, *options(context, 1), *words]
        return composed(
            context,
            land,
            name,
            lambda text, n: f"{text} {shlex.join([*options(context, n), *words])}",
        )

    return argv


def _needs_shell(words: Sequence[str]) -> bool:
    """Return whether words contain patterns that the script leaves to its shell."""
    return any(re.search(r"[*?{\[~]", word) for word in words)


def _report(context: StartContext, n: int) -> Path:
    return context.shelf / f"report{n}"


def _jest(context: StartContext, n: int) -> list[str]:
    return ["--ci", "--json", f"--outputFile={_report(context, n)}"]


def _vitest(context: StartContext, n: int) -> list[str]:
    reporters = ["--reporter=default", "--reporter=json"]
    return ["--run", *reporters, f"--outputFile.json={_report(context, n)}"]


def _mocha(context: StartContext, n: int) -> list[str]:
    reporter = context.shelf / f"mocha{n}.cjs"
    target = json.dumps(os.fspath(_report(context, n)))
    reporter.write_text(MOCHA.replace("__REPORT__", target), "utf-8")
    return ["--reporter", os.fspath(reporter)]


_OWN_REPORTER = regex(r"\s--test-reporter(?:-destination)?[= ]\S+")


def _node(context: StartContext, land: FileIndex, args: Sequence[str]) -> list[str]:
    """Put options before the files, since node passes words after them to the program itself."""
    words = [file for word in args if word != "--" for file in _test_files(word, land)]
    if not npm_script(land, "test"):
        return ["node", "--test", *_node_report(context, 1), *words]

    def tell(text: str, n: int) -> str:
        return f"{_tell_node(context, text, n)} {shlex.join(words)}"

    return composed(context, land, "node", tell)


def _test_files(word: str, land: FileIndex) -> Sequence[str]:
    """Return the test files of a directory, which node would take for a module; else the word."""
    folder = posixpath.normpath(word)
    inside = [path for path in land.files if word[:1] != "-" and is_within(path, folder)]
    found = [path for path in inside if path != folder and _NODE_TEST.fullmatch(path)]
    return found or (word,)


def _tell_node(context: StartContext, text: str, n: int = 1) -> str:
    bare = _OWN_REPORTER.sub("", text)
    return bare.replace("--test", shlex.join(["--test", *_node_report(context, n)]), 1)


def _node_report(context: StartContext, n: int) -> list[str]:
    reporter = context.shelf / "node.mjs"
    reporter.write_text(NODE, "utf-8")
    return [
        f"--test-reporter={reporter}",
        f"--test-reporter-destination={_report(context, n)}",
        "--test-reporter=spec",
        "--test-reporter-destination=stdout",
    ]


_NODE_TEST = regex(r"(?:.*/)?(?:test/(?:.*/)?[^/]+|test(?:-[^/]+)?|[^/]+[._-]test)\.[cm]?[jt]s")


def _has_node_tests(land: FileIndex) -> bool:
    """Return whether the script runs `node --test`, or tests are written for it and nothing is
    configured."""
    if npm_script(land, "test"):
        return starts("node", land)
    found = land.matching(_NODE_TEST)[:READ_TESTS]
    return any("node:test" in land.text(path) for path in found)


def _is_client(client: str) -> Callable[[FileIndex], bool]:
    return lambda land: bool(npm_script(land, "test")) and _client(land) == client


def _client(land: FileIndex) -> str:
    if land.has("pnpm-lock.yaml"):
        return "pnpm"
    return "yarn" if land.has("yarn.lock") else "npm"


def _script(land: FileIndex) -> str:
    return npm_script(land, "test")


def _npm(client: str) -> Argv:
    def argv(context: StartContext, _land: FileIndex, args: Sequence[str]) -> list[str]:
        words = [word for word in args if word != "--"]
        extra = ["--", *words] if words and client == "npm" else words
        return [program_of(context, client), "test", *extra]

    return argv


def _full_name(case: SuiteCase) -> str:
    return " ".join((*case.suite, case.name))


def _by_title(flag: str) -> Callable[[Sequence[str], Sequence[SuiteCase]], tuple[str, ...]]:
    """Return a selection of files, and a pattern of complete titles."""

    def select(files: Sequence[str], cases: Sequence[SuiteCase]) -> tuple[str, ...]:
        named = dict.fromkeys([*files, *(case.file for case in cases if case.file)])
        titles = [re.escape(_full_name(case)) for case in cases]
        # A whole file is wanted where one is named: no pattern may take from it.
        pattern = (f"{flag}^(?:{'|'.join(titles)})$",) if titles and not files else ()
        return (*named, *pattern)

    return select


def _mocha_select(files: Sequence[str], cases: Sequence[SuiteCase]) -> tuple[str, ...] | None:
    """Return a selection by title only: the script's own files would run in addition to named
    ones."""
    if files or not cases:
        return None
    titles = "|".join(re.escape(_full_name(case)) for case in cases)
    return ("--grep", f"^(?:{titles})$")


def _ava_select(files: Sequence[str], cases: Sequence[SuiteCase]) -> tuple[str, ...] | None:
    if files or not cases:
        return None
    return tuple(f"--match={case.name}" for case in cases)


def _node_select(files: Sequence[str], cases: Sequence[SuiteCase]) -> tuple[str, ...] | None:
    named = dict.fromkeys([*files, *(case.file for case in cases if case.file)])
    return tuple(named) or None


def _read_ava(said: RunnerOutput) -> Tally | None:
    return from_ava(said) or from_text(said.tidy)


_READ_OWN = reported(from_own, from_text)
_SPEC = Steps(regex(r"\s*(?:✓|✔|✖|﹣|-|\d+\)) (.+?)(?: \(.*ms\))?$"))
_TAP = Steps(regex(r"\s*(?:not )?ok \d+(?: -)? ?(.*)$"))
_FILES = Steps(regex(r"\s*(?:PASS|FAIL|✓|❯|×) +(\S+\.[cm]?[jt]sx?)\b"), unit="test files")

ROWS: tuple[Runner, ...] = (
    Runner(
        "vitest",
        _from_script("vitest"),
        _started("vitest", _vitest),
        reported(from_jest, from_text),
        accepts(
            "--silent --changed --bail",
            "-t --testNamePattern --bail --project --shard --retry --testTimeout --exclude",
            commands="init bench list related dev watch typecheck",
        ),
        _by_title("--testNamePattern="),
        steps=_FILES,
        tell=adding(lambda context: _vitest(context, 1)),
    ),
    Runner(
        "jest",
        _from_script("jest"),
        _started("jest", _jest),
        reported(from_jest, from_text),
        accepts(
            "-b --bail -o -i --runInBand --verbose --silent --onlyFailures --no-cache",
            "-t --testNamePattern --testPathPattern --testPathPatterns --selectProjects --shard"
            " --maxWorkers -w --bail --testTimeout --findRelatedTests",
        ),
        _by_title("--testNamePattern="),
        steps=_FILES,
        tell=adding(lambda context: _jest(context, 1)),
    ),
    Runner(
        "mocha",
        _from_script("mocha"),
        _started("mocha", _mocha),
        _READ_OWN,
        accepts("-b --bail -i --invert", "-g --grep -f --fgrep -t --timeout --retries -s --slow"),
        _mocha_select,
        steps=_SPEC,
        tell=adding(lambda context: _mocha(context, 1)),
    ),
    Runner(
        "ava",
        _from_script("ava"),
        _started("ava", lambda _context, _n: ["--tap"]),
        _read_ava,
        accepts("-s --serial --fail-fast -v --verbose", "-m --match -T --timeout -c --concurrency"),
        _ava_select,
        steps=_TAP,
        tell=adding(lambda _context: ("--tap",)),
    ),
    Runner(
        "tape",
        _from_script("tape"),
        _started("tape", lambda _context, _n: []),
        printed(lambda text: from_tape(text) or from_text(text)),
        accepts(options="-i --ignore"),
        steps=_TAP,
    ),
    Runner(
        "tap",
        _from_script("tap"),
        _started("tap", lambda _context, _n: ["--reporter=tap"]),
        printed(lambda text: from_tap(text) or from_text(text)),
        accepts("-b --bail", "-g --grep -t --timeout"),
        steps=_TAP,
        tell=adding(lambda _context: ("--reporter=tap",)),
    ),
    Runner(
        "node",
        _has_node_tests,
        _node,
        _READ_OWN,
        accepts(
            "--test-only",
            "--test-name-pattern --test-skip-pattern --test-concurrency --test-timeout",
        ),
        _node_select,
        steps=_SPEC,
        tell=_tell_node,
        typed="node --test",
    ),
    *(
        Runner(
            client,
            _is_client(client),
            _npm(client),
            from_unknown,
            accepts(options="-t -g --grep --match"),
            reports=documents_left,
            describe=_script,
        )
        for client in ("npm", "pnpm", "yarn")
    ),
)

BEHIND_SCRIPTS = frozenset(row.name for row in ROWS) - {"npm", "pnpm", "yarn"}
"""Runners that a script starts: if one is known, the script itself is no separate suite."""
