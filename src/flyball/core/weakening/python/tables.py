"""The rows that a Python test runs over, and what it asserts for each of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from flyball.core.weakening.python.assertion import Assertion, dotted

MAX_ROWS = 300


class Table(NamedTuple):
    """Parameter names and the rows of values they take."""

    names: tuple[str, ...]
    rows: tuple[ast.expr, ...]


def decorated_tables(
    decorators: Sequence[ast.expr], constants: Mapping[str, ast.expr]
) -> Iterator[Table]:
    """The table of every `parametrize`, also where its rows are listed under a name."""
    for decorator in decorators:
        if isinstance(decorator, ast.Call) and dotted(decorator.func).endswith("parametrize"):
            named = {word.arg: word.value for word in decorator.keywords}
            by_name = [named[arg] for arg in ("argnames", "argvalues") if arg in named]
            match [*decorator.args, *by_name]:
                case [names, rows, *_]:
                    yield Table(tuple(_parameters(names)), tuple(_rows(rows, constants)))
                case _:
                    continue


def looped_tables(body: Sequence[ast.stmt], constants: Mapping[str, ast.expr]) -> Iterator[Table]:
    """Loops over listed values are tables too."""
    known = dict(constants)
    for stmt in body:
        for node in ast.walk(stmt):
            match node:
                case ast.Assign(
                    targets=[ast.Name(id=name)], value=ast.List() | ast.Tuple() as value
                ):
                    known[name] = value
                case ast.For(target=target, iter=over):
                    listed = known.get(over.id, over) if isinstance(over, ast.Name) else over
                    if isinstance(listed, ast.List | ast.Tuple):
                        names = tuple(n.id for n in ast.walk(target) if isinstance(n, ast.Name))
                        yield Table(names, tuple(listed.elts))
                case _:
                    continue


def _parameters(node: ast.expr) -> Iterator[str]:
    for part in node.elts if isinstance(node, ast.List | ast.Tuple) else [node]:
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield from (name.strip() for name in part.value.split(","))


def _rows(node: ast.expr, constants: Mapping[str, ast.expr]) -> Iterator[ast.expr]:
    rows = constants.get(node.id, node) if isinstance(node, ast.Name) else node
    yield from rows.elts if isinstance(rows, ast.List | ast.Tuple) else [rows]


def row_values(row: ast.expr) -> list[ast.expr]:
    """The values of a row, whether or not it is wrapped in `pytest.param`."""
    if isinstance(row, ast.Call) and dotted(row.func).split(".")[-1] == "param":
        return list(row.args)
    return list(row.elts) if isinstance(row, ast.Tuple | ast.List) else [row]


def expanded(assertion: Assertion, tables: Sequence[Table]) -> Iterator[tuple[object, ...]]:
    """What an assertion says for each row, with the row's values in place of the names."""
    for table in tables:
        for row in table.rows[:MAX_ROWS]:
            values = row_values(row) if len(table.names) > 1 else [*row_values(row)[:1]]
            if len(table.names) == 1 and not isinstance(row, ast.Call):
                values = [row]
            given = dict(zip(table.names, map(ast.dump, values), strict=False))
            expected = ast.dump(assertion.expected) if assertion.expected else ""
            op, subject = assertion.op, _filled(assertion.subject, given)
            yield (op, subject, _filled(expected, given), assertion.tolerance)


def _filled(dump: str, given: Mapping[str, str]) -> str:
    for name, value in given.items():
        dump = dump.replace(f"Name(id='{name}', ctx=Load())", value)
        dump = dump.replace(f"Name(id='{name}')", value)
    return dump
