"""Inspect a whole change: the verdict on it, the gates' questions, and whether it is clean."""

from __future__ import annotations

import time

from flyball.engine.look.gate_looks import Gathered, gather
from flyball.engine.run_context import RunContext
from flyball.plan.gate import GATES, judge_all
from flyball.plan.verdict import Case, Passed
from flyball.run.effect import Inspect
from flyball.run.state import CardState, RunState
from flyball.terms.call import Access
from flyball.terms.evidence import (
    AnyEvidence,
    CheckReport,
    DiffReport,
    FileChange,
    SuiteReport,
    VerdictReport,
    WeakeningReport,
)
from flyball.terms.evidence_rows import current_evidence, is_failing, verification_key
from flyball.terms.phase import Phase
from flyball.tools.call.facts import lost_regions
from flyball.verdict.named import asked_for
from flyball.verdict.take import Wanted, take_verdict
from flyball.workspace.trees.trees import Changed, TreeHash

BINARY = b"\0"


async def inspect(
    context: RunContext, state: RunState, card: CardState, effect: Inspect, key: str
) -> Gathered:
    """Observe all that Flyball can see for itself: about the change, and for the gates of the
    card."""
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


async def card_verdict(
    context: RunContext,
    state: RunState,
    card: CardState,
    effect: Inspect,
    key: str,
    seen: tuple[AnyEvidence, ...] = (),
) -> VerdictReport:
    """Return Flyball's verdict on a card's change, from its own runs on clean checkouts."""
    began = time.monotonic()
    call = context.call_context(
        state, card, "verdict", key=key, phase=Phase.VERIFY, access=Access.VERIFY
    )
    promised = card.checkpoint
    words = (promised.goal, promised.findings, promised.proposed_action) if promised else ()
    asked = asked_for(state.request, words, state.intent, wants_red=effect.wants_red)
    red = [item for item in card.evidence if is_failing(item)]
    left = state.left_behind(card.id)
    # What would be committed is judged: files that only commands made are no part of it.
    head = context.workspace.leave_out(TreeHash(effect.tree), TreeHash(effect.base), left)
    wanted = Wanted(
        effect.base,
        head,
        asked._replace(shown=is_shown(card, effect, seen), decided=state.decided),
        verify_with=promised.verify_with if promised else (),
        red_parts=frozenset([item.part for item in red if isinstance(item, SuiteReport)]),
        red_checks=tuple(
            dict.fromkeys([item.command for item in red if isinstance(item, CheckReport)])
        ),
        left_behind=tuple(sorted(left)),
        began=context.began,
    )
    verdict = await take_verdict(call, wanted)
    return VerdictReport(
        id=f"{card.id}.verdict.{effect.tree[:12]}",
        tree=effect.tree,
        elapsed=round(time.monotonic() - began, 3),
        base=effect.base,
        verdict=verdict,
    )


def is_shown(card: CardState, effect: Inspect, seen: tuple[AnyEvidence, ...]) -> bool:
    """Return whether the work was observed: by a gate that Flyball ran, or on its own server.

    Only a server that Flyball started from this exact tree counts. No observation may have found a
    fault, and a fault found earlier must be observed again.
    """
    evidence = (*card.evidence, *seen)
    case = Case(evidence, effect.tree, effect.base, card.claims)
    judged = judge_all(card.template, case)
    if any(GATES[use.type].looks and isinstance(passed, Passed) for use, passed in judged):
        return True
    own = [each for each in evidence if getattr(each, "own", False)]
    now = current_evidence(own, effect.tree)
    broken = {verification_key(each) for each in own if is_failing(each)}
    is_seen_again = broken <= {verification_key(each) for each in now}
    return bool(now) and is_seen_again and not any(map(is_failing, now))
