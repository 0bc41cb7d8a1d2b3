"""What a proof says: one line for each thing that must hold."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class ProofState(StrEnum):
    """How a line came out."""

    FOUND = "found"
    PROVED = "proved"
    SHOWN = "shown"
    FAILED = "failed"
    UNTRIED = "not tried"


class ProofLine(NamedTuple):
    """One thing that must hold: whether it does, what was seen, and what to do where it fails."""

    name: str
    claim: str
    state: ProofState
    seen: str = ""
    next: str = ""

    @property
    def holds(self) -> bool:
        return self.state in (ProofState.FOUND, ProofState.PROVED, ProofState.SHOWN)


class HostProof(NamedTuple):
    """Everything that was tried with one host; `notes` are what a person should know besides."""

    host: str
    title: str
    program: str
    version: str
    lines: tuple[ProofLine, ...]
    notes: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether nothing that was tried failed; `proves` says whether everything was tried."""
        return not any(line.state is ProofState.FAILED for line in self.lines)

    @property
    def proves(self) -> bool:
        """Whether every line was tried with the real program, and holds."""
        return all(line.state in (ProofState.FOUND, ProofState.PROVED) for line in self.lines)
