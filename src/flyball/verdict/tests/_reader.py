"""Read the tests of a file from its syntax tree."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from flyball.regex import regex
from flyball.verdict.tests._assertions import assertions_in, strings_blanked
from flyball.verdict.tests._calls import (
    CLASSES,
    FUNCTIONS,
    LAMBDAS,
    LISTS,
    LOOPS,
    Call,
    bare,
    call_of,
    string_in,
)
from flyball.verdict.tests._conditions import is_elsewhere
from flyball.verdict.tests._model import Assertion, Skip, TestCase
from flyball.verdict.tests._reach import BLOCKS, constant_of, with_reach
from flyball.verdict.tests._tree import STRINGS, Node, kinds, language_of, parse
from flyball.verdict.tests._words import (
    BUILD_TAGS,
    FOCUS,
    MACRO_TESTS,
    MARKED,
    SKIPS,
    SUITE_CALLS,
    TEST_CALLS,
    TEST_NAMES,
    style_of,
)


class Found(NamedTuple):
    """A test or another function, before its assertions are read."""

    suites: tuple[str, ...]
    name: str
    node: Node
    body: Node
    marks: tuple[Node, ...]
    outer: tuple[Node, ...]
    """The marks of the enclosing suites."""
    is_test: bool
    loops: tuple[Node, ...] = ()


class Around(NamedTuple):
    """Facts about the suites around a piece of a file."""

    suites: tuple[str, ...] = ()
    outer: tuple[Node, ...] = ()
    is_suite: bool = True
    loops: tuple[Node, ...] = ()


def read_tests(path: str, source: str | bytes) -> tuple[TestCase, ...]:
    """Return the tests of a file in order, with the functions that they call.

    Empty for languages without a grammar and for files that cannot be parsed. The rest of a file is
    a case without a name, if it makes assertions.
    """
    return _Reader(path, source).cases()


class _Reader:
    def __init__(self, path: str, source: str | bytes) -> None:
        self.path = path
        self.source = source.encode() if isinstance(source, str) else source
        self.language = language_of(path) or ""
        self.style = style_of(self.language)
        self.root = parse(self.language, self.source) if self.language else None

    def cases(self) -> tuple[TestCase, ...]:
        if self.root is None:
            return ()
        self.never: list[int] = []
        self.aliases = _aliases(self.root) if self.style == "python" else {}
        self.bases = _bases(self.root) if self.style == "python" else frozenset[str]()
        found = list(self._found(self.root, Around()))
        nodes = frozenset(id(each.node) for each in found) | set(self.never)
        if self.style == "python":
            found = _still_there(found, self.root)
        helpers = self._helpers(found, nodes)
        above = tuple(_skipping_statements(self.root, self.style, nodes))
        constants = _constants(self.root)
        cases = [self._case(each, nodes, helpers, above, constants) for each in found]
        rest = self._rest(nodes, helpers, constants, any_test=any(c.is_test for c in cases))
        return tuple(sorted([*cases, *rest], key=lambda case: (case.line, case.last_line)))

    def _helpers(self, found: Sequence[Found], nodes: AbstractSet[int]) -> frozenset[str]:
        """Return the functions that make assertions, and those that call them."""
        helpers = frozenset[str]()
        for _ in range(2):
            helpers |= {
                each.name
                for each in found
                if not each.is_test
                and each.name not in ("main", "setUp", "tearDown")
                and assertions_in(each.body, self.language, helpers, nodes - {id(each.node)})
            }
        return helpers

    def _found(self, node: Node, around: Around) -> Iterator[Found]:
        before: list[Node] = []
        for number, kid in enumerate(node.kids):
            macro = _macro_test(kid, node.kids[number + 1 : number + 2])
            if macro is not None:
                title, body = macro
                yield Found(
                    around.suites, title, _spanning(kid, body), body, (), around.outer, True
                )
                continue
            if kid.kind in ("attribute_item", "inner_attribute_item") or "comment" in kid.kind:
                before.append(kid)
                continue
            yield from self._found_at(kid, around, before)
            before = []

    def _found_at(self, kid: Node, around: Around, before: list[Node]) -> Iterator[Found]:
        marks = (*before, *_marks(kid))
        call = call_of(kid) if kid.kind not in ("macro_invocation",) else None
        if kid.kind in FUNCTIONS and (body := kid.get("body")) is not None:
            yield self._function(kid, _body(kid, body), marks, around)
        elif kid.kind in CLASSES and (name := kid.get("name", "type")) is not None:
            is_run = self.style != "python" or self._is_suite(kid, name.text)
            here = around._replace(
                suites=(*around.suites, name.text),
                outer=(*around.outer, *marks),
                is_suite=around.is_suite and is_run,
            )
            yield from (
                self._found(kid.get("body") or kid, here)
                if self.style != "python"
                else (self._found(kid, here))
            )
        elif call is not None and (titled := self._titled(call)) is not None:
            yield from self._called(call, *titled, around)
        elif kid.kind == "variable_declarator" and (value := kid.get("value")) is not None:
            body = value.get("body")
            if value.kind in LAMBDAS and body is not None and (name := kid.get("name")):
                found = Found(around.suites, name.text, kid, body, (), around.outer, False)
                yield found._replace(loops=around.loops)
            else:
                yield from self._found(kid, around)
        elif kid.kind.startswith("preproc_if"):
            line_end = self.source.find(b"\n", kid.start)
            head = Node(self.source, "head", kid.start, line_end)
            yield from self._found(kid, around._replace(outer=(*around.outer, head)))
        elif kid.kind == "if_statement" and _is_never(kid):
            self.never.append(id(kid))
            others = [each for each in kid.kids if each.field == "alternative"]
            for other in others:
                yield from self._found_at(other, around, [])
        elif kid.kind not in STRINGS and not (kid.kind == "lambda" and self.style == "python"):
            loops = (*around.loops, kid) if kid.kind in LOOPS or _is_each(call) else around.loops
            yield from self._found(kid, around._replace(loops=loops))

    def _function(self, node: Node, body: Node, marks: tuple[Node, ...], around: Around) -> Found:
        name, suites = self._named(node, around.suites)
        words = " ".join(mark.text for mark in marks)
        is_marked = bool(self.style in MARKED and MARKED[self.style].search(words))
        is_named = self.style in TEST_NAMES and bool(TEST_NAMES[self.style].fullmatch(name))
        if self.style == "java" and not is_marked:
            is_named = is_named and "@" not in words
        is_test = around.is_suite and (is_marked or is_named or len(suites) > len(around.suites))
        return Found(suites, name, node, body, marks, around.outer, is_test, around.loops)

    def _named(self, node: Node, suites: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
        named = node.get("name")
        if named is not None:
            return named.text, suites
        declarator = node.get("declarator")
        while declarator is not None and declarator.kind != "function_declarator":
            declarator = declarator.get("declarator")
        if declarator is None:
            return "", suites
        inner = declarator.get("declarator")
        name = inner.text if inner else ""
        given = declarator.get("parameters")
        if MACRO_TESTS.fullmatch(name) and given is not None and given.parts:
            *outer, last = [part.text for part in given.parts]
            return last.strip('"'), (*suites, *outer)
        return name, suites

    def _is_suite(self, node: Node, name: str) -> bool:
        """Return whether a Python test runner collects from a class."""
        bases = [base.text.rpartition(".")[2] for base in node.all("base")]
        # A base that is defined elsewhere may well be one: its functions are called as tests are.
        is_case = any(base not in ("object", "ABC", "Protocol") for base in bases)
        off = any(re.fullmatch(r"__test__\s*=\s*False", kid.text) for kid in node.kids)
        return (name.startswith("Test") or is_case or name in self.bases) and not off

    def _titled(self, call: Call) -> tuple[bool, str, Node] | None:
        """Return whether a call makes a suite, its title and its body, if it makes a test."""
        if self.style not in TEST_CALLS:
            return None
        head = call.name.replace("()", "").split(".")
        plain = ".".join(word for word in head if word not in MODIFIERS) or head[0]
        is_suite = bool(SUITE_CALLS[self.style].fullmatch(plain))
        if not is_suite and not TEST_CALLS[self.style].fullmatch(plain):
            return None
        body = next((b for arg in (*call.args, *_block(call)) if (b := _callback(arg))), None)
        if body is None and (call.name.endswith(".todo") or _is_given_a_function(call)):
            body = call.node
        if body is None and call.args and call.args[0].kind == "object":
            return _described(call.args[0], is_suite=is_suite)
        if body is None:
            return None
        title = next((string_in(a) for a in call.args if a.kind in STRINGS), "")
        named = call.args[0].text if call.args and call.args[0].kind not in LAMBDAS else ""
        return is_suite, title or named, body

    def _called(
        self, call: Call, is_suite: bool, title: str, body: Node, around: Around
    ) -> Iterator[Found]:
        loops = (*around.loops, call.node) if _is_each(call) else around.loops
        if is_suite:
            head = Node(self.source, "head", call.node.start, body.start)
            head.kids = [kid for kid in call.node.kids if kid.end <= body.start]
            here = Around((*around.suites, title), (*around.outer, head), True, loops)
            yield from self._found(body, here)
        else:
            yield Found(around.suites, title, call.node, body, (), around.outer, True, loops)

    def _case(
        self,
        found: Found,
        nodes: AbstractSet[int],
        helpers: AbstractSet[str],
        above: tuple[str, ...],
        constants: dict[str, Node],
    ) -> TestCase:
        apart = nodes - {id(found.node)}
        known = helpers - {found.name}
        assertions = assertions_in(found.body, self.language, known, apart)
        assertions += _printed(found, self.style)
        start = min([found.node.start, *(mark.start for mark in found.marks if _is_near(mark))])
        said = _line_start(self.source, start)
        text = self.source[said : found.node.end].decode("utf-8", "replace")
        skips = [*self._skips(found), *(Skip(t, 1) for t in above)]
        return TestCase(
            self.path,
            found.suites,
            found.name,
            text.strip("\n").replace("\r\n", "\n"),
            self.source.count(b"\n", 0, start) + 1,
            self.source.count(b"\n", 0, found.node.end) + 1,
            tuple(with_reach(assertions, found.body)),
            tuple(_rows(found, assertions, constants)),
            tuple(skips),
            tuple(_steps(found.body, assertions, apart)),
            frozenset(_called_names(found.node)),
            found.is_test and not _is_never_run(found, assertions, self.style),
            found.node,
            found.body,
        )

    def _rest(
        self,
        nodes: AbstractSet[int],
        helpers: AbstractSet[str],
        constants: dict[str, Node],
        *,
        any_test: bool,
    ) -> Iterator[TestCase]:
        """Yield the assertions of a file outside its functions."""
        assert self.root is not None
        assertions = assertions_in(self.root, self.language, helpers, nodes)
        found = Found((), "", self.root, self.root, (), (), True)
        steps = tuple(_steps(self.root, assertions, nodes))
        last = self.source.count(b"\n") + 1
        text = "\n".join(each.text for each in assertions) or self.source.decode("utf-8", "replace")
        reached = tuple(with_reach(assertions, self.root))
        rows = tuple(_rows(found, assertions, constants, nodes)) if assertions else ()
        above = _left_out_modules(self.root) if self.style == "rust" else ()
        skips = tuple(Skip(each, 1) for each in above)
        yield TestCase(
            self.path, (), "", text, 1, last, reached, rows, skips, steps, frozenset(),
            bool(assertions) or not (any_test or self.style == "python"), self.root, self.root,
        )  # fmt: skip

    def _skips(self, found: Found) -> Iterator[Skip]:
        pattern = SKIPS.get(self.style)
        if pattern is None:
            return
        marks = [self._meant(mark) for mark in found.marks if "comment" not in mark.kind]
        for node in [*marks, *found.outer, found.node]:
            text, blank = node.source[node.start : node.end], strings_blanked(node)
            is_named = node.kind == "decorator" and node.source is not self.source
            text, blank = (b"@" + text, "@" + blank) if is_named else (text, blank)
            for match in pattern.finditer(blank):
                said = text.decode("latin-1")[match.start() : match.end()]
                at = node.line + blank.count("\n", 0, match.start())
                condition = self._condition(node, match.start())
                yield Skip(condition or _unreasoned(said, self.style), at)
            if self.style == "c" and node.source is self.source:
                yield from (Skip(_squeezed(tag), node.line) for tag in HIDING.findall(node.text))
            for match in FOCUS.finditer(blank) if self.style in TEST_CALLS else ():
                yield Skip(_squeezed(match[0]), node.line, True)

    def _meant(self, mark: Node) -> Node:
        """Return a mark that is stored under a name as if it were used directly."""
        value = self.aliases.get(mark.text.removeprefix("@"))
        if value is None:
            return mark
        meant = Node(value.source + b" ", "decorator", value.start, value.end)
        meant.kids = value.kids
        return meant

    def _condition(self, node: Node, at: int) -> str:
        """Return a statement that skips under a condition as the equivalent mark."""
        if self.style != "python" or node.kind == "decorator":
            return ""
        for stmt in node.walk():
            test = stmt.get("condition") if stmt.kind == "if_statement" else None
            if test is not None and stmt.start <= node.start + at < stmt.end:
                said = f"@pytest.mark.skipif({test.plain})"
                return said if is_elsewhere(said) else ""
        return ""


HIDING = regex(r"\[(?:\.|!hide|!shouldfail|!mayfail)[^\]\n]*\]")


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


MODIFIERS = kinds(
    "only skip each concurrent sequential failing fails todo skipIf runIf serial fixme parallel"
    " for cb"
)


REASON = regex(r",?\s*reason\s*=\s*(?:[rfb]*(?:\"[^\"]*\"|'[^']*')\s*)+")


def _unreasoned(text: str, style: str) -> str:
    """Return a skip without its reason, since rewording that changes nothing."""
    said = REASON.sub("", text)
    if style == "python":
        said = re.sub(r",\s*(?:\"[^\"]*\"|'[^']*')(?=\s*,?\s*\)$)", "", said)
        said = re.sub(r"\(\s*,?\s*\)$|\(\s*(?:\"[^\"]*\"|'[^']*')\s*\)", "", said)
        return _squeezed(said).replace("'", '"').removesuffix("(").removeprefix("@")
    return _squeezed(said) if style == "rust" else re.sub(r"[\"'`]+$", "", _squeezed(said))


def _body(node: Node, body: Node) -> Node:
    # Python's statements stand in the definition itself.
    return node if node.kind == "function_definition" and body.kind not in BLOCKS else body


def _macro_test(kid: Node, following: Sequence[Node]) -> tuple[str, Node] | None:
    """Return a test of Catch2 and similar frameworks: a call followed by a block."""
    call = call_of(bare(kid.parts[0])) if kid.kind == "expression_statement" and kid.parts else None
    if call is None or not following or following[0].kind != "compound_statement":
        return None
    if not CATCH.fullmatch(call.name) or not call.args:
        return None
    return string_in(call.args[0]), following[0]


CATCH = regex(r"(?:DOCTEST_|CATCH_)?(?:TEST_CASE|SCENARIO|TEMPLATE_TEST_CASE)\w*|START_TEST")


def _spanning(first: Node, last: Node) -> Node:
    """Return one node for a call and the block after it."""
    node = Node(first.source, "macro_test", first.start, last.end)
    node.kids = [first, last]
    return node


def _marks(node: Node) -> list[Node]:
    """Return decorators, annotations and attributes of a definition."""
    own = [_with_sign(each) for each in node.all("decorator")]
    for kid in node.kids:
        if kid.kind == "modifiers":
            own += [each for each in kid.kids if "annotation" in each.kind]
        elif kid.kind == "attribute_list":
            own.append(kid)
    return own


def _with_sign(decorator: Node) -> Node:
    """Return a Python decorator with its `@`, which the tree leaves out."""
    start = decorator.source.rfind(b"@", 0, decorator.start)
    mark = Node(decorator.source, "decorator", start, decorator.end)
    mark.kids = [decorator]
    return mark


def _is_near(mark: Node) -> bool:
    return "comment" not in mark.kind


def _is_never(node: Node) -> bool:
    test = node.get("condition")
    return test is not None and constant_of(test) is False


def _is_given_a_function(call: Call) -> bool:
    """Return whether `test('title', check)` refers to a function defined elsewhere."""
    return (
        call.args[:1] != ()
        and call.args[0].kind in STRINGS
        and any(arg.kind == "identifier" for arg in call.args[1:])
    )


def _described(options: Node, *, is_suite: bool) -> tuple[bool, str, Node] | None:
    """Return the parts of `test({ name: 'adds', fn() {} })`."""
    title, body = "", None
    for part in options.parts:
        key, value = part.get("key", "name"), part.get("value") or part
        if key is not None and key.text == "name":
            title = string_in(value)
        elif key is not None and key.text == "fn":
            body = value.get("body")
    return (is_suite, title, body) if body is not None else None


def _block(call: Call) -> list[Node]:
    block = call.node.get("block")
    return [block] if block else []


def _callback(node: Node) -> Node | None:
    if node.kind not in LAMBDAS:
        return None
    return node.get("body") or node


def _is_each(call: Call | None) -> bool:
    return call is not None and bool(EACH.fullmatch(call.last) or ".each" in call.name)


EACH = regex(r"each\w*|forEach|map|times|each_with_index|iter|into_iter|entries")


def _called_names(node: Node) -> Iterator[str]:
    """Yield the names of called functions, and of functions passed to a test as its body."""
    for each in node.walk():
        if (call := call_of(each)) is not None:
            yield call.last
            named = call.args if each is node else ()
            yield from (arg.text for arg in named if arg.kind == "identifier")


def _line_start(source: bytes, at: int) -> int:
    start = source.rfind(b"\n", 0, at) + 1
    return start if not source[start:at].strip() else at


def _bases(root: Node) -> frozenset[str]:
    """Return the bases of every suite of a Python module, and theirs."""
    classes = {
        name.text: [base.text for base in kid.all("base")]
        for kid in root.kids
        if kid.kind == "class_definition" and (name := kid.get("name"))
    }
    waiting = [
        name
        for name, bases in classes.items()
        if name.startswith("Test") or any(b.endswith(("TestCase", "Test")) for b in bases)
    ]
    seen: set[str] = set()
    while waiting:
        fresh = set(classes.get(waiting.pop(), ())) & classes.keys() - seen
        seen |= fresh
        waiting += fresh
    return frozenset(seen)


SKIPPING = regex(r"\b(?:skip\w*|xfail)\b")


def _aliases(root: Node) -> dict[str, Node]:
    """Return the marks that a Python module stores under a name."""
    found: dict[str, Node] = {}
    for kid in root.kids:
        left, value = kid.get("left"), kid.get("value")
        if left is not None and value is not None and SKIPPING.search(value.text):
            found[left.text] = value
    return found


def _still_there(found: Sequence[Found], root: Node) -> list[Found]:
    """Leave out definitions that a Python module later redefines, deletes or disables."""
    last = {(each.suites, each.name): each.node.start for each in found}
    for kid in root.kids:
        left = kid.get("left") if kid.kind == "assignment" else None
        gone = [part.text for part in kid.parts] if kid.kind == "delete" else []
        gone += [left.text.removesuffix(".__test__")] if left is not None else []
        for name in gone:
            if last.get(((), name), len(root.source)) < kid.start:
                last[(), name] = -1
    return [each for each in found if last[each.suites, each.name] == each.node.start]


def _skipping_statements(root: Node, style: str, nodes: AbstractSet[int]) -> Iterator[str]:
    """Yield what skips a whole file: statements outside its functions, build tags."""
    if style == "go":
        head = root.source[:4000].decode("utf-8", "replace").replace("\r\n", "\n")
        tags = [_tag(match[0]) for match in BUILD_TAGS.finditer(head)]
        yield from dict.fromkeys(tag for tag in tags if not OLD_GO.fullmatch(tag))
        yield from _switched_off(root)
    if style != "python":
        return
    for kid in root.kids:
        if id(kid) in nodes or kid.kind in ("class_definition", "import_statement"):
            continue
        said = strings_blanked(kid)
        if kid.kind == "assignment" and said.startswith("pytestmark"):
            said = "@" + re.sub(r"^pytestmark\s*=\s*\[?\s*", "", said).rstrip("]")
        elif kid.kind == "assignment":
            continue
        yield from (_unreasoned(match[0], style) for match in SKIPS["python"].finditer(said))


def _left_out_modules(root: Node) -> Iterator[str]:
    """Return attributes on test modules that are declared here."""
    marks: list[str] = []
    for kid in root.kids:
        if kid.kind == "attribute_item":
            marks += SKIPS["rust"].findall(kid.text)
        elif kid.kind != "line_comment":
            if kid.kind == "mod_item" and kid.get("body") is None:
                yield from (f"{_squeezed(mark)} {kid.plain}" for mark in marks)
            marks = []


OLD_GO = regex(r"build tag go1(?:\.(?:\d|1[0-7]))?")


def _tag(text: str) -> str:
    """Normalise a build tag, so that both spellings count as one: the old one uses spaces for
    "or"."""
    old = re.match(r"//\s*\+build\s+(?P<said>.*)", text)
    if old is None:
        return "build tag " + re.sub(r"\s+", "", re.sub(r"^//\s*go:build", "", text))
    options = [option.replace(",", "&&") for option in old["said"].split()]
    is_mixed = len(options) > 1
    return "build tag " + "||".join(
        f"({option})" if is_mixed and "&&" in option else option for option in options
    )


def _switched_off(root: Node) -> Iterator[str]:
    for kid in root.kids:
        name = kid.get("name")
        is_main = kid.kind == "function_declaration" and name and name.text == "TestMain"
        if is_main and ".Run()" not in kid.text:
            yield "TestMain without m.Run"


def _printed(found: Found, style: str) -> list[Assertion]:
    """Return the expected output of Go's examples: for each its last output comment."""
    if style != "go" or not found.name.startswith("Example"):
        return []
    comments = [node for node in found.body.walk() if node.kind == "comment"]
    at = max((n for n, c in enumerate(comments) if OUTPUT.match(c.text)), default=None)
    if at is None:
        return []
    lines = [c.text.removeprefix("//").strip() for c in comments[at:]]
    node = Node(found.body.source, "output", comments[at].start, comments[-1].end)
    node.parent = found.body
    return [Assertion("output", "", tuple(filter(None, lines)), 5, "output", node)]


