"""The user's files that no tree knows come back as they were."""

import os
import stat

import pytest
from tests.repos import put

from flyball.workspace.files import ignored_files as shelves
from flyball.workspace.files.ignored_files import FileStore

FILES = {
    "data/notes.txt": "mine\n",
    "data/deep/app.sqlite3": "rows",
    ".env": "KEY=1\n",
    "sub/.vscode/tasks.json": "{}",
    ".git/config": "[core]\n",
    ".git/hooks/pre-commit": "#!/bin/sh\n",
}
TRACKED = {"code.py": "one = 1\n"}
CACHES = {"node_modules/a/index.js": "", "dist/a.js": "", "a.log": "", ".coverage": ""}


@pytest.fixture
def root(tmp_path):
    place = tmp_path / "tree"
    put(place, {**FILES, **TRACKED, **CACHES})
    return place


@pytest.fixture
def shelf(root, tmp_path):
    made = FileStore(root, tmp_path / "shelf")
    assert made.fill(lambda: frozenset(TRACKED)) == ()
    return made


def nobody(_path):
    return False


def overwrite(place):
    place.write_text("other")


def overwrite_unseen(place):
    before = place.stat()
    place.write_text("x" * before.st_size)
    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))


def make_link(place):
    place.unlink()
    place.symlink_to("/etc/passwd")


def make_pipe(place):
    place.unlink()
    os.mkfifo(place)


def make_folder(place):
    place.unlink()
    put(place, {"in/it": ""})


def move_folder(place):
    place.parent.rename(place.parent.with_name("elsewhere"))
    place.parent.symlink_to("elsewhere")


ACTIONS = (
    os.unlink,
    overwrite,
    overwrite_unseen,
    make_link,
    make_pipe,
    make_folder,
    move_folder,
    lambda place: place.chmod(0o777),
    lambda place: os.truncate(place, 0),
)


@pytest.mark.parametrize("path", FILES)
@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.__name__)
def test_edit_of_a_file_is_undone(root, shelf, action, path):
    if action is move_folder and path == ".env":
        return
    before = (root / path).stat()
    action(root / path)
    assert path in shelf.put_back(nobody).put_back
    after = (root / path).lstat()
    assert stat.S_ISREG(after.st_mode)
    assert (root / path).read_text() == FILES[path]
    assert (after.st_mode, after.st_mtime_ns) == (before.st_mode, before.st_mtime_ns)
    assert shelf.fill(frozenset) == ()
    assert shelf.put_back(nobody) == shelves.Returned()


def test_nothing_is_done_where_nothing_was_lost(root, shelf):
    for path in (*TRACKED, *CACHES):
        (root / path).write_text("new")
    put(root, {"data/new.txt": "the program's"})
    os.utime(root / ".env")
    assert shelf.put_back(nobody) == shelves.Returned()
    (root / "data/new.txt").unlink()
    shelf.fill(frozenset)
    assert shelf.put_back(nobody) == shelves.Returned()


def test_what_changed_between_two_programs_is_kept_as_it_is_now(root, shelf):
    (root / ".env").write_text("KEY=2\n")
    (root / "data/notes.txt").unlink()
    shelf.fill(frozenset)
    (root / ".env").unlink()
    assert shelf.put_back(nobody).put_back == (".env",)
    assert (root / ".env").read_text() == "KEY=2\n"
    assert not (root / "data/notes.txt").exists()


def test_approved_paths_may_change(root, shelf):
    (root / ".env").write_text("asked")
    assert shelf.put_back(lambda path: path == ".env") == shelves.Returned()


def test_what_was_put_away_is_kept_aside(root, shelf, tmp_path):
    (root / ".env").write_text("written by the user meanwhile")
    shelf.put_back(nobody)
    (aside,) = (tmp_path / "shelf/replaced").iterdir()
    assert aside.read_text() == "written by the user meanwhile"


def test_only_the_user_can_look_at_the_copies(root, shelf, tmp_path):
    (root / ".env").chmod(0o644)
    for text in ("one", "two"):
        (root / ".env").write_text(text)
        shelf.put_back(nobody)
    places = [tmp_path / "shelf", *(tmp_path / "shelf").rglob("*")]
    copies = [place for place in places if place.is_file() and place.name != "index.json"]
    assert len(copies) > len(FILES)
    assert {stat.S_IMODE(place.stat().st_mode) for place in copies} == {0o600}
    folders = [place for place in places if place.is_dir()]
    assert {stat.S_IMODE(place.stat().st_mode) for place in folders} == {0o700}


def test_large_file_is_reported_once_and_restored(root, tmp_path, monkeypatch):
    monkeypatch.setattr(shelves, "LARGEST", 4)
    made = FileStore(root, tmp_path / "shelf")
    put(root, {"data/big.bin": "0123456789"})
    assert "data/big.bin" in made.fill(frozenset)
    assert made.fill(frozenset) == ()
    assert made.put_back(nobody) == shelves.Returned()
    (root / "data/big.bin").unlink()
    assert made.put_back(nobody).put_back == ("data/big.bin",)
    assert (root / "data/big.bin").read_text() == "0123456789"
    made.fill(frozenset)
    (root / "data/big.bin").write_text("overwritten")
    assert made.put_back(nobody).lost == ("data/big.bin",)


def test_a_name_that_is_not_utf8_is_held(root, tmp_path):
    odd = os.fsdecode(b"data/odd-\xff")
    (root / odd).write_text("mine")
    made = FileStore(root, tmp_path / "shelf")
    made.fill(frozenset)
    (root / odd).unlink()
    assert made.put_back(nobody).put_back == (odd,)
