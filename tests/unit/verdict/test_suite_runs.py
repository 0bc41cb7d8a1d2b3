"""Which runs a verdict takes of a suite: those that can differ, and no others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.engine.shop import FILES, MENDED, SHOWN, Shop, open_shop
from tests.unit.journal.runs import story

from flyball.tools.call.protocol import CallContext
from flyball.verdict import repeats, suite_runs
from flyball.verdict.base_runs import BaseRuns
from flyball.verdict.case import CaseOutcome, SuiteCase
from flyball.verdict.part import PartSuite
from flyball.verdict.reports import SuiteRuns, TreeRun, Unsteady
from flyball.verdict.runners.layout import look
from flyball.verdict.suite_runs import run_suites
from flyball.verdict.take import change_facts
from flyball.verdict.tree_run import Selection, Taken, TreePair
from flyball.workspace.run.clean import clean_checkout
from flyball.workspace.trees.trees import TreeHash

P, F = CaseOutcome.PASSED, CaseOutcome.FAILED
SUITE = PartSuite("pytest")
NONE, TWO = "test_cart.py::CartTest::test_none", "test_cart.py::CartTest::test_two"


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with open_shop(tmp_path) as opened:
        yield opened


async def compare(shop: Shop, suite: PartSuite = SUITE, *, is_new: bool = False) -> SuiteRuns:
    """The runs of one suite for what the card changed."""
    workspace, base, head = shop.context.workspace, shop.card.base, shop.card.tree
    changes = workspace.trees.changes(TreeHash(base), TreeHash(head))
    with clean_checkout(workspace, base) as old, clean_checkout(workspace, head) as new:
        facts = change_facts(workspace.trees, look(old), look(new), changes, head)
        compared = TreePair(base, head, facts, look(new))
        return await run_suites(shop.call(), suite, compared, is_new=is_new)


def ends(run: TreeRun | None) -> dict[str, CaseOutcome]:
    assert run is not None
    return dict(run.ends)


@pytest.mark.exhaustive
@pytest.mark.slow
@story
async def test_code_alone_is_run_on_both_trees_and_no_more(tmp_path: Path):
    with open_shop(tmp_path, {**FILES, "test_cart.py": SHOWN}) as shop:
        shop.change({"cart.py": MENDED})
        found = await compare(shop)
    assert ends(found.old) == {NONE: P, TWO: F}
    assert ends(found.new) == {NONE: P, TWO: P}
    assert (found.old_tests_new_code, found.new_tests_old_code, found.flaky) == (
        None,
        None,
        frozenset(),
    )
    assert (found.part, found.suite, found.is_new) == (".", "pytest", False)


@pytest.mark.exhaustive
@pytest.mark.slow
@story
async def test_new_tests_are_run_on_the_old_code_and_old_tests_on_the_new(shop: Shop):
    shop.change({"cart.py": MENDED, "test_cart.py": SHOWN})
    found = await compare(shop)
    assert ends(found.old) == {NONE: P}
    assert ends(found.old_tests_new_code) == {NONE: P}
    assert ends(found.new) == {NONE: P, TWO: P}
    assert ends(found.new_tests_old_code) == {TWO: F}


@story
async def test_where_new_tests_pass_on_the_old_code_the_changed_ones_are_asked(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
):
    shop.change({"cart.py": MENDED, "test_b.py": "def test_it():\n    pass\n"})
    new = [told(P)]
    runs = ScriptedRuns(monkeypatch, {shop.card.tree: new, "": [told(P), told(F)]})
    found = await compare(shop, is_new=True)
    assert ends(found.new_tests_old_code) == {LATE: F}
    selections = [wanted for tree, wanted in runs.asked if tree != shop.card.tree]
    assert [bool(each and each.cases) for each in selections] == [True, False]


@pytest.mark.exhaustive
@story
async def test_files_of_tests_that_were_not_touched_end_as_they_did(tmp_path: Path):
    other = str(FILES["test_cart.py"]).replace("CartTest", "OtherTest")
    with open_shop(tmp_path, {**FILES, "test_other.py": other}) as shop:
        shop.change({"cart.py": MENDED, "test_cart.py": SHOWN})
        found = await compare(shop)
    assert ends(found.old_tests_new_code) == {NONE: P, "test_other.py::OtherTest::test_none": P}


@pytest.mark.exhaustive
@story
async def test_what_all_tests_share_has_all_of_them_run_with_it(tmp_path: Path):
    helped = (
        "import unittest\n\nfrom cart import total\nfrom tests_help import WANTED\n\n\n"
        "class CartTest(unittest.TestCase):\n"
        "    def test_none(self):\n        self.assertEqual(total([5, 2]), WANTED)\n"
    )
    files = {**FILES, "test_cart.py": helped, "tests_help.py": "WANTED = 2\n"}
    with open_shop(tmp_path, files) as shop:
        shop.change({"cart.py": MENDED, "tests_help.py": "WANTED = 7\n"})
        found = await compare(shop)
    assert ends(found.old) == {NONE: P}
    assert ends(found.new) == {NONE: P}
    assert ends(found.old_tests_new_code) == {NONE: F}
    assert ends(found.new_tests_old_code) == {NONE: F}


@pytest.mark.exhaustive
@story
async def test_deleted_tests_are_put_back_for_the_new_code(shop: Shop):
    other = "def test_something_else():\n    pass\n"
    shop.change({"test_more.py": other, "cart.py": MENDED}, "test_cart.py")
    found = await compare(shop)
    assert ends(found.old_tests_new_code)[NONE] is P
    assert NONE not in ends(found.new)


@pytest.mark.exhaustive
@story
async def test_tests_of_a_file_that_was_moved_are_the_same_tests(shop: Shop):
    shop.change({"test_more.py": str(FILES["test_cart.py"]), "cart.py": MENDED}, "test_cart.py")
    found = await compare(shop)
    moved = NONE.replace("test_cart", "test_more")
    assert ends(found.old) == ends(found.new) == {moved: P}
    assert ends(found.old_tests_new_code) == {moved: P}


@pytest.mark.exhaustive
@story
async def test_the_tree_from_before_is_run_once_for_all_changes(shop: Shop):
    shop.change({"cart.py": MENDED})
    first = await compare(shop)
    shop.change({"cart.py": MENDED + "\n"})
    again = await compare(shop)
    assert first.old is not None
    assert again.old is not None
    assert again.old.elapsed == first.old.elapsed
    known = BaseRuns(shop.context.workspace, shop.context.env)
    assert known.find(shop.card.base, SUITE) is not None


@pytest.mark.exhaustive
@story
async def test_a_suite_that_is_new_is_held_against_the_old_code_alone(tmp_path: Path):
    with open_shop(tmp_path, {"cart.py": FILES["cart.py"]}) as shop:
        shop.change({"cart.py": MENDED, "test_cart.py": SHOWN})
        found = await compare(shop, is_new=True)
    assert (found.old, found.old_tests_new_code, found.is_new) == (None, None, True)
    assert ends(found.new) == {NONE: P, TWO: P}
    assert ends(found.new_tests_old_code) == {NONE: P, TWO: F}


def too_slow(shop: Shop, suite: PartSuite = SUITE) -> None:
    """Let it be known that the whole suite takes too long on the tree from before."""
    slow = Taken(TreeRun("pytest", 1, trouble="it ran past its limit"), timed_out=True)
    BaseRuns(shop.context.workspace, shop.context.env).keep(shop.card.base, suite, slow)


FAR = "def test_far():\n    pass\n"


@pytest.mark.exhaustive
@story
async def test_a_suite_that_takes_too_long_is_run_where_the_change_reaches_it(tmp_path: Path):
    with open_shop(tmp_path, {**FILES, "test_cart.py": SHOWN, "test_far.py": FAR}) as shop:
        too_slow(shop)
        shop.change({"cart.py": MENDED})
        found = await compare(shop)
    assert ends(found.old) == {NONE: P, TWO: F}
    assert ends(found.new) == {NONE: P, TWO: P}
    assert found.new is not None
    assert found.new.whole == 3


@pytest.mark.exhaustive
@story
async def test_a_part_of_only_new_tests_has_nothing_before_it(shop: Shop):
    too_slow(shop)
    shop.change({"test_far.py": FAR})
    found = await compare(shop)
    assert ends(found.old) == {}
    assert ends(found.new) == {"test_far.py::test_far": P}


LATE = "test_b.py::test_it"


class ScriptedRuns:
    """Runs that end as told, one after the other for each tree, in the place of real ones."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, told: dict[str, list[Taken]]) -> None:
        self._told = told
        self.asked: list[tuple[str, Selection | None]] = []
        for module in (suite_runs, repeats):
            monkeypatch.setattr(module, "run_tree", self.run)

    async def run(
        self,
        context: CallContext,
        tree: str,
        suite: PartSuite,
        wanted: Selection | None = None,
        *,
        what: str = "",
    ) -> Taken:
        self.asked.append((tree, wanted))
        left = self._told[tree if tree in self._told else ""]
        return left.pop(0) if len(left) > 1 else left[0]


