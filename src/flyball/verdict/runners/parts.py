"""Find the parts of a tree: the directories that are built and tested as one, and their tools."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from flyball.regex import regex
from flyball.verdict.manifest import declared, dependencies
from flyball.verdict.part import TOP, Part, PartSuite, is_within
from flyball.verdict.runners.checker import checks_of
from flyball.verdict.runners.layout import FileIndex, look
from flyball.verdict.runners.rows.compiled import is_workspace
from flyball.verdict.runners.rows.python import settles_pytest
from flyball.verdict.runners.rows.scripted import MAKEFILES
from flyball.verdict.runners.table import BY_NAME, TARGETS, WRAPPERS, runners_of
from flyball.verdict.settled import NOTHING_SETTLED, ProjectCommands, SettledCommand
from flyball.verdict.sides import is_data

KINDS: dict[str, re.Pattern[str]] = {
    "python": regex(r"pyproject\.toml|setup\.(?:py|cfg)"),
    "node": regex(r"package\.json"),
    "deno": regex(r"deno\.jsonc?"),
    "go": regex(r"go\.mod"),
    "rust": regex(r"Cargo\.toml"),
    "maven": regex(r"pom\.xml"),
    "gradle": regex(r"build\.gradle(?:\.kts)?"),
    "dotnet": regex(r".+\.(?:csproj|fsproj|slnx?)"),
    "elixir": regex(r"mix\.exs"),
    "ruby": regex(r"Gemfile"),
    "php": regex(r"composer\.json"),
    "cmake": regex(r"CMakeLists\.txt"),
    "make": regex("|".join(MAKEFILES)),
    "just": regex(r"[Jj]ustfile"),
}
"""Files that open a part, by the kind of project they belong to."""

MOST_PARTS = 300
COMMAND = "command"
"""The runner of a suite whose command a person settled."""

PYTHON = frozenset({"pytest", "unittest"})

_OUTER_BUILD: dict[str, re.Pattern[str]] = {
    "maven": regex(r"<modules>"),
    "elixir": regex(r"\bapps_path:"),
    "cmake": regex(r"\badd_subdirectory\b|\benable_testing\b", re.I),
}
"""Markers in the manifest of an outer directory that builds and tests the inner ones itself."""


def survey_parts(land: FileIndex, settled: ProjectCommands = NOTHING_SETTLED) -> tuple[Part, ...]:
    """Return every part of a tree, the top first; configuration adds parts and overrides the rest.

    The innermost parts are examined first: a part with its own suite is not tested again by the
    part around it.
    """
    named = {TOP: (), **dict.fromkeys((*settled.tests, *settled.checks), ())}
    opened: dict[str, tuple[str, ...]] = {**named, **_opened(land)}
    kept = sorted(opened, key=lambda path: (path not in named, path))[:MOST_PARTS]
    paths = sorted(kept, key=lambda path: (path != TOP, path))
    needs = dependencies({path: declared(_manifests(land, path)) for path in paths})
    found: dict[str, Part] = {}
    for path in sorted(paths, key=_depth, reverse=True):
        tested = [
            each.path for each in found.values() if each.suites and is_within(each.path, path)
        ]
        inner = land.below(path, tuple(tested))
        own = land.below(path)
        is_outer = _is_settled_outside(land, path, own)
        suites = _suites(inner, path, settled.tests.get(path), is_outer)
        kinds = opened[path] or (("python",) if path == TOP and inner.has_python else ())
        checks = tuple(check.name for check in checks_of(inner, is_top=path == TOP))
        check = settled.checks.get(path)
        if check is not None:
            checks = (check.command,)
        origin = check.origin if check else ""
        found[path] = Part(path, kinds, suites, checks, needs[path], origin)
    return tuple(found[path] for path in paths)


def runners_and_checks(
    root: Path, settled: ProjectCommands = NOTHING_SETTLED
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the test runners and the checks of all parts of a tree, those of the top first."""
    parts = survey_parts(look(root), settled)
    runners = (suite.runner for part in parts for suite in part.suites)
    checks = (check for part in parts for check in part.checks)
    return tuple(dict.fromkeys(runners)), tuple(dict.fromkeys(checks))


