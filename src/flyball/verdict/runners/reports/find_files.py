"""Find the files of tests whose runner does not name them, among those of the tree.

If it is not certain, the file stays empty: a test that has a file on one tree and another one, or
none, on the next would count as vanished. For the same reason the stack of a failing test is not
used: the same test has none once it passes.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from flyball.regex import regex
from flyball.verdict.case import SuiteCase
from flyball.verdict.runners.layout import FileIndex

Find = Callable[[FileIndex], Callable[[SuiteCase], str]]
"""A tree in; a function out that names the file of a test, or nothing."""


def with_files(runner: str, cases: Sequence[SuiteCase], land: FileIndex) -> tuple[SuiteCase, ...]:
    """Return the same tests; each test without a file gets the only file that can contain it."""
    find = FINDERS[runner](land)
    return tuple(
        case if case.file else msgspec.structs.replace(case, file=find(case)) for case in cases
    )


def _only(found: Iterable[str]) -> str:
    """Return the only item, or an empty string if there are several."""
    each = list(dict.fromkeys(found))
    return each[0] if len(each) == 1 else ""


_NUMBER = regex(r" #(\d+)$")


def _bare(name: str) -> str:
    """Return a name without the number that distinguishes it from others of the same name."""
    return _NUMBER.sub("", name)


_GO_FUNCTION = regex(r"^func ((?:Test|Example|Fuzz|Benchmark)\w*)\(", re.M)


def _go(land: FileIndex) -> Callable[[SuiteCase], str]:
    """Return a finder by package, which is a directory, and the function in one of its test
    files."""
    module = re.search(r"^module\s+(\S+)", land.text("go.mod"), re.M)
    start = module[1] if module else ""
    known: dict[tuple[str, str], list[str]] = {}
    for path in land.matching(re.compile(r".*_test\.go")):
        folder = posixpath.dirname(path)
        package = f"{start}/{folder}" if folder else start
        for name in _GO_FUNCTION.findall(land.text(path)):
            known.setdefault((package, name), []).append(path)

    def find(case: SuiteCase) -> str:
        package, *outer = case.suite or ("",)
        return _only(known.get((package, _bare(outer[0] if outer else case.name)), ()))

    return find


_CLASS_FILE = regex(r"(.+)\.(?:java|kt|groovy|scala)")


def _java(land: FileIndex) -> Callable[[SuiteCase], str]:
    """Return a finder by class, which is a path; nested classes are in the same file.

    Kotlin and Groovy sometimes omit the package's directories; then only the class's own name is
    used.
    """
    paths = {path: found[1] for path in land.files if (found := _CLASS_FILE.fullmatch(path))}

    def find(case: SuiteCase) -> str:
        names = (case.suite[0] if case.suite else "").split(".")
        for end in range(len(names), 0, -1):
            whole = "/".join(names[:end])
            if same := [path for path, bare in paths.items() if f"/{bare}".endswith(f"/{whole}")]:
                return _only(same)
        owners = [name for name in names if name[:1].isupper()]
        stem = owners[0] if owners else ""
        return _only(path for path, bare in paths.items() if posixpath.basename(bare) == stem)

    return find


_CMAKE_CALL = regex(r"\b(add_test|add_executable)\s*\(([^)]*)\)", re.I)
_TEST_SOURCE = regex(r"(?:^|[/_.-])tests?(?:[/_.-]|$)", re.I)


def _ctest(land: FileIndex) -> Callable[[SuiteCase], str]:
    """Return a finder by command: a script of the tree, or a program built from one test source."""
    commands: dict[str, tuple[str, str]] = {}
    sources: dict[str, list[str]] = {}
    for path in land.matching(re.compile(r"(?:.*/)?CMakeLists\.txt")):
        folder = posixpath.dirname(path)
        for call, inner in _CMAKE_CALL.findall(land.text(path)):
            words = [word.strip('"') for word in inner.split()]
            if call.lower() == "add_executable" and words:
                sources[words[0]] = _in_tree(words[1:], folder, land)
            elif found := _test_command(words):
                commands[found[0]] = (found[1], folder)

    def find(case: SuiteCase) -> str:
        program, folder = commands.get(_bare(case.name), ("", ""))
        built = sources.get(program, [])
        tests = [path for path in built if _TEST_SOURCE.search(path)]
        return _only(_in_tree([program], folder, land) or tests or built)

    return find


def _test_command(words: Sequence[str]) -> tuple[str, str] | None:
    """Return the name of a test and the first word of its command, in either form of `add_test`."""
    if words[:1] == ["NAME"] and "COMMAND" in words[2:-1]:
        return words[1], words[words.index("COMMAND") + 1]
    return (words[0], words[1]) if len(words) > 1 and words[0] != "NAME" else None


def _in_tree(words: Iterable[str], folder: str, land: FileIndex) -> list[str]:
    """Return the words that are files of the tree, relative to the file that names them."""
    bare = (re.sub(r"^\$\{(?:CMAKE_CURRENT_|CMAKE_|PROJECT_)SOURCE_DIR\}/", "", w) for w in words)
    paths = (posixpath.normpath(posixpath.join(folder, word)) for word in bare if word)
    return [path for path in paths if land.has(path)]


_TAPE = regex(r"""(?:require\(\s*|from\s+)['"]tape['"]""")
_SCRIPT = regex(r".*\.[cm]?[jt]sx?")


def _tape(land: FileIndex) -> Callable[[SuiteCase], str]:
    """Return a finder for the only file that uses tape, or the one that contains the title.

    If it occurs once in each of several files, tests with the same title are numbered in the order
    in which tape loads the files, which is by name.
    """
    texts = {path: land.text(path) for path in land.matching(_SCRIPT)}
    users = {path: text for path, text in texts.items() if _TAPE.search(text)}

    def find(case: SuiteCase) -> str:
        if len(users) == 1:
            return _only(users)
        if whole := _titled(users, case.name):
            return _only(whole) if _NUMBER.search(case.name) else whole[0]
        number = _NUMBER.search(case.name)
        same = _titled(users, _bare(case.name))
        nth = int(number[1]) - 1 if number else 0
        return same[nth] if nth < len(same) else ""

    return find


def _titled(texts: Mapping[str, str], title: str) -> list[str]:
    """Return the files in which a test has this title; none if it occurs twice in one of them."""
    called = re.compile(rf"\(\s*(['\"`]){re.escape(title)}\1")
    counts = {path: len(called.findall(text)) for path, text in texts.items()}
    return [] if any(n > 1 for n in counts.values()) else [p for p, n in counts.items() if n]


FINDERS: dict[str, Find] = {
    "go": _go,
    "maven": _java,
    "gradle": _java,
    "ctest": _ctest,
    "tape": _tape,
}
"""How to find the file of a test, for runners that do not report it."""
