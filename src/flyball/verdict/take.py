"""Take a verdict on a change: find the suites that it reaches, and run them on both trees."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from difflib import SequenceMatcher
from functools import partial
from typing import NamedTuple

import msgspec

from flyball.errors import FlyballError
from flyball.regex import regex
from flyball.shell import CommandKind, cannot_fail, judge
from flyball.terms.change_verdict import ChangeVerdict
from flyball.terms.evidence import CheckReport, Strength
from flyball.terms.evidence_rows import is_style, strength
from flyball.terms.intent import is_document
from flyball.terms.progress import Parts, Progress
from flyball.terms.test_paths import is_test_config, is_test_path
from flyball.tools.call.protocol import CallContext
from flyball.tools.check import CHECK, CheckForm
from flyball.verdict.base_runs import BaseRuns
from flyball.verdict.contradictions import with_contradictions
from flyball.verdict.judge import judge_change, judge_unchanged, with_mutants
from flyball.verdict.mutants import count_noticed
from flyball.verdict.named import CheckEnd, is_suite, resolve_named
from flyball.verdict.part import Part, PartSuite, owner_of, reached
from flyball.verdict.promises import changed_examples
from flyball.verdict.reach import runner_reaches, shared_literals
from flyball.verdict.record import write_record
from flyball.verdict.reports import AskedFor, ChangeFacts, Named, NamedEnd, SharedFile, SuiteRuns
from flyball.verdict.runners.launch import exit_code, launch, set_up
from flyball.verdict.runners.layout import LINKED_OUT, FileIndex, look
from flyball.verdict.runners.pace import Paces, telling
from flyball.verdict.runners.parts import survey_parts
from flyball.verdict.selection import SOURCE, find_tests_apart
from flyball.verdict.sides import (
    find_shared,
    find_tested,
    find_testing_side,
    is_testing_alone,
    only_passes_on,
)
from flyball.verdict.suite_runs import likely_reason, run_suites
from flyball.verdict.tests import compare_tests
from flyball.verdict.tree_run import TreePair, run_tree
from flyball.verdict.type_checks import is_type_check, silenced_lines
from flyball.workspace.files.paths import Root
from flyball.workspace.run.clean import changed_installation, clean_checkout
from flyball.workspace.run.worktree import NOT_INITIALISED
from flyball.workspace.trees.git_trees import GitTrees
from flyball.workspace.trees.trees import LINK, Changed, TreeEntry, TreeHash, placeholder_reason

PLAIN = "the old code as you run it"
PACE = "verdict"
"""Under this name the times of whole verdicts are remembered."""
FILL = "`git submodule update --init`, or `submodules: true` under `with:` of actions/checkout"


class Wanted(NamedTuple):
    """The input of a verdict: two trees, the request, and the stated plan."""

    base: str
    head: str
    asked: AskedFor
    verify_with: tuple[str, ...] = ()
    red_parts: frozenset[str] = frozenset()
    """Parts whose suites were seen red: they are asked again, wherever the change is."""
    red_checks: tuple[str, ...] = ()
    """Checks that were seen red: they must be as good as before."""
    left_behind: tuple[str, ...] = ()
    began: float = 0.0
    """When the run began; what was installed since is not trusted."""
    plain: Callable[[CallContext], CallContext] | None = None
    """Returns the same call in the user's own surroundings, to run the old tests there as well."""


async def take_verdict(context: CallContext, wanted: Wanted) -> ChangeVerdict:
    """Return the verdict on the change between two trees, and store the reports of its runs."""
    async with _as_one_report(context) as parts:
        return await _take(parts, wanted)


@asynccontextmanager
async def _as_one_report(context: CallContext) -> AsyncGenerator[CallContext]:
    """Yield the context of the parts of a verdict, with their progress combined into one report."""
    paces, began = Paces(context.workspace.state_dir), time.monotonic()
    parts = Parts("verdict", paces.find(PACE).last)

    def note(now: Progress) -> None:
        parts.note(now, time.monotonic() - began)

    async with telling(context.tell_progress, parts.at):
        yield context._replace(on_progress=note)
    paces.keep(PACE, time.monotonic() - began, 0)


