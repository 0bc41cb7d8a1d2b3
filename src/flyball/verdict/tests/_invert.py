"""The same test with one expectation changed, so that an honest one must fail."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from flyball.regex import regex
from flyball.verdict.tests._assertions import RAISING, number_of
from flyball.verdict.tests._calls import (
    CONDITIONS,
    FUNCTIONS,
    HANDLERS,
    LAMBDAS,
    LEAVING,
    LISTS,
    LOOPS,
    MAPS,
    MEMBERS,
    PAIRS,
    TRIES,
    Call,
    bare,
    call_of,
    comparison_of,
)
from flyball.verdict.tests._model import Assertion, Reach, TestCase
from flyball.verdict.tests._reader import read_tests
from flyball.verdict.tests._tree import (
    BOOLEANS,
    NOTHINGS,
    NUMBERS,
    STRINGS,
    Node,
    kinds,
    language_of,
)
from flyball.verdict.tests._words import CONTEXTS, EXACT, NEGATIONS, style_of


class Inverted(NamedTuple):
    """A test file in which one test must fail, and the change made for that.

    `how` is `expected` (another value), `part` (another value inside the expected one), `bound` (a
    limit that nothing reaches, or a part that nothing contains), `seen` (the value that the test
    saw before), `negated` (the opposite is asserted), `raised` (an error that nothing raises), or
    `appended` (the test fails at its end, whatever it found). With a `probe` a test must fail, and
    fails though it may still accept any value. A change in a loop, a condition or a
    callback is not sure, as it may never be reached.
    """

    source: str
    line: int
    old: str
    new: str
    how: str
    is_sure: bool


class _Edit(NamedTuple):
    start: int
    end: int
    new: str
    how: str
    added: str = ""
    """What is defined at the end of the file for it."""
    is_sure: bool = True


def invert_test(path: str, source: str | bytes, test: str) -> Inverted | None:
    """Return the file with one expectation of a test changed; None if none can be."""
    return next(iter(inversions(path, source, test)), None)


def inversions(path: str, source: str | bytes, test: str, said: str = "") -> tuple[Inverted, ...]:
    """Return every way to invert a test, the surest first; `test` is its name in a report.

    `said` is the message of its earlier failure. An equality that accepts both the earlier value
    and the expected one is detected by expecting the earlier value.
    """
    cases = read_tests(path, source)
    case = find_test(cases, test)
    if case is None or case.body is None:
        return ()
    style = style_of(language_of(path) or "")
    helpers = {each.name: each for each in cases if not each.is_test}
    data = source.encode() if isinstance(source, str) else source
    ranked = sorted(
        enumerate(case.assertions),
        key=lambda each: (not _is_reached(each[1], case), -each[0]),
    )
    found: list[Inverted] = []
    for _, one in ranked:
        is_sure = _is_reached(one, case)
        for edit in _edits(one, style, helpers):
            before = _seen_before(
                edit, data[edit.start : edit.end].decode("utf-8", "replace"), said
            )
            for each in (before, edit) if before else (edit,):
                found.append(_applied(data, each, style, is_sure=is_sure))
    for edit in _unknown_checks(case, style) if not case.assertions else ():
        before = _seen_before(edit, data[edit.start : edit.end].decode("utf-8", "replace"), said)
        for each in (before, edit) if before else (edit,):
            found.append(_applied(data, each, style, is_sure=False))
    appended = _appended(case, style)
    if appended is not None:
        found.append(_applied(data, appended, style, is_sure=True))
    return tuple(sorted(found, key=_rank))


def _rank(one: Inverted) -> int:
    """Rank the changes: another expectation says most, since the opposite of a false equality is
    false too."""
    if not one.is_sure:
        return 3
    return {
        "probe": -1,
        "seen": 0,
        "expected": 0,
        "part": 0,
        "bound": 0,
        "raised": 0,
        "negated": 1,
    }.get(one.how, 2)


LITERALS = (
    regex(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.]|:\d)"),
    regex(r"\"[^\"\n]*\"|'[^'\n]*'"),
)


def _seen_before(edit: _Edit, old: str, said: str) -> _Edit | None:
    """Return the same change with the value nearest to the expected one in a failure."""
    kind = next((each for each in LITERALS if each.fullmatch(old)), None)
    if kind is None or edit.how not in ("expected", "part") or edit.added:
        return None
    found = [(each[0], each.start()) for each in kind.finditer(said)]
    if kind is LITERALS[1]:
        found = [
            (f"{old[0]}{text[1:-1]}{old[0]}", at) for text, at in found if old[0] not in text[1:-1]
        ]
    places = [at for text, at in found if text == old]
    others = (
        [(min(abs(at - each) for each in places), text) for text, at in found if text != old]
        if places
        else []
    )
    return edit._replace(new=min(others)[1], how="seen") if others else None


def find_test(cases: Sequence[TestCase], test: str) -> TestCase | None:
    """Return the test that a report's name refers to, despite prefixes and suffixes."""
    said = test.removeprefix(f"{cases[0].path}::") if cases else test
    best: tuple[int, int, TestCase] | None = None
    for case in cases:
        if not case.is_test or not case.name:
            continue
        name = re.sub(r"\s+", " ", case.name)
        if not _names(said, name):
            continue
        around = sum(_names(said, suite) for suite in case.suites)
        is_last = said.endswith(name)
        score = (around + is_last, len(name), case)
        if best is None or score[:2] > best[:2]:
            best = score
    if best is not None:
        return best[2]
    # The runner knows best what a test is: a class may inherit that it is one.
    by_name = (case for case in cases if case.name and said.endswith("::".join(case.place)))
    plain = (case for case in cases if case.is_test and not case.name)
    return next(by_name, None) or next(plain, None)


