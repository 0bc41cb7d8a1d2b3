"""Check what a host needs besides our hooks in its settings."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, cast

from flyball.hosts.install.door import HookDoor, door_of
from flyball.hosts.install.json_hooks import handlers_of, level_of
from flyball.hosts.install.jsonc import place, scan
from flyball.hosts.install.plugin import CANNOT_HOLD
from flyball.hosts.install.reading import parse_settings, read_settings, table
from flyball.hosts.install.targets import (
    FileForm,
    HookedHost,
    HostPlaces,
    InstallScope,
    InstallTarget,
    wanted_hooks,
)


class NeedState(StrEnum):
    """The result of a check: found, missing, or unknown."""

    MET = "met"
    MISSING = "missing"
    TOLD = "told"


class HostNeed(NamedTuple):
    """A requirement for our hooks to work, or a fact that a person must know."""

    state: NeedState
    text: str


def host_needs(
    target: InstallTarget, places: HostPlaces, executable: str, text: str
) -> list[HostNeed]:
    """Return all requirements for a settings file with this text, missing ones first."""
    found = [*_executable(executable), *_loadable(target, text), *_shared(target, executable)]
    match target.host.name:
        case "claude":
            found += _claude(target, places, text)
        case "codex":
            found += _codex(target, places, executable, text)
        case "gemini":
            found += _gemini(target, places, text)
        case _:
            found.append(_told(CANNOT_HOLD))
    return sorted(found, key=lambda need: need.state is not NeedState.MISSING)


def _met(text: str) -> HostNeed:
    return HostNeed(NeedState.MET, text)


def _missing(text: str) -> HostNeed:
    return HostNeed(NeedState.MISSING, text)


def _told(text: str) -> HostNeed:
    return HostNeed(NeedState.TOLD, text)


def _executable(executable: str) -> Iterator[HostNeed]:
    if not os.access(executable, os.X_OK):
        yield _missing(f"{executable} does not exist: the host would run nothing.")


def _shared(target: InstallTarget, executable: str) -> Iterator[HostNeed]:
    """Yield the effect of a machine-specific path in a file that a team may share."""
    if target.scope != "project":
        return
    title = target.host.title
    is_plugin = target.form is FileForm.PLUGIN
    lost = "no tool may write" if is_plugin else f"{title} continues ungoverned"
    yield _told(
        f"{executable} is a path of this machine: for others who clone the project, {lost} "
        f"unless Flyball is at that place. Leave {target.path} out of commits, and let each of "
        f"them say `flyball init --host {target.host.name}`."
    )


def _loadable(target: InstallTarget, text: str) -> Iterator[HostNeed]:
    """Yield reasons why the host ignores the whole file, including our hooks."""
    if target.form is not FileForm.JSON or not text:
        return
    title, path = target.host.title, target.path
    for each in scan(text, os.fspath(path)).oddities:
        if each.kind in target.host.refuses:
            where = place(text, each.start)
            yield _missing(f"{path}:{where}: {title} does not load a file with {each.kind}.")
            return
    unknown = sorted(_json(text).keys() - {"description", "hooks"})
    if target.host.name == "codex" and unknown:
        yield _missing(f"{path}: Codex does not load a file with the key {unknown[0]!r}.")


FAILS_OPEN = (
    "The hooks of calls ask over HTTP: if no governor answers, Claude Code makes the call. Without "
    "--http they are commands, and a call that may write is refused then."
)


def asks_at_a_door(text: str) -> Iterator[HookDoor]:
    """Yield the HTTP endpoints that our hooks in a settings text call."""
    for groups in table(_json(text), "hooks").values():
        for group in cast("list[object]", groups) if isinstance(groups, list) else ():
            for each in handlers_of(group):
                if isinstance(each, dict) and (door := door_of(cast("dict[str, Any]", each))):
                    yield door


def _claude(target: InstallTarget, places: HostPlaces, text: str) -> Iterator[HostNeed]:
    files = places.files("claude")
    local = files[InstallScope.PROJECT].with_name("settings.local.json")
    managed = files[InstallScope.MANAGED]
    if any(asks_at_a_door(text)):
        yield _told(FAILS_OPEN)
    for path in (*files.values(), local):
        if read_settings(path).values.get("disableAllHooks") is True:
            yield _missing(f"{path} has `disableAllHooks`: no hook runs.")
    if (
        target.scope != "managed"
        and read_settings(managed).values.get("allowManagedHooksOnly") is True
    ):
        yield _missing(f"{managed} has `allowManagedHooksOnly`: use --scope managed.")


def _codex(
    target: InstallTarget, places: HostPlaces, executable: str, text: str
) -> Iterator[HostNeed]:
    files = places.files("codex")
    config = files[InstallScope.USER].with_name("config.toml")
    settled = read_settings(config).values
    features = table(settled, "features")
    if features.get("hooks", features.get("codex_hooks")) is False:
        yield _missing(f"{config} has `features.hooks = false`: no hook runs.")
    if target.scope == "managed":
        yield _met("Managed hooks need no trust and cannot be turned off.")
        return
    managed = files[InstallScope.MANAGED]
    if read_settings(managed).values.get("allow_managed_hooks_only") is True:
        yield _missing(f"{managed} has `allow_managed_hooks_only`: use --scope managed.")
    if target.scope == "project":
        yield _codex_project(settled, places.project, config)
    yield _codex_trust(target, settled, list(trust_entries(target, executable, text)))


def _codex_project(settled: dict[str, Any], project: Path, config: Path) -> HostNeed:
    names = {os.fspath(project), os.path.realpath(project)}
    projects = table(settled, "projects")
    if any(table(projects, name).get("trust_level") == "trusted" for name in names):
        return _met(f"Codex trusts {project}, so it reads its hooks.")
    return _missing(
        f"Codex reads a project's hooks only if {config} trusts the project: say yes "
        f"when `codex` asks in {project}."
    )


def _codex_trust(
    target: InstallTarget, settled: dict[str, Any], wanted: list[tuple[tuple[str, ...], str]]
) -> HostNeed:
    known = table(settled, "hooks", "state")
    trusted = [
        digest
        for keys, digest in wanted
        if any(table(known, key).get("trusted_hash") == digest for key in keys)
    ]
    if wanted and len(trusted) == len(wanted):
        return _met("Codex trusts these hooks.")
    return _missing(
        f"Codex runs a hook only after you trusted it, and does not say so otherwise "
        f"({len(trusted)} of {len(target.host.events)} are trusted): start `codex`, type `/hooks`, "
        f"and trust them; or use --scope managed."
    )


def trust_entries(
    target: InstallTarget, executable: str, text: str
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the possible names and the digest of each of our hooks in a Codex file.

    Codex names a hook by file, event and position, and trusts the digest of the command.
    """
    wanted = wanted_hooks(target.host, executable, level=level_of(text))
    paths = dict.fromkeys((os.fspath(target.path), os.path.realpath(target.path)))
    events = table(_json(text), "hooks")
    for event, group in wanted.items():
        present = events.get(event)
        if isinstance(present, list) and group in present:
            index = cast("list[object]", present).index(group)
            name = re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
            keys = tuple(f"{path}:{name}:{index}:0" for path in paths)
            yield keys, _digest(name, group["hooks"][0])


