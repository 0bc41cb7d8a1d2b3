"""List the workers that drive runs, with their load and leases."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from flyball.journal.protocol import WorkerRow
from flyball.regex import regex
from flyball.workspace.process.process_identity import is_gone

ON = regex(r"process (\d+) on (\S+) since ")


def workers_of(
    rows: Iterable[Mapping[str, Any]],
    sees: Callable[[str], bool],
    cluster: Iterable[WorkerRow] = (),
) -> list[dict[str, Any]]:
    """Return the lease holders and the cluster's idle workers, busiest first.

    Leases on runs that the reader may not see are counted, not named.
    """
    found = {each.worker: _of_cluster(each) for each in cluster}
    for row in rows:
        holder = row["driven_by"]
        if not holder or is_gone(holder) or row["status"] not in ("running", "paused"):
            continue
        worker = found.setdefault(holder, _worker(holder))
        worker["load"] += 1
        worker["last_seen"] = max(worker["last_seen"], row["updated_at"])
        if sees(row["project"]):
            worker["leases"].append(
                {"run": row["run"], "title": row["title"], "request": row["request"][:200]}
            )
    return sorted(found.values(), key=lambda each: (-each["load"], each["name"]))


def _of_cluster(row: WorkerRow) -> dict[str, Any]:
    facts = {"roles": list(row.roles), "limit": row.concurrency, "is_leaving": row.is_leaving}
    return {**_worker(row.worker), **facts, "last_seen": time.time() - row.age}


def _worker(holder: str) -> dict[str, Any]:
    """Return a worker without leases, with a readable name."""
    found = ON.match(holder)
    return {
        "name": f"{found[2]}:{found[1]}" if found else holder,
        "roles": [],
        "load": 0,
        "limit": 0,
        "last_seen": 0.0,
        "is_leaving": False,
        "leases": [],
    }