def _names(said: str, name: str) -> bool:
    said = re.sub(r"\s+", " ", said)
    if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said):
        return True
    if not TEMPLATE.search(name):
        return False
    pattern = ".*?".join(map(re.escape, TEMPLATE.split(name)))
    return re.search(rf"(?<!\w){pattern}", said) is not None


TEMPLATE = regex(r"%[sdifjo#p]|\$\{[^}]*\}|\$[\w.]+|#\{[^}]*\}|\{\w*\}")


def _is_reached(one: Assertion, case: TestCase) -> bool:
    if one.reach is not Reach.LIVE or one.form == "fail":
        return False
    below = one.node
    for node in one.node.above():
        if node is case.body:
            return True
        if node.kind in TRIES and any(kid.kind in HANDLERS for kid in node.kids):
            return False
        if node.kind in LOOPS and case.rows:
            below = node
            continue
        given = node.get("parameters")
        if node.kind in LAMBDAS and given is not None and "testing." in given.text:
            below = node
            continue
        is_lambda = node.kind in LAMBDAS - {"block"} or (
            node.kind == "block" and node.field == "block"
        )
        if is_lambda or node.kind in LOOPS | CONDITIONS | FUNCTIONS | HANDLERS:
            return below.field in ("condition", "initializer")
        if node.kind == "with_statement" and below.kind != "with_item":
            calls = [call_of(part) for kid in node.kids[:2] for part in kid.walk()]
            if any(call and RAISING.fullmatch(call.name) for call in calls):
                return False
        below = node
    return True


def _applied(data: bytes, edit: _Edit, style: str, *, is_sure: bool) -> Inverted:
    end = len(data)
    # Another test of the file may have brought it already.
    added = f"\n{edit.added}\n" if edit.added and edit.added.encode() not in data else ""
    if added and style == "java":
        end = data.rfind(b"}")
    changed = data[: edit.start] + edit.new.encode() + data[edit.end : end]
    if added and style == "go" and "flyreflect" in added:
        changed = re.sub(rb"^(package \w+)", GO_IMPORTS, changed, count=1, flags=re.M)
    if added and style == "php":
        changed = re.sub(rb"\?>\s*$", b"", changed)
    source = changed + added.encode() + data[end:]
    old = data[edit.start : edit.end].decode("utf-8", "replace")
    return Inverted(
        source.decode("utf-8", "replace"),
        data.count(b"\n", 0, edit.start) + 1,
        old,
        edit.new.strip("\n"),
        edit.how,
        is_sure and edit.is_sure,
    )


# One assertion


def _edits(one: Assertion, style: str, helpers: dict[str, TestCase]) -> Iterator[_Edit]:
    if one.reach is Reach.DEAD:
        return
    match one.form:
        case "comparison" | "truth" | "condition" if one.claim is not None:
            yield from _claimed(one, one.claim, style)
        case "raises":
            yield from _raised(one, style)
        case "output":
            line = one.node.text.rstrip()
            yield _Edit(one.node.start, one.node.end, line + " never", "expected")
        case "helper":
            yield from _through_helper(one, style, helpers)
        case "chain":
            yield from _in_chain(one, style)
        case "call" | "link":
            yield from _in_call(one, style)
        case _:
            return


def _claimed(one: Assertion, claim: Node, style: str) -> Iterator[_Edit]:
    call = call_of(bare(claim))
    compared = comparison_of(claim)
    if compared is not None and compared[1].text == "==":
        yield from _as_object(one, (compared[0], compared[2]), style, " == ")
    if one.op in ("==", "approx") and one.wanted is not None:
        is_ordered = compared is not None and one.wanted.text == "0"
        wanted = _expected_in(claim, compared) if is_ordered else one.wanted
        yield from _altered(wanted, style, one.tolerance)
    elif one.op == "truth" and call is not None and call.args and EQUALITY.fullmatch(call.last):
        yield from _altered(call.args[-1], style, None)
    elif one.op == "truth" and call is not None and call.args and CONTAINING.fullmatch(call.last):
        yield from _within(call.last, call.args[-1:], style)
    elif one.op in ("truth", "false") and call is not None and call.args:
        yield from _ordered(one.op, call)
        if one.op == "truth":
            yield from _held_against(call.args, style)
        if style == "go" and one.op == "truth" and call.name == "errors.Is":
            yield _never_returned(call.args[-1])
    elif compared is not None:
        yield from _bounded(one, (compared[0], compared[2]), style)
    word = "not " if style == "python" else "!"
    yield _Edit(claim.start, claim.end, f"{word}({claim.text})", "negated")


def _held_against(args: Sequence[Node], style: str) -> Iterator[_Edit]:
    """Alter the literal that a call of any name is given beside the result of another call."""
    *given, wanted = args
    is_literal = any(each.fullmatch(wanted.text) for each in LITERALS)
    if is_literal and any(call_of(node) for each in given for node in each.walk()):
        for edit in _altered(wanted, style, None):
            yield edit._replace(how="part")


CONTAINING = regex(
    r"(?i)(?:str|string)?_?(?:contains|includes?|has_?(?:key|value|prefix|suffix)|starts_?with"
    r"|ends_?with|match(?:es|_?string)?|test)\??"
)
"""Calls that say whether something has a part."""
FAR = 10**9


