"""Names that the product code changed, which tests may follow."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

WORD = re.compile(r"[A-Za-z_$]\w*")
STRING = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`[^`]*`")


class Renames(NamedTuple):
    """Identifiers that left the product code, and those that came."""

    gone: frozenset[str] = frozenset()
    came: frozenset[str] = frozenset()

    def explain(self, old: str, new: str) -> bool:
        """Whether two texts differ only by names that the product code exchanged likewise."""
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


def renames_between(before: Iterable[str], after: Iterable[str]) -> Renames:
    """The names that product files lost and gained; strings do not count as names."""
    old, new = _names(before), _names(after)
    return Renames(frozenset(old - new), frozenset(new - old))


def _names(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in WORD.findall(STRING.sub("", text))}
