"""Run and read what the gates ask for, whatever a driver claims."""

from __future__ import annotations

import re
import shlex
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec

from flyball.drivers.image import data_url
from flyball.drivers.prompt import text_of
from flyball.drivers.protocol import Driver, Request
from flyball.engine.run_context import RunContext
from flyball.errors import DriverError, FlyballError, ToolUnavailable, UsageError
from flyball.plan.template import GateUse, Role
from flyball.regex import regex
from flyball.run.effect import Inspect
from flyball.run.state import CardState, RunState
from flyball.shell import cannot_fail, judge, verification_kind
from flyball.terms.call import Access
from flyball.terms.evidence import (
    AnyEvidence,
    CheckKind,
    CheckReport,
    CommandReport,
    ConsoleReport,
    CoverageReport,
    FileReport,
    GateReport,
    HttpReport,
    SuiteReport,
    VisualReport,
)
from flyball.terms.phase import Phase
from flyball.terms.test_paths import is_test_path
from flyball.tools.browser_console import BROWSER_CONSOLE, ConsoleForm
from flyball.tools.call.protocol import CallContext, PictureOpinion
from flyball.tools.check import CHECK, CheckForm
from flyball.tools.http_probe import HTTP_PROBE, ProbeForm
from flyball.tools.suite import TEST, SuiteForm
from flyball.tools.visual_qa import VISUAL_QA, VisualForm
from flyball.verdict.part import TOP
from flyball.verdict.runners.checker import BY_NAME
from flyball.verdict.runners.launch import exit_code, launch, set_up
from flyball.verdict.runners.parts import COMMAND
from flyball.verdict.runners.reports.console import from_text
from flyball.verdict.runners.run_suite import SuiteRun, run_suite
from flyball.verdict.runners.tally import plain
from flyball.workspace.files.paths import PathKind, Root
from flyball.workspace.process.process import CommandLimits, Finished
from flyball.workspace.run.watch import begin_watch, end_watch
from flyball.workspace.trees.trees import EXECUTABLE, Changed, TreeHash

READ_LIMIT = 4 * 1024 * 1024
KEPT_PROBLEMS = 50
TOTAL = regex(r"^TOTAL\s+(\d+)\s+(\d+)(\s+\d+\s+\d+)?\s+(\d+(?:\.\d+)?)%", re.MULTILINE)
COVERING = ("--cov", "--cov-report=term")
NO_SANDBOX = "No sandbox is available on this machine, so a gate's command is not run."


class Gathered(NamedTuple):
    """Observations for the gates, and changes that observing made to the tree."""

    evidence: tuple[AnyEvidence, ...] = ()
    undone: tuple[str, ...] = ()


class Look(NamedTuple):
    """One gate, and everything needed to observe what it asks for."""

    use: GateUse
    context: CallContext
    state: RunState
    card: CardState
    base: str

    def value(self, name: str) -> str:
        return str(self.use.parameters.get(name) or "")


async def gather(
    context: RunContext, state: RunState, card: CardState, effect: Inspect, key: str
) -> Gathered:
    """Gather evidence for each gate; any change it causes is undone, even after a crash."""
    if not effect.gates:
        return Gathered()
    workspace = context.workspace
    # The same key from before a crash: a look was cut off, and what it left is not the card's work.
    if workspace.has_snapshot(key):
        workspace.restore(workspace.snapshot(key))
    before = workspace.snapshot(key)
    evidence: list[AnyEvidence] = []
    undone: dict[str, None] = {}
    for n, use in enumerate(_wanted(effect), 1):
        call = f"gate{n}-{key.rpartition('/')[2]}"
        call_context = context.call_context(
            state, card, call, key=key, phase=Phase.VERIFY, access=Access.VERIFY
        )
        look = Look(use, call_context._replace(tree=before), state, card, effect.base)
        begin_watch(workspace, look.context.root, TreeHash(before), with_packages=True)
        evidence += await _seen(look)
        done = end_watch(workspace)
        undone |= dict.fromkeys((*done.gone, *done.put_back, *done.lost))
        after = workspace.tree_hash()
        for change in workspace.trees.changes(TreeHash(before), after):
            undone[change.path] = None
        # After every look and not at the end: the next one is about the same tree.
        if after != before:
            workspace.restore(before)
    return Gathered(tuple(evidence), tuple(undone))


def _wanted(effect: Inspect) -> list[GateUse]:
    """Return the gates that need their own observation: one test run serves two of them."""
    found: dict[str, GateUse] = {}
    for n, use in enumerate(effect.gates):
        found.setdefault("suite" if LOOKS[use.type] is _suite else str(n), use)
    return [*found.values()]


async def _seen(look: Look) -> tuple[AnyEvidence, ...]:
    """Return the observations of one look; without any, explain why: not allowed, or not
    possible."""
    try:
        return await LOOKS[look.use.type](look)
    except UsageError as error:
        return (_report(look, str(error), refused=True),)
    except (FlyballError, OSError) as error:
        return (_report(look, str(error)),)


