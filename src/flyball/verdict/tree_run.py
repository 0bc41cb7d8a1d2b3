"""Run one suite on a clean checkout of a tree, for the verdict."""

from __future__ import annotations

import os
import secrets
import shlex
from collections import Counter
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from flyball.errors import FlyballError
from flyball.regex import regex
from flyball.terms.test_paths import is_test_path
from flyball.tools.call.protocol import CallContext
from flyball.verdict.canary import Canary, canary_for
from flyball.verdict.case import BAD, CaseOutcome, SuiteCase
from flyball.verdict.part import TOP, PartSuite, is_within
from flyball.verdict.reports import ChangeFacts, TreeRun
from flyball.verdict.runners.layout import FileIndex, look
from flyball.verdict.runners.run_suite import SuiteRun, run_suite
from flyball.verdict.runners.table import BY_NAME
from flyball.verdict.runners.tally import plain
from flyball.verdict.selection import SOURCE, count_tests, select_tests
from flyball.verdict.sides import is_data_file
from flyball.workspace.files.paths import Root
from flyball.workspace.run.clean import clean_checkout

_WORST = (CaseOutcome.SKIPPED, CaseOutcome.PASSED, CaseOutcome.FAILED)
_COLLECTED = regex(r"\b(\d+) tests? collected")
CANARY_SECONDS = 30.0
SILENT = "tests that must fail did not, so its report cannot be believed"


class Selection(NamedTuple):
    """A part of a suite: whole files, or single tests if no file is named."""

    files: tuple[str, ...] = ()
    cases: tuple[SuiteCase, ...] = ()
    whole: int = 0
    """The size of the whole suite, if worth reporting."""


class Taken(NamedTuple):
    """A run for the verdict, every test that it reported, and whether its canaries failed."""

    run: TreeRun
    cases: tuple[SuiteCase, ...] = ()
    has_canary: bool = False
    """Whether the tests that must fail were put there, were run, and failed."""
    timed_out: bool = False
    unavailable: str = ""
    """Why the suite could not even be started."""
    rewrote: str = ""
    """A test file that was changed or removed while the suite ran."""
    read: tuple[str, ...] = ()
    """The files of data that were read while the suite ran, where the disk keeps access times."""

    def beside(self, old: Taken) -> Taken:
        """Return this run, checked against one that shows whether canaries fail in this suite.

        The base tree had no reason to silence them: if they failed there and do not fail here, this
        run is no evidence.
        """
        if self.run.trouble:
            return self
        if old.has_canary and not self.has_canary and not self.run.reports_no_test:
            return self._replace(run=self.run._replace(trouble=SILENT))
        if self.rewrote and not old.rewrote:
            said = f"{self.rewrote} was changed while the tests ran"
            return self._replace(run=self.run._replace(trouble=said))
        return self


class TreePair(NamedTuple):
    """Two trees, the changes between them, and the newer one on disk."""

    base: str
    head: str
    facts: ChangeFacts
    land: FileIndex


def reached_tests(suite: PartSuite, compared: TreePair) -> Selection:
    """Return the test files of a part that the change reaches."""
    own = compared.land.below(suite.at)
    prefix = "" if suite.at == "." else f"{suite.at}/"
    texts = {f"{prefix}{path}": own.text(path) for path in own.files if SOURCE.fullmatch(path)}
    return Selection(select_tests(compared.facts.files, texts), whole=count_tests(texts))


def words_for(suite: PartSuite, wanted: Selection) -> tuple[str, ...] | None:
    """Return the arguments that select only these tests, or None if the runner cannot."""
    runner = BY_NAME.get(suite.runner)
    if runner is None or not (wanted.files or wanted.cases):
        return None
    at = "" if suite.at == TOP else f"{suite.at}/"
    return runner.select([file.removeprefix(at) for file in wanted.files], wanted.cases)


OTHERWISE = {
    "TERM": "xterm-256color",
    "CI": "",
    "NO_COLOR": "",
    "PYTHONHASHSEED": "20011",
    "PYTHONUNBUFFERED": "",
    "PYTHONDONTWRITEBYTECODE": "",
}
"""Another ordinary environment: nothing that was repaired may depend on Flyball's."""


def with_other_surroundings(context: CallContext) -> CallContext:
    """Return the same call in another environment; an empty value removes the variable."""
    env = {**context.env, **OTHERWISE}
    return context.with_env({name: value for name, value in env.items() if value})