def _is_never_run(found: Found, assertions: Sequence[Assertion], style: str) -> bool:
    """Return whether this is an example of Go without expected output: built, but not run."""
    is_example = style == "go" and found.name.startswith("Example")
    return is_example and not any(one.form == "output" for one in assertions)


OUTPUT = regex(r"//\s*(?i:(?:unordered )?output:)")


def _constants(root: Node) -> dict[str, Node]:
    """Return the lists that a file stores under a name, outside its functions."""
    found: dict[str, Node] = {}
    for kid in root.kids:
        for node in kid.walk(lambda n: n.kind in FUNCTIONS or n.kind in CLASSES):
            named = _assigned(node)
            if named is not None:
                found.setdefault(*named)
    return found


def _assigned(node: Node) -> tuple[str, Node] | None:
    """Return the name and the list that a definition or assignment binds to it."""
    left, right = node.get("name", "left", "pattern", "declarator"), node.get("value", "right")
    if left is None or right is None:
        return None
    listed = _list_in(right)
    return (re.sub(r"^[$&*]|\[.*", "", left.text), listed) if listed is not None else None


def _list_in(node: Node) -> Node | None:
    node = bare(node)
    if node.kind in ("composite_literal", "reference_expression", "array_creation_expression"):
        body = node.get("body", "value") or next(
            (kid for kid in node.kids if kid.kind in LISTS), None
        )
        node = bare(body) if body is not None and body.kind not in LISTS else body or node
    if node.kind == "macro_invocation" and node.text.startswith("vec!"):
        return next((kid for kid in node.kids if kid.kind == "token_tree"), None)
    if node.kind == "cast_expression" or node.kind in ("as_expression", "satisfies_expression"):
        return _list_in(node.parts[0])
    return node if node.kind in LISTS | {"literal_value"} else None


