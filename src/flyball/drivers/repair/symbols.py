"""Where a name stands in the code: defined, imported, used."""

from __future__ import annotations

import re
from collections.abc import Sequence

from flyball.core.terms.finding import Match
from flyball.regex import regex

_IMPORT = regex(r"^\s*(?:import|from|use|using|require|#include|export \{)\b")
_DEFINES = (
    r"\b(?:def|class|function|func|fn|type|struct|interface|trait|enum|module|const|let|var|val|"
    r"macro_rules!)\s+(?:\([^)]*\)\s*)?{name}\b"
    r"|^\s*(?:export\s+)?{name}\s*(?::[^=]+)?=(?!=)"
    r"|^\s*(?:export\s+)?(?:async\s+)?{name}\s*\([^)]*\)\s*\{{"
)
SHOWN = 12


def whereabouts(name: str, hits: Sequence[Match]) -> str:
    """Where a name is defined and where it is used, from the lines that hold it."""
    if not hits:
        return f"Nothing here is called `{name}`."
    pattern = re.compile(_DEFINES.format(name=re.escape(name)))
    defined = [hit for hit in hits if pattern.search(hit.text)]
    imported = [hit for hit in hits if hit not in defined and _IMPORT.match(hit.text)]
    used = [hit for hit in hits if hit not in defined and hit not in imported]
    parts = _part(f"`{name}` is defined at:", defined)
    parts = parts or [f"`{name}` is not defined here, as far as a search can tell."]
    parts += _part("Imported at:", imported)
    parts += _part(f"Used at ({len(used)}):", used)
    return "\n".join(parts)


def _part(title: str, hits: list[Match]) -> list[str]:
    if not hits:
        return []
    more = [f"  … and {len(hits) - SHOWN} more."] if len(hits) > SHOWN else []
    return [title, *map(_words, hits[:SHOWN]), *more]


def _words(hit: Match) -> str:
    return f"  {hit.path}:{hit.line}  {hit.text.strip()}"
