"""Our own git calls run nothing that somebody planted; trees without git are told apart."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.repos import git, put, repository
from tests.tiers import sampled

from flyball.errors import ToolUnavailable, UsageError
from flyball.workspace.cards.merge_run import merge_run, open_checkout
from flyball.workspace.cards.revert import move_record
from flyball.workspace.run.opening import open_workspace
from flyball.workspace.run.worktree import CommitKind
from flyball.workspace.trees.git import check_run_name, find_git, find_repository
from flyball.workspace.trees.git_trees import open_private

FILES: dict[str, str | bytes] = {
    "a.txt": "one\ntwo\nthree\n",
    "c.txt": "c\n",
    "d/b.txt": "b\n",
    "img.bin": b"\0\1",
}


class Trap(NamedTuple):
    """A repository and a script in it that leaves a trace when anybody runs it."""

    repo: Path
    script: Path
    trace: Path

    def set(self, key: str, value: str | None = None) -> None:
        git(self.repo, "config", key, str(self.script) if value is None else value)

    def attributes(self, text: str) -> None:
        (self.repo / ".git/info").mkdir(exist_ok=True)
        (self.repo / ".git/info/attributes").write_text(f"* {text}\n")
        put(self.repo, {".gitattributes": f"* {text}\n"})

    def user_does(self, *args: str) -> None:
        git(self.repo, *args, check=False)


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    repo = repository(tmp_path / "repo", FILES)
    script = tmp_path / "script"
    trace = tmp_path / "trace"
    script.write_text(f'#!/bin/sh\necho "$0 $@" >> {shlex.quote(str(trace))}\nexit 0\n')
    script.chmod(0o755)
    return Trap(repo, script, trace)


HOOKS = (
    "pre-commit",
    "post-commit",
    "post-checkout",
    "post-index-change",
    "reference-transaction",
    "pre-merge-commit",
    "post-merge",
    "commit-msg",
    "prepare-commit-msg",
    "pre-auto-gc",
    "post-rewrite",
    "fsmonitor-watchman",
)


def hooks(trap: Trap) -> None:
    for name in HOOKS:
        (trap.repo / ".git/hooks" / name).write_text(trap.script.read_text())
        (trap.repo / ".git/hooks" / name).chmod(0o755)


def hooks_path(trap: Trap) -> None:
    hooks(trap)
    (trap.repo / ".git/hooks").rename(trap.repo / "hooks")
    trap.set("core.hooksPath", str(trap.repo / "hooks"))


def monitor(trap: Trap) -> None:
    trap.set("core.fsmonitor")


def external_diff(trap: Trap) -> None:
    trap.set("diff.external")
    put(trap.repo, {"a.txt": "changed\n"})


def text_conversion(trap: Trap) -> None:
    trap.set("diff.evil.textconv")
    trap.attributes("diff=evil")
    put(trap.repo, {"a.txt": "changed\n"})


def diff_command(trap: Trap) -> None:
    trap.set("diff.evil.command")
    trap.attributes("diff=evil")
    put(trap.repo, {"a.txt": "changed\n"})


def clean_filter(trap: Trap) -> None:
    for verb in ("clean", "smudge"):
        trap.set(f"filter.evil.{verb}")
    trap.attributes("filter=evil")
    put(trap.repo, {"a.txt": "changed\n"})


def process_filter(trap: Trap) -> None:
    trap.set("filter.evil.process")
    trap.set("filter.evil.required", "true")
    trap.attributes("filter=evil")
    put(trap.repo, {"a.txt": "changed\n"})


def large_file_filter(trap: Trap) -> None:
    for verb in ("clean", "smudge"):
        trap.set(f"filter.lfs.{verb}", f"{trap.script} %f")
    trap.attributes("filter=lfs diff=lfs merge=lfs -text")
    put(trap.repo, {"a.txt": "version https://git-lfs.github.com/spec/v1\nchanged\n"})


def merge_driver(trap: Trap) -> None:
    trap.set("merge.evil.driver", f"{trap.script} %O %A %B")
    trap.attributes("merge=evil")
    git(trap.repo, "checkout", "-q", "-b", "side")
    put(trap.repo, {"a.txt": "one!\ntwo\nthree\n"})
    git(trap.repo, "commit", "-q", "-a", "-m", "side")
    git(trap.repo, "checkout", "-q", "main")
    put(trap.repo, {"a.txt": "one\ntwo\nthree!\n"})
    git(trap.repo, "commit", "-q", "-a", "-m", "main")


def included(trap: Trap) -> None:
    put(trap.repo, {"evil.inc": f"[core]\n\tfsmonitor = {trap.script}\n"})
    trap.set("include.path", str(trap.repo / "evil.inc"))


def included_if(trap: Trap) -> None:
    put(trap.repo, {"evil.inc": f"[core]\n\tfsmonitor = {trap.script}\n"})
    trap.set(f"includeIf.gitdir:{trap.repo}/.path", str(trap.repo / "evil.inc"))


def worktree_settings(trap: Trap) -> None:
    trap.set("extensions.worktreeConfig", "true")
    put(trap.repo, {".git/config.worktree": f"[core]\n\tfsmonitor = {trap.script}\n"})


def signing(trap: Trap) -> None:
    trap.set("gpg.program")
    trap.set("commit.gpgSign", "true")
    trap.set("log.showSignature", "true")


def editor(trap: Trap) -> None:
    trap.set("core.editor")
    trap.set("sequence.editor")


def transport(trap: Trap) -> None:
    trap.set("core.sshCommand")
    trap.set("credential.helper", f"!{trap.script}")
    trap.set("core.gitProxy")
    trap.set("remote.origin.url", "ssh://example.invalid/x")
    trap.set("remote.origin.uploadpack")


def promisor(trap: Trap) -> None:
    trap.set("extensions.partialClone", "origin")
    trap.set("core.repositoryFormatVersion", "1")
    trap.set("remote.origin.promisor", "true")
    trap.set("remote.origin.partialclonefilter", "blob:none")
    trap.set("remote.origin.url", str(trap.repo.parent / "nowhere"))
    trap.set("remote.origin.uploadpack")


def extension_transport(trap: Trap) -> None:
    promisor(trap)
    trap.set("protocol.ext.allow", "always")
    trap.set("remote.origin.url", f"ext::{trap.script} x")


def alias(trap: Trap) -> None:
    for verb in ("status", "update-index", "write-tree", "st"):
        trap.set(f"alias.{verb}", f"!{trap.script}")


def elsewhere(trap: Trap) -> None:
    outside = trap.repo.parent / "outside"
    outside.mkdir()
    trap.set("core.worktree", str(outside))
    monitor(trap)


def nested_bare(trap: Trap) -> None:
    git(trap.repo, "init", "-q", "--bare", "inner")
    git(trap.repo / "inner", "config", "core.fsmonitor", str(trap.script))
    git(trap.repo / "inner", "config", "core.bare", "false")
    git(trap.repo / "inner", "config", "core.worktree", "..")


def nested_repository(trap: Trap) -> None:
    inner = repository(trap.repo / "inner", {"x.txt": "x\n"})
    git(inner, "config", "core.fsmonitor", str(trap.script))
    git(inner, "config", "filter.evil.clean", str(trap.script))
    put(inner, {"x.txt": "changed\n"})


def submodule(trap: Trap) -> None:
    other = repository(trap.repo.parent / "other", {"x.txt": "x\n"})
    git(trap.repo, "submodule", "--quiet", "add", str(other), "sub")
    git(trap.repo, "commit", "-q", "-m", "sub")
    git(trap.repo / "sub", "config", "core.fsmonitor", str(trap.script))
    trap.set("submodule.sub.update", f"!{trap.script}")
    trap.set("submodule.recurse", "true")
    put(trap.repo, {"sub/x.txt": "changed\n"})


def odd_commands(trap: Trap) -> None:
    trap.set("core.alternateRefsCommand")
    trap.set("uploadpack.packObjectsHook")
    trap.set("trailer.flyball-run.command")
    trap.set("interactive.diffFilter")
    trap.set("core.pager")
    trap.set("pager.status", str(trap.script))
    trap.set("core.askPass")


class Plant(NamedTuple):
    """A trap, and what a user would do to fall into it (nothing: no simple command does)."""

    lay: Callable[[Trap], None]
    trigger: tuple[str, ...] = ()


PLANTS = (
    Plant(hooks, ("commit", "--allow-empty", "-m", "x")),
    Plant(hooks_path, ("commit", "--allow-empty", "-m", "x")),
    Plant(monitor, ("status",)),
    Plant(external_diff, ("diff",)),
    Plant(text_conversion, ("diff",)),
    Plant(diff_command, ("diff",)),
    Plant(clean_filter, ("add", "-A")),
    Plant(process_filter, ("add", "-A")),
    Plant(large_file_filter, ("add", "-A")),
    Plant(merge_driver, ("merge", "side")),
    Plant(included, ("status",)),
    Plant(included_if, ("status",)),
    Plant(worktree_settings, ("status",)),
    Plant(signing, ("commit", "--allow-empty", "-m", "x")),
    Plant(editor, ("commit", "--allow-empty")),
    Plant(transport, ("fetch",)),
    Plant(promisor, ("cat-file", "-p", "1" * 40)),
    Plant(extension_transport, ("cat-file", "-p", "1" * 40)),
    Plant(alias, ("st",)),
    Plant(elsewhere, ("status",)),
    Plant(nested_bare),
    Plant(nested_repository),
    Plant(submodule, ("status",)),
    Plant(odd_commands, ("commit", "--allow-empty", "-m", "x", "--trailer", "flyball-run=x")),
)


def live(repo: Path, state: Path, *, in_place: bool) -> None:
    """Everything we ever do with git, once."""
    workspace = open_workspace(repo, "r", state, in_place=in_place)
    workspace.snapshot("first")
    put(workspace.root, {"c.txt": "c!\n", "new.txt": "n\n", "inner/y.txt": "y\n"})
    workspace.diff(workspace.base)
    workspace.changed_since(workspace.base)
    workspace.commit_card("r", "c1", "Change", ["e1"])
    workspace.checkout_scratch(workspace.base)
    put(workspace.root, {"d/b.txt": "more\n"})
    workspace.commit_card("r", "c2", "Change again")
    move_record(workspace, workspace.card("c1"), CommitKind.REVERT, ["c.txt"])
    move_record(workspace, workspace.card("c1"), CommitKind.APPLY)
    here = workspace.tree_hash()
    side = workspace.open_side("c3", here)
    put(side.root, {"c.txt": "c?\n", "beside.txt": "s\n"})
    assert workspace.merge_card("c3", "Beside", here, side.tree_hash()).commit
    workspace.roll_back(here)
    workspace.discard_side("c3")
    checkout = open_checkout(workspace, workspace.project, state)
    try:
        merge_run(workspace, checkout)
    finally:
        checkout.close()
    workspace.restore(workspace.base)
    assert workspace.verify() == ()
    workspace.prune(max_count=0)
    workspace.remove()


@pytest.mark.slow
@pytest.mark.parametrize("in_place", [False, True], ids=["worktree", "in-place"])
@pytest.mark.parametrize("plant", sampled(PLANTS, 8, lambda plant: plant.lay.__name__))
def test_nothing_planted_in_a_repository_is_run(plant: Plant, in_place: bool, trap: Trap, tmp_path):
    plant.lay(trap)
    trap.trace.unlink(missing_ok=True)

    live(trap.repo, tmp_path / "state", in_place=in_place)

    assert not trap.trace.exists(), trap.trace.read_text()


@pytest.mark.parametrize(
    "plant", [plant for plant in PLANTS if plant.trigger], ids=lambda plant: plant.lay.__name__
)
def test_the_traps_are_real(plant: Plant, trap: Trap):
    plant.lay(trap)
    trap.trace.unlink(missing_ok=True)

    trap.user_does(*plant.trigger)

    assert trap.trace.exists()


@pytest.mark.slow
def test_callers_environment_is_ignored(trap: Trap, tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(trap.script))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(trap.script))
    monkeypatch.setenv("GIT_SSH_COMMAND", str(trap.script))

    live(trap.repo, tmp_path / "state", in_place=False)

    assert not trap.trace.exists()


def test_large_file_pointers_stay_pointers(trap: Trap, tmp_path):
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"
    put(trap.repo, {"big.psd": pointer, ".gitattributes": "*.psd filter=lfs diff=lfs -text\n"})
    git(trap.repo, "add", "-A")
    git(trap.repo, "commit", "-q", "-m", "pointer")
    put(trap.repo, {"big.psd": b"smudged!!"})
    git(trap.repo, "update-index", "--assume-unchanged", "big.psd")

    with open_workspace(trap.repo, "r", tmp_path / "state", in_place=False) as workspace:
        put(workspace.root, {"a.txt": "edited\n"})
        workspace.commit_card("r", "c1", "Edit")

        assert git(trap.repo, "diff", "--name-only", "flyball/r~1", "flyball/r") == "a.txt\n"


def test_content_is_kept_byte_for_byte_whatever_the_attributes_say(tmp_path):
    repo = repository(
        tmp_path / "repo", {".gitattributes": "* text=auto eol=crlf ident\n", "a.txt": "$Id$\n"}
    )
    mixed = b"one\r\ntwo\nthree\r\n$Id: 12 $\n"
    with open_workspace(repo, "r", tmp_path / "state", in_place=True) as workspace:
        put(repo, {"a.txt": mixed})
        kept = workspace.snapshot("mixed")
        put(repo, {"a.txt": mixed.replace(b"\r\n", b"\n")})
        assert workspace.tree_hash() != kept

        workspace.restore(kept)

        assert (repo / "a.txt").read_bytes() == mixed


@pytest.mark.parametrize("run", ["", "../x", "a/b", "-x", "a..b", "x.lock", "x.", "a b", "é"])
def test_a_run_that_cannot_name_a_branch_is_refused(run: str):
    with pytest.raises(UsageError, match="cannot name a run"):
        check_run_name(run)


def test_a_repository_is_found_from_below_and_through_links(tmp_path):
    repo = repository(tmp_path / "repo", FILES)
    git(repo, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    (tmp_path / "fake/.git").mkdir(parents=True)

    found = find_repository(tmp_path / "side")

    assert find_repository(repo / "d") == (repo, repo / ".git", repo / ".git")
    assert found is not None
    assert (found.top, found.common) == (tmp_path / "side", repo / ".git")
    assert find_repository(tmp_path / "fake") is None


@pytest.mark.parametrize("in_place", [True, False])
def test_workspaces_ask_for_git(tmp_path, monkeypatch, in_place: bool):
    repo = repository(tmp_path / "repo", FILES)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(ToolUnavailable, match="Git was not found"):
        open_workspace(repo, "r", tmp_path / "state", in_place=in_place)


def test_runs_of_older_versions_without_git_are_reverted(tmp_path: Path):
    root, state = tmp_path / "project", tmp_path / "state"
    root.mkdir()
    put(root, {"a.txt": "old\n"})
    with open_workspace(root, "r", state, in_place=True) as workspace:
        base, home = workspace.base, workspace.directory
    (home / "git/objects").rename(home / "objects")
    shutil.rmtree(home / "git")
    (home / "index").unlink()
    put(root, {"a.txt": "new\n"})

    with open_workspace(root, "r", state, in_place=True) as workspace:
        workspace.restore(base)

    assert (root / "a.txt").read_text() == "old\n"


def test_quick_edits_of_the_same_size_are_each_in_a_tree(tmp_path: Path):
    (tmp_path / "root").mkdir()
    trees = open_private(tmp_path / "store", tmp_path / "root", program=find_git())
    found: set[str] = set()
    for n in range(60):
        (tmp_path / "root" / "a.txt").write_text(f"{n:03}")
        found.add(trees.capture().tree)
    assert len(found) == 60