def _bounded(one: Assertion, sides: tuple[Node, Node], style: str) -> Iterator[_Edit]:
    """Change a bound, or a value that must be near or within: it detects an operator that is always
    true."""
    if one.op == "in" and style == "python":
        yield from _within("in", sides, style)
        return
    wanted = one.wanted
    near = next((each for side in sides if side is not wanted for each in _distances(side)), None)
    if one.op.startswith("<") and near is not None and wanted is not None:
        for edit in _altered(near, style, number_of(wanted) or 1.0):
            yield edit._replace(how="bound")
    elif wanted is not None:
        yield from _far(one.op, wanted)


def _ordered(op: str, call: Call) -> Iterator[_Edit]:
    """Replace the operand of an ordering method by an unreachable one: for `x.Less(6)` a far lower
    one."""
    if (found := ORDER.fullmatch(call.last)) is not None:
        is_below = (found["less"] is not None) == (op == "truth")
        yield from _far("<" if is_below else ">", call.args[-1])


ORDER = regex(
    r"(?i)(?:is_?)?(?:(?P<less>(?:less|lower|smaller|lt|le|lte|below)\w*)"
    r"|(?:greater|higher|more|gt|ge|gte|above)\w*)"
)
NEVER_RETURNED = (
    'type flyballNever struct{}\n\nfunc (flyballNever) Error() string { return "never" }'
)


def _never_returned(wanted: Node) -> _Edit:
    """Expect an error in Go that no code returns."""
    return _Edit(wanted.start, wanted.end, "flyballNever{}", "expected", NEVER_RETURNED)


def _far(op: str, wanted: Node) -> Iterator[_Edit]:
    """Return a bound that no value reaches."""
    literal = bare(wanted) if number_of(wanted) is not None else literal_in(wanted)
    if literal is None or number_of(literal) is None:
        return
    if literal.parent is not None and literal.parent.kind in SIGNED:
        literal = literal.parent
    rest = ".0" if "." in literal.text else ""
    if LOWER.search(op):
        yield _Edit(literal.start, literal.end, f"{FAR}{rest}", "bound")
    elif UPPER.search(op):
        yield _Edit(literal.start, literal.end, f"(-{FAR}{rest})", "bound")


SIGNED = kinds("unary unary_expression unary_operator unary_op_expression")
LOWER = regex(r"(?i)^>=?$|greater|above|at_?least|more_?than")
UPPER = regex(r"(?i)^<=?$|less|below|at_?most|fewer")


def _distances(side: Node) -> Iterator[Node]:
    """Yield the constant that is subtracted within `abs(…)`, whatever its function is called."""
    for node in side.walk():
        call = call_of(node)
        if call is None or call.last.lower() not in ("abs", "fabs"):
            continue
        inner = bare(call.args[0] if call.args else call.receiver or node)
        if inner.kind in SUBTRACTING and any(kid.text == "-" for kid in inner.kids):
            yield from (each for each in inner.parts[::-1] if literal_in(each) is not None)


SUBTRACTING = kinds("binary binary_expression binary_operator")


def _within(op: str, parts: Sequence[Node], style: str) -> Iterator[_Edit]:
    """Change the constant that must be in something, or the constants that it must be among."""
    for part in map(bare, parts):
        if part.kind in LISTS | MAPS:
            if style == "python":
                yield _Edit(part.start, part.end, '("~",)', "bound")
            return
        literal = literal_in(part)
        new = other_literal(literal, style) if literal is not None else None
        if literal is None or new is None:
            continue
        if MATCHING.search(op) and literal.kind in STRINGS:
            # Something put behind a pattern leaves its alternatives as they are.
            new = "/a^/" if literal.kind == "regex" else f"{literal.text[-1]}a^{literal.text[-1]}"
        yield _Edit(literal.start, literal.end, new, "bound")
        return


MATCHING = regex(r"(?i)match|regex|test")


EQUALITY = regex(r"(?i)(?:deep_?|is_?)?equals?(?:_?to)?|eql\?|eq")
"""Calls that say whether two values are the same."""
NEVER_RAISED = {
    "python": 'type("NeverRaised", (Exception,), {})',
    "javascript": "/never raised/",
    "ruby": "Class.new(StandardError)",
    "php": r"\ParseError::class",
}


ROOTS = frozenset({"Exception", "BaseException", "StandardError", "Throwable", "Error"})
"""Expected errors that every other one is as well."""
BUGS = {
    "python": "(NameError, AttributeError, ZeroDivisionError, RecursionError, ImportError)",
    "ruby": "NameError, ZeroDivisionError, SystemStackError",
    "php": r"\DivisionByZeroError::class",
    "java": "ArithmeticException.class",
    "javascript": "(e) => e instanceof ReferenceError || /undefined|null|not a f/.test(e.message)",
}
"""Errors that code makes by being wrong, rather than to tell its caller something."""


def _raised(one: Assertion, style: str) -> Iterator[_Edit]:
    call = call_of(one.node)
    wanted = one.wanted
    if wanted is not None and style in BUGS and ROOTS & {*re.findall(r"\w+", wanted.text)}:
        yield _Edit(wanted.start, wanted.end, BUGS[style], "probe")
    if one.wanted is not None and style in NEVER_RAISED:
        new = NEVER_RAISED[style]
        if style == "python" and re.search(r"[wW]arn", one.subject):
            new = new.replace("Exception", "Warning")
        if style == "python" and one.wanted.kind == "string":
            return
        if one.wanted.kind == "object":
            new = "{ message: 'never raised' }"
        yield _Edit(one.wanted.start, one.wanted.end, new, "raised")
    for arg in call.args if call else ():
        if arg.kind in LAMBDAS and style in ("java", "javascript"):
            arrow = "() -> {}" if style == "java" else "() => {}"
            yield _Edit(arg.start, arg.end, arrow, "raised")


