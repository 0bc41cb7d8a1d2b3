"""Read the settings files of hosts, whatever their form; nothing in them is trusted."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, NamedTuple, cast

from flyball.errors import BrokenSettings
from flyball.hosts.install.jsonc import scan
from flyball.workspace.files.plain import read_plain


class HostSettings(NamedTuple):
    """The values of a settings file; empty if it is not valid."""

    values: dict[str, Any]
    oddities: frozenset[str] = frozenset()
    is_valid: bool = True


def settings_text(path: Path) -> str:
    """Return a settings file's text; empty if it cannot be read."""
    return (read_plain(path) or b"").decode("utf-8", "surrogateescape")


def read_settings(path: Path) -> HostSettings:
    """Return the values of a settings file."""
    return parse_settings(path, settings_text(path))


def parse_settings(path: Path, text: str) -> HostSettings:
    """Return the values of a settings text; the file's name says which form it has."""
    try:
        if path.suffix == ".toml":
            return HostSettings(tomllib.loads(text))
        found = scan(text, str(path))
        return HostSettings(table(found.value), frozenset(each.kind for each in found.oddities))
    except (BrokenSettings, tomllib.TOMLDecodeError):
        return HostSettings({}, is_valid=False)


def table(found: object, *keys: str) -> dict[str, Any]:
    """Return the table at these keys; empty where there is another value."""
    for key in ("", *keys):
        if key:
            found = cast("dict[str, Any]", found).get(key)
        if not isinstance(found, dict):
            return {}
    return cast("dict[str, Any]", found)