def told(end: CaseOutcome) -> Taken:
    """A run in which the late test ended like this."""
    case = SuiteCase("test_it", end, "test_b.py")
    return Taken(TreeRun("pytest", int(end is F), {LATE: end}), (case,))


def slow() -> Taken:
    return Taken(TreeRun("make check", 1, trouble="it ran past its limit"), timed_out=True)


@story
async def test_a_slow_suite_without_parts_still_keeps_the_old_promises(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
):
    suite = PartSuite("command", command="make check")
    too_slow(shop, suite)
    shop.change({"cart.py": MENDED, "Makefile": "check:\n\ttrue\n"})
    ok = Taken(TreeRun("make check", 0, {"make check": P}, is_counted=False))
    runs = ScriptedRuns(monkeypatch, {shop.card.tree: [ok], "": [slow(), slow()]})
    found = await compare(shop, suite)
    assert found.new == ok.run
    assert found.old_tests_new_code == slow().run
    assert len(runs.asked) == 3


@story
async def test_where_the_new_tree_takes_too_long_nothing_else_is_begun(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
):
    suite = PartSuite("command", command="make check")
    shop.change({"cart.py": MENDED, "Makefile": "check:\n\ttrue\n"})
    ok = Taken(TreeRun("make check", 0, {"make check": P}, is_counted=False))
    told = {shop.card.base: [ok], shop.card.tree: [slow()], "": [slow()]}
    runs = ScriptedRuns(monkeypatch, told)
    found = await compare(shop, suite)
    assert found.new == slow().run
    # The old tests began side by side with the others.
    assert (found.old_tests_new_code, found.new_tests_old_code, len(runs.asked)) == (None, None, 3)