def _through_helper(one: Assertion, style: str, helpers: dict[str, TestCase]) -> Iterator[_Edit]:
    """Change the expected argument of a helper if the assertion is in a function that the test
    calls."""
    call = call_of(one.node)
    if call is None or not call.args:
        return
    helper = helpers.get(call.last.removesuffix("!"))
    wanted = _expected_argument(helper, call.args) if helper else None
    args = [wanted] if wanted is not None else [a for a in call.args[::-1] if literal_in(a)]
    for arg in args:
        for edit in _altered(bare(arg.get("value") or arg), style, None):
            yield edit._replace(is_sure=edit.is_sure and wanted is not None)


def _expected_argument(helper: TestCase, args: Sequence[Node]) -> Node | None:
    """Return the argument of a call that the helper's assertion expects."""
    if helper.node is None:
        return None
    given = helper.node.get("parameters", "args", "argument")
    listed = given.parts if given else [k for k in helper.node.kids if k.kind == "parameter"]
    names = [re.sub(r"[:=\s].*", "", p.text.lstrip("&*$")) for p in listed]
    names = [name for name in names if name not in ("self", "cls")]
    for one in helper.assertions[::-1]:
        for name in (one.expected[:1] or (one.subject,)) if one.op == "==" else ():
            if name in names and names.index(name) < len(args):
                return args[names.index(name)]
    return None


def _in_chain(one: Assertion, style: str) -> Iterator[_Edit]:
    is_valued = one.op in ("==", "approx") or one.strength == EXACT
    is_counted = bool(re.search(r"length|times|count|size", one.op))
    has_matcher = one.wanted is not None and re.search(r"expect\.|any\(", one.wanted.plain)
    is_close = bool(re.search(r"close|near", one.op))
    is_plain = not has_matcher and not one.op.startswith("not.")
    if one.wanted is not None and is_plain and (is_valued or is_counted or is_close):
        yield from _altered(one.wanted, style, 1000.0 if is_close else None)
    if one.op == "raises" and one.wanted is not None and style in NEVER_RAISED:
        yield _Edit(one.wanted.start, one.wanted.end, NEVER_RAISED[style], "raised")
    if "snapshot" in one.op:
        root = next((c for n in one.node.walk() if (c := call_of(n)) and c.last == "expect"), None)
        if root is not None and root.args:
            arg = root.args[0]
            yield _Edit(arg.start, arg.end, f"{{ other: {arg.text} }}", "expected")
        return
    if one.wanted is not None and is_plain and not is_valued:
        if PARTIAL_CALL.search(one.op):
            yield from _within(one.op, (one.wanted,), style)
        yield from _far(one.op, one.wanted)
    yield from _toggled(one, style)


def _toggled(one: Assertion, style: str) -> Iterator[_Edit]:
    """Negate a chain: add `not`, or remove it."""
    if style in ("go", "java"):
        yield from _renamed(one.node)
        return
    for node in one.node.walk():
        call = call_of(node)
        named = node.get("method") if style == "ruby" else None
        if named is not None and named.text in RUBY_OPPOSITES:
            yield _Edit(named.start, named.end, RUBY_OPPOSITES[named.text], "negated")
            return
        if node.kind in MEMBERS and node.parts[-1].text in NEGATIONS:
            yield _Edit(node.parts[-2].end, node.parts[-1].end, "", "negated")
            return
        if call is not None and call.receiver is None and node is not one.node:
            break
    if style != "javascript":
        return
    root = next((c.node for n in one.node.walk() if (c := call_of(n)) and c.last == "expect"), None)
    if root is not None:
        at = root.end
        words = re.match(
            r"\s*(?:\.\s*(?:resolves|rejects)\b)+", one.node.text[at - one.node.start :]
        )
        at += words.end() if words else 0
        yield _Edit(at, at, ".not", "negated")


RUBY_OPPOSITES = {
    "to": "not_to", "not_to": "to", "to_not": "to", "should": "should_not", "should_not": "should",
    "must_equal": "wont_equal", "must_be_nil": "wont_be_nil", "must_be": "wont_be",
    "must_include": "wont_include", "must_match": "wont_match", "must_be_empty": "wont_be_empty",
}  # fmt: skip


def _in_call(one: Assertion, style: str) -> Iterator[_Edit]:
    call = call_of(one.node)
    if call is not None and LOOSE.fullmatch(call.last):
        yield from _as_object(one, call.args, style, ", ")
    is_valued = one.op in ("==", "approx", "is") or one.strength == EXACT or one.form == "link"
    is_counted = bool(re.search(r"len|count|size|times", one.op))
    is_other = one.op.startswith("not.") or one.strength < 3
    if one.wanted is not None and (is_valued or is_counted) and not is_other:
        yield from _altered(one.wanted, style, one.tolerance)
    if call is None:
        return
    yield from _given_to(call, style)
    if style == "go" and call.last.removesuffix("f") == "ErrorIs" and len(call.args) > 1:
        yield _never_returned(
            call.args[2 if call.args[0].text in CONTEXTS and call.args[2:] else 1]
        )
    if PARTIAL_CALL.search(one.op) and not is_other:
        plain = [arg for arg in call.args if arg.kind != "keyword_argument"]
        yield from _within(one.op, plain if one.op == "in" else plain[::-1], style)
    elif one.wanted is not None and not one.op.startswith("not."):
        yield from _far(one.op, one.wanted)
    if style == "python" and re.search(
        r"called(?:_once)?_with$|awaited(?:_once)?_with$", call.last
    ):
        at = one.node.end - 1
        comma = ", " if call.args else ""
        yield _Edit(at, at, f"{comma}never_given=1", "expected")
    elif style == "rust" and call.name.endswith(("assert_eq!", "assert_ne!")):
        macro = one.node.get("macro")
        if macro is not None:
            new = macro.text.replace("_eq", "_NE").replace("_ne", "_eq").replace("_NE", "_ne")
            yield _Edit(macro.start, macro.end, new, "negated")
    else:
        yield from _renamed(one.node)


