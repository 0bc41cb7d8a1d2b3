"""A temporary home and project, with the part of a host's settings that decides about hooks.

Nothing else is copied: no keys, accounts, servers, or commands of other hooks.
"""

from __future__ import annotations

import json
import os
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

from flyball.errors import BrokenSettings, ToolUnavailable
from flyball.hosts.install.json_hooks import HOOKS, is_ours
from flyball.hosts.install.jsonc import scan
from flyball.hosts.install.needs import trust_entries
from flyball.hosts.install.targets import HostPlaces, InstallScope
from flyball.hosts.prove.installed import InstalledHooks, groups_in
from flyball.workspace.process.spawn import run_sync

MARK = "PROOF_BY_FLYBALL"
"""A variable in the environment of every process of a proof, used to end them all."""
BROKEN = """\
def total(items):
    result = 0
    for price, quantity in items:
        result += price
    return result
"""
WRONG = BROKEN.replace("+= price", "+= quantity")
RIGHT = BROKEN.replace("+= price", "+= price * quantity")
_TESTS = """\
import unittest

from cart import total


class CartTest(unittest.TestCase):
    def test_nothing(self):
        self.assertEqual(total([]), 0)

    def test_three_pens(self):
        self.assertEqual(total([(2, 3)]), 6)
"""
_KEPT = {
    "claude": ("hooks", "disableAllHooks", "allowManagedHooksOnly"),
    "gemini": ("hooks", "hooksConfig"),
}
"""The settings that decide about hooks; the host's other settings are not copied."""
_QUIET = {"type": "command", "command": "true"}


class ProofStage(NamedTuple):
    """The directories of one session of a host."""

    place: Path

    @property
    def home(self) -> Path:
        return self.place / "home"

    @property
    def project(self) -> Path:
        return self.place / "shop"

    def environ(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Return an environment that contains only the search path for programs."""
        place = os.fspath(self.place)
        # The shop's tests need a Python, which may be missing from the path of a host started from
        # a desktop; ours is one.
        path = (os.fspath(Path(sys.executable).parent), environ.get("PATH") or os.defpath)
        return {
            "HOME": os.fspath(self.home),
            "PATH": os.pathsep.join(path),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "USER": "dev",
            "SHELL": "/bin/sh",
            "TMPDIR": f"{place}/tmp",
            "XDG_RUNTIME_DIR": f"{place}/r",
            "XDG_STATE_HOME": f"{place}/state",
            "GIT_CONFIG_NOSYSTEM": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            # A program that ignores its missing network finds no server behind these.
            "HTTP_PROXY": "http://127.0.0.1:9",
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "NO_PROXY": "127.0.0.1,localhost",
            MARK: place,
        }


def set_stage(
    stage: ProofStage, host: str, places: HostPlaces, hooks: list[InstalledHooks]
) -> None:
    """Create home and project, with the hook-related settings of the user and the project."""
    for name in ("home", "shop", "tmp", "r", "state"):
        (stage.place / name).mkdir(mode=0o700)
    there = HostPlaces({"HOME": os.fspath(stage.home)}, stage.project)
    for old, new in _copied(host, places, there):
        if text := _kept(host, old):
            _write(new, text)
    if host == "codex":
        _write(stage.home / ".codex" / "trust.toml", _codex_trust(places, there, hooks))
    files = {"cart.py": BROKEN, "test_cart.py": _TESTS, ".gitignore": "__pycache__/\n"}
    for name, text in files.items():
        _write(stage.project / name, text)
    _commit(stage, places.environ)


def _copied(host: str, places: HostPlaces, there: HostPlaces) -> Iterator[tuple[Path, Path]]:
    old, new = places.files(host), there.files(host)
    for scope in (InstallScope.USER, InstallScope.PROJECT):
        yield old[scope], new[scope]
    if host == "claude":
        for scope in (InstallScope.USER, InstallScope.PROJECT):
            name = "settings.local.json"
            yield old[scope].with_name(name), new[scope].with_name(name)


def _kept(host: str, path: Path) -> str:
    """Return the part of a settings file to copy to the stage; empty if the file is missing."""
    try:
        text = path.read_bytes().decode()
        value = scan(text, os.fspath(path)).value if path.suffix == ".json" else None
    except (OSError, UnicodeDecodeError, BrokenSettings):
        return ""
    if not isinstance(value, dict):
        return "" if path.suffix == ".json" else text
    settings = cast("dict[str, Any]", value)
    for group in groups_in(settings):
        if not is_ours(group, host):
            _silence(group)
    names = _KEPT.get(host, tuple(settings))
    return json.dumps({key: settings[key] for key in names if key in settings}, indent=1)


def _silence(group: object) -> None:
    """Keep the handlers of others in place, but replace their commands with no-ops."""
    handlers = cast("dict[str, Any]", group).get(HOOKS) if isinstance(group, dict) else None
    for handler in cast("list[object]", handlers) if isinstance(handlers, list) else ():
        # An invalid entry stays, as it may make the host drop the hooks of the whole file.
        if isinstance(handler, dict) and "type" in handler:
            cast("dict[str, Any]", handler).clear()
            cast("dict[str, Any]", handler).update(_QUIET)


def _codex_trust(places: HostPlaces, there: HostPlaces, hooks: list[InstalledHooks]) -> str:
    """Return the user's Codex trust entries for the same hooks and project on the stage."""
    config = places.files("codex")[InstallScope.USER].with_name("config.toml")
    try:
        settled = tomllib.loads(config.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        settled = {}
    features = {**settled.get("features", {})}
    lines = ["[features]", "plugins = false"]
    lines += [
        f"{name} = {json.dumps(features[name])}"
        for name in ("hooks", "codex_hooks")
        if isinstance(features.get(name), bool)
    ]
    level = settled.get("projects", {}).get(os.fspath(places.project), {}).get("trust_level")
    if level == "trusted":
        lines += [f"[projects.{json.dumps(os.fspath(there.project))}]", 'trust_level = "trusted"']
    known = settled.get("hooks", {}).get("state", {})
    for each in hooks:
        if each.target.scope == InstallScope.MANAGED:
            continue
        moved = each.target._replace(path=there.files("codex")[each.target.scope])
        was = trust_entries(each.target, each.executable, each.text)
        now = trust_entries(moved, each.executable, each.text)
        for (names, digest), (new_names, _) in zip(was, now, strict=True):
            if any(known.get(name, {}).get("trusted_hash") == digest for name in names):
                lines += [f"[hooks.state.{json.dumps(new_names[0])}]"]
                lines += [f'trusted_hash = "{digest}"']
    return "\n".join([*lines, ""])


def _commit(stage: ProofStage, environ: Mapping[str, str]) -> None:
    env = stage.environ(environ)
    who = ("-c", "user.name=dev", "-c", "user.email=dev@localhost")
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "A shop")):
        done = run_sync(("git", *who, *words), cwd=stage.project, env=env)
        if done.exit_code:
            said = done.stderr.decode(errors="replace").strip()
            raise ToolUnavailable(f"git could not make the project of the proof: {said}")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
