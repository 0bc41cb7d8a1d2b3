"""Extract from a request and a checkpoint what matters for the verdict."""

from __future__ import annotations

from collections.abc import Iterable

from flyball.core.reading.change import read_change
from flyball.core.terms.intent import ChangeKind, Intent
from flyball.regex import regex
from flyball.verdict.reports import AskedFor

_NAMED = regex(r"\btest_\w+|\bTest[A-Z]\w+|[\w./-]+::[\w:]+|[\w./-]+[._-](?:test|spec)\.\w+")
_ALL = regex(
    r"(?i)\b(?:tests?|suite|specs?|ci|build)\b[^.\n]{0,30}\b(?:fail\w*|red|broken|break\w*)\b"
    r"|\b(?:fail\w*|red|broken)\b[^.\n]{0,20}\b(?:tests?|suite|specs?)\b"
)
_REPAIR = regex(
    r"(?i)\b(?:fix\w*|bug\w*|fail\w*|broken|breaks?|wrong|crash\w*|error\w*|incorrect\w*|repair\w*|mend\w*|"
    r"typo|regress\w*|should not|shouldn't|does ?n[o']t)\b"
)


def asked_for(
    request: str, promised: Iterable[str], intent: Intent | None, *, wants_red: bool
) -> AskedFor:
    """Return what was requested and announced beforehand.

    A request that names tests wants those green; one that only says that tests fail wants all of
    them. A repair or a refactoring changes no expectation unasked.
    """
    named = tuple(dict.fromkeys(_NAMED.findall(request)))
    kind = read_change(request).kind
    is_repair = kind is ChangeKind.FIX or (
        kind is ChangeKind.UNKNOWN and bool(_REPAIR.search(request))
    )
    is_refactoring = kind is ChangeKind.REFACTORING
    builds = intent in (Intent.FEATURE_BUILD, Intent.AUTONOMOUS) and not is_repair
    return AskedFor(
        announced=(request, *promised),
        request=request,
        must_mend=named,
        mends_all=bool(not named and _ALL.search(request)),
        repairs=is_repair or (intent is Intent.SMALL_FIX and kind is ChangeKind.UNKNOWN),
        adds=kind is ChangeKind.FEATURE,
        keeps_behaviour=is_repair or is_refactoring or not (builds or intent is Intent.SMALL_FIX),
        is_run=True,
        is_refactoring=is_refactoring,
        wants_red=wants_red,
    )
