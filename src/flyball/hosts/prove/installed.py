"""Find our hooks in a host's current settings, and anything that would prevent them from
running."""

from __future__ import annotations

import json
import os
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

from flyball.errors import BrokenSettings
from flyball.hosts.install.json_hooks import HOOKS, is_ours, level_of
from flyball.hosts.install.jsonc import scan
from flyball.hosts.install.needs import HostNeed, NeedState, asks_at_a_door, host_needs
from flyball.hosts.install.plan import plan_install
from flyball.hosts.install.plugin import is_plugin
from flyball.hosts.install.targets import (
    FileForm,
    HostPlaces,
    InstallScope,
    InstallTarget,
    find_target,
)
from flyball.hosts.prove.lines import ProofLine, ProofState
from flyball.regex import regex
from flyball.settings import LEVELS

CLAIM = "Flyball's hooks are in the settings, and nothing there keeps them from running"
_PLUGIN_HOOK = regex(r'^const HOOK = (".*")$', re.M)


class InstalledHooks(NamedTuple):
    """Our hooks in one settings file: the program that they name, and the file's text."""

    target: InstallTarget
    executable: str
    text: str

    @property
    def level(self) -> str:
        """Return the level that the hooks name; empty if the settings decide it."""
        return level_of(self.text)

    @property
    def observes(self) -> bool:
        """Return whether the hooks only observe."""
        return self.level == "observe"


def find_hooks(host: str, places: HostPlaces) -> tuple[list[InstalledHooks], list[str]]:
    """Return our hooks in every scope, strongest first, and why a file could not be read."""
    found: list[InstalledHooks] = []
    troubles: list[str] = []
    for scope in (InstallScope.MANAGED, InstallScope.USER, InstallScope.PROJECT):
        if scope not in places.files(host):
            continue
        target = find_target(host, scope, places)
        try:
            text = target.path.read_bytes().decode()
            executable = next(_executables(target, text), "")
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError, BrokenSettings, tomllib.TOMLDecodeError) as error:
            troubles.append(f"{target.path} cannot be read: {error}")
            continue
        if executable:
            found.append(InstalledHooks(target, executable, text))
    return found, troubles


def _executables(target: InstallTarget, text: str) -> Iterator[str]:
    if target.form is FileForm.PLUGIN:
        hook = _PLUGIN_HOOK.search(text) if is_plugin(text) else None
        if hook:
            yield json.loads(hook[1])
        return
    is_toml = target.form is FileForm.TOML
    value = tomllib.loads(text) if is_toml else scan(text, os.fspath(target.path)).value
    for group in groups_in(value):
        if is_ours(group, target.host.name) and "command" in group[HOOKS][0]:
            yield shlex.split(group[HOOKS][0]["command"])[0]


def groups_in(settings: object) -> Iterator[Any]:
    """Yield every group of handlers of every event."""
    hooks = cast("dict[str, object]", settings).get(HOOKS) if isinstance(settings, dict) else None
    for groups in cast("dict[str, object]", hooks).values() if isinstance(hooks, dict) else ():
        yield from cast("list[object]", groups) if isinstance(groups, list) else ()


def read_settings_files(host: str, places: HostPlaces) -> tuple[ProofLine, list[InstalledHooks]]:
    """Read the settings and check that the hooks are present and would run; return the hooks as
    well."""
    found, troubles = find_hooks(host, places)
    if not found:
        seen = "; ".join(troubles) or "no settings of this host have hooks of Flyball"
        line = ProofLine("settings", CLAIM, ProofState.FAILED, seen, f"flyball init --host {host}")
        return line, found
    faults = {each.target.scope: list(_faults(each, places)) for each in found}
    good = [each for each in found if not faults[each.target.scope]]
    if good:
        where = ", ".join(f"{each.target.path}{_at_level(each)}" for each in good)
        return ProofLine("settings", CLAIM, ProofState.FOUND, f"they are in {where}"), found
    texts = dict.fromkeys(fault for each in faults.values() for fault in each)
    seen = " ".join(texts)
    next = _next(host, found[0], places, seen)
    return ProofLine("settings", CLAIM, ProofState.FAILED, seen, next), found


def _at_level(hooks: InstalledHooks) -> str:
    return f" at level {hooks.level}: {LEVELS[hooks.level]}" if hooks.level else ""


def _faults(hooks: InstalledHooks, places: HostPlaces) -> Iterator[str]:
    for need in _needs(hooks, places):
        if need.state is NeedState.MISSING:
            yield need.text
    if _is_stale(hooks, places):
        yield f"{hooks.target.path} has the hooks of another release of Flyball."


def _next(host: str, hooks: InstalledHooks, places: HostPlaces, faults: str) -> str:
    """Return the first thing to do; the faults give the details."""
    if not os.access(hooks.executable, os.X_OK) or _is_stale(hooks, places):
        level = f" --level {hooks.level}" if hooks.level else ""
        return f"flyball init --host {host} --scope {hooks.target.scope}{level}"
    again = f"then check again: flyball doctor --host {host}"
    if "/hooks" in faults:
        return f"start `codex`, type `/hooks`, trust those of Flyball, {again}"
    return f"take that out of the file, {again}"


def _is_stale(hooks: InstalledHooks, places: HostPlaces) -> bool:
    door = next(asks_at_a_door(hooks.text), None)
    again = plan_install(hooks.target, hooks.executable, places.environ, door, hooks.level)
    return again.is_change


def _needs(hooks: InstalledHooks, places: HostPlaces) -> list[HostNeed]:
    return host_needs(hooks.target, places, hooks.executable, hooks.text)


def installation_notes(hooks: InstalledHooks, places: HostPlaces) -> Iterator[str]:
    """Yield facts about these hooks that a person must know and Flyball cannot check."""
    for need in _needs(hooks, places):
        if need.state is NeedState.TOLD:
            yield need.text


def cli_beside(executable: str) -> Path:
    """Return the command line program that belongs to an installed hook."""
    return Path(executable).with_name("flyball")
