"""A process that kills its own children wherever they are about to touch the system."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from tests.repos import git, put, repository

from flyball.workspace.errors import WorkspaceHeld
from flyball.workspace.run.opening import open_workspace
from flyball.workspace.run.workspace import Workspace
from flyball.workspace.run.worktree import CommitKind
from flyball.workspace.trees.trees import TreeEntry, TreeHash

TOUCHES = frozenset(
    {"os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink", "subprocess.Popen"}
)
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
LINES = [f"line {n}\n" for n in range(400)]
FILES: dict[str, str | bytes] = {"a.txt": "".join(LINES), "d/b.txt": "b\n", "old": "old\n"}


def touches(event: str, args: tuple[object, ...]) -> bool:
    """Whether something outside the process may be changed by what comes next."""
    if event == "open":
        return isinstance(args[2], int) and bool(args[2] & WRITING)
    return event in TOUCHES


def dies_at(point: int, act: Callable[[], object]) -> bool:
    """Whether a child that is killed at its so-manieth touch got that far."""
    child = os.fork()
    if child == 0:
        left = point

        def watch(event: str, args: tuple[object, ...]) -> None:
            nonlocal left
            if touches(event, args):
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(watch)
        code = 1
        try:
            act()
            code = 0
        finally:
            if code:
                traceback.print_exc()
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, -signal.SIGKILL), code
    return code != 0


class Story:
    """A run whose every act is tried with a death at one point more, then done for good."""

    def __init__(self, place: Path, *, with_git: bool, first: int, stride: int) -> None:
        self.place = place
        self.with_git = with_git
        self.first = first
        self.stride = stride
        project = place / "proj"
        if with_git:
            repository(project, FILES)
        else:
            put(project, FILES)

    def open(self) -> Workspace:
        # The lock is ours, so a git that outlived a killed child holds it for somebody who lives.
        while True:
            with suppress(WorkspaceHeld):
                return open_workspace(
                    self.place / "proj", "r", self.place / "state", in_place=False, home=self.place
                )
            time.sleep(0.01)

    def deaths(self, act: Callable[[Workspace, int], object]) -> Iterator[tuple[int, Workspace]]:
        """A workspace opened anew after each death; the last one is of an act that lived."""
        point = self.first
        died = True
        while died:
            with self.open() as workspace:
                died = dies_at(point, partial(act, workspace, point))
            with self.open() as again:
                yield point, again
            point += self.stride

    def taking_in(self) -> int:
        """Each card is taken in exactly once, whole."""

        def theirs(workspace: Workspace, point: int) -> TreeHash:
            kept = workspace.trees.keep
            lines = [*LINES[: 2 * point], f"card {point}\n", *LINES[2 * point :]]
            entries = {
                "a.txt": TreeEntry("100644", kept("".join(lines).encode())),
                f"new/{point}": TreeEntry("100755", kept(f"{point}\n".encode())),
                f"new/{point - self.stride}": None,
            }
            return workspace.trees.overlay(workspace.base, entries)

        def take(workspace: Workspace, point: int):
            tree = theirs(workspace, point)
            return workspace.merge_card(f"c{point}", f"Card {point}", workspace.base, tree)

        deaths = 0
        inserted: list[str] = []
        for point, workspace in self.deaths(take):
            deaths += 1
            inserted.append(f"card {point}\n")
            taken = take(workspace, point)
            assert taken == take(workspace, point)
            assert taken.clashes == ()
            assert [record.card for record in workspace.history()].count(f"c{point}") == 1
            assert len(workspace.history()) == deaths
            assert workspace.tree_hash() == workspace.committed_tree() == taken.tree
            text = (workspace.root / "a.txt").read_text().splitlines(keepends=True)
            assert [line for line in text if line.startswith("card")] == inserted
            assert len(text) == len(LINES) + deaths
            assert os.access(workspace.root / f"new/{point}", os.X_OK)
            self.tidy(workspace)
        return deaths

    def rolling_back(self) -> int:
        """Two cards are taken back, each once, wherever it stopped in between."""

        def prepare(workspace: Workspace, point: int) -> None:
            for n in (1, 2):
                put(workspace.root, {f"p{point}-{n}": "x\n", "old": f"{point} {n}\n"})
                workspace.commit_card("r", f"c{point}-{n}", f"Card {point}-{n}")
            put(workspace.root, {"old": "not committed\n"})

        with self.open() as workspace:
            prepare(workspace, self.first)
        deaths = 0
        for point, workspace in self.deaths(lambda each, _: each.roll_back(each.base)):
            deaths += 1
            base = workspace.base
            assert workspace.roll_back(base) == base == workspace.committed_tree()
            steps = [(step.step, step.card) for step in workspace.history()][-4:]
            assert steps == [
                (CommitKind.CARD, f"c{point}-1"),
                (CommitKind.CARD, f"c{point}-2"),
                (CommitKind.REVERT, f"c{point}-2"),
                (CommitKind.REVERT, f"c{point}-1"),
            ]
            assert len(workspace.history()) == 4 * deaths
            self.tidy(workspace)
            prepare(workspace, point + self.stride)
        return deaths

    def making(self) -> int:
        """A place is there whole, or is made anew; none is left behind."""
        deaths = 0
        for point, workspace in self.deaths(lambda each, n: each.open_side(f"c{n}", each.base)):
            deaths += 1
            side = workspace.open_side(f"c{point}", workspace.base)
            assert side.tree_hash() == workspace.base
            if self.with_git:
                assert git(side.root, "status", "--porcelain") == ""
                assert git(workspace.project, "worktree", "list").count("/beside/") == 1
            put(side.root, {"work": "w\n"})
            workspace.discard_side(f"c{point}")
            self.tidy(workspace)
            assert not list((workspace.directory / "beside").iterdir())
        return deaths

    def discarding(self) -> int:
        """A place that is half gone is never found."""

        def prepare(workspace: Workspace) -> None:
            put(workspace.open_side("c", workspace.base).root, {"work": "w\n"})

        with self.open() as workspace:
            prepare(workspace)
        deaths = 0
        for _, workspace in self.deaths(lambda each, _: each.discard_side("c")):
            deaths += 1
            side = workspace.open_side("c", workspace.base)
            if (side.root / "work").exists():
                (side.root / "work").unlink()
            assert side.tree_hash() == workspace.base
            workspace.discard_side("c")
            self.tidy(workspace)
            prepare(workspace)
        return deaths

    def tidy(self, workspace: Workspace) -> None:
        assert not list(workspace.root.rglob(".flyball-*"))
        assert not (workspace.directory / "taking.json").exists()
        assert not (workspace.directory / "pending.json").exists()
        if self.with_git:
            assert git(workspace.root, "status", "--porcelain") == ""


def main(act: str, kind: str, first: str, stride: str, place: str) -> None:
    """Play one act to its end; how many deaths it took."""
    story = Story(Path(place), with_git=kind == "git", first=int(first), stride=int(stride))
    acts = {
        "taking-in": story.taking_in,
        "rolling-back": story.rolling_back,
        "making": story.making,
        "discarding": story.discarding,
    }
    print(acts[act]())


if __name__ == "__main__":
    main(*sys.argv[1:])
