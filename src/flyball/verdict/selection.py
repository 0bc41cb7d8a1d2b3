"""Select tests if the whole suite takes too long: those that changed or that reach the change.

Imports are read as text, transitively. If in doubt, a file is included: a selection that is too
large costs time, one that is too small makes the verdict wrong.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping

from flyball.regex import regex
from flyball.terms.test_paths import TEST_NAME

SOURCE = regex(r".*\.(?:py|go|rs|[cm]?[jt]sx?|vue|svelte)")
"""Files whose imports can be read."""

_PYTHON = regex(r"^\s*(?:from\s+([.\w]+)\s+import\s+([\w, ()*]+)|import\s+([\w., ]+))", re.M)
_SCRIPT = regex(r"""(?:from\s+|import\s*\(?\s*|require\(\s*)['"](\.{1,2}/[^'"]+)['"]""")
_GO = regex(r'^\s*(?:import\s+)?(?:\w+\s+)?"([\w./-]+)"', re.M)
_TESTS = {
    ".py": regex(r"^\s*(?:async\s+)?def\s+test\w*\s*\(", re.M),
    ".go": regex(r"^func\s+Test\w*\s*\(", re.M),
    ".rs": regex(r"#\[(?:\w+::)?test\b"),
}
_CALLS = regex(r"^\s*(?:it|test|specify)(?:\.\w+)*\s*\(", re.M)
_SCRIPTS = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx", ".vue", ".svelte")


def select_tests(changed: Iterable[str], texts: Mapping[str, str]) -> tuple[str, ...]:
    """Return the test files of a part that changed, or that reach a changed file."""
    uses = {path: _uses(path, text, texts) for path, text in texts.items()}
    reached = {path for path in changed if path in texts}
    grew = True
    while grew:
        more = {path for path, used in uses.items() if path not in reached and used & reached}
        reached |= more
        grew = bool(more)
    return tuple(sorted(path for path in reached if is_test_file(path)))


def find_tests_apart(changed: Iterable[str], texts: Mapping[str, str]) -> frozenset[str]:
    """Return the test files that certainly do not use the changed files: they import none of them.

    A name that a package re-exports from a changed file counts as imported from that file.
    """
    wanted = {path for path in changed if path in texts}
    # Of other languages nobody can tell what a test uses, so it is taken to use everything.
    read = [path for path in texts if path.endswith((".py", ".go", *_SCRIPTS))]
    tests = [path for path in read if is_test_file(path) and path not in wanted]
    return frozenset([path for path in tests if not _uses_directly(path, texts, wanted)])


def _uses_directly(path: str, texts: Mapping[str, str], wanted: set[str]) -> bool:
    text = texts[path]
    used = _uses(path, text, texts)
    facades = {each for each in used if _FACADE.fullmatch(posixpath.basename(each))}
    if used & wanted:
        return True
    words = frozenset(re.findall(r"\w+", text))
    return any(
        _is_below(each, facades) and not words.isdisjoint(_DEFINED.findall(texts[each]))
        for each in wanted
    )


def _is_below(path: str, facades: Iterable[str]) -> bool:
    return any(path.startswith(f"{posixpath.dirname(each)}/".lstrip("/")) for each in facades)


_FACADE = regex(r"__init__\.py|index\.[cm]?[jt]sx?|mod\.rs|lib\.rs")
_DEFINED = regex(
    r"^(?:(?:export|default|async|pub|def|class|function|const|let|var|func|fn)\s+)*(\w+)\s*[=(:{<]",
    re.M,
)


def is_test_file(path: str) -> bool:
    """Return whether a runner would look for tests in the file."""
    return TEST_NAME.fullmatch(posixpath.basename(path)) is not None


def count_tests(texts: Mapping[str, str]) -> int:
    """Return how many test functions the test files contain, according to their texts."""
    total = 0
    for path, text in texts.items():
        if is_test_file(path):
            pattern = _TESTS.get(posixpath.splitext(path)[1], _CALLS)
            total += len(pattern.findall(text))
    return total


def _uses(path: str, text: str, files: Mapping[str, str]) -> set[str]:
    """Return the files of the part that a file imports."""
    ending = posixpath.splitext(path)[1]
    if ending == ".py":
        return _python_uses(path, text, files)
    if ending == ".go":
        return _go_uses(path, text, files)
    return _script_uses(path, text, files) if ending in _SCRIPTS else set()


def _python_uses(path: str, text: str, files: Mapping[str, str]) -> set[str]:
    found: set[str] = set()
    for source, names, plain in _PYTHON.findall(text):
        if plain:
            wanted = [each.split(" as ")[0].strip() for each in plain.split(",")]
        else:
            listed = [each.split(" as ")[0].strip(" ()") for each in names.split(",")]
            start = source if source.endswith(".") else f"{source}."
            wanted = [source, *(f"{start}{name}" for name in listed)]
        for module in wanted:
            found |= _python_files(path, module, files)
    folder = posixpath.dirname(path)
    conftests = {posixpath.join(each, "conftest.py") for each in _upwards(folder)}
    return found | (conftests & files.keys())


def _python_files(path: str, module: str, files: Mapping[str, str]) -> set[str]:
    """Return every file that a dotted name may mean: also below `src`, and packages on its path."""
    dots = len(module) - len(module.lstrip("."))
    name = module.lstrip(".").replace(".", "/")
    if dots:
        base = posixpath.dirname(path)
        for _ in range(dots - 1):
            base = posixpath.dirname(base)
        roots = [base]
    else:
        roots = ["", "src", "lib", posixpath.dirname(path), *_upwards(posixpath.dirname(path))]
    found: set[str] = set()
    for root in roots:
        stem = posixpath.normpath(posixpath.join(root, name)) if name else root
        for candidate in (f"{stem}.py", posixpath.join(stem, "__init__.py")):
            if candidate in files:
                found.add(candidate)
    return found


def _script_uses(path: str, text: str, files: Mapping[str, str]) -> set[str]:
    found: set[str] = set()
    for name in _SCRIPT.findall(text):
        stem = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
        bare = re.sub(r"\.[cm]?js$", "", stem)
        candidates = {stem, *(f"{each}{end}" for each in (stem, bare) for end in _SCRIPTS)}
        candidates |= {posixpath.join(stem, f"index{end}") for end in _SCRIPTS}
        found |= candidates & files.keys()
    return found


def _go_uses(path: str, text: str, files: Mapping[str, str]) -> set[str]:
    """Return the files a Go file uses: its package, and packages whose directory ends an import
    path."""
    folders = {posixpath.dirname(each) for each in files if each.endswith(".go")}
    named = _GO.findall(text)
    own = posixpath.dirname(path)
    used = {own} | {f for f in folders if f and any(name.endswith(f"/{f}") for name in named)}
    return {each for each in files if each.endswith(".go") and posixpath.dirname(each) in used}


def _upwards(folder: str) -> list[str]:
    found: list[str] = []
    while folder:
        found.append(folder)
        folder = posixpath.dirname(folder)
    return [*found, ""]
