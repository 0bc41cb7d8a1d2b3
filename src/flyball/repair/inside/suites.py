"""A project's test suite inside its own interpreter, and the orders for it."""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import traceback
import unittest
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from flyball.repair.inside.workers import Alarm

if TYPE_CHECKING:
    Use = Callable[["Suite"], None]

PASS, FAIL, SKIP, SLOW = "pass", "fail", "skip", "slow"
MOST_SHORT = 500
LOADING_CPU = 10.0
QUICK_LOADING_CPU = 3.0


class End(NamedTuple):
    """The outcome of one test, and the reason."""

    kind: str
    why: str = ""


class Suite(ABC):
    """Tests by name, and their locations."""

    def __init__(self, broken: dict[str, str]) -> None:
        self.broken = broken
        """Files whose tests could not be loaded, and why."""

    @property
    @abstractmethod
    def names(self) -> Sequence[str]: ...

    @property
    @abstractmethod
    def files(self) -> set[str]:
        """Return the files that contain tests; examples in a docstring do not count."""

    @abstractmethod
    def run(self, name: str, following: str = "") -> End: ...


def open_suite(runner: str, args: Sequence[Any], use: Use, explain: bool = False) -> None:
    """Load the tests and pass them to `use`; they are available only while it runs.

    With `explain`, failures of pytest include their operands and the whole traceback, which takes
    time.
    """
    if runner == "pytest":
        _open_pytest(args, use, explain)
    else:
        _open_unittest(args, use)


class _PytestSuite(Suite):
    def __init__(self, session: Any, broken: dict[str, str], explain: bool) -> None:
        super().__init__(broken)
        self._items = {item.nodeid: item for item in session.items}
        self.reports: list[Any] = []
        # Formatting failures that nobody reads took most of the time of a search.
        for item in () if explain else session.items:
            item.repr_failure = _short_failure

    @property
    def names(self) -> Sequence[str]:
        return list(self._items)

    @property
    def files(self) -> set[str]:
        items = [item for item in self._items.values() if type(item).__name__ != "DoctestItem"]
        return {os.path.realpath(str(item.fspath)) for item in items}

    def run(self, name: str, following: str = "") -> End:
        item = self._items[name]
        self.reports.clear()
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=self._items.get(following))
        bad = [report for report in self.reports if report.failed]
        if bad:
            return End(FAIL, str(bad[0].longrepr))
        skipped = any(report.skipped for report in self.reports)
        return End(SKIP if skipped else PASS)


def _short_failure(failure: Any, style: Any = None) -> str:  # noqa: ARG001
    """Return what was raised, in one line; pytest's own rendering takes longer than most tests."""
    try:
        return f"{failure.type.__name__}: {failure.value}"[:MOST_SHORT]
    # The text of an exception is the project's own code, and may raise.
    except Exception:  # noqa: BLE001
        return str(failure.type)


class _Plugin:
    """Replaces pytest's own loop."""

    def __init__(self, use: Use, explain: bool) -> None:
        self._use = use
        self._explain = explain
        self.has_begun = False
        self._broken: dict[str, str] = {}
        self._suite: _PytestSuite | None = None

    def pytest_load_initial_conftests(self, early_config: Any, args: list[str]) -> None:
        """Force one process, and no other tracing."""
        # Workers of its own would run tests out of our sight, and coverage takes the one tracer
        # there is.
        for name, word in (("xdist", "-n0"), ("pytest_cov", "--no-cov")):
            if early_config.pluginmanager.hasplugin(name):
                args.append(word)

    def pytest_make_collect_report(self, collector: Any) -> Generator[None, Any, None]:
        """Treat a file that hangs or exits on import as one that cannot be loaded."""
        alarm = Alarm()
        alarm.set(LOADING_CPU if self._explain else QUICK_LOADING_CPU)
        outcome = yield
        alarm.clear()
        # pytest itself gives up on a file that calls sys.exit when imported, and nothing could be
        # said.
        raised = outcome.excinfo
        if raised and issubclass(raised[0], SystemExit):
            reports: Any = importlib.import_module("_pytest.reports")
            why = "".join(traceback.format_exception(*raised))
            outcome.force_result(reports.CollectReport(collector.nodeid, "failed", why, []))

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self._broken[report.nodeid] = str(report.longrepr)

    def pytest_runtestloop(self, session: Any) -> bool:
        self.has_begun = True
        self._suite = _PytestSuite(session, self._broken, self._explain)
        self._use(self._suite)
        return True

    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> bool:
        """Run one test without reporting it to other plugins."""
        assert self._suite is not None
        runner: Any = importlib.import_module("_pytest.runner")
        self._suite.reports += runner.runtestprotocol(item, log=False, nextitem=nextitem)
        return True


