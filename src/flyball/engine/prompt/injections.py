"""Texts that a template can inject at the start of a thread, built from a run's state."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import PurePosixPath
from typing import NamedTuple

from flyball.engine.prompt.handover_text import hand_over
from flyball.engine.prompt.plan_words import (
    claim_lines,
    plan_lines,
    result_lines,
    step_of,
    step_of_card,
    step_words,
    tried,
)
from flyball.engine.run_context import RunContext
from flyball.errors import FlyballError
from flyball.guards.ledger import injection, pick_relevant
from flyball.patch import regions
from flyball.plan.library import LIBRARY
from flyball.plan.template import Role, Template
from flyball.regex import regex
from flyball.run.mistake import on_record
from flyball.run.state import CardState, RunState
from flyball.terms.evidence import VerdictReport
from flyball.terms.evidence_rows import complaint_of, current_evidence, line_of
from flyball.workspace.files.paths import Root
from flyball.workspace.run.worktree import CommitKind

MAX_TEXT = 8_000
MAX_DIFF = 20_000
KEEP_FILES = 500
KEEP_BYTES = 256_000
NOT_FOR_STEPS = frozenset({"answer", "status", "plan", "verify", "review", "D1"})
"""Templates that are no work a plan could ask for."""


class InjectionSource(NamedTuple):
    """Everything that an injection is built from."""

    run: RunState
    card: CardState
    context: RunContext
    maps: Maps


def template_in_use(card: CardState) -> Template:
    """Return the driver's current template: a reviewer has its own, whatever the card's."""
    return LIBRARY["review"] if card.is_reviewing else card.template


def injections(run: RunState, card: CardState, context: RunContext, maps: Maps) -> dict[str, str]:
    """Return the text that the template injects; a card always gets its step of the plan."""
    scene = InjectionSource(run, card, context, maps)
    wanted = template_in_use(card).injections
    found = {name: MAKERS[name](scene) for name in wanted if name in MAKERS}
    if (step := step_of(run, card)) and not card.is_reviewing:
        found["step"] = step_words(step)
    if "evidence" in wanted:
        found["claims"] = "\n".join(claim_lines(run))
    if card.template.role is Role.PLANNER:
        found["templates"] = _templates(scene)
    return {
        name: context.redactor.text(_cut(text, MAX_DIFF if name == "diff" else MAX_TEXT))
        for name, text in found.items()
        if text
    }


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    # At the end of a line, or a driver would take half a word for a name.
    kept = text[:limit].rpartition("\n")[0] or text[:limit].rpartition(" ")[0] or text[:limit]
    return f"{kept}\n({len(text) - len(kept)} more characters are left out)"


def _checkpoint(scene: InjectionSource) -> str:
    point = scene.card.checkpoint
    if point is None:
        return ""
    return (
        f"goal: {point.goal}\nfindings: {point.findings}\nproposed action: "
        f"{point.proposed_action}\nfiles: {', '.join(point.files)}\nverify with: "
        f"{', '.join(point.verify_with)}"
    )


def _diff(scene: InjectionSource) -> str:
    """Return the card's own change, or if it makes none, the change that it has to judge."""
    run, card = scene.run, scene.card
    if card.has_changed:
        base = card.base
    else:
        base = run.snapshot if card.template.role is Role.PLANNER else run.base
    if base == card.tree:
        return ""
    left = run.left_behind(card.id)
    diff = scene.context.workspace.diff(base, card.tree, without=left)
    return diff.decode("utf-8", "replace")


def _evidence(scene: InjectionSource) -> str:
    """Return the results of the steps, and what others observed of the current tree.

    What a driver observed itself is in its thread; a reviewer has a thread of its own.
    """
    run, card = scene.run, scene.card
    others = [each for each in run.cards if each.id != card.id or card.is_reviewing]
    # The verdict on the whole run is taken for the verifier's own card, before it is asked.
    own = [item for item in card.evidence if isinstance(item, VerdictReport)]
    known = (*(item for each in others for item in each.evidence), *own)
    seen = current_evidence(known, card.tree)
    lines = [f"- {line}" for line in result_lines(run, _reverted(scene))]
    for item in seen:
        line, more = line_of(item), complaint_of(item)
        lines.append(f"- {line}" if more == line else f"- {line}; {more}")
    return "\n".join(lines)


