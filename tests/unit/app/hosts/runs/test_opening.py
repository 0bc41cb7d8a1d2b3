"""A hosted run whose journal is in a database: judged, journaled and found there alone."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.governed import environment, shop
from tests.postgres import database, postgres
from tests.unit.app.hosts.alone import AloneHost

from flyball.app.runs.journals import list_runs

__all__ = ["database", "postgres"]


def test_a_session_is_governed_from_the_database_where_one_is_settled(
    tmp_path: Path, database: str
):
    (tmp_path / "home").mkdir()
    env = {**environment(tmp_path / "home"), "FLYBALL_DATABASE": database}
    host = AloneHost(shop(tmp_path / "shop"), env)
    host.judged(host.data("UserPromptSubmit", prompt="the total is wrong, fix it"))
    assert not host.judged(host.before("cart.py")).is_refused
    assert not host.judged(host.after("cart.py")).is_refused
    assert host.judged(host.before("cart.py", "Write")).is_refused
    state = host.state()
    assert (state.spend.calls, state.cards[-1].memory.reads) == (0, 1)
    (row,) = asyncio.run(list_runs(host.governor.home))
    assert row.run == state.run
    assert list(tmp_path.rglob("journal.sqlite*")) == []
