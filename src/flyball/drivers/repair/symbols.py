"""Where a name stands in the code: defined, imported, used."""

from __future__ import annotations

import re
from typing import NamedTuple

_HIT = re.compile(r"^(?P<path>[^\n]+?):(?P<line>\d+): (?P<text>.*)$", re.M)
_IMPORT = re.compile(r"^\s*(?:import|from|use|using|require|#include|export \{)\b")
_DEFINES = (
    r"\b(?:def|class|function|func|fn|type|struct|interface|trait|enum|module|const|let|var|val|"
    r"macro_rules!)\s+(?:\([^)]*\)\s*)?{name}\b"
    r"|^\s*(?:export\s+)?{name}\s*(?::[^=]+)?=(?!=)"
    r"|^\s*(?:export\s+)?(?:async\s+)?{name}\s*\([^)]*\)\s*\{{"
)
SHOWN = 12


class Hit(NamedTuple):
    """A line that holds the name."""

    path: str
    line: int
    text: str

    @property
    def words(self) -> str:
        return f"  {self.path}:{self.line}  {self.text.strip()}"


def hits_in(text: str) -> tuple[Hit, ...]:
    """The matches that `grep` lists."""
    return tuple(
        Hit(found["path"], int(found["line"]), found["text"]) for found in _HIT.finditer(text)
    )


def whereabouts(name: str, text: str) -> str:
    """Where a name is defined and where it is used, from what `grep` found."""
    hits = hits_in(text)
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


def _part(title: str, hits: list[Hit]) -> list[str]:
    if not hits:
        return []
    more = [f"  … and {len(hits) - SHOWN} more."] if len(hits) > SHOWN else []
    return [title, *(hit.words for hit in hits[:SHOWN]), *more]
