"""What was built of the tree from before is found by later runs, and changed by none of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.toolchains import need
from tests.unit.engine.shop import Shop, open_shop
from tests.unit.journal.runs import story

from flyball.tools.call.protocol import CallContext
from flyball.verdict.base_runs import build_ahead, prune_builds
from flyball.verdict.part import PartSuite
from flyball.verdict.runners.launch import launch, set_up
from flyball.verdict.tree_run import run_tree

GO: dict[str, str | bytes] = {
    "go.mod": "module example.org/shop\n\ngo 1.18\n",
    "cart.go": "package shop\n\nfunc Total() int { return 6 }\n",
    "cart_test.go": (
        'package shop\n\nimport "testing"\n\n'
        "func TestTotal(t *testing.T) {\n\tif Total() != 6 {\n\t\tt.Fatal()\n\t}\n}\n"
    ),
}


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with open_shop(tmp_path) as opened:
        yield opened


async def said(call: CallContext, script: str, *, builds: bool = False) -> str:
    """What a script says that runs on a copy of the tree, with its compilers' caches."""
    there = call.on_tree(call.root, call.tree)._replace(is_logged=False, builds=builds)
    with set_up(there) as started:
        return (await launch(["sh", "-c", script], started)).output.strip()


@story
async def test_a_run_finds_what_was_built_and_leaves_nothing_there(shop: Shop):
    call = shop.call()
    call.built.mkdir()
    await said(call, 'mkdir -p "$GOCACHE"; echo sound > "$GOCACHE/testing.a"', builds=True)
    poisoned = 'echo poisoned > "$GOCACHE/testing.a"; cat "$GOCACHE/testing.a"'
    assert await said(call, poisoned) == "poisoned"
    assert await said(call, 'cat "$GOCACHE/testing.a"') == "sound"
    assert not [*(call.workspace.directory / "layers").iterdir()]


@story
async def test_who_works_in_a_tree_finds_nothing_of_what_verdicts_build(shop: Shop):
    call = shop.call()
    call.built.mkdir()
    with set_up(call) as started:
        done = await launch(["sh", "-c", 'echo "$GOCACHE"'], started)
    assert str(call.built) not in done.output


@pytest.mark.slow
@story
async def test_a_suite_is_built_once_before_it_runs(tmp_path: Path):
    need("go")
    suite = PartSuite("go")
    with open_shop(tmp_path / "go", GO) as shop:
        call, tree = shop.call(), shop.card.base
        await build_ahead(call, tree, suite)
        kept = set(call.built.rglob("*-d"))
        assert kept
        taken = await run_tree(call, tree, suite)
        assert taken.run.exit_code == 0
        await build_ahead(call, tree, suite)
        assert set(call.built.rglob("*-d")) == kept


def kept(place: Path, *, used: float, size: int = 1) -> Path:
    """Builds of a project whose only tree was asked for at that time."""
    (place / "built" / "go").mkdir(parents=True)
    (place / "built" / "go" / "a").write_bytes(b"x" * size)
    mark = place / "built" / "t.mark"
    mark.touch()
    for each in (mark, place / "built"):
        os.utime(each, (used, used))
    return place / "built"


DAY = 24 * 3600.0


def test_builds_that_nobody_uses_any_more_are_removed(tmp_path: Path):
    old, new = kept(tmp_path / "a", used=0.0), kept(tmp_path / "b", used=29 * DAY)
    for each in (old, new):
        prune_builds(each, 31 * DAY)
    assert not old.exists()
    assert (new / "go" / "a").exists() and (new / "t.mark").exists()


def test_builds_that_grew_too_large_are_removed_when_nobody_reads_them(tmp_path: Path):
    large = kept(tmp_path, used=DAY, size=11)
    prune_builds(large, DAY + 60, most=10)
    assert large.exists()
    prune_builds(large, 2 * DAY, most=10)
    assert not large.exists()


def test_the_marks_of_trees_that_nobody_asks_for_go_alone(tmp_path: Path):
    built = kept(tmp_path, used=0.0)
    (built / "u.mark").touch()
    os.utime(built / "u.mark", (39 * DAY, 39 * DAY))
    prune_builds(built, 40 * DAY)
    assert not (built / "t.mark").exists()
    assert (built / "u.mark").exists() and (built / "go").exists()
