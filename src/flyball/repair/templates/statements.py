"""Statements: add, remove or move one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from flyball.repair.inside.hot_swap import Edit
from flyball.repair.site import Draft, Site, rename
from flyball.repair.spectrum import ENDLESS

SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr, ast.Return, ast.Break, ast.Continue, ast.Raise)
MOST_LENGTH = 80


def insert_statement(site: Site) -> Iterator[Draft]:
    """Insert a statement like others of the function, before or after this one."""
    if site.function is None:
        return
    for text, weight in dict(reversed([*_statements(site)])).items():
        for edits in (site.insert_before(text), site.insert_after(text)):
            if edits:
                yield Draft(f"`{text}` added", edits, weight)


def _statements(site: Site) -> Iterator[tuple[str, float]]:
    names = [name for name in site.local_names if name not in ("self", "cls")]
    assert site.function is not None
    for name, method in site.container_methods.items():
        for other in names:
            if other != name:
                near = 1.5 if other in site.near_names else 0.7
                yield f"{name}.{method}({other})", near
    for text in _existing_statements(site):
        yield text, 1.0
        for mapping in site.parallels:
            if (mapped := rename(text, mapping)) != text:
                yield mapped, 1.5
    changing, counted = _assigned_names(site), _loop_names(site)
    for a in changing:
        for b in names:
            if a != b:
                yield f"{a} = {b}", 0.8 if b in site.near_names else 0.4
        # A loop that never ends most often lacks its step.
        steps = 2.5 if ENDLESS in site.clues and a in counted else 0.8
        yield from ((f"{a} += 1", steps), (f"{a} -= 1", steps / 2), (f"{a} = 0", 0.3))
    yield from _assignments_like(site)
    for text in _places(site):
        yield from ((f"{text} += 1", 0.4), (f"{text} -= 1", 0.4))
    for name in names:
        yield f"return {name}", 0.5
        if name in site.near_names and name in site.parameters:
            yield from _adapted(name, site.near_names)
    yield from (("continue", 0.5), ("break", 0.5))
    if not any(
        isinstance(each, ast.Return) and each.value for each in site.source.within(site.function)
    ):
        yield "return", 1.0


def _adapted(name: str, near: frozenset[str]) -> Iterator[tuple[str, float]]:
    """Convert a value to the form that the code after it expects."""
    for call in ("list", "abs", "sorted", "int", "str"):
        yield f"{name} = {call}({name})", 0.2
    for method in ("strip", "lower"):
        yield f"{name} = {name}.{method}()", 0.2
    for other in sorted(near - {name}):
        yield from ((f"{name} %= len({other})", 0.25), (f"{name} %= {other}", 0.2))
        yield f"{name} = min({name}, len({other}))", 0.2


def _assignments_like(site: Site) -> Iterator[tuple[str, float]]:
    """Yield assignments as elsewhere in the class, with flags inverted; fill in a table's first
    entry."""
    owner = site.source.class_of(site.node)
    for node in site.source.within(owner or site.function or site.node):
        match node:
            case ast.Assign(targets=[ast.Attribute() as target], value=ast.Constant(value=value)):
                if "\n" not in (text := site.text(target)):
                    yield f"{text} = {value!r}", 0.5
                    if isinstance(value, bool):
                        yield f"{text} = {not value}", 1.5
            case ast.Subscript(value=ast.Name() as held, slice=ast.Constant(value=str())):
                if held.id in site.local_names and "\n" not in (text := site.text(node)):
                    yield from ((f"{text} = True", 0.7), (f"{text} = False", 0.4))
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.BinOp(left=ast.List(), op=ast.Mult()),
            ):
                yield from ((f"{name}[0] = 1", 0.7), (f"{name}[0] = 0", 0.5))
                yield from ((f"{name}[0] = True", 0.4), (f"{name}[-1] = 1", 0.2))
            case _:
                continue


def _places(site: Site) -> list[str]:
    """Return attributes and items that the function reads, and that may hold a count."""
    assert site.function is not None
    found: dict[str, None] = {}
    for node in site.source.within(site.function):
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Load):
            around = site.source.parent.get(node)
            is_head = isinstance(around, ast.Attribute | ast.Subscript) or (
                isinstance(around, ast.Call) and around.func is node
            )
            if not is_head and not isinstance(getattr(node, "slice", None), ast.Slice):
                found[site.text(node)] = None
    return [text for text in found if "\n" not in text and len(text) < 40][:6]


def _existing_statements(site: Site) -> Iterator[str]:
    """Yield the simple statements of the function, and conditions that contain one."""
    assert site.function is not None
    for node in site.source.within(site.function):
        if isinstance(node, SIMPLE) and not _is_docstring(node):
            text = site.text(node)
            if "\n" not in text and len(text) < MOST_LENGTH:
                yield text
                around = site.source.parent.get(node)
                if isinstance(around, ast.If) and around.body == [node]:
                    yield f"if {site.text(around.test)}: {text}"


def _assigned_names(site: Site) -> list[str]:
    """Return variables that are assigned at least once, without parameters."""
    return [name for name in site.local_names if name not in site.parameters]


def _loop_names(site: Site) -> set[str]:
    """Return the names that control the enclosing loops."""
    found: set[str] = set()
    around = site.source.parent.get(site.node)
    while around is not None and around is not site.function:
        if isinstance(around, ast.While):
            found |= site.source.names_in(around.test)
        around = site.source.parent.get(around)
    return found


def _is_docstring(node: ast.stmt) -> bool:
    """Return whether a statement is a bare string or an ellipsis, neither of which is a lost
    value."""
    match node:
        case ast.Expr(value=ast.Constant(value=value)):
            return isinstance(value, str) or value is ...
        case _:
            return False


def return_value(site: Site) -> Iterator[Draft]:
    """Return a computed value, or a result at the end of the function."""
    node = site.node
    is_first = site.source.block_of(node)[0] is node
    if isinstance(node, ast.Expr) and not (is_first and _is_docstring(node)):
        start = site.source.span(node)[0]
        yield Draft("`return` before it", (Edit(start, start, "return "),), 2.0)
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        start, end = site.source.span(node)
        yield Draft("returned", (Edit(start, end, f"return {site.text(node.value)}"),), 0.5)
    if site.function is not None and site.source.block_of(node)[-1] is node:
        for name in site.local_names:
            if name != "self" and (edits := site.insert_after(f"return {name}")):
                yield Draft(f"`return {name}` added", edits, 0.7)


def delete_statement(site: Site) -> Iterator[Draft]:
    """Remove the statement; remove the condition of a block."""
    node = site.node
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import):
        return
    if site.source.indent(node) is None or _is_docstring(node):
        return
    start, end = site.source.span(node)
    if isinstance(node, ast.Break | ast.Continue):
        for text in {"break", "continue", "pass"} - {site.text(node)}:
            yield Draft(f"`{site.text(node)}` → `{text}`", (Edit(start, end, text),), 1.5)
        return
    # `pass` and not nothing: the block may hold no other statement.
    yield Draft("left out", (Edit(start, end, "pass"),), 1.0)


def move_statement(site: Site) -> Iterator[Draft]:
    """Move a statement before the one above it, or after the one below it."""
    block = site.source.block_of(site.node)
    i = block.index(site.node)
    if i + 1 < len(block):
        yield from _exchange_statements(site, block[i], block[i + 1])
    if i > 0:
        yield from _exchange_statements(site, block[i - 1], block[i])


def _exchange_statements(site: Site, a: ast.stmt, b: ast.stmt) -> Iterator[Draft]:
    if site.source.indent(a) is None or site.source.indent(b) is None:
        return
    if _is_docstring(a) or isinstance(a, ast.Import | ast.ImportFrom):
        return
    (a1, a2), (b1, b2) = site.source.span(a), site.source.span(b)
    edits = (Edit(a1, a2, site.text(b)), Edit(b1, b2, site.text(a)))
    yield Draft("moved past the next statement", edits, 1.0)


def dedent_statement(site: Site) -> Iterator[Draft]:
    """Move the last statement of a block out of it, or a statement into the block above."""
    source, node = site.source, site.node
    block, outer = source.block_of(node), source.parent.get(node)
    indent = source.indent(node)
    assert node.end_lineno is not None
    start, end = source.line_start(node.lineno), source.line_start(node.end_lineno + 1)
    lines = source.data[start:end].decode("utf-8")
    if indent is None or not lines.endswith("\n"):
        return
    if isinstance(outer, ast.For | ast.While | ast.If | ast.With) and len(block) > 1:
        level = source.indent(outer)
        if block[-1] is node and level is not None:
            text = _reindent(lines, indent, level)
            assert outer.end_lineno is not None
            at = source.line_start(outer.end_lineno + 1)
            yield Draft("moved out of the block", (Edit(start, end, ""), Edit(at, at, text)), 1.0)
    i = block.index(node)
    above = block[i - 1] if i > 0 else None
    if isinstance(above, ast.For | ast.While | ast.If | ast.With):
        into = above.body[-1]
        level = source.indent(into)
        assert into.end_lineno is not None
        if level is not None and len(level) > len(indent):
            at = source.line_start(into.end_lineno + 1)
            text = _reindent(lines, indent, level)
            yield Draft("moved into the block", (Edit(at, at, text), Edit(start, end, "")), 0.7)


def _reindent(lines: str, old: str, new: str) -> str:
    moved = [new + line.removeprefix(old) for line in lines.split("\n")[:-1]]
    return "\n".join(moved) + "\n"


def mutable_default(site: Site) -> Iterator[Draft]:
    """Create a default list or dictionary in each call instead of sharing it between calls."""
    function = site.node if isinstance(site.node, ast.FunctionDef) else site.function
    if function is None:
        return
    args = function.args
    pairs = [*zip(args.args[len(args.args) - len(args.defaults) :], args.defaults, strict=True)]
    pairs += [(a, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d]
    # A statement before it would make the docstring an ordinary text.
    first = function.body[1] if _is_docstring(function.body[0]) else function.body[0]
    indent = site.source.indent(first)
    for arg, default in pairs:
        if isinstance(default, ast.List | ast.Dict | ast.Set | ast.Call) and indent is not None:
            text, name, line = site.text(default), arg.arg, site.source.newline
            at = site.source.line_start(first.lineno)
            body = f"{indent}if {name} is None:{line}{indent}    {name} = {text}{line}"
            edits = (site.source.replace(default, "None"), Edit(at, at, body))
            yield Draft(f"`{name}={text}` created in each call", edits)


def default_value(site: Site) -> Iterator[Draft]:
    """Replace the default of a parameter."""
    function = site.node if isinstance(site.node, ast.FunctionDef) else site.function
    if function is None:
        return
    for default in (*function.args.defaults, *function.args.kw_defaults):
        if not isinstance(default, ast.Constant):
            continue
        for text in _other_defaults(default):
            yield site.swap(default, text, f"default `{site.text(default)}` → `{text}`")


def _other_defaults(default: ast.Constant) -> list[str]:
    match default.value:
        case bool():
            return [str(not default.value)]
        case int():
            value = default.value
            return [str(each) for each in (value + 1, value - 1, 0, 1) if each != value]
        case None:
            return ["0", "()", '""', "1"]
        case str():
            return [repr(each) for each in ("", " ", ",") if each != default.value]
        case _:
            return ["None", "0"]
