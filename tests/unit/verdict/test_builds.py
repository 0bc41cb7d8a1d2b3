"""What was built of the tree from before is found by later runs, and changed by none of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.toolchains import need
from tests.unit.engine.shop import Shop, open_shop
from tests.unit.journal.runs import story

from flyball.core.suite.part import PartSuite
from flyball.tools.call.protocol import CallContext
from flyball.verdict.builds import build_ahead
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