async def run_tree(
    context: CallContext,
    tree: str,
    suite: PartSuite,
    wanted: Selection | None = None,
    *,
    what: str = "",
) -> Taken:
    """Return the suite's run on that tree; a suite that cannot be started has `trouble`.

    A part of it is run if one is requested and the runner can select, else the whole suite. `what`
    states the purpose of the run in progress reports.
    """
    if what:
        context = context.during(what)
    with clean_checkout(context.workspace, tree) as place:
        land = look(place / suite.at)
        canary = _put_canary(land, place, suite)
        stamps = _stamps(land)
        data = _forget_reads(land)
        root = Root(place, protected=())
        # Its log would take the place of the one that the driver is told to read.
        there = context.on_tree(root, tree)._replace(is_shown=False, is_logged=False)
        at = () if suite.at == TOP else (suite.at,)

        def run(more: Sequence[str] = ()) -> Awaitable[SuiteRun]:
            files = (*wanted.files, *more) if wanted and wanted.files else ()
            words = words_for(suite, wanted._replace(files=files)) if wanted else None
            name = f"{context.call}.{tree[:8]}"
            return run_suite(suite.runner, (*at, *(words or ())), there, name)

        try:
            ran = await run([_from_top(suite, canary.path)] if canary else ())
            if canary and not ran.cases and canary.word in ran.finished.output:
                # A script of the project may lint its tests first, and refuse ours.
                (place / suite.at / canary.path).unlink()
                canary = None
                ran = await run()
        except FlyballError as error:
            name, why = suite.command or suite.runner, str(error)
            return Taken(TreeRun(name, 1, trouble=why), unavailable=why)
        rewrote = next((file for file, stamp in stamps.items() if _stamp(land, file) != stamp), "")
        read = [_from_top(suite, file) for file in data if _was_read(land.root / file)]
    taken = _taken(ran, canary, suite)._replace(rewrote=rewrote, read=tuple(read))
    whole = wanted.whole if wanted and words_for(suite, wanted) else 0
    return taken._replace(run=taken.run._replace(whole=whole))


async def detects_failures(
    context: CallContext, tree: str, suite: PartSuite, loads: Sequence[str]
) -> bool | None:
    """Return whether tests that must fail do fail, with files of the product loaded first.

    None if this cannot be tried. It is needed if the runner isolates test files, since code that
    silences assertions then affects only tests that load it.
    """
    with clean_checkout(context.workspace, tree) as place:
        land = look(place / suite.at)
        canary = _put_canary(land, place, suite, [each for each in loads if land.has(each)])
        words = canary and words_for(suite, Selection((_from_top(suite, canary.path),)))
        if canary is None or not words:
            return None
        # Code that opens a server when it is loaded never lets a file end that does not close it.
        limits = replace(context.limits, seconds=min(context.limits.seconds, CANARY_SECONDS))
        there = context.on_tree(Root(place, protected=()), tree)
        there = there._replace(is_shown=False, is_logged=False, limits=limits)
        at = () if suite.at == TOP else (suite.at,)
        try:
            ran = await run_suite(suite.runner, (*at, *words), there, f"{context.call}.canary")
        except FlyballError:
            return None
    if ran.report.timed_out:
        return None
    return sum(_is_canary(case, canary) and case.is_bad for case in ran.cases) >= canary.tests


async def count_collected(context: CallContext, tree: str, suite: PartSuite) -> int:
    """Return how many tests the runner itself finds in that tree; 0 if it cannot list them."""
    if suite.runner != "pytest":
        return 0
    with clean_checkout(context.workspace, tree) as place:
        there = context.on_tree(Root(place, protected=()), tree)
        at = () if suite.at == TOP else (suite.at,)
        words = (*at, "--collect-only", "-q")
        try:
            ran = await run_suite(
                suite.runner, words, there._replace(is_shown=False, is_logged=False), "count"
            )
        except FlyballError:
            return 0
    found = _COLLECTED.search(ran.finished.output)
    return int(found[1]) if found else 0


def _from_top(suite: PartSuite, path: str) -> str:
    return path if suite.at == TOP else f"{suite.at}/{path}"


def _stamps(land: FileIndex) -> dict[str, tuple[int, int]]:
    """Return the size and modification time of each test file on disk."""
    return {file: _stamp(land, file) for file in land.files if is_test_path(file)}


