"""Read the settings about tests in configuration files, as flat values."""

from __future__ import annotations

import ast
import configparser
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import cast

from flyball.regex import regex
from flyball.terms.test_paths import is_ci

Settings = dict[str, str]
Reading = Callable[[str], Iterator[tuple[str, str]]]

TESTING = regex(
    r"(?<![a-z])(?:py|unit|doc)?tests?(?:ing)?(?![a-z])|\b(?:check|spec|verify|coverage|ci|jest|mocha"
    r"|tox|nox|vitest|typecheck|types)\b",
    re.IGNORECASE,
)


def settings_of(path: str, text: str | None) -> Settings | None:
    """Return a configuration file's settings about tests, or None if it cannot be parsed."""
    if text is None:
        return {}
    name = path.rpartition("/")[2]
    if is_ci(path):
        return dict(_ci_lines(text))
    reading = next((read for pattern, read in READINGS if re.fullmatch(pattern, name)), _contents)
    try:
        return dict(reading(text))
    except (ValueError, SyntaxError, RecursionError, configparser.Error):
        return None


def _contents(text: str) -> Iterator[tuple[str, str]]:
    """Yield all settings, if every part of the file is about tests."""
    bare = re.sub(r"(?m)^\s*(?:#|//).*$|/\*.*?\*/", "", text)
    yield "contents", re.sub(r"\s+", " ", bare).strip()


def _pyproject(text: str) -> Iterator[tuple[str, str]]:
    tools = cast("object", tomllib.loads(text).get("tool", {}))
    for key, value in _flat(tools, ("pytest", "coverage", "tox", "nox", "hatch")):
        yield key.replace("pytest.ini_options.", "pytest.", 1), value


def _pytest_toml(text: str) -> Iterator[tuple[str, str]]:
    return _leaves("pytest", tomllib.loads(text).get("pytest", {}))


def _cargo(text: str) -> Iterator[tuple[str, str]]:
    """Yield settings that prevent targets from being tested."""
    document = tomllib.loads(text)
    for key, value in _leaves("cargo.package", _table(document.get("package"))):
        if key.endswith(("autotests", "autobenches")):
            yield key, value.lower()
    targets = [("lib", document.get("lib")), *_listed(document, "test"), *_listed(document, "bin")]
    for name, target in targets:
        for key, value in _table(target).items():
            if key in {"test", "doctest", "harness", "required-features"}:
                yield f"cargo.{name}.{key}", str(value).lower()


def _listed(document: Mapping[str, object], name: str) -> list[tuple[str, object]]:
    found = document.get(name, [])
    listed = cast("list[object]", found) if isinstance(found, list) else []
    return [(f"{name}.{_table(one).get('name', n)}", one) for n, one in enumerate(listed)]


STRICT = frozenset(
    [
        "strict",
        "noImplicitAny",
        "strictNullChecks",
        "noImplicitReturns",
        "noUnusedLocals",
        "noUnusedParameters",
        "noImplicitThis",
        "noUncheckedIndexedAccess",
        "exactOptionalPropertyTypes",
        "checkJs",
        "alwaysStrict",
        "strictFunctionTypes",
        "strictBindCallApply",
        "strictPropertyInitialization",
        "noFallthroughCasesInSwitch",
        "useUnknownInCatchVariables",
        "noImplicitOverride",
        "noEmitOnError",
    ]
)


def _tsconfig(text: str) -> Iterator[tuple[str, str]]:
    """Yield how strictly types are checked, and which files are left out."""
    table = _table(cast("object", json.loads(_without_comments(text))))
    for key, value in _table(table.get("compilerOptions")).items():
        if key in STRICT:
            yield f"strict.{key}", str(value).lower()
    yield from _flat(table, ("exclude",))


def _without_comments(text: str) -> str:
    """Convert JSON with comments and trailing commas to plain JSON."""
    pattern = r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/'
    bare = re.sub(pattern, lambda match: match[1] or "", text, flags=re.DOTALL)
    return re.sub(r",(\s*[}\]])", r"\1", bare)


def _npmrc(text: str) -> Iterator[tuple[str, str]]:
    for line in text.split("\n"):
        key, _, value = line.partition("=")
        if key.strip() in {"script-shell", "node-options", "ignore-scripts"}:
            yield key.strip(), value.strip()


BUILD_LINES = regex(
    r"skipTests|maven\.test\.skip|<exclude>.*|testFailureIgnore|ignoreFailures|\bexclude\w*\b.*"
    r"|enabled\s*=\s*false"
    r"|includeTags.*|excludeTags.*|failIfNoTests|\bfilter\b.*"
)
BUILT_TESTS = regex(
    r"\b(?:add_test|enable_testing|gtest_discover_tests|catch_discover_tests|include\(CTest)\b.*"
)
SESSION = regex(
    r"session\.run.*|.*\b(?:pytest|unittest|RSpec::Core|Rake::TestTask|t\.pattern|test_paths)\b.*"
)


