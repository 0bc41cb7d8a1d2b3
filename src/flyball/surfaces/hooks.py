"""`flyball-hook`: where the hooks of other agents' tools will come in."""

from __future__ import annotations

import sys

NOT_YET = (
    "flyball-hook: hook hosts are not supported in this release, so this hook allows everything; "
    "remove it from the host's configuration.\n"
)


def main() -> int:
    """Say so and fail without blocking: hosts take exit code 2 for a denial, 1 for our trouble."""
    sys.stderr.write(NOT_YET)
    return 1
