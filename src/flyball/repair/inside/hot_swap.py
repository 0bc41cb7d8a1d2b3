"""Apply a changed text to a process that has already imported the old one.

A change inside a function becomes the code of the live functions; a default, or a constant of a
module or class, is recomputed. Any other change is refused, never half done.
"""

from __future__ import annotations
import __future__

import ast
import gc
import os
import sys
from collections.abc import Iterator, Sequence
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    Undo = list[tuple[Any, str, Any]]

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Unswappable(Exception):
    """Raised if the change cannot be made in a running process."""


class Edit(NamedTuple):
    """An edit that replaces the bytes from `start` to `end` with `text`."""

    start: int
    end: int
    text: str


def apply_edits(data: bytes, edits: Sequence[Edit]) -> bytes:
    """Return a text after its edits; they do not overlap."""
    # From the end, so that the places of the others stay right.
    for edit in sorted(edits, reverse=True):
        data = data[: edit.start] + edit.text.encode("utf-8") + data[edit.end :]
    return data


class LiveFile:
    """The live functions and modules of one file, by place and name."""

    def __init__(self, path: str) -> None:
        self.path = os.path.realpath(path)
        with open(self.path, "rb") as file:
            self.data = file.read()
        tree = ast.parse(self.data)
        self._flags = _future_flags(tree)
        self._starts = _line_starts(self.data)
        self._tops = [(*self._span(node), node) for node in tree.body]
        self._compiled: dict[int, CodeType] = {}
        self._undo: Undo = []
        self._name = os.path.basename(self.path)
        self._same: dict[str, bool] = {}
        self.modules = [
            module
            for module in list(sys.modules.values())
            if self._is_ours(getattr(module, "__file__", None) or "")
        ]
        self._functions: dict[tuple[int, str], list[FunctionType]] = {}
        gc.unfreeze()  # frozen objects are not listed
        # Functions are found by what is alive and not by walking modules: decorators, closures and
        # registries hold functions that no name leads to.
        for each in gc.get_objects():
            if isinstance(each, FunctionType) and self._is_ours(each.__code__.co_filename):
                key = (each.__code__.co_firstlineno, each.__code__.co_name)
                self._functions.setdefault(key, []).append(each)

    def _is_ours(self, filename: str) -> bool:
        """Return whether this is the file, under any path; following links takes time."""
        if filename not in self._same:
            is_named_so = os.path.basename(filename) == self._name
            self._same[filename] = is_named_so and os.path.realpath(filename) == self.path
        return self._same[filename]

    def swap(self, edits: Sequence[Edit]) -> Undo:
        """Apply the edits; return what undoes them."""
        self._undo = []
        try:
            # Whole or not at all: half a swap would judge a text that nobody proposed.
            self._swap(edits)
        except BaseException:
            undo(self._undo)
            raise
        return self._undo

    def _swap(self, edits: Sequence[Edit]) -> None:
        start, end, node = self._top(edits)
        # Only the statement at the top is compiled, not the file; the padding keeps its line
        # numbers.
        padding = b"\n" * (node_line(node) - 1)
        inner = [Edit(e.start - start, e.end - start, e.text) for e in edits]
        text = padding + apply_edits(self.data[start:end], inner)
        old_text = padding + self.data[start:end]
        new = ast.parse(text)
        if len(new.body) != 1 or type(new.body[0]) is not type(node):
            raise Unswappable
        if start not in self._compiled:
            self._compiled[start] = self._compile(old_text)
        self._swap_code(self._compiled[start], self._compile(text))
        self._swap_values(node, new.body[0], ())

    def _top(self, edits: Sequence[Edit]) -> tuple[int, int, ast.stmt]:
        first, last = min(e.start for e in edits), max(e.end for e in edits)
        for start, end, node in self._tops:
            if start <= first and last <= end:
                return start, end, node
        raise Unswappable

    def _compile(self, text: bytes) -> CodeType:
        return compile(text, self.path, "exec", flags=self._flags, dont_inherit=True)

    def _span(self, node: ast.stmt) -> tuple[int, int]:
        """Return the range from the first line to the end of the last, where text may still be
        added."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        end = self._starts[node.end_lineno - 1] + node.end_col_offset
        following = min(self._starts[node.end_lineno], len(self.data))
        is_last = not self.data[end:following].strip()
        return self._starts[node_line(node) - 1], following if is_last else end

    def _swap_code(self, old: CodeType, new: CodeType) -> None:
        for before, after in zip(_inner_code(old), _inner_code(new)):  # noqa: B905
            # Inner functions are matched by their order, so one more or less would give code to the
            # wrong function.
            if before.co_name != after.co_name:
                raise Unswappable
            if before == after:
                continue
            for function in self._functions.get((before.co_firstlineno, before.co_name), ()):
                self._set(function, "__code__", after)
            self._swap_code(before, after)

    def _swap_values(self, old: ast.stmt, new: ast.stmt, owner: tuple[str, ...]) -> None:
        """Replace defaults and constants of modules and classes, which are computed on import."""
        if isinstance(old, DEFINITIONS) and isinstance(new, DEFINITIONS):
            self._swap_defaults(old, new)
        elif isinstance(old, ast.ClassDef) and isinstance(new, ast.ClassDef):
            if _dump_all(old.bases, old.keywords) != _dump_all(new.bases, new.keywords):
                raise Unswappable
            if _dump_all(old.decorator_list) != _dump_all(new.decorator_list):
                raise Unswappable
            if len(old.body) != len(new.body):
                raise Unswappable
            for before, after in zip(old.body, new.body):  # noqa: B905
                self._swap_values(before, after, (*owner, old.name))
        elif ast.dump(old) != ast.dump(new):
            self._assign(new, owner)

    def _swap_defaults(self, old: Any, new: Any) -> None:
        if _dump_all(old.decorator_list) != _dump_all(new.decorator_list):
            raise Unswappable
        before, after = old.args, new.args
        if _dump_all(before.defaults, before.kw_defaults) == _dump_all(
            after.defaults, after.kw_defaults
        ):
            return
        for function in self._functions.get((node_line(old), old.name), ()):
            values = [self._value(each, function.__globals__) for each in after.defaults]
            self._set(function, "__defaults__", tuple(values) or None)
            named = zip(after.kwonlyargs, after.kw_defaults)  # noqa: B905
            by_name = {
                each.arg: self._value(default, function.__globals__)
                for each, default in named
                if default is not None
            }
            self._set(function, "__kwdefaults__", by_name or None)

    def _assign(self, node: ast.stmt, owner: tuple[str, ...]) -> None:
        value = getattr(node, "value", None)
        targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        if value is None or len(names) != len(targets):
            raise Unswappable
        for module in self.modules:
            place: Any = module
            for name in owner:
                place = getattr(place, name)
            new = self._value(value, vars(module))
            for target in names:
                old = getattr(place, target, None)
                self._set(place, target, new)
                # `from settings import LIMIT` copies the value; such modules must see the new one,
                # too.
                for other in () if owner else _holders(target, old):
                    self._set(other, target, new)

    def _set(self, owner: Any, name: str, value: Any) -> None:
        old = getattr(owner, name, None)
        try:
            setattr(owner, name, value)
        # Code with other free variables, slots, read-only attributes: the interpreter refuses.
        except (ValueError, AttributeError, TypeError):
            raise Unswappable from None
        self._undo.append((owner, name, old))

    def _value(self, node: ast.expr, names: dict[str, Any]) -> Any:
        code = compile(ast.Expression(node), self.path, "eval", flags=self._flags)
        return eval(code, names)


def undo(steps: Undo) -> None:
    """Undo swaps, the last one first."""
    for owner, name, old in reversed(steps):
        setattr(owner, name, old)


def _holders(name: str, value: Any) -> list[Any]:
    """Return the modules that imported a constant by its name."""
    return [
        module
        for module in list(sys.modules.values())
        if getattr(module, "__dict__", {}).get(name, _holders) is value
    ]


def node_line(node: Any) -> int:
    """Return the first line of a statement, including its decorators."""
    marks = [each.lineno for each in getattr(node, "decorator_list", ())]
    return min([node.lineno, *marks])


def _dump_all(*groups: Sequence[ast.AST | None]) -> list[str]:
    return [ast.dump(each) if each else "" for group in groups for each in group]


def _inner_code(code: CodeType) -> Iterator[CodeType]:
    return (each for each in code.co_consts if isinstance(each, CodeType))


def _line_starts(data: bytes) -> list[int]:
    starts = [0]
    for line in data.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts


def _future_flags(tree: ast.Module) -> int:
    flags = 0
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            for alias in node.names:
                flags |= getattr(__future__, alias.name).compiler_flag
    return flags
