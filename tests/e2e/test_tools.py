"""Tools as the engine uses them: snapshots, roll-back, recovery and the verdict on a change."""

import asyncio
import os
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.repos import put, repository

from flyball.engine.look.inspection import inspect
from flyball.engine.perform import perform_call
from flyball.engine.run_context import RunContext
from flyball.plan.library import FIX
from flyball.run.effect import Inspect
from flyball.run.event import CallReturned
from flyball.run.state import CardState, RunState
from flyball.run.thread import SpokenCall
from flyball.terms.call import Access
from flyball.terms.change_verdict import ChangeStrength, ChangeVerdict, FindingKind
from flyball.terms.evidence import VerdictReport
from flyball.terms.phase import Phase
from flyball.tools.call.prepare import prepare
from flyball.tools.toolbox import TOOLS
from flyball.workspace.redaction import Redactor

BY_NAME = {tool.name: tool for tool in TOOLS}
CART = "def total(items):\n    return sum(price for price, _ in items)\n"
FIXED = "def total(items):\n    return sum(price * n for price, n in items)\n"
OLD = "from cart import total\n\ndef test_nothing():\n    assert total([]) == 0\n"
NEW = OLD + "\ndef test_pens():\n    assert total([(2, 3)]) == 6\n"


class Shop:
    """A run on a small shop, and the engine's way of making calls there."""

    def __init__(self, top: Path, files) -> None:
        self.project = repository(top / "shop", files)
        environ = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(top)}
        self.context = RunContext(
            self.project,
            top / "state",
            environ=environ,
            redactor=Redactor(),
            on_output=lambda _text: None,
        )
        self.workspace = self.context.open("r1")
        self.context.env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        self.state = RunState(run="r1")
        self.card = CardState("k1", FIX, "Fix", self.workspace.base, self.workspace.base)
        self.root = self.workspace.root
        self._calls = 0

    def do(self, name, /, *, phase=Phase.EXECUTE, again=False, **args) -> CallReturned:
        self._calls += not again
        id = f"c{self._calls}"
        context = self.context.call_context(
            self.state, self.card, id, key=f"r1/{self._calls}", phase=phase, access=Access.READ
        )
        call, form = prepare(SpokenCall(id, name, args), BY_NAME, context)
        assert form is not None, call.fault
        context = self.context.call_context(
            self.state, self.card, id, key=context.key, phase=phase, access=call.access
        )
        return asyncio.run(perform_call(context, call, BY_NAME[name], form, is_repeat=again))

    def verdict(self) -> ChangeVerdict:
        """What Flyball says of the current tree against the one from before."""
        tree = self.workspace.tree_hash()
        self.card = replace(self.card, tree=tree)
        effect = Inspect(card="k1", base=self.workspace.base, tree=tree, wants_red=True)
        found = asyncio.run(inspect(self.context, self.state, self.card, effect, "k1.inspect"))
        return next(item.verdict for item in found.evidence if isinstance(item, VerdictReport))


@pytest.fixture
def open_shop(tmp_path):
    shops = []

    def make(files):
        shops.append(Shop(tmp_path, files))
        return shops[-1]

    yield make
    for shop in shops:
        shop.context.close()


@pytest.mark.slow
def test_a_fix_goes_from_red_to_green_in_a_source_layout(open_shop):
    shop = open_shop({"src/cart.py": CART, "tests/test_cart.py": OLD})
    put(shop.root, {"src/cart.py": FIXED, "tests/test_cart.py": NEW})
    verdict = shop.verdict()
    assert verdict.headline == "red → green (new tests) (2 tests)"
    assert verdict.mended == ("tests/test_cart.py::test_pens",)
    assert verdict.is_shown


@pytest.mark.slow
def test_tests_that_pass_without_the_change_prove_nothing(open_shop):
    shop = open_shop({"cart.py": CART, "tests/test_cart.py": OLD})
    put(shop.root, {"cart.py": FIXED})
    verdict = shop.verdict()
    assert verdict.strength is ChangeStrength.GREEN
    assert [each.kind for each in verdict.blocking] == [FindingKind.NOTHING_FAILED_BEFORE]


