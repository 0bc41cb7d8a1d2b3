"""The verdict on a card's work, as evidence: what it asked for and promised bears on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.unit.engine.shop import FILES, MENDED, SHOWN, Shop, open_shop
from tests.unit.journal.runs import story

from flyball.engine.look.inspection import is_shown
from flyball.plan.library import LIBRARY
from flyball.plan.template import GateUse
from flyball.run.effect import Inspect
from flyball.run.state import CardState, Checkpoint
from flyball.terms.change_verdict import ChangeStrength, FindingKind
from flyball.terms.evidence import (
    AnyEvidence,
    CheckKind,
    CheckReport,
    ConsoleReport,
    HttpReport,
    SuiteReport,
    VerdictReport,
)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with open_shop(tmp_path) as opened:
        yield opened


async def verdict_on(shop: Shop, *gates: GateUse, **more: object) -> VerdictReport:
    seen = await shop.looks(*gates, **more)
    (found,) = [item for item in seen.evidence if isinstance(item, VerdictReport)]
    return found


def promise(shop: Shop, *verify_with: str) -> None:
    stated = Checkpoint("mend it", "it is broken", "edit", ("cart.py",), verify_with)
    shop.card = replace(shop.card, checkpoint=stated)


@story
async def test_the_report_names_both_trees_and_wants_red_where_it_is_asked_to(shop: Shop):
    tree = shop.change({"cart.py": MENDED})
    report = await verdict_on(shop)
    assert (report.id, report.tree, report.base) == (f"c.verdict.{tree[:12]}", tree, shop.card.base)
    assert report.verdict.is_shown
    wanting = await verdict_on(shop, wants_red=True)
    (found,) = wanting.verdict.blocking
    assert found.kind is FindingKind.NOTHING_FAILED_BEFORE


@story
async def test_what_the_checkpoint_promised_is_run(shop: Shop):
    shop.change({"cart.py": MENDED, "test_cart.py": SHOWN, "bad.py": "def (:\n"})
    promise(shop, "python -m compileall -q .")
    (found,) = (await verdict_on(shop)).verdict.blocking
    assert found.kind is FindingKind.NAMED_NOT_GREEN


@pytest.mark.exhaustive
@pytest.mark.slow
@story
async def test_test_repair_is_not_done_while_a_test_fails(tmp_path: Path):
    near = "from cart import total\n\n\ndef test_near():\n    assert total([1]) == 7\n"
    with open_shop(tmp_path, {**FILES, "test_near.py": near}) as shop:
        shop.run = replace(shop.run, request="Two tests fail, mend them.")
        shop.change({"cart.py": MENDED, "test_cart.py": SHOWN})
        (found,) = (await verdict_on(shop)).verdict.blocking
    assert "to repair that was the request" in found.sentence


@story
async def test_a_gate_that_flyball_looked_for_shows_a_change_where_there_are_no_tests(
    tmp_path: Path,
):
    with open_shop(tmp_path, {"README.md": "A\n"}) as shop:
        shop.change({"page.txt": "hello\n"})
        gate = GateUse("file_contains", {"path": "page.txt", "text": "hello"})
        shop.card = replace(shop.card, template=replace(shop.card.template, gates=(gate,)))
        assert (await verdict_on(shop)).verdict.strength is ChangeStrength.UNVERIFIED
        report = await verdict_on(shop, gate)
    assert report.verdict.strength is ChangeStrength.SHOWN
    assert report.verdict.is_shown


@pytest.mark.slow
@story
async def test_what_the_driver_saw_red_is_looked_at_again(shop: Shop):
    tree = shop.change({"cart.py": MENDED, "test_cart.py": SHOWN, "bad.py": "def (:\n"})
    red = CheckReport(id="k", tree=tree, kind=CheckKind.SYNTAX, command="compileall", exit_code=1)
    suite = SuiteReport(
        id="s", tree=tree, runner="pytest", command="pytest", exit_code=1, failed=1, part="."
    )
    shop.card = replace(shop.card, evidence=(suite, red))
    found = (await verdict_on(shop)).verdict.blocking
    assert [each.kind for each in found] == [FindingKind.NAMED_NOT_GREEN]


ANSWERS = HttpReport(id="h", tree="t1", url="u", status=200, own=True)
FAILS = HttpReport(id="h", tree="t1", url="u", status=500, own=True)
CLEAN = ConsoleReport(id="k", tree="t1", url="u", own=True)
DIRTY = ConsoleReport(id="k", tree="t1", url="u", errors=("boom",), own=True)
BLANK = ConsoleReport(id="k", tree="t0", url="u", errors=("boom",), own=True)
STRANGE = HttpReport(id="h", tree="t1", url="u", status=200)
EARLIER = ConsoleReport(id="k", tree="t0", url="u", own=True)


@pytest.mark.parametrize(
    ("evidence", "shown"),
    [
        ((), False),
        ((ANSWERS,), True),
        ((CLEAN,), True),
        ((STRANGE,), False),
        ((EARLIER,), False),
        ((ANSWERS, DIRTY), False),
        ((DIRTY, CLEAN), True),
        ((FAILS, CLEAN), False),
        ((BLANK, ANSWERS), False),
        ((BLANK, ANSWERS, CLEAN), True),
    ],
    ids=[
        "nothing was looked at", "it answers", "a clean console", "somebody else's server",
        "an earlier tree", "an answer beside a dirty console", "mended since", "an error beside it",
        "seen broken and not seen again", "seen broken and then whole",
    ],
)  # fmt: skip
def test_what_counts_as_shown(evidence: tuple[AnyEvidence, ...], shown: bool):
    card = CardState(
        id="c", template=LIBRARY["fix"], title="t", base="t0", tree="t1", evidence=evidence
    )
    assert is_shown(card, Inspect(card="c", base="t0", tree="t1"), ()) is shown
