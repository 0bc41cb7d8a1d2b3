"""Decide whether an assertion can still fail its test, given its position."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from flyball.verdict.tests._calls import (
    CONDITIONS,
    HANDLERS,
    LEAVING,
    LISTS,
    LOOPS,
    TRIES,
    bare,
    call_of,
)
from flyball.verdict.tests._model import Assertion, Reach
from flyball.verdict.tests._tree import BOOLEANS, NUMBERS, Node, kinds
from flyball.verdict.tests._words import BROAD, HOLLOW

BLOCKS = kinds(
    "block statement_block statement_list compound_statement body_statement block_body then else"
    " module program source_file declaration_list class_body translation_unit else_clause"
    " finally_clause ensure do"
)


def with_reach(assertions: Sequence[Assertion], body: Node) -> list[Assertion]:
    """Return the assertions with the reach of each one's position."""
    return [each._replace(reach=_reach(each, body, assertions)) for each in assertions]


def _reach(one: Assertion, body: Node, every: Sequence[Assertion]) -> Reach:
    reach, below = Reach.LIVE, one.node
    for node in one.node.above():
        if node.start < body.start or node.end > body.end:
            break
        reach = min(reach, _inside(node, below, every), _behind(node, below))
        if node is body:
            break
        below = node
    return reach


def _inside(node: Node, below: Node, every: Sequence[Assertion]) -> Reach:
    if node.kind in CONDITIONS and below.field not in ("condition", "initializer"):
        return _under_condition(node, below, every)
    if node.kind in TRIES and below.kind not in HANDLERS and below.field != "final":
        is_else = below.field == "alternative" or below.kind in ("else", "ensure")
        is_final = below.kind == "finally_clause"
        swallows = any(_swallows(kid) for kid in node.kids if kid.kind in HANDLERS)
        return Reach.SWALLOWED if swallows and not is_else and not is_final else Reach.LIVE
    if node.kind in HANDLERS:
        return Reach.CONDITIONAL
    if node.kind == "body_statement" and below.kind != "rescue":
        return Reach.SWALLOWED if any(map(_swallows, rescues(node))) else Reach.LIVE
    if node.kind == "with_statement" and below.kind != "with_item":
        calls = [call for kid in node.kids for part in kid.walk() if (call := call_of(part))]
        hidden = any(c.last == "suppress" and BROAD & _names(c.node) for c in calls[:6])
        return Reach.SWALLOWED if hidden else Reach.LIVE
    if node.kind in LOOPS and below.field != "condition":
        return _under_loop(node)
    return Reach.LIVE


def rescues(node: Node) -> Iterator[Node]:
    yield from (kid for kid in node.kids if kid.kind == "rescue")


def _under_condition(node: Node, below: Node, every: Sequence[Assertion]) -> Reach:
    test = node.get("condition")
    known = constant_of(test) if test is not None else None
    is_else = below.field == "alternative" or below.kind in ("else", "else_clause")
    if known is not None:
        return Reach.LIVE if known != is_else else Reach.DEAD
    branches = [kid for kid in node.kids if kid.field in ("consequence", "body", "alternative")]
    has_else = any(kid.field == "alternative" for kid in node.kids)
    asks = [
        any(b.start <= each.node.start < b.end and each.strength > HOLLOW for each in every)
        for b in branches
    ]
    return Reach.EITHER if has_else and all(asks) else Reach.CONDITIONAL


def constant_of(test: Node) -> bool | None:
    """Return the constant value of a condition, if it has one."""
    text = bare(test).text
    if text in BOOLEANS:
        return text.lower() == "true"
    if bare(test).kind in NUMBERS:
        return text != "0"
    return None


def _under_loop(node: Node) -> Reach:
    over = node.get("iterated", "right", "value", "iterator")
    range_clause = next((kid for kid in node.kids if kid.kind == "range_clause"), None)
    over = range_clause.get("right") if range_clause else over
    test = node.get("condition")
    if over is not None and bare(over).kind in LISTS and not bare(over).parts:
        return Reach.DEAD
    if over is not None and re.fullmatch(r"range\(0\)|\[\]|\(\)|vec!\[\]", over.plain):
        return Reach.DEAD
    if test is not None and constant_of(test) is False:
        return Reach.DEAD
    return Reach.LIVE


def _swallows(handler: Node) -> bool:
    """Return whether a handler catches a failed assertion and lets the test continue."""
    if handler.kind in ("except_clause", "rescue"):
        kinds = handler.get("type", "exceptions")
        if kinds is not None and not BROAD & _names(kinds):
            return False
    caught = handler.get("type", "parameters") if handler.kind == "catch_clause" else None
    if caught is not None and not BROAD & _names(caught):
        return False
    again = ("raise_statement", "throw_statement", "throw_expression", "assert_statement")
    for node in handler.walk():
        call = call_of(node)
        failing = call is not None and re.search(r"fail|xfail|raise|assert|expect", call.last)
        if node.kind in again or failing:
            return False
    return True


def _names(node: Node) -> set[str]:
    return set(re.findall(r"\w+", node.text))


def _behind(node: Node, below: Node) -> Reach:
    """Return how far the preceding statements of the block let execution get here."""
    if node.kind not in BLOCKS and below.field not in ("body", "alternative", "final"):
        return Reach.LIVE
    reach = Reach.LIVE
    for kid in node.kids:
        if kid is below:
            return reach
        if kid.field == below.field or node.kind in BLOCKS:
            reach = min(reach, _after(kid))
    return Reach.LIVE


def _after(stmt: Node) -> Reach:
    """Return how far the statements after this one can still be reached."""
    inner = stmt.parts[0] if stmt.kind == "expression_statement" and stmt.parts else stmt
    if stmt.kind == "defer_statement" and "recover()" in stmt.text:
        return Reach.SWALLOWED
    if inner.kind in LEAVING:
        return Reach.LIVE if "SkipTest" in inner.text else Reach.DEAD
    if inner.kind in ("if_statement", "if_expression", "if", "unless", "if_modifier"):
        test = inner.get("condition")
        known = constant_of(test) if test is not None else None
        if known is False:
            return Reach.LIVE
        leaves = [
            part
            for part in inner.walk(lambda n: n.kind in ("function_definition", "lambda"))
            if part.kind in LEAVING and "return" in part.kind
        ]
        if leaves:
            return Reach.DEAD if known else Reach.CONDITIONAL
    return Reach.LIVE
