"""Actions on a run's cards: show, revert, reapply, merge, replay, prune."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from flyball.errors import NotFound, UsageError
from flyball.workspace.cards.artifacts import CardArtifact, mark_reverted, read_artifact
from flyball.workspace.cards.merge_run import (
    Approve,
    Checkout,
    MergeReport,
    as_files,
    merge_run,
    merged_steps,
    open_alone,
    open_checkout,
)
from flyball.workspace.cards.revert import (
    Divergence,
    Moved,
    Replayed,
    foresee_move,
    move_record,
    replay_records,
)
from flyball.workspace.run.opening import (
    find_workspace,
    forget_run,
    open_workspace,
    peek_workspace,
    unknown_run,
)
from flyball.workspace.run.snapshot import MAX_AGE, MAX_COUNT, Pruned
from flyball.workspace.run.workspace import Workspace
from flyball.workspace.run.worktree import CardRecord, CommitKind
from flyball.workspace.trees.git import find_repository
from flyball.workspace.trees.trees import Changed
from flyball.workspace.trees.writer import holds_file


class ProjectPlaces(NamedTuple):
    """The paths of a project and of its run data."""

    repo: Path
    state_dir: Path
    home: Path


class CardView(msgspec.Struct, frozen=True):
    """A card as shown to a person."""

    record: CardRecord
    changes: tuple[Changed, ...]
    diff: str
    is_reverted: bool
    artifact: CardArtifact | None


def show_card(places: ProjectPlaces, run: str, card: str) -> CardView:
    """Return one card: what it changed, its account, and whether its work is still in place."""
    if find_workspace(run, places.state_dir) is None:
        steps = _merged_steps(places, run)
        record = _pick_card(steps, run, card, places)
        with _checkout_alone(places, run) as checkout:
            return _card_view(places, checkout, record, steps)
    workspace = peek_workspace(run, places.state_dir, home=places.home)
    return _card_view(places, workspace, workspace.card(card), workspace.history())


def foresee(
    places: ProjectPlaces, run: str, card: str, step: CommitKind, paths: Sequence[str]
) -> Divergence:
    """Return what moving a card would write and lose, without changing anything."""
    place, record = _locate_card(places, run, card)
    with place:
        return foresee_move(place, record, step, paths)


def move_card(
    places: ProjectPlaces,
    run: str,
    card: str,
    step: CommitKind,
    paths: Sequence[str],
    *,
    force: bool,
) -> tuple[Moved, Path]:
    """Revert or reapply a card where its work is now: your checkout, or the worktree."""
    place, record = _locate_card(places, run, card)
    with place:
        moved = move_record(place, record, step, paths, force=force)
        is_reverted = step is CommitKind.REVERT
        mark_reverted(places.repo, run, card, is_reverted=is_reverted, paths=paths)
        return moved, place.root


def reverted_cards(places: ProjectPlaces, run: str) -> frozenset[str]:
    """Return the cards of a run whose work was reverted, wherever it is now."""
    facts = find_workspace(run, places.state_dir)
    steps: list[CardRecord] = []
    if facts is not None and Path(facts.root).is_dir():
        steps += peek_workspace(run, places.state_dir, home=places.home).history()
    # A merged card is moved in the user's branch from then on, so that has precedence.
    last = {step.card: step.step for step in (*steps, *_merged_steps(places, run))}
    return frozenset(card for card, step in last.items() if step is CommitKind.REVERT)


def merge(
    places: ProjectPlaces,
    run: str,
    *,
    remove_untracked: bool = False,
    approve: Approve = lambda _before, _after: None,
) -> MergeReport:
    """Merge a run's cards into the user's branch and checkout."""
    with (
        _open(places, run) as workspace,
        open_checkout(workspace, workspace.project, places.state_dir) as own,
    ):
        return merge_run(workspace, own, remove_untracked=remove_untracked, approve=approve)


def replay_run(places: ProjectPlaces, run: str, into: Path) -> tuple[Replayed, ...]:
    """Replay a run's cards in another directory, all or none."""
    if not into.is_dir():
        raise NotFound("directory", os.fspath(into), "Name the directory to do the cards over in.")
    into = into.resolve()
    with _open(places, run) as workspace:
        if into == workspace.root.resolve():
            raise UsageError(
                f"Run {run} worked in {into} itself.", "Name another directory with --into."
            )
        with open_checkout(workspace, into, places.state_dir) as place:
            return replay_records(place, workspace.history())


def prune(
    places: ProjectPlaces, run: str, *, max_age: float = MAX_AGE, max_count: int = MAX_COUNT
) -> Pruned:
    """Delete a run's old snapshots."""
    with _open(places, run) as workspace:
        return workspace.prune(max_age=max_age, max_count=max_count)


