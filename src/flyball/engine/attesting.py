"""Attest what a card's verdict showed, in a file next to the card's account."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from flyball.attest import (
    AttestedTree,
    SigningKey,
    Statement,
    make_statement,
    write_attestation,
)
from flyball.core.run.state import CardState, RunState
from flyball.engine.run_context import RunContext
from flyball.errors import FlyballError
from flyball.verdict.record import read_record
from flyball.workspace.cards.artifacts import artifact_path
from flyball.workspace.process import levels
from flyball.workspace.run.worktree import RunBranch
from flyball.workspace.trees.trees import REGULAR, TreeHash
from flyball.workspace.trees.writer import write_entry


def attest_card(context: RunContext, state: RunState, card: CardState, commit: str) -> Path | None:
    """Write the attestation of a card whose change was shown; None where there is none to write.

    Only what was committed exactly as it was verified is attested: merged beside other cards, or
    without files that were left behind, it is another tree.
    """
    workspace, verdict = context.workspace, card.verdict
    if verdict is None or not verdict.is_shown or not commit or workspace.branch is None:
        return None
    left = state.left_behind(card.id)
    head = workspace.leave_out(TreeHash(card.tree), TreeHash(card.base), left)
    record = read_record(workspace.directory, head)
    old, new = _attested(workspace.branch, f"{commit}^", commit)
    expand = workspace.branch.form.expand
    trees = [expand(TreeHash(each.tree)) for each in (old, new)]
    if record is None or trees != [record.base, record.head]:
        return None
    statement = make_statement(
        # What a person has accepted since belongs to it.
        msgspec.structs.replace(record, verdict=verdict),
        old,
        new,
        levels.detect_level(),
        context.redactor.text,
        run=state.run,
        request=state.request,
    )
    place = artifact_path(context.repo, state.run, card.id, ".intoto.json")
    data = _signed(context, statement)
    write_entry(context.repo, place.relative_to(context.repo).as_posix(), REGULAR, data)
    return place


def _attested(branch: RunBranch, *names: str) -> Iterator[AttestedTree]:
    for name in names:
        tree = branch.user.resolve(f"{name}^{{tree}}") or ""
        yield AttestedTree(tree, branch.user.resolve(f"{name}^{{commit}}"))


def _signed(context: RunContext, statement: Statement) -> bytes:
    """Return the attestation, signed by Flyball's own key if that can sign.

    The user's key could ask for a passphrase in the middle of a run, and no key may end one.
    """
    file = context.signing_key
    key = SigningKey(os.fspath(file), context.environ) if file and file.exists() else None
    try:
        return write_attestation(statement, key)
    except FlyballError:
        return write_attestation(statement, None)
