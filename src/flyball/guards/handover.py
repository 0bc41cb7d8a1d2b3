"""Thread reset: when a thread is no longer worth keeping, and what the next one starts from."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import msgspec

DEFAULT_CAP = 6000
BLOATED_AT = 0.8
"""The share of the context window at which a thread counts as bloated."""

CUT = "…"


def should_reset(
    context_tokens: int = 0,
    context_limit: int = 0,
    ledger_match: str = "",
    replanned: bool = False,
    hard_guard: str = "",
) -> str | None:
    """Return why the card should continue in a new thread, or None; the strongest reason wins."""
    if hard_guard:
        return f"the {hard_guard} guard stopped this thread"
    if ledger_match:
        return f"the thread repeated a mistake that is in the ledger: {ledger_match}"
    if replanned:
        return "the plan has changed and the thread still argues for the old one"
    if context_limit > 0 and context_tokens >= context_limit * BLOATED_AT:
        return f"the thread fills {context_tokens} of {context_limit} tokens"
    return None


class HandOver(msgspec.Struct, frozen=True, omit_defaults=True):
    """The facts that a new thread needs."""

    goal: str
    reason: str = ""
    plan: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    open_issues: tuple[str, ...] = ()
    do_not_repeat: tuple[str, ...] = ()
    words: str = ""
    """What a person said about the card."""


def handover(facts: HandOver, cap: int = DEFAULT_CAP) -> str:
    """Return the text a new thread starts from, at most `cap` characters unless the goal is longer.

    The goal and a person's words are never cut. When space is short every section keeps its newest
    entries (the plan its first) and says how many were omitted.
    """
    head = f"# Hand-over\n\n## Goal\n{facts.goal.strip()}\n"
    if words := facts.words.strip():
        head += f"\n## A person says\n{words}\n"
    why = f"\nThis thread is new because {facts.reason}.\n"
    if facts.reason and len(head) + len(why) <= cap:
        head += why
    sections = (
        HandoverSection("Plan", facts.plan, newest_last=False),
        HandoverSection("Done", facts.done),
        HandoverSection("Evidence", facts.evidence),
        HandoverSection("Open issues", facts.open_issues),
        HandoverSection("Do not repeat", facts.do_not_repeat),
    )
    return head + "".join(_fit([s for s in sections if s.entries], cap - len(head)))


class HandoverSection(msgspec.Struct, frozen=True):
    """One list of the hand-over; a plan is cut at its end, other lists at their start."""

    title: str
    entries: tuple[str, ...]
    newest_last: bool = True


def _fit(sections: Sequence[HandoverSection], room: int) -> list[str]:
    """Add one entry of every section in turn, warnings before achievements, while they fit."""
    counts = [0] * len(sections)
    texts = [""] * len(sections)
    growing = set(range(len(sections)))
    while growing:
        for index in sorted(growing, reverse=True):
            longer = _render(sections[index], counts[index] + 1)
            others = sum(map(len, texts)) - len(texts[index])
            if len(longer) + others > room:
                growing.discard(index)
                continue
            texts[index] = longer
            counts[index] += 1
            if counts[index] == len(sections[index].entries):
                growing.discard(index)
    return texts


ENTRY_CAP = 400


def _render(section: HandoverSection, count: int) -> str:
    entries = section.entries
    shown = entries[-count:] if section.newest_last else entries[:count]
    left_out = len(entries) - count
    lines = [f"- {_short(entry)}" for entry in shown]
    if left_out and section.newest_last:
        lines.insert(0, f"- ({left_out} earlier left out)")
    elif left_out:
        lines.append(f"- ({left_out} later left out)")
    return f"\n## {section.title}\n" + "\n".join(lines) + "\n"


def _short(entry: str) -> str:
    line = " ".join(entry.split())
    return line if len(line) <= ENTRY_CAP else line[: ENTRY_CAP - 1] + CUT


class RunnerVerb(StrEnum):
    """The actions of a person who copies between Flyball and a chat window by hand."""

    COPY_TO_CLIPBOARD = "COPY_TO_CLIPBOARD"
    NEW_THREAD = "NEW_THREAD"
    PASTE_PROMPT = "PASTE_PROMPT"
    SEND_PROMPT = "SEND_PROMPT"


class RunnerAction(msgspec.Struct, frozen=True, omit_defaults=True):
    """One such action, with the text it concerns."""

    action: RunnerVerb
    text: str = ""


def runner_actions(text: str) -> tuple[RunnerAction, ...]:
    """Return the actions that carry a hand-over into a new chat thread, in order."""
    return (
        RunnerAction(RunnerVerb.COPY_TO_CLIPBOARD, text),
        RunnerAction(RunnerVerb.NEW_THREAD),
        RunnerAction(RunnerVerb.PASTE_PROMPT, text),
        RunnerAction(RunnerVerb.SEND_PROMPT),
    )
