"""The functions of a Python test module, with what the runner makes of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from flyball.core.weakening.python.assertion import Assertion, assertions_of, dotted, is_literal
from flyball.core.weakening.python.elsewhere import is_elsewhere
from flyball.core.weakening.python.tables import Table, decorated_tables, looped_tables
from flyball.regex import regex

Definition = ast.FunctionDef | ast.AsyncFunctionDef


class Skip(NamedTuple):
    """One reason not to run a test, or not to mind its failure."""

    text: str
    line: int


@dataclass(frozen=True)
class Routine:
    """A function or method of a test module; what is dear to read is read when it is asked for."""

    path: str
    name: str
    node: Definition
    is_collected: bool
    text: str
    outer: tuple[Skip, ...]
    """What skips everything in the class or module around it."""
    reader: Reader

    @cached_property
    def skips(self) -> tuple[Skip, ...]:
        """Every reason not to run it."""
        return (*self.outer, *self.reader.skips(self.node, self.text))

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """The tables it runs over."""
        constants = self.reader.constants
        marked = decorated_tables(self.node.decorator_list, constants)
        return (*marked, *looped_tables(self.node.body, constants))

    @cached_property
    def assertions(self) -> tuple[Assertion, ...]:
        """What it asserts, itself or by a helper of its module."""
        return tuple(assertions_of(self.node.body, self.reader.helpers))

    @property
    def place(self) -> tuple[str, ...]:
        """The classes around it, and its own name."""
        return tuple(self.name.split("."))

    @property
    def cases(self) -> tuple[ast.expr, ...]:
        """The rows of all its tables."""
        return tuple(row for table in self.tables for row in table.rows)

    @cached_property
    def steps(self) -> tuple[str, ...]:
        """Its statements, each on its own, whatever its variables are called."""
        body = _without_docstring(self.node.body)
        return tuple(_step(node) for stmt in body for node in ast.walk(stmt) if _is_step(node))

    @cached_property
    def shape(self) -> str:
        """What it does, whatever it is called."""
        arguments = ast.dump(self.node.args)
        return "\n".join([arguments, *map(ast.dump, _without_docstring(self.node.body))])

    @property
    def is_empty(self) -> bool:
        """Whether it does nothing at all."""
        body = _without_docstring(self.node.body)
        return all(
            isinstance(stmt, ast.Pass)
            or (isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant))
            for stmt in body
        )


class Module(NamedTuple):
    """A parsed test module."""

    path: str
    text: str
    routines: Mapping[str, Routine]
    constants: Mapping[str, ast.expr]
    helpers: frozenset[str]
    used: frozenset[str]
    """Every name that the tests mention, their helpers' among them."""


def read_module(path: str, text: str) -> Module | None:
    """Parse a test module, or None where it is not valid Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            # `u"…"` is the same text as `"…"`, and would be told apart.
            node.kind = None
    constants = dict(_constants(tree.body))
    skips = {name for name, value in constants.items() if _skip_names(value, frozenset())}
    helpers = _helpers(tree)
    bases = frozenset(_bases(tree.body))
    reader = Reader(path, text.split("\n"), constants, frozenset(skips), helpers, bases)
    routines = {routine.name: routine for routine in reader.routines(tree.body)}
    for name in _removed_names(tree.body):
        routines.pop(name, None)
    tests = [routine for routine in routines.values() if routine.is_collected]
    used = frozenset(word for test in tests for word in WORD.findall(test.text))
    return Module(path, text, routines, constants, helpers, used)


WORD = regex(r"[A-Za-z_]\w*")


def kept(old: Module, new: Module) -> frozenset[str]:
    """The functions that a change left as they are, with everything that decides about them.

    A table or a mark listed under a name, and a helper that asserts now, change what a test does
    whose own text stays the same.
    """
    names = old.constants.keys() | new.constants.keys()
    other = {n for n in names if _dumped(old.constants.get(n)) != _dumped(new.constants.get(n))}
    other |= old.helpers ^ new.helpers

    def is_kept(name: str) -> bool:
        was, now = old.routines[name], new.routines.get(name)
        if now is None or (was.text, was.is_collected) != (now.text, now.is_collected):
            return False
        has_same_marks = [skip.text for skip in was.outer] == [skip.text for skip in now.outer]
        return has_same_marks and other.isdisjoint(WORD.findall(was.text))

    return frozenset(filter(is_kept, old.routines))


def _dumped(node: ast.expr | None) -> str:
    return ast.dump(node) if node else ""


def _constants(body: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    """Names bound to a value once at the top, and fixtures that only return a literal."""
    for stmt in body:
        match stmt:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value
            case ast.FunctionDef(name=name, body=[ast.Return(value=ast.expr() as value)]) if (
                is_literal(value)
            ):
                yield name, value
            case _:
                continue


def _helpers(tree: ast.Module) -> frozenset[str]:
    """Functions of the module that assert on behalf of tests."""
    return frozenset(
        stmt.name
        for stmt in tree.body
        if isinstance(stmt, Definition)
        and not stmt.name.startswith("test")
        and any(True for _ in assertions_of(stmt.body))
    )


def _removed_names(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Tests that are defined and then unbound, rebound or switched off."""
    for stmt in body:
        targets = stmt.targets if isinstance(stmt, ast.Assign | ast.Delete) else []
        for target in targets:
            name = dotted(target)
            yield name.removesuffix(".__test__")


