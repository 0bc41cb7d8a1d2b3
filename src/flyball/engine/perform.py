"""Make one call: snapshot before, tool, tree hash after. Nothing is left half done."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Container, Iterable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, NamedTuple, TypeVar, cast

import msgspec

from flyball.engine.telemetry import about_call
from flyball.errors import PatchError, ToolError, UsageError
from flyball.run.event import AnyEvent, CallInterrupted, CallReturned
from flyball.terms.call import Access, Call, Outcome, digest
from flyball.terms.evidence import AnyEvidence
from flyball.terms.phase import Phase
from flyball.terms.progress import Progress
from flyball.terms.tool import COMMANDS, TOOL_ROWS
from flyball.tools.call.facts import why_out_of_bounds
from flyball.tools.call.protocol import CallContext, Form, Result, Tool, bounded
from flyball.verdict.part import is_within
from flyball.verdict.runners.pace import telling
from flyball.workspace.files.path_rules import is_own, reads_hooks_from, why_protected
from flyball.workspace.files.paths import relative_paths
from flyball.workspace.redaction import Redactor
from flyball.workspace.run.watch import NOTHING_TAKEN_BACK, PACKAGES, begin_watch, end_watch
from flyball.workspace.run.workspace import Workspace
from flyball.workspace.trees.trees import (
    Changed,
    ChangeKind,
    SnapshotId,
    TreeHash,
)

NAMES = frozenset({"type", "id", "tree", "base", "report"})
"""Fields that hold names; they are used for lookups, so they must not be redacted."""

TELLING = frozenset({"test", "check"})
"""These tools tell by themselves how far they are."""
LONGEST_WHAT = 80
NAMED = 5
"""So many files are named where there may be thousands."""

S = TypeVar("S", bound=msgspec.Struct)


async def perform_call(
    context: CallContext, call: Call, tool: Tool, form: Form, *, is_repeat: bool
) -> AnyEvent:
    """Return the result of an allowed call; one begun before a crash is probed first."""
    if TOOL_ROWS[tool.name].leaves_tree:
        result, elapsed = await _attempt(call, tool, form, context)
        return _returned(context, call, result, elapsed, _TreeEffects(TreeHash(context.tree)))
    # An intention alone does not show that anything was done: the process may have died before
    # the snapshot, and then the call is made as if for the first time.
    if is_repeat and context.workspace.has_snapshot(context.key):
        found = _recover(context, call, tool, form)
        if found is not None:
            return found
    before = context.workspace.snapshot(context.key)
    if TOOL_ROWS[tool.name].starts_process and context.workspace.in_place:
        context.workspace.untracked.hold_unkept(TreeHash(before))
    if TOOL_ROWS[tool.name].starts_process:
        # A package manager is started by a command; a test has nothing to install.
        with_packages = tool.name not in COMMANDS
        tree = TreeHash(before)
        begin_watch(context.workspace, context.root, tree, with_packages=with_packages)
    result, elapsed = await _attempt(call, tool, form, context._replace(tree=before))
    return _settle(context, call, result, elapsed, before)


async def settle_foreign(
    context: CallContext,
    call: Call,
    result: Result,
    changed_elsewhere: Callable[[], Awaitable[Container[str]]],
) -> CallReturned:
    """Return the result of a call that a host made itself, after the snapshot with its key.

    A host's hook configuration is always restored. In a read-only phase all changes are reverted,
    except those explained by another session in the same checkout.
    """
    before = context.workspace.snapshot(context.key)
    # What a host's shell makes is the work of its agent; there is no other tool that it should use.
    left = _restore_forbidden(context, call, before)._replace(created=())
    builds = context.phase is Phase.EXECUTE
    # Asked only where it matters: to know of all the others costs as much as the rest of a look.
    theirs = await changed_elsewhere() if left.changed and not builds else ()
    mine = [
        path for path in left.changed if reads_hooks_from(path) or not (builds or path in theirs)
    ]
    if mine:
        left = left._replace(
            tree=restore_paths(context.workspace, TreeHash(before), mine),
            changed=tuple(path for path in left.changed if path not in mine),
            undone=(*left.undone, *mine),
        )
    if builds:
        return _returned(context, call, result, 0.0, left, snapshot=before)
    return _returned(context, call, result, 0.0, left._replace(changed=()))


def restore_paths(workspace: Workspace, tree: TreeHash, paths: Container[str]) -> TreeHash:
    """Restore these files from a tree; return the resulting tree."""
    changes = workspace.trees.changes(tree, workspace.tree_hash())
    workspace.writer.finish()
    back = [each.inverse() for each in changes if each.path in paths]
    workspace.writer.perform("revert what no allowed call explains", back)
    return workspace.tree_hash()


async def _attempt(
    call: Call, tool: Tool, form: Form, context: CallContext
) -> tuple[Result, float]:
    began = time.monotonic()
    try:
        async with _watched(call, context):
            result = await tool.perform(form, context)
    except (ToolError, UsageError, PatchError) as error:
        result = Result(False, str(error), error=error.code, same=str(error))
    except OSError as error:
        # Its text may name a moment or a temporary file; a guard that counts repetitions must see
        # the same trouble as the same.
        text = f"`{tool.name}` could not be done: {error}."
        result = Result(False, text, error="tool", same=[error.errno, str(error.filename)])
    return result, time.monotonic() - began


@asynccontextmanager
async def _watched(call: Call, context: CallContext) -> AsyncGenerator[None]:
    """Report how long a call takes, unless the call reports progress itself."""
    if call.tool in TELLING or not TOOL_ROWS[call.tool].starts_process:
        yield
        return
    what = f"{call.tool} {about_call(call)}"[:LONGEST_WHAT].rstrip()
    async with telling(context.tell_progress, partial(Progress, what)):
        yield


def _recover(context: CallContext, call: Call, tool: Tool, form: Form) -> AnyEvent | None:
    """Return the result of a call that a crash interrupted, or None if it must be made again.

    A finished write is detected; a half-done one is undone and repeated. A command is never started
    twice, since its effects outside the tree are unknown: it is reported as interrupted.
    """
    workspace = context.workspace
    before = workspace.snapshot(context.key)
    if tool.probe is not None:
        if done := tool.probe(form, context._replace(tree=before)):
            return _settle(context, call, done, 0.0, before)
        workspace.restore(before)
        return None
    # In `execute` a command may have done half of its work for good reason, and its driver looks at
    # what there is. Elsewhere it had nothing to change.
    if context.phase is not Phase.EXECUTE:
        workspace.restore(before)
    left = _restore_forbidden(context, call, before)
    return CallInterrupted(
        card=context.card,
        call=call.id,
        tree=left.tree,
        put_back=left.put_back,
        created=left.created,
    )


class _TreeEffects(NamedTuple):
    """The effects of a call after every forbidden change was reverted."""

    tree: TreeHash
    changed: tuple[str, ...] = ()
    undone: tuple[str, ...] = ()
    put_back: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    """The user's files that could not be put back, because they were too large to keep."""
    created: tuple[str, ...] = ()
    """What a program made that was not there before, under any name."""
    unreverted: tuple[str, ...] = ()
    """What may not be there and could not be taken away."""
    beyond: tuple[str, ...] = ()
    """The user's ignored files that are too many or too large to be copied."""


