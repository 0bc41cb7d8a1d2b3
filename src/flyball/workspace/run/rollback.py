"""Roll a run back to an earlier tree, and record in its history what was reverted."""

from __future__ import annotations

from collections.abc import Sequence

from flyball.workspace.run.merge_card import RunHistory, forget_merge
from flyball.workspace.run.worktree import CardRecord, CommitKind
from flyball.workspace.trees.trees import TreeHash


def roll_back_to(run: RunHistory, tree: TreeHash) -> TreeHash:
    """Bring files and history back to a tree; return the resulting tree.

    The files come first: after a crash, the history lags behind the tree, and the next attempt
    continues from there.
    """
    present = run.tree_hash()
    if present != tree:
        run.snapshot(f"before rolling back {present}")
        forget_merge(run)
        run.restore(tree)
    forget_merge(run)
    left = {path for record in run.history() for path in record.left}
    # Excluded files are in no step's tree, however long they have existed.
    goal = run.leave_out(tree, run.base, sorted(left))
    if run.committed_tree() != goal:
        _commit_reverts(run, goal)
    run.share_index()
    return run.tree_hash()


def _commit_reverts(run: RunHistory, tree: TreeHash) -> None:
    """Revert every step committed after the tree, newest first."""
    since = _steps_since(run, tree)
    # One commit per step, so that `card show` and a later revert still know which card it belongs
    # to.
    steps = _effective_steps(since) or since[-1:]
    for step in reversed(steps):
        after = tree if step is steps[0] else _tree_without(run, step)
        if step.step is CommitKind.REVERT:
            run.commit_step(
                CommitKind.APPLY, step.card, f"Apply again: {_plain_title(step)}", after
            )
        else:
            run.commit_step(CommitKind.REVERT, step.card, f"Revert: {_plain_title(step)}", after)


def _steps_since(run: RunHistory, tree: TreeHash) -> Sequence[CardRecord]:
    """Return the steps after the tree, or after the most similar one if it was never current."""
    history = run.history()
    left = [run.base, *(record.after for record in history)]
    if tree in left:
        return history[len(left) - 1 - left[::-1].index(tree) :]
    unlike = [len(run.trees.changes(each, tree)) for each in left]
    return history[len(left) - 1 - unlike[::-1].index(min(unlike)) :]


def _effective_steps(steps: Sequence[CardRecord]) -> list[CardRecord]:
    """Return the steps that no later step undid: a card reverted and reapplied cancels out."""
    unreverted: list[CardRecord] = []
    for step in steps:
        undone = [
            each
            for each in unreverted
            if each.card == step.card
            and (each.step is CommitKind.REVERT) != (step.step is CommitKind.REVERT)
        ]
        if undone:
            unreverted.remove(undone[-1])
        else:
            unreverted.append(step)
    return unreverted


def _tree_without(run: RunHistory, step: CardRecord) -> TreeHash:
    """Return the committed tree without a step's changes."""
    merged = run.trees.merge(step.after, run.committed_tree(), step.before)
    return step.before if merged.clashes else merged.tree


def _plain_title(step: CardRecord) -> str:
    return step.title.removeprefix("Revert: ").removeprefix("Apply again: ")
