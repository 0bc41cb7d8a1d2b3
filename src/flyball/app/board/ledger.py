"""Read a project's mistake ledger, and delete entries that are obsolete."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from flyball.app.project import Home
from flyball.app.runs.journals import opened
from flyball.errors import NotFound, UsageError
from flyball.guards.ledger import Mistake, Sighting

LIST_THEM = "`flyball ledger list` shows the mistakes of this project."


class LedgerEntry(NamedTuple):
    """A mistake, and every card that ran into it."""

    mistake: Mistake
    seen: tuple[Sighting, ...]


async def mistakes_of(home: Home) -> tuple[Mistake, ...]:
    """Return the ledger, most recent first; reading creates no files."""
    if not home.has_journal:
        return ()
    async with opened(home) as journal:
        return tuple(await journal.mistakes())


async def entry_of(home: Home, name: str) -> LedgerEntry:
    """Return one mistake by a prefix of its fingerprint."""
    mistake = meant(await mistakes_of(home), name)
    async with opened(home) as journal:
        return LedgerEntry(mistake, tuple(await journal.sightings(mistake.fingerprint)))


async def forget(home: Home, found: Sequence[Mistake]) -> int:
    """Delete mistakes from the ledger; return how many there were."""
    if not found:
        return 0
    async with opened(home) as journal:
        return await journal.forget([mistake.fingerprint for mistake in found])


def meant(ledger: Sequence[Mistake], name: str) -> Mistake:
    """Return the only mistake whose fingerprint has this prefix."""
    wanted = name.strip().lower()
    found = [each for each in ledger if wanted and each.fingerprint.startswith(wanted)]
    if not found:
        hint = LIST_THEM if ledger else "This project's ledger is empty."
        raise NotFound("mistake", name, hint)
    if len(found) > 1:
        names = " or ".join(each.fingerprint for each in found[:4])
        raise UsageError(f"{name!r} may mean {names}.", "Type more of the fingerprint.")
    return found[0]
