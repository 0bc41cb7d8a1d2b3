"""Find every assertion in a piece of code, in one canonical form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from flyball.regex import regex
from flyball.verdict.tests._calls import (
    BINARY,
    CALLS,
    LAMBDAS,
    MEMBERS,
    Call,
    bare,
    call_of,
    comparison_of,
    is_literal,
    member_of,
    negated_of,
    operands_of,
)
from flyball.verdict.tests._model import Assertion
from flyball.verdict.tests._tree import BOOLEANS, STRINGS, Node, kinds
from flyball.verdict.tests._words import (
    ASSERTING,
    CLOSE,
    COMPARISONS,
    CONTEXTS,
    EXACT,
    EXPECTED_FIRST,
    FILLERS,
    HOLLOW,
    INFIX,
    MANNERS,
    MIRRORED,
    NEGATIONS,
    OPPOSITE,
    PARTIAL,
    SUBJECT_ROOTS,
    TRUTH,
    canonical,
    is_known,
    squeezed,
    strength_of,
    style_of,
)

FAILING = regex(r"(?:t|b|tb|f)\.(?:(?:Error|Fatal)f?|Fail(?:Now)?)")
RAISING = regex(
    r"(?:pytest\.|self\.)?(?:raises|warns|deprecated_call|assertRaises(?:Regexp?)?"
    r"|assertWarns(?:Regex)?|assertLogs)"
)
NOTHING = regex(
    r"(?:(?:assert|require|expect|check|must)_?)?(?:(?P<some>is_?not_?nil|not_?nil|error"
    r"|is_?not_?null)f?|(?:is_?)?nil|no_?error|noerr|is_?null)"
)
TOLERANCES = frozenset({"rtol", "rel", "atol", "abs", "delta", "rel_tol", "abs_tol"})


def assertions_in(
    body: Node,
    language: str,
    helpers: AbstractSet[str] = frozenset(),
    apart: AbstractSet[int] = frozenset(),
) -> list[Assertion]:
    """Return the assertions in order; nodes whose ids are in `apart` belong to other tests."""
    found: list[Assertion] = []
    stack = [body]
    while stack:
        node = stack.pop()
        if id(node) in apart or node.field == "decorator":
            continue
        here = list(_at(node, style_of(language), helpers))
        found += here
        # Callbacks of an assertion may assert further things.
        rest = _callbacks(node) if here else node.kids
        stack += reversed(rest)
    return found


def _callbacks(node: Node) -> list[Node]:
    """Return the parts of an assertion that are still to be read: the block that must raise, nested
    bodies."""
    if node.kind == "if_statement":
        return [kid for kid in node.kids if kid.field == "alternative"]
    bodies = kinds(
        "statement_block block compound_statement body_statement block_body do_block "
        "expression_statement"
    )
    inner = [each for each in node.walk(lambda n: n.kind in bodies) if each.kind in bodies]
    return [each for each in inner if each is not node]


def _at(node: Node, style: str, helpers: AbstractSet[str]) -> Iterator[Assertion]:
    if node.kind == "assert_statement":
        claim = node.get("condition") or (node.parts[0] if node.parts else None)
        if claim is not None:
            yield from claims(claim, node, "comparison", style)
    elif node.kind == "if_statement" and style == "go":
        yield from _condition(node)
    elif node.kind in CALLS or node.kind in MEMBERS or node.kind in {"identifier", "binary"}:
        yield from _called(node, style, helpers)


def claims(
    test: Node, whole: Node, form: str, style: str, *, negate: bool = False
) -> Iterator[Assertion]:
    """Split an asserted expression into single claims."""
    test = bare(test)
    joined = operands_of(test)
    if is_tautology(test) and not negate:
        yield Assertion("tautology", test.plain, (), HOLLOW, form, whole, claim=test)
    elif joined and joined[0] == ("or" if negate else "and"):
        for part in joined[1]:
            yield from claims(part, whole, form, style, negate=negate)
    elif (inner := negated_of(test)) is not None:
        yield from claims(inner, whole, form, style, negate=not negate)
    elif (compared := comparison_of(test)) is not None:
        yield _compared(compared, whole, form, test, negate=negate)
    else:
        call = call_of(test)
        if call and call.name == "isinstance" and len(call.args) == 2 and not negate:
            subject, kind = call.args
            yield Assertion(
                "isinstance", subject.plain, (kind.plain,), PARTIAL, form, whole, kind, test
            )
        elif call and call.last in ("isclose", "allclose") and len(call.args) > 1 and not negate:
            yield _close(call, whole, form, test)
        elif test.kind == "comparison":
            yield from _chained_comparison(test, whole, form)
        else:
            op = "false" if negate else "truth"
            yield Assertion(op, test.plain, (), TRUTH, form, whole, claim=test)


def _chained_comparison(test: Node, whole: Node, form: str) -> Iterator[Assertion]:
    values = [kid for kid in test.kids if kid.named]
    ops = [kid for kid in test.kids if kid.field == "operator"]
    for left, op, right in zip(values, ops, values[1:], strict=False):
        yield _compared((left, op, right), whole, form, test, negate=False)


def _compared(
    sides: tuple[Node, Node, Node], whole: Node, form: str, claim: Node, *, negate: bool
) -> Assertion:
    left, token, right = sides
    op = token.kind if token.kind in COMPARISONS else token.text
    op = {"===": "==", "!==": "!="}.get(op, op)
    if is_literal(left) and not is_literal(right) and op not in ("in", "not in"):
        op, left, right = MIRRORED.get(op, op), right, left
    op = OPPOSITE.get(op, op) if negate else op
    for looked, wanted in ((left, right), (right, left)):
        call = call_of(bare(wanted))
        if op == "==" and call and call.last in ("approx", "closeTo") and call.args:
            value = call.args[0]
            return Assertion(
                "approx", looked.plain, (value.plain,), CLOSE, form, whole, value, claim,
                _tolerance(call.args[1:]),
            )  # fmt: skip
        if op == "==" and not is_literal(left) and bare(left).text in ("True", "true"):
            break
    strength = min(strength_of(op), COMPARISONS[op])
    return Assertion(op, left.plain, (right.plain,), strength, form, whole, right, claim)


def _close(call: Call, whole: Node, form: str, claim: Node | None) -> Assertion:
    subject, wanted = call.args[:2]
    if is_literal(subject) and not is_literal(wanted):
        subject, wanted = wanted, subject
    return Assertion(
        "approx", subject.plain, (wanted.plain,), CLOSE, form, whole, wanted, claim,
        _tolerance(call.args[2:]),
    )  # fmt: skip


def _tolerance(args: Sequence[Node]) -> float:
    """Return how far off a value may be; decimal places become a distance."""
    for arg in args:
        name, value = arg.get("name", "key"), arg.get("value") or arg
        number = number_of(value)
        if number is None:
            continue
        if name is not None and name.text in ("places", "decimal"):
            return 10.0**-number
        if name is None or name.text in TOLERANCES:
            return number
    return 1e-6


def number_of(node: Node) -> float | None:
    """Return the number that a literal expression represents."""
    text = re.sub(r"[_\s]", "", bare(node).text)
    if not re.fullmatch(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?[fFdDlLuU]*", text):
        return None
    return float(text.rstrip("fFdDlLuU"))


def is_tautology(test: Node) -> bool:
    """Return whether an asserted expression is true whatever the code does."""
    test = bare(test)
    joined, inner, compared = operands_of(test), negated_of(test), comparison_of(test)
    if joined and joined[0] == "or":
        return any(map(is_tautology, joined[1]))
    if inner is not None:
        return bare(inner).text in ("False", "None", "0", "false", "nil", '""', "''")
    if compared:
        left, op, right = compared
        is_same = left.plain == right.plain and op.text in ("==", "is", "<=", ">=", "===")
        is_size = bool(re.match(r"len\(|.*(?:\.length|\.size\(\)|\.len\(\))$", left.plain))
        is_hollow = is_size and right.text == "0" and op.text == ">="
        return is_same or is_hollow or (is_literal(left) and is_literal(right))
    if test.kind == "tuple":
        return bool(test.parts)
    return is_literal(test) and test.text not in ("False", "None", "0", "false", "nil", "NULL")


# Calls and chains


def unroll(node: Node) -> tuple[Call | None, Node, list[tuple[str, tuple[Node, ...] | None, Node]]]:
    """Return a chain's first call, its root, and every word after it."""
    links: list[tuple[str, tuple[Node, ...] | None, Node]] = []
    while True:
        call = call_of(node)
        if call is not None:
            if call.receiver is None or SUBJECT_ROOTS.fullmatch(call.name):
                return call, node, links
            links.insert(0, (call.last, call.args, node))
            node = call.receiver
        elif node.kind in MEMBERS and len(node.parts) > 1:
            receiver, last = member_of(node)
            links.insert(0, (last, None, node))
            node = receiver
        else:
            return None, node, links
        node = bare(node)