def _as_object(one: Assertion, args: Sequence[Node], style: str, apart: str) -> Iterator[_Edit]:
    """Expect an object where a number is expected: only what turns into that number is one."""
    sides = [arg for arg in args[:2] if number_of(arg) is None]
    if style == "javascript" and one.wanted is not None and len(args) > 1 and len(sides) == 1:
        new = f"typeof ({sides[0].text}){apart}'object'"
        yield _Edit(args[0].start, args[1].end, new, "probe")


LOOSE = regex(r"(?:deepE|e)qual")


def _given_to(call: Call, style: str) -> Iterator[_Edit]:
    """Alter what an assertion is given that names how it compares, or what must be printed."""
    if call.last == "assert_operator" and len(call.args) == 3:
        op, wanted = call.args[1].text.lstrip(":"), call.args[2]
        yield from _altered(wanted, style, None) if op == "==" else _far(op, wanted)
    elif call.last == "assert_output" and call.args:
        yield from _altered(call.args[0], style, None)
    elif call.last == "assertThat" and style == "php" and len(call.args) > 1:
        inner = call_of(bare(call.args[1]))
        if inner is not None and inner.args and EQUALITY.fullmatch(inner.last):
            yield from _altered(inner.args[-1], style, None)


PARTIAL_CALL = regex(
    r"(?i)^in$|(?:has|have)_?(?:key|property)$|(?<!in)contain|include|match|regex|prefix|suffix|starts|ends"
)
BOTH_WAYS = """
    assert_called/assert_not_called assertIs/assertIsNot assertIsNone/assertIsNotNone
    assertGreater/assertLessEqual assertGreaterEqual/assertLess NoError/Error Nil/NotNil
    Equal/NotEqual Contains/NotContains Empty/NotEmpty Panics/NotPanics assertNull/assertNotNull
    assertEquals/assertNotEquals assertSame/assertNotSame assertEmpty/assertNotEmpty
    assertContains/assertNotContains isNotNull/isNull isTrue/isFalse isEmpty/isNotEmpty
    assert_nil/refute_nil assert_equal/refute_equal assert_empty/refute_empty
    assert_includes/refute_includes assert_match/refute_match assert_predicate/refute_predicate
    equal/notEqual strictEqual/notStrictEqual deepEqual/notDeepEqual
    deepStrictEqual/notDeepStrictEqual match/doesNotMatch is/not regex/notRegex
    ASSERT_EQ/ASSERT_NE EXPECT_EQ/EXPECT_NE EXPECT_LT/EXPECT_GE EXPECT_GT/EXPECT_LE
    assert_null/assert_non_null TEST_ASSERT_NULL/TEST_ASSERT_NOT_NULL
"""
ONE_WAY = """
    assert_called_once/assert_not_called assert_any_call/assert_not_called assertIn/assertNotIn
    assertIsInstance/assertNotIsInstance assertRegex/assertNotRegex assertLogs/assertNoLogs
    assertStartsWith/assertNotStartsWith assertEndsWith/assertNotEndsWith ErrorIs/NotErrorIs
    Greater/LessOrEqual Less/GreaterOrEqual Regexp/NotRegexp Zero/NotZero Same/NotSame
    assertInstanceOf/assertNotInstanceOf assertCount/assertNotCount
    assertStringContainsString/assertStringNotContainsString
    assertArrayHasKey/assertArrayNotHasKey
    assertMatchesRegularExpression/assertDoesNotMatchRegularExpression isEqualTo/isNotEqualTo
    contains/doesNotContain isInstanceOf/isNotInstanceOf assert_kind_of/refute_kind_of
    assert_instance_of/refute_instance_of assert_same/refute_same assert_in_delta/refute_in_delta
    assert_respond_to/refute_respond_to refute/assert ok/notOk doesNotThrow/throws
    notThrows/throws ASSERT_STREQ/ASSERT_STRNE EXPECT_STREQ/EXPECT_STRNE
    assert_int_equal/assert_int_not_equal assert_string_equal/assert_string_not_equal
"""


def _pairs(words: str) -> list[tuple[str, str]]:
    """Return the names that are joined by a slash."""
    return [(a, b) for a, _, b in (word.partition("/") for word in words.split())]


OPPOSITE_NAMES = {
    **dict(_pairs(ONE_WAY)),
    **{name: other for a, b in _pairs(BOTH_WAYS) for name, other in ((a, b), (b, a))},
}


def _renamed(node: Node) -> Iterator[_Edit]:
    """Call the assertion that says the opposite."""
    call = call_of(node)
    if call is None:
        return
    callee = node.get("function", "name", "method", "macro") or node
    named = callee.parts[-1] if callee.kind in MEMBERS else callee
    is_formatted = named.text.endswith("f") and named.text[:-1] in OPPOSITE_NAMES
    name = named.text[:-1] if is_formatted else named.text
    other = OPPOSITE_NAMES.get(name)
    if other:
        yield _Edit(named.start, named.end, other + "f" * is_formatted, "negated")


