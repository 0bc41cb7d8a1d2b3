"""Commands that a checkpoint names are run on a clean checkout, if they could say no."""

from __future__ import annotations

from pathlib import Path

from tests.unit.engine.shop import FILES, open_shop
from tests.unit.journal.runs import story

from flyball.verdict.named_checks import run_named


@story
async def test_only_what_verifies_and_can_fail_is_run(tmp_path: Path):
    with open_shop(tmp_path, FILES) as shop:
        words = ("true", "the page looks right", "rm -rf .", "python -m compileall -q .")
        (found,) = await run_named(shop.call(), shop.card.base, words)
        assert (found.command, found.exit_code, found.detail) == (words[-1], 0, "")
        assert await run_named(shop.call(), shop.card.base, words[:-1]) == []


@story
async def test_one_that_fails_tells_its_last_line(tmp_path: Path):
    with open_shop(tmp_path, {**FILES, "bad.py": "def (:\n"}) as shop:
        (found,) = await run_named(shop.call(), shop.card.base, ["python -m compileall -q ."])
        assert found.exit_code == 1
        assert found.detail