def _rows(
    found: Found,
    assertions: Sequence[Assertion],
    constants: dict[str, Node],
    apart: AbstractSet[int] = frozenset(),
) -> Iterator[str]:
    """Yield the rows that a test iterates over; nested values belong to their row."""
    places: list[Node] = [*found.marks, *found.loops, found.body]
    spans = [(a.node.start, a.node.end) for a in assertions if a.form not in ("chain", "call")]
    known, used = dict(constants), dict[int, Node]()
    for place in places:
        heads = _heads(place, found, apart)
        for node in heads:
            if (named := _assigned(node)) is not None:
                known[named[0]] = named[1]
        for over in (o for node in heads for o in _iterated(node)):
            listed = _list_in(over) or known.get(re.sub(r"^[&*$]+", "", over.text))
            if listed is not None:
                used[listed.start] = listed
    inside = [n for n in used.values() if not any(a <= n.start < b for a, b in spans)]
    for listed in sorted(inside, key=lambda n: n.start):
        yield from (part.plain for part in listed.parts)
    yield from _template_rows(found.node)
    for mark in found.marks:
        if re.match(r"#\[\s*(?:\w+::)*(?:case|test_case)|@CsvSource|@ValueSource", mark.text):
            strings = [n.text for n in mark.walk() if n.kind in STRINGS]
            yield from strings if mark.text.startswith("@") else [mark.plain]


