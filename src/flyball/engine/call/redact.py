"""What a call observed and found, without the secrets that are known."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

import msgspec

from flyball.core.terms.evidence import AnyEvidence
from flyball.core.terms.finding import AnyFinding
from flyball.workspace.redaction import Redactor

NAMES = frozenset({"type", "id", "tree", "base", "report"})
"""Fields that name things; what is looked up by them must stay as it is."""

S = TypeVar("S", bound=msgspec.Struct)


def discreet(evidence: Iterable[AnyEvidence], redactor: Redactor) -> tuple[AnyEvidence, ...]:
    """The same observations, every text in them cleaned."""
    return tuple(_clean(item, redactor) for item in evidence)


def clean_finding(finding: AnyFinding | None, redactor: Redactor) -> AnyFinding | None:
    """The same finding, every text in it cleaned."""
    return finding and _clean(finding, redactor)


def _clean(item: S, redactor: Redactor) -> S:
    found = msgspec.to_builtins(item)
    cleaned = {
        name: value if name in NAMES else _walk(value, redactor.text)
        for name, value in found.items()
    }
    # Most hold no secret, and converting costs more than comparing.
    return item if cleaned == found else msgspec.convert(cleaned, type(item))


def _walk(value: Any, clean: Callable[[str], str]) -> Any:
    match value:
        case str():
            return clean(value)
        case tuple():
            return tuple(_walk(each, clean) for each in cast(tuple[Any, ...], value))
        case list():
            return [_walk(each, clean) for each in cast(list[Any], value)]
        case dict():
            return {k: _walk(v, clean) for k, v in cast(dict[str, Any], value).items()}
        case _:
            return value
