"""How many tokens a driver has to read for a fix of ten turns, and how many it has read before.

No model is asked: a scripted driver makes the turns, and every request is counted as it would go
over the wire, by the estimate that Flyball itself uses. What begins like the request before it, in
the same thread, is what a provider that caches prefixes need not read again.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.governed import FIX
from tests.sloppy.careful import SHOP, Careful, Move, call, calls, checkpoint_args, drive, say

from bench.figure import Figure, conclude
from flyball.drivers.protocol import Reply, Request
from flyball.drivers.wire import conversation
from flyball.engine.prompt.request import CHARS_PER_TOKEN
from flyball.plan.template import Role
from flyball.terms.intent import Intent
from flyball.terms.phase import Phase

BEFORE = 52_557
"""The same ten turns as counted at commit e681814, by this very bench."""
LEAST_SAVED = 0.30
MOST_AT_FIRST = 2_150


def shop() -> dict[str, str | bytes]:
    """A shop with a fault, six tests that see it, and what lies around in a repository."""
    cases = "".join(
        f"    def test_{n}_pens(self):\n        self.assertEqual(total([(2, {n})]), {2 * n})\n\n"
        for n in range(2, 8)
    )
    head = "import unittest\n\nfrom cart import total\n\n\nclass Pens(unittest.TestCase):\n"
    around: dict[str, str | bytes] = {
        f"shop/part_{n}.py": "".join(f"def part_{n}_{k}():\n    return {k}\n\n\n" for k in range(9))
        for n in range(30)
    }
    around |= {f"docs/page_{n}.md": f"# Page {n}\n" for n in range(40)}
    around |= {f"examples/{n:02}_use.py": "import cart\n" for n in range(40)}
    return {**SHOP, **around, "test_pens.py": head + cases}


TURNS: tuple[tuple[str, Reply], ...] = (
    ("list", call("list", path="shop")),
    ("grep", call("grep", q="total")),
    ("read", call("read", path="cart.py")),
    ("read tests", call("read", path="test_cart.py")),
    ("red", call("test")),
    ("checkpoint", call("checkpoint", **checkpoint_args())),
    ("edit", call("edit_diff", diff=FIX)),
    ("green", call("test")),
    ("stop", say("The total counts every piece; the tests pass.")),
)


class TenTurns(Careful):
    """A driver of nine fixed turns, and a reviewer's."""

    def next_move(self, request: Request) -> Move:
        """The turn that is due, whatever came of the one before."""
        if request.role == Role.REVIEWER:
            risk = {"risk": "low: one small change", "assumptions": ["the tests are right"]}
            return Move("review", calls(("note", risk), text="It is as promised."))
        done = sum(not move.startswith("review") for move in self.moves)
        if request.phase is Phase.FINAL or done >= len(TURNS):
            return Move("answer", say("The total counts every piece."))
        return Move(*TURNS[done])


def wire(request: Request) -> str:
    """A request in the order in which providers read it: tools, system prompt, conversation."""
    tools = [
        {"name": t.name, "description": t.description, "parameters": t.schema}
        for t in request.tools
    ]
    said = [
        {"role": m.role, "content": m.content, "calls": [[c.tool, c.args] for c in m.calls]}
        for m in conversation(request)
    ]
    return "\n".join([_json(tools), request.system, *map(_json, said)])


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def common_start(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def first_words(request: Request) -> int:
    """The tokens of the system prompt and the tools."""
    return len(wire(request).partition('{"role":')[0]) // CHARS_PER_TOKEN


def run(place: Path) -> list[Request]:
    """Every request of the run, in order."""
    driver = TenTurns()
    drive(place, driver, "the total is wrong", Intent.SMALL_FIX, files=shop())
    return driver.requests


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    argparse.ArgumentParser(description=__doc__).parse_args(arguments)
    with tempfile.TemporaryDirectory() as place:
        requests = run(Path(place))
    last: dict[str, str] = {}
    total = cached = 0
    print("| turn | role | phase | tokens in | of them cached |")
    print("|--:|---|---|--:|--:|")
    for n, request in enumerate(requests, 1):
        text = wire(request)
        same = common_start(last.get(request.role, ""), text)
        last[request.role] = text
        size, known = len(text) // CHARS_PER_TOKEN, same // CHARS_PER_TOKEN
        total, cached = total + size, cached + known
        print(f"| {n} | {request.role} | {request.phase.name_for_people} | {size} | {known} |")
    first = first_words(requests[0])
    saved = 1 - total / BEFORE if BEFORE else 0.0
    print(f"\nsystem and tools at first: {first} tokens (at most {MOST_AT_FIRST})")
    print(f"{len(requests)} requests: {total} tokens in, {cached / total:.0%} of them cached")
    print(f"at e681814: {BEFORE} tokens; saved {saved:.0%} (at least {LEAST_SAVED:.0%})")
    return [
        Figure("system and tools at first", first, "tokens", most=MOST_AT_FIRST),
        Figure("tokens of a ten-turn fix", total, "tokens", most=BEFORE * (1 - LEAST_SAVED)),
        Figure("of them read before", cached / total, "%"),
    ]


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