def _report(look: Look, why: str, *, refused: bool = False) -> GateReport:
    return GateReport(
        id=look.context.evidence_id(),
        tree=look.context.tree,
        gate=look.use.type,
        parameters=look.use.parameters,
        why=look.context.redactor.text(why),
        refused=refused,
    )


async def _suite(look: Look) -> tuple[AnyEvidence, ...]:
    return (await TEST.perform(SuiteForm(), look.context)).evidence


async def _command(look: Look) -> tuple[AnyEvidence, ...]:
    """Run the gate's exact command; its author says that it verifies, unless it cannot fail."""
    command = look.value("command")
    finished = await _run(look, command)
    hollow = cannot_fail(command) or ""
    if not hollow and verification_kind(command) == "tests":
        counted = from_text(finished.output)
        is_empty = counted is not None and not counted.passed and not counted.failed
        hollow = "no test ran" if is_empty else ""
    report = CommandReport(
        id=look.context.evidence_id(),
        tree=look.context.tree,
        elapsed=round(finished.elapsed, 3),
        command=command,
        exit_code=exit_code(finished),
        verification=not hollow,
        proves_nothing=hollow,
        timed_out=finished.timed_out,
    )
    return (report,)


async def _run(look: Look, command: str) -> Finished:
    """Run a command from a template, judged like any other, in the sandbox."""
    context = look.context
    root = str(context.root.path)
    judgement = judge(command, phase="execute", allow=context.settings.allow, root=root)
    if judgement.decision != "allow":
        raise UsageError(f"`{command}` is not run: {judgement.reason}")
    # The command comes from a template in the repository, and nobody is asked about it.
    if look.state.project.sandbox == "none" and not look.state.policy.bash_without_sandbox:
        raise ToolUnavailable(NO_SANDBOX)
    with set_up(context) as start:
        return await launch(command, start)


def _check(kind: CheckKind) -> Callable[[Look], Awaitable[tuple[AnyEvidence, ...]]]:
    """Return the project's own checks of a kind, or the one that the gate names."""

    async def look_for(look: Look) -> tuple[AnyEvidence, ...]:
        command = look.value("command")
        if not command or command in BY_NAME:
            found = await CHECK.perform(CheckForm(name=command or kind.value), look.context)
            return found.evidence
        finished = await _run(look, command)
        code = exit_code(finished)
        lines = [line for line in plain(finished.output).split("\n") if line.strip()]
        problems = tuple(lines[:KEPT_PROBLEMS]) if code else ()
        report = CheckReport(
            id=look.context.evidence_id(),
            tree=look.context.tree,
            elapsed=round(finished.elapsed, 3),
            kind=kind,
            command=command,
            exit_code=code,
            problems=problems,
            count=len(problems),
        )
        return (report,)

    return look_for


async def _file(look: Look) -> tuple[AnyEvidence, ...]:
    path, text = look.value("path"), look.value("text")
    root = look.context.root
    fact = root.fact(path, write=False)
    if not fact.inside:
        raise UsageError(f"{path} is outside the workspace.")
    holds = False
    if text and fact.kind is PathKind.FILE:
        holds = text.encode() in root.read_bytes(path, READ_LIMIT)
    report = FileReport(
        id=look.context.evidence_id(),
        tree=look.context.tree,
        path=path,
        exists=fact.exists,
        asked=(text,) if text else (),
        contains=(text,) if holds else (),
    )
    return (report,)


async def _http(look: Look) -> tuple[AnyEvidence, ...]:
    try:
        form = ProbeForm(url=_address(look, HttpReport))
    except ValueError as error:
        raise UsageError(f"{error}.") from None
    return (await HTTP_PROBE.perform(form, look.context)).evidence


async def _console(look: Look) -> tuple[AnyEvidence, ...]:
    try:
        form = ConsoleForm(url=_address(look, ConsoleReport))
    except ValueError as error:
        raise UsageError(f"{error}.") from None
    return (await BROWSER_CONSOLE.perform(form, look.context)).evidence


async def _visual(look: Look) -> tuple[AnyEvidence, ...]:
    try:
        expectation = look.value("expectation") or "it looks right"
        form = VisualForm(url=_address(look, VisualReport), expectation=expectation)
    except ValueError as error:
        raise UsageError(f"{error}.") from None
    return (await VISUAL_QA.perform(form, look.context)).evidence


def _address(look: Look, kind: type[HttpReport | ConsoleReport | VisualReport]) -> str:
    """Return the gate's own address or path; default: the last page viewed, or the top."""
    if url := look.value("url"):
        return url
    seen = [urlsplit(item.url) for item in look.card.evidence if isinstance(item, kind)]
    return (seen[-1].path if seen else "") or "/"


async def _coverage(look: Look) -> tuple[AnyEvidence, ...]:
    """Measure coverage in the same way on the base and on the current tree."""
    context = look.context
    now = await run_suite("pytest", COVERING, context, context.evidence_id())
    after = covered(now.finished)
    before = after
    if look.base != context.tree:
        run_result = await run_on(context, look.base, now.report)
        before = covered(run_result.finished)
    report = CoverageReport(
        id=context.evidence_id(),
        tree=context.tree,
        elapsed=now.report.elapsed,
        before=before,
        after=after,
    )
    return (report,)