def abandon(places: ProjectPlaces, run: str) -> None:
    """Delete a run's worktree, branch and all its data."""
    facts = find_workspace(run, places.state_dir)
    if facts is None:
        raise unknown_run(run, places.state_dir)
    if not Path(facts.root).is_dir():
        forget_run(run, places.state_dir)
        return
    _open(places, run).remove()


def unmerged_cards(places: ProjectPlaces, run: str) -> tuple[CardRecord, ...]:
    """Return the cards that would be lost with the run."""
    facts = find_workspace(run, places.state_dir)
    if facts is None or facts.in_place or not Path(facts.root).is_dir():
        return ()
    there = {step.card for step in _merged_steps(places, run)}
    workspace = peek_workspace(run, places.state_dir, home=places.home)
    return tuple(record for record in workspace.cards() if record.card not in there)


def kept_runs(places: ProjectPlaces) -> tuple[str, ...]:
    """Return every run that has stored data."""
    return tuple(sorted(f.parent.name for f in places.state_dir.glob("runs/*/workspace.json")))


def _open(places: ProjectPlaces, run: str) -> Workspace:
    facts = find_workspace(run, places.state_dir)
    if facts is None:
        raise unknown_run(run, places.state_dir)
    project = Path(facts.project)
    return open_workspace(project, run, places.state_dir, in_place=facts.in_place, home=places.home)


def _locate_card(
    places: ProjectPlaces, run: str, card: str
) -> tuple[Workspace | Checkout, CardRecord]:
    """Return the tree that now contains a card's work (merged, the checkout), and its record."""
    facts = find_workspace(run, places.state_dir)
    if not (facts and facts.in_place):
        steps = _merged_steps(places, run)
        if facts is None or any(step.card == card for step in steps):
            return _merged_card(places, run, _pick_card(steps, run, card, places))
    workspace = _open(places, run)
    try:
        return workspace, workspace.card(card)
    except NotFound:
        workspace.close()
        raise


def _merged_card(
    places: ProjectPlaces, run: str, record: CardRecord
) -> tuple[Checkout, CardRecord]:
    """Return the user's checkout and a merged card, with what only the run's trees know about it.

    A file that the user's git does not track is in none of the branch's trees; only the run's own
    trees show that the card removed it.
    """
    facts = find_workspace(run, places.state_dir)
    if facts is None or not Path(facts.root).is_dir():
        return _alone_with(places, run, record)
    workspace = peek_workspace(run, places.state_dir, home=places.home)
    own = next((each for each in workspace.cards() if each.card == record.card), record)
    lost = [
        change
        for change in workspace.trees.changes(own.before, own.after)
        if change.path in workspace.untracked.paths
        and not holds_file(workspace.project, change.path)
    ]
    if not lost:
        return _alone_with(places, run, record)
    place = open_checkout(workspace, workspace.project, places.state_dir)
    if repository := find_repository(places.repo):
        record = as_files(record, place, repository)
    before = place.trees.overlay(record.before, {each.path: each.before for each in lost})
    after = place.trees.overlay(record.after, {each.path: each.after for each in lost})
    return place, msgspec.structs.replace(record, before=before, after=after)


def _alone_with(places: ProjectPlaces, run: str, record: CardRecord) -> tuple[Checkout, CardRecord]:
    place = _checkout_alone(places, run)
    repository = find_repository(places.repo)
    return place, as_files(record, place, repository) if repository else record


def _merged_steps(places: ProjectPlaces, run: str) -> tuple[CardRecord, ...]:
    repository = find_repository(places.repo)
    return merged_steps(repository, run, places.home) if repository else ()


def _checkout_alone(places: ProjectPlaces, run: str) -> Checkout:
    repository = find_repository(places.repo)
    if repository is None:
        raise unknown_run(run, places.state_dir)
    return open_alone(repository, run, places.state_dir, places.home)


def _pick_card(
    steps: Sequence[CardRecord], run: str, card: str, places: ProjectPlaces
) -> CardRecord:
    cards = [step for step in steps if step.step is CommitKind.CARD]
    if not cards:
        raise unknown_run(run, places.state_dir)
    for step in cards:
        if step.card == card:
            return step
    known = ", ".join(step.card for step in cards)
    raise NotFound("card", card, f"These cards of run {run} changed something: {known}.")


def _card_view(
    places: ProjectPlaces,
    place: Workspace | Checkout,
    record: CardRecord,
    steps: Sequence[CardRecord],
) -> CardView:
    diff = place.trees.diff(record.before, record.after).decode(errors="replace")
    last = [step.step for step in steps if step.card == record.card][-1]
    return CardView(
        record,
        place.trees.changes(record.before, record.after),
        diff,
        last is CommitKind.REVERT,
        read_artifact(places.repo, record.run, record.card),
    )