def _called(node: Node, style: str, helpers: AbstractSet[str]) -> Iterator[Assertion]:
    if node.parent is not None and node.parent.kind in MEMBERS | CALLS and _continues(node):
        return
    root, base, links = unroll(node)
    words = [word for word, _, _ in links]
    infix = next((n for n, word in enumerate(words) if INFIX.fullmatch(word)), None)
    if root is not None and links and SUBJECT_ROOTS.fullmatch(root.name):
        yield _chained(node, root.node, root.args, links)
    elif infix is not None and style in ("javascript", "ruby"):
        before = links[infix - 1][2] if infix else base
        rest = links[infix:]
        if words[infix] == "should":
            rest = links[infix + 1 :] or [("should", links[infix][1], node)]
            given = links[infix][1]
            if given and len(links) == infix + 1:
                rest = [("to", given, node)]
        yield _chained(node, before, (before,), rest)
    elif requests := [link for link in links if link[0] == "expect" and link[1]]:
        yield from map(_requested, requests)
    elif (call := call_of(node)) is not None:
        yield from _plain_call(call, style, helpers)
    elif (
        style == "ruby"
        and node.kind == "identifier"
        and node.field is None
        and node.text not in ("_", "expect")
        and ASSERTING[style].fullmatch(node.text)
    ):
        yield Assertion(node.text, "", (), PARTIAL, "call", node)


