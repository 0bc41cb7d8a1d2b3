"""Taking a verdict on a change: which suites it reaches, and what each says of both trees."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from flyball.core.suite.part import Part, PartSuite, reached
from flyball.core.terms.change_verdict import ChangeVerdict
from flyball.core.verdict.judge import judge_change
from flyball.core.verdict.named import is_suite, resolve_named
from flyball.core.verdict.reports import AskedFor, ChangeFacts, SuiteRuns
from flyball.core.verdict.selection import SOURCE, find_tests_apart
from flyball.core.verdict.type_checks import is_type_check
from flyball.engine.verdict.change_facts import change_facts
from flyball.engine.verdict.mutants import count_noticed
from flyball.engine.verdict.named_checks import run_named
from flyball.engine.verdict.own_checks import ended_well, run_checks
from flyball.engine.verdict.suite_runs import TreePair, run_suites
from flyball.tools.call.protocol import CallContext
from flyball.tools.runner.layout import Land, look
from flyball.tools.runner.parts import survey_parts
from flyball.workspace.run.clean import changed_installation, clean_checkout
from flyball.workspace.trees.trees import TreeHash


class Wanted(NamedTuple):
    """What a verdict is taken for: two trees, and what was asked and promised beforehand."""

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
    """The verdict on the change from one tree to another, from runs that nobody else chose."""
    workspace = context.workspace
    changes = workspace.trees.changes(TreeHash(wanted.base), TreeHash(wanted.head))
    with (
        clean_checkout(workspace, wanted.base) as old,
        clean_checkout(workspace, wanted.head) as new,
    ):
        before, after = look(old), look(new)
        facts = change_facts(workspace.trees, before, after, changes, wanted.head)
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
            verdict = msgspec.structs.replace(verdict, mutants=noticed.found, not_run=not_run)
    return verdict


class _Found(NamedTuple):
    """The parts from before, and the suites that the change reaches."""

    parts: tuple[Part, ...]
    suites: tuple[PartSuite, ...]
    is_new: bool
    """There was no such suite before: those that the change brings are all there is."""


def _find_suites(context: CallContext, wanted: Wanted, before: Land, compared: TreePair) -> _Found:
    """Every suite that the change reaches; a new one only where there was none before."""
    commands, files = context.settings.commands, compared.facts.files
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
    """What the suites, the checks and what was named come to."""
    facts = compared.facts
    if any(each.a and each.c and each.a.red & each.c.red for each in runs):
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
        wanted.verify_with, [each.c for each in runs if each.c is not None], checks
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
            *(f"{what}: no command" for what in unknown),
            *(f"{each.suite} in {each.part}: {each.unavailable}" for each in left),
        ),
    )
    return judge_change(tuple(started or runs), facts, asked)


def _with_installation(context: CallContext, wanted: Wanted, facts: ChangeFacts) -> ChangeFacts:
    installed = changed_installation(context.workspace, wanted.began) if wanted.began else ""
    unreadable = (*facts.unreadable, installed) if installed else facts.unreadable
    return facts._replace(unreadable=unreadable, left_behind=wanted.left_behind)


def _tests_apart(facts: ChangeFacts, land: Land) -> frozenset[str]:
    code = [path for path in facts.files if path not in facts.testing_side]
    texts = {path: land.text(path) for path in land.files if SOURCE.fullmatch(path)}
    return find_tests_apart(code, texts)


def _suites(parts: Sequence[Part], wanted: Wanted, files: Sequence[str]) -> tuple[PartSuite, ...]:
    touched = {part.path for part in reached(parts, files)} | wanted.red_parts
    return tuple([suite for part in parts if part.path in touched for suite in part.suites])


def _commands(verify_with: Iterable[str]) -> list[str]:
    return [what for what in verify_with if not is_suite(what)]