def _open_pytest(args: Sequence[str], use: Use, explain: bool) -> None:
    """Start pytest without those options of the project that it does not know here."""
    pytest: Any = importlib.import_module("pytest")
    plugin: Any = _Plugin(use, explain)
    for name in ("pytest_runtestloop", "pytest_runtest_protocol"):
        pytest.hookimpl(tryfirst=True)(getattr(_Plugin, name))
    pytest.hookimpl(hookwrapper=True)(_Plugin.pytest_make_collect_report)
    # Nobody reads what tests print, so it is not captured; a random order would make runs differ.
    words = ["-q", "-s", "--tb=native", "--continue-on-collection-errors", "-p", "no:randomly"]
    words += [] if explain else ["--assert=plain"]
    code = pytest.main([*words, *args], plugins=[plugin])
    # The project may name options of plugins that are not installed here.
    if code == pytest.ExitCode.USAGE_ERROR and not plugin.has_begun:
        pytest.main([*words, *args, "-o", "addopts="], plugins=[plugin])


class _UnittestSuite(Suite):
    def __init__(self, cases: Sequence[Any], broken: dict[str, str]) -> None:
        super().__init__(broken)
        self._cases = {case.id(): case for case in cases}

    @property
    def names(self) -> Sequence[str]:
        return list(self._cases)

    @property
    def files(self) -> set[str]:
        modules = (sys.modules.get(type(case).__module__) for case in self._cases.values())
        found = (getattr(module, "__file__", None) for module in modules)
        return {os.path.realpath(file) for file in found if file}

    def run(self, name: str, following: str = "") -> End:  # noqa: ARG002
        result = unittest.TestResult()
        unittest.TestSuite([self._cases[name]]).run(result)
        bad = [*result.failures, *result.errors]
        if bad:
            return End(FAIL, bad[0][1])
        if result.unexpectedSuccesses:
            return End(FAIL, "it was expected to fail, and passed")
        return End(SKIP if result.skipped or result.expectedFailures else PASS)


def _open_unittest(tops: Sequence[tuple[str, str]], use: Use) -> None:
    cases: list[Any] = []
    broken: dict[str, str] = {}
    for top, pattern in tops:
        for case in _flatten(unittest.TestLoader().discover(top, pattern, top)):
            if type(case).__name__ == "_FailedTest":
                name = case.id().replace("unittest.loader._FailedTest.", "")
                broken[name] = str(getattr(case, "_exception", ""))
            else:
                cases.append(case)
    use(_UnittestSuite(cases, broken))


def _flatten(suite: Any) -> Iterator[Any]:
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            yield from _flatten(each)
        else:
            yield each


ALARM = Alarm.set.__code__.co_filename
"""Where a traceback ends that an alarm has caused."""
SLOWEST_CPU = 6.0
"""The most time for a test that did not end under trace."""
UNHURRIED = 10.0
"""Where candidates are counted, a child that hangs is waited for so much longer."""


class Proposal(NamedTuple):
    """A candidate: the file, and the edits in it."""

    n: int
    path: str
    edits: list[tuple[int, int, str]]


