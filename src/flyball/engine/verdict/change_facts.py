"""What a change is, apart from any run: its texts, its testing side, how its tests compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from flyball.core.suite.sides import find_test_data, find_testing_side
from flyball.core.verdict.promises import changed_examples
from flyball.core.verdict.reach import runner_reaches, shared_literals
from flyball.core.verdict.reports import ChangeFacts
from flyball.core.verdict.type_checks import silenced_lines
from flyball.core.weakening.change import compare_tests
from flyball.core.weakening.paths import is_test_config, is_test_path
from flyball.tools.runner.layout import Land
from flyball.workspace.trees.trees import LINK, Changed, TreeEntry, TreeHash, Trees

BINARY = b"\0"

Texts = Mapping[str, str | None]


def change_facts(
    trees: Trees, before: Land, after: Land, changes: Sequence[Changed], head: str
) -> ChangeFacts:
    """The facts of a change between two trees that lie checked out."""
    files = tuple([change.path for change in changes])
    old = _texts(trees, {change.path: change.before for change in changes})
    new = _texts(trees, {change.path: change.after for change in changes})
    # A link leads to other files than it seems to, so it is never code alone.
    links = {each.path for each in changes if each.after is not None and each.after.mode == LINK}
    side = _testing_side(before, old) | _testing_side(after, new) | links
    code = [path for path in files if path not in side]
    added = [line for path in code for line in _added(old.get(path), new.get(path))]
    tests = [text for path in sorted(side) for text in (new.get(path), old.get(path)) if text]
    unkept = trees.unkept_files(TreeHash(head))
    return ChangeFacts(
        files,
        (*compare_tests(old, new), *changed_examples({path: old[path] for path in code}, new)),
        side,
        runner_reaches(old, new, side),
        tuple([path for path in files if path in unkept]),
        tuple(silenced_lines(old, {path: new.get(path) for path in code})),
        shared_literals(added, tests),
        runs_examples=_runs_examples(after, code),
    )


def _runs_examples(land: Land, code: Sequence[str]) -> bool:
    """Whether anything that decides about tests, or a changed file, runs a session's examples."""
    near = [path for path in land.files if is_test_path(path) or is_test_config(path)]
    return any("doctest" in land.text(path) for path in (*near, *code) if land.has(path))


def _texts(trees: Trees, entries: Mapping[str, TreeEntry | None]) -> dict[str, str | None]:
    """Path → text on one side of the change; None where there is no such file, or no text."""
    blobs = trees.contents([entry.blob for entry in entries.values() if entry is not None])
    found: dict[str, str | None] = {}
    for path, entry in entries.items():
        data = blobs.get(entry.blob) if entry is not None else None
        found[path] = None if data is None or BINARY in data else data.decode("utf-8", "replace")
    return found


def _testing_side(land: Land, changed: Texts) -> frozenset[str]:
    """Those of the changed files that decide about tests in this tree."""
    present = {path for path, text in changed.items() if text is not None}
    # The walk leaves hidden folders out; configuration in them counts if it was changed.
    every = present.union(land.files)

    def read(path: str) -> str:
        return changed.get(path) or land.text(path)

    side = find_testing_side(every, read) & changed.keys()
    return side | find_test_data(present - side, every, read)


def _added(before: str | None, after: str | None) -> Iterator[str]:
    known = set((before or "").split("\n"))
    yield from (line for line in (after or "").split("\n") if line not in known)
