"""What the way a test fails says about the kind of fault; `search.ranking` says what follows."""

from __future__ import annotations

import re
from collections.abc import Iterable

from flyball.regex import regex

NONE = "none"
ENDLESS = "endless"

_ERROR = regex(r"^(?:E\s+)?([A-Za-z_][\w.]*(?:Error|Exception|Iteration))\b(.*)$", re.M)


def error_kinds(reasons: Iterable[str]) -> frozenset[str]:
    """The kinds of error that failing tests ended with."""
    found: set[str] = set()
    for why in reasons:
        if why == "time":
            found.add(ENDLESS)
            continue
        errors = _ERROR.findall(why)
        if errors:
            # The last one: those before it are causes that were handled on the way.
            name, said = errors[-1]
            found.add(NONE if "NoneType" in said else name.rpartition(".")[2])
    return frozenset(found)
