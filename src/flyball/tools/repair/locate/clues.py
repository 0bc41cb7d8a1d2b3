"""What the way a test fails says about the kind of fault."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

NONE = "none"
ENDLESS = "endless"

_ERROR = re.compile(r"^(?:E\s+)?([A-Za-z_][\w.]*(?:Error|Exception|Iteration))\b(.*)$", re.M)

FAVOURED: Mapping[str, Mapping[str, float]] = {
    NONE: {"condition joined": 4, "guard": 3, "returned": 2.5, "lookup": 1.5},
    ENDLESS: {
        "augmented": 3, "statement added": 4, "adjustment": 1.5, "argument order": 1.5,
        "condition replaced": 1.5, "off by one": 1.5, "slice": 0.4, "call": 0.4, "attribute": 0.5,
        "container": 0.5, "extreme": 0.5, "donor": 0.7,
    },
    "IndexError": {"comparison": 1.5, "off by one": 2, "guard": 2, "condition joined": 2},
    "KeyError": {"lookup": 4, "variable": 1.3, "condition joined": 1.5},
    "ZeroDivisionError": {"guard": 3, "condition joined": 2, "made anew": 4},
    "NameError": {"variable": 3, "callee": 2, "self": 3, "unknown name": 4},
    "UnboundLocalError": {"variable": 2, "statement added": 2, "dedented": 2, "declared": 6},
    "AttributeError": {"attribute": 4, "variable": 1.5, "self": 2, "inherited": 4, "call": 2},
    "TypeError": {
        "argument count": 2.5, "wrap": 2, "unwrap": 2, "container": 1.5, "call": 2, "given back": 2,
    },
    "ValueError": {"guard": 1.5, "wrap": 1.3},
    "RecursionError": {"comparison": 1.5, "condition joined": 2.5, "off by one": 2, "guard": 2},
    "StopIteration": {"guard": 2, "condition joined": 1.5},
}  # fmt: skip


def clues_in(reasons: Iterable[str]) -> frozenset[str]:
    """The kinds of error that failing tests ended with."""
    found: set[str] = set()
    for why in reasons:
        if why == "time":
            found.add(ENDLESS)
            continue
        errors = _ERROR.findall(why)
        if errors:
            name, said = errors[-1]
            found.add(NONE if "NoneType" in said else name.rpartition(".")[2])
    return frozenset(found)


def favour(template: str, clues: Iterable[str]) -> float:
    """How much likelier a template is than usual, given what is known."""
    return max((FAVOURED.get(clue, {}).get(template, 1.0) for clue in clues), default=1.0)
