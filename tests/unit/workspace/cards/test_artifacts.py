"""A card's account: readable, parseable, without secrets, and out of git's sight."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from tests.repos import git, own_state, repository

from flyball.errors import UsageError
from flyball.workspace.cards.artifacts import (
    CardArtifact,
    CommandRun,
    VerdictNote,
    artifact_path,
    hide_artifacts,
    mark_reverted,
    read_artifact,
    write_artifact,
)
from flyball.workspace.errors import Diverged
from flyball.workspace.run.opening import open_workspace

CARD = CardArtifact(
    run="r1",
    card="c1",
    title="Fix the total",
    status="done",
    commit="abc",
    files=("cart.py",),
    diff="--- a/cart.py\n+++ b/cart.py\n@@ -1 +1 @@\n-key = 's3cret'\n+key = ''\n",
    commands=(CommandRun("pytest -q", 0, 1.5, "```\n3 passed s3cret\n```"),),
    verdicts=(VerdictNote("tests_pass", "passed", "3 tests ran"),),
    evidence=("e1",),
    timings={"verify s3cret": 1.5},
    risk="touches money",
    assumptions=("carts are small",),
)


def hide(text: str) -> str:
    return text.replace("s3cret", "[redacted]")


def test_both_files_say_the_same_and_no_secret(tmp_path: Path):
    page = write_artifact(tmp_path, CARD, hide)

    text = page.read_text()
    back = read_artifact(tmp_path, "r1", "c1")
    assert page == tmp_path / ".flyball/artifacts/r1/c1.md"
    assert back is not None
    assert back.title == CARD.title
    assert back.commands[0].exit_code == 0
    for stated in ("Fix the total", "pytest -q", "exit code 0", "touches money", "carts are small"):
        assert stated in text
    for file in page.parent.iterdir():
        assert "s3cret" not in file.read_text()
    assert "````" in text


def test_times_counters_steps_and_logs_are_on_the_page(tmp_path: Path):
    card = msgspec.structs.replace(
        CARD,
        steps=("multiply by the quantity",),
        proof=("red → green (new tests) (3 tests)", "changed: cart.py"),
        started_at=1_700_000_000.0,
        ended_at=1_700_000_060.0,
        calls={"read": 2, "test": 1},
        refused_calls=1,
        commands=(CommandRun("pytest -q", 0, 1.5, "3 passed", ".flyball/artifacts/r1/c1/x.log"),),
    )
    text = write_artifact(tmp_path, card, hide).read_text()
    for stated in (
        "- Started: 2023-11-14T22:13:20+00:00",
        "- Ended: 2023-11-14T22:14:20+00:00",
        "- Calls: read 2, test 1; 1 refused",
        "## Steps\n\n- multiply by the quantity",
        "## Verdict\n\n- red → green (new tests) (3 tests)\n- changed: cart.py",
        "(all of it: `.flyball/artifacts/r1/c1/x.log`)",
        "3 passed",
    ):
        assert stated in text
    back = read_artifact(tmp_path, "r1", "c1")
    assert back is not None
    assert (back.steps, back.calls, back.commands) == (card.steps, card.calls, card.commands)


def test_artifact_marks_reverted_cards_only(tmp_path: Path):
    page = write_artifact(tmp_path, CARD, hide)
    written = page.read_text()
    for _ in range(2):
        mark_reverted(tmp_path, "r1", "c1", is_reverted=True)
        assert "- Status: reverted; it was done" in page.read_text()
    mark_reverted(tmp_path, "r1", "c1", is_reverted=True, paths=("cart.py",))
    assert "- Status: reverted in part: cart.py; it was done" in page.read_text()
    mark_reverted(tmp_path, "r1", "c1", is_reverted=False)
    assert page.read_text() == written
    mark_reverted(tmp_path, "r1", "c9", is_reverted=True)
    assert not page.with_name("c9.md").exists()


def test_a_card_without_an_account_has_none(tmp_path: Path):
    assert read_artifact(tmp_path, "r1", "c9") is None


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden", "a..b"])
def test_a_name_cannot_lead_elsewhere(tmp_path: Path, name: str):
    with pytest.raises(UsageError):
        artifact_path(tmp_path, "r1", name)


def test_git_status_does_not_show_them_and_the_tree_hash_ignores_them(tmp_path: Path):
    repo = repository(tmp_path / "repo", {"a.txt": "a\n"})
    before = own_state(repo)
    with open_workspace(repo, "r", tmp_path / "state", in_place=True) as workspace:
        tree = workspace.tree_hash()
        write_artifact(repo, CARD, hide)
        (repo / ".flyball/artifacts/.gitignore").unlink()

        assert workspace.tree_hash() == tree

    write_artifact(repo, CARD, hide)
    assert git(repo, "status", "--porcelain", "-uall") == ""
    assert before["records"].keys() - own_state(repo)["records"].keys() == set()


def test_a_planted_link_is_not_followed(tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "proj").mkdir()
    (tmp_path / "proj/.flyball").symlink_to(outside)

    with pytest.raises(Diverged):
        write_artifact(tmp_path / "proj", CARD, hide)

    assert list(outside.iterdir()) == []


def test_a_long_diff_is_cut_on_the_page_only(tmp_path: Path):
    card = CardArtifact(run="r1", card="c1", title="Long", diff="+x\n" * 5000)

    page = write_artifact(tmp_path, card, hide)

    assert "more lines are in `c1.json`" in page.read_text()
    back = read_artifact(tmp_path, "r1", "c1")
    assert back is not None
    assert back.diff == card.diff


def test_git_overlooks_the_shelf_before_anything_is_on_it(tmp_path: Path) -> None:
    repo = repository(tmp_path / "shop", {"a.py": "A = 1\n"})
    hide_artifacts(repo)
    (repo / ".flyball/artifacts/r1").mkdir()
    (repo / ".flyball/artifacts/r1/test.log").write_text("3 passed\n")
    assert git(repo, "status", "--porcelain") == ""


def test_a_page_holds_nothing_that_a_terminal_obeys_or_hides(tmp_path: Path):
    evil = "a\x1b]0;evil\x07b\x9b31mc\u202ed"
    log = CommandRun(f"pytest {evil}", 0, 1.5, f"{evil}\r\n\t3 passed")
    page = write_artifact(
        tmp_path, msgspec.structs.replace(CARD, title=evil, diff=evil, commands=(log,)), str
    )
    text = page.read_bytes().decode()
    assert all(each.isprintable() or each in "\n\t" for each in text)
    assert "\\u001b]0;evil\\u0007" in text
    back = read_artifact(tmp_path, "r1", "c1")
    assert back is not None
    assert back.diff == evil, "what programs read stays what it was"
