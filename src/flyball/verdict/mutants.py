"""How strong the tests are: small changes to the new lines, and how many of them a test notices.

Told with the verdict and never a reason to block. Python alone, since the changes are made by the
repairer's own templates, and within a few seconds, since nobody waits for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from flyball.core.suite.part import TOP, PartSuite, is_within
from flyball.core.terms.change_verdict import MutantCount
from flyball.errors import FlyballError
from flyball.repair.localise import sources_of
from flyball.repair.search import HOLDS, Ends, generate_candidates, mutate
from flyball.repair.site import Candidate
from flyball.repair.source import Source
from flyball.repair.spectrum import SuspectLine
from flyball.repair.trial import ScratchCopy
from flyball.tools.call.protocol import CallContext
from flyball.verdict.reports import SuiteRuns
from flyball.verdict.runners.choice import choose
from flyball.verdict.suite_runs import TreePair, reached_tests
from flyball.verdict.tree_run import words_for
from flyball.workspace.files.paths import Root
from flyball.workspace.run.clean import clean_checkout
from flyball.workspace.trees.trees import TreeHash

MOST = 10
SHOWN = 3
FEWEST = 3
"""The code as it is and two changes: fewer trials than that say nothing about the tests."""
TEMPLATES = frozenset(
    {"comparison", "arithmetic", "augmented", "boolean", "negation", "sign", "off by one"}
    | {"constant", "operand dropped", "left out"}
)
"""Those whose changes nearly always change what the program does."""
NOTICED = frozenset({"fail", "crash"})


class Noticed(NamedTuple):
    """How many small changes the tests notice, or why none was tried, if there is more to say."""

    found: MutantCount | None = None
    not_tried: str = ""


async def count_noticed(
    context: CallContext,
    suites: Sequence[PartSuite],
    compared: TreePair,
    runs: Sequence[SuiteRuns] = (),
) -> Noticed:
    """How many small changes to the new lines the tests notice; no count where nobody can tell.

    The runs of the verdict say how long the tests take: where not even a few trials fit, the
    seconds would be spent for nothing.
    """
    limit = context.settings.mutant_seconds
    if not limit:
        return Noticed()
    for suite in suites:
        if suite.runner in ("pytest", "unittest") and (
            lines := _new_lines(context, suite, compared)
        ):
            took = _seconds_of_one(suite, compared, runs)
            if took * FEWEST > limit:
                why = f"the tests of them take {took:.0f} s each time"
                return Noticed(not_tried=f"small changes to the new lines: {why}")
            return Noticed(await _try_mutants(context, suite, compared, lines))
    return Noticed()


def _seconds_of_one(suite: PartSuite, compared: TreePair, runs: Sequence[SuiteRuns]) -> float:
    """How long one trial takes at least, by the run of the same tests on the same tree."""
    run = next((each.new for each in runs if each.part == suite.at and each.new is not None), None)
    if run is None:
        return 0.0
    reached = reached_tests(suite, compared)
    files = reached.files if words_for(suite, reached) else run.seconds
    return sum(run.seconds.get(file, 0.0) for file in files)


async def _try_mutants(
    context: CallContext, suite: PartSuite, compared: TreePair, lines: Mapping[str, Sequence[int]]
) -> MutantCount | None:
    with clean_checkout(context.workspace, compared.head) as place:
        sources = sources_of(place / suite.at, lines)
        mutants = choose_mutants(sources, lines)
        if not mutants:
            return None
        at = () if suite.at == TOP else (suite.at,)
        words = words_for(suite, reached_tests(suite, compared)) or ()
        there = context.on_tree(Root(place, protected=()), compared.head)
        try:
            stage = ScratchCopy(there, choose(suite.runner, (*at, *words), place))
            ends = await mutate(stage, mutants, context.settings.mutant_seconds)
        except FlyballError:
            # The verdict stands without it.
            return None
    return _counted(mutants, ends)


def _new_lines(
    context: CallContext, suite: PartSuite, compared: TreePair
) -> dict[str, tuple[int, ...]]:
    """The lines of the product that are new, by file as the part names it."""
    facts, trees = compared.facts, context.workspace.trees
    paths = [
        path
        for path in facts.files
        if path.endswith(".py") and path not in facts.testing_side and is_within(path, suite.at)
    ]
    old = trees.entries(TreeHash(compared.base), paths)
    new = trees.entries(TreeHash(compared.head), paths)
    blobs = trees.contents([entry.blob for entry in (*old.values(), *new.values())])
    found: dict[str, tuple[int, ...]] = {}
    for path, entry in new.items():
        before = blobs.get(old[path].blob, b"") if path in old else b""
        lines = tuple(added_lines(before, blobs.get(entry.blob, b"")))
        if lines:
            found[path if suite.at == TOP else path.removeprefix(f"{suite.at}/")] = lines
    return found


def added_lines(before: bytes, after: bytes) -> Iterator[int]:
    """The numbers of the lines that one text has and the other had not."""
    matcher = SequenceMatcher(None, before.split(b"\n"), after.split(b"\n"), autojunk=False)
    for tag, _, _, first, last in matcher.get_opcodes():
        if tag in ("replace", "insert"):
            yield from range(first + 1, last + 1)


def choose_mutants(
    sources: Mapping[str, Source], lines: Mapping[str, Sequence[int]]
) -> list[Candidate]:
    """A handful of small changes, from as many of the new lines as there are."""
    places = [SuspectLine(path, line, 1.0) for path in sources for line in lines[path]]
    fits = [each for each in generate_candidates(sources, places) if each.template in TEMPLATES]
    by_line: dict[tuple[str, int], list[Candidate]] = {}
    for each in fits:
        by_line.setdefault((each.path, each.line), []).append(each)
    # One of every line before a second of any: ten changes of one line would tell of that alone.
    chosen = [
        each for nth in range(MOST) for found in by_line.values() for each in found[nth : nth + 1]
    ]
    return chosen[:MOST]


def _counted(mutants: Sequence[Candidate], ends: Ends) -> MutantCount | None:
    """What the trial came to; the last of the ends is that of the code as it is."""
    unnoticed = [mutants[n] for n, end in sorted(ends.items()) if n < len(mutants) and end == HOLDS]
    noticed = sum(end in NOTICED for n, end in ends.items() if n < len(mutants))
    # Tests that fail for the code as it is, too, would seem to notice everything.
    if ends.get(len(mutants)) != HOLDS or not (noticed or unnoticed):
        return None
    said = tuple([f"{each.path}:{each.line} {each.label}" for each in unnoticed[:SHOWN]])
    return MutantCount(noticed + len(unnoticed), noticed, said)
