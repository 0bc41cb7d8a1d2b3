"""Tool calls, with the facts they are judged by, and their results."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from flyball.terms.finding import AnyFinding


class Access(StrEnum):
    """A tool's effect on its surroundings."""

    READ = "read-only"
    MUTATE = "mutating"
    VERIFY = "verification"
    CHECKPOINT = "checkpoint"

    @property
    def verb(self) -> str:
        return {
            Access.READ: "only reads",
            Access.MUTATE: "changes things",
            Access.VERIFY: "runs the project",
            Access.CHECKPOINT: "states a checkpoint",
        }[self]


class PathFact(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the resolver knows about a path that a call names."""

    path: str
    inside: bool = True
    protected: str = ""
    untracked: bool = False
    write: bool = False


class CommandFact(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the command judge knows about a command that a call names."""

    command: str
    kind: str
    decision: str = "allow"
    reason: str = ""
    effect: str = ""
    """What it may do to the world, as a `CommandEffect`."""
    confined: str = ""
    """How it is confined where it is rewritten to run under the sandbox."""
    asks: str = ""
    """The part of the command that a person is asked about, if the rest has no bearing on it."""


class Call(msgspec.Struct, frozen=True, omit_defaults=True):
    """A requested tool call, with the facts needed to judge it.

    A call that could not be understood carries its error and is never performed.
    """

    id: str
    tool: str
    args: dict[str, object] = msgspec.field(default_factory=dict[str, object])
    access: Access = Access.READ
    digest: str = ""
    paths: tuple[PathFact, ...] = ()
    command: CommandFact | None = None
    confirmed: bool = False
    destructive: str = ""
    keeps_regions: bool = True
    fault: str = ""
    understood: str = ""
    """How the arguments were interpreted, if the driver spelled them differently."""
    called: str = ""
    """The host's name for the tool; the call is judged as Flyball's own tool."""
    preview: str = ""
    """What an edit would make of the files, computed for the person who has to approve it."""

    @property
    def name(self) -> str:
        """Return the tool's name as the driver knows it."""
        return self.called or self.tool

    @property
    def writes(self) -> tuple[str, ...]:
        """Return the paths that the call would change."""
        return tuple(fact.path for fact in self.paths if fact.write)


WEB_SEARCH, WEB_FETCH = "web_search", "web_fetch"
"""What providers' own tools are called; Flyball has none of these names."""


class WebLook(msgspec.Struct, frozen=True, omit_defaults=True):
    """A search or fetch that a model's provider made while replying; it is over when reported."""

    id: str
    tool: str
    about: str
    """The query, or the address."""
    ok: bool = True
    text: str = ""
    """What came back, as much of it as is kept."""
    digest: str = ""
    """Of all that came back."""
    bytes: int = 0


INTERRUPTED = "interrupted"
"""The status of an interrupted call: it may have done part of its work, or none."""


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of a call."""

    ok: bool
    text: str = ""
    data: dict[str, object] = msgspec.field(default_factory=dict[str, object])
    digest: str = ""
    error: str = ""
    elapsed: float = 0.0
    bytes: int = 0
    cut: int = 0
    artifact: str = ""
    finding: AnyFinding | None = None


def digest(value: object) -> str:
    """Return a short stable digest of a JSON-like value; the order of keys does not matter."""
    from hashlib import sha256

    try:
        data = msgspec.json.encode(value, order="deterministic")
    except (UnicodeEncodeError, OverflowError):
        import json

        data = json.dumps(value, sort_keys=True).encode()
    return sha256(data).hexdigest()[:16]
