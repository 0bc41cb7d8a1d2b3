"""The words by which requests are read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flyball.core.reading import lexicon

ROOM = Path(lexicon.__file__).parent
TEXT = (ROOM / "lexicon.txt").read_text(encoding="utf-8")
ENTRIES = re.findall(r"^\[([A-Z_]+)\]$", TEXT, re.MULTILINE)
ASKED = re.findall(r"\blexicon\.([A-Z_]+)\b", "".join(p.read_text() for p in ROOM.glob("*.py")))


def test_every_entry_is_asked_for_and_every_name_asked_for_is_an_entry():
    assert set(ENTRIES) == set(ASKED)
    assert len(ENTRIES) == len(set(ENTRIES))


@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_is_an_alternation_without_empty_words(name: str):
    entry = getattr(lexicon, name)
    re.compile(entry)
    assert "" not in entry.split("|")


def test_a_name_that_is_no_entry_is_no_attribute():
    with pytest.raises(AttributeError, match=r"lexicon.txt has no entry NOTHING"):
        _ = lexicon.NOTHING
