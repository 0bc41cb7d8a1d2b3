"""What was learnt about a tree, kept as long as the run's workspace is."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from flyball.tools.call.protocol import CallContext
from flyball.tools.repair.inside.hot_swap import Edit
from flyball.tools.repair.locate.spectrum import ENDED_BADLY, Sign, Traced

Change = tuple[str, tuple[Edit, ...]]
"""A file, and what is changed in it."""


class Once(NamedTuple):
    """One test as it ended without a trace, why, and how long it computed."""

    name: str
    end: str
    why: str
    cpu: float

    @property
    def has_failed(self) -> bool:
        return self.end in ENDED_BADLY

    @property
    def is_slow(self) -> bool:
        """Whether it was not waited for: nobody knows how it ends."""
        return self.end == "slow"


class Memo(msgspec.Struct, frozen=True, omit_defaults=True):
    """How the tests ran on a tree."""

    runner: str
    runs: tuple[Once, ...] = ()
    tests: tuple[Traced, ...] = ()
    count: int = 0
    broken: dict[str, str] = {}
    signs: tuple[Sign, ...] = ()
    """How much more suspicious lines are for what changes there have shown."""
    refuted: tuple[Change, ...] = ()
    """Changes under which tests are known to fail."""

    @property
    def failing(self) -> tuple[str, ...]:
        """The tests that ran and failed, by name."""
        return tuple(run.name for run in self.failing_runs)

    @property
    def failing_runs(self) -> tuple[Once, ...]:
        return tuple(run for run in self.runs if run.has_failed)


def _memo_file(context: CallContext) -> Path:
    # By the tree's hash: a changed tree has no memo, so nothing stale is ever recalled.
    return context.workspace.directory / "repair" / f"{context.tree[:40]}.json"


def recall(context: CallContext) -> Memo | None:
    """What was learnt about the present tree, or None if nothing was kept or it cannot be read."""
    # A memo is worth only the time it saves; one that cannot be read is one that is not there.
    with suppress(OSError, msgspec.DecodeError, msgspec.ValidationError):
        return msgspec.json.decode(_memo_file(context).read_bytes(), type=Memo)
    return None


def keep(context: CallContext, memo: Memo) -> None:
    """Remember it; whoever cannot write it down only has to find it out again."""
    file = _memo_file(context)
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(msgspec.json.encode(memo))
