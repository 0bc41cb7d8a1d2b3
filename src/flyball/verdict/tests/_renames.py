"""Names that the product code changed, and that tests may follow."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from flyball.regex import regex

WORD = regex(r"[A-Za-z_$]\w*")
STRING = regex(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`[^`]*`")


DEFINITION = regex(
    r"(?:\b(?:def|class|function\*?|func|fn|struct|enum|interface|trait|module|type|macro_rules!)\s+"
    r"(?:\([^()\n]*\)\s*)?(?:self\.)?|\bexports\.|^[ \t]*(?:(?:public|private|protected|static"
    r"|final|async|export|const|let|var)\s+)*(?=[A-Z_]{4,}\s*=)|^export\s+const\s+"
    r"|^[ \t]+(?:(?:async|static|get|set)\s+)*(?!(?:if|for|while|switch|catch|return)\b)"
    r"(?=\w+\s*\([^()\n]*\)\s*\{))"
    r"(?P<name>[A-Za-z_$]\w*)",
    re.MULTILINE,
)
MIN_NAME = 4


class Renames(NamedTuple):
    """Identifiers removed from the product code, and those added."""

    gone: frozenset[str] = frozenset()
    came: frozenset[str] = frozenset()
    undefined: frozenset[str] = frozenset()
    """Names whose definition was removed with them: features that no longer exist."""

    def explain(self, old: str, new: str) -> bool:
        """Return whether two texts differ only by names that the product exchanged."""
        if len(WORD.findall(old)) != len(WORD.findall(new)) or WORD.sub("", old) != WORD.sub(
            "", new
        ):
            return False
        pairs = {
            (o, n) for o, n in zip(WORD.findall(old), WORD.findall(new), strict=True) if o != n
        }
        # One name must not stand for two, or a swap of values would pass as a rename.
        is_one_to_one = len({o for o, _ in pairs}) == len({n for _, n in pairs}) == len(pairs)
        return is_one_to_one and all(o in self.gone and n in self.came for o, n in pairs)


def renames_between(before: Sequence[str], after: Sequence[str]) -> Renames:
    """Return the names that product files lost and gained; strings do not count as names."""
    old, new = _names(before), _names(after)
    gone, came = frozenset(old - new), frozenset(new - old)
    defined = {match["name"] for text in before for match in DEFINITION.finditer(text)}
    undefined = {name for name in gone & defined if len(name) >= MIN_NAME}
    return Renames(gone, came, frozenset(undefined))


def _names(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in WORD.findall(STRING.sub("", text))}
