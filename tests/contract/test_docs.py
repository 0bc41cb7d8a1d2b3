"""Documents are checked by machines: what is generated does not drift, what exists is described."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from docs.generate import DOCS

ROOT = DOCS.parent


@pytest.fixture(scope="module")
def generated() -> dict[Path, str]:
    """The pages as a fresh process makes them: click keeps the help of commands that were run."""
    make = "import json; from docs.generate import pages; "
    show = "print(json.dumps({str(path): text for path, text in pages().items()}))"
    made = subprocess.run(
        [sys.executable, "-c", make + show], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return {Path(path): text for path, text in json.loads(made.stdout).items()}


def test_generated_pages_are_as_the_source_says(generated: dict[Path, str]):
    for path, text in generated.items():
        assert path.read_text() == text, f"{path.name} has drifted; run `make docs`"


def test_the_readme_is_short_and_its_lines_too():
    lines = (ROOT / "README.md").read_text().split("\n")
    assert len(lines) <= 130
    assert [line for line in lines if len(line) > 100] == []


PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


ARCHITECTURE = (DOCS / "architecture.md").read_text()
CHANGES = dict(re.findall(r"^\| (.*?) \| `(src/[\w/.]+)` \|$", ARCHITECTURE, re.MULTILINE))


def test_every_row_of_where_to_change_what_names_one_file():
    table = ARCHITECTURE.split("## Where do I change …")[1].split("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == len(CHANGES) >= 20
    assert [name for name in CHANGES.values() if not (ROOT / name).is_file()] == []


@pytest.mark.parametrize(
    ("behaviour", "sign"),
    [
        ('premature "done"', "This is not done yet: {why}"),
        ("order of the objections", "\nOBJECTIONS: "),
        ("how a tree is hashed", "def tree_content("),
        ("which directories a command may read", "\nSYSTEM = ("),
        ("the repairer's ranking", "def rank("),
        ("the repairer's ranking", "\nMASS: "),
        ("which event leads", "\nROWS: "),
        ("what a tool is called", 'ToolRow(\n        "read"'),
        ("how many calls an intent may spend", "\nLIMITS: "),
        ("what follows a failed step", "\nROWS: tuple[EscalationRow"),
        ("which paths are protected", "\nPROTECTED: "),
        ("which variables a command gets", "\nPASSED = ("),
        ("how a test runner is recognised", "\nRUNNERS: "),
        ("a setting's default", "class Settings("),
    ],
)
def test_what_is_to_be_changed_is_in_the_file_that_is_named(behaviour: str, sign: str):
    (name,) = [file for text, file in CHANGES.items() if behaviour in text]
    assert sign in (ROOT / name).read_text()


EXAMPLES = [
    (page, block)
    for page in PAGES
    for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
]


@pytest.mark.parametrize(
    ("page", "block"), EXAMPLES, ids=[f"{page.stem}-{n}" for n, (page, _) in enumerate(EXAMPLES)]
)
def test_an_example_on_a_page_runs(page: Path, block: str, tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-c", block],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{page.name}: {done.stderr}"
