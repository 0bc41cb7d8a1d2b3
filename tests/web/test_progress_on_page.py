"""What takes long is told on a run's page: what it does, how far it is, what it took before."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.governed import CART, TESTS, shop
from tests.web.browser import browsing
from tests.web.served import environment, serving
from tests.web.test_page import begin

# The suite must take longer than the two seconds before anything is told.
SLOW = TESTS.replace("import unittest", "import time\nimport unittest\n\ntime.sleep(4)", 1)


@pytest.mark.exhaustive
def test_a_slow_suite_is_told_with_its_seconds_and_then_no_more(tmp_path: Path):
    repo = shop(tmp_path / "shop", {"cart.py": CART, "test_cart.py": SLOW})
    with serving(environment(tmp_path), repo) as served, browsing(served.address) as opened:
        page, complaints = opened
        begin(page, "The tests fail, fix it")
        busy = page.locator(".busy")
        expect(busy).to_contain_text(re.compile(r"localise_faults: \d+ s"), timeout=120_000)
        page.get_by_role("button", name="Accept the checkpoint").wait_for(timeout=300_000)
        expect(busy).not_to_contain_text(re.compile(r"\d+ s"))
        assert complaints == []