def _continues(node: Node) -> bool:
    """Return whether a chain continues after this node."""
    parent = node.parent
    assert parent is not None
    if parent.kind in MEMBERS:
        return parent.parts[0] is node
    return node.field in ("receiver", "object", "function", "scope", "method", "macro")


def _requested(link: tuple[str, tuple[Node, ...] | None, Node]) -> Assertion:
    """Return one call in a chain of requests; a lone number is a status, which is weak."""
    word, args, node = link
    given = [each for each in args or () if each.text not in ("done", "next", "cb")]
    plains = tuple(each.plain for each in given)
    is_status = len(plains) == 1 and bool(re.fullmatch(r"\d{3}", plains[0]))
    strength = TRUTH if is_status or not plains else EXACT
    subject = plains[0] if len(plains) > 1 else ""
    expected = plains[bool(subject) :]
    return Assertion(word, subject, expected, strength, "link", node, given[-1] if given else None)


def _chained(
    node: Node,
    base: Node,
    first: Sequence[Node],
    links: Sequence[tuple[str, tuple[Node, ...] | None, Node]],
) -> Assertion:
    """Yield `expect(subject).not.toBe(value)` and similar assertions."""
    said = [word for word, _, _ in links]
    negated = sum(word in NEGATIONS for word in said) % 2
    args = [arg for _, given, _ in links for arg in given or ()]
    names = [
        "instance" if word in ("a", "an") and given else word
        for word, given, _ in links
        if word not in NEGATIONS
        and word not in MANNERS
        and (word not in FILLERS or (word in ("a", "an", "be", "is") and given))
    ]
    word = names[-1] if names else ""
    wanted = args[-1] if args else None
    if wanted is not None and word in ("", "To", "Should", "satisfies", "be", "to"):
        word, args, flipped = _matcher(wanted, args)
        negated = (negated + flipped) % 2
        wanted = args[-1] if args else None
    expected = tuple(arg.plain for arg in args)
    subject = ",".join(arg.plain for arg in first) or (base.plain if base.kind in CALLS else "")
    op = f"not.{word}" if negated else word
    return made(op, subject, expected, "chain", node, wanted, literal=_literal(first, args))


