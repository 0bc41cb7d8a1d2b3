"""What a gate answers. No evidence is not a failure: the two are told apart everywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from flyball.core.flow.template import EvidenceSchema
from flyball.core.terms.evidence import Evidence, TreeHash


class Passed(msgspec.Struct, frozen=True, tag="passed"):
    """What had to hold does hold."""

    sentence: str = ""


class Failed(msgspec.Struct, frozen=True, omit_defaults=True, tag="failed"):
    """What had to hold does not; with `is_trouble` it could not be seen to its end."""

    sentence: str
    is_trouble: bool = False


class Missing(msgspec.Struct, frozen=True, omit_defaults=True, tag="missing"):
    """Nobody has looked yet, or not at the present tree; with `is_trouble` nobody could."""

    sentence: str
    is_trouble: bool = False


Verdict = Passed | Failed | Missing


class Ruling(msgspec.Struct, frozen=True):
    """What one gate of a card said when it was last asked."""

    gate: str
    verdict: Verdict

    @property
    def has_passed(self) -> bool:
        return isinstance(self.verdict, Passed)

    @property
    def answer(self) -> str:
        """Passed, failed or missing."""
        return type(self.verdict).__name__.lower()

    def __str__(self) -> str:
        return f"{self.gate}: {self.answer}. {self.verdict.sentence}".rstrip()


class Case(NamedTuple):
    """All that is brought before a gate: what Flyball observed, and what the driver claims."""

    evidence: Sequence[Evidence]
    tree: TreeHash
    base: TreeHash = ""
    submission: Mapping[str, object] = MappingProxyType({})
    schema: EvidenceSchema = EvidenceSchema()
