"""Taking a verdict on a change: which suites it reaches, and what each says of both trees."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

import msgspec

from flyball.core.suite.part import Part, PartSuite, reached
from flyball.core.terms.change_verdict import ChangeVerdict
from flyball.core.terms.progress import Parts, Progress
from flyball.tools.call.protocol import CallContext
from flyball.verdict.base_runs import BaseRuns
from flyball.verdict.change_facts import change_facts
from flyball.verdict.contradictions import with_contradictions
from flyball.verdict.judge import judge_change, judge_unchanged, with_mutants
from flyball.verdict.mutants import count_noticed
from flyball.verdict.named import is_suite, resolve_named
from flyball.verdict.named_checks import run_named
from flyball.verdict.own_checks import ended_well, run_checks
from flyball.verdict.record import write_record
from flyball.verdict.reports import AskedFor, ChangeFacts, SuiteRuns
from flyball.verdict.runners.layout import FileIndex, look
from flyball.verdict.runners.pace import Paces, telling
from flyball.verdict.runners.parts import survey_parts
from flyball.verdict.selection import SOURCE, find_tests_apart
from flyball.verdict.suite_runs import TreePair, run_suites
from flyball.verdict.tree_run import run_tree
from flyball.verdict.type_checks import is_type_check
from flyball.workspace.run.clean import changed_installation, clean_checkout
from flyball.workspace.run.worktree import NOT_INITIALISED
from flyball.workspace.trees.trees import TreeEntry, TreeHash

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


async def take_verdict(context: CallContext, wanted: Wanted) -> ChangeVerdict:
    """Return the verdict on the change from one tree to another, from runs that nobody else
    chose; what they reported is kept.
    """
    async with _as_one_report(context) as parts:
        return await _take(parts, wanted)


@asynccontextmanager
async def _as_one_report(context: CallContext) -> AsyncGenerator[CallContext]:
    """Yield the context of the parts of a verdict: their progress is told as that of the whole."""
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
            await run_suites(context, suite, compared, is_new=found.is_new)
            for suite in found.suites
        ]
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


async def run_unchanged(context: CallContext, tree: str) -> ChangeVerdict:
    """Say what fails on a tree to which nothing was done; the next verdict on it begins here."""
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
    """The parts from before, and the suites that the change reaches."""

    parts: tuple[Part, ...]
    suites: tuple[PartSuite, ...]
    is_new: bool
    """There was no such suite before: those that the change brings are all there is."""


def _find_suites(
    context: CallContext, wanted: Wanted, before: FileIndex, compared: TreePair
) -> _Found:
    """Return every suite that the change reaches; a new one only where there was none before."""
    commands = context.settings.commands
    files = (*compared.facts.files, *compared.facts.submodules)
    parts = tuple(survey_parts(before, commands))
    suites = _suites(parts, wanted, files)
    if suites:
        return _Found(parts, suites, is_new=False)
    return _Found(parts, _suites(survey_parts(compared.land, commands), wanted, files), is_new=True)


async def _judge(
    context: CallContext,
    wanted: Wanted,
    found: _Found,
    compared: TreePair,
    runs: Sequence[SuiteRuns],
) -> ChangeVerdict:
    """Return what the suites, the checks and what was named come to."""
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
            *(f"{what}: no command" for what in unknown),
            *(f"{each.suite} in {each.part}: {each.unavailable}" for each in left),
        ),
    )
    return judge_change(tuple(started or runs), facts, asked)


def _with_installation(context: CallContext, wanted: Wanted, facts: ChangeFacts) -> ChangeFacts:
    installed = changed_installation(context.workspace, wanted.began) if wanted.began else ""
    return facts._replace(installation=installed, left_behind=wanted.left_behind)


def _with_submodules(context: CallContext, wanted: Wanted, facts: ChangeFacts) -> ChangeFacts:
    """Add submodules without files whose commit was changed: their files cannot be compared."""
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
    return find_tests_apart(code, texts)


def _suites(parts: Sequence[Part], wanted: Wanted, files: Sequence[str]) -> tuple[PartSuite, ...]:
    touched = {part.path for part in reached(parts, files)} | wanted.red_parts
    return tuple([suite for part in parts if part.path in touched for suite in part.suites])


def _commands(verify_with: Iterable[str]) -> list[str]:
    return [what for what in verify_with if not is_suite(what)]