# Another value

OTHERS = {
    "python": """def _other_than(value):
    import copy
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float, complex)):
        return value + 1 if value + 1 != value else -value
    if isinstance(value, (str, bytes)):
        return value + ("~" if isinstance(value, str) else b"~")
    if type(value) in (list, tuple):
        return value + type(value)(["~"])
    if isinstance(value, (set, frozenset)):
        return value | {"~"}
    try:
        other = copy.copy(value)
        if isinstance(other, dict):
            other["~"] = "~"
            return other
        is_other = False
        for name, each in list(vars(other).items()) if other is not value else ():
            if isinstance(each, (int, float, str, bytes)):
                object.__setattr__(other, name, _other_than(each))
                is_other = True
        return other if is_other else object()
    except Exception:
        return object()""",
    "javascript": """function __otherThan(value) {
  if (typeof value === 'number') return value + 1 !== value ? value + 1 : -value || 1;
  if (typeof value === 'bigint') return value + BigInt(1);
  if (typeof value === 'string') return value + '~';
  if (typeof value === 'boolean') return !value;
  if (Array.isArray(value)) return [...value, '~'];
  if (value instanceof RegExp) return /never matched ~/;
  if (value === null || typeof value !== 'object') return '~';
  const other = Object.assign(Object.create(Object.getPrototypeOf(value)), value);
  let isOther = false;
  for (const key of Object.keys(other)) {
    if (['number', 'string'].includes(typeof other[key])) {
      try { other[key] = __otherThan(other[key]); isOther = true; } catch { /* is fixed */ }
    }
  }
  return isOther ? other : Object.assign(other, { '~': '~' });
}""",
    "ruby": """def __other_than(value)
  case value
  when Numeric then value + 1
  when String then value + "~"
  when Symbol then :"#{value}_other"
  when true, false then !value
  when Array then value + ["~"]
  when Hash then value.merge("~" => "~")
  else Object.new
  end
end""",
    "php": """function __other_than($value) {
    if (is_bool($value)) return !$value;
    if (is_int($value) || is_float($value)) return $value + 1;
    if (is_string($value)) return $value . '~';
    if (is_array($value)) return array_merge($value, ['~']);
    return new \\stdClass();
}""",
    "go": """func flyballOther[T any](value T) T {
	all := flyreflect.New(flyreflect.TypeOf(&value).Elem()).Elem()
	all.Set(flyreflect.ValueOf(&value).Elem())
	flyballAlter(all)
	return all.Interface().(T)
}

func flyballAlter(v flyreflect.Value) bool {
	switch v.Kind() {
	case flyreflect.Bool:
		v.SetBool(!v.Bool())
	case flyreflect.Int, flyreflect.Int8, flyreflect.Int16,
		flyreflect.Int32, flyreflect.Int64:
		v.SetInt(v.Int() + 1)
	case flyreflect.Uint, flyreflect.Uint8, flyreflect.Uint16,
		flyreflect.Uint32, flyreflect.Uint64:
		v.SetUint(v.Uint() + 1)
	case flyreflect.Float32, flyreflect.Float64:
		v.SetFloat(v.Float()*3 + 1)
	case flyreflect.String:
		v.SetString(v.String() + "~")
	case flyreflect.Slice:
		v.Set(flyreflect.Append(v, flyreflect.Zero(v.Type().Elem())))
	case flyreflect.Struct:
		for n := 0; n < v.NumField(); n++ {
			f := v.Field(n)
			f = flyreflect.NewAt(f.Type(), flyunsafe.Pointer(f.UnsafeAddr())).Elem()
			if flyballAlter(f) {
				return true
			}
		}
		return false
	default:
		return false
	}
	return true
}""",
    "java": """    static int __otherThan(int v) { return v + 1; }
    static long __otherThan(long v) { return v + 1; }
    static float __otherThan(float v) { return v * 3 + 1; }
    static double __otherThan(double v) { return v * 3 + 1; }
    static char __otherThan(char v) { return (char) (v + 1); }
    static boolean __otherThan(boolean v) { return !v; }
    static String __otherThan(String v) { return v + "~"; }
    @SuppressWarnings("unchecked") static <T> T __otherThan(T v) {
        if (v instanceof Integer) return (T) (Object) ((Integer) v + 1);
        if (v instanceof Long) return (T) (Object) ((Long) v + 1);
        if (v instanceof Double) return (T) (Object) ((Double) v * 3 + 1);
        if (v instanceof Boolean) return (T) (Object) !((Boolean) v);
        return null;
    }""",
}
GO_IMPORTS = rb'\1; import flyreflect "reflect"; import flyunsafe "unsafe"'
WRAPPERS = {
    "go": "flyballOther", "python": "_other_than", "javascript": "__otherThan",
    "ruby": "__other_than", "php": "__other_than", "java": "__otherThan",
}  # fmt: skip


