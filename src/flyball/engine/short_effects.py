"""Short effects other than thinking, calls and inspections, the same for every driver.

A hook that advances another process's run needs nothing more, so no tool is imported here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec.structs import replace

from flyball.attest import (
    AttestedTree,
    SigningKey,
    Statement,
    make_statement,
    write_attestation,
)
from flyball.engine.prompt.handover_text import hand_over
from flyball.engine.run_context import Committed, RunContext, card_of_effect
from flyball.errors import FlyballError, IllegalEvent
from flyball.guards.ledger import Sighting
from flyball.journal.protocol import Intention, Journal
from flyball.record.card_account import account_of
from flyball.run.effect import CloseCard, OpenWorkspace, Owed, Publish, ResetThread, RollBack
from flyball.run.event import (
    AnyEvent,
    CardClosed,
    Messaged,
    RolledBack,
    ThreadReset,
    WorkspaceFailed,
    WorkspaceReady,
)
from flyball.run.mistake import sightings
from flyball.run.state import CardState, RunState
from flyball.verdict.record import read_record
from flyball.workspace.cards.artifacts import artifact_path
from flyball.workspace.errors import DiskFull, NotWritable
from flyball.workspace.process import levels
from flyball.workspace.redaction import Redactor
from flyball.workspace.run.worktree import RunBranch
from flyball.workspace.trees.trees import REGULAR, TreeHash
from flyball.workspace.trees.writer import write_entry

KNOWN_MISTAKES = 50
"""How many mistakes of the ledger a run receives: the most recent ones."""


class ShortEffects:
    """Performs the effects of one run that need neither a driver nor a tool."""

    def __init__(self, journal: Journal, context: RunContext) -> None:
        self._journal = journal
        self.context = context

    async def perform(self, state: RunState, owed: Owed, intention: Intention) -> AnyEvent:  # noqa: ARG002
        """Return the one event that answers an effect; errors become events too."""
        match owed.effect:
            case OpenWorkspace():
                return await self._open(state)
            case RollBack() as effect:
                tree = self.context.workspace.roll_back(TreeHash(effect.tree))
                return RolledBack(tree=tree, cards=effect.cards)
            case Publish(message=message):
                return Messaged(message=message)
            case ResetThread() as effect:
                text = hand_over(state, card_of_effect(state, effect.card), effect)
                text = self.context.redactor.text(text)
                return ThreadReset(card=effect.card, reason=effect.reason, text=text)
            case CloseCard() as effect:
                card = card_of_effect(state, effect.card)
                event = await self._close(state, card, effect)
                # After the commit: a crash in between closes the card again, which finds its
                # commit, and enters the same mistakes under the same keys.
                seen = _ledger_entries(state, card, event, self.context.redactor)
                await self._journal.enter(seen)
                return event
            case effect:
                raise IllegalEvent(f"{type(effect).__name__} is not for whoever only brings on")

    async def _open(self, state: RunState) -> AnyEvent:
        known = await self._journal.mistakes(KNOWN_MISTAKES)
        try:
            project = await self.context.prepare(state.run)
            workspace = self.context.workspace
            return WorkspaceReady(
                tree=workspace.base,
                branch=self.context.branch,
                project=project,
                ledger=tuple(known),
                has_carried=workspace.has_carried,
            )
        except (DiskFull, NotWritable):
            # It passes: the effect stays owed, and `runs resume` performs it.
            raise
        except FlyballError as error:
            return WorkspaceFailed(error=str(error))

    async def _close(self, state: RunState, card: CardState, effect: CloseCard) -> CardClosed:
        log = await self._journal.events(state.run)
        account = account_of((entry.event for entry in log), card.id)
        try:
            if not card.has_changed:
                taken = Committed("", TreeHash(state.tree))
            else:
                taken = self.context.commit(card, state.left_behind(card.id))
            # The place beside the run goes last: until the artifacts are written, a crash comes
            # back here and must still find the card's tree.
            self.context.write_artifacts(state, card, effect, taken.commit, account)
            attest_card(self.context, state, card, taken.commit)
            self.context.leave(card)
        except (DiskFull, NotWritable):
            raise
        except FlyballError as error:
            return CardClosed(card=card.id, error=str(error))
        if taken.clashes:
            return CardClosed(card=card.id, error=_conflict(taken))
        tree = taken.tree if card.place else ""
        return CardClosed(card=card.id, commit=taken.commit, tree=tree)


def _conflict(taken: Committed) -> str:
    """Explain why the work of a card could not be merged with that of the others."""
    first = taken.clashes[0]
    more = f" and {len(taken.clashes) - 1} more" if len(taken.clashes) > 1 else ""
    return f"Merge conflict with another step in {first.path}{more}: {first.reason}"


def _ledger_entries(
    run: RunState, card: CardState, closed: CardClosed, redactor: Redactor
) -> tuple[Sighting, ...]:
    """Return the mistakes of a card that is being closed, with known secrets redacted."""
    return tuple(_clean_sighting(each, redactor) for each in sightings(run, card, closed))


def _clean_sighting(seen: Sighting, redactor: Redactor) -> Sighting:
    error = redactor.text(seen.failure.error)
    failure = replace(seen.failure, error=error)
    return replace(seen, failure=failure, resolution=redactor.text(seen.resolution))


def attest_card(context: RunContext, state: RunState, card: CardState, commit: str) -> Path | None:
    """Write the attestation of a card with a verified change; return None if there is nothing to
    attest.

    Only a commit of exactly the verified tree is attested: one merged with other cards, or without
    files that were left out, has another tree.
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
    """Return the attestation, signed by Flyball's own key if that is possible.

    The user's key could ask for a passphrase in the middle of a run, and a missing key must not end
    one.
    """
    file = context.signing_key
    key = SigningKey(os.fspath(file), context.environ) if file and file.exists() else None
    try:
        return write_attestation(statement, key)
    except FlyballError:
        return write_attestation(statement, None)
