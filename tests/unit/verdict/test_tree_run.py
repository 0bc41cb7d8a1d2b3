"""One run of a suite on a clean checkout: every test by name, and canaries that must fail."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.repos import contents
from tests.toolchains import need
from tests.unit.engine.shop import FILES, MENDED, SHOWN, Shop, open_shop
from tests.unit.journal.runs import story

from flyball.app.liars.changes import projects
from flyball.verdict.case import CaseOutcome, SuiteCase
from flyball.verdict.part import PartSuite
from flyball.verdict.reports import TreeRun
from flyball.verdict.settled import ProjectCommands, SettledCommand
from flyball.verdict.tree_run import (
    SILENT,
    Selection,
    Taken,
    count_collected,
    detects_failures,
    run_tree,
    words_for,
)
from flyball.workspace.process.process import CommandLimits

NODE = projects()["node"]

P, F, S = CaseOutcome.PASSED, CaseOutcome.FAILED, CaseOutcome.SKIPPED
SUITE = PartSuite("unittest")
NONE, TWO = "test_cart.py::CartTest::test_none", "test_cart.py::CartTest::test_two"


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with open_shop(tmp_path) as opened:
        yield opened


@story
async def test_every_test_is_told_by_name_and_the_canaries_are_not(shop: Shop):
    tree = shop.change({"test_cart.py": SHOWN})
    before = contents(shop.root)
    taken = await run_tree(shop.call(), tree, SUITE)
    assert taken.run.ends == {NONE: P, TWO: F}
    assert taken.run.counts == (1, 1, 0)
    assert (taken.run.exit_code, taken.run.is_counted, taken.run.trouble) == (1, True, "")
    assert taken.has_canary
    assert [case.name for case in taken.cases] == ["test_none", "test_two"]
    assert contents(shop.root) == before


@story
async def test_data_that_was_read_is_told_where_the_disk_keeps_access_times(
    shop: Shop, tmp_path: Path
):
    probe = tmp_path / "probe"
    probe.write_text("1")
    os.utime(probe, ns=(0, probe.stat().st_mtime_ns))
    probe.read_text()
    cases = 'open("rows/a.txt").read()\n' + str(FILES["test_cart.py"])
    data: dict[str, str | bytes] = {"rows/a.txt": "1", "rows/b.txt": "2", "test_cart.py": cases}
    taken = await run_tree(shop.call(), shop.change(data), SUITE)
    assert taken.read == (("rows/a.txt",) if probe.stat().st_atime_ns else ())


@story
async def test_a_green_suite_ends_well_although_its_canaries_fail(shop: Shop):
    taken = await run_tree(shop.call(), shop.card.base, SUITE)
    assert taken.has_canary
    assert (taken.run.exit_code, taken.run.red) == (0, frozenset())


@pytest.mark.slow
@story
async def test_only_the_files_that_are_wanted_are_run_and_the_canaries_with_them(shop: Shop):
    other = FILES["test_cart.py"].replace("CartTest", "OtherTest")  # type: ignore[union-attr]
    tree = shop.change({"test_other.py": other})
    wanted = Selection(("test_other.py",), whole=1_994)
    taken = await run_tree(shop.call(), tree, PartSuite("pytest"), wanted)
    assert taken.run.ends == {"test_other.py::OtherTest::test_none": P}
    assert taken.run.whole == 1_994
    assert taken.has_canary


@story
async def test_single_tests_are_run_without_canaries(shop: Shop):
    tree = shop.change({"cart.py": MENDED, "test_cart.py": SHOWN})
    whole = await run_tree(shop.call(), tree, SUITE)
    two = tuple(case for case in whole.cases if case.name == "test_two")
    taken = await run_tree(shop.call(), tree, SUITE, Selection(cases=two))
    assert taken.run.ends == {TWO: P}
    assert not taken.has_canary


@story
async def test_code_that_ends_the_process_makes_no_evidence(shop: Shop):
    base = await run_tree(shop.call(), shop.card.base, SUITE)
    tree = shop.change({"cart.py": "import os\n\nos._exit(0)\n"})
    taken = (await run_tree(shop.call(), tree, SUITE)).beside(base)
    assert taken.run.trouble == SILENT
    assert not taken.has_canary


@story
async def test_code_that_makes_every_comparison_true_silences_the_canaries(shop: Shop):
    base = await run_tree(shop.call(), shop.card.base, SUITE)
    liar = (
        f"import unittest\n\n{MENDED}\n"
        "for name in ('assertEqual', 'assertTrue'):\n"
        "    setattr(unittest.TestCase, name, lambda self, *args: None)\n"
    )
    tree = shop.change({"cart.py": liar})
    taken = (await run_tree(shop.call(), tree, SUITE)).beside(base)
    assert taken.run.trouble == SILENT


@story
async def test_a_signal_and_a_success_with_failures_are_no_evidence(shop: Shop):
    killed = "import os\nimport signal\n\nos.kill(os.getpid(), signal.SIGKILL)\n"
    tree = shop.change({"cart.py": killed})
    assert "ended by signal" in (await run_tree(shop.call(), tree, SUITE)).run.trouble


@story
async def test_a_run_past_its_limit_is_no_evidence_and_known_to_be_slow(shop: Shop):
    tree = shop.change({"cart.py": "while True:\n    pass\n"})
    context = shop.call()
    short = context._replace(limits=CommandLimits(seconds=1.0))
    taken = await run_tree(short, tree, SUITE)
    assert taken.timed_out
    assert taken.run.trouble


@story
async def test_a_suite_that_cannot_be_started_is_a_run_with_a_trouble(shop: Shop):
    taken = await run_tree(shop.call(), shop.card.base, PartSuite("nonsense"))
    assert taken.run.trouble
    assert taken.run.ends == {}
    assert not taken.has_canary


@pytest.mark.parametrize(("wanted", "end"), [("total", P), ("nothing", F)])
@story
async def test_a_command_that_counts_nothing_is_one_test_itself(shop: Shop, wanted: str, end):
    command = f"grep -q {wanted} cart.py"
    settled = ProjectCommands(tests={".": SettledCommand(command, "your settings")})
    context = shop.call()
    context = context._replace(settings=replace(context.settings, commands=settled))
    taken = await run_tree(context, shop.card.base, PartSuite("command", command=command))
    assert list(taken.run.ends.values()) == [end]
    assert not taken.run.is_counted
    assert taken.run.exit_code == int(end is F)


@pytest.mark.exhaustive
@story
async def test_tests_of_a_part_are_named_from_the_top(tmp_path: Path):
    files = {f"shop/{name}": text for name, text in FILES.items()}
    files["shop/pyproject.toml"] = "[tool.pytest.ini_options]\n"
    with open_shop(tmp_path, files) as shop:
        suite = PartSuite("pytest", "shop")
        taken = await run_tree(shop.call(), shop.card.base, suite)
        assert taken.run.ends == {f"shop/{NONE}": P}
        assert taken.run.command == "pytest"
        assert taken.has_canary
        wanted = Selection(("shop/test_cart.py",))
        part = await run_tree(shop.call(), shop.card.base, suite, wanted)
        assert part.run.ends == taken.run.ends
        assert part.has_canary


def test_a_run_whose_canaries_fell_silent_is_no_evidence_beside_one_whose_did_not():
    run = TreeRun("pytest", 0)
    alive, silent = Taken(run, has_canary=True), Taken(run)
    assert silent.beside(alive).run.trouble == SILENT
    assert silent.beside(silent) == silent
    assert alive.beside(alive) == alive
    slow = Taken(run._replace(trouble="slow"))
    assert slow.beside(alive).run.trouble == "slow"


def test_a_runner_that_is_not_known_cannot_be_told_to_run_a_part():
    case = SuiteCase("test_a", P, file="a.py")
    assert words_for(PartSuite("command"), Selection(("a.py",))) is None
    assert words_for(SUITE, Selection()) is None
    assert words_for(PartSuite("pytest"), Selection(("a/test_b.py",))) == ("a/test_b.py",)
    assert words_for(PartSuite("pytest", "a"), Selection(("a/test_b.py",))) == ("test_b.py",)
    assert words_for(PartSuite("pytest"), Selection(cases=(case,)))


ROWS = (
    "import pytest\n\n\n"
    '@pytest.mark.parametrize("n", range(7))\ndef test_row(n):\n    assert n < 7\n'
)


@pytest.mark.exhaustive
@pytest.mark.slow
@story
async def test_tests_are_counted_as_the_runner_itself_counts_them(shop: Shop):
    tree = shop.change({"test_rows.py": ROWS})
    before = contents(shop.root)
    assert await count_collected(shop.call(), tree, PartSuite("pytest")) == 8
    assert contents(shop.root) == before
    less = shop.change({"test_rows.py": ROWS.replace("range(7)", "range(3)")})
    assert await count_collected(shop.call(), less, PartSuite("pytest")) == 4


@pytest.mark.slow
@story
async def test_a_suite_that_cannot_be_asked_has_no_count(shop: Shop):
    assert await count_collected(shop.call(), shop.card.base, SUITE) == 0
    empty = shop.change({"test_cart.py": ""})
    assert await count_collected(shop.call(), empty, PartSuite("pytest")) == 0


@pytest.mark.slow
@story
async def test_only_the_tests_of_the_part_are_counted(shop: Shop):
    part: dict[str, str | bytes] = {
        "web/pyproject.toml": "[tool.pytest.ini_options]\n",
        "web/test_rows.py": ROWS,
    }
    tree = shop.change(part)
    assert await count_collected(shop.call(), tree, PartSuite("pytest", "web")) == 7


REWRITES = (
    "import pathlib\n\nfor file in pathlib.Path(__file__).parent.glob('test_z*.py'):\n"
    "    if not file.name.startswith('test_zz'):\n        file.write_text('def test_z(): pass')\n"
)


@pytest.mark.exhaustive
@pytest.mark.slow
@story
async def test_code_that_changes_the_tests_while_they_run_makes_no_evidence(tmp_path: Path):
    files = {**FILES, "test_z.py": "def test_z():\n    assert False\n"}
    with open_shop(tmp_path, files) as shop:
        base = await run_tree(shop.call(), shop.card.base, PartSuite("pytest"))
        tree = shop.change({"cart.py": REWRITES + MENDED})
        taken = await run_tree(shop.call(), tree, PartSuite("pytest"))
    assert (base.rewrote, taken.rewrote) == ("", "test_z.py")
    said = "test_z.py was changed while the tests ran"
    assert taken.beside(base).run.trouble == said
    assert not taken.beside(taken).run.trouble


@pytest.mark.exhaustive
@pytest.mark.slow
@story
async def test_tests_that_must_fail_are_heard_beside_the_code_that_was_changed(tmp_path: Path):
    need("node", "npm")
    suite, cart = PartSuite("node"), NODE.files["cart.js"]
    with open_shop(tmp_path, {**NODE.files}) as shop:
        assert await detects_failures(shop.call(), shop.card.base, suite, ["cart.js"])
        silent = shop.change({"cart.js": cart + "\nrequire('assert').strictEqual = () => {}\n"})
        assert await detects_failures(shop.call(), silent, suite, ["cart.js"]) is False
        assert await detects_failures(shop.call(), silent, suite, ["tax.js"])
        assert await detects_failures(shop.call(), silent, PartSuite("make"), ["cart.js"]) is None
