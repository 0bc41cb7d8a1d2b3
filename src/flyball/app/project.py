"""A project: its directory, the directory of its runs, and its settings."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from flyball.app.flowfile.template_file import read_data, template_files
from flyball.app.settling import REPO_FILE, Effective, Sources, settle, state_dir, user_file
from flyball.errors import MissingExtra, NoSuchDirectory, NotFound, UsageError
from flyball.journal.protocol import masked, password_of
from flyball.settings import Settings, key_of
from flyball.workspace.files.plain import read_plain
from flyball.workspace.redaction import Redactor, secrets_in, secrets_of_project
from flyball.workspace.trees.git import origin_of

LONGEST = 1 << 20
"""Maximum size of a project's settings, in bytes."""

FRAMEWORK = "framework"
"""The target of a run that works on Flyball itself."""

PLACE_FILE = "project.json"
"""In a project's state directory: the path of the project itself."""


class Home(NamedTuple):
    """One project: its directory, its state directory, and the settings in force."""

    repo: Path
    state: Path
    effective: Effective
    environ: Mapping[str, str]

    @property
    def journal_path(self) -> Path:
        return self.state / "journal.sqlite"

    @property
    def database(self) -> str:
        """Return the address of the cluster's journal, with its password; may be empty."""
        return self.effective.settings.database

    @property
    def has_journal(self) -> bool:
        """Return whether a journal exists; this creates no files."""
        return bool(self.database) or self.journal_path.exists()


def open_home(repo: Path, environ: Mapping[str, str], flags: Mapping[str, Any]) -> Home:
    """Find a project and read its settings."""
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
        top=os.fspath(top),
    )
    effective = settle(sources)
    _require_directories(effective, top)
    return Home(top, base / "projects" / _name(top), effective, environ)


def open_home_lenient(repo: Path, environ: Mapping[str, str]) -> tuple[Home, UsageError | None]:
    """Open a project with default settings if its own cannot be read, and return the error."""
    try:
        return open_home(repo, environ, {}), None
    except UsageError as error:
        if not repo.is_dir():
            raise
        top = project_top(repo.resolve())
        state = state_dir(environ) / "projects" / _name(top)
        return Home(top, state, Effective(Settings(), {}, ()), environ), error


def _require_directories(effective: Effective, top: Path) -> None:
    """Refuse a command for a missing directory: its tests would silently never run."""
    commands = effective.commands
    tables = {
        "test.command": commands.tests,
        "check.command": commands.checks,
        "server.command": commands.servers,
    }
    for key, table in tables.items():
        for at, settled in table.items():
            place = (top / at).resolve()
            if not place.is_dir() or not place.is_relative_to(top):
                raise NoSuchDirectory(
                    f"{settled.origin}: `{key}` is configured for {at!r}, and the project has no "
                    f"such directory.",
                    "Correct its name; to configure one project only, give the whole path, as in "
                    "`~/src/shop/firmware`.",
                )


def project_top(start: Path) -> Path:
    """Return the directory that contains `.git`, or the given one."""
    for place in (start, *start.parents):
        if (place / ".git").exists():
            return place
    return start


def _name(top: Path) -> str:
    digest = hashlib.sha256(os.fsencode(top)).hexdigest()[:10]
    return f"{top.name or 'root'}-{digest}"


def project_name(home: Home) -> str:
    """Return a project's name on every machine of a cluster: the origin of its clones."""
    return origin_of(home.repo)


def load_extra(module: str) -> Any:
    """Import a cluster module; raise `MissingExtra` if its dependencies are not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtra("A cluster", error.name or "psycopg", "cluster") from None


def is_trusted(base: Path, top: Path, text: str) -> bool:
    """Return whether the user has accepted exactly this configuration of this repository."""
    return bool(text) and _trusted(base).get(os.fspath(top)) == _digest(text)


class TemplateFile(NamedTuple):
    """One of a project's own template files, and whether its user accepted it as it is now."""

    path: Path
    data: bytes
    is_trusted: bool

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")


def own_templates(environ: Mapping[str, str], top: Path) -> tuple[TemplateFile, ...]:
    """Return the readable template files of a project."""
    trusted = _trusted(state_dir(environ))
    found: list[TemplateFile] = []
    for path in template_files(top):
        data = read_data(os.fspath(path))
        if isinstance(data, bytes):
            is_same = trusted.get(os.fspath(path)) == hashlib.sha256(data).hexdigest()
            found.append(TemplateFile(path, data, is_same))
    return tuple(found)


