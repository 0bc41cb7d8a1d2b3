"""The testing side of a tree: the files that decide about tests, apart from the tested code."""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, cast

from flyball.errors import MissingExtra
from flyball.regex import regex
from flyball.terms.test_paths import (
    TEST_DIRS,
    TEST_NAME,
    is_ci,
    is_expectation,
    is_test_config,
    is_test_path,
)
from flyball.verdict.part import TOP, is_within
from flyball.verdict.tests import read_tests

Read = Callable[[str], str | None]
"""The text of a file, or None where it cannot be read."""

_CONFIG = regex(
    r"pytest\.toml|\.npmrc|\.yarnrc(?:\.yml)?|Cargo\.toml|rust-toolchain(?:\.toml)?"
    r"|[tj]sconfig(?:\..*)?\.json|\.?mypy\.ini|pyrightconfig\.json|ty\.toml|\.babelrc.*|\.swcrc"
    r"|(?:babel|vite|jasmine|web-test-runner|tap)\.config\.\w+|vitest\.workspace\.\w+|\.taprc"
    r"|\.nycrc.*|\.c8rc.*|go\.(?:work|mod)|CMakeLists\.txt|.*\.cmake|Makefile\.(?:am|in)|.*\.mk"
    r"|configure\.ac|pom\.xml|(?:build|settings)\.gradle(?:\.kts)?|gradle\.properties"
    r"|.*\.[cf]sproj|.*\.slnx?|Directory\.Build\.(?:props|targets)|.*\.runsettings|mix\.exs"
    r"|Gemfile(?:\.lock)?|[Rr]akefile|composer\.json|deno\.jsonc?|[Jj]ustfile|\.env(?:\..*)?"
    r"|\.python-version|\.nvmrc|\.tool-versions|.*\.pth"
)
_SHADOW = regex(
    r"(?:.*/)?(?:(?:site|user)customize|pytest|unittest|pluggy|nose)(?:\.py|/__init__\.py)"
    r"|(?:.*/)?_pytest/.*|(?:.*/)?node_modules/.*"
)
"""Modules that the runner would load instead of its own, or before everything else."""

_SOURCE = regex(r".*\.(?:py|[cm]?[jt]sx?|rb|php|exs?|go|rs)")
_SCRIPT = regex(r".*\.(?:sh|bash|zsh|py|[cm]?[jt]s|rb|pl|php|lua|exs|awk|tcl|bat|ps1)")
_C = regex(r".*\.(?:c|cc|cpp|cxx)")
_MAIN = regex(r"\bmain\s*\(")
_HELPER = regex(
    r"(?:.*[_.-])?(?:tests?|testing|mocks?|stubs?|fakes?|fixtures?|specs?|harness|helpers?"
    r"|expect(?:ed|ations?)|goldens?)(?:[_.-].*)?|.*(?:Test|Mock|Spec|Fixture)(?:s|Utils?|Helpers?|Case|Base|Kit|Support)?"
    r"|(?:test|mock|spec)[A-Z].*|testutils?|testlib|testkit",
)
DATA_DIRS = regex(
    r"_*(?:test)?fixtures?_*|test[-_]?data|testfiles|mocks?|__mocks__|goldens?|snapshots?"
    r"|samples?|cassettes|.*\{\{.*"
)

_ENDINGS = ("", ".py", ".js", ".cjs", ".mjs", ".ts", ".mts", ".cts", ".json", "/index.js")


def find_testing_side(paths: Iterable[str], read: Read, part: str = TOP) -> frozenset[str]:
    """Return the files of a part that are tests, or decide which tests run, how, and against what.

    Configuration in the directories around the part counts, since runners search upwards for it. If
    a configuration cannot be read, the files that it names are unknown; the configuration itself is
    included anyway.
    """
    every = frozenset(paths)
    own = {path for path in every if is_within(path, part)}
    config = {path for path in own if _is_config(path)}
    config |= {path for path in every if _is_config(path) and _is_around(path, part)}
    sure = {path for path in own if is_test_path(path) or _SHADOW.fullmatch(path)} | config
    globs = [glob for path in config for glob in _collected_by(read(path) or "")]
    sure |= {path for path in own if _is_collected(path, globs)}
    named = {file for path in config for file in _named_by(path, read(path) or "", every)}
    # A recipe compiles the code under test as well: only a source with a `main` is a test program.
    named -= {file for file in named if _C.fullmatch(file) and not _MAIN.search(read(file) or "")}
    maybe = {path for path in own - sure if _is_helper(path)}
    maybe |= {path for path in named - sure if _SOURCE.fullmatch(path)}
    sure |= named - maybe
    product = sorted(path for path in own - sure - maybe if _SOURCE.fullmatch(path))
    used = _mentioned(maybe, product, read)
    tests = sorted(path for path in sure if _SOURCE.fullmatch(path))
    wanted = (_mentioned(maybe, [*tests, *sorted(maybe)], read) | named) if maybe else set[str]()
    return frozenset(sure | {path for path in maybe if path in wanted and path not in used})


