"""Conditions for a skip that hold on a few machines only, as on Windows or on an old Python."""

from __future__ import annotations

import ast

from flyball.regex import regex

# Whoever runs the tests anywhere else runs this one, too, so nothing was taken from them.
FEW = regex(
    r"sys\.platform == '(?:win32|cygwin|emscripten|wasi)'|os\.name == 'nt'"
    r"|sys\.platform\.startswith\('win(?:32)?'\)|(?:platform\.)?system\(\) == 'Windows'"
    r"|(?:\w+\.)?(?:python_implementation\(\)|implementation\.name) == '[pP]y[pP]y'"
    r"|hasattr\(sys, 'pypy_version_info'\)|sys\.version_info <=? \(.*\)"
    r"|not hasattr\((?:os|socket|signal|select|time), '\w+'\)|os\.gete?uid\(\) == 0"
)


def is_elsewhere(skip: str) -> bool:
    """Whether a conditional skip, as it is written, leaves its test out on such machines only."""
    node = ast.parse(skip, mode="eval").body
    if not isinstance(node, ast.Call) or not ast.unparse(node.func).lower().endswith("skipif"):
        return False
    return len(node.args) == 1 and _is_few(node.args[0])


def _is_few(node: ast.expr) -> bool:
    match node:
        case ast.BoolOp(op=ast.And(), values=values):
            return any(map(_is_few, values))
        case ast.BoolOp(values=values):
            return all(map(_is_few, values))
        case _:
            return bool(FEW.fullmatch(ast.unparse(node)))
