"""Looking at a whole change: what the verdict on it is, what the gates ask, and is it clean?"""

from __future__ import annotations

from flyball.core.run.effect import Inspect
from flyball.core.run.state import CardState, RunState
from flyball.core.terms.evidence import (
    AnyEvidence,
    DiffReport,
    FileChange,
    WeakeningReport,
)
from flyball.engine.look.card_verdict import card_verdict
from flyball.engine.look.gate_looks import Gathered, gather
from flyball.engine.run_context import RunContext
from flyball.tools.call.file_facts import lost_regions
from flyball.workspace.trees.trees import Changed, TreeHash

BINARY = b"\0"


async def inspect(
    context: RunContext, state: RunState, card: CardState, effect: Inspect, key: str
) -> Gathered:
    """Everything Flyball can see for itself: about the change, and for the gates of the card."""
    changes = context.workspace.trees.changes(TreeHash(effect.base), TreeHash(effect.tree))
    seen = await gather(context, state, card, effect, key)
    found: list[AnyEvidence] = [*seen.evidence]
    if changes:
        found.append(await card_verdict(context, state, card, effect, key, seen.evidence))
    else:
        # It marks the tree as looked at, though there is nothing to compare.
        marked = WeakeningReport(
            id=_id(card.id, effect, "weakening"), tree=effect.tree, base=effect.base
        )
        found.append(marked)
    found.append(_diff(context, card, effect, changes))
    return Gathered(tuple(found), seen.undone)


def _id(card: str, effect: Inspect, what: str) -> str:
    return f"{card}.{what}.{effect.tree[:12]}"


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