def _altered(wanted: Node, style: str, tolerance: float | None) -> Iterator[_Edit]:
    """Replace the expected value by a near one, or the tolerance would not be tested."""
    literal = literal_in(wanted)
    new = other_literal(literal, style, tolerance) if literal is not None else None
    if literal is not None and new is not None:
        is_made = call_of(wanted) is not None or wanted.kind in MADE
        yield _Edit(literal.start, literal.end, new, "part" if is_made else "expected")
        return
    if style == "go" and wanted.text in NOTHINGS:
        return
    if style in WRAPPERS and wanted.kind != "splat":
        inner = wanted.get("value") if wanted.kind in PAIRS else wanted
        inner = inner or wanted
        wrapped = f"{WRAPPERS[style]}({inner.text})"
        if tolerance is not None and style == "python":
            wrapped = f"({inner.text}) * 3 + {10 * tolerance + 1:g}"
        added = OTHERS[style] if tolerance is None or style != "python" else ""
        yield _Edit(inner.start, inner.end, wrapped, "expected", added)
    elif style == "c" and wanted.text not in NOTHINGS:
        yield _Edit(wanted.start, wanted.end, f"(({wanted.text}) + 1)", "expected")


MAKING = regex(
    r"(?:.*[.:])?[A-Z]\w*|(?:.*::)?(?:new|from|of|vec!|format!)|.*\.(?:of|valueOf|asList)|list|dict"
    r"|tuple|set|frozenset|Decimal|array"
)
KEPT = regex(r"to_string|to_owned|into|to_vec|clone|as_str|freeze|to_s|encode|strip|lstrip")
MADE = kinds(
    "object_creation_expression new_expression struct_expression composite_literal"
    " field_initializer_list field_initializer reference_expression argument_list arguments"
    " token_tree spread_element as_expression compound_literal_expression pointer_expression"
)  # fmt: skip


def literal_in(node: Node) -> Node | None:
    """Return the last constant that decides a value: itself, in a list, in a constructor."""
    node = bare(node)
    if node.kind in STRINGS - {"string_array", "symbol_array", "heredoc", "nowdoc"}:
        return node
    if node.kind in NUMBERS or node.text in BOOLEANS or node.text in NOTHINGS:
        return node
    if node.kind in LISTS | MAPS and not node.parts:
        return node
    call = call_of(node)
    if call is not None:
        if call.receiver is not None and KEPT.fullmatch(call.last):
            return literal_in(call.receiver)
        if not MAKING.fullmatch(call.name):
            return None
        return next((f for arg in call.args[::-1] if (f := literal_in(arg)) is not None), None)
    if node.kind in LISTS | MAPS | PAIRS | MADE or node.kind in ("unary", "unary_expression"):
        within = node.parts[-1:] if node.kind in PAIRS else node.parts[::-1]
        return next((found for part in within if (found := literal_in(part)) is not None), None)
    return None


def other_literal(node: Node, style: str, tolerance: float | None = None) -> str | None:
    """Return another constant of the same kind."""
    text = node.text
    if text in BOOLEANS:
        return BOOLEANS[text]
    if node.kind in NUMBERS:
        return _other_number(text, tolerance)
    if text in NOTHINGS:
        return {"python": "0", "javascript": "0", "ruby": "0", "php": "0", "java": '"~"'}.get(style)
    if node.kind in LISTS | MAPS:
        return _filled(node, style)
    if node.kind == "simple_symbol":
        return f"{text}_other"
    if node.kind in ("char_literal", "character_literal", "rune_literal"):
        body = text[1:-1]
        return None if len(body) != 1 else f"'{'b' if body == 'a' else 'a'}'"
    if node.kind == "regex":
        at = text.rfind("/")
        return f"{text[:at]}~never{text[at:]}"
    close = re.search(r'("""|\'\'\'|["\'`])#*$', text)
    return f"{text[: close.start()]}~{text[close.start() :]}" if close else None


def _other_number(text: str, tolerance: float | None) -> str | None:
    if re.match(r"0[xX][0-9a-fA-F_]+$", text):
        return hex(int(text.replace("_", ""), 16) ^ 1)
    found = re.match(r"(?P<whole>\d[\d_]*)?(?P<rest>(?:\.\d*)?(?:[eE][-+]?\d+)?\w*)$", text)
    if found is None or text[:2].lower() in ("0b", "0o"):
        return None
    number = int((found["whole"] or "0").replace("_", ""))
    if tolerance is not None:
        number = int(number * 3 + 10 * tolerance) + 1
        return f"{number}{found['rest']}"
    # The largest of a width has no successor.
    is_widest = number >= 127 and (number + 1) & number == 0
    return f"{number - 1 if is_widest else number + 1}{found['rest']}"


def _filled(node: Node, style: str) -> str | None:
    given = {
        "list": '["~"]', "tuple": '("~",)', "dictionary": '{"~": 0}', "array": '["~"]',
        "object": '{ "~": 0 }', "hash": '{ "~" => 0 }', "array_creation_expression": '["~"]',
    }  # fmt: skip
    return given.get(node.kind) if style in ("python", "javascript", "ruby", "php") else None


def _unknown_checks(case: TestCase, style: str) -> Iterator[_Edit]:
    """Yield arguments of functions from other files, if the test itself makes no assertions."""
    body = case.body
    for node in body.walk() if body is not None else ():
        call = call_of(bare(node.parts[0])) if node.kind == "expression_statement" else None
        if call is not None and call.args and literal_in(call.args[-1]) is not None:
            yield from _altered(bare(call.args[-1]), style, None)


# A program that is one test


