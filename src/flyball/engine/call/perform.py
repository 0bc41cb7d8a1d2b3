"""Making one call: snapshot before, tool, tree hash after; nothing half done is left behind."""

from __future__ import annotations

import time
from typing import NamedTuple

from flyball.core.memory.fingerprint import digest
from flyball.core.run.effect import Perform
from flyball.core.run.event import AnyEvent, CallInterrupted, CallReturned
from flyball.core.run.state import CardState, RunState
from flyball.core.terms.call import Access, Call, Outcome
from flyball.core.terms.phase import Phase
from flyball.core.terms.tool import TOOL_ROWS
from flyball.engine.call.redact import clean_finding, discreet
from flyball.engine.run_context import RunContext
from flyball.errors import PatchError, ToolError, UsageError
from flyball.journal.protocol import Intention
from flyball.tools.call.protocol import CallContext, Form, Result, Tool, bounded
from flyball.workspace.files.path_rules import is_own
from flyball.workspace.trees.trees import SnapshotId, TreeHash


async def perform_call(
    context: RunContext,
    state: RunState,
    card: CardState,
    effect: Perform,
    tool: Tool,
    form: Form,
    intention: Intention,
) -> AnyEvent:
    """What came of an allowed call: `call-returned`, or `call-interrupted` after a crash."""
    call = effect.call
    call_context = context.call_context(
        state, card, call.id, key=intention.key, phase=effect.phase, access=call.access
    )
    if TOOL_ROWS[tool.name].leaves_tree:
        result, elapsed = await _attempt(context, tool, form, call_context)
        return _returned(context, card, call, result, elapsed, tree=card.tree)
    deed = PendingCall(
        context, card, call, effect.phase, may_modify_itself=state.policy.self_modify
    )
    # An intention alone does not show that anything was done: the process may have died before the
    # snapshot, and then the call is made as if for the first time.
    if intention.is_repeat and context.workspace.has_snapshot(intention.key):
        found = _recover(deed, tool, form, call_context)
        if found is not None:
            return found
    before = context.workspace.snapshot(intention.key)
    result, elapsed = await _attempt(context, tool, form, call_context._replace(tree=before))
    return _settle(deed, result, elapsed, before)


async def _attempt(
    context: RunContext, tool: Tool, form: Form, call_context: CallContext
) -> tuple[Result, float]:
    began = time.monotonic()
    try:
        if not TOOL_ROWS[tool.name].leaves_tree:
            context.make_shelf()
        result = await tool.perform(form, call_context)
    except (ToolError, UsageError, PatchError) as error:
        result = Result(False, str(error), error=error.code, same=str(error))
    except OSError as error:
        # Its text may name a moment or a temporary file; a guard that counts repetitions must see
        # the same trouble as the same.
        text = f"`{tool.name}` could not be done: {error}."
        result = Result(False, text, error="tool", same=[error.errno, str(error.filename)])
    return result, time.monotonic() - began


class PendingCall(NamedTuple):
    """An allowed call on its way, and what holds for what it leaves behind."""

    context: RunContext
    card: CardState
    call: Call
    phase: Phase
    may_modify_itself: bool


def _recover(
    deed: PendingCall, tool: Tool, form: Form, call_context: CallContext
) -> AnyEvent | None:
    """After a crash: a finished write is found, a half-done one undone, a command is reported."""
    workspace = deed.context.workspace
    before = workspace.snapshot(call_context.key)
    if tool.probe is not None:
        if done := tool.probe(form, call_context._replace(tree=before)):
            return _settle(deed, done, 0.0, before)
        workspace.restore(before)
        return None
    # In `execute` a command may have done half of its work for good reason, and its driver looks at
    # what there is. Elsewhere it had nothing to change.
    if deed.phase is not Phase.EXECUTE:
        workspace.restore(before)
    _, tree, _ = _without_own(deed, before)
    return CallInterrupted(card=deed.card.id, call=deed.call.id, tree=tree)


def _settle(deed: PendingCall, result: Result, elapsed: float, before: SnapshotId) -> CallReturned:
    """Undo what must not have happened; report what did."""
    context, card, call, phase, _ = deed
    own, after, paths = _without_own(deed, before)
    # A write that failed has no such reason: its half would be nobody's intention.
    is_half_done = call.access is Access.MUTATE and call.command is None and not result.ok
    if paths and (phase is not Phase.EXECUTE or is_half_done):
        context.workspace.restore(before)
        undone = (*own, *paths)
        return _returned(context, card, call, result, elapsed, tree=before, undone=undone)
    return _returned(
        context, card, call, result, elapsed, tree=after, changed=paths, undone=own, snapshot=before
    )


def _without_own(
    deed: PendingCall, before: SnapshotId
) -> tuple[tuple[str, ...], TreeHash, tuple[str, ...]]:
    """Bring Flyball's own files back, unless the run may change those.

    Gives what was brought back, the tree without it, and what else has changed.
    """
    workspace = deed.context.workspace
    after = workspace.tree_hash()
    changes = workspace.trees.changes(TreeHash(before), after)
    own = [each for each in changes if not deed.may_modify_itself and is_own(each.path)]
    if own:
        # Another undoing may have been cut off by a crash; the writer does one at a time.
        workspace.writer.finish()
        workspace.writer.perform(f"undo {deed.call.id}", [each.inverse() for each in own])
        after = workspace.tree_hash()
    paths = tuple(each.path for each in changes if each not in own)
    return tuple(each.path for each in own), after, paths


def _returned(
    context: RunContext,
    card: CardState,
    call: Call,
    result: Result,
    elapsed: float,
    *,
    tree: str,
    changed: tuple[str, ...] = (),
    undone: tuple[str, ...] = (),
    snapshot: str = "",
) -> CallReturned:
    redact = context.redactor
    text = redact.text(result.text)
    # Tools keep to the limit themselves; twice that is the most that gets into the journal.
    shown, cut = bounded(text, context.settings.max_text * 2)
    outcome = Outcome(
        ok=result.ok,
        text=shown,
        data=redact.value(result.data),
        digest=digest(result.same if result.same is not None else text),
        error=redact.text(result.error),
        elapsed=round(elapsed, 4),
        bytes=len(text.encode("utf-8", "surrogateescape")),
        cut=result.cut + cut,
        artifact=result.artifact,
        finding=clean_finding(result.finding, redact),
    )
    return CallReturned(
        card=card.id,
        call=call.id,
        outcome=outcome,
        tree=tree,
        evidence=discreet(result.evidence, redact),
        changed=changed,
        undone=undone,
        snapshot=snapshot,
    )
