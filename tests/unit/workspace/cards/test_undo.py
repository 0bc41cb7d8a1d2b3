"""The log of edits: what it keeps, what it forgets, and which edits still stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from flyball.errors import NotFound, UsageError
from flyball.workspace.cards.undo import UndoLog, edits, find_edit, undo
from flyball.workspace.cards.use_cases import ProjectPlaces
from flyball.workspace.errors import WorkspaceHeld
from flyball.workspace.run.lock import WorkspaceLock
from flyball.workspace.run.snapshot import MAX_AGE


class Desk:
    """A directory whose files are edited, and the log of that."""

    def __init__(self, tmp_path: Path) -> None:
        self.now = 4e9
        self.root = tmp_path / "proj"
        self.root.mkdir()
        self.places = ProjectPlaces(self.root, tmp_path / "state", tmp_path)
        self.log = UndoLog(self.places.state_dir, lambda: self.now)

    def edit(self, name: str, before: str | None, after: str) -> str:
        contents = {name: (None if before is None else before.encode(), after.encode())}
        id = self.log.note("edit", self.root, contents)
        (self.root / name).write_text(after)
        self.now += 1
        return id


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_old_edits_and_their_contents_are_forgotten(desk: Desk):
    desk.edit("a", None, "one")
    desk.now += MAX_AGE + 1
    desk.edit("b", None, "two")

    assert [record.files[0].path for record in desk.log.records()] == ["b"]
    assert len(list(desk.log.directory.glob("**/objects/??/*"))) == 1


def test_an_edit_that_is_back_by_hand_does_not_stand(desk: Desk):
    desk.edit("a", None, "one")
    (desk.root / "a").unlink()
    assert edits(desk.places) == ()
    with pytest.raises(UsageError, match="no edit to undo"):
        find_edit(desk.places)


def test_undo_of_an_undo_restores_the_edit(desk: Desk):
    one = desk.edit("a", None, "one")
    back = undo(desk.places, find_edit(desk.places))
    assert edits(desk.places) == ()
    undo(desk.places, find_edit(desk.places, back.snapshot))
    assert [each.id for each in edits(desk.places)] == [one]
    assert (desk.root / "a").read_text() == "one"


def test_edit_already_undone_is_not_listed(desk: Desk):
    one = desk.edit("a", None, "one")
    (desk.root / "a").unlink()
    assert undo(desk.places, find_edit(desk.places, one)).writes == ()
    assert len(desk.log.records()) == 1


@pytest.mark.parametrize("id", ["zzzz", "a", "0"])
def test_unknown_or_short_id_is_refused(desk: Desk, id: str):
    desk.edit("a", None, "one")
    with pytest.raises(NotFound, match="snapshot"):
        find_edit(desk.places, id)


def test_undo_refuses_a_locked_checkout(desk: Desk):
    edit = desk.edit("a", None, "one")
    lock = WorkspaceLock(desk.places.state_dir / "checkout.lock", "the checkout")
    with pytest.raises(WorkspaceHeld):
        undo(desk.places, find_edit(desk.places, edit))
    lock.release()
    assert (desk.root / "a").read_text() == "one"


def test_link_is_restored_as_a_link(desk: Desk):
    one = desk.edit("a", None, "one")
    (desk.root / "a").unlink()
    (desk.root / "a").symlink_to("elsewhere")
    forced = undo(desk.places, find_edit(desk.places, one), force=True)
    assert forced.lost == ("a",)
    assert not (desk.root / "a").is_symlink()
    undo(desk.places, find_edit(desk.places, forced.snapshot))
    assert (desk.root / "a").readlink() == Path("elsewhere")
