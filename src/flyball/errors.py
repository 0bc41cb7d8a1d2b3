"""The error classes and their hierarchy.

    FlyballError(code)
    ├── UsageError            the caller must change the request
    │   ├── ConfigError         a setting is wrong
    │   │   ├── EmptyCommand      a configured command is empty
    │   │   ├── UnbalancedCommand a configured command cannot be split into words
    │   │   ├── NoSuchDirectory   a command is configured for a missing directory
    │   │   ├── MissingExtra      a required package is not installed
    │   │   └── BrokenSettings    a host's settings file cannot be read (file, place)
    │   ├── TemplateError       a template or flow file is wrong (file, line, hint)
    │   ├── NotFound            no such run, card, file … (kind, id)
    │   ├── Conflict            the request does not fit the current state
    │   ├── BadAttestation      an attestation is not as it was signed (place)
    │   ├── NotAPerson          an agent attempted what only a person may do
    │   └── NotAllowed          the person's role does not allow this
    ├── IllegalEvent          an event the table does not allow: our bug
    ├── ToolError             a tool failed
    │   ├── OutsideWorkspace    a path leaves the workspace or is protected
    │   ├── ToolTimeout         it took too long
    │   └── ToolUnavailable     a program or kernel feature is missing
    ├── PatchError            a diff cannot be applied (see flyball.patch)
    ├── DriverError           the driver failed (retryable or not)
    └── JournalError          the log cannot be used
        ├── SchemaTooNew        written by a later release
        ├── Corrupt             the log is inconsistent
        └── LeaseHeld           another process drives this run

A red test, a failed gate, a spent budget, a tripped guard, a denied call and a non-zero exit are
values, not errors.
"""

from __future__ import annotations

from typing import ClassVar


class FlyballError(Exception):
    """The base of all errors, each with a stable code."""

    code: ClassVar[str] = "flyball-error"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()


class UsageError(FlyballError):
    """The request must change."""

    code = "usage"


class ConfigError(UsageError):
    """A setting has an unknown name or an invalid value."""

    code = "config"


class EmptyCommand(ConfigError):
    """A configured command that tests or checks a directory is empty."""

    code = "command-empty"


class UnbalancedCommand(ConfigError):
    """A configured command cannot be split into words, for example because of an unclosed quote."""

    code = "command-unbalanced"


class NoSuchDirectory(ConfigError):
    """A command is configured for a directory that the project does not have."""

    code = "no-such-directory"


class MissingExtra(ConfigError):
    """An optional feature needs a package that is not installed."""

    code = "extra-missing"

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(
            f"{what} needs the package {package}, which is not installed.",
            f"Install it with: pip install 'flyball[{extra}]'.",
        )
        self.package = package


class BrokenSettings(ConfigError):
    """A host's settings file has invalid syntax; nothing was changed."""

    code = "settings-broken"

    def __init__(self, file: str, place: str, what: str) -> None:
        super().__init__(f"{file}:{place}: {what}.", "Fix the file first; it was not changed.")
        self.file = file
        self.place = place


class TemplateError(UsageError):
    """A template or flow file is wrong, at a known line."""

    code = "template"

    def __init__(self, message: str, *, file: str, line: int, hint: str) -> None:
        super().__init__(message, hint)
        self.file = file
        self.line = line

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {super().__str__()}"


class NotFound(UsageError):
    """There is nothing with that id."""

    code = "not-found"

    def __init__(self, kind: str, id: str, hint: str = "") -> None:
        super().__init__(f"There is no {kind} {id!r}.", hint)
        self.kind = kind
        self.id = id


class Conflict(UsageError):
    """The request does not fit the current state."""

    code = "conflict"


class AlreadyMerged(Conflict):
    """The run's work is already in the user's branch."""

    code = "already-merged"


class NothingToMerge(Conflict):
    """The run changed nothing, so there is nothing to merge."""

    code = "nothing-to-merge"


class BadAttestation(UsageError):
    """An attestation was altered, or has the wrong signer."""

    code = "attestation-bad"

    def __init__(self, place: str, what: str) -> None:
        super().__init__(
            f"This attestation is refused, at {place}: {what}.",
            "Ask for the file again where it was made, or take the verdict yourself: "
            "`flyball verify`.",
        )
        self.place = place


class NotAPerson(UsageError):
    """An action reserved for people was attempted from inside a governed agent."""

    code = "not-a-person"


class NotAllowed(UsageError):
    """The request needs another role than the person has."""

    code = "not-allowed"


class IllegalEvent(FlyballError):
    """The table has no row for this event here, or the event contradicts the state."""

    code = "illegal-event"


class ToolError(FlyballError):
    """A tool failed."""

    code = "tool"


class OutsideWorkspace(ToolError):
    """A path leads out of the workspace, or to a protected path in it."""

    code = "outside-workspace"

    def __init__(self, path: str, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.path = path


class ToolTimeout(ToolError):
    """A process exceeded its time limit and was ended."""

    code = "tool-timeout"


class ToolUnavailable(ToolError):
    """A program or kernel feature that the tool needs is not available."""

    code = "tool-unavailable"


class PatchError(FlyballError):
    """A diff was rejected."""

    code = "patch"


class DriverError(FlyballError):
    """The driver returned no usable reply."""

    code = "driver"

    def __init__(self, message: str, hint: str = "", *, retryable: bool = False) -> None:
        super().__init__(message, hint)
        self.retryable = retryable


class JournalError(FlyballError):
    """The journal cannot be read or written."""

    code = "journal"


class SchemaTooNew(JournalError):
    """A later release wrote this journal."""

    code = "schema-too-new"


class Corrupt(JournalError):
    """The journal is inconsistent."""

    code = "corrupt"


class LeaseHeld(JournalError):
    """Another process drives this run."""

    code = "lease-held"

    def __init__(self, run: str, holder: str) -> None:
        super().__init__(
            f"Run {run} is held by {holder}.",
            "Wait for it to rest, or stop that process and resume.",
        )
        self.run = run
        self.holder = holder