def suites_of(land: FileIndex) -> tuple[str, ...]:
    """Return the runners that together run every test once, without a second way to run the same
    tests."""
    found = runners_of(land)
    if "pytest" in found:
        found = tuple(name for name in found if name != "unittest")
    rest = [name for name in found if name not in TARGETS | WRAPPERS]
    clients = [name for name in found if name in WRAPPERS]
    if clients and not any(
        re.search(rf"\b{name}\b", BY_NAME[clients[0]].describe(land)) for name in rest
    ):
        rest += clients
    return tuple(rest or [name for name in found if name in TARGETS][:1])


def _suites(
    land: FileIndex, path: str, settled: SettledCommand | None, is_outer: bool
) -> tuple[PartSuite, ...]:
    if settled is not None:
        return (PartSuite(COMMAND, path, settled.command, settled.origin),)
    names = [name for name in suites_of(land) if not (is_outer and name in PYTHON)]
    return tuple(PartSuite(name, path, BY_NAME[name].describe(land)) for name in names)


def _is_settled_outside(land: FileIndex, path: str, own: FileIndex) -> bool:
    """Return whether pytest is configured further up and not here, so that it is run from there."""
    if path == TOP or settles_pytest(own):
        return False
    return any(settles_pytest(_shallow(land, outer)) for outer in _around(path))


def _shallow(land: FileIndex, path: str) -> FileIndex:
    """Return only the files directly in a directory, where configuration is looked up."""
    inner = land.below(path)
    return FileIndex(inner.root, tuple(file for file in inner.files if "/" not in file))


def _around(path: str) -> Iterable[str]:
    """Return the directories around one, nearest first; the top is the last."""
    while path != TOP:
        path = path.rpartition("/")[0] or TOP
        yield path


def _depth(path: str) -> int:
    return 0 if path == TOP else path.count("/") + 1


def _opened(land: FileIndex) -> dict[str, tuple[str, ...]]:
    """Return for each directory that starts a part the kinds of its manifests."""
    found: dict[str, dict[str, None]] = {}
    for file in land.files:
        folder, _, name = file.rpartition("/")
        for kind, pattern in KINDS.items():
            if pattern.fullmatch(name) and not is_data(folder):
                found.setdefault(folder or TOP, {})[kind] = None
    opened = {
        path: tuple(kind for kind in kinds if not _is_member(land, path, kind, found))
        for path, kinds in found.items()
    }
    return {path: kinds for path, kinds in opened.items() if kinds or path == TOP}


def _is_member(
    land: FileIndex, path: str, kind: str, found: Mapping[str, Mapping[str, None]]
) -> bool:
    """Return whether an outer build of the same kind builds and tests this directory itself."""
    outer = [each for each in _around(path) if kind in found.get(each, {})]
    if kind == "gradle":
        return any(_shallow(land, each).has(*_GRADLE_SETTINGS) for each in _around(path))
    if kind == "dotnet":
        return any(
            file.endswith((".sln", ".slnx"))
            for each in _around(path)
            for file in _shallow(land, each).files
        )
    if kind == "rust":
        return any(_is_crate_of(land, each, path) for each in outer)
    mark = _OUTER_BUILD.get(kind)
    return bool(mark) and any(
        mark.search(text) for each in outer for text in _manifests(land, each).values()
    )


def _is_crate_of(land: FileIndex, outer: str, path: str) -> bool:
    """Return whether one `cargo test` in an outer directory tests this crate with the others."""
    manifest = land.below(outer)
    excluded = re.search(r"^exclude\s*=\s*\[([^\]]*)\]", manifest.text("Cargo.toml"), re.M)
    inner = path if outer == TOP else path.removeprefix(f"{outer}/")
    apart = re.findall(r"[\"']([^\"']+)[\"']", excluded[1]) if excluded else []
    return is_workspace(manifest) and not any(is_within(inner, each) for each in apart)


_GRADLE_SETTINGS = ("settings.gradle", "settings.gradle.kts")


def _manifests(land: FileIndex, path: str) -> dict[str, str]:
    """Return the manifests of a directory and their texts."""
    start = "" if path == TOP else f"{path}/"
    patterns = [*KINDS.values(), re.compile(r"requirements.*\.txt")]
    return {
        name: land.text(file)
        for file in land.files
        if file.startswith(start)
        and "/" not in (name := file[len(start) :])
        and any(pattern.fullmatch(name) for pattern in patterns)
    }
