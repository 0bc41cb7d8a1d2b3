"""Git's name for a content: a diff that git made says what comes of it."""

from __future__ import annotations

from hashlib import sha1

_SHORTEST = 7
"""How many digits git shows at least."""


def is_named(data: bytes, name: str) -> bool:
    """Whether `name`, as the `index` line of a diff has it, is that of this very content."""
    if len(name) < _SHORTEST:
        return False
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest().startswith(name)