def _findings(scene: InjectionSource) -> str:
    """Return the findings of this card and of earlier cards that inspected its subject."""
    run, card = scene.run, scene.card
    execution = step_of_card(run, card)
    earlier = [
        each for each in run.cards if execution and each.id in execution.cards and each != card
    ]
    found = [each.answer for each in earlier if each.template.role is Role.RESEARCHER]
    if card.checkpoint:
        found.append(card.checkpoint.findings)
    found += [remark.text for remark in card.remarks if remark.role != Role.REVIEWER]
    return "\n".join(filter(None, found))


def _handover(scene: InjectionSource) -> str:
    """Return the result of the previous card."""
    ended = [each for each in scene.run.cards if not each.is_live and each.id != scene.card.id]
    return hand_over(scene.run, ended[-1]) if ended else ""


def _invariants(scene: InjectionSource) -> str:
    root = scene.context.root
    kept = [
        f"- {path}: keep region {region.name or '(unnamed)'}, lines {region.first}–{region.last}"
        for path in islice(root.walk(), KEEP_FILES)
        for region in regions(_content(scene, path)).found
    ]
    protected = ", ".join(root.protected)
    lines = ["These stay as they are:", *kept] if kept else []
    return "\n".join([*lines, f"These are not written to: {protected}."])


def _content(scene: InjectionSource, path: str) -> bytes:
    try:
        return scene.context.root.read_bytes(path, KEEP_BYTES)
    except FlyballError:
        return b""


def _issues(scene: InjectionSource) -> str:
    run = scene.run
    issues = [str(issue) for issue in run.coordinator.issues] if run.coordinator else []
    lines = [f"- {each}" for each in issues]
    if attempts := tried(run):
        lines += ["What was tried:", *(f"- {each}" for each in attempts)]
    return "\n".join(lines)


def _ledger(scene: InjectionSource) -> str:
    """Return earlier mistakes, chosen when a thread begins, so that its opening does not change."""
    run, card = scene.run, scene.card
    ledger = on_record(run, card)
    if not ledger:
        return ""
    text = f"{run.request}\n{card.title}"
    if step := step_of(run, card):
        text += f"\n{step_words(step)}"
    known = dict.fromkeys(file for mistake in ledger for file in mistake.files)
    named = [file for file in known if _names(text, file)]
    if card.checkpoint and card.attempt > 1:
        named += card.checkpoint.files
    kind = card.template.step_id if card.template.may_mutate else ""
    picked = pick_relevant(ledger, failures=card.failures, step_kind=kind, files=named, about=text)
    return injection(picked)


def _names(text: str, file: str) -> bool:
    """Return whether a text mentions a file, by its path or its name."""
    name = re.escape(file.rpartition("/")[2])
    return re.search(rf"(?<![\w.-]){name}(?![\w-])", text) is not None


def _plan(scene: InjectionSource) -> str:
    lines = plan_lines(scene.run, scene.card, _reverted(scene))
    return "\n".join(f"- {line}" for line in lines)


def _reverted(scene: InjectionSource) -> frozenset[str]:
    """Return the cards that a person reverted while the run was paused."""
    if not any(card.commit for card in scene.run.cards):
        return frozenset()
    last = {step.card: step.step for step in scene.context.workspace.history()}
    return frozenset(card for card, step in last.items() if step is CommitKind.REVERT)


def _repo_map(scene: InjectionSource) -> str:
    return scene.maps.of(scene.card.base, scene.context.root)


def _templates(scene: InjectionSource) -> str:
    own = [(each.step_id, each.objective) for each in scene.run.templates]
    built_in = [
        (name, each.objective) for name, each in LIBRARY.items() if name not in NOT_FOR_STEPS
    ]
    return "\n".join(f"- `{name}`: {objective}" for name, objective in (*own, *built_in))


def _verdicts(scene: InjectionSource) -> str:
    return "\n".join(f"- {line}" for line in _rulings(scene.run, scene.card))


