"""The report of an audit, opened in a real browser: light and dark, and asking nobody."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.audit.recorded import HOSTS, lay_out
from tests.web.browser import browsing

from flyball.audit.auditing import AuditOptions, audit
from flyball.cli.terminal.audit_page import audit_page
from flyball.guards.guard import GuardLimits


@pytest.mark.exhaustive
def test_the_report_is_one_page_that_follows_the_reader_and_asks_nobody(tmp_path: Path):
    lay_out(tmp_path, *HOSTS)
    environ = {"HOME": str(tmp_path), "FLYBALL_STATE_DIR": str(tmp_path / "state")}
    file = tmp_path / "report.html"
    file.write_text(audit_page(audit(AuditOptions(), environ, GuardLimits())), "utf-8")
    grounds: dict[str, str] = {}
    for scheme in ("light", "dark"):
        with browsing(file.as_uri(), color_scheme=scheme) as opened:
            shown = opened.page.inner_text("body")
            assert "weakened-tests" in shown or "tests got easier to pass" in shown
            paint = "getComputedStyle(document.body).backgroundColor"
            grounds[scheme] = str(opened.page.evaluate(paint))
            width = "document.documentElement.scrollWidth - innerWidth"
            assert opened.page.evaluate(width) <= 0
            opened.page.screenshot(path=tmp_path / f"{scheme}.png", full_page=True)
            assert opened.complaints == []
    assert grounds["light"] != grounds["dark"]
