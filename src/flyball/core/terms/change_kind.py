"""The kinds of change that a request can ask for, since each kind has to be shown differently."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from flyball.regex import regex


class ChangeKind(StrEnum):
    """What a request wants done to the code."""

    FIX = "fix"
    FEATURE = "feature"
    REFACTORING = "refactoring"
    DOCUMENTS = "documents"
    UNKNOWN = "unknown"


class ChangeReading(msgspec.Struct, frozen=True):
    """The kind of change that a request asks for, and the words that say so."""

    kind: ChangeKind = ChangeKind.UNKNOWN
    reason: str = ""


_DOCUMENT = regex(
    r"(?i)\.(?:md|markdown|rst|adoc)$|(?:^|/)(?:README|CHANGELOG|CONTRIBUTING|LICEN[CS]E|AUTHORS|NOTICE"
    r"|COPYING)(?:\.txt)?$|(?:^|/)docs?/(?:[^/]+/)*[^/]+\.txt$"
)


def is_document(path: str) -> bool:
    """Return whether a file is for people to read, and no program needs it."""
    return bool(_DOCUMENT.search(path))