def _matcher(wanted: Node, args: list[Node]) -> tuple[str, list[Node], int]:
    """Parse a matcher that is passed to an assertion: `to eq(3)`, `To(Equal(3))`."""
    flipped = 0
    while True:
        call = call_of(bare(wanted))
        if call is None or (call.receiver is not None and call.last[:1].islower()):
            break
        if call.last.lower() in ("is", "not", "be", "notp"):
            flipped += call.last.lower() == "not"
            if len(call.args) != 1:
                return call.last, list(call.args), flipped
            wanted = call.args[0]
            args = [wanted]
            if call_of(wanted) is None:
                return "is", args, flipped
            continue
        return call.last, list(call.args), flipped
    if wanted.kind in BINARY and len(wanted.parts) == 2:
        op = next((k.text for k in wanted.kids if not k.named or k.field == "operator"), "")
        return op, [wanted.parts[1]], flipped
    if wanted.kind in ("identifier", "constant"):
        return wanted.text, [], flipped
    return "", args, flipped


def _literal(first: Sequence[Node], args: Sequence[Node]) -> bool:
    """Return whether both sides are constants, so that nothing is tested."""
    return bool(first) and all(map(is_literal, (*first, *args)))


def made(
    op: str,
    subject: str,
    expected: tuple[str, ...],
    form: str,
    node: Node,
    wanted: Node | None,
    *,
    literal: bool = False,
    tolerance: float | None = None,
) -> Assertion:
    """Return an assertion whose strength follows from its name."""
    given = tuple(each for each in expected if each)
    if not given and (nothing := NOTHING.fullmatch(op.lower())):
        op, given = ("!=" if nothing["some"] else "=="), ("nil",)
    hollow = literal or given == (subject,)
    strength = HOLLOW if hollow and subject else strength_of(op)
    return Assertion(
        canonical(op), subject, given, strength, form, node, wanted, tolerance=tolerance
    )


def _plain_call(call: Call, style: str, helpers: AbstractSet[str]) -> Iterator[Assertion]:
    is_helper = call.last.removesuffix("!") in helpers and not _is_defined_here(call.node)
    if not is_helper and not ASSERTING[style].fullmatch(call.name):
        return
    if style == "go" and FAILING.fullmatch(call.name):
        yield Assertion("fail", "", (), TRUTH, "fail", call.node)
        return
    if RAISING.fullmatch(call.name) and style == "python":
        yield _raises(call)
        return
    if style == "go" and call.args[:1] and call.args[0].kind == "func_literal":
        # Routers are given handlers under an assertion's name.
        return
    args = [arg for n, arg in enumerate(call.args) if n or arg.text not in CONTEXTS]
    op = re.split(r"\.|::|->", call.name)[-1]
    if style == "go" and re.search(r"\.(?:Assert|Check)$", call.name) and len(args) > 1:
        args = [arg for arg in args if not arg.text.startswith(("qt.Commentf(", "Commentf("))]
        word, given, flipped = _matcher(args[1], args[2:])
        op = f"not.{word}" if flipped else word or args[1].text.rpartition(".")[2]
        expected = tuple(arg.plain for arg in given)
        yield made(op, args[0].plain, expected, "call", call.node, given[-1] if given else None)
        return
    if call.name.startswith("expect."):
        yield Assertion(call.name, "", tuple(a.plain for a in args), PARTIAL, "count", call.node)
        return
    if op == "plan":
        yield Assertion(op, op, tuple(a.plain for a in args), PARTIAL, "call", call.node)
        return
    yield from _by_name(call, op, args, style, is_helper=is_helper)


