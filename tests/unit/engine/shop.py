"""A small shop in a real workspace: a card that works in it, and what Flyball sees of its work."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from tests.repos import put, repository
from tests.small_python import small_path

from flyball.engine.look.gate_looks import Gathered
from flyball.engine.look.inspection import inspect
from flyball.engine.run_context import RunContext
from flyball.plan.gate import judge
from flyball.plan.library import LIBRARY
from flyball.plan.template import GateUse
from flyball.plan.verdict import Case, Verdict
from flyball.run.effect import Inspect
from flyball.run.policy import Project
from flyball.run.state import CardState, RunState
from flyball.terms.call import Access
from flyball.terms.evidence import AnyEvidence
from flyball.terms.phase import Phase
from flyball.tools.call.protocol import CallContext, ToolSettings
from flyball.workspace.process.process import CommandLimits
from flyball.workspace.redaction import Redactor

SECRET = "s3cret-value-42"
FILES: dict[str, str | bytes] = {
    ".gitignore": "__pycache__/\n*.log\n",
    "cart.py": "def total(prices):\n    return sum(prices[1:])\n",
    "test_cart.py": (
        "import unittest\n\nfrom cart import total\n\n\n"
        "class CartTest(unittest.TestCase):\n"
        "    def test_none(self):\n        self.assertEqual(total([]), 0)\n"
    ),
    "README.md": "A cart.\n",
}
MENDED = "def total(prices):\n    return sum(prices)\n"
SHOWN = str(FILES["test_cart.py"]) + (
    "\n    def test_two(self):\n        self.assertEqual(total([1, 2]), 3)\n"
)


class Shop:
    """A workspace, the card that works in it, and what its gates find."""

    def __init__(self, context: RunContext) -> None:
        self.context = context
        self.root = context.workspace.root
        tree = context.workspace.base
        self.card = CardState(id="c", template=LIBRARY["fix"], title="t", base=tree, tree=tree)
        self.run = RunState(run="r1", project=Project(sandbox="kernel"), base=tree)
        self.key = "r1/1"

    def change(self, files: dict[str, str | bytes], *gone: str) -> str:
        put(self.root, files)
        for name in gone:
            (self.root / name).unlink()
        self.card = replace(self.card, tree=self.context.workspace.tree_hash())
        return self.card.tree

    def call(self) -> CallContext:
        """What a verdict is taken in."""
        return self.context.call_context(
            self.run, self.card, "verdict", key=self.key, phase=Phase.VERIFY, access=Access.VERIFY
        )

    async def looks(self, *gates: GateUse, **more: Any) -> Gathered:
        effect = Inspect(card="c", base=self.card.base, tree=self.card.tree, gates=gates, **more)
        return await inspect(self.context, self.run, self.card, effect, self.key)

    async def verdict(self, type: str, **parameters: Any) -> Verdict:
        """What a gate says after Flyball has looked for it."""
        use = GateUse(type, parameters)
        seen = await self.looks(use)
        return judge(use, self.case(seen.evidence))

    def case(self, seen: tuple[AnyEvidence, ...]) -> Case:
        return Case((*self.card.evidence, *seen), self.card.tree, self.card.base)


@contextmanager
def open_shop(
    place: Path, files: dict[str, str | bytes] = FILES, *, seconds: float = 600.0
) -> Iterator[Shop]:
    """A run in a repository of these files, closed at the end."""
    context = RunContext(
        repository(place / "repo", files),
        place / "state",
        # The project is tested with what these tests are run with.
        environ={
            "PATH": small_path(),
            "HOME": os.environ.get("HOME", "/"),
        },
        redactor=Redactor((SECRET,)),
        on_output=lambda _: None,
        settings=ToolSettings(suite_limits=CommandLimits(seconds=seconds)),
    )
    context.open("r1")
    try:
        yield Shop(context)
    finally:
        context.close()
