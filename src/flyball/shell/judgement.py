"""The class of a command, and whether a phase allows it."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, NamedTuple

import msgspec


class CommandKind(StrEnum):
    """The class of a command, from harmless to not understood."""

    READ_ONLY = "read-only"
    VERIFICATION = "verification"
    MUTATING = "mutating"
    DESTRUCTIVE = "destructive"
    UNKNOWN = "unknown"

    @property
    def severity(self) -> int:
        """Return the position in the order above; a command is as severe as its worst part."""
        return _ORDER.index(self)


_ORDER = tuple(CommandKind)


class CommandEffect(StrEnum):
    """The condition for running a command, from none to a person's approval.

    `reading` only reads, by names that are known and do not refer to secrets: it may run anywhere.
    `unclear` runs code, uses names that its text does not show, or prints variables that may
    contain secrets: it may run confined, where secrets are invisible, nothing outside can be
    written and no other machine can be reached. `writes` changes files of the workspace and says
    which, or installs packages. `outside` reaches out of the workspace: a secret, another place,
    another machine, other privileges. `destroys` deletes what cannot be restored.
    """

    READING = "reading"
    UNCLEAR = "unclear"
    WRITES = "writes"
    OUTSIDE = "outside"
    DESTROYS = "destroys"

    @property
    def severity(self) -> int:
        """Return the position in the order above."""
        return tuple(CommandEffect).index(self)


_EFFECTS = {
    CommandKind.READ_ONLY: CommandEffect.READING,
    CommandKind.VERIFICATION: CommandEffect.UNCLEAR,
    CommandKind.MUTATING: CommandEffect.WRITES,
    CommandKind.DESTRUCTIVE: CommandEffect.DESTROYS,
    CommandKind.UNKNOWN: CommandEffect.UNCLEAR,
}

Answer = Literal["allow", "ask", "deny"]


class Finding(NamedTuple):
    """One finding of the walk; a veto applies in every phase.

    `unread`: the meaning of its text was not examined. `runs`: it starts code that the text does
    not show; `fed`: the text that is piped into it. `away`: it contacts another machine or takes
    other privileges. `scratch`: it writes only temporary files. `reveals`: it prints variables or
    settings that may contain secrets.
    """

    text: str
    kind: CommandKind
    reason: str
    veto: bool = False
    proves: str = ""
    unread: bool = False
    runs: bool = False
    fed: bool = False
    away: bool = False
    scratch: bool = False
    reveals: bool = False

    @property
    def effect(self) -> CommandEffect:
        """Return how this may be run. Only this property decides it."""
        if self.veto and self.kind is not CommandKind.DESTRUCTIVE:
            return CommandEffect.OUTSIDE
        if self.away and self.kind not in (CommandKind.READ_ONLY, CommandKind.VERIFICATION):
            return CommandEffect.OUTSIDE
        if self.runs and self.kind is CommandKind.MUTATING:
            return CommandEffect.UNCLEAR
        if self.reveals and self.kind is CommandKind.READ_ONLY:
            return CommandEffect.UNCLEAR
        return _EFFECTS[self.kind]

    def at_least(self, floor: CommandKind, reason: str) -> Finding:
        """Return the same finding, raised to a minimum class if necessary."""
        if self.kind.severity >= floor.severity:
            return self
        return self._replace(kind=floor, reason=f"{self.reason}; {reason}")


class CommandPart(msgspec.Struct, frozen=True):
    """One part of a command, with its class and the reason."""

    text: str
    kind: CommandKind = msgspec.field(name="class")
    reason: str
    effect: CommandEffect = CommandEffect.UNCLEAR


class Judgement(msgspec.Struct, frozen=True):
    """The judgement of a whole command."""

    decision: Answer
    kind: CommandKind = msgspec.field(name="class")
    reason: str
    parts: tuple[CommandPart, ...]
    effect: CommandEffect = CommandEffect.UNCLEAR


class AllowRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A program the user declares safe: leading words, and patterns for every word after them.

    Each word after the prefix must match one of the shell-style patterns; with none, the prefix
    must be the whole command. Substitutions and redirections around it are judged as usual.
    """

    prefix: tuple[str, ...]
    args: tuple[str, ...] = ()
    kind: CommandKind = msgspec.field(default=CommandKind.READ_ONLY, name="class")

    def __post_init__(self) -> None:
        if not self.prefix or not all(self.prefix):
            raise ValueError("an allow rule needs at least one non-empty word as its prefix")
        if self.kind is CommandKind.UNKNOWN:
            raise ValueError("an allow rule must say what the command is, not `unknown`")