_RUNNER_CONFIG = regex(
    r"\.?pytest\.(?:ini|toml)|tox\.ini|conftest\.py|noxfile\.py|\.coveragerc|nose\.cfg|\.rspec"
    r"|(?:jest|vitest|playwright|cypress|karma|ava|jasmine|web-test-runner|tap)\.(?:config|conf)\.\w+"
    r"|vitest\.workspace\.\w+|\.mocharc(?:\.\w+)?|\.taprc|\.nycrc.*|\.c8rc.*"
    r"|phpunit\.xml(?:\.dist)?|.*\.runsettings"
)
"""What configures tests and nothing else; a manifest configures the product as well."""


def find_shared(
    changed: Iterable[str], side: frozenset[str], paths: Iterable[str], read: Read
) -> frozenset[str]:
    """Return the changed files that tests and the product both read, or that only tests may read.

    From the testing side these are manifests, recipes, and product files that a configuration
    loads. From the rest they are files without code that a test names, and code that only tests
    import and that contains only values or checks. Such a file leads to a question, never to an
    accusation.
    """
    wanted = frozenset(changed)
    shared = {p for p in wanted & side if not is_testing_alone(p) and not _CODE.fullmatch(p)}
    rest = [path for path in wanted - shared if not is_test_path(path)]
    rest = [path for path in rest if path not in side or not is_testing_alone(path)]
    texts = (
        {path: read(path) or "" for path in {*paths, *rest} if _is_readable_code(path)}
        if rest
        else {}
    )
    tests = {path: text for path, text in texts.items() if is_test_path(path)}
    # A recipe that loops over the files of a folder is a test program, too.
    recipes = [read(path) or "" for path in paths if _RECIPES.fullmatch(_name_of(path))]
    said = "\n".join([*tests.values(), *recipes])
    for path in rest:
        if not _CODE.fullmatch(path):
            is_read = _name_of(path) in said or bool(_mentions(path, said))
        else:
            text = texts.get(path, "")
            is_read = bool(_is_values_or_checks(path, text)) and _is_for_tests(path, texts)
        shared |= {path} if is_read else set()
    return frozenset(shared)


def is_data_file(path: str) -> bool:
    """Return whether a file is neither code nor test nor configuration, by its name."""
    is_code = _CODE.fullmatch(path) or _SCRIPT.fullmatch(path)
    return not is_code and not is_test_path(path) and not _is_config(path)


def find_read_by_tests(read: Iterable[str], paths: Iterable[str], text: Read) -> frozenset[str]:
    """Return those of the files of data, read while tests ran, that no product code can have read.

    None names the file or its folder, and none lies beside it.
    """
    wanted = [path for path in read if is_data_file(path)]
    product = [path for path in paths if _CODE.fullmatch(path) and not is_test_path(path)]
    folders = {path.rpartition("/")[0] for path in product}
    said = "\n".join([text(path) or "" for path in product]) if wanted else ""
    return frozenset(
        path
        for path in wanted
        if path.rpartition("/")[0] not in folders
        if _name_of(path) not in said and not _mentions(path, said)
    )


_NAMED = regex(
    r"^\s*(?:(?:export|default|async|pub|static|public|final|abstract)\s+)*"
    r"(?:def|class|function|func|fn|struct|module)\s+(?:self\.)?&?(\w+)",
    re.M,
)


def find_tested(side: Iterable[str], paths: Iterable[str], read: Read) -> frozenset[str]:
    """Return the code that a configuration loads first and whose functions tests call themselves.

    It is what they test: their inverted runs show whether they can still fail with it.
    """
    found: set[str] = set()
    loaded = [each for each in side if _SOURCE.fullmatch(each) and not is_testing_alone(each)]
    tests = [path for path in paths if loaded and is_test_path(path) and _is_readable_code(path)]
    words = frozenset(re.findall(r"\w+", "\n".join([read(each) or "" for each in tests])))
    for path in loaded:
        text = read(path) or ""
        if not _is_values_or_checks(path, text) and words & set(_NAMED.findall(text)):
            found.add(path)
    return frozenset(found)