def _template_rows(node: Node) -> list[str]:
    """Return the rows of a table in a template string: `each` and its lines."""
    callee = node.get("function")
    table = callee.get("arguments") if callee is not None else None
    if table is None or table.kind != "template_string":
        return []
    return [
        re.sub(r"\s+", "", line) for line in table.text.strip("`").split("\n")[1:] if line.strip()
    ]


def _heads(place: Node, found: Found, apart: AbstractSet[int]) -> list[Node]:
    if place in found.loops:
        return [place, *(place.parts[:1])]
    return [node for node in place.walk(lambda n: id(n) in apart) if id(node) not in apart]


def _iterated(node: Node) -> Iterator[Node]:
    """Yield what a node iterates over: a loop, `each`, `parametrize`, an indexed list."""
    if node.kind in LOOPS:
        over = node.get("iterated", "right", "value", "iterator")
        clause = next((kid for kid in node.kids if kid.kind == "range_clause"), None)
        over = clause.get("right") if clause else over
        if node.kind == "foreach_statement":
            over = node.parts[0]
        if over is not None:
            yield bare(over)
    is_indexed = node.kind in ("subscript", "index_expression", "subscript_expression")
    if is_indexed and node.parts and node.parts[0].kind in ("identifier", "constant"):
        yield node.parts[0]
    if node.kind == "return_statement" and "=>" not in node.text and b"<?php" in node.source[:200]:
        yield from node.parts[:1]
    call = call_of(node)
    if call is None:
        return
    if call.last == "parametrize":
        yield from (arg.get("value") or arg for arg in call.args[1:2])
        yield from (
            value
            for arg in call.args
            if arg.kind == "keyword_argument" and arg.text.startswith("argvalues")
            if (value := arg.get("value"))
        )
    elif call.receiver is not None and EACH.fullmatch(call.last):
        yield call.receiver
        yield from call.args[:1]
    callee = call.node.get("function")
    if callee is not None and (inner := call_of(callee)) and inner.last in ("each", "for"):
        yield from inner.args[:1]