@pytest.mark.slow
def test_a_new_test_that_cannot_even_be_imported_on_the_base_is_red_there(open_shop):
    shop = open_shop({"cart.py": CART, "tests/test_cart.py": OLD})
    asked = "from discount import half\n\ndef test_half():\n    assert half(4) == 2\n"
    put(
        shop.root, {"discount.py": "def half(n):\n    return n // 2\n", "tests/test_half.py": asked}
    )
    verdict = shop.verdict()
    assert verdict.strength is ChangeStrength.NEW_TESTS, verdict
    assert verdict.mended == ("tests/test_half.py::test_half",)


@pytest.mark.slow
def test_a_test_that_fails_on_both_trees_for_reasons_of_its_own_shows_nothing(open_shop):
    place = "import os\n\ndef test_place():\n    assert 'nowhere' in os.getcwd()\n"
    shop = open_shop({"cart.py": CART, "tests/test_cart.py": OLD, "tests/test_place.py": place})
    put(shop.root, {"cart.py": FIXED})
    verdict = shop.verdict()
    assert verdict.strength is ChangeStrength.GREEN
    assert verdict.old_failures == ("tests/test_place.py::test_place",)


def test_nothing_of_a_diff_stays_when_one_file_cannot_be_written(open_shop):
    shop = open_shop({"cart.py": CART, "other.py": "x = 1\n"})
    both = (
        "--- a/other.py\n+++ b/other.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"
        "--- /dev/null\n+++ b/cart.py/new.py\n@@ -0,0 +1 @@\n+y\n"
    )
    event = shop.do("edit_diff", diff=both)
    assert not event.outcome.ok
    assert shop.workspace.tree_hash() == shop.workspace.base
    assert (shop.root / "other.py").read_text() == "x = 1\n"


def test_a_half_done_diff_is_undone_and_done_again_after_a_crash(open_shop):
    shop = open_shop({"a.py": "x = 1\n", "b.py": "y = 1\n"})
    both = (
        "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"
        "--- a/b.py\n+++ b/b.py\n@@ -1 +1 @@\n-y = 1\n+y = 2\n"
    )
    first = shop.do("edit_diff", diff=both)
    done = shop.workspace.tree_hash()
    assert shop.do("edit_diff", diff=both, again=True).tree == done == first.tree
    (shop.root / "b.py").write_text("y = 1\n")
    assert shop.do("edit_diff", diff=both, again=True).tree == done


@pytest.mark.parametrize("phase", [Phase.ANALYZE_CODE, Phase.VERIFY])
def test_what_a_test_writes_into_the_tree_is_taken_back(open_shop, phase):
    shop = open_shop(
        {
            ".gitignore": "out/\n",
            "test_a.py": "import unittest, os\nclass T(unittest.TestCase):\n"
            "    def test_a(self):\n        open('planted', 'w').close()\n"
            "        os.makedirs('out'); open('out/cache', 'w').close()\n",
        }
    )
    event = shop.do("test", phase=phase)
    assert event.outcome.ok
    assert event.undone == ("planted",)
    assert not (shop.root / "planted").exists()
    assert (shop.root / "out" / "cache").exists()
    assert event.tree == shop.workspace.base


def test_a_missing_file_is_an_outcome_and_not_a_crash(open_shop):
    event = open_shop({"src/cart.py": CART}).do("read", path="cart.py")
    assert not event.outcome.ok
    assert "Did you mean src/cart.py?" in event.outcome.text


def test_links_to_what_is_installed_are_no_part_of_the_tree(open_shop):
    shop = open_shop({"package.json": "{}", "a.py": "x = 1\n"})
    put(shop.project, {"node_modules/left/index.js": "", ".venv/pyvenv.cfg": ""})
    event = shop.do("check", phase=Phase.VERIFY)
    assert event.outcome.ok, event.outcome.text
    assert (shop.root / "node_modules" / "left").is_symlink()
    assert (shop.root / ".venv").is_symlink()
    assert (event.tree, event.undone) == (shop.workspace.base, ())
