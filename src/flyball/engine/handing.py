"""The hand-over that a new thread starts from, gathered from a run's state."""

from __future__ import annotations

from flyball.core.handover import HandOver, handover
from flyball.core.state import CardState, RunState
from flyball.engine.station import Station

MAX_DIFF = 20_000
MAP_FILES = 200


def injections(card: CardState, station: Station) -> dict[str, str]:
    """What a template may have put into the opening of a thread."""
    wanted = card.template.injections
    found: dict[str, str] = {}
    if "findings" in wanted or card.remarks:
        found["findings"] = "\n".join(remark.text for remark in card.remarks if remark.text)
    if "diff" in wanted or card.is_reviewing:
        diff = station.workspace.diff(card.base, card.tree) if card.has_changed else b""
        found["diff"] = diff.decode("utf-8", "replace")[:MAX_DIFF]
    if "repo_map" in wanted:
        paths = [path for path, _ in zip(station.root.walk(), range(MAP_FILES), strict=False)]
        found["repo_map"] = "\n".join(paths)
    return found


def hand_over(run: RunState, card: CardState, reason: str) -> str:
    """Goal, plan, what is done and seen, and what not to do again."""
    point = card.checkpoint
    plan = (point.proposed_action, f"verify with {', '.join(point.verify_with)}") if point else ()
    done = [f"changed {path} beyond the checkpoint" for path in card.drift]
    if card.has_changed:
        done.insert(0, "the workspace differs from where the card began; read before you edit")
    facts = HandOver(
        goal=point.goal if point else run.request,
        reason=reason,
        plan=plan,
        done=tuple(done) + tuple(remark.text for remark in card.remarks if remark.text),
        evidence=(f"the present tree: {card.proof.label}",),
        open_issues=(card.question.text,) if card.question else (),
        do_not_repeat=tuple(f"`{denial.tool}`: {denial.reason}" for denial in card.denials),
    )
    return handover(facts)
