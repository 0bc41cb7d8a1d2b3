"""Findings: what a tool found, as values; its text says the same for people and models."""

from __future__ import annotations

import msgspec


class ToolFinding(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True):
    """A fact that a call found in addition to its evidence."""


class Suspect(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line that may be at fault; 1 is the most suspicious a line can be."""

    path: str
    line: int
    score: float
    text: str = ""


class SuspectLines(ToolFinding, frozen=True, kw_only=True, tag="suspect-lines"):
    """The lines that failing tests run and passing ones do not, the most suspicious first."""

    lines: tuple[Suspect, ...] = ()


class HoldingChange(msgspec.Struct, frozen=True, omit_defaults=True):
    """A change with which every test passes."""

    path: str
    line: int
    template: str
    label: str
    diff: str


class CandidateSearch(ToolFinding, frozen=True, kw_only=True, tag="candidate-search"):
    """The result of trying candidate fixes; the best passing one comes first."""

    tried: int
    generated: int
    elapsed: float
    is_limited: bool = False
    """Whether there are more candidates than the most that are generated."""
    holding: tuple[HoldingChange, ...] = ()


class Match(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line that a search for text matched."""

    path: str
    line: int
    text: str = ""


class TextMatches(ToolFinding, frozen=True, kw_only=True, tag="text-matches"):
    """The matches of a text search, in the order shown."""

    shown: tuple[Match, ...] = ()


AnyFinding = SuspectLines | CandidateSearch | TextMatches
