"""Looking at a whole change: is it red without it, are the tests as strong, is it clean?"""

from __future__ import annotations

from flyball.core.run.effect import Inspect
from flyball.core.run.state import CardState, RunState
from flyball.core.terms.call import Access
from flyball.core.terms.evidence import (
    AnyEvidence,
    BaseRun,
    DiffReport,
    FileChange,
    SuiteReport,
    WeakeningReport,
)
from flyball.core.terms.phase import Phase
from flyball.core.weakening import weakenings
from flyball.engine.look.gate_looks import Gathered, gather
from flyball.engine.look.run_on_tree import run_on
from flyball.engine.run_context import RunContext
from flyball.errors import FlyballError
from flyball.tools.call.file_facts import lost_regions
from flyball.tools.call.protocol import CallContext
from flyball.workspace.trees.trees import Changed, TreeHash

BINARY = b"\0"
DOUBTFUL = "doubtful"


async def inspect(
    context: RunContext, state: RunState, card: CardState, effect: Inspect, key: str
) -> Gathered:
    """Everything Flyball can see for itself: about the change, and for the gates of the card."""
    changes = context.workspace.trees.changes(TreeHash(effect.base), TreeHash(effect.tree))
    seen = await gather(context, state, card, effect, key)
    found: list[AnyEvidence] = [*seen.evidence]
    if report := _proving(card, effect, seen.evidence):
        call_context = context.call_context(
            state, card, "falsify", key=key, phase=Phase.VERIFY, access=Access.VERIFY
        )
        found.append(await _falsify(call_context, effect, report, changes))
    found.append(_weakening(context, card, effect, changes))
    found.append(_diff(context, card, effect, changes))
    return Gathered(tuple(found), seen.undone)


def _proving(card: CardState, effect: Inspect, seen: tuple[AnyEvidence, ...]) -> SuiteReport | None:
    """The suite report that must fail on the base tree, if one must."""
    wanted = any(use.type == "new_test_fails_before" for use in effect.gates)
    suites = [item for item in (*card.evidence, *seen) if isinstance(item, SuiteReport)]
    for item in suites:
        if item.id == effect.falsify:
            return item
    green = [item for item in suites if item.tree == effect.tree and item.is_green]
    return green[-1] if wanted and green else None


def _id(card: str, effect: Inspect, what: str) -> str:
    return f"{card}.{what}.{effect.tree[:12]}"


def _weakening(
    context: RunContext, card: CardState, effect: Inspect, changes: tuple[Changed, ...]
) -> WeakeningReport:
    before = {change.path: _text(context, effect.base, change.path) for change in changes}
    after = {change.path: _text(context, effect.tree, change.path) for change in changes}
    return WeakeningReport(
        id=_id(card.id, effect, "weakening"),
        tree=effect.tree,
        base=effect.base,
        findings=weakenings(before, after),
    )


def _text(context: RunContext, tree: str, path: str) -> str | None:
    data = context.workspace.file_at(tree, path)
    if data is None or BINARY in data:
        return None
    return data.decode("utf-8", "replace")


def _diff(
    context: RunContext, card: CardState, effect: Inspect, changes: tuple[Changed, ...]
) -> DiffReport:
    files: list[FileChange] = []
    regions: list[str] = []
    secrets: list[str] = []
    for change in changes:
        before = context.workspace.file_at(effect.base, change.path) or b""
        after = context.workspace.file_at(effect.tree, change.path) or b""
        files.append(FileChange(change.path, change.kind, change.added, change.removed))
        if change.path not in card.released:
            regions += lost_regions(change.path, before, after)
        secrets += _secrets(context, change.path, before, after)
    return DiffReport(
        id=_id(card.id, effect, "diff"),
        tree=effect.tree,
        base=effect.base,
        files=tuple(files),
        keep_regions_touched=tuple(regions),
        secrets_added=tuple(secrets),
    )


def _secrets(context: RunContext, path: str, before: bytes, after: bytes) -> list[str]:
    known = set(before.split(b"\n"))
    found: list[str] = []
    for n, line in enumerate(after.split(b"\n"), 1):
        if line in known or BINARY in line:
            continue
        text = line.decode("utf-8", "replace")
        if context.redactor.text(text) != text:
            found.append(f"{path}:{n}")
    return found


async def _falsify(
    context: CallContext,
    effect: Inspect,
    report: SuiteReport,
    changes: tuple[Changed, ...],
) -> BaseRun:
    """Run the proving suite on the base tree with only the changed tests carried over."""
    try:
        ran = await run_on(context, effect.base, report, tests_of=effect.tree, changes=changes)
        base = ran.report
        outcome, detail = _seen(base)
        if outcome == DOUBTFUL:
            control = (await run_on(context, effect.tree, report)).report
            outcome = "red" if control.is_green else "unclear"
        elapsed = base.elapsed
    except FlyballError as error:
        outcome, detail, elapsed = "unclear", str(error), 0.0
    return BaseRun(
        id=_id(context.card, effect, "base"),
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
    count = "1 test fails" if base.failed == 1 else f"{base.failed} tests fail"
    said = f"{count} there, first {base.first_failure}"
    return "red" if base.passed else DOUBTFUL, said