def _settle(
    context: CallContext, call: Call, result: Result, elapsed: float, before: SnapshotId
) -> CallReturned:
    """Undo forbidden changes, and report the others."""
    left = _restore_forbidden(context, call, before)
    # A write that failed has no such reason: its half would be nobody's intention.
    is_half_done = call.access is Access.MUTATE and call.command is None and not result.ok
    if left.changed and (context.phase is not Phase.EXECUTE or is_half_done):
        context.workspace.restore(before)
        undone = (*left.undone, *left.changed)
        left = left._replace(tree=TreeHash(before), changed=(), undone=undone, created=())
        return _returned(context, call, result, elapsed, left)
    return _returned(context, call, result, elapsed, left, snapshot=before)


def _restore_forbidden(context: CallContext, call: Call, before: SnapshotId) -> _TreeEffects:
    """Restore Flyball's own files, and user's files that the call was not allowed to touch."""
    workspace = context.workspace
    # First of all: git would wait for ever for a pipe that has the name of one of its files.
    row = TOOL_ROWS.get(call.tool)
    is_watched = row is not None and row.starts_process
    undone = end_watch(workspace, context.may_replace) if is_watched else NOTHING_TAKEN_BACK
    after = workspace.tree_hash()
    changes = workspace.trees.changes(TreeHash(before), after)
    lost = [each for each in changes if _loses_users_work(context, each)]
    # A file too large for a tree comes back by its second name, if it was only deleted.
    held = [c for c in lost if c.after is None and workspace.untracked.restore_from_link(c.path)]
    workspace.untracked.remove_links()
    kept = [
        each
        for each in lost
        if each in held or (each.before and workspace.trees.is_kept(each.before.blob))
    ]
    own = [
        each
        for each in changes
        if each not in lost
        and (
            _blocks_restoring(each, kept)
            or _is_in_one(each.path, undone.gone)
            or _is_forbidden(context, call, each)
        )
    ]
    if own or lost:
        # Another undoing may have been cut off by a crash; the writer does one at a time.
        workspace.writer.finish()
        back = [each.inverse() for each in (*own, *lost) if each not in held]
        workspace.writer.perform(f"undo {call.id}", back)
        after = workspace.tree_hash()
    return _TreeEffects(
        after,
        tuple(each.path for each in changes if each not in own and each not in lost),
        tuple(dict.fromkeys((*undone.gone, *(each.path for each in own)))),
        (*(each.path for each in kept), *undone.put_back),
        (*(each.path for each in lost if each not in kept), *undone.lost),
        _created(context, call, [c for c in changes if c not in own and c not in lost]),
        tuple(path for path in undone.left if not _is_in_one(path, [c.path for c in own])),
        undone.beyond,
    )


def _is_in_one(path: str, places: Iterable[str]) -> bool:
    return any(is_within(path, place) for place in places)


