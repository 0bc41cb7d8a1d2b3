"""Which of several candidates that hold to take: the likeliest, the smallest, the least odd."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from flyball.tools.repair.code.source import SCOPES, Source
from flyball.tools.repair.inside.hot_swap import edited
from flyball.tools.repair.search.candidate import Candidate, diff_of, size

LEAVING = (ast.Return, ast.Break, ast.Continue, ast.Raise)
JUDGING = frozenset({"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__bool__"})
"""What assertions themselves use: a change there may only hide what is wrong."""
BASE_SIZE = 15
"""Below this many bytes, size says little."""
TRIED = 0.3
NOTHING: Mapping[tuple[str, int], int] = MappingProxyType({})


class Survivor(NamedTuple):
    """A candidate under which every test passes."""

    path: str
    line: int
    template: str
    label: str
    diff: str
    merit: float


def ranked(
    holding: Iterable[Candidate],
    sources: Mapping[str, Source],
    passing: Mapping[tuple[str, int], int] = NOTHING,
) -> list[Survivor]:
    """The best first; a change to a line that many passing tests run stood the harder trial."""
    found: list[Survivor] = []
    for each in holding:
        source = sources[each.path]
        after = edited(source.data, each.edits)
        diff = diff_of(each.path, source.data, after)
        merit = each.chance / (BASE_SIZE + size(each, source.data)) * sense(source, each, after)
        merit *= 1 + TRIED * math.log2(1 + passing.get((each.path, each.line), 0))
        label = " ".join(each.label.split())
        found.append(Survivor(each.path, each.line, each.template, label, diff, merit))
    return sorted(found, key=lambda each: -each.merit)


def sense(source: Source, candidate: Candidate, after: bytes) -> float:
    """How far the changed function is one that somebody would write; 1 is no objection."""
    new = Source(candidate.path, after)
    before, now = _function(source, candidate), _function(new, candidate)
    if before is None or now is None:
        return 1.0
    worth = 1.0
    if _unread(now) - _unread(before):
        worth *= 0.05
    if _dead(now) > _dead(before):
        worth *= 0.15
    if _odd(now) > _odd(before):
        worth *= 0.2
    if candidate.template == "left out":
        worth *= 0.5
    if getattr(now, "name", "") in JUDGING:
        worth *= 0.05
    return worth


def _function(source: Source, candidate: Candidate) -> ast.AST | None:
    """The outermost function around a candidate; its first line does not move."""
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
    return (node.end_lineno or 0) + 2


def _unread(function: ast.AST) -> set[str]:
    """Names that are given a value and never read."""
    written: set[str] = set()
    read: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else written).add(node.id)
        elif isinstance(node, ast.arg):
            written.add(node.arg)
    return {name for name in written - read if not name.startswith("_")}


def _dead(function: ast.AST) -> int:
    """Statements that can never run, and loops that can never come round again."""
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


def _odd(function: ast.AST) -> int:
    """Expressions that say the same twice, and conditions that are none."""
    count = 0
    for node in ast.walk(function):
        match node:
            case ast.Compare(left=left, comparators=[right]):
                count += ast.dump(left) == ast.dump(right)
            case ast.BinOp(op=ast.Mult() | ast.Div() | ast.FloorDiv() | ast.Pow()) if _is(node, 1):
                count += 1
            case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult() | ast.BitOr()) if _is(node, 0):
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


def _is(node: ast.BinOp, number: int) -> bool:
    sides = (node.left, node.right)
    return any(isinstance(side, ast.Constant) and side.value == number for side in sides)
