"""Create a run's workspace, or find it again after a crash: `open_workspace`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from flyball.errors import Conflict, NotFound, UsageError
from flyball.workspace.errors import explain_disk_errors
from flyball.workspace.files.plain import read_plain
from flyball.workspace.run.lock import WorkspaceLock
from flyball.workspace.run.visible import find_trees_home, own_folders, visible_name
from flyball.workspace.run.workspace import Workspace, WorkspaceFacts
from flyball.workspace.run.worktree import (
    Carried,
    RunBranch,
    add_worktree,
    carry,
    forget_worktrees,
    give_index,
    head_tree,
    remove_trees_home,
    remove_whole,
    remove_worktree,
    share_index,
)
from flyball.workspace.trees.git import (
    Door,
    Git,
    Repository,
    UserConfig,
    check_run_name,
    find_git,
    find_repository,
    make_depot,
    read_user_config,
    user_git,
)
from flyball.workspace.trees.git_trees import GitTrees, open_private
from flyball.workspace.trees.ignore import MOST_RULES, NEVER_KEPT, ignore_line
from flyball.workspace.trees.trees import LARGE
from flyball.workspace.trees.working_form import WorkingForm, find_stores, make_converting


class OpenRepository(NamedTuple):
    """A repository, our two ways to access it, and its user's configuration."""

    repository: Repository
    user: Git
    depot: Git
    config: UserConfig
    form: WorkingForm
    apart: tuple[str, ...]
    """Flyball's own directories in the checkout."""


STEPS = 3
"""So many steps are told of while a run's own tree is made."""


def _ignore_step(_step: str) -> None:
    """Ignore the stage."""


def open_workspace(
    repo: Path,
    run: str,
    state_dir: Path,
    *,
    in_place: bool,
    large: int = LARGE,
    home: Path | None = None,
    is_held: bool = True,
    step: Callable[[str], None] = _ignore_step,
) -> Workspace:
    """Open the workspace of a run: its own worktree, or the checkout if in place or without git.

    If `is_held` is false, no lock is taken, and nothing may work in it until it is locked. `step`
    is called with each of the `STEPS` as it begins.
    """
    project = _project_directory(repo)
    directory = state_dir / "runs" / check_run_name(run)
    repository = find_repository(project)
    in_place = in_place or repository is None
    lock = None
    if is_held and in_place:
        lock = lock_checkout(state_dir, project)
    elif is_held:
        lock = WorkspaceLock(state_dir / f"locks/{run}", f"The workspace of run {run}")
    try:
        opened = repository and open_repository(repository, directory, home or Path.home(), lock)
        if facts := find_workspace(run, state_dir):
            return _reopen(facts, directory, opened, lock, large)
        with explain_disk_errors(os.fspath(directory)):
            place = find_trees_home(directory, home or Path.home())
            if opened is None:
                apart = own_folders(project, directory, home or Path.home())
                return _make_without_git(project, run, directory, place, lock, large, apart)
            return _make_with_git(
                opened, run, directory, place, lock, large, step, in_place=in_place
            )
    # Including Ctrl-C: a failed opening must not lock others out until the process ends.
    except BaseException:
        if lock:
            lock.release()
        raise


def lock_checkout(state_dir: Path, project: Path) -> WorkspaceLock:
    """Lock the checkout against other processes; raise `WorkspaceHeld` if it is locked."""
    return WorkspaceLock(state_dir / "checkout.lock", os.fspath(project))


def peek_workspace(run: str, state_dir: Path, *, home: Path | None = None) -> Workspace:
    """Open a run's workspace for reading, whoever holds it."""
    facts = find_workspace(run, state_dir)
    if facts is None:
        raise unknown_run(run, state_dir)
    directory = state_dir / "runs" / run
    repository = find_repository(Path(facts.project)) if facts.has_git else None
    opened = repository and open_repository(repository, directory, home or Path.home())
    return _reopen(facts, directory, opened, None, LARGE)


def unknown_run(run: str, state_dir: Path) -> NotFound:
    """Return the error for a run without stored data."""
    known = sorted(file.parent.name for file in state_dir.glob("runs/*/workspace.json"))
    listed = ", ".join(known[-5:]) if known else "none"
    return NotFound("run", run, f"Runs kept for this project: {listed}.")


