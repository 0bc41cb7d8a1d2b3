"""The schemas as append-only lists: entry n brings a database from version n to n + 1."""

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


POSTGRES_MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE runs (
        run TEXT PRIMARY KEY,
        born BIGINT GENERATED ALWAYS AS IDENTITY,
        project TEXT NOT NULL,
        owner TEXT NOT NULL,
        priority INTEGER NOT NULL,
        role TEXT NOT NULL,
        request TEXT NOT NULL,
        status TEXT NOT NULL,
        created_at DOUBLE PRECISION NOT NULL,
        updated_at DOUBLE PRECISION NOT NULL,
        seq INTEGER NOT NULL,
        codec INTEGER NOT NULL,
        state BYTEA NOT NULL
    );
    CREATE INDEX runs_of_a_project ON runs (project, created_at);
    CREATE INDEX runs_that_move ON runs (run) WHERE status = 'running';
    CREATE TABLE events (
        run TEXT NOT NULL,
        seq INTEGER NOT NULL,
        at DOUBLE PRECISION NOT NULL,
        codec INTEGER NOT NULL,
        body BYTEA NOT NULL,
        fence BIGINT NOT NULL,
        PRIMARY KEY (run, seq)
    );
    CREATE TABLE lines (
        run TEXT NOT NULL,
        card TEXT NOT NULL,
        role TEXT NOT NULL,
        attempt INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        n INTEGER NOT NULL,
        speaker TEXT NOT NULL,
        body BYTEA NOT NULL,
        PRIMARY KEY (run, card, role, attempt, seq, n)
    );
    CREATE TABLE intentions (
        run TEXT NOT NULL,
        effect INTEGER NOT NULL,
        at DOUBLE PRECISION NOT NULL,
        fence BIGINT NOT NULL,
        PRIMARY KEY (run, effect)
    );
    CREATE TABLE leases (
        run TEXT PRIMARY KEY,
        holder TEXT NOT NULL,
        fence BIGINT NOT NULL,
        expires_at DOUBLE PRECISION NOT NULL
    );
    CREATE INDEX leases_of_a_holder ON leases (holder);
    CREATE TABLE inbox (
        id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        run TEXT NOT NULL,
        codec INTEGER NOT NULL,
        body BYTEA NOT NULL,
        key TEXT NOT NULL UNIQUE
    );
    CREATE INDEX inbox_of_a_run ON inbox (run);
    CREATE TABLE mistakes (
        project TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        error TEXT NOT NULL,
        step_kind TEXT NOT NULL,
        files TEXT NOT NULL,
        PRIMARY KEY (project, fingerprint)
    );
    CREATE TABLE sightings (
        project TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        run TEXT NOT NULL,
        card TEXT NOT NULL,
        at DOUBLE PRECISION NOT NULL,
        resolution TEXT NOT NULL,
        PRIMARY KEY (project, fingerprint, run, card)
    );
    CREATE TABLE workers (
        worker TEXT PRIMARY KEY,
        host TEXT NOT NULL,
        roles TEXT NOT NULL,
        concurrency INTEGER NOT NULL,
        load INTEGER NOT NULL,
        release TEXT NOT NULL,
        is_leaving BOOLEAN NOT NULL,
        began_at DOUBLE PRECISION NOT NULL,
        seen_at DOUBLE PRECISION NOT NULL
    );
    """,
    """
    CREATE TABLE people (
        name TEXT PRIMARY KEY,
        digest TEXT NOT NULL,
        grants TEXT NOT NULL,
        added_at DOUBLE PRECISION NOT NULL,
        added_by TEXT NOT NULL
    );
    CREATE TABLE decisions (
        id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        run TEXT NOT NULL,
        at DOUBLE PRECISION NOT NULL,
        by_whom TEXT NOT NULL,
        what TEXT NOT NULL,
        card TEXT NOT NULL,
        key TEXT NOT NULL UNIQUE
    );
    CREATE INDEX decisions_about_a_run ON decisions (run);
    """,
    """
    ALTER TABLE workers ADD COLUMN format INTEGER NOT NULL DEFAULT 2;
    """,
)
"""The cluster's schema: one database for all projects, so their rows name the project."""

POSTGRES_NEEDS = 1
"""The oldest schema whose releases still work next to this one: workers are upgraded one by one."""