def _digest(event: str, handler: dict[str, Any]) -> str:
    whole = {"event_name": event, "hooks": [{"async": False, **handler}]}
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _gemini(target: InstallTarget, places: HostPlaces, text: str) -> Iterator[HostNeed]:
    files = places.files("gemini")
    documents = {
        path: _json(text) if path == target.path else read_settings(path).values
        for path in files.values()
    }
    # The managed file takes precedence over a project's.
    managed = table(documents[files[InstallScope.MANAGED]], "hooksConfig")
    for path in files.values():
        config = table(documents[path], "hooksConfig")
        if config.get("enabled") is False and managed.get("enabled") is not True:
            yield _missing(f"{path} has `hooksConfig.enabled: false`: no hook runs.")
        named = config.get("disabled")
        if isinstance(named, list) and _name_of(target.host) in named:
            yield _missing(f"{path} has our hooks among `hooksConfig.disabled`.")
    if target.scope == "project":
        yield _told("Gemini CLI reads a project's settings only in a folder that you trust.")
    if managed.get("enabled") is not True:
        say = _missing if target.scope == "managed" else _told
        yield say(
            "A project's settings can turn the hooks off (`hooksConfig.enabled: false`), unless "
            f'{files[InstallScope.MANAGED]} has `"hooksConfig": {{"enabled": true}}`.'
        )
    yield _told("Without a terminal, Gemini CLI offers tools that write only with --yolo.")


def _name_of(host: HookedHost) -> str:
    return host.handler["name"]


def _json(text: str) -> dict[str, Any]:
    return parse_settings(Path(), text).values