def find_workspace(run: str, state_dir: Path) -> WorkspaceFacts | None:
    """Return a run's workspace facts without opening it."""
    file = state_dir / "runs" / check_run_name(run) / "workspace.json"
    try:
        text = file.read_text()
    except FileNotFoundError:
        # There is none, or it was deleted while runs were listed.
        return None
    return msgspec.convert(json.loads(text), WorkspaceFacts)


def _project_directory(repo: Path) -> Path:
    if not repo.is_dir():
        raise NotFound("directory", os.fspath(repo), "Name the directory of a project.")
    return repo.resolve()


def open_repository(
    repository: Repository, directory: Path, home: Path, door: Door | None = None
) -> OpenRepository:
    """Open a depot that borrows the repository's objects, with the few safe calls into it."""
    program = find_git()
    user = user_git(repository, program, door)
    config = read_user_config(user, repository, home)
    with explain_disk_errors(os.fspath(directory)):
        exclude = repository.common / "info/exclude"
        ignored = os.fsdecode(read_plain(exclude, MOST_RULES) or b"")
        apart = own_folders(repository.top, directory, home)
        own = "\n".join(map(ignore_line, apart))
        depot = make_depot(
            directory / "git",
            program=program,
            borrow=[repository.objects, *find_stores(repository)],
            object_format=config.object_format,
            excludes=config.excludes,
            ignored=f"{ignored}\n{NEVER_KEPT}\n{own}\n",
            door=door,
        )
        attributes = read_plain(repository.common / "info/attributes", MOST_RULES) or b""
        make_converting(depot.directory, config.conversion, config.filters, attributes)
    return OpenRepository(repository, user, depot, config, WorkingForm(depot, repository), apart)


def _make_with_git(
    opened: OpenRepository,
    run: str,
    directory: Path,
    trees_home: Path,
    lock: WorkspaceLock | None,
    large: int,
    step: Callable[[str], None],
    *,
    in_place: bool,
) -> Workspace:
    repository, user, depot, config, form, _ = opened
    branch = RunBranch(run, repository, user, depot, config.identity, in_place=in_place)
    own_tree = trees_home / "tree" / visible_name(repository.top.name)
    place = repository.top if in_place else own_tree
    # The record that a workspace exists is written last, by `_record_facts`; until then the next
    # opening may find any step incomplete, deletes everything and starts again.
    _clear_leftovers(branch, repository, directory, None if in_place else place)
    start = user.resolve("HEAD^{commit}") or ""
    if start:
        (depot.directory / "HEAD").write_text(f"{start}\n")
    # The user's uncommitted work is included: their request is about the files they see, not about
    # HEAD.
    step("reading your checkout")
    carried = carry(form, repository, directory / "carry.index", large)
    step("writing the run's tree")
    base_commit = _begin_branch(branch, carried, start)
    trees = GitTrees(depot, place, directory / "index", large=large)
    if in_place:
        trees.enable_scanning()
        trees.seed(carried.files, write=False)
    else:
        add_worktree(user, repository, place, branch.ref)
        _fill_worktree(opened, trees, directory / "index", carried)
    step("reading it back")
    base = trees.capture().tree
    (depot.directory / "HEAD").write_text(trees.commit_object(base) + "\n")
    facts = WorkspaceFacts(
        run,
        os.fspath(repository.top),
        os.fspath(place),
        in_place,
        base,
        base_commit,
        start,
        carried.not_carried,
        trees_home=os.fspath(trees_home),
        apart=opened.apart,
    )
    return _record_facts(Workspace(facts, directory, trees, branch, lock))


def _fill_worktree(opened: OpenRepository, trees: GitTrees, index: Path, carried: Carried) -> None:
    """Write the user's files into a run's own worktree, and git's index beside them."""
    place = trees.root
    trees.seed(carried.files, write=True)
    for path in carried.missing:
        # As git creates it: without the directory it would report the submodule as deleted.
        (place / path).mkdir(parents=True, exist_ok=True)
    if carried.files == carried.tree:
        give_index(opened.repository, place, index)
    else:
        converting, outside = opened.form.converting, opened.form.outside
        share_index(converting, opened.repository, place, carried.tree, outside)


