"""Assertions in Python tests, in one canonical form."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from flyball.core.weakening.reach import Reach


class Assertion(NamedTuple):
    """What is looked at, how, and what it should be."""

    op: str
    subject: str
    expected: ast.expr | None
    tolerance: tuple[tuple[str, float], ...]
    reach: Reach
    line: int
    text: str

    @property
    def key(self) -> tuple[object, ...]:
        """What makes two assertions the same one."""
        expected = ast.dump(self.expected) if self.expected else ""
        return (self.op, self.subject, expected, self.tolerance)


def assertions_of(
    body: Sequence[ast.stmt], helpers: Iterable[str] = (), reach: Reach = Reach.LIVE
) -> Iterator[Assertion]:
    """Every assertion under these statements, in order, with how it can be reached."""
    known = frozenset(helpers)
    for stmt in body:
        for found in _own(stmt, known):
            line, text = stmt.lineno, ast.unparse(stmt).split("\n")[0]
            yield found._replace(reach=reach, line=line, text=text)
        for part, limit in _parts(stmt, known):
            yield from assertions_of(part, known, min(reach, limit))
        reach = min(reach, _after(stmt))


def _after(stmt: ast.stmt) -> Reach:
    """How far the statements after this one can still be reached."""
    if isinstance(stmt, ast.Raise) and "SkipTest" in names_in(stmt.exc):
        return Reach.LIVE
    if isinstance(stmt, ast.Return | ast.Raise | ast.Continue | ast.Break):
        return Reach.DEAD
    if isinstance(stmt, ast.If):
        branch = _live_branch(stmt)
        if branch is not None:
            return min(map(_after, branch), default=Reach.LIVE)
        leaves = any(isinstance(s, ast.Return) for s in (*stmt.body, *stmt.orelse))
        return Reach.CONDITIONAL if leaves else Reach.LIVE
    return Reach.LIVE


def _live_branch(stmt: ast.If) -> list[ast.stmt] | None:
    if isinstance(stmt.test, ast.Constant):
        return stmt.body if stmt.test.value else stmt.orelse
    return None


def _parts(stmt: ast.stmt, known: frozenset[str]) -> Iterator[tuple[list[ast.stmt], Reach]]:
    match stmt:
        case ast.If():
            live = _live_branch(stmt)
            branches = (stmt.body, stmt.orelse)
            open_way = Reach.EITHER if all(_asks(b, known) for b in branches) else Reach.CONDITIONAL
            for branch in branches:
                is_live = Reach.LIVE if branch is live else Reach.DEAD
                yield branch, open_way if live is None else is_live
        case ast.Try() | ast.TryStar():
            swallows = any(map(_swallows, stmt.handlers))
            yield stmt.body, Reach.SWALLOWED if swallows else Reach.LIVE
            for handler in stmt.handlers:
                yield handler.body, Reach.CONDITIONAL
            yield stmt.orelse, Reach.LIVE
            yield stmt.finalbody, Reach.LIVE
        case ast.With() | ast.AsyncWith():
            suppressed = any(_is_suppress(item.context_expr) for item in stmt.items)
            yield stmt.body, Reach.SWALLOWED if suppressed else Reach.LIVE
        case ast.While(test=ast.Constant(value=value)) if not value:
            yield stmt.body, Reach.DEAD
        case ast.For() | ast.AsyncFor() | ast.While():
            yield stmt.body, Reach.LIVE
            yield stmt.orelse, Reach.LIVE
        case ast.Match():
            for case in stmt.cases:
                yield case.body, Reach.CONDITIONAL
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield stmt.body, Reach.LIVE
        case _:
            return


def _asks(branch: list[ast.stmt], known: frozenset[str]) -> bool:
    """Whether anything that can fail is asserted there."""
    return any(
        found.op != "tautology"
        for stmt in branch
        for node in ast.walk(stmt)
        if isinstance(node, ast.stmt)
        for found in _own(node, known)
    )


BROAD = frozenset({"AssertionError", "Exception", "BaseException"})


def _swallows(handler: ast.ExceptHandler) -> bool:
    """Whether a handler catches a failed assertion and lets the test go on."""
    caught = handler.type is None or bool(BROAD & set(names_in(handler.type)))
    again = any(
        isinstance(node, ast.Raise | ast.Assert)
        or (isinstance(node, ast.Call) and dotted(node.func).endswith((".fail", ".xfail")))
        for stmt in handler.body
        for node in ast.walk(stmt)
    )
    return caught and not again


def _is_suppress(context: ast.expr) -> bool:
    if not (isinstance(context, ast.Call) and dotted(context.func).split(".")[-1] == "suppress"):
        return False
    return any(BROAD & set(names_in(arg)) for arg in context.args)


def dotted(node: ast.expr) -> str:
    """The dotted name of an expression, as far as it is one."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def names_in(node: ast.AST | None) -> Iterator[str]:
    """The last names of everything that a piece of code mentions."""
    for part in ast.walk(node) if node else ():
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr


