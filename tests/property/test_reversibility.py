"""Every mutation can be taken back to the byte, in any order git could."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.repos import contents, git, repository
from tests.tiers import sampled

from flyball.workspace.cards.revert import foresee_move, move_record
from flyball.workspace.errors import Diverged
from flyball.workspace.run.opening import open_workspace
from flyball.workspace.run.workspace import Workspace
from flyball.workspace.run.worktree import CommitKind

NAMES = ["a.txt", "b.py", "d/c.txt", "d/e/f.md", "g h.txt", "ü.txt", "d2/x", "bin.dat", "-dash"]
LINES = [f"line {n}\n" for n in range(8)]

texts = st.lists(st.sampled_from([*LINES, "\n", "  tab\r\n"]), max_size=14).map(
    lambda lines: "".join(lines).encode()
) | st.sampled_from([b"", b"no end", b"\xff\xfe\0bin\0", b"x\0y" * 40])
names = st.sampled_from(NAMES)
mutations = st.one_of(
    st.tuples(st.just("write"), names, texts),
    st.tuples(st.just("insert"), names, st.integers(0, 14)),
    st.tuples(st.just("drop"), names, st.integers(0, 14)),
    st.tuples(st.just("delete"), names, st.none()),
    st.tuples(st.just("rename"), names, names),
    st.tuples(st.just("mode"), names, st.booleans()),
    st.tuples(st.just("link"), names, names),
)


@st.composite
def stories(
    draw: st.DrawFn,
) -> tuple[dict[str, bytes], list[list[tuple[str, str, object]]], list[int]]:
    """Files at the start, the mutations of each card, and the order in which cards go back."""
    start = draw(st.dictionaries(names, texts, max_size=6))
    flat = draw(st.lists(mutations, min_size=1, max_size=30))
    cuts = draw(st.integers(1, min(6, len(flat))))
    size = -(-len(flat) // cuts)
    cards = [flat[at : at + size] for at in range(0, len(flat), size)]
    order = draw(st.permutations(range(len(cards))))
    return start, cards, order


def mutate(root: Path, kind: str, name: str, value: object) -> None:
    place = root / name
    place.parent.mkdir(parents=True, exist_ok=True)
    there = place.is_symlink() or place.is_file()
    if kind == "write" and isinstance(value, bytes):
        place.unlink(missing_ok=True)
        place.write_bytes(value)
    elif kind in ("insert", "drop") and isinstance(value, int) and there and not place.is_symlink():
        lines = place.read_bytes().split(b"\n")
        at = min(value, len(lines))
        lines[at : at + (kind == "drop")] = [b"inserted"] if kind == "insert" else []
        place.write_bytes(b"\n".join(lines))
    elif kind == "delete" and there:
        place.unlink()
    elif kind == "rename" and there:
        (root / str(value)).parent.mkdir(parents=True, exist_ok=True)
        place.replace(root / str(value))
    elif kind == "mode" and there and not place.is_symlink():
        place.chmod(0o755 if value else 0o644)
    elif kind == "link" and not there:
        place.symlink_to(str(value))


def play(root: Path, mutations: Sequence[tuple[str, str, object]]) -> None:
    for kind, name, value in mutations:
        mutate(root, kind, name, value)


def git_reverts(clone: Path, commit: str) -> bool:
    """Whether git itself can revert the commit; if not, nothing is changed."""
    git(clone, "revert", "--no-commit", commit, check=False)
    if git(clone, "diff", "--name-only", "--diff-filter=U"):
        git(clone, "revert", "--abort", check=False)
        git(clone, "reset", "-q", "--hard")
        return False
    git(clone, "commit", "-q", "--allow-empty", "-m", "back")
    return True


def check_against_git(story: tuple, *, in_place: bool) -> None:
    start, cards, order = story
    with tempfile.TemporaryDirectory() as spare:
        home = Path(spare)
        repo = repository(home / "repo", start)
        with open_workspace(repo, "r", home / "state", in_place=in_place) as workspace:
            before = contents(workspace.root)
            for number, card in enumerate(cards):
                play(workspace.root, card)
                workspace.commit_card("r", f"c{number}", f"Card {number}")
            records = workspace.cards()
            git(home, "clone", "-q", "--no-checkout", "repo", "clone")
            git(home / "clone", "fetch", "-q", "origin", "flyball/r:work")
            git(home / "clone", "checkout", "-q", "work")
            for number in order:
                present = contents(workspace.root)
                if not git_reverts(home / "clone", records[number].commit):
                    moves(workspace, f"c{number}")
                    assert contents(workspace.root) == present
                    return
                move_record(workspace, records[number], CommitKind.REVERT)
                assert contents(workspace.root) == contents(home / "clone")
            tip = git(repo, "rev-parse", "flyball/r^{tree}")
            assert tip.strip() == git(home / "clone", "rev-parse", "HEAD^{tree}").strip()
            if workspace.tree_hash() == workspace.base:
                assert contents(workspace.root) == before


RELAXED = [HealthCheck.too_slow, HealthCheck.data_too_large]
PARTS = sampled(range(4), 4)
"""Each part tries examples of its own; all but the first are left to `make test-slow`."""


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
@settings(max_examples=8, suppress_health_check=RELAXED)
@given(story=stories(), in_place=st.booleans())
def test_cards_go_back_in_any_order_that_git_could(part, story, in_place):
    check_against_git(story, in_place=in_place)


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
@settings(max_examples=20, suppress_health_check=RELAXED)
@given(story=stories())
def test_without_git_cards_go_back_newest_first_to_the_byte(part, story):
    start, cards, _ = story
    with tempfile.TemporaryDirectory() as spare:
        root = Path(spare, "plain")
        root.mkdir()
        for name, content in start.items():
            mutate(root, "write", name, content)
        with open_workspace(root, "r", Path(spare, "state"), in_place=False) as workspace:
            before = contents(root)
            for number, card in enumerate(cards):
                play(root, card)
                workspace.commit_card("r", f"c{number}", f"Card {number}")
            done = contents(root)
            for record in reversed(workspace.cards()):
                assert foresee_move(workspace, record, CommitKind.REVERT).is_safe
                move_record(workspace, record, CommitKind.REVERT)
            assert contents(root) == before
            for record in workspace.cards():
                move_record(workspace, record, CommitKind.APPLY)
            assert contents(root) == done


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
@settings(max_examples=8, suppress_health_check=RELAXED)
@given(story=stories())
def test_without_git_any_order_goes_as_git_would_or_refuses_and_changes_nothing(part, story):
    start, cards, order = story
    with tempfile.TemporaryDirectory() as spare:
        places = [Path(spare, "plain"), repository(Path(spare, "repo"))]
        for root in places:
            root.mkdir(exist_ok=True)
            play(root, [("write", name, content) for name, content in start.items()])
        spaces = [open_workspace(r, "r", r.parent / f"s-{r.name}", in_place=True) for r in places]
        for number, card in enumerate(cards):
            for workspace in spaces:
                play(workspace.root, card)
                workspace.commit_card("r", f"c{number}", f"Card {number}")
        for number in order:
            present = contents(places[0])
            plain, with_git = (moves(space, f"c{number}") for space in spaces)
            if not plain:
                assert contents(places[0]) == present
                break
            assert with_git
            assert contents(places[0]) == contents(places[1])
        for workspace in spaces:
            workspace.close()


def moves(workspace: Workspace, card: str) -> bool:
    try:
        move_record(workspace, workspace.card(card), CommitKind.REVERT)
    except Diverged as refusal:
        assert refusal.losses
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
@settings(max_examples=10, suppress_health_check=RELAXED)
@given(files=st.dictionaries(names, texts, max_size=8), executable=st.sets(names))
def test_a_tree_has_the_same_hash_with_and_without_git(part, files, executable):
    with tempfile.TemporaryDirectory() as spare:
        for place in ("plain", "repo"):
            root = Path(spare, place)
            root.mkdir()
            for name, content in files.items():
                mutate(root, "write", name, content)
                mutate(root, "mode", name, name in executable)
        git(Path(spare, "repo"), "init", "-q")
        hashes = []
        for place in ("plain", "repo"):
            state = Path(spare, f"state-{place}")
            with open_workspace(Path(spare, place), "r", state, in_place=True) as workspace:
                hashes.append(workspace.tree_hash())
        assert hashes[0] == hashes[1]
