"""The lines of a proof: one for each requirement."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class ProofState(StrEnum):
    """The result of a line."""

    FOUND = "found"
    PROVED = "proved"
    SHOWN = "shown"
    FAILED = "failed"
    UNTRIED = "not tried"


class ProofLine(NamedTuple):
    """One requirement: whether it holds, what was observed, and what to do if it fails."""

    name: str
    claim: str
    state: ProofState
    seen: str = ""
    next: str = ""

    @property
    def holds(self) -> bool:
        return self.state in (ProofState.FOUND, ProofState.PROVED, ProofState.SHOWN)


class HostProof(NamedTuple):
    """All results for one host; `notes` are for the person."""

    host: str
    title: str
    program: str
    version: str
    lines: tuple[ProofLine, ...]
    notes: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Return whether nothing failed; lines that were not tried are allowed."""
        return not any(line.state is ProofState.FAILED for line in self.lines)

    @property
    def proves(self) -> bool:
        """Return whether every line was tried with the real program and holds."""
        return all(line.state in (ProofState.FOUND, ProofState.PROVED) for line in self.lines)
