"""The whole taxonomy of errors.

    FlyballError(code)
    ├── UsageError            the caller must change the request
    │   ├── ConfigError         a setting is wrong
    │   │   ├── EmptyCommand      a settled command says nothing
    │   │   ├── UnbalancedCommand a settled command cannot be split into words
    │   │   ├── NoSuchDirectory   a command is settled for a directory that is not there
    │   │   ├── MissingExtra      a part of Flyball is not installed
    │   │   └── BrokenSettings    a host's settings file cannot be read (file, place)
    │   ├── TemplateError       a template or flow file is wrong (file, line, hint)
    │   ├── NotFound            no such run, card, file … (kind, id)
    │   ├── Conflict            the request does not fit the present state
    │   ├── NotAPerson          only a person may say this, and an agent did
    │   └── NotAllowed          this person's role does not reach so far
    ├── IllegalEvent          an event the table does not allow: our bug
    ├── ToolError             a tool could not do its work
    │   ├── OutsideWorkspace    a path leaves the workspace or is protected
    │   ├── ToolTimeout         it took too long
    │   └── ToolUnavailable     what it needs is not on this machine
    ├── PatchError            a diff cannot be applied (see flyball.patch)
    ├── DriverError           whoever thinks failed (retryable or not)
    └── JournalError          the log cannot be used
        ├── SchemaTooNew        written by a later release
        ├── Corrupt             the log contradicts itself
        └── LeaseHeld           another process drives this run

A red test, a failed gate, a spent budget, a tripped guard, a denied call and a non-zero exit are
values, not errors.
"""

from __future__ import annotations

from typing import ClassVar


class FlyballError(Exception):
    """Something went wrong that a caller may want to tell apart by its code."""

    code: ClassVar[str] = "flyball-error"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()


class UsageError(FlyballError):
    """The request itself must change."""

    code = "usage"


class ConfigError(UsageError):
    """A setting has a name or value that is not known."""

    code = "config"


class EmptyCommand(ConfigError):
    """A command that tests or checks a directory is settled, and says nothing."""

    code = "command-empty"


class UnbalancedCommand(ConfigError):
    """A settled command cannot be split into words, as with a quote that nothing closes."""

    code = "command-unbalanced"


class NoSuchDirectory(ConfigError):
    """A command is settled for a directory that the project does not have."""

    code = "no-such-directory"


class MissingExtra(ConfigError):
    """A part of Flyball needs a package that is not installed."""

    code = "extra-missing"

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(
            f"{what} needs the package {package}, which is not installed.",
            f"Install it with: pip install 'flyball[{extra}]'.",
        )
        self.package = package


class BrokenSettings(ConfigError):
    """A host's settings file is not what its format says; nothing was changed."""

    code = "settings-broken"

    def __init__(self, file: str, place: str, what: str) -> None:
        super().__init__(
            f"{file}:{place}: {what}.", "Mend the file first; nothing was changed in it."
        )
        self.file = file
        self.place = place


class TemplateError(UsageError):
    """A template or flow file is wrong, at a known place."""

    code = "template"

    def __init__(self, message: str, *, file: str, line: int, hint: str) -> None:
        super().__init__(message, hint)
        self.file = file
        self.line = line

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {super().__str__()}"


class NotFound(UsageError):
    """Nothing has that id."""

    code = "not-found"

    def __init__(self, kind: str, id: str, hint: str = "") -> None:
        super().__init__(f"There is no {kind} {id!r}.", hint)
        self.kind = kind
        self.id = id


class Conflict(UsageError):
    """The request does not fit the present state of things."""

    code = "conflict"


class AlreadyMerged(Conflict):
    """A run whose work is in the user's branch was to be merged once more."""

    code = "already-merged"


class NothingToMerge(Conflict):
    """A run that changed nothing was to be merged."""

    code = "nothing-to-merge"


class NotAPerson(UsageError):
    """A word that only a person may say, from inside an agent that is governed."""

    code = "not-a-person"


class NotAllowed(UsageError):
    """What a person asked for needs another role than theirs."""

    code = "not-allowed"


class IllegalEvent(FlyballError):
    """The table has no row for this event here, or the event contradicts the state."""

    code = "illegal-event"


class ToolError(FlyballError):
    """A tool could not do what it was asked."""

    code = "tool"


class OutsideWorkspace(ToolError):
    """A path leads out of the workspace, or to a protected place in it."""

    code = "outside-workspace"

    def __init__(self, path: str, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.path = path


class ToolTimeout(ToolError):
    """A process ran past its limit and was ended."""

    code = "tool-timeout"


class ToolUnavailable(ToolError):
    """A program or kernel feature that the tool needs is not here."""

    code = "tool-unavailable"


class PatchError(FlyballError):
    """A diff was refused."""

    code = "patch"


class DriverError(FlyballError):
    """The driver gave no usable reply."""

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
    """The journal contradicts itself."""

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
