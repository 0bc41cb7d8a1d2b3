"""Read a part's name and dependencies from its own files, without running anything."""

from __future__ import annotations

import json
import posixpath
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, cast

from flyball.regex import regex


class Declared(NamedTuple):
    """The names of a part, the names of its dependencies, and the directories it refers to."""

    names: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()
    places: frozenset[str] = frozenset()


def declared(manifests: Mapping[str, str]) -> Declared:
    """Return what the manifests of one directory (file name → text) declare together."""
    found = [
        read(text)
        for name, text in manifests.items()
        for pattern, read in READERS
        if pattern.fullmatch(name)
    ]
    return Declared(
        frozenset().union(*(each.names for each in found)),
        frozenset().union(*(each.needs for each in found)),
        frozenset().union(*(each.places for each in found)),
    )


def dependencies(parts: Mapping[str, Declared]) -> dict[str, tuple[str, ...]]:
    """Return the dependencies of each part as paths, found by name or by location."""
    owners = {name: path for path, each in parts.items() for name in each.names}
    found: dict[str, tuple[str, ...]] = {}
    for path, each in parts.items():
        by_name = {owners[name] for name in each.needs if name in owners}
        places = {posixpath.normpath(posixpath.join(path, place)) for place in each.places}
        by_place = {part for part in parts for place in places if _lies_in(place, part)}
        found[path] = tuple(sorted((by_name | by_place) - {path}))
    return found


def _lies_in(place: str, part: str) -> bool:
    """Return whether a directory is a part or inside one; the top directory does not count."""
    return place == part or (part != "." and place.startswith(f"{part}/"))


def _table(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _texts(value: Any) -> list[str]:
    """Return the texts of a value: a text, a list's texts, or the texts in a table's lists."""
    if isinstance(value, str):
        return [value]
    if table := _table(value):
        return [text for each in table.values() for text in _texts(each)]
    listed = cast("list[object]", value) if isinstance(value, list) else []
    return [each for each in listed if isinstance(each, str)]


def _parsed(load: Callable[[str], object], text: str) -> Mapping[str, Any]:
    try:
        return _table(load(text))
    except (ValueError, RecursionError):
        return {}


_NODE_TABLES = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
_LOCAL = regex(r"(?:file|link|portal):(.+)")


def _package_json(text: str) -> Declared:
    document = _parsed(json.loads, text)
    wanted = {
        name: str(version)
        for table in _NODE_TABLES
        for name, version in _table(document.get(table)).items()
    }
    places = {found[1] for version in wanted.values() if (found := _LOCAL.match(version))}
    return _named(_texts(document.get("name")), wanted, places)


def _composer_json(text: str) -> Declared:
    document = _parsed(json.loads, text)
    wanted = [*_table(document.get("require")), *_table(document.get("require-dev"))]
    return _named(_texts(document.get("name")), wanted)


def _deno_json(text: str) -> Declared:
    document = _parsed(json.loads, text)
    imports = _texts(list(_table(document.get("imports")).values()))
    return _named(_texts(document.get("name")), imports)


_REQUIREMENT = regex(r"\s*([A-Za-z0-9][\w.-]*)")
_FILE_URL = regex(r"@\s*(?:file:(?://)?)?(\.{1,2}/\S+)")


def _pyproject(text: str) -> Declared:
    document = _parsed(tomllib.loads, text)
    project, tool = _table(document.get("project")), _table(document.get("tool"))
    poetry = _table(tool.get("poetry"))
    listed = _texts(project.get("dependencies")) + _texts(project.get("optional-dependencies"))
    listed += _texts(document.get("dependency-groups"))
    tables = [_table(poetry.get("dependencies")), _table(_table(tool.get("uv")).get("sources"))]
    tables += [
        _table(_table(group).get("dependencies")) for group in _table(poetry.get("group")).values()
    ]
    places = {path for table in tables for path in _paths_in(table)}
    places |= {found[1] for text in listed if (found := _FILE_URL.search(text))}
    pytest = _table(_table(tool.get("pytest")).get("ini_options"))
    places |= {place for place in _texts(pytest.get("pythonpath")) if place.startswith("..")}
    names = _texts(project.get("name")) + _texts(poetry.get("name"))
    wanted = [found[1] for text in listed if (found := _REQUIREMENT.match(text))]
    wanted += [name for table in tables for name in table]
    return _named(map(_spelt, names), map(_spelt, wanted), places)


def _spelt(name: str) -> str:
    """Normalise a Python package name as the index compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


_IMPORTED_FROM = regex(r"^pythonpath[ \t]*=[ \t]*([^\n]*(?:\n[ \t]+[^\n]+)*)", re.M)


def _pytest_ini(text: str) -> Declared:
    found = _IMPORTED_FROM.search(text)
    return _named(
        (), (), [each for each in (found[1] if found else "").split() if each[:2] == ".."]
    )


def _requirements(text: str) -> Declared:
    return _named((), (), re.findall(r"^(?:-e\s+|--editable[ =])?(\.{1,2}/[^\s#;\[]+)", text, re.M))


def _cargo(text: str) -> Declared:
    document = _parsed(tomllib.loads, text)
    shared = _table(document.get("workspace"))
    tables = [
        _table(value)
        for table in (document, shared, *_table(document.get("target")).values())
        for key, value in _table(table).items()
        if key.endswith("dependencies")
    ]
    names = _texts(_table(document.get("package")).get("name"))
    places = {path for table in tables for path in _paths_in(table)}
    return _named(names, [name for table in tables for name in table], places)


def _paths_in(table: Mapping[str, Any]) -> Iterator[str]:
    for value in table.values():
        yield from _texts(_table(value).get("path"))


def _go_mod(text: str) -> Declared:
    names = re.findall(r"^module\s+(\S+)", text, re.M)
    needs = re.findall(r"^\s*(?:require\s+)?(\S+/\S+)\s+v\d", text, re.M)
    return _named(names, needs, re.findall(r"=>\s*(\.{1,2}/\S+)", text))


def _by_place(pattern: str) -> Callable[[str], Declared]:
    """Return a reader for manifests that refer to a neighbour only by its path."""

    def read(text: str) -> Declared:
        found = [place.replace("\\", "/") for place in re.findall(pattern, text)]
        folders = [posixpath.dirname(p) if p.endswith("proj") else p for p in found]
        return _named((), (), folders)

    return read


def _named(names: Iterable[str], needs: Iterable[str], places: Iterable[str] = ()) -> Declared:
    return Declared(frozenset(names), frozenset(needs), frozenset(places))


READERS: tuple[tuple[re.Pattern[str], Callable[[str], Declared]], ...] = (
    (regex(r"package\.json"), _package_json),
    (regex(r"composer\.json"), _composer_json),
    (regex(r"deno\.jsonc?"), _deno_json),
    (regex(r"pyproject\.toml"), _pyproject),
    (regex(r"requirements.*\.txt"), _requirements),
    (regex(r"\.?pytest\.ini|tox\.ini|setup\.cfg"), _pytest_ini),
    (regex(r"Cargo\.toml"), _cargo),
    (regex(r"go\.mod"), _go_mod),
    (regex(r".*\.[cf]sproj"), _by_place(r"ProjectReference\s+Include=\"([^\"]+)\"")),
    (regex(r"mix\.exs|Gemfile"), _by_place(r"\bpath:\s*[\"'](\.{1,2}/[^\"']+)[\"']")),
)
"""Which file is read by what."""
