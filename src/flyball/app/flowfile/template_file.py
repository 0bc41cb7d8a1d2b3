"""Read template and flow files from disk: plain values with line numbers, or the problem."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

from flyball.app.flowfile.places import Places, UnreadableError, parse_json, parse_toml
from flyball.plan.flow import FlowSource, Problem, problem
from flyball.workspace.files.plain import read_plain

MAX_BYTES = 256 * 1024

YAML = "flyball.app.flowfile.yaml_places"
"""Loaded for the first YAML file: its library takes longer to import than all others together."""


def _parse_yaml(places: Places) -> object:
    return import_module(YAML).parse_yaml(places)


FORMATS: Mapping[str, Callable[[Places], object]] = MappingProxyType(
    {".json": parse_json, ".toml": parse_toml, ".yaml": _parse_yaml, ".yml": _parse_yaml}
)


FOLDER = ".flyball/templates"
"""The folder of a project's own templates."""


def template_files(top: Path) -> tuple[Path, ...]:
    """Return the files in a project's template folder, sorted by name."""
    folder = top / FOLDER
    try:
        found = sorted(folder.iterdir())
    except OSError:
        return ()
    return tuple(path for path in found if path.suffix.lower() in FORMATS)


def read_source(file: str) -> FlowSource | Problem:
    """Return the values of a file, or the problem that prevents reading it."""
    data = read_data(file)
    return data if isinstance(data, Problem) else parse_source(file, data)


def read_data(file: str) -> bytes | Problem:
    """Return the bytes of a file, or the problem that prevents reading it."""
    path = Path(file)
    try:
        kind = path.stat().st_mode
        if stat.S_ISDIR(kind):
            return problem(file, 0, "not-a-file", "This is a folder.", "Name the files in it.")
        if not stat.S_ISREG(kind):
            return problem(file, 0, "not-a-file", "This is not a regular file.", "Name a file.")
        if (data := read_plain(path, MAX_BYTES + 1)) is None:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return data
    except FileNotFoundError:
        return problem(file, 0, "not-found", "There is no such file.", "Check the name.")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return problem(file, 0, "not-readable", f"It cannot be read: {reason}.", "Check the path.")


def parse_source(file: str, data: bytes) -> FlowSource | Problem:
    """Parse a file's bytes; the file name's extension selects the format."""
    parse = FORMATS.get(Path(file).suffix.lower())
    if parse is None:
        hint = f"Name it {', '.join(FORMATS)}."
        return problem(file, 0, "unknown-format", "Its extension does not name a format.", hint)
    if len(data) > MAX_BYTES:
        message = f"It is larger than {MAX_BYTES // 1024} KiB."
        return problem(file, 0, "too-large", message, "Split it into several flows.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return problem(file, line, "not-utf8", "It is not UTF-8 text.", "Save it as UTF-8.")
    places = Places(text.replace("\r\n", "\n").replace("\r", "\n"))
    if not text.strip():
        return problem(file, 1, "empty-file", "The file is empty.", "Write a template in it.")
    try:
        return FlowSource(file, parse(places), places.lines)
    except UnreadableError as error:
        return problem(file, error.line, error.code, error.message, error.hint)
