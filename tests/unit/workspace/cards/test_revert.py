"""Cards: taken back, put again, done over elsewhere, merged; never at the cost of later work."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.repos import contents, git, own_state, put, repository

from flyball.errors import AlreadyMerged, Conflict, FlyballError, NotFound, UsageError
from flyball.workspace.cards.revert import ReplayStatus, move_record
from flyball.workspace.cards.use_cases import (
    ProjectPlaces,
    abandon,
    foresee,
    merge,
    move_card,
    replay_run,
    show_card,
    unmerged_cards,
)
from flyball.workspace.errors import Diverged, IndexLocked
from flyball.workspace.run.opening import open_workspace
from flyball.workspace.run.workspace import Workspace
from flyball.workspace.run.worktree import CommitKind
from flyball.workspace.trees.git_trees import GitTrees
from flyball.workspace.trees.writer import Writer

TEXT = "".join(f"line {n}\n" for n in range(20))
FILES: dict[str, str | bytes] = {"a.txt": TEXT, "d/b.txt": "b\n"}


def edit(root: Path, line: int, word: str, name: str = "a.txt") -> None:
    place = root / name
    place.write_text(place.read_text().replace(f"line {line}\n", f"{word}\n"))


@pytest.fixture(params=["worktree", "in-place", "no-git"])
def workspace(request: pytest.FixtureRequest, tmp_path: Path):
    root = tmp_path / "proj"
    if request.param == "no-git":
        root.mkdir()
        put(root, FILES)
    else:
        repository(root, FILES)
    in_place = request.param == "in-place"
    opened = open_workspace(root, "r", tmp_path / "state", in_place=in_place, home=tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def desk(tmp_path: Path) -> ProjectPlaces:
    return ProjectPlaces(tmp_path / "proj", tmp_path / "state", tmp_path)


def test_a_card_goes_back_and_forth_and_later_work_stays(workspace: Workspace):
    edit(workspace.root, 2, "two")
    workspace.commit_card("r", "c1", "Two")
    edit(workspace.root, 18, "eighteen")
    workspace.commit_card("r", "c2", "Eighteen")

    moved = move_record(workspace, workspace.card("c1"), CommitKind.REVERT)
    assert (workspace.root / "a.txt").read_text() == TEXT.replace("line 18", "eighteen")
    assert moved.drifted == ("a.txt",)
    again = move_record(workspace, workspace.card("c1"), CommitKind.REVERT)
    assert again.writes == ()

    move_record(workspace, workspace.card("c1"), CommitKind.APPLY)
    both = TEXT.replace("line 18", "eighteen").replace("line 2\n", "two\n")
    assert (workspace.root / "a.txt").read_text() == both


def test_taking_back_a_card_that_added_a_file_removes_it(workspace: Workspace):
    put(workspace.root, {"new/deep/file.py": "x = 1\n"})
    workspace.commit_card("r", "c1", "Add")

    move_record(workspace, workspace.card("c1"), CommitKind.REVERT)

    assert not (workspace.root / "new").exists()


def test_only_some_paths_go_back(workspace: Workspace):
    put(workspace.root, {"new/x.py": "x\n", "new/y.py": "y\n", "a.txt": "changed\n"})
    workspace.commit_card("r", "c1", "Three files")

    move_record(workspace, workspace.card("c1"), CommitKind.REVERT, ["new/x.py", "a.txt"])

    assert not (workspace.root / "new/x.py").exists()
    assert (workspace.root / "new/y.py").read_text() == "y\n"
    assert (workspace.root / "a.txt").read_text() == TEXT
    with pytest.raises(UsageError, match="did not touch d"):
        move_record(workspace, workspace.card("c1"), CommitKind.REVERT, ["d"])


def test_revert_lists_losses_and_changes_nothing(workspace: Workspace):
    put(workspace.root, {"new.py": "x = 1\n"})
    edit(workspace.root, 2, "two")
    workspace.commit_card("r", "c1", "Add")
    put(workspace.root, {"new.py": "x = 2\n"})
    before = contents(workspace.root)

    with pytest.raises(Diverged, match=r"would lose later work: new\.py") as refusal:
        move_record(workspace, workspace.card("c1"), CommitKind.REVERT)
    assert refusal.value.losses == ("new.py",)
    assert contents(workspace.root) == before

    moved = move_record(workspace, workspace.card("c1"), CommitKind.REVERT, force=True)
    assert [loss.path for loss in moved.lost] == ["new.py"]
    assert not (workspace.root / "new.py").exists()
    assert (workspace.root / "a.txt").read_text() == TEXT


def test_work_in_progress_stays_out_of_the_revert_and_gets_into_the_next_card(workspace: Workspace):
    edit(workspace.root, 2, "two")
    workspace.commit_card("r", "c1", "Two")
    put(workspace.root, {"progress.txt": "not done\n"})

    move_record(workspace, workspace.card("c1"), CommitKind.REVERT)
    reverted = workspace.history()[-1]
    workspace.commit_card("r", "c2", "Progress")

    assert workspace.file_at(reverted.after, "progress.txt") is None
    assert workspace.file_at(workspace.card("c2").after, "progress.txt") == b"not done\n"
    assert [step.step for step in workspace.history()] == [
        CommitKind.CARD,
        CommitKind.REVERT,
        CommitKind.CARD,
    ]


def test_a_card_that_is_not_there_is_named_with_those_that_are(workspace: Workspace):
    workspace.commit_card("r", "c1", "Empty")

    with pytest.raises(NotFound, match="changed something: c1"):
        workspace.card("c2")
    with pytest.raises(UsageError, match="run r, not of q"):
        workspace.commit_card("q", "c2", "x")


class Dying(GitTrees):
    """A store that fails after some files were read, as a killed process would stop there."""

    reads_left = 1

    def contents(self, blobs: Sequence[str]) -> dict[str, bytes]:
        self.reads_left -= 1
        if self.reads_left < 0:
            raise KeyboardInterrupt
        return super().contents(blobs)


@pytest.mark.parametrize("finish", [True, False], ids=["finished", "rolled back"])
def test_a_revert_that_died_half_way_can_be_finished_or_undone(tmp_path, finish: bool):
    root = tmp_path / "proj"
    root.mkdir()
    put(root, {f"f{n:03}.txt": f"{n}\n" for n in range(200)})
    with open_workspace(root, "r", tmp_path / "state", in_place=True) as workspace:
        put(root, {f"f{n:03}.txt": f"changed {n}\n" for n in range(200)})
        put(root, {"added.txt": "a\n"})
        changed = contents(root)
        back = [change.inverse() for change in workspace.changed_since(workspace.base)]
        dying = Dying(workspace.trees.depot, root, workspace.directory / "index")
        with pytest.raises(KeyboardInterrupt):
            Writer(dying, root, workspace.writer.note).perform("revert", back)

        assert workspace.writer.unfinished_title() == "revert"
        half = contents(root)
        assert half != changed
        if finish:
            assert workspace.writer.finish() == "revert"
            assert workspace.tree_hash() == workspace.base
        else:
            assert workspace.writer.roll_back() == "revert"
            assert contents(root) == changed
        assert workspace.writer.unfinished_title() is None


def test_finished_revert_keeps_later_changes(tmp_path):
    root = tmp_path / "proj"
    root.mkdir()
    put(root, {f"f{n:03}.txt": f"{n}\n" for n in range(200)})
    with open_workspace(root, "r", tmp_path / "state", in_place=True) as workspace:
        put(root, {f"f{n:03}.txt": f"changed {n}\n" for n in range(200)})
        back = [change.inverse() for change in workspace.changed_since(workspace.base)]
        with pytest.raises(KeyboardInterrupt):
            Writer(
                Dying(workspace.trees.depot, root, workspace.directory / "index"),
                root,
                workspace.writer.note,
            ).perform("revert", back)
        put(root, {"f199.txt": "by hand\n"})

        with pytest.raises(Diverged, match="f199"):
            workspace.writer.finish()
        assert (root / "f199.txt").read_text() == "by hand\n"


@pytest.fixture
def merged(tmp_path: Path, desk: ProjectPlaces):
    repo = repository(tmp_path / "proj", FILES)
    with open_workspace(repo, "r", desk.state_dir, in_place=False, home=tmp_path) as workspace:
        edit(workspace.root, 2, "two")
        workspace.commit_card("r", "c1", "Two")
        put(workspace.root, {"new.py": "x = 1\n"})
        workspace.commit_card("r", "c2", "New", ["e1", "e2"])
    return repo


def test_merging_puts_the_cards_on_the_users_branch(merged: Path, desk: ProjectPlaces):
    report = merge(desk, "r")

    assert report.files == ("a.txt", "new.py")
    assert git(merged, "log", "--format=%s", "main").split() == ["New", "Two", "start"]
    assert git(merged, "status", "--porcelain") == ""
    assert "Flyball-Evidence: e1" in git(merged, "log", "-1", "--format=%B")
    with pytest.raises(AlreadyMerged):
        merge(desk, "r")
    assert unmerged_cards(desk, "r") == ()


def test_merging_onto_a_branch_that_moved_on_keeps_both(merged: Path, desk: ProjectPlaces):
    edit(merged, 18, "eighteen")
    git(merged, "commit", "-q", "-a", "-m", "Mine")

    merge(desk, "r")

    assert git(merged, "log", "--format=%s").split() == ["New", "Two", "Mine", "start"]
    assert "eighteen" in (merged / "a.txt").read_text()
    assert git(merged, "status", "--porcelain") == ""
    assert "flyball: merge run r" in git(merged, "reflog", "-1")


def test_merging_keeps_staged_and_unstaged_work(merged: Path, desk: ProjectPlaces):
    edit(merged, 18, "staged")
    git(merged, "add", "a.txt")
    put(merged, {"d/b.txt": "unstaged\n", "own.txt": "untracked\n"})

    merge(desk, "r")

    assert git(merged, "status", "--porcelain").splitlines() == [
        "M  a.txt",
        " M d/b.txt",
        "?? own.txt",
    ]
    assert "staged" in (merged / "a.txt").read_text()
    assert "two" in (merged / "a.txt").read_text()
    assert "staged" not in git(merged, "show", "HEAD:a.txt")


@pytest.mark.parametrize(
    "trouble", ["edited", "staged", "ignored", "committed", "lock", "detached"]
)
def test_merging_refuses_when_the_user_would_lose_something(
    merged: Path, desk: ProjectPlaces, trouble: str
):
    error: type[FlyballError] = Diverged
    if trouble in ("edited", "staged", "committed"):
        edit(merged, 2, "mine")
    if trouble in ("staged", "committed"):
        git(merged, "add", "a.txt")
    if trouble == "committed":
        git(merged, "commit", "-q", "-m", "Mine")
    if trouble == "ignored":
        put(merged, {".git/info/exclude": "new.py\n", "new.py": "precious\n"})
    if trouble == "lock":
        put(merged, {".git/index.lock": ""})
        error = IndexLocked
    if trouble == "detached":
        git(merged, "checkout", "-q", "--detach")
        error = Conflict
    files, refs = contents(merged), git(merged, "for-each-ref")
    index = (merged / ".git/index").read_bytes()

    with pytest.raises(error) as refusal:
        merge(desk, "r")

    if trouble == "detached":
        assert "git switch -c" in refusal.value.hint
    assert contents(merged) == files
    assert git(merged, "for-each-ref") == refs
    assert (merged / ".git/index").read_bytes() == index


def test_merged_card_is_reverted_in_the_checkout(merged: Path, desk: ProjectPlaces):
    merge(desk, "r")
    assert foresee(desk, "r", "c2", CommitKind.REVERT, ()).is_safe

    moved, where = move_card(desk, "r", "c2", CommitKind.REVERT, (), force=False)
    assert where == merged
    assert not (merged / "new.py").exists()
    assert moved.commit == ""
    abandon(desk, "r")
    move_card(desk, "r", "c2", CommitKind.APPLY, (), force=False)
    assert git(merged, "status", "--porcelain") == ""
    assert show_card(desk, "r", "c2").record.title == "New"
    with pytest.raises(NotFound, match="no run 'q'"):
        show_card(desk, "q", "c2")


def test_unmerged_card_is_reverted_in_the_worktree_only(merged: Path, desk: ProjectPlaces):
    before = own_state(merged)
    _, where = move_card(desk, "r", "c2", CommitKind.REVERT, (), force=False)

    assert where != merged
    assert contents(merged) == before["files"]
    assert show_card(desk, "r", "c2").is_reverted
    assert [record.card for record in unmerged_cards(desk, "r")] == ["c1", "c2"]


@pytest.mark.parametrize("with_git", [True, False])
def test_cards_are_done_over_elsewhere(merged: Path, desk: ProjectPlaces, tmp_path, with_git: bool):
    other = tmp_path / "other"
    files: dict[str, str | bytes] = {"a.txt": TEXT.replace("line 18", "drifted"), "c": "c\n"}
    if with_git:
        repository(other, files)
    else:
        other.mkdir()
        put(other, files)

    report = replay_run(desk, "r", other)

    assert [each.fate for each in report] == [ReplayStatus.APPLIED, ReplayStatus.APPLIED]
    assert report[0].drifted == ("a.txt",)
    assert (other / "new.py").exists()
    assert "two" in (other / "a.txt").read_text()
    assert [each.fate for each in replay_run(desk, "r", other)] == [
        ReplayStatus.ALREADY,
        ReplayStatus.ALREADY,
    ]


def test_doing_over_writes_nothing_when_a_card_does_not_fit(
    merged: Path, desk: ProjectPlaces, tmp_path
):
    other = tmp_path / "other"
    other.mkdir()
    put(other, {"a.txt": TEXT.replace("line 2\n", "otherwise\n")})
    before = contents(other)

    report = replay_run(desk, "r", other)

    assert [each.fate for each in report] == [ReplayStatus.REFUSED]
    assert report[0].clashes[0].path == "a.txt"
    assert contents(other) == before
    with pytest.raises(NotFound):
        replay_run(desk, "r", tmp_path / "nowhere")


def test_without_git_cards_are_replayed_and_merging_is_off(tmp_path, desk: ProjectPlaces):
    put(desk.repo, FILES)
    other = tmp_path / "other"
    put(other, FILES)
    with open_workspace(desk.repo, "r", desk.state_dir, in_place=False) as workspace:
        edit(workspace.root, 2, "two")
        workspace.commit_card("r", "c1", "Two")

    replay_run(desk, "r", other)

    assert contents(other) == contents(desk.repo)
    with pytest.raises(UsageError, match="no git repository"):
        merge(desk, "r")
    with pytest.raises(UsageError, match="worked in"):
        replay_run(desk, "r", desk.repo)


@pytest.fixture
def noted(tmp_path: Path, desk: ProjectPlaces):
    """A run whose only card removed a file that the user never gave to git."""
    repo = repository(tmp_path / "proj", FILES)
    put(repo, {"my notes.txt": "mine\n"})
    with open_workspace(repo, "r", desk.state_dir, in_place=False, home=tmp_path) as workspace:
        edit(workspace.root, 2, "two")
        (workspace.root / "my notes.txt").unlink()
        workspace.commit_card("r", "c1", "Two")
    return repo


def test_merging_leaves_what_is_in_no_commit(noted: Path, desk: ProjectPlaces):
    report = merge(desk, "r")

    assert (report.files, report.kept) == (("a.txt",), ("my notes.txt",))
    assert (noted / "my notes.txt").read_text() == "mine\n"
    put(noted, {"my notes.txt": "mine, later\n"})
    moved, _ = move_card(desk, "r", "c1", CommitKind.REVERT, (), force=False)
    assert [change.path for change in moved.writes] == ["a.txt"]
    assert (noted / "my notes.txt").read_text() == "mine, later\n"


def test_removed_untracked_file_is_restored_by_a_revert(noted: Path, desk: ProjectPlaces):
    assert merge(desk, "r", remove_untracked=True).kept == ()
    assert not (noted / "my notes.txt").exists()
    moved, _ = move_card(desk, "r", "c1", CommitKind.REVERT, ["my notes.txt"], force=False)

    assert [change.path for change in moved.writes] == ["my notes.txt"]
    assert (noted / "my notes.txt").read_text() == "mine\n"
    assert git(noted, "status", "--porcelain") == '?? "my notes.txt"\n'


def test_doing_over_does_not_remove_what_is_in_no_commit_there(
    noted: Path, desk: ProjectPlaces, tmp_path: Path
):
    other = repository(tmp_path / "other", FILES)
    put(other, {"my notes.txt": "mine\n"})
    with open_workspace(noted, "r", desk.state_dir, in_place=False, home=tmp_path) as workspace:
        put(workspace.root, {"made.py": "x = 1\n"})
        workspace.commit_card("r", "c2", "Made")

    (report,) = replay_run(desk, "r", other)

    assert report.fate is ReplayStatus.REFUSED
    assert [clash.path for clash in report.clashes] == ["my notes.txt"]
    assert (other / "my notes.txt").read_text() == "mine\n"


def test_worktree_copy_is_reverted_and_reapplied(noted: Path, desk: ProjectPlaces):
    moved, where = move_card(desk, "r", "c1", CommitKind.REVERT, (), force=False)
    assert {change.path for change in moved.writes} == {"a.txt", "my notes.txt"}
    assert (where / "my notes.txt").read_text() == "mine\n"
    move_card(desk, "r", "c1", CommitKind.APPLY, (), force=False)
    assert not (where / "my notes.txt").exists()
    assert (noted / "my notes.txt").read_text() == "mine\n"
