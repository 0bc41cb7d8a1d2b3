"""Results of gates. Missing evidence and failure are different results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from flyball.plan.template import EvidenceSchema
from flyball.terms.evidence import Evidence, TreeHash


class Passed(msgspec.Struct, frozen=True, tag="passed"):
    """The condition holds."""

    sentence: str = ""


class Failed(msgspec.Struct, frozen=True, omit_defaults=True, tag="failed"):
    """The condition does not hold; with `is_trouble`, the check could not be completed."""

    sentence: str
    is_trouble: bool = False


class Missing(msgspec.Struct, frozen=True, omit_defaults=True, tag="missing"):
    """The condition was not checked on the current tree; with `is_trouble`, it could not be."""

    sentence: str
    is_trouble: bool = False


Verdict = Passed | Failed | Missing


class Ruling(msgspec.Struct, frozen=True):
    """The latest result of one gate of a card."""

    gate: str
    verdict: Verdict

    @property
    def has_passed(self) -> bool:
        return isinstance(self.verdict, Passed)

    @property
    def answer(self) -> str:
        """Return `passed`, `failed` or `missing`."""
        return type(self.verdict).__name__.lower()

    def __str__(self) -> str:
        return f"{self.gate}: {self.answer}. {self.verdict.sentence}".rstrip()


class Case(NamedTuple):
    """What a gate judges: what Flyball observed, and what the driver claims."""

    evidence: Sequence[Evidence]
    tree: TreeHash
    base: TreeHash = ""
    submission: Mapping[str, object] = MappingProxyType({})
    schema: EvidenceSchema = EvidenceSchema()
