"""Rank the repairer's candidates: which to try first, and which of the working ones to take.

Before anything is tried, `chances` orders candidates: by the prior of their template (`MASS`), by
what the failing tests suggest (`FAVOURED`), and by how suspicious the line is (`spectrum` ranks the
lines). Among candidates with which every test passes, `rank` prefers the likely, the small, those
at lines that many passing tests run, and those that read like human code.
"""

from __future__ import annotations

import ast
import difflib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from flyball.repair import spectrum
from flyball.repair.inside.hot_swap import apply_edits
from flyball.repair.site import Candidate, common_prefix, diff_of
from flyball.repair.source import SCOPES, Source

MASS: Mapping[str, float] = {
    "comparison": 10, "arithmetic": 7, "augmented": 5, "boolean": 6, "negation": 6, "sign": 2,
    "operand order": 6, "operand dropped": 4, "off by one": 10, "adjustment": 8, "constant": 6,
    "format": 2, "variable": 12, "variable for constant": 4, "self": 6, "attribute": 6,
    "callee": 6, "builtin": 3, "argument order": 7, "argument count": 4, "unwrap": 3, "wrap": 2.5,
    "extreme": 3, "lookup": 3, "condition joined": 5, "condition replaced": 2.5, "guard": 3,
    "only if": 2.5, "statement added": 4, "returned": 4, "left out": 2, "moved": 3, "dedented": 3,
    "mutable default": 12, "default value": 2, "donor": 4, "parallel": 5, "exchanged loops": 3,
    "operand added": 3, "slice": 4, "container": 4, "iteration": 4, "brackets": 4, "call": 3,
    "order": 2, "made anew": 4, "keyword": 3, "given back": 3, "unknown name": 12,
    "imported name": 12, "global": 4, "declared": 3, "inherited": 3,
}  # fmt: skip
"""How often a change of each template is the right one, relative to the others."""
FAVOURED: Mapping[str, Mapping[str, float]] = {
    spectrum.NONE: {"condition joined": 4, "guard": 3, "returned": 2.5, "lookup": 1.5},
    spectrum.ENDLESS: {
        "augmented": 3, "statement added": 4, "adjustment": 1.5, "argument order": 1.5,
        "condition replaced": 1.5, "off by one": 1.5, "slice": 0.4, "call": 0.4, "attribute": 0.5,
        "container": 0.5, "extreme": 0.5, "donor": 0.7,
    },
    "IndexError": {"comparison": 1.5, "off by one": 2, "guard": 2, "condition joined": 2},
    "KeyError": {"lookup": 4, "variable": 1.3, "condition joined": 1.5},
    "ZeroDivisionError": {"guard": 3, "condition joined": 2, "made anew": 4},
    "NameError": {"variable": 3, "callee": 2, "self": 3, "unknown name": 4},
    "UnboundLocalError": {"variable": 2, "statement added": 2, "dedented": 2, "declared": 6},
    "AttributeError": {"attribute": 4, "variable": 1.5, "self": 2, "inherited": 4, "call": 2},
    "TypeError": {
        "argument count": 2.5, "wrap": 2, "unwrap": 2, "container": 1.5, "call": 2, "given back": 2,
    },
    "ValueError": {"guard": 1.5, "wrap": 1.3},
    "RecursionError": {"comparison": 1.5, "condition joined": 2.5, "off by one": 2, "guard": 2},
    "StopIteration": {"guard": 2, "condition joined": 1.5},
}  # fmt: skip
"""How much likelier a template is than usual, by the error that the failing tests end with."""
SPREAD = 0.75
"""How strongly many proposals of one template at one place share its mass."""
LEAVING = (ast.Return, ast.Break, ast.Continue, ast.Raise)
JUDGING = frozenset({"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__bool__"})
"""Functions that assertions use: a change there may only hide the fault."""
BASE_SIZE = 15
"""Below this many bytes, size means little."""
TRIED = 0.3
NOTHING: Mapping[tuple[str, int], int] = MappingProxyType({})


class Survivor(NamedTuple):
    """A candidate with which every test passes."""

    path: str
    line: int
    template: str
    label: str
    diff: str
    merit: float


def chances(
    template: str, weights: Sequence[float], suspicion: float, known: Iterable[str]
) -> list[float]:
    """Return the probability of each of a template's proposals at one place.

    The proposals share the template's mass by their weights; `known` lists the clues of the failing
    tests.
    """
    favour = max((FAVOURED.get(clue, {}).get(template, 1.0) for clue in known), default=1.0)
    mass = MASS[template] * favour
    # Not less than 1: a single proposal that is seldom right must not get all of the mass.
    total = max(sum(weights), 1.0)
    return [mass * (weight / total) ** SPREAD * suspicion for weight in weights]