def _created(context: CallContext, call: Call, changes: list[Changed]) -> tuple[str, ...]:
    """Return the files that a program created, without files that it only moved."""
    row = TOOL_ROWS.get(call.tool)
    if row is None or not row.starts_process:
        return ()
    worked_on = [change for change in changes if change.path not in context.made]
    moved = context.workspace.trees.moved_files(worked_on)
    fresh = [each.path for each in changes if each.kind is ChangeKind.ADDED]
    return tuple(path for path in fresh if path not in moved)


def _is_forbidden(context: CallContext, call: Call, change: Changed) -> bool:
    """Return whether nothing may write this path: Flyball's own files, files protected from
    programs at any depth, a link that leads out, and files outside the user's list."""
    path = change.path
    if is_own(path) and not context.self_modify:
        return True
    row = TOOL_ROWS.get(call.tool)
    # A host's own shell does what its person lets it do; what it may never touch is seen to there.
    if row and row.starts_process and not call.called:
        rules = [each for each in context.root.protected if each != PACKAGES]
        if why_protected(path.split("/"), rules):
            return True
    # A suite writes where it must; a command is the same as an edit, and no way around the list.
    return call.tool in COMMANDS and bool(why_out_of_bounds(path, context))


def _loses_users_work(context: CallContext, change: Changed) -> bool:
    """Return whether a user's uncommitted file was removed or overwritten without permission."""
    return (
        change.before is not None
        and change.path in context.workspace.untracked.paths
        and not context.may_replace(change.path)
    )


def _blocks_restoring(change: Changed, lost: list[Changed]) -> bool:
    """Return whether a file is in place of a lost one's directory, or below a directory of its
    name."""
    return any(
        each.path.startswith(f"{change.path}/") or change.path.startswith(f"{each.path}/")
        for each in lost
    )


def _with_snapshot(data: dict[str, object], call: Call, snapshot: str) -> dict[str, object]:
    """Return the snapshot that an edit's answer names, so that `flyball undo` finds it."""
    is_edit = snapshot and call.access is Access.MUTATE
    return {**data, "snapshotId": snapshot} if is_edit else data


def _with_losses(text: str, left: _TreeEffects) -> str:
    if left.gone:
        names = ", ".join(left.gone)
        text += f"\n[{names}: the user's, not in git, and too large to restore. Tell them.]"
    if left.unreverted:
        names = ", ".join(left.unreverted)
        text += f"\n[{names}: may not be changed, and could not be restored. Tell the user.]"
    if left.beyond:
        more = f" and {len(left.beyond) - NAMED} more" if len(left.beyond) > NAMED else ""
        names = ", ".join(left.beyond[:NAMED]) + more
        text += (
            f"\n[{names}: the user's, ignored by git, and too large or too many to be copied. What "
            "a program writes into them cannot be put back.]"
        )
    return text


def _returned(
    context: CallContext,
    call: Call,
    result: Result,
    elapsed: float,
    left: _TreeEffects,
    snapshot: str = "",
) -> CallReturned:
    """Return the event of a finished call, with known secrets redacted."""
    redactor = context.redactor
    text = redactor.text(relative_paths(_with_losses(result.text, left), context.root.path))
    # Tools keep to the limit themselves; twice that is the most that gets into the journal.
    shown, cut = bounded(text, context.settings.max_text * 2)
    outcome = Outcome(
        ok=result.ok,
        text=shown,
        data=_with_snapshot(redactor.value(result.data), call, snapshot),
        digest=digest(result.same if result.same is not None else text),
        error=redactor.text(result.error),
        elapsed=round(elapsed, 4),
        bytes=len(text.encode("utf-8", "surrogateescape")),
        cut=result.cut + cut,
        artifact=result.artifact,
        finding=result.finding and redact_struct(result.finding, redactor),
    )
    return CallReturned(
        card=context.card,
        call=call.id,
        outcome=outcome,
        tree=left.tree,
        evidence=redact_evidence(result.evidence, redactor),
        changed=left.changed,
        undone=left.undone,
        snapshot=snapshot,
        put_back=left.put_back,
        created=left.created,
    )


def redact_evidence(evidence: Iterable[AnyEvidence], redactor: Redactor) -> tuple[AnyEvidence, ...]:
    """Redact known secrets in observations, before they are journaled."""
    return tuple(redact_struct(item, redactor) for item in evidence)


def redact_struct(item: S, redactor: Redactor) -> S:
    """Return the same value with secrets redacted; unchanged values are returned as they are."""
    found = msgspec.to_builtins(item)
    cleaned = {
        name: value if name in NAMES else _redact_value(value, redactor.text)
        for name, value in found.items()
    }
    # Most hold no secret, and converting costs more than comparing.
    return item if cleaned == found else msgspec.convert(cleaned, type(item))


def _redact_value(value: Any, clean: Callable[[str], str]) -> Any:
    match value:
        case str():
            return clean(value)
        case tuple():
            return tuple(_redact_value(each, clean) for each in cast(tuple[Any, ...], value))
        case list():
            return [_redact_value(each, clean) for each in cast(list[Any], value)]
        case dict():
            return {k: _redact_value(v, clean) for k, v in cast(dict[str, Any], value).items()}
        case _:
            return value
