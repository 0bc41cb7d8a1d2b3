"""Documents are checked by machines: what is generated does not drift, what exists is described."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from docs.generate import DOCS, pages

from flyball.settings import ABOUT, Settings

ROOT = DOCS.parent


@pytest.fixture(scope="module")
def generated() -> dict[Path, str]:
    return pages()


def test_generated_pages_are_as_the_source_says(generated: dict[Path, str]):
    for path, text in generated.items():
        assert path.read_text() == text, f"{path.name} has drifted; run `make docs`"


def test_every_setting_is_described():
    assert set(ABOUT) == set(Settings.__struct_fields__)


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().split("\n")) <= 150


PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
