"""The documentation as a site: every page is there, and its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

from docs.site import build, pages


def test_every_document_is_a_page_and_no_page_is_lost(tmp_path: Path):
    built = build(tmp_path / "site")
    assert len(built) == len(pages()) > 50
    missing: list[str] = []
    for page in built:
        text = (tmp_path / "site" / page).read_text()
        place = (tmp_path / "site" / page).parent
        for target in re.findall(
            r'(?:href|src)="(?!https?:)([^"#]+\.(?:html|css|js|png|svg))', text
        ):
            if not (place / target).exists():
                missing.append(f"{page}: {target}")
    assert missing == []


def test_nothing_is_asked_of_another_server(tmp_path: Path):
    build(tmp_path / "site")
    for page in (tmp_path / "site").rglob("*.html"):
        assert not re.search(r'<(?:script|link|img)[^>]+(?:src|href)="https?:', page.read_text())


def test_the_search_knows_every_page(tmp_path: Path):
    build(tmp_path / "site")
    index = (tmp_path / "site" / "pages.js").read_text()
    assert all(f'"{page.with_suffix(".html")}"' in index for page in pages())