def _begin_branch(branch: RunBranch, carried: Carried, start: str) -> str:
    """Start the run's branch at the user's commit, with their uncommitted work on top."""
    if start and head_tree(branch.depot) == carried.tree:
        branch.user.set_ref(branch.ref, start, "0" * len(start))
        return start
    trailers = [("Flyball-Run", branch.run), ("Flyball-Carried", "yes")]
    commit = branch.write_commit(carried.tree, start or None, "Carry in uncommitted work", trailers)
    branch.publish(commit, start or None)
    branch.user.set_ref(branch.ref, commit, "0" * len(commit))
    return commit


def _clear_leftovers(
    branch: RunBranch, repository: Repository, directory: Path, place: Path | None
) -> None:
    """Undo an incomplete opening of a dead process; refuse if the branch has any work."""
    if branch.tip():
        if branch.history() or not (directory / "begun").exists():
            raise Conflict(
                f"The branch flyball/{branch.run} exists already, without its workspace.",
                "Choose another run name, or delete that branch if you do not need it.",
            )
        if place:
            remove_worktree(repository, place)
        branch.delete()
    (directory / "begun").touch()
    for file in ("index", "carry.index"):
        (directory / file).unlink(missing_ok=True)


def _make_without_git(
    project: Path,
    run: str,
    directory: Path,
    trees_home: Path,
    lock: WorkspaceLock | None,
    large: int,
    apart: Sequence[str],
) -> Workspace:
    trees = open_private(
        directory, project, program=find_git(), large=large, apart=apart, door=lock
    )
    trees.enable_scanning()
    captured = trees.capture()
    place = os.fspath(project)
    facts = WorkspaceFacts(
        run,
        place,
        place,
        True,
        captured.tree,
        carried_skipped=captured.skipped,
        apart=tuple(apart),
        trees_home=os.fspath(trees_home),
    )
    return _record_facts(Workspace(facts, directory, trees, None, lock))


def _record_facts(workspace: Workspace) -> Workspace:
    file = workspace.directory / "workspace.json"
    spare = file.with_suffix(".new")
    spare.write_text(json.dumps(msgspec.to_builtins(workspace.facts)))
    spare.replace(file)
    (workspace.directory / "carry.index").unlink(missing_ok=True)
    return workspace


def _reopen(
    facts: WorkspaceFacts,
    directory: Path,
    opened: OpenRepository | None,
    lock: WorkspaceLock | None,
    large: int,
) -> Workspace:
    root = Path(facts.root)
    if not root.is_dir():
        raise NotFound(
            "directory", facts.root, f"The workspace of run {facts.run} was deleted; prune it."
        )
    if not facts.has_git:
        own = facts.apart
        trees = open_private(directory, root, program=find_git(), large=large, apart=own, door=lock)
        trees.enable_scanning()
        return Workspace(facts, directory, trees, None, lock)
    if opened is None:
        raise UsageError(
            f"Run {facts.run} was made with git, which is not usable here now.",
            "Install git, or restore the project's .git directory.",
        )
    trees = GitTrees(opened.depot, root, directory / "index", large=large)
    if facts.in_place:
        trees.enable_scanning()
    branch = RunBranch(
        facts.run,
        opened.repository,
        opened.user,
        opened.depot,
        opened.config.identity,
        in_place=facts.in_place,
    )
    return Workspace(facts, directory, trees, branch, lock)


def forget_run(run: str, state_dir: Path) -> None:
    """Delete all data of a run whose worktree or repository is gone."""
    directory = state_dir / "runs" / check_run_name(run)
    facts = find_workspace(run, state_dir)
    if facts and (repository := find_repository(Path(facts.project))):
        forget_worktrees(repository, directory)
        forget_worktrees(repository, Path(facts.trees_home or directory))
    if facts and facts.trees_home:
        remove_trees_home(Path(facts.trees_home))
    remove_whole(directory)