def is_testing_alone(path: str) -> bool:
    """Return whether the product does not use a file of the testing side."""
    *folders, name = path.split("/")
    return (
        is_test_path(path)
        or is_ci(path)
        or bool(_RUNNER_CONFIG.fullmatch(name) or _SHADOW.fullmatch(path))
        or _is_helper(path)
        or any(DATA_DIRS.fullmatch(folder) for folder in folders)
    )


def _mentions(path: str, tests: str) -> bool:
    """Return whether tests mention the data directory, for example to read all of its files."""
    folder = path.rpartition("/")[0].rpartition("/")[2]
    return bool(folder and re.search(rf"[\"'/\s]{re.escape(folder)}[\"'/]", tests))


_CODE = regex(
    rf"{_SOURCE.pattern}|{_SCRIPT.pattern}|{_C.pattern}"
    r"|.*\.(?:h|hh|hpp|hxx|java|kts?|scala|groovy|cs|fs|swift|m|mm|dart|ex|zig|hs|ml|clj|vue|svelte)"
)
_DEFINES = regex(
    r"^\s*(?:(?:export|default|async|pub|static|public)\s+)*(?:def|class|function|func|fn|impl)\b"
    r"|=>",
    re.M,
)
_CHECKS = regex(
    r"(?i)\b(?:def|function|func|fn)\s+(?:\([^)]*\)\s*)?\w*(?:assert|check|expect|verify|equal|should"
    r"|must|match)\w*"
)
_FAILS = regex(
    r"\braise\s+AssertionError|^\s*assert\b|\.(?:Errorf?|Fatalf?|FailNow|Fail)\(|AssertionError"
    r"|\bthrow\b|\bpanic!?\(|\babort\(",
    re.M,
)


def only_passes_on(text: str) -> bool:
    """Return whether code only imports from its own package: it defines and sets nothing."""
    rest = re.sub(r"^(?:__all__|module\.exports)\s*=", "", text, flags=re.M)
    while (inner := re.sub(r"\([^()]*\)", "", rest)) != rest:
        rest = inner
    return "=" not in rest and _PASSES_ON.search(text) is not None and not _DEFINES.search(text)


_PASSES_ON = regex(
    r"^(?:from\s+\.|export\b[^=\n]*\bfrom\s+[\"']\.|(?:module\.exports\s*=\s*)?require\([\"']\.)",
    re.M,
)


def _is_values_or_checks(path: str, text: str) -> bool:
    """Return whether code contains only values, or consists of checks."""
    if "/__init__." in f"/{path}":
        return False
    if not _DEFINES.search(text) or (_CHECKS.search(text) and _FAILS.search(text)):
        return True
    try:
        cases = read_tests(path, text)
    except MissingExtra:
        return False
    # A statement of the language guards the product as well; a call of a framework does not.
    own = (one for case in cases if case.name and not case.is_test for one in case.assertions)
    is_plain = path.endswith((".rs", ".c", ".cc", ".cpp", ".h", ".hpp"))
    return not is_plain and any(one.form in ("call", "chain", "link") for one in own)


def _is_for_tests(path: str, texts: Mapping[str, str]) -> bool:
    """Return whether tests import a source file and no other code does."""
    if path.endswith(".go") and _is_named_by_tests_alone(path, texts):
        return True
    stem = re.escape(_module_name(path))
    folder = re.escape(path.rpartition("/")[0].rpartition("/")[2] or stem)
    named = re.compile(
        rf"^[^\n]*(?:\b(?:import|from|require\w*|use|mod|include)\b|^\s*\")[^\n]*"
        rf"(?<![\w-])(?:{stem}|{folder}\")(?![\w-])",
        re.M,
    )
    users = [each for each, text in texts.items() if each != path and named.search(text)]
    if not users or not all(map(is_test_path, users)):
        return False
    if _DEFINES.search(texts.get(path, "")) or not _IMPORTED.fullmatch(path):
        return True
    # Tests that name no other code are about these values: nothing else could be made to agree.
    said = frozenset(re.findall(r"\w+", "\n".join([texts[each] for each in users])))
    others = (each for each in texts if each != path and not is_test_path(each))
    return any(_module_name(each) in said for each in others)


