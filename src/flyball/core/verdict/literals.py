"""Values that stand in the tests and in the new code alike: code may have learnt its tests."""

from __future__ import annotations

import re
from collections.abc import Iterable

_LITERAL = re.compile(
    r"""(?P<quote>['"`]) (?P<text>[^'"`\n]{3,80}) (?P=quote)
      | (?<![\w.]) (?P<number>\d{3,}(?:\.\d+)? | \d+\.\d+) (?![\w.])""",
    re.VERBOSE,
)
_PLAIN = re.compile(r"[\w./-]{1,6}$")
SHOWN = 6


def shared_literals(added: Iterable[str], tests: Iterable[str]) -> tuple[str, ...]:
    """Distinctive literals of the added product lines that the tests hold as well."""
    in_code = _literals("\n".join(added))
    if not in_code:
        return ()
    in_tests = _literals("\n".join(tests))
    return tuple(sorted(in_code & in_tests)[:SHOWN])


def _literals(text: str) -> set[str]:
    """Short words are everywhere: only what can hardly stand in both by chance counts."""
    found: set[str] = set()
    for match in _LITERAL.finditer(text):
        if match["number"]:
            found.add(match["number"])
        elif not _PLAIN.match(match["text"]):
            found.add(repr(match["text"]))
    return found
