"""The opencode plugin: one file, entirely ours."""

from __future__ import annotations

import json
from pathlib import Path

from flyball.errors import Conflict

CANNOT_HOLD = (
    "opencode cannot hold a stop: Flyball sends the reason as a new prompt, but `opencode run` "
    "exits before reading it. Only a session that stays open is held."
)
"""What the plugin cannot do, in words for a person."""

_SOURCE = Path(__file__).with_name("opencode_plugin.js")
_MARK = "// flyball: put here by `flyball init"
_LEVEL = 'const LEVEL = ""'


def rendered(executable: str, level: str = "") -> str:
    """Return the module that opencode loads, with the program that it calls."""
    text = _SOURCE.read_text("utf-8").replace('"@HOOK@"', json.dumps(executable))
    return text.replace(_LEVEL, _LEVEL.replace('""', json.dumps(level)))


def is_plugin(text: str) -> bool:
    """Return whether a file is our plugin, of any release."""
    return text.startswith(_MARK)


def replaced(text: str | None, path: str, module: str) -> str:
    """Return our module to replace an older one; refuse to replace a foreign file."""
    if text is not None and not is_plugin(text):
        raise Conflict(f"{path} is not Flyball's.", "Rename that plugin, and repeat.")
    return module
