"""Looking at a whole change: is it red without it, are the tests as strong, is it clean?"""

from __future__ import annotations

import shlex

import msgspec

from flyball.core.effect import Inspect
from flyball.core.evidence import (
    AnyEvidence,
    BaseRun,
    DiffReport,
    FileChange,
    SuiteReport,
    WeakeningReport,
)
from flyball.core.state import CardState
from flyball.core.weakening import is_test_path, weakenings
from flyball.engine.station import Station
from flyball.errors import FlyballError
from flyball.tools.files import lost_regions
from flyball.tools.runner.ground import Ground
from flyball.tools.runner.running import run_suite
from flyball.workspace.paths import Root
from flyball.workspace.process import Limits
from flyball.workspace.trees import EXECUTABLE, Changed, TreeHash

BINARY = b"\0"
DOUBTFUL = "doubtful"
LEAST_SECONDS = 10.0
SLOWER = 5.0
"""How many times as long as the proving run a run on another tree may take."""


async def inspect(station: Station, card: CardState, effect: Inspect) -> tuple[AnyEvidence, ...]:
    """Everything Flyball can see for itself about the change between base and tree."""
    changes = station.workspace.trees.changes(TreeHash(effect.base), TreeHash(effect.tree))
    found: list[AnyEvidence] = [
        _weakening(station, card, effect, changes),
        _diff(station, card, effect, changes),
    ]
    if effect.falsify:
        found.insert(0, await _falsify(station, card, effect, changes))
    return tuple(found)


def _id(card: CardState, effect: Inspect, what: str) -> str:
    return f"{card.id}.{what}.{effect.tree[:12]}"


def _weakening(
    station: Station, card: CardState, effect: Inspect, changes: tuple[Changed, ...]
) -> WeakeningReport:
    before = {change.path: _text(station, effect.base, change.path) for change in changes}
    after = {change.path: _text(station, effect.tree, change.path) for change in changes}
    return WeakeningReport(
        id=_id(card, effect, "weakening"),
        tree=effect.tree,
        base=effect.base,
        findings=weakenings(before, after),
    )


def _text(station: Station, tree: str, path: str) -> str | None:
    data = station.workspace.file_at(tree, path)
    if data is None or BINARY in data:
        return None
    return data.decode("utf-8", "replace")


def _diff(
    station: Station, card: CardState, effect: Inspect, changes: tuple[Changed, ...]
) -> DiffReport:
    files: list[FileChange] = []
    regions: list[str] = []
    secrets: list[str] = []
    for change in changes:
        before = station.workspace.file_at(effect.base, change.path) or b""
        after = station.workspace.file_at(effect.tree, change.path) or b""
        files.append(FileChange(change.path, change.kind, change.added, change.removed))
        if change.path not in card.released:
            regions += lost_regions(change.path, before, after)
        secrets += _secrets(station, change.path, before, after)
    return DiffReport(
        id=_id(card, effect, "diff"),
        tree=effect.tree,
        base=effect.base,
        files=tuple(files),
        keep_regions_touched=tuple(regions),
        secrets_added=tuple(secrets),
    )


def _secrets(station: Station, path: str, before: bytes, after: bytes) -> list[str]:
    known = set(before.split(b"\n"))
    found: list[str] = []
    for n, line in enumerate(after.split(b"\n"), 1):
        if line in known or BINARY in line:
            continue
        text = line.decode("utf-8", "replace")
        if station.redactor.text(text) != text:
            found.append(f"{path}:{n}")
    return found


async def _falsify(
    station: Station, card: CardState, effect: Inspect, changes: tuple[Changed, ...]
) -> BaseRun:
    """Run the proving suite on the base tree with only the changed tests carried over."""
    report = next(
        item
        for item in card.evidence
        if isinstance(item, SuiteReport) and item.id == effect.falsify
    )
    try:
        base = await _run_on(station, effect.base, report, effect, changes)
        outcome, detail = _seen(base)
        if outcome == DOUBTFUL:
            control = await _run_on(station, effect.tree, report, effect, ())
            outcome = "red" if control.is_green else "unclear"
        elapsed = base.elapsed
    except FlyballError as error:
        outcome, detail, elapsed = "unclear", str(error), 0.0
    return BaseRun(
        id=_id(card, effect, "base"),
        tree=effect.tree,
        elapsed=elapsed,
        report=report.id,
        base=effect.base,
        outcome=outcome,
        detail=detail,
    )


def _seen(base: SuiteReport) -> tuple[str, str]:
    """What a run on the base tree shows; where no test passes, that place itself is in doubt."""
    if base.timed_out:
        return "red", base.reason
    if base.is_green:
        return "green", "the same tests pass without the change"
    if not base.failed:
        return DOUBTFUL, base.reason or "the suite does not run there"
    said = f"{base.failed} tests fail there, first {base.first_failure}"
    return "red" if base.passed else DOUBTFUL, said


async def _run_on(
    station: Station, tree: str, report: SuiteReport, effect: Inspect, changes: tuple[Changed, ...]
) -> SuiteReport:
    """The same suite on another tree, in a place of its own."""
    workspace = station.workspace
    place = workspace.checkout_scratch(tree)
    try:
        _carry_tests(station, Root(place, protected=()), effect.tree, changes)
        ground = Ground(
            root=place,
            project=workspace.project,
            cache=workspace.directory / "cache",
            sandbox=station.sandbox(read_only=False, root=place),
            env=station.env,
            limits=_limits(station.settings.suite_limits, report),
            tree=tree,
            redactor=station.redactor,
        )
        words = shlex.split(report.command)[1:]
        return (await run_suite(report.runner, words, ground, f"{report.id}.again")).report
    finally:
        workspace.discard_scratch(place)


def _limits(usual: Limits, report: SuiteReport) -> Limits:
    """A fault may be a test without end: the base gets little more time than the proof took."""
    seconds = max(LEAST_SECONDS, SLOWER * report.elapsed)
    return msgspec.structs.replace(usual, seconds=min(usual.seconds, seconds))


def _carry_tests(station: Station, root: Root, tree: str, changes: tuple[Changed, ...]) -> None:
    """Bring the tests of a change, and nothing else of it, to another tree."""
    for change in changes:
        if not is_test_path(change.path):
            continue
        data = station.workspace.file_at(tree, change.path)
        if data is not None and change.after is not None:
            is_program = change.after.mode == EXECUTABLE
            root.write_bytes(change.path, data, mode=0o755 if is_program else 0o644)
        elif root.fact(change.path, write=True).exists:
            root.delete(change.path)
