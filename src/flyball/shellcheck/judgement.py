"""What a command is, and what a phase makes of it."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, NamedTuple

import msgspec


class CommandKind(StrEnum):
    """What a command does to the world, from harmless to not understood."""

    READ_ONLY = "read-only"
    VERIFICATION = "verification"
    MUTATING = "mutating"
    DESTRUCTIVE = "destructive"
    UNKNOWN = "unknown"

    @property
    def severity(self) -> int:
        """The place in the order above; the whole is as severe as its worst part."""
        return _ORDER.index(self)


_ORDER = tuple(CommandKind)

Answer = Literal["allow", "ask", "deny"]


class Finding(NamedTuple):
    """One thing the walk saw; a veto is refused whatever the phase.

    Where it is `unread`, nobody has looked at what it stands for, be it harmless or not.
    """

    text: str
    kind: CommandKind
    reason: str
    veto: bool = False
    proves: str = ""
    unread: bool = False

    def at_least(self, floor: CommandKind, reason: str) -> Finding:
        """The same finding, or one raised to the floor."""
        if self.kind.severity >= floor.severity:
            return self
        return self._replace(kind=floor, reason=f"{self.reason}; {reason}")


class CommandPart(msgspec.Struct, frozen=True):
    """One part of a command, with its class and why."""

    text: str
    kind: CommandKind = msgspec.field(name="class")
    reason: str


class Judgement(msgspec.Struct, frozen=True):
    """The answer for a whole command."""

    decision: Answer
    kind: CommandKind = msgspec.field(name="class")
    reason: str
    parts: tuple[CommandPart, ...]


class AllowRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A program the user vouches for: leading words, and patterns for every word after them.

    Each word after the prefix must match one of the shell-style patterns; with none, the prefix
    must be the whole command. Substitutions and redirections around it are judged as ever.
    """

    prefix: tuple[str, ...]
    args: tuple[str, ...] = ()
    kind: CommandKind = msgspec.field(default=CommandKind.READ_ONLY, name="class")

    def __post_init__(self) -> None:
        if not self.prefix or not all(self.prefix):
            raise ValueError("an allow rule needs at least one non-empty word as its prefix")
        if self.kind is CommandKind.UNKNOWN:
            raise ValueError("an allow rule must say what the command is, not `unknown`")