class Offer(NamedTuple):
    """A repository's configuration, and the part that would apply if it were trusted."""

    path: Path
    text: str
    settings: tuple[tuple[str, str], ...]
    ignored: tuple[str, ...]
    is_trusted: bool
    templates: tuple[TemplateFile, ...] = ()


def offer(environ: Mapping[str, str], repo: Path) -> Offer:
    """Return what trusting a repository would change, without trusting it."""
    top = project_top(repo.resolve())
    path = top / REPO_FILE
    text, templates = _read(path), own_templates(environ, top)
    if not text and not templates:
        raise NotFound("file", os.fspath(path), "There is nothing to trust here.")
    user = user_file(environ)
    sources = Sources(text, bool(text), _read(user), os.fspath(user), environ, top=os.fspath(top))
    effective = settle(sources)
    _require_directories(effective, top)
    counted = tuple(
        (key, value) for key, value, origin in report(effective) if REPO_FILE in origin.split(", ")
    )
    known = not text or is_trusted(state_dir(environ), top, text)
    is_known = known and all(each.is_trusted for each in templates)
    return Offer(path, text, counted, effective.ignored, is_known, templates)


def trust(environ: Mapping[str, str], found: Offer) -> None:
    """Accept a repository's configuration as shown; a later change must be accepted again."""
    base = state_dir(environ)
    base.mkdir(parents=True, exist_ok=True)
    kept = _trusted(base)
    if found.text:
        kept[os.fspath(found.path.parent)] = _digest(found.text)
    for each in found.templates:
        kept[os.fspath(each.path)] = hashlib.sha256(each.data).hexdigest()
    new = base / "trusted.json.new"
    new.write_text(json.dumps(kept, indent=2) + "\n")
    new.replace(base / "trusted.json")


def settings_report(home: Home) -> list[tuple[str, str, str]]:
    """Return every setting in force, its value, and its source."""
    return report(home.effective)


def report(effective: Effective) -> list[tuple[str, str, str]]:
    shown = msgspec.to_builtins(effective.settings)
    shown["database"] = masked(shown["database"])
    return [
        (key_of(field), json.dumps(value), effective.origins.get(field, "default"))
        for field, value in shown.items()
    ]


def _trusted(base: Path) -> dict[str, str]:
    """Return what was accepted so far; a damaged record counts as empty."""
    try:
        return msgspec.json.decode(_read(base / "trusted.json") or "{}", type=dict[str, str])
    except msgspec.MsgspecError:
        return {}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _read(path: Path) -> str:
    # `FLYBALL_CONFIG=/dev/null` means that there is no such file.
    if os.fspath(path) == os.devnull:
        return ""
    data = read_plain(path, LONGEST + 1)
    if data is None and path.is_symlink() and not path.exists():
        return ""
    if (data is None and os.access(path, os.R_OK)) or len(data or b"") > LONGEST:
        raise UsageError(
            f"{path} is not a plain file of at most {LONGEST >> 20} MB, so it is not read.",
            "Put a plain file in its place, or remove it.",
        )
    return (data or b"").decode("utf-8", "replace")


def redactor_of(home: Home) -> Redactor:
    """Return the redactor of the user's secrets, for everything a run shows, stores or sends."""
    known = (*secrets_in(home.environ), *secrets_of_project(home.repo))
    password = password_of(home.database) if home.database else ""
    return Redactor((*known, password) if password else known)


def target_of(home: Home, requested: str) -> str:
    """Return a run's target: this project, unless the user names Flyball itself."""
    if not requested:
        return f"project/{home.repo.name}"
    kind, _, name = requested.partition("/")
    if requested != FRAMEWORK and not (kind == "project" and name.strip()):
        raise UsageError(f"A run cannot be about {requested!r}.", "Say framework or project/NAME.")
    if kind == "project" and name != home.repo.name:
        raise UsageError(
            f"A run here is about {home.repo.name}, not about {name}.",
            f"Say project/{home.repo.name}, or go to the other project's directory.",
        )
    return requested


def note_place(home: Home) -> None:
    """Record a project's path, because its state directory's name contains only a digest of it."""
    file = home.state / PLACE_FILE
    if not file.exists():
        home.state.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"project": os.fspath(home.repo)}))
