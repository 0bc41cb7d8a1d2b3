"""Map a run's status to the exit code of the command that drove it."""

from __future__ import annotations

SUCCEEDED = 0
FAILED = 1
WAITS = 3
UNVERIFIED = 4
INTERRUPTED = 130

BY_STATUS = {
    "success": SUCCEEDED,
    "answered": SUCCEEDED,
    "failed": FAILED,
    "cancelled": FAILED,
    "interrupted": FAILED,
    "paused": WAITS,
    "unverified": UNVERIFIED,
    "unchanged": UNVERIFIED,
    "stopped": FAILED,
    "running": INTERRUPTED,
}
