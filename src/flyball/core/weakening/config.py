"""Changes to what decides which tests run, and how."""

from __future__ import annotations

import ast
import configparser
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import cast

from flyball.core.terms.evidence import Weakened
from flyball.core.weakening.paths import is_ci

Settings = dict[str, str]

HARMLESS = frozenset({"markers", "minversion", "required_plugins", "envlist", "junit_family"})
NARROWING_KEYS = frozenset(
    {
        "collect_ignore",
        "collect_ignore_glob",
        "exclude",
        "fail_under",
        "norecursedirs",
        "omit",
        "python_classes",
        "python_files",
        "python_functions",
        "testmatch",
        "testpathignorepatterns",
        "testpaths",
        "testregex",
    }
)
NARROWING = re.compile(
    r"(?:^|\s)(?:-[kmt]|-run|--(?:ignore|deselect|co|collect-only|passWithNoTests|grep|exclude|skip"
    r"|testPathIgnorePatterns)\b|-p\s+no:)|\|\|\s*(?:true|:|exit 0)|;\s*true\b|\bexit 0\b"
    r"|continue-on-error|allow_failure"
)
TESTING = re.compile(
    r"(?<![a-z])(?:py|unit)?tests?(?:ing)?(?![a-z])|\b(?:check|spec|verify|coverage|ci|lint|jest|mocha"
    r"|tox|nox|vitest)\b",
    re.IGNORECASE,
)


def config_weakenings(path: str, before: str | None, after: str | None) -> Iterator[Weakened]:
    """Settings that were changed or taken away, and new ones that leave tests out."""
    old, new = settings_of(path, before), settings_of(path, after)
    if old is None:
        return
    if new is None:
        yield Weakened(path, 1, "edited-config", "cannot be parsed any more")
        return
    for key in sorted(old.keys() | new.keys()):
        was, now = old.get(key), new.get(key)
        if was == now or key.rpartition(".")[2] in HARMLESS or not _is_weaker(key, was, now):
            continue
        detail = f"{key}: {_short(was or 'nothing')} became {_short(now or 'nothing')}"
        if key in (was, now):
            detail = f"`{_short(key)}` was {'removed' if now is None else 'added'}"
        yield Weakened(path, _line(after or "", key), "edited-config", detail)


def settings_of(path: str, text: str | None) -> Settings | None:
    """What a configuration file says about tests, flat, or None where it cannot be parsed."""
    if text is None:
        return {}
    name = path.rpartition("/")[2]
    try:
        if name == "conftest.py":
            return dict(_conftest(text))
        if name == "pyproject.toml":
            tools = cast("object", tomllib.loads(text).get("tool", {}))
            return dict(_flat(tools, ("pytest", "coverage", "tox", "nox", "hatch")))
        if name == "package.json":
            return dict(_package(cast("object", json.loads(text))))
        if name.endswith((".ini", ".cfg")) or name == ".coveragerc":
            return dict(_ini(name, text))
    except (ValueError, SyntaxError, RecursionError, configparser.Error):
        return None
    if re.fullmatch(r"(?:GNU)?[Mm]akefile|justfile", name):
        return dict(_targets(text))
    if is_ci(path):
        return dict(_ci_lines(text))
    return {"contents": re.sub(r"\s+", " ", re.sub(r"(?m)^\s*(?:#|//).*$", "", text)).strip()}


def _is_weaker(key: str, old: str | None, new: str | None) -> bool:
    """A new setting is weaker when it leaves tests out; an old one unless it only gained words."""
    if old is None:
        return key.rpartition(".")[2].lower() in NARROWING_KEYS or bool(NARROWING.search(new or ""))
    if new is None:
        return True
    gained = [word for word in new.split() if word not in old.split()]
    lost = [word for word in old.split() if word not in new.split()]
    if lost or key.rpartition(".")[2].lower() in NARROWING_KEYS:
        return True
    return bool(NARROWING.search(" ".join(gained)))


HOOKS = re.compile(r"pytest_(?:collection|collect|ignore|runtest|pyfunc|generate|itemcollected)\w*")


def _conftest(text: str) -> Iterator[tuple[str, str]]:
    for stmt in ast.parse(text).body:
        if isinstance(stmt, ast.Assign | ast.AugAssign):
            targets = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]
            for target in targets:
                if ast.unparse(target) in {"collect_ignore", "collect_ignore_glob", "pytestmark"}:
                    yield ast.unparse(target), ast.unparse(stmt.value)
        elif isinstance(stmt, ast.FunctionDef) and HOOKS.fullmatch(stmt.name):
            yield f"hook.{stmt.name}.collect_ignore", ast.unparse(stmt)


def _table(value: object) -> Mapping[str, object]:
    empty: dict[str, object] = {}
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else empty


def _flat(value: object, names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    table = _table(value)
    for name in names:
        if name in table:
            yield from _leaves(name, table[name])


def _leaves(prefix: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in cast("Mapping[str, object]", value).items():
            yield from _leaves(f"{prefix}.{key}", inner)
    elif isinstance(value, list):
        yield prefix, " ".join(str(item) for item in cast("list[object]", value))
    else:
        yield prefix, str(value)


def _package(document: object) -> Iterator[tuple[str, str]]:
    table = _table(document)
    for name, script in _table(table.get("scripts")).items():
        if TESTING.search(name):
            yield f"scripts.{name}", str(script)
    yield from _flat(table, ("jest", "mocha", "vitest", "ava", "nyc", "c8"))


INI_SECTIONS = re.compile(r"pytest|tool:pytest|testenv.*|tox|coverage:.*|run|report|nosetests")


def _ini(name: str, text: str) -> Iterator[tuple[str, str]]:
    parser = configparser.ConfigParser(interpolation=None, strict=False, allow_no_value=True)
    parser.read_string(text)
    for section in parser.sections():
        if INI_SECTIONS.fullmatch(section) and (
            name != "setup.cfg" or section not in {"run", "tox"}
        ):
            for key, value in parser.items(section):
                yield f"{section}.{key}", " ".join((value or "").split())


TARGET = re.compile(
    r"(?m)^(?P<names>[\w .%/-]+?)\s*:(?!=)[^\n]*(?P<recipe>(?:\n(?:[ \t][^\n]*)?)*)"
)


def _targets(text: str) -> Iterator[tuple[str, str]]:
    for match in TARGET.finditer(text):
        recipe = re.sub(r"(?m)^\s*#.*$", "", match[0])
        for name in match["names"].split():
            if TESTING.search(name):
                yield f"target.{name}", " ".join(recipe.split())


def _ci_lines(text: str) -> Iterator[tuple[str, str]]:
    """Lines of a build server's file that run or excuse tests; other lines may change freely."""
    for line in text.split("\n"):
        plain = line.split(" #")[0].strip().lstrip("- ")
        if plain.startswith(("#", "name:", "uses:")) or re.fullmatch(r"[\w*-]+:?", plain):
            continue
        if TESTING.search(plain) or NARROWING.search(plain):
            yield plain, plain


def _line(text: str, key: str) -> int:
    wanted = key if "\n" not in key else ""
    last = wanted.rpartition(".")[2] if wanted not in text else wanted
    at = text.find(last) if last else -1
    return text.count("\n", 0, at) + 1 if at >= 0 else 1


def _short(value: str) -> str:
    return value if len(value) <= 120 else value[:119] + "…"
