"""The schema as an append-only list: entry n brings a database from version n to n + 1."""

from __future__ import annotations

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE runs (
        run TEXT PRIMARY KEY,
        request TEXT NOT NULL,
        status TEXT NOT NULL,
        created_at REAL NOT NULL,
        updated_at REAL NOT NULL,
        seq INTEGER NOT NULL,
        codec INTEGER NOT NULL,
        state BLOB NOT NULL
    );
    CREATE TABLE events (
        run TEXT NOT NULL,
        seq INTEGER NOT NULL,
        at REAL NOT NULL,
        codec INTEGER NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (run, seq)
    ) WITHOUT ROWID;
    CREATE TABLE lines (
        run TEXT NOT NULL,
        card TEXT NOT NULL,
        role TEXT NOT NULL,
        attempt INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        n INTEGER NOT NULL,
        speaker TEXT NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (run, card, role, attempt, seq, n)
    ) WITHOUT ROWID;
    CREATE TABLE intentions (
        run TEXT NOT NULL,
        effect INTEGER NOT NULL,
        at REAL NOT NULL,
        fence INTEGER NOT NULL,
        PRIMARY KEY (run, effect)
    ) WITHOUT ROWID;
    CREATE TABLE leases (
        run TEXT PRIMARY KEY,
        holder TEXT NOT NULL,
        fence INTEGER NOT NULL,
        expires_at REAL NOT NULL
    );
    CREATE TABLE inbox (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        run TEXT NOT NULL,
        codec INTEGER NOT NULL,
        body BLOB NOT NULL
    );
    """,
    """
    CREATE TABLE mistakes (
        fingerprint TEXT PRIMARY KEY,
        error TEXT NOT NULL,
        step_kind TEXT NOT NULL,
        files TEXT NOT NULL
    );
    CREATE TABLE sightings (
        fingerprint TEXT NOT NULL,
        run TEXT NOT NULL,
        card TEXT NOT NULL,
        at REAL NOT NULL,
        resolution TEXT NOT NULL,
        PRIMARY KEY (fingerprint, run, card)
    ) WITHOUT ROWID;
    """,
)
