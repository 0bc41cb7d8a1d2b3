"""The tests of a project as pytest or unittest finds them, ready to be run one by one."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
import unittest
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from flyball.tools.repair.inside.workers import Alarm

if TYPE_CHECKING:
    Use = Callable[["Suite"], None]

PASS, FAIL, SKIP, SLOW = "pass", "fail", "skip", "slow"
MOST_SHORT = 500
LOADING_CPU = 10.0
QUICK_LOADING_CPU = 3.0


class End(NamedTuple):
    """How one test ended, and why."""

    kind: str
    why: str = ""


class Suite(ABC):
    """Tests by name, and where each one stands."""

    def __init__(self, broken: dict[str, str]) -> None:
        self.broken = broken
        """Files whose tests could not be loaded, and why."""

    @property
    @abstractmethod
    def names(self) -> Sequence[str]: ...

    @property
    @abstractmethod
    def files(self) -> set[str]:
        """The files that tests were found in; examples in a docstring do not make one."""

    @abstractmethod
    def run(self, name: str, following: str = "") -> End: ...


def open_suite(runner: str, args: Sequence[Any], use: Use, explain: bool = False) -> None:
    """Load the tests and hand them over; they are there as long as `use` runs.

    With `explain`, failures of pytest tell their operands and their whole way, which takes time.
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
    """What was raised, in a line; pytest's own way to say it takes longer than most tests."""
    try:
        return f"{failure.type.__name__}: {failure.value}"[:MOST_SHORT]
    # The text of an exception is the project's own code, and may raise.
    except Exception:  # noqa: BLE001
        return str(failure.type)


class _Plugin:
    """Takes the place of pytest's own loop."""

    def __init__(self, use: Use, explain: bool) -> None:
        self._use = use
        self._explain = explain
        self.has_begun = False
        self._broken: dict[str, str] = {}
        self._suite: _PytestSuite | None = None

    def pytest_load_initial_conftests(self, early_config: Any, args: list[str]) -> None:
        """One process, and no one else's tracing."""
        # Workers of its own would run tests out of our sight, and coverage takes the one tracer
        # there is.
        for name, word in (("xdist", "-n0"), ("pytest_cov", "--no-cov")):
            if early_config.pluginmanager.hasplugin(name):
                args.append(word)

    def pytest_make_collect_report(self, collector: Any) -> Generator[None, Any, None]:
        """A file that does not end when imported, or ends us, is one that cannot be loaded."""
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
        """One test, of which nobody is told but us."""
        assert self._suite is not None
        runner: Any = importlib.import_module("_pytest.runner")
        self._suite.reports += runner.runtestprotocol(item, log=False, nextitem=nextitem)
        return True


def _open_pytest(args: Sequence[str], use: Use, explain: bool) -> None:
    """Options of the project that pytest does not know here are left out."""
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