UNITTEST = {
    "assertIn": "in", "assertNotIn": "not in", "assertIs": "is", "assertIsNot": "is not",
    "assertIsInstance": "isinstance", "assertGreater": ">", "assertGreaterEqual": ">=",
    "assertLess": "<", "assertLessEqual": "<=", "assertNotEqual": "!=",
}  # fmt: skip


def _by_name(
    call: Call, op: str, args: list[Node], style: str, *, is_helper: bool
) -> Iterator[Assertion]:
    """Yield `assertEquals(expected, actual)` and similar assertions."""
    if style == "python" and op in UNITTEST and len(args) > 1:
        left, right = args[:2]
        name, sides = UNITTEST[op], (left, right)
        strength = COMPARISONS[name]
        yield Assertion(
            name, sides[0].plain, (sides[1].plain,), strength, "call", call.node, sides[1]
        )
        return
    strength = strength_of(op)
    word = squeezed(op)
    blocks = [arg for arg in args if arg.kind in LAMBDAS]
    if canonical(op) == "raises" and (blocks or call.node.get("block")) and not is_helper:
        kinds = [arg for arg in args if arg not in blocks and arg.kind not in STRINGS - {"regex"}]
        subject = (blocks or [call.node.get("block") or call.node])[0].plain
        expected = tuple(kind.plain for kind in kinds)
        wanted = kinds[0] if kinds else None
        yield Assertion("raises", subject, expected, PARTIAL, "raises", call.node, wanted)
        return
    named = [arg for arg in args if arg.kind == "keyword_argument"]
    plain = [arg for arg in args if arg.kind != "keyword_argument"]
    if op in ("assertThat", "assert_that") and len(args) > 1:
        yield _single(call, op, args, strength, style, is_helper=is_helper)
    elif args and strength == TRUTH and not is_helper:
        yield from claims(args[0], call.node, "truth", style, negate=word in ("false", "falsy"))
    elif style == "python" and "_called" in op and call.receiver is not None:
        expected = tuple(arg.plain for arg in args)
        yield made(op, call.receiver.plain, expected, "call", call.node, args[-1] if args else None)
    elif len(plain) > 1 and strength >= CLOSE and not is_helper:
        left, right = plain[:2]
        both = is_literal(left) == is_literal(right)
        turned = (is_literal(left) and not is_literal(right)) or (style in EXPECTED_FIRST and both)
        subject, wanted = (right, left) if turned else (left, right)
        is_close = strength == CLOSE and re.search(r"near|delta|close|almost|within|approx", word)
        rest = plain[2:] if strength != EXACT or (style == "java" and _is_delta(plain)) else []
        tolerance = _tolerance([*rest, *named]) if is_close or rest or named else None
        more = () if is_close or tolerance is not None else tuple(a.plain for a in rest)
        yield made(
            "approx" if is_close else op, subject.plain, (wanted.plain, *more), "call", call.node,
            wanted, literal=is_literal(left) and is_literal(right), tolerance=tolerance,
        )  # fmt: skip
    else:
        yield _single(call, op, args, strength, style, is_helper=is_helper)


def _is_delta(args: Sequence[Node]) -> bool:
    return len(args) == 3 and number_of(args[2]) is not None