def _rulings(run: RunState, card: CardState) -> Iterator[str]:
    """Yield the reason why this card last failed, or the card that it diagnoses."""
    execution = step_of_card(run, card)
    failed = run.card(execution.failed) if execution else None
    judged = failed or card
    yield from map(str, judged.verdicts)
    if failed is not None and failed.ending_reason:
        yield failed.ending_reason


MAKERS: dict[str, Callable[[InjectionSource], str]] = {
    "checkpoint": _checkpoint,
    "diff": _diff,
    "evidence": _evidence,
    "findings": _findings,
    "handover": _handover,
    "invariants": _invariants,
    "issues": _issues,
    "ledger": _ledger,
    "plan": _plan,
    "repo_map": _repo_map,
    "verdicts": _verdicts,
}


MAP_FILES = 200
MAP_CHARS = 6_000
FILE_BYTES = 64_000
FILE_SYMBOLS = 6
MAPS_KEPT = 8
ASIDE = frozenset(
    {"docs", "doc", "examples", "example", "samples", "demo", "demos", "vendor", "third_party"}
    | {"locale", "locales", "fixtures", "assets", "static", "images", ".github"}
)
"""Folders at the top that are counted and not listed."""

_C_LIKE = regex(
    r"^(?:export +)?(?:default +)?(?:pub(?:\([a-z]+\))? +|public +|abstract +|final +|async +)*"
    r"(?:class|interface|struct|enum|trait|type|func|fn|function|const|mod|module|object) +\*?"
    r"(?:\([^)]*\) *)?([A-Za-z_$][\w$]*)",
    re.MULTILINE,
)
_PYTHON = regex(r"^(?:async +)?(?:class|def) +(\w+)", re.MULTILINE)
_RUBY = regex(r"^ *(?:class|module|def) +([\w.:?!]+)", re.MULTILINE)
SYMBOLS: dict[str, re.Pattern[str]] = {
    ".py": _PYTHON,
    ".rb": _RUBY,
    **dict.fromkeys(
        (".js", ".mjs", ".jsx", ".ts", ".tsx", ".go", ".rs", ".java", ".kt", ".swift", ".php"),
        _C_LIKE,
    ),
}


class Maps:
    """Draws each tree once, because the opening of a thread must not change."""

    def __init__(self) -> None:
        self._drawn: dict[str, str] = {}

    def of(self, tree: str, root: Root) -> str:
        """Return the map of the tree with which a card began."""
        if tree not in self._drawn:
            # Cards side by side begin with different trees; older ones do not come back.
            while len(self._drawn) >= MAPS_KEPT:
                del self._drawn[next(iter(self._drawn))]
            self._drawn[tree] = draw(root)
        return self._drawn[tree]


def draw(root: Root) -> str:
    """Return one line per file, with symbols while there is room."""
    lines: list[str] = []
    room, left_out = MAP_CHARS, 0
    aside: Counter[str] = Counter()
    for path in root.walk():
        if folder := _aside(path):
            aside[folder] += 1
            continue
        if len(lines) >= MAP_FILES or len(path) > room:
            left_out += 1
            continue
        names = symbols(root, path) if room > MAP_CHARS // 4 else ""
        line = f"{path}: {names}" if names else path
        room -= len(line) + 1
        lines.append(line)
    more = [f"{folder}/ ({n} files)" for folder, n in aside.items()]
    more += [f"(and {left_out} more files)"] if left_out else []
    return "\n".join([*lines, *more])


def _aside(path: str) -> str:
    """Return the directory of a file that only shows how to use the project, such as an example."""
    first, slash, _ = path.partition("/")
    return first if slash and first.lower() in ASIDE else ""


def symbols(root: Root, path: str) -> str:
    """Return the top-level definitions of a source file; empty if there are none."""
    pattern = SYMBOLS.get(PurePosixPath(path).suffix)
    if pattern is None:
        return ""
    try:
        text = root.read_bytes(path, FILE_BYTES).decode("utf-8", "replace")
    except FlyballError:
        return ""
    return ", ".join([*dict.fromkeys(pattern.findall(text))][:FILE_SYMBOLS])
