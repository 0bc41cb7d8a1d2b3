"""Watch the files that hosts read their hooks from: detect who disables hooks, and restore them.

Files in a project that git tracks are restored like any other forbidden change. Most personal
settings files are ignored by git, so no tree records their changes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from flyball.agents.event import HostEvent
from flyball.app.project import Home
from flyball.hosts.install.json_hooks import level_of
from flyball.hosts.install.reading import parse_settings, settings_text
from flyball.hosts.install.targets import HostPlaces
from flyball.regex import regex
from flyball.settings import LEVELS
from flyball.workspace.files.path_rules import HOOKS_READ_FROM
from flyball.workspace.process.process_identity import environ_of

OFF = regex(r'"(?:disableAllHooks"\s*:\s*true|enabled"\s*:\s*false)')
OURS = "flyball-hook"
PUT_BACK = "{files} had different hooks than when the work started, and was restored."
_KEPT = "hook_files.json"
_FILES = tuple(name if Path(name).suffix else f"{name}/flyball.js" for name in HOOKS_READ_FROM)
_DECIDING = ("hooks", "disableAllHooks", "allowManagedHooksOnly", "hooksConfig", "features")
"""The settings that decide which hooks run; hosts write other settings themselves."""


def disarms(event: HostEvent, top: Path, environ: Mapping[str, str], level: str) -> bool:
    """Return whether a file disables hooks, or none of the host's files has ours.

    Hooks with a lower level than the session's count as missing.

    The location of a host's files depends on the host's own environment, which can differ from the
    governor's if another session started the governor.
    """
    if OFF.search(settings_text(Path(event.file))):
        return True
    places = HostPlaces({**environ, **environ_of(event.process)}, top)
    texts = map(settings_text, settings_files(event.host, places))
    order = [*LEVELS].index
    return not any(
        OURS in each and order(level_of(each) or level) >= order(level) for each in texts
    )


def settings_files(host: str, places: HostPlaces) -> tuple[Path, ...]:
    """Return every file that a host reads its hooks from."""
    found = [*places.files(host).values()]
    if host == "claude":
        found.append(places.project / ".claude" / "settings.local.json")
    if host == "codex":
        found.append(places.directory("CODEX_HOME", ".codex") / "config.toml")
    if host == "opencode" and (given := places.environ.get("OPENCODE_CONFIG_DIR")):
        found.append(Path(given) / "plugins" / "flyball.js")
    return tuple(found)


def remember_hooks(home: Home, run: str) -> None:
    """Store a project's hook settings as they are when a run begins."""
    _keep(home, run, {name: settings_text(home.repo / name) for name in _FILES})


def were_hooks_touched(home: Home, run: str) -> bool:
    """Return whether a file that decides about hooks has changed since the run began."""
    return any(settings_text(home.repo / name) != text for name, text in _kept(home, run).items())


def restore_hook_files(home: Home, run: str) -> str:
    """Restore each changed file that would change which hooks run; return a description."""
    known = _kept(home, run)
    now = {name: settings_text(home.repo / name) for name in known}
    undone = [name for name in known if _deciding(name, known[name]) != _deciding(name, now[name])]
    for name in undone:
        _write(home.repo / name, known[name])
    # The host's own entries, such as remembered permissions, stay.
    _keep(home, run, {**now, **{name: known[name] for name in undone}})
    return PUT_BACK.format(files=", ".join(undone)) if undone else ""


def _deciding(name: str, text: str) -> object:
    """Return the part of a file that decides about hooks; the whole file if it is not valid."""
    if Path(name).suffix not in (".toml", ".json"):
        return text
    found = parse_settings(Path(name), text)
    if not found.is_valid:
        return text
    # A host may ignore the whole file because of a comment.
    return {key: found.values.get(key) for key in _DECIDING}, bool(found.oddities)


def _kept(home: Home, run: str) -> dict[str, str]:
    with suppress(OSError, ValueError, AttributeError):
        found = json.loads((home.state / "runs" / run / _KEPT).read_text())
        return {name: str(found[name]) for name in _FILES if name in found}
    return {}


def _keep(home: Home, run: str, texts: Mapping[str, str]) -> None:
    (home.state / "runs" / run / _KEPT).write_text(json.dumps(texts))


def _write(place: Path, text: str) -> None:
    # Never through a link, whose target is unknown.
    place.unlink(missing_ok=True)
    if text:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode("utf-8", "surrogateescape"))