async def _take(context: CallContext, wanted: Wanted) -> ChangeVerdict:
    workspace, began = context.workspace, time.time()
    changes = workspace.trees.changes(TreeHash(wanted.base), TreeHash(wanted.head))
    with (
        clean_checkout(workspace, wanted.base) as old,
        clean_checkout(workspace, wanted.head) as new,
    ):
        before, after = look(old), look(new)
        facts = change_facts(workspace.trees, before, after, changes, wanted.head)
        facts = _with_submodules(context, wanted, facts)
        facts = _with_installation(context, wanted, facts)
        compared = TreePair(wanted.base, wanted.head, facts, after)
        found = _find_suites(context, wanted, before, compared)
        runs = [
            await _with_plain_run(
                context,
                wanted,
                suite,
                await run_suites(context, suite, compared, is_new=found.is_new),
            )
            for suite in found.suites
        ]
        runs = _without_broken_neighbours(wanted, found, facts, runs)
        verdict = await _judge(context, wanted, found, compared, runs)
        if verdict.is_strong and not verdict.faults:
            noticed = await count_noticed(context, found.suites, compared, runs)
            not_run = (*verdict.not_run, *filter(None, [noticed.not_tried]))
            verdict = msgspec.structs.replace(verdict, not_run=not_run)
            verdict = with_mutants(verdict, noticed.found)

        def read(tree: str, path: str) -> str | None:
            data = workspace.file_at(tree, path)
            return data.decode("utf-8", "replace") if data is not None else None

        verdict = with_contradictions(verdict, wanted.base, wanted.head, wanted.asked, read)
    write_record(context, wanted.base, wanted.head, verdict, runs, began)
    return verdict


async def _with_plain_run(
    context: CallContext, wanted: Wanted, suite: PartSuite, runs: SuiteRuns
) -> SuiteRuns:
    """Set aside the old tests that fail here alone: the user's own run of that tree passes them."""
    old = runs.old
    if wanted.plain is None or old is None or not old.red or runs.unavailable:
        return runs
    taken = await run_tree(wanted.plain(context), wanted.base, suite, what=PLAIN)
    alone = old.red & taken.run.passed(old.red)
    return runs._replace(
        elsewhere={name: likely_reason(old.messages.get(name, "")) for name in alone}
    )


async def run_unchanged(context: CallContext, tree: str) -> ChangeVerdict:
    """Report the failures on an unchanged tree; the next verdict on it reuses the runs."""
    async with _as_one_report(context) as parts:
        return await _run_all(parts, tree)


async def _run_all(context: CallContext, tree: str) -> ChangeVerdict:
    with clean_checkout(context.workspace, tree) as place:
        parts = survey_parts(look(place), context.settings.commands)
    known = BaseRuns(context.workspace, context.env)
    runs: list[SuiteRuns] = []
    for suite in (suite for part in parts for suite in part.suites):
        taken = known.find(tree, suite)
        if taken is None:
            what = suite.command or suite.runner
            taken = await run_tree(context, tree, suite, what=what)
            known.keep(tree, suite, taken)
        name = suite.command or suite.runner
        runs.append(SuiteRuns(suite.at, name, None, taken.run, unavailable=taken.unavailable))
    return judge_unchanged(runs)


class _Found(NamedTuple):
    """The parts before the change, and the suites that it reaches."""

    parts: tuple[Part, ...]
    suites: tuple[PartSuite, ...]
    is_new: bool
    """There was no such suite before: those that the change brings are all there is."""


def _find_suites(
    context: CallContext, wanted: Wanted, before: FileIndex, compared: TreePair
) -> _Found:
    """Return every suite that the change reaches; a new one only if there was none before."""
    commands = context.settings.commands
    files = (*compared.facts.files, *compared.facts.submodules)
    parts = tuple(survey_parts(before, commands))
    suites = _suites(parts, wanted, files)
    if suites:
        return _Found(parts, suites, is_new=False)
    return _Found(parts, _suites(survey_parts(compared.land, commands), wanted, files), is_new=True)


def _without_broken_neighbours(
    wanted: Wanted, found: _Found, facts: ChangeFacts, runs: Sequence[SuiteRuns]
) -> list[SuiteRuns]:
    """Count the suite of an untouched part that tells of no test on either tree as unavailable.

    Such as a fuzz target whose dependency was never fetched: the change can do nothing about it.
    """
    owners = [owner_of(found.parts, path) for path in (*facts.files, *facts.submodules)]
    touched = {each.path for each in owners if each} | wanted.red_parts
    ours = {suite for part in found.parts if part.path in touched for suite in part.suites}
    return [
        each._replace(unavailable=" · ".join(each.old.says) or f"exit code {each.old.exit_code}")
        if suite not in ours
        and (each.old and each.old.reports_no_test)
        and (each.new and each.new.reports_no_test)
        else each
        for suite, each in zip(found.suites, runs, strict=True)
    ]


