"""A verdict from end to end: real trees, real runs, and what may be said of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.engine.shop import FILES, MENDED, SHOWN, Shop, open_shop
from tests.unit.journal.runs import story

from flyball.terms.change_verdict import ChangeStrength, ChangeVerdict, FindingKind, Weight
from flyball.verdict.reports import AskedFor
from flyball.verdict.take import Wanted, take_verdict

TWO = "test_cart.py::CartTest::test_two"
ASKED = AskedFor()
QUIET = AskedFor(wants_red=False)
K, W = FindingKind, Weight


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with open_shop(tmp_path) as opened:
        yield opened


async def take(shop: Shop, asked: AskedFor = ASKED, **more: object) -> ChangeVerdict:
    wanted = Wanted(shop.card.base, shop.card.tree, asked, **more)  # type: ignore[arg-type]
    return await take_verdict(shop.call(), wanted)


def kinds(verdict: ChangeVerdict) -> list[tuple[FindingKind, Weight]]:
    return [(each.kind, each.weight) for each in verdict.findings]


@story
async def test_new_tests_that_fail_without_the_change_show_it(shop: Shop):
    shop.change({"cart.py": MENDED, "test_cart.py": SHOWN})
    verdict = await take(shop, verify_with=("test", "the page looks right"))
    assert verdict.is_shown
    assert verdict.headline == "red → green (new tests) (2 tests)"
    assert verdict.mended == (TWO,)
    assert verdict.changed == ("cart.py", "test_cart.py")
    assert verdict.not_run == ("the page looks right: neither a test that ran nor a check",)
    assert [line.run for line in verdict.ran] == ["before", "after", "old tests", "new tests"]


@story
async def test_a_change_that_no_test_notices_is_sent_back_for_one(shop: Shop):
    shop.change({"cart.py": MENDED})
    assert kinds(await take(shop)) == [(K.NOTHING_FAILED_BEFORE, W.BLOCKS)]
    verdict = await take(shop, QUIET)
    assert verdict.is_shown
    assert verdict.strength is ChangeStrength.GREEN


@pytest.mark.slow
@story
async def test_a_weaker_test_is_a_question_with_both_texts(tmp_path: Path):
    with open_shop(tmp_path, {**FILES, "cart.py": MENDED, "test_cart.py": SHOWN}) as shop:
        weaker = SHOWN.replace("self.assertEqual(total([1, 2]), 3)", "self.assertTrue(total)")
        shop.change({"cart.py": str(FILES["cart.py"]), "test_cart.py": weaker})
        verdict = await take(shop, QUIET)
    (question,) = verdict.questions
    assert question.kind is K.PROMISE_CHANGED
    assert question.tests == (TWO,)
    assert "assertEqual(total([1, 2]), 3)" in question.before
    assert "assertTrue(total)" in question.after


@pytest.mark.exhaustive
@pytest.mark.slow
@story
async def test_a_test_that_breaks_is_a_regression_and_one_that_stays_red_is_not(tmp_path: Path):
    far = "def test_far():\n    assert False\n"
    files = {**FILES, "cart.py": MENDED, "test_cart.py": SHOWN, "test_far.py": far}
    with open_shop(tmp_path, files) as shop:
        shop.change({"cart.py": str(FILES["cart.py"])})
        verdict = await take(shop, QUIET._replace(repairs=True, is_run=True))
    assert (K.REGRESSION, W.BLOCKS) in kinds(verdict)
    assert (K.OLD_FAILURE, W.NOTES) in kinds(verdict)
    assert verdict.old_failures == ("test_far.py::test_far",)


@pytest.mark.exhaustive
@story
async def test_a_failure_that_uses_nothing_of_a_repair_is_not_held_against_it(tmp_path: Path):
    far = "def test_far():\n    assert False\n"
    with open_shop(tmp_path, {**FILES, "test_far.py": far}) as shop:
        shop.change({"cart.py": MENDED})
        verdict = await take(shop, QUIET._replace(repairs=True, is_run=True))
    assert kinds(verdict) == [(K.OLD_FAILURE, W.NOTES)]
    near = "from cart import total\n\n\ndef test_near():\n    assert total([1]) == 7\n"
    with open_shop(tmp_path / "near", {**FILES, "test_near.py": near}) as shop:
        shop.change({"cart.py": MENDED})
        verdict = await take(shop, QUIET._replace(repairs=True, is_run=True))
    assert kinds(verdict) == [(K.NAMED_NOT_GREEN, W.BLOCKS)]


@story
async def test_a_neighbour_that_ran_on_neither_tree_is_told_and_held_against_nobody(
    tmp_path: Path,
):
    needs = '{"name": "fuzz", "dependencies": {"cart": "file:.."}, "scripts": {"test": "exit 3"}}'
    own = '[project]\nname = "cart"\n'
    files = {**FILES, "pyproject.toml": own, "fuzz/package.json": needs}
    with open_shop(tmp_path, files) as shop:
        shop.change({"cart.py": MENDED, "test_cart.py": SHOWN})
        verdict = await take(shop)
        assert (verdict.is_shown, verdict.mended) == (True, (TWO,))
        (told,) = verdict.not_run
        assert "in fuzz" in told
        shop.change({"fuzz/package.json": f"{needs}\n"})
        assert (K.NOT_EVIDENCE, W.BLOCKS) in kinds(await take(shop))


@pytest.mark.slow
@story
async def test_a_linter_that_the_projects_script_starts_first_refuses_no_canary(tmp_path: Path):
    test = "import test from 'node:test'\nimport assert from 'node:assert'\n"
    test += "import { two } from '../two.js'\ntest('two', () => assert.equal(two, 2))\n"
    lint = "! grep -L two.js test/*.js | grep ."
    scripts = {"lint": lint, "test": "npm run lint && node --test"}
    package = json.dumps({"type": "module", "scripts": scripts})
    files = {"package.json": package, "two.js": "export const two = 3\n", "test/two.test.js": test}
    with open_shop(tmp_path, files) as shop:
        shop.change({"two.js": "export const two = 2\n"})
        verdict = await take(shop)
    assert (verdict.is_shown, verdict.mended) == (True, ("test/two.test.js::two",))


@story
async def test_the_first_tests_of_a_project_are_held_against_its_old_code(tmp_path: Path):
    with open_shop(tmp_path, {"cart.py": FILES["cart.py"]}) as shop:
        shop.change({"cart.py": MENDED, "test_cart.py": SHOWN})
        verdict = await take(shop)
    assert verdict.strength is ChangeStrength.NEW_TESTS
    assert verdict.is_shown


@pytest.mark.exhaustive
@story
async def test_a_project_without_tests_is_shown_by_its_build_or_not_at_all(tmp_path: Path):
    make = "build:\n\tgrep -q A README.md\n"
    with open_shop(tmp_path, {"README.md": "A\n", "Makefile": make}) as shop:
        shop.change({"README.md": "A cart\n"})
        built = await take(shop)
        assert (built.strength, built.has_suite) == (ChangeStrength.CHECKED, False)
        assert built.is_shown
        shop.change({"README.md": "B\n"})
        broken = await take(shop)
        assert kinds(broken) == [(K.NAMED_NOT_GREEN, W.BLOCKS)]
    with open_shop(tmp_path / "bare", {"README.md": "A\n"}) as shop:
        shop.change({"README.md": "B\n"})
        assert (await take(shop)).strength is ChangeStrength.UNVERIFIED
        shown = await take(shop, AskedFor(shown=True))
        assert (shown.strength, shown.is_shown) == (ChangeStrength.SHOWN, True)


@pytest.mark.slow
@story
async def test_what_is_named_as_verification_must_be_green(shop: Shop):
    shop.change({"cart.py": MENDED, "test_cart.py": SHOWN, "bad.py": "def (:\n"})
    verdict = await take(shop, verify_with=("python -m compileall -q .",))
    assert (K.NAMED_NOT_GREEN, W.BLOCKS) in kinds(verdict)
    shop.change({"bad.py": "x = 1\n"})
    assert (await take(shop, verify_with=("python -m compileall -q .",))).is_shown


@pytest.mark.exhaustive
@story
async def test_a_part_that_was_seen_red_is_asked_again_wherever_the_change_is(tmp_path: Path):
    part: dict[str, str | bytes] = {
        "pyproject.toml": "[tool.pytest.ini_options]\n",
        "test_it.py": "def test_it():\n    pass\n",
    }
    files = {f"{name}/{path}": text for name in ("one", "two") for path, text in part.items()}
    with open_shop(tmp_path, files) as shop:
        shop.change({"one/a.py": "x = 1\n"})
        alone = await take(shop, QUIET)
        both = await take(shop, QUIET, red_parts=frozenset({"two"}))
    assert {line.part for line in alone.ran} == {"one"}
    assert {line.part for line in both.ran} == {"one", "two"}


@pytest.mark.exhaustive
@pytest.mark.slow
@story
async def test_a_check_that_was_seen_red_must_be_as_good_as_before(shop: Shop):
    shop.change({"cart.py": MENDED, "test_cart.py": SHOWN, "bad.py": "def (:\n"})
    verdict = await take(shop, red_checks=("compileall",))
    assert [each.sentence for each in verdict.blocking if "compileall" in each.sentence]
