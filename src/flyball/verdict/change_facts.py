"""The facts of a change without any run: its texts, its testing side, how its tests compare."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import partial

from flyball.core.terms.intent import is_document
from flyball.core.terms.test_paths import is_test_config, is_test_path
from flyball.regex import regex
from flyball.verdict.promises import changed_examples
from flyball.verdict.reach import runner_reaches, shared_literals
from flyball.verdict.reports import ChangeFacts, SharedFile
from flyball.verdict.runners.layout import FileIndex
from flyball.verdict.sides import (
    find_shared,
    find_tested,
    find_testing_side,
    is_testing_alone,
)
from flyball.verdict.tests import compare_tests
from flyball.verdict.type_checks import silenced_lines
from flyball.workspace.trees.trees import LINK, Changed, TreeEntry, TreeHash, Trees, reason_in

BINARY = b"\0"

Texts = Mapping[str, str | None]


def change_facts(
    trees: Trees, before: FileIndex, after: FileIndex, changes: Sequence[Changed], head: str
) -> ChangeFacts:
    """Return the facts of a change between two checked-out trees."""
    files = tuple([change.path for change in changes])
    old = _texts(trees, {change.path: change.before for change in changes})
    new = _texts(trees, {change.path: change.after for change in changes})
    side = _testing_side(before, old) | _testing_side(after, new)
    side -= find_tested(
        side, {*old, *before.files}, lambda path: old.get(path) or before.text(path)
    )
    # What the tests read and nothing says of that the product does not is put back to see.
    shared = _shared(before, old, side) | _shared(after, new, side)
    shared |= {path for path in side if not is_testing_alone(path)}
    # A link leads to other files than it seems to, so it is never code alone.
    links = {each.path for each in changes if each.after is not None and each.after.mode == LINK}
    side = (side - shared) | links
    code = [path for path in files if path not in side]
    added = [line for path in code for line in _added(old.get(path), new.get(path))]
    tests = [text for path in sorted(side) for text in (new.get(path), old.get(path)) if text]
    unkept = trees.unkept_files(TreeHash(head))
    stubs = trees.contents([unkept[path] for path in files if path in unkept])
    return ChangeFacts(
        files,
        (*compare_tests(old, new), *changed_examples({path: old[path] for path in code}, new)),
        side,
        tuple([SharedFile(p, old.get(p) or "", new.get(p) or "") for p in sorted(shared)]),
        _renamed(old, new, side),
        tuple([each.path for each in changes if each.after and _COMPILED.search(each.path)]),
        documents=all(map(is_document, files)) and not (side | shared),
        reaches=runner_reaches(old, new, side | shared, partial(_is_alone, after)),
        unkept={path: reason_in(stubs[unkept[path]]) for path in files if path in unkept},
        silenced=tuple(silenced_lines(old, {path: new.get(path) for path in code})),
        shared_literals=shared_literals(added, tests),
        runs_examples=_runs_examples(after, code),
    )


_COMPILED = regex(
    r"\.(?:py[cod]|so(?:\.\d+)*|dylib|dll|class|jar|o|a|wasm|node|exe)$|\.min\.[cm]?js$"
)
_C_FILE = regex(r".+\.(?:c|cc|cpp|cxx)")
_C_OR_HEADER = regex(r".+\.(?:[ch]|cc|cpp|cxx|hh|hpp|hxx|inc|inl)")
MOST_INCLUDING = 2_000


def _is_alone(land: FileIndex, path: str) -> bool:
    """Return whether this is a C file that no other file includes."""
    others = [each for each in land.matching(_C_OR_HEADER) if each != path]
    if not _C_FILE.fullmatch(path) or len(others) > MOST_INCLUDING:
        return False
    name = re.escape(path.rpartition("/")[2])
    included = re.compile(rf"^\s*#\s*include\s*[<\"](?:[^>\"]*/)?{name}[>\"]", re.M)
    # A name that a macro makes could be any file's.
    made = re.compile(r"^\s*#\s*include\s+\w", re.M)
    texts = (land.text(each) for each in others)
    return not any(included.search(text) or made.search(text) for text in texts)


ALIKE = 0.6
"""A test file that is new and so much like one that is gone is that one under another name."""


def _renamed(old: Texts, new: Texts, side: frozenset[str]) -> dict[str, str]:
    """Test files that were moved: the old path and the new one, the likest first."""
    gone = [path for path in sorted(side) if old.get(path) and new.get(path) is None]
    come = [path for path in sorted(side) if new.get(path) and old.get(path) is None]
    found: dict[str, str] = {}
    for path in gone:
        before = (old.get(path) or "").split("\n")
        ratios = [
            (SequenceMatcher(None, before, (new.get(each) or "").split("\n")).ratio(), each)
            for each in come
            if each not in found.values()
        ]
        best = max(ratios, default=(0.0, ""))
        if best[0] >= ALIKE:
            found[path] = best[1]
    return found


def _shared(land: FileIndex, changed: Texts, side: frozenset[str]) -> frozenset[str]:
    present = [path for path, text in changed.items() if text is not None]

    def read(path: str) -> str:
        return changed.get(path) or land.text(path)

    return find_shared(present, side, {*present, *land.files}, read)


def _runs_examples(land: FileIndex, code: Sequence[str]) -> bool:
    """Return whether anything that decides about tests, or a changed file, runs a session's
    examples.
    """
    near = [path for path in land.files if is_test_path(path) or is_test_config(path)]
    return any("doctest" in land.text(path) for path in (*near, *code) if land.has(path))


def _texts(trees: Trees, entries: Mapping[str, TreeEntry | None]) -> dict[str, str | None]:
    """Return path → text on one side of the change; None for a missing file, or one that is not
    text.
    """
    blobs = trees.contents([entry.blob for entry in entries.values() if entry is not None])
    found: dict[str, str | None] = {}
    for path, entry in entries.items():
        data = blobs.get(entry.blob) if entry is not None else None
        found[path] = None if data is None or BINARY in data else data.decode("utf-8", "replace")
    return found


def _testing_side(land: FileIndex, changed: Texts) -> frozenset[str]:
    """Return those of the changed files that decide about tests in this tree."""
    present = {path for path, text in changed.items() if text is not None}
    # The walk leaves hidden folders out; configuration in them counts if it was changed.
    every = present.union(land.files)

    def read(path: str) -> str:
        return changed.get(path) or land.text(path)

    return find_testing_side(every, read) & changed.keys()


def _added(before: str | None, after: str | None) -> Iterator[str]:
    known = set((before or "").split("\n"))
    yield from (line for line in (after or "").split("\n") if line not in known)