@story
async def test_a_suite_that_only_the_change_makes_slow_is_not_run_in_part(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
):
    shop.change({"cart.py": MENDED})
    quick = Taken(TreeRun("pytest", 0, {NONE: P}, elapsed=1.0))
    runs = ScriptedRuns(monkeypatch, {shop.card.base: [quick], shop.card.tree: [slow()]})
    found = await compare(shop)
    assert found.new == slow().run
    assert len(runs.asked) == 2


@story
async def test_a_repair_that_holds_only_by_chance_is_counted(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
):
    shop.change({"cart.py": MENDED})
    now = {shop.card.base: [told(F), told(F)], shop.card.tree: [told(P), told(F), told(F)]}
    ScriptedRuns(monkeypatch, now)
    found = await compare(shop)
    assert found.unsteady == (Unsteady(LATE, 4, 5, 2, 2),)
    assert found.set_aside == {LATE}


@story
async def test_a_test_that_the_change_made_a_matter_of_chance_is_counted(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
):
    shop.change({"cart.py": MENDED})
    new = [told(F), told(P), told(P)]
    runs = ScriptedRuns(monkeypatch, {shop.card.base: [told(P)], shop.card.tree: new})
    found = await compare(shop)
    assert found.unsteady == (Unsteady(LATE, 1, 5, 0, 5),)
    assert [wanted is None for _, wanted in runs.asked[:4]] == [True, True, False, True]


@story
async def test_code_that_names_a_clock_is_run_twenty_times_where_it_is_cheap(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
):
    shop.change({"cart.py": f"import time\n\nNOW = time.time_ns()\n{MENDED}"})
    new = [told(P), told(P), told(P), told(F), told(P)]
    ScriptedRuns(monkeypatch, {shop.card.base: [told(F), told(F)], shop.card.tree: new})
    found = await compare(shop)
    assert found.unsteady == (Unsteady(LATE, 1, 20, 2, 2),)