class Orders:
    """What this program is asked to do."""

    def __init__(self, orders: dict[str, Any]) -> None:
        self.task: str = orders["task"]
        self.runner: str = orders["runner"]
        self.args: list[Any] = orders["args"]
        self.root: str = orders["root"]
        self.width: int = orders["width"]
        self.failing: list[str] = orders["failing"]
        self.near: list[str] = orders.get("near", [])
        self.cpu: dict[str, float] = orders.get("cpu", {})
        self.endless: set[str] = set(orders.get("endless", []))
        self.slow: set[str] = set(orders.get("slow", []))
        self.broken: list[str] = orders.get("broken", [])
        self.sample: int = orders.get("sample", 0)
        self.enough: int = orders.get("enough", 0)
        self.patience: float = orders.get("patience", 0.0)
        """After the first that holds, others are looked for in this part of the limit."""
        self.is_probe: bool = orders.get("is_probe", False)
        self.candidates = [Proposal(**each) for each in orders.get("candidates", [])]
        self.began = time.monotonic()
        self.seconds: float | None = orders["seconds"]
        """None: not the clock ends a search, but the number of candidates."""
        self._tried: set[int] = set()
        # Appended to and flushed line by line: what was found must be there even if the program is
        # killed.
        self._report: TextIO = open(orders["report"], "a", encoding="utf-8")  # noqa: SIM115

    @property
    def is_over(self) -> bool:
        return self.is_past(1.0)

    @property
    def spent(self) -> float:
        """Return the fraction of the time that is used; without a clock, the fraction of the
        candidates."""
        if self.seconds is None:
            return len(self._tried) / max(1, len(self.candidates))
        return (time.monotonic() - self.began) / self.seconds

    def is_past(self, part: float) -> bool:
        """Return whether more than this fraction of the limit is used."""
        return self.spent > part

    def wall(self, seconds: float) -> float:
        """Return a child's limit of wall time; without a clock, it only catches hangs."""
        return seconds * UNHURRIED if self.seconds is None else seconds

    def note(self, n: int, **end: Any) -> None:
        """Report the result of a candidate."""
        self._tried.add(n)
        self.say(n=n, **end)

    def say(self, **line: Any) -> None:
        self._report.write(json.dumps(line) + "\n")
        self._report.flush()


def run_one(suite: Suite, name: str, cpu: float, following: str = "") -> dict[str, Any]:
    """Run one test, with a limit of processor time in seconds."""
    alarm = Alarm()
    began = time.process_time()
    alarm.set(cpu)
    try:
        end = suite.run(name, following)
    finally:
        alarm.clear()
    # The alarm is an exception in the test, so a runner calls it a failure.
    kind = "time" if alarm.has_rung and end.kind == FAIL else end.kind
    why = _before_alarm(end.why) if kind == "time" else end.why
    return {"end": kind, "why": why[-2000:], "cpu": time.process_time() - began}


def _before_alarm(why: str) -> str:
    """Return a traceback that ends where a test was when its time was up."""
    # What follows is the handler of the alarm itself, which is nobody's fault.
    return why.rpartition(f'  File "{ALARM}"')[0] or why


def order_by_nearness(names: list[str], failing: list[str]) -> list[str]:
    """Return the other tests, those of the same file first, nearest first."""
    wanted = set(failing)
    places = [i for i, name in enumerate(names) if name in wanted]
    # Tests of the same file are the likeliest to run the same lines, and so to break by a change
    # there.
    files = {_file_of(name) for name in failing}

    def distance(i: int) -> tuple[bool, int]:
        return _file_of(names[i]) not in files, min((abs(i - p) for p in places), default=0)

    return [names[i] for i in sorted(range(len(names)), key=distance) if names[i] not in wanted]


def _file_of(name: str) -> str:
    return name.partition("::")[0] if "::" in name else name.rpartition(".")[0]
