"""Store the reports of every run of a verdict, test by test, so that others can repeat it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import cast

import msgspec

from flyball.terms.change_verdict import ChangeVerdict
from flyball.tools.call.protocol import CallContext
from flyball.verdict.case import CaseOutcome
from flyball.verdict.reports import NO_ENDS, SuiteRuns, TreeRun
from flyball.workspace.trees.git_objects import replace_whole

KEPT = 20
_FOLDER = "verdicts"
_RUNS = ("old", "new", "old_tests_new_code", "new_tests_old_code")


class RunRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """One run of one suite; `run` says whose tests ran against whose code."""

    part: str
    suite: str
    run: str
    command: str
    exit_code: int
    ends: Mapping[str, CaseOutcome] = NO_ENDS
    trouble: str = ""


class VerdictRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """A verdict, the runs that it was decided from, and their environment."""

    base: str
    head: str
    verdict: ChangeVerdict
    runs: tuple[RunRecord, ...] = ()
    unsteady: tuple[str, ...] = ()
    """Tests that ended differently on one and the same tree."""
    unavailable: tuple[str, ...] = ()
    """Why suites could not be started."""
    variables: tuple[str, ...] = ()
    """The names of the environment variables that the tests could read."""
    programs: str = ""
    """The `PATH` on which their programs were looked up."""
    network: bool = False
    began: float = 0.0
    ended: float = 0.0

    def redacted(self, redact: Callable[[str], str]) -> VerdictRecord:
        """Return the record without secrets, since it may leave this machine."""
        names = dict.fromkeys(name for run in self.runs for name in run.ends)
        # Tests are many and their names short: they are read as one text.
        lines = redact("\n".join(names)).split("\n")
        clean = dict(
            zip(names, lines if len(lines) == len(names) else map(redact, names), strict=True)
        )
        runs = tuple(
            msgspec.structs.replace(
                run,
                command=redact(run.command),
                trouble=redact(run.trouble),
                ends={clean[name]: end for name, end in run.ends.items()},
            )
            for run in self.runs
        )
        verdict = msgspec.convert(
            _each_text(msgspec.to_builtins(self.verdict), redact), ChangeVerdict
        )
        return msgspec.structs.replace(
            self,
            verdict=verdict,
            runs=runs,
            unsteady=tuple(map(redact, self.unsteady)),
            unavailable=tuple(map(redact, self.unavailable)),
        )


def _each_text(value: object, change: Callable[[str], str]) -> object:
    """Return a plain value with each text in it changed; field names stay."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list | tuple):
        return [_each_text(item, change) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        return {
            key: _each_text(item, change) for key, item in cast("dict[str, object]", value).items()
        }
    return value


def write_record(
    context: CallContext,
    base: str,
    head: str,
    verdict: ChangeVerdict,
    runs: Iterable[SuiteRuns],
    began: float,
) -> None:
    """Store a verdict's runs in the workspace, and keep only the newest verdicts."""
    known = tuple(runs)
    env = context.env
    record = VerdictRecord(
        base,
        head,
        verdict,
        tuple([each for suite in known for each in _records(suite)]),
        tuple(sorted({name for suite in known for name in suite.set_aside})),
        tuple(
            f"{each.suite} in {each.part}: {each.unavailable}" for each in known if each.unavailable
        ),
        tuple(sorted(env)),
        env.get("PATH", ""),
        bool(context.settings.network),
        began,
        time.time(),
    )
    folder = context.workspace.directory / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    replace_whole(folder / f"{head}.json", msgspec.json.encode(record))
    for old in sorted(folder.glob("*.json"), key=lambda file: file.stat().st_mtime)[:-KEPT]:
        old.unlink(missing_ok=True)


def read_record(directory: Path, head: str) -> VerdictRecord | None:
    """Return the newest verdict on a tree that was taken in a workspace, with its runs."""
    try:
        data = (directory / _FOLDER / f"{head}.json").read_bytes()
        return msgspec.json.decode(data, type=VerdictRecord)
    except (OSError, msgspec.MsgspecError):
        return None


def _records(suite: SuiteRuns) -> Iterator[RunRecord]:
    for name in _RUNS:
        run: TreeRun | None = getattr(suite, name)
        if run is not None:
            yield RunRecord(
                suite.part,
                suite.suite,
                name.replace("_", " "),
                run.command,
                run.exit_code,
                dict(run.ends),
                run.trouble,
            )