def _stamp(land: FileIndex, file: str) -> tuple[int, int]:
    try:
        status = (land.root / file).lstat()
    except OSError:
        return 0, 0
    return status.st_size, status.st_mtime_ns


MOST_DATA = 5_000


def _forget_reads(land: FileIndex) -> list[str]:
    """Set the access times of the files of data back, so that a read shows; return those files."""
    data = [file for file in land.files if is_data_file(file)][:MOST_DATA]
    for file in data:
        with suppress(OSError):
            modified = (land.root / file).lstat().st_mtime_ns
            os.utime(land.root / file, ns=(0, modified), follow_symlinks=False)
    return data


def _was_read(path: Path) -> bool:
    """Return whether a file was read since; False where the disk keeps no access times."""
    try:
        return path.lstat().st_atime_ns > 0
    except OSError:
        return False


def _put_canary(
    land: FileIndex, place: Path, suite: PartSuite, loads: Sequence[str] = ()
) -> Canary | None:
    """Write tests that must fail next to the suite's own."""
    tests = [(file, land.text(file)) for file in land.files if is_test_path(file)]
    word = secrets.choice("bdfgklmnprst") + secrets.token_hex(4)
    canary = canary_for(suite.runner, tests, word, loads)
    if canary is not None:
        Root(place / suite.at, protected=()).write_bytes(canary.path, canary.text.encode())
    return canary


def _taken(ran: SuiteRun, canary: Canary | None, suite: PartSuite) -> Taken:
    report = ran.report
    # The part is named beside the command, where it is no word that its runner could take.
    hidden = {suite.at} - {TOP}
    hidden |= {canary.path, _from_top(suite, canary.path)} if canary else set()
    command = shlex.join([word for word in shlex.split(report.command) if word not in hidden])
    runner = BY_NAME.get(suite.runner)
    if runner is None and suite.command:
        # The project's own command says more than the name under which it is run.
        command = suite.command
    elif runner is not None and runner.typed:
        command = f"{runner.typed}{command.removeprefix(runner.name)}"
    own = [_from_part(case, suite) for case in ran.cases if not _is_canary(case, canary)]
    failed = [case for case in ran.cases if _is_canary(case, canary) and case.is_bad]
    is_alive = canary is not None and len(failed) >= canary.tests
    ends, counts, exit_code = _ends(own), _counts(own), report.exit_code
    if is_alive and exit_code in (1, sum(case.is_bad for case in ran.cases)):
        # The canaries alone make a runner end like that: whether it would have ended well without
        # them is what the other tests say.
        exit_code = int(CaseOutcome.FAILED in ends.values())
    if not ends:
        # Nothing is told test by test: then the command itself is the one test. A program that
        # counts failures and ends with 0 all the same has failed.
        exit_code = exit_code or int(report.failed > 0)
        ends = {command: CaseOutcome.FAILED if exit_code else CaseOutcome.PASSED}
        counts = report.passed, report.failed, report.skipped
    run = TreeRun(
        command,
        exit_code,
        ends,
        is_counted=bool(own),
        trouble=_trouble(ran, is_alive),
        elapsed=report.elapsed,
        counts=counts,
        seconds=_seconds(own),
        rows=rows_of(own),
        row_ends=row_ends_of(own),
        messages=messages_of(own),
        says=_first_lines(ran, is_counted=bool(own)),
    )
    return Taken(run, tuple(own), is_alive, report.timed_out)


def _from_part(case: SuiteCase, suite: PartSuite) -> SuiteCase:
    """Return the test with its file relative to the top, like the files of the change."""
    if suite.at == TOP or not case.file or is_within(case.file, suite.at):
        return case
    return msgspec.structs.replace(case, file=f"{suite.at}/{case.file}")


def _ends(cases: Sequence[SuiteCase]) -> dict[str, CaseOutcome]:
    """Return the result of every test function: that of its worst case, where a pass beats no
    run."""
    found: dict[str, CaseOutcome] = {}
    for case in cases:
        end = CaseOutcome.FAILED if case.outcome in BAD else case.outcome
        before = found.get(case.function, end)
        found[case.function] = max(before, end, key=_WORST.index)
    return found


def rows_of(cases: Sequence[SuiteCase]) -> dict[str, int]:
    """Return how many cases each test function had, without skipped ones."""
    return Counter(case.function for case in cases if case.outcome is not CaseOutcome.SKIPPED)