class Reader(NamedTuple):
    """Walks a module's definitions, carrying what outer scopes say about inner ones."""

    path: str
    lines: Sequence[str]
    constants: Mapping[str, ast.expr]
    skip_names: frozenset[str]
    helpers: frozenset[str]
    bases: frozenset[str]
    """Classes whose tests are run as those of a class that has them as its base."""

    def routines(
        self,
        body: Sequence[ast.stmt],
        prefix: str = "",
        outer: tuple[Skip, ...] = (),
        is_suite: bool = True,
    ) -> Iterator[Routine]:
        """Every function below these statements that could be reached by a test runner."""
        outer = (*outer, *self._marks(body))
        for stmt in body:
            if isinstance(stmt, Definition):
                yield self._routine(stmt, prefix, outer, is_suite)
            elif isinstance(stmt, ast.ClassDef):
                here = (*outer, *self._decorated(stmt.decorator_list))
                is_run = is_suite and (_is_suite(stmt) or stmt.name in self.bases)
                yield from self.routines(stmt.body, f"{prefix}{stmt.name}.", here, is_run)
            elif isinstance(stmt, ast.If):
                live = not isinstance(stmt.test, ast.Constant) or bool(stmt.test.value)
                yield from self.routines(
                    stmt.body if live else stmt.orelse, prefix, outer, is_suite
                )
            elif isinstance(stmt, ast.Try):
                yield from self.routines(stmt.body, prefix, outer, is_suite)

    def _routine(
        self, node: Definition, prefix: str, outer: tuple[Skip, ...], is_suite: bool
    ) -> Routine:
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        return Routine(
            path=self.path,
            name=prefix + node.name,
            node=node,
            is_collected=is_suite and node.name.startswith("test"),
            text="\n".join(self.lines[first - 1 : node.end_lineno]),
            outer=outer,
            reader=self,
        )

    def skips(self, node: Definition, text: str) -> Iterator[Skip]:
        """What a function itself says about not being run."""
        yield from self._decorated(node.decorator_list)
        # Most tests skip nothing, and looking for it in every statement is dear.
        if SKIPPING.search(text):
            yield from _skipping(node.body)

    def _marks(self, body: Sequence[ast.stmt]) -> Iterator[Skip]:
        """`pytestmark` and skips that are called while the module or class is read."""
        for stmt in body:
            match stmt:
                case ast.Assign(targets=[ast.Name(id="pytestmark")], value=value):
                    marks = value.elts if isinstance(value, ast.List | ast.Tuple) else [value]
                    yield from self._decorated(marks)
                case ast.Expr() | ast.If():
                    yield from _skipping([stmt])
                case _:
                    continue

    def _decorated(self, decorators: Sequence[ast.expr]) -> Iterator[Skip]:
        for decorator in decorators:
            if _skip_names(decorator, self.skip_names):
                # A mark that is kept under a name says what it says when it is written out.
                meant = self.constants.get(dotted(decorator), decorator)
                yield Skip(_plain(meant), decorator.lineno)
            elif dotted(getattr(decorator, "func", decorator)).endswith("parametrize"):
                for node in ast.walk(decorator):
                    if isinstance(node, ast.keyword) and node.arg == "marks":
                        yield from self._decorated(
                            node.value.elts if isinstance(node.value, ast.List) else [node.value]
                        )


