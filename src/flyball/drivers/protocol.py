"""The driver protocol: one request in, one reply out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec

from flyball.run.event import Finish
from flyball.run.thread import SpokenCall, ThreadLine
from flyball.terms.budget import Usage
from flyball.terms.call import WebLook
from flyball.terms.phase import Phase


class ToolSpec(msgspec.Struct, frozen=True):
    """A tool as a driver sees it."""

    name: str
    description: str
    schema: dict[str, object]


class Request(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything a driver receives: its role, the thread, the available tools."""

    run: str
    card: str
    role: str
    phase: Phase
    system: str
    opening: str
    wanted: str = ""
    """What the person asked for, as the opening has it among other things."""
    template: str = ""
    """The kind of work, by the name of its template."""
    lines: tuple[ThreadLine, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    """All that the card may ever call: like `system`, constant over its whole life."""
    now: tuple[str, ...] | None = None
    """The names of those that it may call in this phase; None: all of them."""
    web: int = 0
    """How many web lookups the provider may make by itself; a model without such tools cannot."""
    images: tuple[str, ...] = ()
    number: int = 0
    """No other request of the run has this number; asked again, it has the same."""
    turn: int = 0
    """How often this role has replied in the run."""
    turns: dict[str, int] = {}
    """The same, card by card."""

    @property
    def offered(self) -> tuple[ToolSpec, ...]:
        """Return the tools of this turn; none if only text is expected."""
        now = self.now
        return self.tools if now is None else tuple(t for t in self.tools if t.name in now)


class Reply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A driver's reply."""

    text: str = ""
    calls: tuple[SpokenCall, ...] = ()
    finish: Finish = Finish.STOP
    usage: Usage = Usage()
    model: str = ""
    looks: tuple[WebLook, ...] = ()
    """What the provider searched and fetched before it replied."""


class Driver(Protocol):
    """A source of replies. A failure is a `DriverError`, retryable or not."""

    async def think(self, request: Request, on_text: Callable[[str], None]) -> Reply:
        """Answer one request; text may be streamed as it arrives."""
        ...

    async def close(self) -> None:
        """Close clients and files."""
        ...