def row_ends_of(cases: Sequence[SuiteCase]) -> dict[str, CaseOutcome]:
    """Return the result of each row of tests that have several."""
    several = {name for name, rows in rows_of(cases).items() if rows > 1}
    return {
        f"{case.function}[{case.parameters}]": case.outcome
        for case in cases
        if case.parameters and case.function in several
    }


_NOISE = regex(r"^\s*(?:$|[=~_\-─━]{5,}|>|npm (?:ERR!|error)|#|platform |rootdir|cachedir|plugins)")
_TELLS = regex(
    r"(?i)\berror\b|\bfatal\b|cannot|can't|could not|undefined|not found|no module|no such"
    r"|unresolved|expected|exception|traceback|\.\w+:\d+(?::\d+)?:"
)
_RAISED = regex(r"E\s+\S")
"""How pytest marks the lines of an exception."""
_TRACE = regex(r"Traceback \(most recent call last\)")
_EXCEPTION = regex(r"[A-Za-z_][\w.]*(?::\s|$)")
"""What Python prints below a traceback."""
LINES = 3
LONGEST = 200


def _first_lines(ran: SuiteRun, *, is_counted: bool) -> tuple[str, ...]:
    """Return the runner's lines that report an error, if it could not run the tests."""
    if is_counted or not ran.report.exit_code:
        return ()
    lines = [line for line in plain(ran.finished.output).split("\n") if not _NOISE.match(line)]
    telling = [line for line in lines if _TELLS.search(line)] or lines[-LINES:]
    return tuple([line.strip()[:LONGEST] for line in telling[:LINES]])


def messages_of(cases: Iterable[SuiteCase]) -> dict[str, str]:
    """Return the most informative line of each failed test's message."""
    found: dict[str, str] = {}
    for case in cases:
        if not case.is_bad or case.function in found:
            continue
        lines = [line.strip() for line in plain(case.message).split("\n")]
        lines = [line for line in lines if line and not _NOISE.match(line)]
        if lines:
            raised = [line[1:].strip() for line in lines if _RAISED.match(line)]
            if not raised and any(map(_TRACE.match, lines)):
                raised = [line for line in lines if _EXCEPTION.match(line)][-1:]
            telling = raised or [line for line in lines if _TELLS.search(line)] or lines
            found[case.function] = telling[0][:LONGEST]
    return found


def with_moved_files(taken: Taken, renamed: Mapping[str, str]) -> Taken:
    """Return the run with the tests of renamed files under their new names."""
    if not renamed:
        return taken

    def moved(name: str) -> str:
        file, apart, rest = name.partition("::")
        return f"{renamed[file]}{apart}{rest}" if file in renamed else name

    run = taken.run
    run = run._replace(
        ends={moved(name): end for name, end in run.ends.items()},
        rows={moved(name): rows for name, rows in run.rows.items()},
        row_ends={moved(name): end for name, end in run.row_ends.items()},
        messages={moved(name): said for name, said in run.messages.items()},
    )
    cases = [msgspec.structs.replace(c, file=renamed.get(c.file, c.file)) for c in taken.cases]
    return taken._replace(run=run, cases=tuple(cases))


def _counts(cases: Sequence[SuiteCase]) -> tuple[int, int, int]:
    """Return the runner's own counts of passed, failed and skipped tests."""
    bad = sum(case.is_bad for case in cases)
    skipped = sum(case.outcome is CaseOutcome.SKIPPED for case in cases)
    return len(cases) - bad - skipped, bad, skipped


def _seconds(cases: Sequence[SuiteCase]) -> dict[str, float]:
    """Return how long the tests of each file took."""
    found: dict[str, float] = {}
    for case in cases:
        found[case.file] = found.get(case.file, 0.0) + case.seconds
    return found


def _is_canary(case: SuiteCase, canary: Canary | None) -> bool:
    return canary is not None and canary.word in case.name


def _trouble(ran: SuiteRun, is_alive: bool) -> str:
    """Return why the run is no evidence, whatever its report says."""
    report, finished = ran.report, ran.finished
    if report.timed_out:
        return report.reason or "it ran past its limit"
    if finished.signal:
        return f"it was ended by signal {finished.signal}"
    if is_alive and report.exit_code == 0:
        return "it ended with success, although two tests that must fail were added to its own"
    return ""