def _steps(body: Node, assertions: Iterable[Assertion], apart: AbstractSet[int]) -> Iterator[str]:
    """Yield the innermost statements without an assertion."""
    spans = [(each.node.start, each.node.end) for each in assertions]
    for node in body.walk(lambda n: id(n) in apart):
        if id(node) in apart or not is_statement(node) or node is body:
            continue
        if node.kind == "pass" or node.text == "...":
            continue
        if any(is_statement(part) for part in node.walk() if part is not node):
            continue
        if any(node.start < b and a < node.end for a, b in spans):
            continue
        if not (node.kind == "expression_statement" and node.parts[:1] and
                node.parts[0].kind in STRINGS):  # fmt: skip
            yield node.plain


def is_statement(node: Node) -> bool:
    parent = node.parent
    if parent is None or not node.named or "comment" in node.kind or node.kind in BLOCKS:
        return False
    if parent.kind in BLOCKS:
        return not re.search(
            r"import|package|include|^use_|_use_|php_tag|attribute_item|extern_crate", node.kind
        )
    return parent.kind in BODIED and node.field in ("body", "alternative", "final", "handler")


# In Python's tree the statements stand in their parent itself.
BODIED = kinds(
    "function_definition class_definition if_statement for_statement while_statement case"
    " with_statement try_statement except_clause match_statement"
)

__all__ = ["is_statement", "read_tests"]