def _own(stmt: ast.stmt, helpers: frozenset[str]) -> Iterator[Assertion]:
    match stmt:
        case ast.Assert():
            yield from _claims(stmt.test)
        case (
            ast.Expr(value=ast.Call() as call) | ast.Expr(value=ast.Await(value=ast.Call() as call))
        ):
            yield from _called(call, helpers)
        case ast.With() | ast.AsyncWith():
            for item in stmt.items:
                if isinstance(item.context_expr, ast.Call):
                    yield from _called(item.context_expr, helpers)
        case _:
            return


def _made(
    op: str,
    subject: ast.expr | str,
    expected: ast.expr | None = None,
    tolerance: dict[str, float] | None = None,
) -> Assertion:
    looked_at = subject if isinstance(subject, str) else ast.dump(subject)
    within = tuple(sorted((tolerance or {}).items()))
    return Assertion(op, looked_at, expected, within, Reach.LIVE, 0, "")


OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
OPPOSITE = {
    "==": "!=",
    "!=": "==",
    "in": "not in",
    "not in": "in",
    "is": "is not",
    "is not": "is",
    "truth": "false",
    "false": "truth",
}


def _claims(test: ast.expr) -> Iterator[Assertion]:
    """Take an asserted expression apart into single claims."""
    match test:
        case _ if is_tautology(test):
            yield _made("tautology", test)
        case ast.BoolOp(op=ast.And()):
            for value in test.values:
                yield from _claims(value)
        case ast.UnaryOp(op=ast.Not(), operand=ast.Compare(ops=[op]) as inner) if (
            OPERATORS[type(op)] in OPPOSITE
        ):
            yield _compared(OPPOSITE[OPERATORS[type(op)]], inner.left, inner.comparators[0])
        case ast.UnaryOp(op=ast.Not()):
            yield _made("false", test.operand)
        case ast.Compare():
            lefts = [test.left, *test.comparators]
            for left, op, right in zip(lefts, test.ops, test.comparators, strict=False):
                yield _compared(OPERATORS[type(op)], left, right)
        case ast.Call(func=ast.Name(id="isinstance"), args=[subject, kind]):
            yield _made("isinstance", subject, kind)
        case _:
            yield _made("truth", test)


def is_tautology(test: ast.expr) -> bool:
    """Whether an asserted expression is true whatever the code does."""
    match test:
        case ast.Constant():
            return bool(test.value)
        case ast.Tuple():
            return bool(test.elts)
        case ast.BoolOp(op=ast.Or()):
            return any(map(is_tautology, test.values))
        case ast.UnaryOp(op=ast.Not(), operand=ast.Constant(value=value)):
            return not value
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            same = ast.dump(left) == ast.dump(right)
            reflexive = isinstance(op, ast.Eq | ast.Is | ast.LtE | ast.GtE)
            is_length = isinstance(left, ast.Call) and dotted(left.func) == "len"
            zero = isinstance(right, ast.Constant) and right.value == 0
            hollow = is_length and zero and isinstance(op, ast.GtE)
            return (same and reflexive) or hollow or (is_literal(left) and is_literal(right))
        case _:
            return False


def _compared(op: str, left: ast.expr, right: ast.expr) -> Assertion:
    """A comparison with the literal on the right, and `approx` as an operator of its own."""
    if op in MIRRORED and is_literal(left) and not is_literal(right):
        op, left, right = MIRRORED[op], right, left
    for looked_at, wanted in ((left, right), (right, left)):
        if op == "==" and isinstance(wanted, ast.Call) and dotted(wanted.func).endswith("approx"):
            given = {kw.arg or "": kw.value for kw in wanted.keywords}
            allowed = {name: _number(given[name], 0.0) for name in ("rel", "abs") if name in given}
            value = wanted.args[0] if wanted.args else None
            return _made("approx", looked_at, value, allowed or {"rel": 1e-6})
    return _made(op, left, right)