async def _judge(
    context: CallContext,
    wanted: Wanted,
    found: _Found,
    compared: TreePair,
    runs: Sequence[SuiteRuns],
) -> ChangeVerdict:
    """Combine the results of the suites, the checks and the named commands."""
    facts = compared.facts
    if any(each.old and each.new and each.old.red & each.new.red for each in runs):
        facts = facts._replace(tests_apart=_tests_apart(facts, compared.land))
    own = await run_checks(
        context,
        wanted.base,
        wanted.head,
        () if runs else reached(found.parts, facts.files),
        wanted.red_checks,
    )
    checks = await run_named(context, wanted.head, _commands(wanted.verify_with))
    named, unknown = resolve_named(
        wanted.verify_with, [each.new for each in runs if each.new is not None], checks
    )
    # A neighbour that cannot be tested here is told; where nothing else can, it is the verdict.
    started = [each for each in runs if not each.unavailable]
    left = [each for each in runs if each.unavailable] if started else []
    asked = wanted.asked._replace(
        named=(*named, *own.broken),
        checks_types=any(map(is_type_check, (*wanted.verify_with, *wanted.red_checks)))
        or (own.is_checked and not runs),
        checked=own.is_checked or ended_well(checks),
        not_run=(
            *wanted.asked.not_run,
            *(
                f"{each.path}: {each.reason}, so tests that need it are expected to fail ({FILL})"
                for each in context.workspace.facts.carried_skipped
                if each.reason == NOT_INITIALISED
            ),
            *(f"{each}: {LINKED_OUT}" for each in compared.land.tests_linked_out if not runs),
            *(f"{what}: neither a test that ran nor a check" for what in unknown),
            *(f"{each.suite} in {each.part}: {each.unavailable}" for each in left),
        ),
    )
    return judge_change(tuple(started or runs), facts, asked)


def _with_installation(context: CallContext, wanted: Wanted, facts: ChangeFacts) -> ChangeFacts:
    installed = changed_installation(context.workspace, wanted.began) if wanted.began else ""
    return facts._replace(installation=installed, left_behind=wanted.left_behind)


def _with_submodules(context: CallContext, wanted: Wanted, facts: ChangeFacts) -> ChangeFacts:
    """Add submodules without files whose commit changed: their files cannot be compared."""
    empty = [
        each.path
        for each in context.workspace.facts.carried_skipped
        if each.reason == NOT_INITIALISED
    ]
    if not empty:
        return facts
    trees = context.workspace.trees
    old, new = (trees.entries(TreeHash(tree), empty) for tree in (wanted.base, wanted.head))
    moved = {
        path: f"submodule {_commit(old.get(path))} → {_commit(new.get(path))}"
        for path in empty
        if old.get(path) != new.get(path)
    }
    return facts._replace(submodules=moved, documents=facts.documents and not moved)


def _commit(entry: TreeEntry | None) -> str:
    return entry.blob[:7] if entry else "none"


def _tests_apart(facts: ChangeFacts, land: FileIndex) -> frozenset[str]:
    code = [path for path in facts.files if path not in facts.testing_side]
    texts = {path: land.text(path) for path in land.files if SOURCE.fullmatch(path)}
    # What a change edits it is about, whatever that imports.
    return find_tests_apart(code, texts).difference(facts.files)


def _suites(parts: Sequence[Part], wanted: Wanted, files: Sequence[str]) -> tuple[PartSuite, ...]:
    touched = {part.path for part in reached(parts, files)} | wanted.red_parts
    return tuple([suite for part in parts if part.path in touched for suite in part.suites])


def _commands(verify_with: Iterable[str]) -> list[str]:
    return [what for what in verify_with if not is_suite(what)]


LAST = 200
MOST = 6


async def run_named(context: CallContext, tree: str, commands: Sequence[str]) -> list[CheckEnd]:
    """Run each command that verifies and can fail on a clean checkout of a tree; return the
    results."""
    wanted = [command for command in commands if _verifies(command)][:MOST]
    if not wanted:
        return []
    with clean_checkout(context.workspace, tree) as place:
        there = context.on_tree(Root(place, protected=()), tree)._replace(is_shown=False)
        return [await _run(there, command) for command in wanted]


def _verifies(command: str) -> bool:
    """Return whether a text is a command that checks something, and could fail."""
    found = judge(command, phase="verify")
    return found.kind is CommandKind.VERIFICATION and not cannot_fail(command)


async def _run(context: CallContext, command: str) -> CheckEnd:
    try:
        with set_up(context) as started:
            finished = await launch(command, started)
    except FlyballError as error:
        return CheckEnd(command, 1, str(error))
    code = exit_code(finished)
    last = finished.output.strip().split("\n")[-1][:LAST]
    return CheckEnd(command, code, last if code else "")


