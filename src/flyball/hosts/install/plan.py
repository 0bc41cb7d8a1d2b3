"""Plan an installation or a removal in one file, and carry it out."""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec

from flyball.app.settling import state_dir
from flyball.errors import BrokenSettings, ConfigError, Conflict
from flyball.hosts.install import json_hooks, plugin, toml_block
from flyball.hosts.install.door import HookDoor
from flyball.hosts.install.json_hooks import (
    Hooks,
    InsertedText,
    Merged,
    is_settled,
    put_in_switch,
    take_out_switch,
)
from flyball.hosts.install.jsonc import scan
from flyball.hosts.install.targets import (
    FileForm,
    HostPlaces,
    InstallTarget,
    find_target,
    wanted_hooks,
)


class InstallPlan(NamedTuple):
    """A planned change of one settings file; a content of None means that there is no file.

    The record is stored with the change; None deletes it.
    """

    target: InstallTarget
    file: Path
    before: bytes | None
    after: bytes | None
    record: InstallRecord | None
    record_at: Path

    @property
    def is_change(self) -> bool:
        return self.before != self.after

    @property
    def diff(self) -> str:
        """Return the change as a unified diff, named by the path that the host reads."""
        names = [os.fspath(self.target.path), os.fspath(self.target.path)]
        for n, data in enumerate((self.before, self.after)):
            names[n] = names[n] if data is not None else "/dev/null"
        return "".join(difflib.unified_diff(_lines(self.before), _lines(self.after), *names, n=2))

    @property
    def changes(self) -> list[str]:
        """Describe what is added and removed; empty for a file that is entirely ours."""
        if not self.is_change:
            return []
        before, after = (_ours(self.target, data) for data in (self.before, self.after))
        added = [each for each in after if each not in before]
        gone = [each for each in before if each not in after]
        return [*_worded("adds to", added), *_worded("takes out of", gone)]


def _ours(target: InstallTarget, data: bytes | None) -> list[tuple[str, str]]:
    """Return the position of each element of ours in a settings file, with a description."""
    value = _value(target, data.decode()) if data else {}
    found = list(json_hooks.ours_in(value, target.host.name))
    table, name = target.switch or ("", "")
    switches: object = value.get(table)
    if isinstance(switches, dict) and name in switches:
        found.append((table, f"{name}: {json.dumps(switches[name])}"))
    return found


def _value(target: InstallTarget, text: str) -> dict[str, Any]:
    match target.form:
        case FileForm.PLUGIN:
            return {}
        case FileForm.TOML:
            return toml_block.read_block(text)
        case FileForm.JSON:
            value = scan(text, os.fspath(target.path)).value
            return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _worded(verb: str, found: Iterable[tuple[str, str]]) -> Iterator[str]:
    places: dict[str, list[str]] = {}
    for place, what in found:
        places.setdefault(what, []).append(place)
    for what, names in places.items():
        yield f"{verb} {', '.join(names)}: {what}"


def _lines(data: bytes | None) -> list[str]:
    """Return lines as git shows them; only a line feed ends one."""
    lines = (data or b"").decode("utf-8", "replace").split("\n")
    last = lines.pop()
    whole = [f"{line}\n" for line in lines]
    return [*whole, f"{last}\n\\ No newline at end of file\n"] if last else whole


def plan_install(
    target: InstallTarget,
    executable: str,
    environ: Mapping[str, str],
    door: HookDoor | None = None,
    level: str = "",
) -> InstallPlan:
    """Plan the installation of our hooks in the file; no change if they are up to date."""
    here = _Here(target, environ)
    text = here.text or ""
    path = os.fspath(target.path)
    hooks = wanted_hooks(target.host, executable, door, level)
    module = plugin.rendered(executable, level)
    if here.text is not None and _is_installed(target, text, hooks, module):
        return here.plan(here.before, here.record)
    if target.form is FileForm.PLUGIN:
        merged = Merged(plugin.replaced(here.text, path, module), ())
    else:
        # Anything an older release or another installation added is removed first.
        clean = _taken_out(target, text, here.put)
        put_in = toml_block.put_in if target.form is FileForm.TOML else json_hooks.put_in
        merged = put_in(clean, path, hooks)
        if target.switch:
            switched = put_in_switch(merged.text, path, target.switch)
            merged = Merged(switched.text, (*merged.put, *switched.put))
    return here.plan(merged.text.encode(), here.new_record(merged.put))


def plan_removal(target: InstallTarget, environ: Mapping[str, str]) -> InstallPlan:
    """Plan the removal of everything of ours; later changes by others stay."""
    here = _Here(target, environ)
    if here.text is None:
        return here.plan(None, None)
    if target.form is FileForm.PLUGIN:
        rest = "" if plugin.is_plugin(here.text) else here.text
    else:
        rest = _taken_out(target, here.text, here.put)
    is_made = target.form is FileForm.PLUGIN or bool(here.record and here.record.made_file)
    is_gone = rest != here.text and is_made and not rest.strip()
    return here.plan(None if is_gone else rest.encode(), None)


def installed_elsewhere(
    target: InstallTarget, places: HostPlaces, environ: Mapping[str, str]
) -> list[InstallTarget]:
    """Return the files of the other scopes that have our hooks for the same host."""
    found: list[InstallTarget] = []
    for scope, path in places.files(target.host.name).items():
        other = find_target(target.host.name, scope, places)
        if os.path.realpath(path) == os.path.realpath(target.path):
            continue
        # An unreadable file tells nothing.
        with contextlib.suppress(ConfigError):
            if plan_removal(other, environ).is_change:
                found.append(other)
    return found


