"""Taking a verdict on a change: which suites it reaches, and what each says of both trees."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from flyball.core.suite.part import Part, PartSuite, reached
from flyball.core.terms.change_verdict import ChangeVerdict
from flyball.core.verdict.judge import judge_change
from flyball.core.verdict.named import is_suite, resolve_named
from flyball.core.verdict.reports import AskedFor, ChangeFacts, SuiteRuns
from flyball.core.verdict.selection import SOURCE, find_tests_apart
from flyball.engine.verdict.change_facts import change_facts
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
        parts = survey_parts(before, context.settings.commands)
        runs = await _run_all(context, wanted, parts, compared)
        if any(each.a and each.c and each.a.red & each.c.red for each in runs):
            facts = facts._replace(tests_apart=_tests_apart(facts, after))
    own = await run_checks(
        context,
        wanted.base,
        wanted.head,
        () if runs else reached(parts, facts.files),
        wanted.red_checks,
    )
    checks = await run_named(context, wanted.head, _commands(wanted.verify_with))
    named, unknown = resolve_named(
        wanted.verify_with, [each.c for each in runs if each.c is not None], checks
    )
    asked = wanted.asked._replace(
        named=(*named, *own.broken),
        checked=own.is_checked or ended_well(checks),
        not_run=(*wanted.asked.not_run, *(f"{what}: no command" for what in unknown)),
    )
    # A neighbour that cannot be tested here is told; where nothing else can, it is the verdict.
    started = tuple([each for each in runs if not each.unavailable])
    if started:
        left = [
            f"{each.suite} in {each.part}: {each.unavailable}" for each in runs if each.unavailable
        ]
        asked = asked._replace(not_run=(*asked.not_run, *left))
    return judge_change(started or runs, facts, asked)


def _with_installation(context: CallContext, wanted: Wanted, facts: ChangeFacts) -> ChangeFacts:
    installed = changed_installation(context.workspace, wanted.began) if wanted.began else ""
    unreadable = (*facts.unreadable, installed) if installed else facts.unreadable
    return facts._replace(unreadable=unreadable, left_behind=wanted.left_behind)


async def _run_all(
    context: CallContext, wanted: Wanted, parts: Sequence[Part], compared: TreePair
) -> tuple[SuiteRuns, ...]:
    """Every suite that the change reaches; a new one only where there was none before."""
    suites = _suites(parts, wanted, compared.facts.files)
    is_new = not suites
    if is_new:
        parts = survey_parts(compared.land, context.settings.commands)
        suites = _suites(parts, wanted, compared.facts.files)
    found = [await run_suites(context, suite, compared, is_new=is_new) for suite in suites]
    return tuple(found)


def _tests_apart(facts: ChangeFacts, land: Land) -> frozenset[str]:
    code = [path for path in facts.files if path not in facts.testing_side]
    texts = {path: land.text(path) for path in land.files if SOURCE.fullmatch(path)}
    return find_tests_apart(code, texts)


def _suites(parts: Sequence[Part], wanted: Wanted, files: Sequence[str]) -> list[PartSuite]:
    touched = {part.path for part in reached(parts, files)} | wanted.red_parts
    return [suite for part in parts if part.path in touched for suite in part.suites]


def _commands(verify_with: Iterable[str]) -> list[str]:
    return [what for what in verify_with if not is_suite(what)]