_GO_NAME = regex(r"^(?:(?:var|const|type)[ \t]+|\t(?=\w+[ \t]+(?:\S+[ \t]+)?=))([a-z]\w*)", re.M)


def _is_named_by_tests_alone(path: str, texts: Mapping[str, str]) -> bool:
    """Return whether what a Go file keeps to its package is named by tests and by no other code."""
    names = frozenset(_GO_NAME.findall(texts.get(path, "")))
    folder = path.rpartition("/")[0]
    users = [
        each
        for each, text in texts.items()
        if each != path and each.endswith(".go") and each.rpartition("/")[0] == folder
        if not names.isdisjoint(re.findall(r"\w+", text))
    ]
    return bool(users) and all(map(is_test_path, users))


_IMPORTED = regex(r".*\.(?:py|[cm]?[jt]sx?)")
"""Code that tests can only reach by naming its file."""


def _is_readable_code(path: str) -> bool:
    """Return whether a file may mention files that tests or the code read."""
    is_script = _SOURCE.fullmatch(path) or (is_test_path(path) and _SCRIPT.fullmatch(path))
    return bool(is_script)


_MAKEFILE = regex(r"(?:GNU)?[Mm]akefile|.*\.mk")


_RECIPES = regex(rf"{_MAKEFILE.pattern}|[Jj]ustfile")


def is_shared(path: str) -> bool:
    """Return whether a file of the testing side affects tests in other files."""
    name = path.rpartition("/")[2]
    # Runners collect `test_*`; what is called `tests_*` is there for them, and what was recorded
    # belongs to a test elsewhere.
    return name.startswith("tests_") or is_expectation(path) or TEST_NAME.fullmatch(name) is None


def is_data(folder: str) -> bool:
    """Return whether a directory contains input for tests rather than a project.

    Data directories are recognised by name. Below a test directory, only another test directory
    (`tests/e2e`) is a project of its own; `tests/cases/app` is test material.
    """
    names = folder.split("/")
    if any(DATA_DIRS.fullmatch(name) for name in names):
        return True
    first = next((n for n, name in enumerate(names) if name in TEST_DIRS), len(names))
    return any(name not in TEST_DIRS for name in names[first:])


_FILES_OF_PYTEST = regex(
    r"^[ \t]*python_files[ \t]*=[ \t]*(\[[^\]]*\]|[^\n]*(?:\n[ \t]+[^\n]+)*)", re.MULTILINE
)


def _collected_by(config: str) -> Iterator[str]:
    """Yield the configured patterns by which pytest finds test files."""
    for found in _FILES_OF_PYTEST.findall(config):
        yield from re.findall(r"[^\s\"',\[\]]+", found)


def _is_collected(path: str, globs: Sequence[str]) -> bool:
    name = _name_of(path)
    # A pattern for every file would make the code under test one of its own tests.
    return name.endswith(".py") and any(
        fnmatchcase(name, glob) for glob in globs if glob not in ("*.py", "*")
    )


def _name_of(path: str) -> str:
    return path.rpartition("/")[2]


def _is_config(path: str) -> bool:
    name = _name_of(path)
    return is_test_config(path) or bool(_CONFIG.fullmatch(name)) or ".cargo/config" in path


def _is_around(path: str, part: str) -> bool:
    return is_within(part, path.rpartition("/")[0] or TOP)


def _is_helper(path: str) -> bool:
    return bool(_SOURCE.fullmatch(path)) and bool(_HELPER.fullmatch(_module_name(path)))