def rank(
    holding: Iterable[Candidate],
    sources: Mapping[str, Source],
    passing: Mapping[tuple[str, int], int] = NOTHING,
) -> list[Survivor]:
    """Return the candidates, best first; a change to a line that many passing tests run is tested
    better."""
    found: list[Survivor] = []
    for each in holding:
        source = sources[each.path]
        after = apply_edits(source.data, each.edits)
        diff = diff_of(each.path, source.data, after)
        # The tests cannot tell survivors apart any more. What is left is how likely each seemed,
        # how little it changes, and whether a person would have written it.
        merit = (
            each.chance
            / (BASE_SIZE + changed_size(each, source.data))
            * plausibility(source, each, after)
        )
        merit *= 1 + TRIED * math.log2(1 + passing.get((each.path, each.line), 0))
        label = " ".join(each.label.split())
        found.append(Survivor(each.path, each.line, each.template, label, diff, merit))
    return sorted(found, key=lambda each: -each.merit)


def changed_size(candidate: Candidate, data: bytes) -> int:
    """Return how much text a candidate changes."""
    after = apply_edits(data, candidate.edits)
    first = common_prefix(data, after)
    data, after = data[first:], after[first:]
    last = common_prefix(data[::-1], after[::-1])
    old, new = data[: len(data) - last], after[: len(after) - last]
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return sum(
        max(i2 - i1, j2 - j1) for tag, i1, i2, j1, j2 in matcher.get_opcodes() if tag != "equal"
    )


def plausibility(source: Source, candidate: Candidate, after: bytes) -> float:
    """Return how plausible the changed function is as human code; 1 means no objection."""
    new = Source(candidate.path, after)
    before, now = _function_around(source, candidate), _function_around(new, candidate)
    if before is None or now is None:
        return 1.0
    worth = 1.0
    # Only what the change itself brought in counts: the code may have been odd before.
    if _unread_names(now) - _unread_names(before):
        worth *= 0.05
    if _count_dead(now) > _count_dead(before):
        worth *= 0.15
    if _count_odd(now) > _count_odd(before):
        worth *= 0.2
    if candidate.template == "left out":
        worth *= 0.5
    if getattr(now, "name", "") in JUDGING:
        worth *= 0.05
    return worth


def _function_around(source: Source, candidate: Candidate) -> ast.AST | None:
    """Return the outermost function around a candidate; its first line does not move."""
    found = [
        node for node in source.tree.body if node.lineno <= candidate.line <= (node.end_lineno or 0)
    ]
    for node in found:
        if isinstance(node, ast.ClassDef):
            methods = [
                each
                for each in node.body
                if isinstance(each, SCOPES) and each.lineno <= candidate.line <= _end(each)
            ]
            return methods[0] if methods else None
        if isinstance(node, SCOPES):
            return node
    return None


def _end(node: ast.stmt) -> int:
    """Return the last line of a function, allowing for two lines that a change may have added."""
    return (node.end_lineno or 0) + 2


def _unread_names(function: ast.AST) -> set[str]:
    """Return names that are assigned and never read."""
    written: set[str] = set()
    read: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else written).add(node.id)
        elif isinstance(node, ast.arg):
            written.add(node.arg)
    return {name for name in written - read if not name.startswith("_")}


def _count_dead(function: ast.AST) -> int:
    """Count statements that can never run, and loops that can never repeat."""
    count = 0
    for node in ast.walk(function):
        for block in _blocks(node):
            count += sum(isinstance(each, LEAVING) for each in block[:-1])
        if isinstance(node, ast.For | ast.While) and isinstance(node.body[-1], ast.Return):
            count += 1
    return count


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block


def _count_odd(function: ast.AST) -> int:
    """Count expressions that repeat themselves, and conditions that are constant."""
    count = 0
    for node in ast.walk(function):
        match node:
            case ast.Compare(left=left, comparators=[right]):
                count += ast.dump(left) == ast.dump(right)
            case ast.BinOp(op=ast.Mult() | ast.Div() | ast.FloorDiv() | ast.Pow()) if _has_operand(
                node, 1
            ):
                count += 1
            case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult() | ast.BitOr()) if _has_operand(
                node, 0
            ):
                count += 1
            case ast.BinOp(ast.BinOp(_, ast.Div(), by), ast.Mult(), right):
                count += ast.dump(by) == ast.dump(right)
            case ast.BinOp(left=left, right=right, op=ast.Sub() | ast.Div() | ast.Mod()):
                count += ast.dump(left) == ast.dump(right)
            case ast.Slice(lower=ast.Constant(value=0)):
                count += 1
            case ast.Call(func=ast.Name(id="len"), args=[ast.Subscript(slice=ast.Slice())]):
                count += 1
            case ast.Call(args=[_, _, *_]):
                named = [each.id for each in node.args if isinstance(each, ast.Name)]
                count += len(named) - len(set(named))
            case ast.If(test=ast.Constant()) | ast.IfExp(test=ast.Constant()):
                count += 1
            case ast.BoolOp(values=values):
                count += len(values) - len({ast.dump(value) for value in values})
                count += any(isinstance(value, ast.Constant) for value in values[:-1])
            case ast.Assign(targets=[target], value=value):
                count += ast.unparse(target) == ast.unparse(value)
            case _:
                continue
    return count


def _has_operand(node: ast.BinOp, number: int) -> bool:
    sides = (node.left, node.right)
    return any(isinstance(side, ast.Constant) and side.value == number for side in sides)