def invert_program(path: str, source: str | bytes, line: int = 0) -> Inverted | None:
    """Return a test program with every possible expectation changed: it must fail.

    With a line, change only the expectation there. The checks of such a program are unknown, so the
    last constant in a statement's call counts, if the call's name suggests a check or the program
    defines the function itself.
    """
    data = source.encode() if isinstance(source, str) else source
    if SHELL.fullmatch(path):
        return _inverted_script(data.decode("utf-8", "replace"), line)
    cases = read_tests(path, source)
    style = style_of(language_of(path) or "")
    own = {case.name for case in cases if case.name}
    edits: dict[int, _Edit] = {}
    for case in cases:
        if case.body is None or (not case.name and len(cases) > 1):
            continue
        for node in case.body.walk():
            call = call_of(node)
            if call is None or not call.args or not (CHECK.search(call.last) or call.last in own):
                continue
            last = bare(call.args[-1])
            compared = comparison_of(last)
            for edit in _altered(_expected_in(last, compared), style, None):
                is_literal = edit.new != f"(({last.text}) + 1)"
                is_there = not line or node.line == line
                if is_literal and not edit.added and is_there:
                    edits.setdefault(edit.start, edit)
    if not edits:
        return None
    text = data
    for start in sorted(edits, reverse=True):
        edit = edits[start]
        text = text[:start] + edit.new.encode() + text[edit.end :]
    first = edits[min(edits)]
    old = data[first.start : first.end].decode("utf-8", "replace")
    line = data.count(b"\n", 0, first.start) + 1
    return Inverted(text.decode("utf-8", "replace"), line, old, first.new, "expected", True)


SHELL = regex(r".*\.(?:sh|bash|ksh|zsh)")
_NUMBER_TO_CHECK = regex(
    r"(?:^|[;&|]|\b(?:if|then|do|else)\b|!)[ \t]*"
    r"\w*(?:expect|assert|check|verify|should|equal|same)\w*[ \t]+[\"']?(?P<number>-?\d+)\b(?!\.)"
    r"|(?:\s==?|\s-eq)[ \t]+[\"']?(?P<right>-?\d+)[\"']?[ \t]*\]"
)


def _inverted_script(text: str, line: int) -> Inverted | None:
    """Return a shell script with every number changed that a check is given or that is compared."""
    lines = text.split("\n")
    first: tuple[int, str, str] | None = None
    for number, each in enumerate(lines, 1):
        found = _NUMBER_TO_CHECK.search(each)
        if found is None or each.lstrip().startswith("#") or (line and number != line):
            continue
        name = "number" if found["number"] else "right"
        new = str(int(found[name]) + 1)
        lines[number - 1] = f"{each[: found.start(name)]}{new}{each[found.end(name) :]}"
        first = first or (number, found[name], new)
    return Inverted("\n".join(lines), *first, "expected", True) if first else None


def _expected_in(last: Node, compared: tuple[Node, Node, Node] | None) -> Node:
    """Return what a check expects; for `strcmp(a, "b") == 0` that is the compared text."""
    if compared is None:
        return last
    call = call_of(bare(compared[0]))
    if call is not None and call.args and ORDERING.fullmatch(call.last):
        return next((arg for arg in call.args[::-1] if literal_in(arg) is not None), compared[2])
    return compared[2]


ORDERING = regex(r"(?:str|mem|wcs)(?:n|case|ncase)?cmp|compare(?:To)?|Compare")
CHECK = regex(r"(?i)check|expect|assert|verify|equal|should|must|test|ensure|require")


# A test that asserts nothing that can be altered

FAILURES = {
    "python": 'assert False, "inverted"',
    "javascript": "throw new Error('inverted');",
    "rust": 'assert!(false, "inverted");',
    "java": 'if (true) throw new AssertionError("inverted");',
    "c": "__builtin_trap();",
    "ruby": 'raise "inverted"',
    "php": 'throw new \\Exception("inverted");',
}


def _appended(case: TestCase, style: str) -> _Edit | None:
    """Return the test with a failure added at its end, which a runner that ran it must report."""
    body, failure = case.body, FAILURES.get(style)
    if body is None or case.node is None or not case.name:
        return None
    if style == "python":
        return _appended_to_python(case.node)
    if style == "go":
        given = re.search(r"\(\s*(\w+)\s+\*testing\.", case.node.text)
        failure = f'{given[1]}.Fatal("inverted")' if given else None
    if failure is None:
        return None
    if style == "rust":
        at = body.start + 1
        return _Edit(at, at, f" {failure}", "appended")
    close = body.source[: body.end].rstrip()[-1:]
    if style == "ruby":
        statements = [kid for kid in body.kids if kid.named]
        at = statements[-1].end if statements else body.start
        return _Edit(at, at, f"\n{failure}\n", "appended")
    if close != b"}":
        return None
    at = len(body.source[: body.end].rstrip()) - 1
    last = next((kid for kid in reversed(body.parts) if kid.named), None)
    if last is not None and last.kind == "statement_list":
        last = last.parts[-1] if last.parts else None
    if last is not None and last.kind in LEAVING:
        at = last.start
    return _Edit(at, at, f" {failure}\n", "appended")


def _appended_to_python(node: Node) -> _Edit | None:
    statements = node.all("body")
    if not statements:
        return None
    last = statements[-1]
    start = node.source.rfind(b"\n", 0, last.start) + 1
    indent = node.source[start : last.start].decode("utf-8", "replace")
    if indent.strip():
        return _Edit(last.end, last.end, f"; {FAILURES['python']}", "appended")
    if last.kind in LEAVING:
        new = f"{FAILURES['python']}\n{indent}"
        return _Edit(last.start, last.start, new, "appended")
    end = node.source.find(b"\n", last.end)
    end = len(node.source) if end < 0 else end
    return _Edit(end, end, f"\n{indent}{FAILURES['python']}", "appended")


__all__ = ["Inverted", "find_test", "inversions", "invert_program", "invert_test"]
