"""Looking at a whole change: is it red without it, are the tests as strong, is it clean?"""

from __future__ import annotations

import shlex

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
from flyball.tools.files import lost_regions
from flyball.tools.suite import Ground, run_suite
from flyball.workspace.paths import Root
from flyball.workspace.trees import Changed, TreeHash

BINARY = b"\0"


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
    base = await run_suite_on_base(station, card, report, effect, changes)
    if base.timed_out or (base.exit_code and not base.failures and not base.failed):
        outcome, detail = "red", base.reason or "the suite does not run there"
    elif base.failed:
        outcome, detail = "red", f"{base.failed} tests fail there, first {base.first_failure}"
    else:
        outcome, detail = "green", "the same tests pass without the change"
    return BaseRun(
        id=_id(card, effect, "base"),
        tree=effect.tree,
        elapsed=base.elapsed,
        report=report.id,
        base=effect.base,
        outcome=outcome,
        detail=detail,
    )


async def run_suite_on_base(
    station: Station,
    card: CardState,
    report: SuiteReport,
    effect: Inspect,
    changes: tuple[Changed, ...],
) -> SuiteReport:
    place = station.workspace.checkout_scratch(effect.base)
    try:
        root = Root(place)
        for change in changes:
            if not is_test_path(change.path):
                continue
            data = station.workspace.file_at(effect.tree, change.path)
            if data is not None:
                root.write_bytes(change.path, data)
            elif root.fact(change.path, write=True).exists:
                root.delete(change.path)
        ground = Ground(
            root=place,
            project=station.workspace.project,
            sandbox=station.sandbox(read_only=False, root=place),
            env=station.env,
            limits=station.settings.suite_limits,
            tree=effect.base,
            log=None,
            on_output=None,
        )
        args = shlex.split(report.command)[1:]
        ran = await run_suite(report.runner, args, ground, _id(card, effect, "base-suite"))
        return ran.report
    finally:
        station.workspace.discard_scratch(place)
