"""What a gate answers. No evidence is not a failure: the two are told apart everywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from flyball.core.evidence import Evidence, TreeHash
from flyball.core.template import EvidenceSchema


class Passed(msgspec.Struct, frozen=True, tag="passed"):
    """What had to hold does hold."""

    sentence: str = ""


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """What had to hold does not."""

    sentence: str


class Missing(msgspec.Struct, frozen=True, tag="missing"):
    """Nobody has looked yet, or not at the present tree."""

    sentence: str


Verdict = Passed | Failed | Missing


class Case(NamedTuple):
    """All that is brought before a gate: what Flyball observed, and what the driver claims."""

    evidence: Sequence[Evidence]
    tree: TreeHash
    base: TreeHash = ""
    submission: Mapping[str, object] = MappingProxyType({})
    schema: EvidenceSchema = EvidenceSchema()