SKIPPING = regex(r"skip|xfail", re.IGNORECASE)
SKIPS = frozenset({"skip", "skipif", "xfail", "skipIf", "skipUnless", "expectedFailure"})
SKIP_CALLS = frozenset({"pytest.skip", "pytest.xfail", "pytest.importorskip", "self.skipTest"})


def _skip_names(node: ast.expr, known: frozenset[str]) -> bool:
    name = dotted(getattr(node, "func", node))
    return bool(name) and (name.split(".")[-1] in SKIPS or name in known)


def _skipping(body: Sequence[ast.stmt]) -> Iterator[Skip]:
    """Statements in a body that skip the test when they are reached."""
    for stmt in body:
        if isinstance(stmt, Definition | ast.ClassDef):
            continue
        condition = (
            f"pytest.mark.skipif({ast.unparse(stmt.test)})" if isinstance(stmt, ast.If) else ""
        )
        is_few = bool(condition) and is_elsewhere(condition)
        for node in ast.walk(stmt):
            is_call = isinstance(node, ast.Call) and dotted(node.func) in SKIP_CALLS
            raised = node.exc if isinstance(node, ast.Raise) else None
            what = dotted(getattr(raised, "func", raised)) if raised else ""
            if is_call or what.endswith("SkipTest"):
                yield Skip(condition if is_few else _plain(node), getattr(node, "lineno", 0))


def _plain(node: ast.AST) -> str:
    """A skip without its reason, which may be reworded freely."""
    call = node.exc if isinstance(node, ast.Raise) else node
    if not isinstance(call, ast.Call):
        return ast.unparse(node)
    name = dotted(call.func)
    if name in SKIP_CALLS or name.endswith(("SkipTest", ".skip")):
        return name
    keywords = [kw for kw in call.keywords if kw.arg != "reason"]
    args = [
        arg
        for arg in call.args
        if not isinstance(arg, ast.Constant) or not isinstance(arg.value, str)
    ]
    return ast.unparse(ast.Call(call.func, args, keywords))


def _is_suite(node: ast.ClassDef) -> bool:
    """Whether a test runner looks into a class."""
    is_named = node.name.startswith("Test")
    is_case = any(dotted(base).split(".")[-1].endswith(("TestCase", "Test")) for base in node.bases)
    switched_off = any(
        isinstance(stmt, ast.Assign)
        and any(dotted(target) == "__test__" for target in stmt.targets)
        and isinstance(stmt.value, ast.Constant)
        and not stmt.value.value
        for stmt in node.body
    )
    return (is_named or is_case) and not switched_off


def _bases(body: Sequence[ast.stmt]) -> Iterator[str]:
    """The bases of every suite at the top of a module, and theirs."""
    classes = {stmt.name: stmt for stmt in body if isinstance(stmt, ast.ClassDef)}
    waiting = [stmt for stmt in classes.values() if _is_suite(stmt)]
    seen: set[str] = set()
    while waiting:
        names = {dotted(base) for base in waiting.pop().bases} & classes.keys() - seen
        seen |= names
        waiting += [classes[name] for name in names]
        yield from names


def _without_docstring(body: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    match body[0]:
        case ast.Expr(value=ast.Constant(value=str())):
            return body[1:]
        case _:
            return body


SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Assert, ast.Delete)


def _is_step(node: ast.AST) -> bool:
    return isinstance(node, (*SIMPLE, ast.withitem))


def _step(node: ast.AST) -> str:
    return re.sub(r"Name\(id='\w+'", "Name(", ast.dump(node))
