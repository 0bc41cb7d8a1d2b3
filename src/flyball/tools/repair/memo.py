"""What was learnt about a tree, kept as long as the run's workspace is."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec

from flyball.tools.protocol import Desk
from flyball.tools.repair.spectrum import Traced


class Tried(msgspec.Struct, frozen=True):
    """A candidate that was tried: its diff, and how it ended."""

    diff: str
    template: str
    label: str
    line: int
    end: str
    chance: float


class Memo(msgspec.Struct, frozen=True, omit_defaults=True):
    """How the tests ran on a tree."""

    tests: tuple[Traced, ...] = ()
    count: int = 0
    broken: dict[str, str] = {}
    tried: tuple[str, ...] = ()
    """Digests of candidates that do not hold."""
    holding: tuple[Tried, ...] = ()


def _file(desk: Desk) -> Path:
    return desk.workspace.directory / "repair" / f"{desk.tree[:40]}.json"


def recall(desk: Desk) -> Memo | None:
    """What is known of the present tree."""
    with suppress(OSError, msgspec.DecodeError, msgspec.ValidationError):
        return msgspec.json.decode(_file(desk).read_bytes(), type=Memo)
    return None


def keep(desk: Desk, memo: Memo) -> None:
    """Remember it; whoever cannot write it down only has to find it out again."""
    file = _file(desk)
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(msgspec.json.encode(memo))