@story
async def test_a_test_that_was_a_matter_of_chance_before_counts_for_nothing(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
):
    shop.change({"cart.py": MENDED})
    old, new = [told(P), told(P), told(F)], [told(F), told(P)]
    ScriptedRuns(monkeypatch, {shop.card.base: old, shop.card.tree: new})
    found = await compare(shop)
    assert (found.flaky, found.unsteady) == ({LATE}, ())


@story
async def test_a_test_that_always_fails_in_company_is_broken_though_it_passes_alone(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
):
    shop.change({"cart.py": MENDED})
    new = [told(F), told(P), told(F)]
    ScriptedRuns(monkeypatch, {shop.card.base: [told(P)], shop.card.tree: new})
    found = await compare(shop)
    assert found.flaky == frozenset()
    assert ends(found.new) == {LATE: F}


@story
async def test_a_test_that_fails_alone_as_well_is_not_run_a_third_time(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
):
    shop.change({"cart.py": MENDED})
    new = [told(F), told(F)]
    ScriptedRuns(monkeypatch, {shop.card.base: [told(P)], shop.card.tree: new})
    assert (await compare(shop)).flaky == frozenset()


EARLY = "test_b.py::test_first"


def two(first: CaseOutcome, late: CaseOutcome) -> Taken:
    """A run in which both tests of a file ended like this."""
    cases = (SuiteCase("test_first", first, "test_b.py"), SuiteCase("test_it", late, "test_b.py"))
    return Taken(TreeRun("pytest", int(F in (first, late)), {EARLY: first, LATE: late}), cases)


@story
@pytest.mark.parametrize(("before", "is_new"), [(P, True), (F, False)])
async def test_a_result_that_depends_on_the_order_is_a_question_unless_it_did_before(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, before: CaseOutcome, *, is_new: bool
):
    shop.change({"cart.py": MENDED})
    new = [two(P, P), two(P, F), two(P, P)]
    # The first test is repaired; before, it fails in any order.
    old = [two(F, P), two(F, P), two(F, before)]
    runs = ScriptedRuns(monkeypatch, {shop.card.base: old, shop.card.tree: new})
    found = await compare(shop)
    asked = Unsteady(LATE, 1, 2, 0, 2, by_order=True)
    assert found.unsteady == ((asked,) if is_new else ())
    [first, *_] = [each for tree, each in runs.asked if tree == shop.card.tree and each]
    assert [case.function for case in first.cases] == [LATE, EARLY]


@story
async def test_where_a_runner_keeps_no_order_tests_run_by_themselves(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
):
    shop.change({"cart.py": MENDED})
    # The second piece alone fails; together both pass again.
    new = [two(P, P), two(P, P), told(F), two(P, P)]
    old = [two(F, P), two(F, P)]
    runs = ScriptedRuns(monkeypatch, {shop.card.base: old, shop.card.tree: new})
    found = await compare(shop, PartSuite("go"))
    assert found.unsteady == (Unsteady(LATE, 1, 2, 0, 2, by_order=True),)
    parts = [each for tree, each in runs.asked if tree == shop.card.tree and each]
    assert [[case.function for case in each.cases] for each in parts[:2]] == [[EARLY], [LATE]]


@story
async def test_new_tests_are_repeated_though_no_test_changed_sides(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
):
    shop.change({"cart.py": MENDED, "test_b.py": "def test_it():\n    assert 1 == 1\n"})
    green = Taken(TreeRun("pytest", 0, {NONE: P}))
    new = [told(P), told(P), told(F), told(P)]
    ScriptedRuns(monkeypatch, {shop.card.base: [green], shop.card.tree: new, "": [green, told(F)]})
    found = await compare(shop)
    assert found.unsteady == (Unsteady(LATE, 1, 5, 0, 0),)


@story
async def test_tests_that_are_new_by_their_texts_are_not_waited_for(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
):
    shop.change({"cart.py": MENDED, "test_b.py": "def test_it():\n    assert 1 == 1\n"})
    green = Taken(TreeRun("pytest", 0, {NONE: P}))
    runs = ScriptedRuns(
        monkeypatch,
        {shop.card.base: [green], shop.card.tree: [told(P)], "": [green, told(F)]},
    )
    found = await compare(shop)
    assert ends(found.new_tests_old_code) == {LATE: F}
    [selected] = [
        wanted
        for tree, wanted in runs.asked
        if wanted is not None and tree not in (shop.card.base, shop.card.tree)
    ]
    assert [case.spelling for case in selected.cases] == [LATE]