def _module_name(path: str) -> str:
    """Return the last name by which a file is imported: a package uses its directory's."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return folder.rpartition("/")[2] if stem in ("index", "__init__", "mod") else stem


def _mentioned(files: Iterable[str], sources: Sequence[str], read: Read) -> set[str]:
    """Return which of these files one of the sources imports, by the last name alone."""
    stems: dict[str, set[str]] = {}
    for file in files:
        stems.setdefault(_module_name(file), set()).add(file)
    if not stems:
        return set()
    names = "|".join(map(re.escape, stems))
    pattern = re.compile(
        rf"^[^\n]*\b(?:import|from|require\w*|use|mod|include|export)\b[^\n]*"
        rf"(?<![\w-])({names})(?![\w-])",
        re.M,
    )
    found: set[str] = set()
    for source in sources:
        for stem in pattern.findall(read(source) or ""):
            found |= stems[stem] - {source}
    return found


def _named_by(path: str, text: str, files: frozenset[str]) -> Iterator[str]:
    """Yield the files in the tree that a configuration makes the runner load."""
    folder = path.rpartition("/")[0]
    for word in _words(path.rpartition("/")[2], text):
        bare = re.sub(r"^(?:<rootDir>|\$\{?\w+\}?)/", "", word).partition(":")[0]
        dotted = bare.replace(".", "/") if re.fullmatch(r"[\w.]+", bare) else bare
        for name in dict.fromkeys((bare, dotted, f"src/{dotted}")):
            place = posixpath.normpath(posixpath.join(folder, name))
            yield from (f"{place}{end}" for end in _ENDINGS if f"{place}{end}" in files)


_LOADED = regex(
    r"\b(?:setupFiles\w*|globalSetup|globalTeardown|require|import|loader|preset|extends|reporters?"
    r"|runner|testRunner|testEnvironment|testSequencer|snapshotSerializers|resolver|file|config"
    r"|bootstrap|pytest_plugins|helpers?)\b[\"']?\s*[:=]\s*"
    r"(\[[^\]]*\]|\([^)]*\)|[\"'][^\"'\n]*[\"'])"
)
_QUOTED = regex(r"[\"']([^\"'\n]+)[\"']")
_PLUGIN = regex(r"(?:^|[\s\"'])-p[ =]?(?!no:)([\w.]+)")
_ENTRY = regex(r"pytest11[^\[]*?=\s*[\"']?([\w.]+)")
_RECIPE = regex(
    r"^(?P<names>[\w .%/-]+?)[ \t]*::?(?!=)(?P<needs>[^\n]*)(?P<recipe>(?:\n\t[^\n]*)*)", re.M
)


def _words(name: str, text: str) -> Iterator[str]:
    """Yield the values of a configuration's keys that load files, plugins and scripts."""
    if name == "package.json":
        yield from _package_words(text)
        return
    if _MAKEFILE.fullmatch(name):
        yield from _recipe_words(text)
        return
    for found in _LOADED.finditer(text):
        yield from _QUOTED.findall(found[1])
    yield from _PLUGIN.findall(text)
    yield from _ENTRY.findall(text)


def _package_words(text: str) -> Iterator[str]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return
    table = cast("dict[str, Any]", document) if isinstance(document, dict) else {}
    scripts = table.get("scripts")
    for name, script in (
        cast("dict[str, Any]", scripts) if isinstance(scripts, dict) else {}
    ).items():
        if re.search(r"test|check|spec|verify|coverage", name):
            yield from _command_words(str(script))
    for key in ("jest", "mocha", "ava", "vitest", "nyc", "c8", "tap"):
        if key in table:
            for found in _LOADED.finditer(json.dumps(table[key])):
                yield from _QUOTED.findall(found[1])


def _recipe_words(text: str) -> Iterator[str]:
    """Yield the scripts in the recipes that `test` and `check` reach, and every included file."""
    yield from re.findall(r"^-?include[ \t]+(\S+)", text, re.M)
    rules = {
        name: (found["needs"].split(), found["recipe"])
        for found in _RECIPE.finditer(text)
        for name in found["names"].split()
    }
    waiting = [name for name in ("test", "check") if name in rules]
    seen = set(waiting)
    while waiting:
        needs, recipe = rules[waiting.pop()]
        for line in recipe.split("\n"):
            yield from _command_words(line.strip().lstrip("@-+"))
        yield from (name for name in needs if _C.fullmatch(name))
        new = [name for name in needs if name in rules and name not in seen]
        seen.update(new)
        waiting += new


def _command_words(command: str) -> Iterator[str]:
    """Yield the scripts among a command's words, and the files that its options load."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    for before, word in zip(["", *words], words, strict=False):
        name, equals, value = word.partition("=")
        if name in _LOADERS and equals:
            yield value
        elif before in _LOADERS or _SCRIPT.fullmatch(word) or word.startswith("./"):
            yield word


_LOADERS = frozenset(
    {
        "-r", "--require", "--import", "--loader", "--experimental-loader", "--config", "-c", "-p",
        "--project", "--setupFiles", "--globalSetup", "--bootstrap", "--file", "--rcfile",
    }
)  # fmt: skip
