"""Measure the tests: make small changes to the new lines, and count those that a test notices.

Each change needs another run of the tests that reach it, so only as many are tried as fit into a
few seconds.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from msgspec.structs import replace

from flyball.errors import MissingExtra
from flyball.terms.change_verdict import MutantCount
from flyball.terms.progress import Progress, unwatched
from flyball.terms.shape import one_line
from flyball.tools.call.protocol import CallContext
from flyball.verdict import tests
from flyball.verdict.part import PartSuite, is_within
from flyball.verdict.reports import SuiteRuns, TreeRun
from flyball.verdict.tree_run import Selection, TreePair, reached_tests, run_tree, words_for
from flyball.workspace.trees.trees import TreeHash

MOST = 10
SHOWN = 3
FEWEST = 2
"""Fewer trials than this say nothing about the tests."""
MANY = 400
"""So many changes of one file are thought of; those that are tried are spread over its lines."""
LONGEST = 40
SLOWER = 5
"""So many times as long as before the tests of a small change may take, besides the limit."""


class Noticed(NamedTuple):
    """The number of small changes that the tests notice, or why none was tried."""

    found: MutantCount | None = None
    not_tried: str = ""


async def count_noticed(
    context: CallContext,
    suites: Sequence[PartSuite],
    compared: TreePair,
    runs: Sequence[SuiteRuns] = (),
) -> Noticed:
    """Return how many small changes to the new lines the tests notice; no count if that is unknown.

    The verdict's runs show how long the tests take, and their results for the unchanged code.
    """
    limit = context.settings.mutant_seconds
    for suite, its in zip(suites, runs, strict=False):
        if not limit or its.new is None or its.new.trouble or not its.new.green:
            continue
        try:
            mutants = choose_mutants(context, suite, compared)
        except MissingExtra as error:
            return Noticed(not_tried=f"small changes to the new lines: {error.message}")
        if not mutants:
            continue
        took = _seconds_of_one(suite, compared, its.new)
        if took * FEWEST > limit:
            why = f"the tests of them take {took:.0f} s each time"
            return Noticed(not_tried=f"small changes to the new lines: {why}")
        # A change may let a loop run for ever: it is given what the tests took, some times over.
        seconds = min(context.limits.seconds, limit + SLOWER * its.new.elapsed)
        bounded = context._replace(limits=replace(context.limits, seconds=seconds))
        return Noticed(await _try(bounded, suite, compared, its.new, mutants))
    return Noticed()


def _seconds_of_one(suite: PartSuite, compared: TreePair, run: TreeRun) -> float:
    """Return the minimum duration of one trial, from a run of the same tests on the same tree."""
    reached = reached_tests(suite, compared)
    files = reached.files if words_for(suite, reached) else run.seconds
    return sum(run.seconds.get(file, 0.0) for file in files)


async def _try(
    context: CallContext,
    suite: PartSuite,
    compared: TreePair,
    as_it_is: TreeRun,
    mutants: Sequence[tests.Mutant],
) -> MutantCount | None:
    """Run the tests that reach the change on each small change, until the time is up."""
    trees = context.workspace.trees
    reached = reached_tests(suite, compared)
    wanted = Selection(reached.files) if words_for(suite, reached) else None
    began = time.monotonic()
    over = began + context.settings.mutant_seconds
    tell, context = context.tell_progress, context._replace(on_progress=unwatched)
    noticed = 0
    unnoticed: list[tests.Mutant] = []
    for nth, each in enumerate(mutants):
        if time.monotonic() > over:
            break
        elapsed = time.monotonic() - began
        tell(Progress("small changes to the new lines", elapsed, 0.0, nth, len(mutants), "tried"))
        entry = trees.entries(TreeHash(compared.head), (each.path,))[each.path]
        changed = {each.path: entry._replace(blob=trees.keep(each.source.encode()))}
        tree = trees.overlay(TreeHash(compared.head), changed)
        run = (await run_tree(context, tree, suite, wanted)).run
        if run.red - as_it_is.red:
            noticed += 1
        elif not run.trouble and as_it_is.green & run.green:
            unnoticed.append(each)
        # Where no test was run, the change does not build, which says nothing about the tests.
    if not noticed and not unnoticed:
        return None
    said = tuple([_said(each) for each in unnoticed[:SHOWN]])
    return MutantCount(noticed + len(unnoticed), noticed, said)


def _said(mutant: tests.Mutant) -> str:
    old = one_line(mutant.old, LONGEST)
    change = f"`{old}` → `{one_line(mutant.new, LONGEST)}`" if mutant.new else f"without `{old}`"
    return f"{mutant.path}:{mutant.line} {change}"


def choose_mutants(
    context: CallContext, suite: PartSuite, compared: TreePair
) -> tuple[tests.Mutant, ...]:
    """Return a handful of small changes, spread over as many of the new lines as possible."""
    trees = context.workspace.trees
    new = trees.entries(TreeHash(compared.head), _product(suite, compared))
    blobs = trees.contents([entry.blob for entry in new.values()])
    texts = {path: blobs.get(entry.blob, b"") for path, entry in new.items()}
    found: list[tests.Mutant] = []
    for path, lines in _new_lines(context, compared, texts).items():
        found += tests.mutants(path, texts[path], lines, MANY)
    first: dict[tuple[str, int], tests.Mutant] = {}
    for each in found:
        first.setdefault((each.path, each.line), each)
    ones = list(first.values())
    if len(ones) >= MOST:
        return tuple([ones[nth * len(ones) // MOST] for nth in range(MOST)])
    more = [each for each in found if each not in ones]
    return (*ones, *more[: MOST - len(ones)])


def _product(suite: PartSuite, compared: TreePair) -> list[str]:
    facts = compared.facts
    return [p for p in facts.files if p not in facts.put_back and is_within(p, suite.at)]


def _new_lines(
    context: CallContext, compared: TreePair, texts: Mapping[str, bytes]
) -> dict[str, frozenset[int]]:
    """Return the new lines of the product, without tests in the same files."""
    trees = context.workspace.trees
    old = trees.entries(TreeHash(compared.base), sorted(texts))
    blobs = trees.contents([entry.blob for entry in old.values()])
    found: dict[str, frozenset[int]] = {}
    for path, text in texts.items():
        before = blobs.get(old[path].blob, b"") if path in old else b""
        lines = frozenset(added_lines(before, text))
        for case in tests.read_tests(path, text) if lines else ():
            if case.is_test and case.name:
                lines -= frozenset(range(case.line, case.last_line + 1))
        if lines:
            found[path] = lines
    return found


def added_lines(before: bytes, after: bytes) -> Iterator[int]:
    """Yield the numbers of the lines that are in one text and not in the other."""
    matcher = SequenceMatcher(None, before.split(b"\n"), after.split(b"\n"), autojunk=False)
    for tag, _, _, first, last in matcher.get_opcodes():
        if tag in ("replace", "insert"):
            yield from range(first + 1, last + 1)
