"""Looking at a whole change: is it red without it, are the tests as strong, is it clean?"""

from __future__ import annotations

from flyball.core.effect import Inspect
from flyball.core.evidence import (
    AnyEvidence,
    BaseRun,
    DiffReport,
    FileChange,
    SuiteReport,
    WeakeningReport,
)
from flyball.core.state import CardState, RunState
from flyball.core.weakening import weakenings
from flyball.engine.station import Station
from flyball.patch.keep import touched_regions
from flyball.tools.suite import run_suite
from flyball.workspace.trees import Changed

BINARY = b"\0"


async def inspect(
    station: Station, run: RunState, card: CardState, effect: Inspect
) -> tuple[AnyEvidence, ...]:
    """Everything Flyball can see for itself about the change between base and tree."""
    changes = station.workspace.trees.changes(effect.base, effect.tree)
    found: list[AnyEvidence] = [
        _weakening(station, card, effect, changes),
        _diff(station, card, effect, changes),
    ]
    if effect.falsify:
        found.insert(0, await _falsify(station, run, card, effect, changes))
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
        added, removed = _count(before, after)
        files.append(FileChange(change.path, change.kind, added, removed))
        regions += touched_regions(change.path, before, after)
        secrets += _secrets(station, change.path, before, after)
    return DiffReport(
        id=_id(card, effect, "diff"),
        tree=effect.tree,
        base=effect.base,
        files=tuple(files),
        keep_regions_touched=tuple(regions),
        secrets_added=tuple(secrets),
    )


def _count(before: bytes, after: bytes) -> tuple[int, int]:
    """Lines only in the one and only in the other; order does not matter for a size."""
    old, new = before.split(b"\n"), after.split(b"\n")
    kept = set(old) & set(new)
    added = sum(line not in kept for line in new)
    return added, sum(line not in kept for line in old)


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
    station: Station, run: RunState, card: CardState, effect: Inspect, changes: tuple[Changed, ...]
) -> BaseRun:
    """Run the proving suite on the base tree with only the changed tests carried over."""
    report = next(
        item
        for item in card.evidence
        if isinstance(item, SuiteReport) and item.id == effect.falsify
    )
    base = await run_suite_on_base(station, run, card, report, effect, changes)
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
    run: RunState,
    card: CardState,
    report: SuiteReport,
    effect: Inspect,
    changes: tuple[Changed, ...],
) -> SuiteReport:
    from flyball.core.weakening import is_test_path

    place = station.workspace.checkout_scratch(effect.base)
    try:
        for change in changes:
            if is_test_path(change.path):
                data = station.workspace.file_at(effect.tree, change.path)
                target = place / change.path
                if data is None:
                    target.unlink(missing_ok=True)
                else:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(data)
        return await run_suite(
            report.runner,
            report.command,
            root=place,
            sandbox=station.sandbox(read_only=False, root=place),
            env=station.env,
            limits=station.settings.suite_limits,
            tree=effect.base,
            id=_id(card, effect, "base-suite"),
        )
    finally:
        station.workspace.discard_scratch(place)