def _lines(pattern: re.Pattern[str], prefix: str) -> Reading:
    """Return a parser that keeps the lines that match a pattern."""

    def read(text: str) -> Iterator[tuple[str, str]]:
        for line in text.split("\n"):
            if match := pattern.search(line):
                yield f"{prefix}{match[0].strip()}", match[0].strip()

    return read


HOOKS = regex(r"pytest_(?:collection|collect|ignore|runtest|pyfunc|generate|itemcollected)\w*")


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


def _package(text: str) -> Iterator[tuple[str, str]]:
    table = _table(cast("object", json.loads(_without_comments(text))))
    for name, script in _table(table.get("scripts")).items():
        # A name that begins so is the habit for a script that is commented out.
        if TESTING.search(name) and not name.startswith("//"):
            yield f"scripts.{name}", str(script)
    for name, task in _table(table.get("tasks")).items():
        if TESTING.search(name):
            yield f"tasks.{name}", str(task)
    yield from _flat(table, ("jest", "mocha", "vitest", "ava", "nyc", "c8", "tap", "test"))


INI_SECTIONS = regex(r"pytest|tool:pytest|testenv.*|tox|coverage:.*|run|report|nosetests")


def _setup_cfg(text: str) -> Iterator[tuple[str, str]]:
    return ((k, v) for k, v in _ini(text) if k.split(".")[0] not in {"run", "tox"})


def _ini(text: str) -> Iterator[tuple[str, str]]:
    parser = configparser.ConfigParser(interpolation=None, strict=False, allow_no_value=True)
    parser.read_string(text)
    for section in parser.sections():
        if INI_SECTIONS.fullmatch(section):
            for key, value in parser.items(section):
                yield f"{section}.{key}", " ".join((value or "").split())


TARGET = regex(r"(?m)^(?P<names>[\w .%/-]+?)\s*:(?!=)[^\n]*(?P<recipe>(?:\n(?:[ \t][^\n]*)?)*)")


# Comments, and what a recipe only says.
SAID = regex(r"(?m)^\s*#.*$|^[ \t]+[@-]*(?:echo|printf)\b(?!.*(?:[|&;<>`]|\$\$\(|\$\(shell\b)).*$")
# A target by such a name says that it runs none.
UNTESTED = regex(r"(?:^|[-_])(?:no|without|skip)[-_]?tests?(?![a-z])")


def _targets(text: str) -> Iterator[tuple[str, str]]:
    for match in TARGET.finditer(text):
        recipe = SAID.sub("", match[0])
        for name in match["names"].split():
            if TESTING.search(name) and "." not in name and not UNTESTED.search(name):
                yield f"target.{name}", " ".join(recipe.split())


EXCUSE = regex(r"\|\|\s*(?:true|:|exit 0)|continue-on-error:\s*true|allow_failure:\s*true")
TEST_COMMAND = regex(
    r"\b(?:pytest|tox|nox|unittest|jest|vitest|mocha|ava|go test|cargo (?:test|nextest)|(?:npm"
    r"|yarn|pnpm|make|mix"
    r"|bundle exec|mvn|dotnet|gradlew?|deno|nr)\b.*\b(?:test|check|verify|spec)|rspec|phpunit"
    r"|ctest|bats|npm t)\b"
)


def _ci_lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield whether a CI job still runs tests, and whether it ignores failures."""
    lines = [line.split(" #")[0].strip().lstrip("- ") for line in text.split("\n")]
    lines = [line for line in lines if not line.startswith(("#", "name:", "uses:"))]
    if any(map(TEST_COMMAND.search, lines)):
        yield "tests are run", "yes"
    for line in lines:
        if EXCUSE.search(line):
            plain = line.rstrip(";\\ ")
            yield plain, plain


READINGS: tuple[tuple[str, Reading], ...] = (
    (r"conftest\.py", _conftest),
    (r"pyproject\.toml", _pyproject),
    (r"\.?pytest\.toml", _pytest_toml),
    (r"Cargo\.toml", _cargo),
    (r"package\.json|deno\.jsonc?", _package),
    (r"[tj]sconfig.*\.json", _tsconfig),
    (r"\.npmrc", _npmrc),
    (r"setup\.cfg", _setup_cfg),
    (r".*\.(?:ini|cfg)|\.coveragerc", _ini),
    (r"(?:GNU)?[Mm]akefile|[Jj]ustfile", _targets),
    (
        r"pom\.xml|build\.gradle(?:\.kts)?|(?:vite|rollup)\.config\.\w+",
        _lines(BUILD_LINES, "excuse."),
    ),
    (r"CMakeLists\.txt", _lines(BUILT_TESTS, "")),
    (r"noxfile\.py|Rakefile|mix\.exs", _lines(SESSION, "")),
)