class OwnChecks(NamedTuple):
    """The results of some parts' checks for a change."""

    broken: tuple[Named, ...] = ()
    """Those that fail now and did not before."""
    is_checked: bool = False
    """Whether one that builds or checks types passes."""


async def run_checks(
    context: CallContext, base: str, head: str, parts: Sequence[Part], seen_red: Sequence[str] = ()
) -> OwnChecks:
    """Return the results of these parts' checks; failed ones are compared with the base tree."""
    wanted = [(part.path, name) for part in parts for name in part.checks]
    wanted += [(".", name) for name in seen_red if (".", name) not in wanted]
    if not wanted:
        return OwnChecks()
    now = await _run_on(context, head, wanted)
    red = [each for each in wanted if each in now and now[each].exit_code]
    before = await _run_on(context, base, red) if red else {}
    new = [each for each in red if each not in before or not before[each].exit_code]
    good = [item for item in now.values() if not item.exit_code]
    broken = [Named(name, NamedEnd.RED, _first(now[path, name])) for path, name in new]
    return OwnChecks(tuple(broken), any(strength(item) >= Strength.CHECKED for item in good))


async def _run_on(
    context: CallContext, tree: str, wanted: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], CheckReport]:
    found: dict[tuple[str, str], CheckReport] = {}
    with clean_checkout(context.workspace, tree) as place:
        for path, name in wanted:
            root = Root(place / path, protected=())
            there = context.on_tree(root, tree)._replace(is_shown=False, is_logged=False)
            try:
                result = await CHECK.perform(CheckForm(name=name), there)
            except FlyballError:
                # What is not installed here could not have been run by anybody.
                continue
            for item in result.evidence:
                if isinstance(item, CheckReport) and not is_style(item):
                    found[path, name] = item
    return found


def _first(item: CheckReport) -> str:
    return item.problems[0] if item.problems else f"exit code {item.exit_code}"


def ended_well(checks: Sequence[CheckEnd]) -> bool:
    """Return whether a command was named as a check, and all of it passes."""
    return bool(checks) and all(check.exit_code == 0 for check in checks)


BINARY = b"\0"

Texts = Mapping[str, str | None]


def change_facts(
    trees: GitTrees, before: FileIndex, after: FileIndex, changes: Sequence[Changed], head: str
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
    # A new name for what the product has was never read by a test from before.
    shared -= {p for p in shared if old.get(p) is None and only_passes_on(new.get(p) or "")}
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
        unkept={path: placeholder_reason(stubs[unkept[path]]) for path in files if path in unkept},
        silenced=tuple(silenced_lines(old, {path: new.get(path) for path in code})),
        by_chance=any(map(_BY_CHANCE.search, added)),
        shared_literals=shared_literals(added, tests),
        runs_examples=_runs_examples(after, code),
    )


_BY_CHANCE = regex(
    r"(?i)\b(?:u?random\w*|rand(?:int|range|bytes)?|getrandom|shuffle|time_ns|perf_counter\w*|hrtime"
    r"|monotonic\w*|process_time\w*|nanosecond|unixnano|microtime|clock_gettime|gettimeofday"
    r"|uuid[14]|mt_rand|subsec_nanos|nanotime|currenttimemillis)\b"
    r"|\b(?:time\.time|time\.Now|Date\.now|performance\.now|(?:Instant|SystemTime)::now|Time\.now)\b"
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
    """Return renamed test files as pairs of old and new path, most similar first."""
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
    """Return whether a test configuration or a changed file runs the examples."""
    near = [path for path in land.files if is_test_path(path) or is_test_config(path)]
    return any("doctest" in land.text(path) for path in (*near, *code) if land.has(path))


def _texts(trees: GitTrees, entries: Mapping[str, TreeEntry | None]) -> dict[str, str | None]:
    """Return the texts on one side of the change by path; None if there is no text."""
    blobs = trees.contents([entry.blob for entry in entries.values() if entry is not None])
    found: dict[str, str | None] = {}
    for path, entry in entries.items():
        data = blobs.get(entry.blob) if entry is not None else None
        found[path] = None if data is None or BINARY in data else data.decode("utf-8", "replace")
    return found


def _testing_side(land: FileIndex, changed: Texts) -> frozenset[str]:
    """Return the changed files that decide about tests in this tree."""
    present = {path for path, text in changed.items() if text is not None}
    # The walk leaves hidden folders out; configuration in them counts if it was changed.
    every = present.union(land.files)

    def read(path: str) -> str:
        return changed.get(path) or land.text(path)

    return find_testing_side(every, read) & changed.keys()


def _added(before: str | None, after: str | None) -> Iterator[str]:
    known = set((before or "").split("\n"))
    yield from (line for line in (after or "").split("\n") if line not in known)