def _single(
    call: Call, op: str, args: list[Node], strength: int, style: str, *, is_helper: bool
) -> Assertion:
    """Return an assertion about one value, or one with an unknown name."""
    is_matched = op in ("assertThat", "assert_that") and len(args) > 1
    if is_matched:
        word, given, flipped = _matcher(args[-1], [args[-1]])
        expected = tuple(arg.plain for arg in given)
        name = f"not.{word}" if flipped else word
        return made(name, args[-2].plain, expected, "call", call.node, given[-1] if given else None)
    is_one = strength == TRUTH or (style == "go" and NOTHING.fullmatch(op.lower()))
    kept = args[:1] if is_one else args
    if len(kept) == 2 and is_literal(kept[0]) and not is_literal(kept[1]) and not is_helper:
        kept = kept[::-1]
    expected = tuple(arg.plain for arg in kept[1:])
    wanted = kept[-1] if kept[1:] else None
    found = made(op, "".join(a.plain for a in kept[:1]), expected, "call", call.node, wanted)
    if found.strength == HOLLOW and len(kept) == 1 and not is_known(op):
        found = found._replace(strength=strength)
    return found._replace(form="helper") if is_helper else found


def _is_defined_here(node: Node) -> bool:
    return node.field == "declarator"


def _raises(call: Call) -> Assertion:
    """Return `raises(E, match=…)`: the type, then the required part of its message."""
    kinds = [arg for arg in call.args if arg.kind != "keyword_argument"]
    matches = [
        arg.get("value") or arg
        for arg in call.args
        if (name := arg.get("name")) is not None
        and arg.kind == "keyword_argument"
        and name.text == "match"
    ]
    if call.last.endswith(("Regex", "Regexp")):
        matches += kinds[1:2]
    kind = kinds[0] if kinds else None
    expected = (kind.plain if kind else "", *(match.plain for match in matches))
    return Assertion("raises", call.last, expected, PARTIAL, "raises", call.node, kind)


def _condition(node: Node) -> Iterator[Assertion]:
    """Yield the assertions of `if got != want { t.Errorf(…) }`: the negated condition, in parts."""
    test, then, setup = node.get("condition"), node.get("consequence"), node.get("initializer")
    if test is None or then is None:
        return
    inner = next((k for k in then.kids if k.kind == "statement_list"), then)
    fails = any(
        (call := call_of(bare(each))) is not None and FAILING.fullmatch(call.name)
        for stmt in inner.parts
        for each in (stmt.parts[:1] if stmt.kind == "expression_statement" else [])
    )
    if not fails:
        return
    bound = re.fullmatch(r"(\w+):=(.+)", setup.plain) if setup else None
    before = f"{setup.plain};" if setup else ""
    found = list(claims(test, node, "condition", "go", negate=True))
    for each in found:
        is_typed = each.expected[:1] in (("true",), ("false",))
        if is_typed and each.op in ("==", "!="):
            is_plain = (each.op == "==") == (each.expected[0] == "true")
            each = each._replace(op="truth" if is_plain else "false", expected=())
        never = bool(re.search(r"&&(?:false|0)\b|\b(?:false|0)&&", test.plain))
        strength = HOLLOW if never else max(each.strength, PARTIAL if not each.expected else 0)
        is_bound = bound is not None and bound[1] == each.subject
        subject = bound[2] if bound and is_bound else before + each.subject
        yield each._replace(subject=subject, strength=strength)


def strings_blanked(node: Node) -> str:
    """Return the code with the contents of strings and comments blanked."""
    found, at, source = bytearray(), node.start, node.source
    for leaf in node.leaves():
        found += source[at : max(at, leaf.start)]
        text = source[leaf.start : leaf.end]
        if leaf.kind in STRINGS and leaf.kind != "simple_symbol":
            text = text[:1] + b" " * max(0, len(text) - 2) + text[-1:]
        elif "comment" in leaf.kind:
            text = bytes(10 if c == 10 else 32 for c in text)
        found += text
        at = max(at, leaf.end)
    return (bytes(found) + source[at : node.end]).decode("latin-1")


__all__ = ["BOOLEANS", "assertions_in", "claims", "number_of", "strings_blanked", "unroll"]
