"""Rules about a path's names, applied before the disk is read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from flyball.regex import regex
from flyball.secret_files import holds_secret
from flyball.workspace.files.protected import DEFAULT_PROTECTED, PROTECTED

OWN = ("flyball.toml", ".flyball")
"""Flyball's own policy, templates and records."""


HOOKS_READ_FROM = (
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".codex/hooks.json",
    ".codex/config.toml",
    ".gemini/settings.json",
    ".opencode/plugin",
    ".opencode/plugins",
)
"""Where other agents find their hooks in a project: writing there may disable ours."""


def protected_names(*, self_modify: bool) -> tuple[str, ...]:
    """Return the protected names; records stay protected even where Flyball itself may be
    changed."""
    if not self_modify:
        return DEFAULT_PROTECTED
    return (*(name for name in DEFAULT_PROTECTED if name not in OWN), ".flyball/artifacts")


def is_own(path: str) -> bool:
    """Return whether a workspace path is Flyball's own policy, template or record."""
    return bool(why_protected(path.split("/"), OWN))


def holds_secrets(path: str, more: Sequence[str] = ()) -> bool:
    """Return whether a file at this path holds secrets, by its name."""
    return holds_secret("/".join(map(fold, path.split("/"))), more)


_DEVICE = regex(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.I)
_SHORT_GIT = regex(r"git~[0-9]+")


def fold(name: str) -> str:
    """Return the name as the most lenient file system would read it."""
    # NTFS and HFS+ ignore case, some invisible characters, trailing dots and spaces, and read
    # `git~1` as .git; a name is judged as the most lenient of them would read it.
    visible = name
    if not (name.isascii() and name.isprintable()):
        visible = "".join(
            ch
            for ch in unicodedata.normalize("NFKC", name)
            if unicodedata.category(ch) not in ("Cf", "Cc", "Mn", "Me")
        )
    bare = visible.split(":", 1)[0].rstrip(". \t") or visible
    folded = unicodedata.normalize("NFKC", bare.casefold())
    return ".git" if _SHORT_GIT.fullmatch(folded) else folded


def reads_hooks_from(path: str) -> bool:
    """Return whether a host reads its hooks from this path."""
    return bool(why_protected(path.split("/"), HOOKS_READ_FROM))


def why_protected(parts: Sequence[str], protected: Sequence[str]) -> str:
    """Return why a path with these components may not be written; empty if it may."""
    folded = [fold(part) for part in parts]
    for pattern in protected:
        wanted = [fold(part) for part in pattern.strip("/").split("/")]
        here = folded[: len(wanted)] == wanted if len(wanted) > 1 else wanted[0] in folded
        if here:
            return f"{pattern} is protected: {PROTECTED.get(pattern, 'the policy says so')}"
    return ""


def why_unportable(name: str) -> str:
    """Return why a new file should not have this name; empty if it may."""
    if "\\" in name:
        return "it contains a backslash; separate directories with /"
    if ":" in name:
        return "it contains a colon, which names a hidden stream on Windows"
    if name != name.rstrip(". "):
        return "it ends in a dot or a space, which some systems drop"
    if name != name.lstrip(" "):
        return "it begins with a space"
    if _DEVICE.fullmatch(name):
        return "it is the name of a device on Windows"
    if any(unicodedata.category(ch) in ("Cf", "Cc", "Zl", "Zp") for ch in name):
        return "it contains invisible characters"
    return ""
