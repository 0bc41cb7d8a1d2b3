"""Attest what a card's verdict showed, in a file next to the card's account."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from flyball.attest import AttestedTree, SigningKey, make_statement, write_attestation
from flyball.core.run.state import CardState, RunState
from flyball.engine.run_context import RunContext
from flyball.verdict.record import read_record
from flyball.workspace.cards.artifacts import artifact_path
from flyball.workspace.process import levels
from flyball.workspace.trees.trees import REGULAR, TreeHash
from flyball.workspace.trees.writer import write_entry


def attest_card(context: RunContext, state: RunState, card: CardState, commit: str) -> Path | None:
    """Write the attestation of a card whose change was shown; None where there is none to write.

    Only Flyball's own key signs here: the user's could ask for a passphrase in the middle of a run.
    """
    workspace, verdict = context.workspace, card.verdict
    if verdict is None or not verdict.is_shown or not commit or workspace.branch is None:
        return None
    left = state.left_behind(card.id)
    head = workspace.leave_out(TreeHash(card.tree), TreeHash(card.base), left)
    record = read_record(workspace.directory, head)
    if record is None:
        return None
    user = workspace.branch.user
    base, new = (
        AttestedTree(user.resolve(f"{name}^{{tree}}") or "", user.resolve(f"{name}^{{commit}}"))
        for name in (f"{commit}^", commit)
    )
    statement = make_statement(
        # What a person has accepted since belongs to it.
        msgspec.structs.replace(record, verdict=verdict),
        base,
        new,
        levels.detect_level(),
        context.redactor.text,
        run=state.run,
        request=state.request,
    )
    file = context.signing_key
    key = SigningKey(os.fspath(file), context.environ) if file and file.exists() else None
    place = artifact_path(context.repo, state.run, card.id, ".intoto.json")
    data = write_attestation(statement, key)
    write_entry(context.repo, place.relative_to(context.repo).as_posix(), REGULAR, data)
    return place