LITERAL_PARTS = (
    ast.Constant,
    ast.Tuple,
    ast.List,
    ast.Set,
    ast.Dict,
    ast.UnaryOp,
    ast.BinOp,
    ast.operator,
    ast.unaryop,
    ast.expr_context,
)


def is_literal(node: ast.expr) -> bool:
    """Whether an expression is built from constants only."""
    return all(isinstance(part, LITERAL_PARTS) for part in ast.walk(node))


def _number(node: ast.expr, otherwise: float) -> float:
    value = number_of(node)
    return otherwise if value is None else value


def number_of(node: ast.expr | None) -> float | None:
    """The number an expression literally is."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = number_of(node.operand)
        return None if value is None else -value
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    return None


UNITTEST = {
    "assertEqual": "==",
    "assertEquals": "==",
    "assertListEqual": "==",
    "assertTupleEqual": "==",
    "assertSetEqual": "==",
    "assertDictEqual": "==",
    "assertSequenceEqual": "==",
    "assertMultiLineEqual": "==",
    "assertNotEqual": "!=",
    "assertIs": "is",
    "assertIsNot": "is not",
    "assertIn": "in",
    "assertNotIn": "not in",
    "assertIsInstance": "isinstance",
    "assertGreater": ">",
    "assertGreaterEqual": ">=",
    "assertLess": "<",
    "assertLessEqual": "<=",
}
RAISES = frozenset(
    {"raises", "warns", "assertRaises", "assertRaisesRegex", "assertWarns", "assertWarnsRegex"}
)
TOLERANCES = {"rtol": "rel", "rel": "rel", "atol": "abs", "abs": "abs", "delta": "abs"}
FAILS = frozenset({"pytest.fail", "self.fail"})


def _called(call: ast.Call, helpers: frozenset[str]) -> Iterator[Assertion]:
    """The assertion that a call makes, if it makes one."""
    name = dotted(call.func)
    last = name.split(".")[-1] if name else getattr(call.func, "attr", "")
    args = call.args
    if last in RAISES and (args or call.keywords):
        given = {kw.arg or "": kw.value for kw in call.keywords}
        matching = given.get("match") or (args[1] if last.endswith("Regex") and args[1:] else None)
        expected = ast.Tuple(
            [args[0] if args else ast.Tuple([]), *([matching] if matching else [])]
        )
        yield _made("raises", "raises", expected)
    elif last in {"assertTrue", "assert_", "assertFalse"} and args:
        test = args[0] if last != "assertFalse" else ast.UnaryOp(ast.Not(), args[0])
        yield from _claims(test)
    elif last in {"assertIsNone", "assertIsNotNone"} and args:
        yield _made("is" if last == "assertIsNone" else "is not", args[0], ast.Constant(None))
    elif last in UNITTEST and len(args) > 1:
        yield _compared(UNITTEST[last], args[0], args[1])
    elif last in {"assertAlmostEqual", "assert_allclose", "assert_almost_equal"} and len(args) > 1:
        yield _made("approx", args[0], args[1], _tolerance(call))
    elif name in FAILS or name in helpers:
        yield _made(name, ", ".join(ast.dump(arg) for arg in args))
    elif last.startswith(("assert", "expect")):
        subject = call.func.value if isinstance(call.func, ast.Attribute) else ast.Tuple([])
        looked_at = (
            args[0] if args and name != f"self.{last}" and "_called" not in last else subject
        )
        yield _made(last, looked_at, ast.Call(ast.Name("expected"), list(args), call.keywords))


def _tolerance(call: ast.Call) -> dict[str, float]:
    """How far off a value may be; decimal places become a distance."""
    found = {
        TOLERANCES[kw.arg]: _number(kw.value, 0.0) for kw in call.keywords if kw.arg in TOLERANCES
    }
    places = [kw.value for kw in call.keywords if kw.arg in {"places", "decimal"}] or call.args[2:3]
    if found:
        return found
    return {"abs": 10.0 ** -_number(places[0], 7.0)} if places else {"abs": 1e-7}
