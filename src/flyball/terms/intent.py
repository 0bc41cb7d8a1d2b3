"""Intents of requests, and the number of calls each may use.

Classifying a request is in `reading`; the machine needs only these values.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

import msgspec

from flyball.regex import regex


class ChangeKind(StrEnum):
    """The kind of change that a request asks for."""

    FIX = "fix"
    FEATURE = "feature"
    REFACTORING = "refactoring"
    DOCUMENTS = "documents"
    UNKNOWN = "unknown"


class ChangeReading(msgspec.Struct, frozen=True):
    """The kind of change that a request asks for, and the words that show it."""

    kind: ChangeKind = ChangeKind.UNKNOWN
    reason: str = ""


_DOCUMENT = regex(
    r"(?i)\.(?:md|markdown|rst|adoc)$|(?:^|/)(?:README|CHANGELOG|CONTRIBUTING|LICEN[CS]E|AUTHORS|NOTICE"
    r"|COPYING)(?:\.txt)?$|(?:^|/)docs?/(?:[^/]+/)*[^/]+\.txt$"
)


def is_document(path: str) -> bool:
    """Return whether a file is for people to read, and not needed by a program."""
    return bool(_DOCUMENT.search(path))


class Intent(StrEnum):
    """The user's intent, from the smallest budget to the largest."""

    CONVERSATIONAL = "conversational"
    STATUS_CHECK = "status_check"
    DIAGNOSE = "diagnose"
    SMALL_FIX = "small_fix"
    FEATURE_BUILD = "feature_build"
    AUTONOMOUS = "autonomous"


LIMITS: Mapping[Intent, int] = MappingProxyType(
    {
        Intent.CONVERSATIONAL: 0,
        Intent.STATUS_CHECK: 2,
        Intent.DIAGNOSE: 8,
        Intent.SMALL_FIX: 15,
        Intent.FEATURE_BUILD: 40,
        Intent.AUTONOMOUS: 150,
    }
)

MAX_TOOL_ROUNDS = 150

MAY_MUTATE: frozenset[Intent] = frozenset(
    {Intent.SMALL_FIX, Intent.FEATURE_BUILD, Intent.AUTONOMOUS}
)

CONFIDENCE_THRESHOLD = 0.5
"""Below this the caller asks a model; without one the smaller of the two best budgets holds."""


class Turn(msgspec.Struct, frozen=True):
    """One line of the conversation so far."""

    role: str
    text: str


class Alternative(msgspec.Struct, frozen=True):
    """Another way to read the request, and how likely it is."""

    intent: Intent
    confidence: float


class Reading(msgspec.Struct, frozen=True):
    """The classification of a request, and the reasons for it."""

    intent: Intent
    budget: int
    confidence: float
    reasons: tuple[str, ...]
    alternatives: tuple[Alternative, ...]
    change: ChangeReading = ChangeReading()
    """The kind of change requested, which decides what has to be shown of it."""


def take_smaller(reading: Reading) -> Reading:
    """Return the smaller budget of the two best candidates."""
    if not reading.alternatives:
        return reading
    best = reading.alternatives[0]
    if LIMITS[best.intent] >= reading.budget:
        return reading
    rest = (Alternative(reading.intent, reading.confidence), *reading.alternatives[1:])
    return Reading(
        intent=best.intent,
        budget=LIMITS[best.intent],
        confidence=best.confidence,
        reasons=(*reading.reasons, f"unsure, so the smaller budget of {best.intent} is taken"),
        alternatives=rest,
        change=reading.change,
    )
