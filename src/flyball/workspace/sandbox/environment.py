"""Build a command's environment with `clean`: from a few names, not inherited."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from flyball.workspace.sandbox.places import TOOLCHAINS

PASSED = ("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "COLUMNS", "LINES")
"""Variables passed on unchanged: they affect output, not what is run."""

STANDARD_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")

SETTLED: dict[str, str] = {
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONNOUSERSITE": "1",
    "PYTHONUNBUFFERED": "1",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "true",
    "PAGER": "cat",
    "EDITOR": "true",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "CI": "1",
    "DEBIAN_FRONTEND": "noninteractive",
}
"""Variables that we set: no prompts, no pagers, no personal configuration."""


def clean(
    source: Mapping[str, str],
    *,
    workspace: Path | None = None,
    allowed: Iterable[str] = (),
    extra: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return a small environment drawn from `source`, without secrets or planted values.

    `allowed` are further names that the user permits; `extra` is set last, by Flyball itself.
    """
    env = {name: source[name] for name in (*PASSED, *allowed) if name in source}
    env.setdefault("LANG", "C.UTF-8")
    env.update(SETTLED)
    home = source.get("HOME", "")
    # After the fixed variables and before `extra`: HOME is about to become a private directory, so
    # managers that search for their tools there need the real paths.
    env.update(toolchains(source, Path(home) if home else None))
    env["PATH"] = os.pathsep.join(search_path(source.get("PATH", ""), workspace))
    env.update(extra or {})
    return env


_ASTRAY = (
    "LD_", "DYLD_", "GIT_", "SSH_", "GPG_", "DBUS_", "XDG_", "ACTIONS_", "FLYBALL", "PYTEST_",
    "PYTHON", "PIP_", "NODE_", "npm_", "RUBY", "GEM_", "BUNDLE_", "PERL5", "JAVA_TOOL_", "JDK_",
    "_JAVA", "MAVEN_", "GRADLE_", "CARGO_", "RUST", "PHP", "COVERAGE_", "BASH_", "JEST_", "VITEST",
)  # fmt: skip
_ASTRAY_NAMES = frozenset(
    {"HOME", "PATH", "PWD", "OLDPWD", "TMPDIR", "TMP", "TEMP", "ENV", "SHLVL", "_", "VIRTUAL_ENV",
     "DISPLAY", "WAYLAND_DISPLAY", "GOFLAGS", "GOENV", "GOCACHE", "GOPATH", "CDPATH", "IFS",
     "PROMPT_COMMAND", "DEBUG"}
)  # fmt: skip


def users_names(source: Mapping[str, str]) -> list[str]:
    """Return the user's variables that a project's own tests may read.

    Variables that change which programs, modules or options are loaded are excluded, as they would
    change the meaning of our run.
    """
    return [name for name in source if name not in _ASTRAY_NAMES and not name.startswith(_ASTRAY)]


def toolchains(source: Mapping[str, str], home: Path | None) -> dict[str, str]:
    """Return the directories of installed tool managers."""
    found: dict[str, str] = {}
    for name, below in TOOLCHAINS.items():
        place = Path(source[name]) if source.get(name) else home / below if home else None
        if place and place.is_absolute() and os.access(place, os.R_OK | os.X_OK):
            found[name] = str(place)
    return found


def search_path(value: str, workspace: Path | None = None) -> list[str]:
    """Return the directories of a PATH that are safe to run from, then the standard ones."""
    top = os.path.realpath(workspace) if workspace else ""
    entries = dict.fromkeys((*value.split(os.pathsep), *STANDARD_PATH))
    return [entry for entry in entries if _is_safe(entry, top)]


def _is_safe(entry: str, top: str) -> bool:
    # Checked as text: every hook needs this, and path objects would take half of its time.
    if not entry.startswith("/") or ".." in entry.split("/"):
        return False
    real = os.path.realpath(entry)
    # A program planted in the workspace, or in a world-writable directory, would run in place of
    # git or of a test runner the next time one is started by name.
    if top and f"{real}/".startswith(f"{top}/"):
        return False
    try:
        mode = Path(real).stat().st_mode
    except OSError:
        return False
    return stat.S_ISDIR(mode) and not mode & stat.S_IWOTH
