"""A project as Flyball knows it: where it is, where its runs are kept, what was settled for it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from flyball.errors import NotFound
from flyball.settings import REPO_FILE, Effective, Sources, key_of, settle, state_dir, user_file


class Home(NamedTuple):
    """One project: its directory, its state directory, and the settings in force."""

    repo: Path
    state: Path
    effective: Effective
    environ: Mapping[str, str]

    @property
    def journal_path(self) -> Path:
        return self.state / "journal.sqlite"


def open_home(repo: Path, environ: Mapping[str, str], flags: Mapping[str, Any]) -> Home:
    """Find a project and read what was settled for it."""
    if not repo.is_dir():
        raise NotFound("directory", os.fspath(repo), "Name the directory of a project.")
    top = project_top(repo.resolve())
    base = state_dir(environ)
    text = _read(top / REPO_FILE)
    user = user_file(environ)
    sources = Sources(
        repo=text,
        repo_is_trusted=is_trusted(base, top, text),
        user=_read(user),
        user_path=os.fspath(user),
        environ=environ,
        flags=flags,
    )
    return Home(top, base / "projects" / _name(top), settle(sources), environ)


def project_top(start: Path) -> Path:
    """The directory that holds `.git`, or the one given."""
    for place in (start, *start.parents):
        if (place / ".git").exists():
            return place
    return start


def _name(top: Path) -> str:
    digest = hashlib.sha256(os.fsencode(top)).hexdigest()[:10]
    return f"{top.name or 'root'}-{digest}"


def is_trusted(base: Path, top: Path, text: str) -> bool:
    """Whether the user has accepted this very configuration of this very repository."""
    return bool(text) and _trusted(base).get(os.fspath(top)) == _digest(text)


class Offer(NamedTuple):
    """A repository's configuration, and what of it would count once it is trusted."""

    path: Path
    text: str
    settings: tuple[tuple[str, str], ...]
    ignored: tuple[str, ...]
    is_trusted: bool


def offer(environ: Mapping[str, str], repo: Path) -> Offer:
    """What trusting a repository would change, without trusting it."""
    top = project_top(repo.resolve())
    path = top / REPO_FILE
    text = _read(path)
    if not text:
        raise NotFound("file", os.fspath(path), "There is nothing to trust here.")
    user = user_file(environ)
    sources = Sources(text, True, _read(user), os.fspath(user), environ)
    effective = settle(sources)
    counted = tuple((key, value) for key, value, origin in report(effective) if origin == REPO_FILE)
    return Offer(path, text, counted, effective.ignored, is_trusted(state_dir(environ), top, text))


def trust(environ: Mapping[str, str], found: Offer) -> None:
    """Accept a repository's configuration as it was shown; a later change must be accepted too."""
    base = state_dir(environ)
    base.mkdir(parents=True, exist_ok=True)
    kept = {**_trusted(base), os.fspath(found.path.parent): _digest(found.text)}
    new = base / "trusted.json.new"
    new.write_text(json.dumps(kept, indent=2) + "\n")
    new.replace(base / "trusted.json")


def settings_report(home: Home) -> list[tuple[str, str, str]]:
    """Every setting in force, its value, and where that came from."""
    return report(home.effective)


def report(effective: Effective) -> list[tuple[str, str, str]]:
    return [
        (key_of(field), json.dumps(value), effective.origins.get(field, "default"))
        for field, value in msgspec.to_builtins(effective.settings).items()
    ]


def _trusted(base: Path) -> dict[str, str]:
    """What was accepted so far; a damaged record is no acceptance."""
    try:
        return msgspec.json.decode(_read(base / "trusted.json") or "{}", type=dict[str, str])
    except msgspec.MsgspecError:
        return {}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return ""
