"""Select the file to write for each host and scope, and the events to hook.

Observed with the real programs: Claude Code 2.1.325, Codex 0.166.0, Gemini CLI 0.61.0. None of them
gets a matcher: hooks run for every tool, known or not.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from flyball.errors import UsageError
from flyball.hosts.install.door import HookDoor
from flyball.hosts.install.json_hooks import Hooks, command_of
from flyball.hosts.install.jsonc import (
    BLOCK_COMMENT,
    BYTE_ORDER_MARK,
    DOUBLE_KEY,
    LINE_COMMENT,
    TRAILING_COMMA,
)


class InstallScope(StrEnum):
    """The scope of the settings: the user's, the project's, or the machine's, which users cannot
    disable."""

    USER = "user"
    PROJECT = "project"
    MANAGED = "managed"


class FileForm(StrEnum):
    """The format in which our hooks are written."""

    JSON = "json"
    TOML = "toml"
    PLUGIN = "plugin"


SECONDS, SECONDS_TO_STOP = 30, 600
"""Timeouts of hooks: the verdict is taken while a stop is held, and tests take time."""

OF_CALLS = frozenset({"PreToolUse", "PostToolUse", "PostToolUseFailure"})
"""The events that occur for every single call of a host."""
GEMINI_SWITCH = ("hooksConfig", "enabled")

_COMMENTS = frozenset({LINE_COMMENT, BLOCK_COMMENT})


class HookedHost(NamedTuple):
    """A host: its name, its events, and what makes it ignore a settings file."""

    name: str
    title: str
    events: Mapping[str, int]
    ticks: int = 1
    refuses: frozenset[str] = frozenset()
    handler: Mapping[str, str] = {}


def _timed(names: str, **special: int) -> dict[str, int]:
    return {name: special.get(name, SECONDS) for name in names.split()}


HOSTS: dict[str, HookedHost] = {
    "claude": HookedHost(
        "claude",
        "Claude Code",
        _timed(
            "SessionStart UserPromptSubmit UserPromptExpansion PreToolUse PermissionRequest "
            "PostToolUse PostToolUseFailure PostToolBatch Stop SubagentStart SubagentStop "
            "PreCompact ConfigChange SessionEnd",
            Stop=SECONDS_TO_STOP,
        ),
        refuses=_COMMENTS | {TRAILING_COMMA},
    ),
    "codex": HookedHost(
        "codex",
        "Codex",
        # Codex limits these two to three seconds, and warns about a longer timeout at every start.
        _timed(
            "SessionStart UserPromptSubmit PreToolUse PermissionRequest PostToolUse PreCompact "
            "SubagentStart SubagentStop Stop Interrupt SessionEnd",
            Stop=SECONDS_TO_STOP,
            Interrupt=3,
            SessionEnd=3,
        ),
        refuses=_COMMENTS | {TRAILING_COMMA, DOUBLE_KEY, BYTE_ORDER_MARK},
    ),
    "gemini": HookedHost(
        "gemini",
        "Gemini CLI",
        _timed(
            "SessionStart BeforeAgent BeforeTool AfterTool AfterAgent PreCompress SessionEnd",
            AfterAgent=SECONDS_TO_STOP,
        ),
        ticks=1000,
        refuses=frozenset({TRAILING_COMMA, BYTE_ORDER_MARK}),
        handler={"name": "flyball"},
    ),
    "opencode": HookedHost("opencode", "opencode", {}),
}


class InstallTarget(NamedTuple):
    """The one file that an installation writes."""

    host: HookedHost
    scope: InstallScope
    path: Path
    form: FileForm

    @property
    def switch(self) -> tuple[str, str] | None:
        """Return the setting that must be on so that a project cannot disable our hooks."""
        is_gemini = self.host.name == "gemini"
        return GEMINI_SWITCH if is_gemini and self.scope is InstallScope.MANAGED else None


class HostPlaces(NamedTuple):
    """The directories in which hosts keep their files: home, project, and machine."""

    environ: Mapping[str, str]
    project: Path
    machine: Path = Path("/")

    @property
    def home(self) -> Path:
        return Path(self.environ.get("HOME") or "/")

    def directory(self, variable: str, default: str) -> Path:
        """Return a host's user directory, which the host's own variable can move."""
        given = self.environ.get(variable)
        return Path(given) if given else self.home / default

    def files(self, host: str) -> dict[InstallScope, Path]:
        """Return the settings file of a host for each scope that it has."""
        user, project, managed = InstallScope
        etc = self.machine / "etc"
        match host:
            case "claude":
                return {
                    user: self.directory("CLAUDE_CONFIG_DIR", ".claude") / "settings.json",
                    project: self.project / ".claude" / "settings.json",
                    managed: etc / "claude-code" / "managed-settings.json",
                }
            case "codex":
                return {
                    user: self.directory("CODEX_HOME", ".codex") / "hooks.json",
                    project: self.project / ".codex" / "hooks.json",
                    managed: etc / "codex" / "requirements.toml",
                }
            case "gemini":
                base = self.directory("GEMINI_CLI_HOME", "")
                system = self.environ.get("GEMINI_CLI_SYSTEM_SETTINGS_PATH")
                return {
                    user: base / ".gemini" / "settings.json",
                    project: self.project / ".gemini" / "settings.json",
                    managed: Path(system) if system else etc / "gemini-cli" / "settings.json",
                }
            case _:
                config = self.directory("XDG_CONFIG_HOME", ".config")
                return {
                    user: config / "opencode" / "plugins" / "flyball.js",
                    project: self.project / ".opencode" / "plugins" / "flyball.js",
                }


def find_target(host: str, scope: InstallScope, places: HostPlaces) -> InstallTarget:
    """Return the file to write; refuse a scope that a host does not have."""
    path = places.files(host).get(scope)
    if path is None:
        raise UsageError(
            f"{HOSTS[host].title} has no {scope} settings in which hooks could be installed.",
            "Use --scope user or --scope project.",
        )
    form = FileForm.PLUGIN if host == "opencode" else FileForm.JSON
    form = FileForm.TOML if path.suffix == ".toml" else form
    return InstallTarget(HOSTS[host], scope, path, form)


def wanted_hooks(
    host: HookedHost, executable: str, door: HookDoor | None = None, level: str = ""
) -> Hooks:
    """Return the group of handlers for each event of a host.

    With an endpoint, the hooks of calls use HTTP. All others stay commands: they can start the
    governor, and their speed matters less.
    """
    command = command_of(executable, host.name, level)

    def group(event: str, seconds: int) -> dict[str, Any]:
        if door and event in OF_CALLS:
            return {"hooks": [door.handler(host.name, seconds, level)]}
        handler = {"type": "command", **host.handler, "command": command}
        return {"hooks": [{**handler, "timeout": seconds * host.ticks}]}

    return {event: group(event, seconds) for event, seconds in host.events.items()}
