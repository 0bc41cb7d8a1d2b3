"""A project as Flyball knows it: where it is, where its runs are kept, what was settled for it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from flyball.errors import NotFound
from flyball.settings import REPO_FILE, Effective, Sources, settle, state_dir, user_file


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


def trust(environ: Mapping[str, str], repo: Path) -> str:
    """Accept a repository's configuration as it is now; a later change must be accepted again."""
    top = project_top(repo.resolve())
    text = _read(top / REPO_FILE)
    if not text:
        raise NotFound("file", os.fspath(top / REPO_FILE), "There is nothing to trust here.")
    settle(Sources(repo=text, repo_is_trusted=True))
    base = state_dir(environ)
    base.mkdir(parents=True, exist_ok=True)
    kept = {**_trusted(base), os.fspath(top): _digest(text)}
    new = base / "trusted.json.new"
    new.write_text(json.dumps(kept, indent=2) + "\n")
    new.replace(base / "trusted.json")
    return text


def _trusted(base: Path) -> dict[str, str]:
    try:
        found = json.loads(_read(base / "trusted.json") or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return ""