def covered(finished: Finished) -> float:
    """Return the percentage in a coverage table; the exact one if only statements are measured."""
    found = [*TOTAL.finditer(plain(finished.output))]
    if not found:
        raise ToolUnavailable(
            "No coverage was measured.", "Install pytest-cov in the project's environment."
        )
    statements, missed, branches, percent = found[-1].groups()
    if branches or "." in percent or not int(statements):
        return float(percent)
    return round(100 * (1 - int(missed) / int(statements)), 2)


LOOKS: Mapping[str, Callable[[Look], Awaitable[tuple[AnyEvidence, ...]]]] = MappingProxyType(
    {
        "tests_pass": _suite,
        "new_test_fails_before": _suite,
        "command_succeeds": _command,
        "build_passes": _check(CheckKind.BUILD),
        "lint_clean": _check(CheckKind.LINT),
        "types_clean": _check(CheckKind.TYPES),
        "diagnostics_clean": _check(CheckKind.DIAGNOSTICS),
        "file_exists": _file,
        "file_contains": _file,
        "http_ok": _http,
        "console_clean": _console,
        "visual_ok": _visual,
        "coverage_not_dropped": _coverage,
    }
)
"""How each gate that `looks` is looked for."""


LEAST_SECONDS = 10.0
SLOWER = 5.0
"""How many times as long as the proving run a run on another tree may take."""


async def run_on(
    context: CallContext,
    tree: str,
    report: SuiteReport,
    *,
    tests_of: str = "",
    changes: tuple[Changed, ...] = (),
) -> SuiteRun:
    """Return the same suite on another tree, with the changed tests of `tests_of`."""
    workspace = context.workspace
    place = workspace.checkout_scratch(tree)
    try:
        _carry_tests(context, Root(place, protected=()), tests_of, changes)
        there = context.on_tree(Root(place, context.root.protected), tree)
        # Its log would take the place of the one that the driver is told to read.
        limits = _limits(context.limits, report)
        there = there._replace(limits=limits, is_shown=False, is_logged=False)
        return await run_suite(report.runner, _words(report), there, f"{report.id}.again")
    finally:
        workspace.discard_scratch(place)


def _words(report: SuiteReport) -> list[str]:
    """Return the arguments of a suite; a configured command only gets its directory."""
    if report.runner == COMMAND:
        return [] if report.part == TOP else [report.part]
    return shlex.split(report.command)[1:]


def _limits(usual: CommandLimits, report: SuiteReport) -> CommandLimits:
    """Return a rerun's time limit, slightly more than the first run took, as a test may never
    end."""
    seconds = max(LEAST_SECONDS, SLOWER * report.elapsed)
    return msgspec.structs.replace(usual, seconds=min(usual.seconds, seconds))


def _carry_tests(context: CallContext, root: Root, tree: str, changes: tuple[Changed, ...]) -> None:
    """Copy the tests of a change, and nothing else of it, to another tree."""
    for change in changes:
        if not is_test_path(change.path):
            continue
        data = context.workspace.file_at(tree, change.path)
        if data is not None and change.after is not None:
            is_program = change.after.mode == EXECUTABLE
            root.write_bytes(change.path, data, mode=0o755 if is_program else 0o644)
        elif root.fact(change.path, write=True).exists:
            root.delete(change.path)


LONGEST = 600
"""Characters of a reason that are kept."""
_ANSWER = regex(r"\W*(yes|no)\b[\W_]*(.*)", re.IGNORECASE | re.DOTALL)


class VisionModel:
    """Asks a driver about pictures; it is created for the first picture."""

    def __init__(self, make: Callable[[], Driver]) -> None:
        self._make = make
        self._driver: Driver | None = None

    async def judge(self, run: str, card: str, picture: bytes, expectation: str) -> PictureOpinion:
        """Return whether a picture shows what is expected, or why it was not judged."""
        request = Request(
            run=run,
            card=card,
            role=Role.VERIFIER,
            phase=Phase.VERIFY,
            system=text_of("eyes"),
            opening=f"What the picture is expected to show:\n\n{expectation.strip()}",
            images=(data_url(picture, "the picture"),),
        )
        try:
            if self._driver is None:
                self._driver = self._make()
            reply = await self._driver.think(request, _discard)
        except DriverError as error:
            return PictureOpinion(reason=f"A model was asked and could not answer: {error}")
        except FlyballError as error:
            return PictureOpinion(reason=str(error))
        return read_opinion(reply.text)._replace(model=reply.model, usage=reply.usage)

    async def close(self) -> None:
        """Close the driver, if one was created."""
        if self._driver is not None:
            await self._driver.close()
            self._driver = None


def read_opinion(text: str) -> PictureOpinion:
    """Parse a yes or a no at the start of an answer, and the reason after it."""
    found = _ANSWER.match(text)
    if found is None:
        return PictureOpinion(reason="The model answered neither yes nor no.")
    reason = " ".join(found[2].split())[:LONGEST]
    return PictureOpinion(is_right=found[1].lower() == "yes", reason=reason)


def _discard(_text: str) -> None:
    """Ignore text streamed before the end of the answer."""
