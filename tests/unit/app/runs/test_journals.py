"""A database named where what it needs is not installed."""

from __future__ import annotations

import sys

import pytest

from flyball.app.project import load_extra
from flyball.app.runs.journals import POSTGRES
from flyball.errors import MissingExtra


def test_a_database_without_its_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (POSTGRES, "flyball.journal.workers", "flyball.journal.connection"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    # None in this table is how the interpreter is told that a module is not there.
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra) as raised:
        load_extra(POSTGRES)
    assert raised.value.package == "psycopg"
    assert "flyball[cluster]" in raised.value.hint
