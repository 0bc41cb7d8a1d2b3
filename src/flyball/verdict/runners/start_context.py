"""What starting a runner needs to know of its surroundings; a tool's `CallContext` is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol, Self

from flyball.core.suite.settled import ProjectCommands
from flyball.core.terms.progress import Progress
from flyball.workspace.files.paths import Root
from flyball.workspace.process.process import CommandLimits
from flyball.workspace.redaction import Redactor
from flyball.workspace.run.workspace import Workspace
from flyball.workspace.sandbox.confinement import Sandbox


class StartSettings(Protocol):
    """The settings that decide how a runner is started."""

    @property
    def network(self) -> bool:
        """Return whether processes may use the network."""
        ...

    @property
    def commands(self) -> ProjectCommands:
        """Return the commands that the user settled for tests and checks."""
        ...


class StartContext(Protocol):
    """A tree, where its project's tools are installed, and how processes are confined to it."""

    @property
    def project(self) -> Path: ...
    @property
    def root(self) -> Root: ...
    @property
    def at(self) -> str: ...
    @property
    def workdir(self) -> Path: ...
    @property
    def tree(self) -> str: ...
    @property
    def is_scratch(self) -> bool: ...
    @property
    def workspace(self) -> Workspace: ...
    @property
    def settings(self) -> StartSettings: ...
    @property
    def limits(self) -> CommandLimits: ...
    @property
    def env(self) -> Mapping[str, str]: ...
    @property
    def shelf(self) -> Path: ...
    @property
    def report(self) -> Path: ...
    @property
    def cache(self) -> Path: ...
    @property
    def caches(self) -> Path: ...
    @property
    def kept(self) -> tuple[Path, ...]: ...
    @property
    def sandbox(self) -> Sandbox: ...
    @property
    def redactor(self) -> Redactor: ...
    @property
    def shown(self) -> Callable[[str], None] | None: ...
    @property
    def tell_progress(self) -> Callable[[Progress], None]: ...
    @property
    def is_logged(self) -> bool: ...
    @property
    def log(self) -> Path: ...

    def started(self, shelf: Path, at: str) -> Self:
        """Return the same context with a shelf of its own, in a directory of the tree."""
        ...
