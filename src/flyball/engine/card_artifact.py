"""What is written down of a card that ended: its story, told from the run's state and its tree."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from flyball.core.record.card_account import CardAccount
from flyball.core.record.pictures import pictures_of
from flyball.core.run.effect import CloseCard
from flyball.core.run.state import CardState, RunState
from flyball.core.terms.evidence import CheckReport, CommandReport, SuiteReport
from flyball.core.terms.evidence_rows import line_of, percent
from flyball.tools.call.protocol import log_file
from flyball.verdict.words import verdict_lines
from flyball.workspace.cards.artifacts import (
    CardArtifact,
    CommandRun,
    VerdictNote,
    artifact_path,
)
from flyball.workspace.files.plain import read_from
from flyball.workspace.run.workspace import Workspace
from flyball.workspace.trees.trees import TreeHash

KEPT_LOG = 4_000
"""Bytes of a command's output that a card's account holds; the rest is in its log."""


def card_artifact(
    workspace: Workspace,
    repo: Path,
    state: RunState,
    card: CardState,
    effect: CloseCard,
    account: CardAccount,
    commit: str,
) -> CardArtifact:
    """The whole story of a card, with nothing redacted yet."""
    left = state.left_behind(card.id)
    diff = workspace.diff(card.base, card.tree, without=left) if card.has_changed else b""
    changes = workspace.trees.changes(TreeHash(card.base), TreeHash(card.tree))
    return CardArtifact(
        run=state.run,
        card=card.id,
        title=card.title,
        status=f"{effect.ending} ({effect.proof})",
        commit=commit,
        before=card.base,
        after=card.tree,
        files=tuple(change.path for change in changes if change.path not in left),
        left_behind=card.made,
        diff=diff.decode("utf-8", "replace"),
        proof=proof_of(card),
        commands=tuple(_commands(repo, state, card)),
        verdicts=tuple(
            VerdictNote(ruling.gate, ruling.answer, ruling.verdict.sentence)
            for ruling in card.verdicts
        ),
        evidence=tuple(line_of(item) for item in card.evidence),
        pictures=_pictures(card),
        timings={"plan": card.clock.plan, "build": card.clock.build},
        risk=card.review.risk,
        assumptions=card.review.assumptions,
        warnings=tuple(f"changed beyond the checkpoint: {path}" for path in card.drift),
        steps=tuple(_steps(card)),
        started_at=account.began,
        ended_at=state.at,
        calls=account.calls,
        refused_calls=account.refused,
    )


def proof_of(card: CardState) -> tuple[str, ...]:
    """The words of the verdict on the card's change, if one was taken."""
    return verdict_lines(card.verdict) if card.verdict is not None else ()


def _commands(repo: Path, state: RunState, card: CardState) -> Iterator[CommandRun]:
    """What was run for the card, each with the end of its output and where the rest is."""
    shelf = artifact_path(repo, state.run, card.id, "")
    for item in card.evidence:
        if isinstance(item, SuiteReport | CheckReport | CommandReport):
            call = item.id.removeprefix(f"{card.id}.").rpartition(".")[0]
            log = shelf / log_file(call)
            end = _end_of(log)
            file = log.relative_to(repo).as_posix() if end else ""
            yield CommandRun(item.command, item.exit_code, item.elapsed, end, file)


def _steps(card: CardState) -> Iterator[str]:
    """What the card set out to do, line by line, and how it would show that it is done."""
    if point := card.checkpoint:
        yield from filter(None, map(str.strip, point.proposed_action.split("\n")))
        yield from (f"verify with {each}" for each in point.verify_with)


def _pictures(card: CardState) -> dict[str, str]:
    """Of every page the first picture and the last one: before the change, and after it."""
    found: dict[str, str] = {}
    for page in pictures_of(card):
        for what, path in page.files.items():
            when = what if card.has_changed else "as it is"
            share = f" ({percent(page.share)} of the pixels)" if what == "difference" else ""
            found[f"{page.url} {when}{share}"] = path
    return found


def _end_of(log: Path) -> str:
    """The last of what a command printed; nothing where no plain file is."""
    return read_from(log, -KEPT_LOG, KEPT_LOG).decode("utf-8", "replace")