def _is_installed(target: InstallTarget, text: str, hooks: Hooks, module: str) -> bool:
    match target.form:
        case FileForm.PLUGIN:
            return text == module
        case FileForm.TOML:
            return toml_block.is_installed(text, hooks)
        case FileForm.JSON:
            doc = scan(text, os.fspath(target.path))
            is_on = target.switch is None or is_settled(doc, target.switch)
            return is_on and json_hooks.is_installed(doc, hooks, target.host.name)


def _taken_out(target: InstallTarget, text: str, put: tuple[InsertedText, ...] | None) -> str:
    path = os.fspath(target.path)
    if target.form is FileForm.TOML:
        return toml_block.take_out(text, path, put)
    if target.switch:
        # In reverse order of insertion.
        text = take_out_switch(text, path, target.switch, put or ())
    return json_hooks.take_out(text, path, target.host.name, put)


class _Here:
    """The current state: the file that every link leads to, and our record of it."""

    def __init__(self, target: InstallTarget, environ: Mapping[str, str]) -> None:
        self.target = target
        self.file = Path(os.path.realpath(target.path))
        self.before = _read(self.file, target)
        self.text = None if self.before is None else _decoded(self.before, target.path)
        self.record_at = record_path(environ, target.host.name, self.file)
        self.record = read_record(self.record_at)

    @property
    def put(self) -> tuple[InsertedText, ...] | None:
        return self.record.put if self.record else None

    def plan(self, after: bytes | None, record: InstallRecord | None) -> InstallPlan:
        return InstallPlan(self.target, self.file, self.before, after, record, self.record_at)

    def new_record(self, put: tuple[InsertedText, ...]) -> InstallRecord:
        host, scope = self.target.host.name, str(self.target.scope)
        record = InstallRecord(os.fspath(self.file), host, scope, put)
        if self.before is not None:
            was = self.record or record
            made = (was.made_file, was.made_directories)
        else:
            made = (True, tuple(map(os.fspath, _missing(self.file.parent))))
        return InstallRecord(record.path, host, scope, put, *made)


def _missing(directory: Path) -> list[Path]:
    """Return the directories to create, outermost first."""
    missing = [place for place in (directory, *directory.parents) if not place.exists()]
    return missing[::-1]


def _read(file: Path, target: InstallTarget) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"{target.path} cannot be read: {error.strerror}.") from None


def _decoded(data: bytes, path: Path) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise BrokenSettings(os.fspath(path), f"{line}:{column}", "this is not UTF-8") from None


def carry_out(plan: InstallPlan) -> None:
    """Apply the change atomically; refuse if the file changed since it was planned."""
    if _read(plan.file, plan.target) != plan.before:
        raise Conflict(f"{plan.target.path} changed meanwhile.", "Repeat the command.")
    try:
        if plan.record is not None:
            # First, because an installation without its record could not be undone exactly.
            write_record(plan.record_at, plan.record)
        if plan.is_change:
            _write(plan)
        if plan.record is None:
            plan.record_at.unlink(missing_ok=True)
    except OSError as error:
        hint = "Managed settings belong to root." if plan.target.scope == "managed" else ""
        place = error.filename or plan.file
        raise ConfigError(f"{place} cannot be written: {error.strerror}.", hint) from None


def _write(plan: InstallPlan) -> None:
    if plan.after is not None:
        plan.file.parent.mkdir(parents=True, exist_ok=True)
        _replace(plan.file, plan.after)
        return
    old = read_record(plan.record_at)
    plan.file.unlink()
    for directory in reversed(old.made_directories if old else ()):
        # Another program may use the directory by now.
        with contextlib.suppress(OSError):
            Path(directory).rmdir()


def _replace(file: Path, data: bytes) -> None:
    """Replace a file, keeping its mode and owner."""
    spare = file.with_name(f".{file.name}.flyball-{os.getpid()}")
    old = file.stat() if file.exists() else None
    # Settings may hold secrets: restrict access until the mode is set.
    handle = os.open(spare, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if old else 0o666)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            if old:
                if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
                    with contextlib.suppress(PermissionError):
                        os.fchown(out.fileno(), old.st_uid, old.st_gid)
                os.fchmod(out.fileno(), stat.S_IMODE(old.st_mode))
            os.fsync(out.fileno())
        spare.replace(file)
    finally:
        spare.unlink(missing_ok=True)


class InstallRecord(msgspec.Struct, frozen=True):
    """One installation. It stores only what is ours: other settings may hold secrets."""

    path: str
    host: str
    scope: str
    put: tuple[InsertedText, ...] = ()
    made_file: bool = False
    made_directories: tuple[str, ...] = ()
    version: int = 1


def record_path(environ: Mapping[str, str], host: str, path: Path) -> Path:
    """Return the path of the record of an installation in this file."""
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    return state_dir(environ) / "installed" / f"{host}-{digest}.json"


def read_record(place: Path) -> InstallRecord | None:
    """Return the record, or None if it is missing or damaged."""
    try:
        return msgspec.json.decode(place.read_bytes(), type=InstallRecord)
    except (OSError, msgspec.MsgspecError):
        return None


def write_record(place: Path, record: InstallRecord) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    spare = place.with_suffix(".new")
    spare.write_bytes(msgspec.json.encode(record))
    spare.replace(place)
