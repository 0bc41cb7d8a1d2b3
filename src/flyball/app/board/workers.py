"""Who drives runs at this moment: each worker with its load and the leases that it holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from flyball.workspace.process.holder import is_gone

ON = re.compile(r"process (\d+) on (\S+) since ")


class SeenWorker(NamedTuple):
    """A worker that says of itself that it is there, whether it drives anything or not."""

    holder: str
    """Its name in leases."""
    last_seen: float
    roles: tuple[str, ...] = ()
    limit: int = 0
    """How many runs it takes at once."""


def workers_of(
    rows: Iterable[Mapping[str, Any]],
    sees: Callable[[str], bool],
    known: Iterable[SeenWorker] = (),
) -> list[dict[str, Any]]:
    """The holders of leases and the idle, the busiest first.

    Leases on runs that one may not see are counted, and not named.
    """
    found = {each.holder: _worker(each) for each in known}
    for row in rows:
        holder = row["driven_by"]
        if not holder or is_gone(holder) or row["status"] not in ("running", "paused"):
            continue
        worker = found.setdefault(holder, _worker(SeenWorker(holder, 0.0)))
        worker["load"] += 1
        worker["last_seen"] = max(worker["last_seen"], row["updated_at"])
        if sees(row["project"]):
            worker["leases"].append(
                {"run": row["run"], "title": row["title"], "request": row["request"][:200]}
            )
    return sorted(found.values(), key=lambda each: (-each["load"], each["name"]))


def _worker(seen: SeenWorker) -> dict[str, Any]:
    """A worker without leases, by a name that a person can read."""
    told = ON.match(seen.holder)
    return {
        "name": f"{told[2]}:{told[1]}" if told else seen.holder,
        "roles": list(seen.roles),
        "load": 0,
        "limit": seen.limit,
        "last_seen": seen.last_seen,
        "leases": [],
    }
