"""Small changes to a statement of JavaScript or TypeScript: the faults that people make most."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from flyball.regex import regex
from flyball.repair.inside.hot_swap import Edit
from flyball.repair.script_source import FUNCTIONS, ScriptSource, function_around
from flyball.repair.site import Candidate
from flyball.verdict.tests import Node

COMPARED = {
    "<": ("<=", ">", ">="), "<=": ("<", ">=", ">"), ">": (">=", "<", "<="), ">=": (">", "<=", "<"),
    "===": ("!==",), "!==": ("===",), "==": ("!=", "==="), "!=": ("==", "!=="),
}  # fmt: skip
COMPUTED = {
    "+": ("-", "*"), "-": ("+",), "*": ("/", "+", "**"), "/": ("*", "%"), "%": ("/", "*"),
    "**": ("*",), "<<": (">>",), ">>": ("<<", ">>>"), "&": ("|",), "|": ("&",),
}  # fmt: skip
JOINED = {"&&": ("||",), "||": ("&&", "??"), "??": ("||",)}
ASSIGNED = {"+=": ("-=", "=", "*="), "-=": ("+=",), "*=": ("/=", "+="), "/=": ("*=",)}
TWINS = (
    "floor ceil round trunc", "min max", "push unshift", "pop shift", "slice splice",
    "toUpperCase toLowerCase", "startsWith endsWith includes", "indexOf lastIndexOf findIndex",
    "find filter findLast", "some every", "keys values entries", "map flatMap forEach filter",
    "replace replaceAll", "trim trimStart trimEnd", "padStart padEnd", "reduce reduceRight",
    "parseInt parseFloat Number", "getDay getDate getUTCDate", "getMonth getUTCMonth",
    "getFullYear getUTCFullYear getYear", "getHours getUTCHours", "has get", "add delete",
    "resolve reject", "all allSettled race any", "then catch finally", "length size", "concat push",
    "isNaN isFinite isInteger", "match matchAll", "log log2 log10", "abs sign", "test exec",
    "setTimeout setImmediate", "substring substr slice", "charAt charCodeAt", "from of",
    "call apply",
)  # fmt: skip
"""Names that are easily mistaken for one another."""
TWIN_OF: dict[str, list[str]] = {}
for _group in TWINS:
    for _word in _group.split():
        TWIN_OF.setdefault(_word, []).extend(each for each in _group.split() if each != _word)
NUMERIC = "(a, b) => a - b"
PRIOR = {
    "comparison": 10.0, "arithmetic": 7.0, "joined": 7.0, "operand dropped": 4.0, "assigned": 5.0,
    "constant": 7.0, "off by one": 8.0, "name": 8.0, "property": 5.0, "twin": 10.0,
    "arguments": 7.0, "argument added": 4.0, "negation": 7.0, "condition": 3.0, "guard": 3.0,
    "chained": 4.0, "fallback": 4.0, "returned": 6.0, "awaited": 9.0, "left out": 2.0,
    "broken off": 6.0, "copied": 5.0, "pattern": 6.0, "branches": 5.0, "this": 5.0,
    "operand order": 5.0, "wrapped": 3.0, "exchanged": 3.0, "default": 3.0, "text": 6.0,
    "added": 2.0, "unwrapped": 3.0, "loop": 9.0, "flag": 6.0, "operand added": 4.0,
}  # fmt: skip
"""How often a change of each kind is the right one, relative to the others."""
FAVOURED = {
    "nothing": {"chained": 4.0, "guard": 3.0, "fallback": 3.0, "returned": 3.0, "awaited": 3.0},
    "not a function": {"twin": 3.0, "property": 2.0, "awaited": 2.0, "copied": 2.0},
    "not defined": {"name": 3.0, "this": 4.0},
    "Promise": {"awaited": 8.0},
    "constant variable": {"exchanged": 1.0, "loop": 2.0},
    "not iterable": {"fallback": 6.0, "guard": 2.0},
    "undefined": {"returned": 4.0, "fallback": 2.0, "awaited": 1.5},
    "NaN": {"fallback": 4.0, "wrapped": 3.0, "constant": 2.0, "returned": 2.0},
}
"""How much likelier a kind is than usual, by what the failing tests say."""
SIGNS = {
    "nothing": regex(r"of (?:undefined|null)\b"),
    "not a function": regex(r"is not a function"),
    "not defined": regex(r"is not defined"),
    "Promise": regex(r"\bPromise\b"),
    "constant variable": regex(r"constant variable"),
    "not iterable": regex(r"is not iterable"),
    "undefined": regex(r"\bundefined\b"),
    "NaN": regex(r"\bNaN\b"),
}
MOST_NAMES = 12
SPREAD = 0.5
FIELD = regex(r"\bthis\.\w+(?!\w|\s*\()")
WORD = regex(r"[A-Za-z_$][\w$]*")


class Draft(NamedTuple):
    """A change as it is proposed: its kind, what it replaces, and by what."""

    kind: str
    start: int
    end: int
    text: str


def clues_of(messages: Iterable[str]) -> frozenset[str]:
    """Return what the messages of failing tests say about the kind of fault."""
    text = "\n".join(messages)
    return frozenset(name for name, pattern in SIGNS.items() if pattern.search(text))


def changes_at(
    source: ScriptSource, step: Node, score: float, clues: frozenset[str], wanted: Sequence[str]
) -> Iterator[Candidate]:
    """Yield the changes of one statement, each with how likely it seems."""
    drafts: dict[str, list[Draft]] = {}
    for draft in _drafts(source, step, wanted):
        if source.data[draft.start : draft.end].decode("utf-8", "replace") != draft.text:
            drafts.setdefault(draft.kind, []).append(draft)
    for kind, found in drafts.items():
        favour = max((FAVOURED[clue].get(kind, 1.0) for clue in clues), default=1.0)
        chance = PRIOR[kind] * favour * score / len(set(found)) ** SPREAD
        for draft in dict.fromkeys(found):
            label = (
                f"{source.data[draft.start : draft.end].decode('utf-8', 'replace')} → {draft.text}"
            )
            edit = Edit(draft.start, draft.end, draft.text)
            yield Candidate(
                source.path, step.line, kind, " ".join(label.split())[:80], (edit,), chance
            )


def _drafts(source: ScriptSource, step: Node, wanted: Sequence[str]) -> Iterator[Draft]:
    names = _names_at(step)
    members = _members(source)
    fields = [*dict.fromkeys(FIELD.findall(source.data.decode("utf-8", "replace")))]
    for node in source.own(step):
        yield from _operators(node)
        yield from _constants(node, wanted)
        yield from _named(node, names, members)
        yield from _called(node, names)
        yield from _conditions(node)
        yield from _values(node)
        yield from _operands(node, names, members)
    yield from _whole(step, names, fields)
    yield from _parameters(step)


def _text(node: Node | None) -> str:
    return node.text if node is not None else ""


def _put(kind: str, node: Node, *texts: str) -> Iterator[Draft]:
    for text in texts:
        yield Draft(kind, node.start, node.end, text)


def _operators(node: Node) -> Iterator[Draft]:
    left, right = node.get("left"), node.get("right")
    op = node.get("operator")
    if node.kind == "binary_expression" and left and right and op:
        for kind, table in (("comparison", COMPARED), ("arithmetic", COMPUTED), ("joined", JOINED)):
            yield from _put(kind, op, *table.get(op.text, ()))
        yield from _put("operand dropped", node, left.text, right.text)
        if op.text in ("-", "/", "%", "<", ">", "<=", ">="):
            yield from _put("operand order", node, f"{right.text} {op.text} {left.text}")
        if op.text == "/":
            yield from _put("wrapped", node, f"Math.floor({node.text})", f"Math.round({node.text})")
        # `a + b * c` where `(a + b) * c` is meant, and the other way round.
        inner = left if left.kind == "binary_expression" else right
        a, o, b = inner.get("left"), inner.get("operator"), inner.get("right")
        if inner.kind == "binary_expression" and a and b and o and inner is right:
            yield from _put(
                "operand order", node, f"({left.text} {op.text} {a.text}) {o.text} {b.text}"
            )
        elif inner.kind == "binary_expression" and a and b and o:
            yield from _put(
                "operand order", node, f"{a.text} {o.text} ({b.text} {op.text} {right.text})"
            )
        if inner.kind == "parenthesized_expression":
            yield from _put("operand order", inner, inner.text[1:-1])
    if node.kind == "augmented_assignment_expression" and op:
        yield from _put("assigned", op, *ASSIGNED.get(op.text, ()))
    if node.kind == "assignment_expression":
        equals = next((kid for kid in node.kids if kid.text == "="), None)
        yield from _put("assigned", equals, "+=", "-=") if equals else ()
    if node.kind == "update_expression":
        swapped = node.text.translate(str.maketrans("+-", "-+"))
        yield from _put("assigned", node, swapped)


def _constants(node: Node, wanted: Sequence[str]) -> Iterator[Draft]:
    text = node.text
    if node.kind == "number" and re.fullmatch(r"\d+", text):
        value = int(text)
        near = [str(value + 1), str(max(value - 1, -1)), "0", "1", "2", f"-{text}"]
        near += [f"{text}0", text[:-1]] if value >= 10 else []
        yield from _put("constant", node, *dict.fromkeys(each for each in near if each != text))
        yield from _put("constant", node, *[each for each in wanted if re.fullmatch(r"\d+", each)])
    elif node.kind in ("true", "false"):
        yield from _put("constant", node, "false" if text == "true" else "true")
    elif node.kind == "string" and node.parent and node.parent.kind != "import_statement":
        mark = text[0]
        yield from _put("text", node, f"{mark}{mark}", f"{mark} {mark}", f"{mark}, {mark}")
        near = [each for each in wanted if _is_near(text[1:-1], each)]
        yield from _put("text", node, *(f"{mark}{each}{mark}" for each in near[:6]))
    elif node.kind == "string_fragment" and node.parent and node.parent.kind == "template_string":
        near = [each for each in wanted if _is_near(text, each)]
        yield from _put("text", node, text.strip(), f"{text} ", f" {text}", *near[:4])
        yield from _put("pattern", node, f"{text}$", f"^{text}")
    elif node.kind == "array" and not node.parts:
        yield from _put("constant", node, "{}", "null", "''")
    elif node.kind in ("null", "undefined"):
        yield from _put("constant", node, "0", "''", "[]", "{}", "true", "false")
    elif node.kind == "regex":
        yield from _patterns(node)


def _is_near(text: str, other: str) -> bool:
    """Return whether one text might be meant by the other."""
    if not text.strip() or "'" in other or "\n" in other:
        return len(other) <= 3
    return text.casefold() == other.casefold() or (
        abs(len(text) - len(other)) <= 3 and (text[:2] == other[:2] or text[-2:] == other[-2:])
    )


def _patterns(node: Node) -> Iterator[Draft]:
    body, _, flags = node.text[1:].rpartition("/")
    for flag in "gimu":
        other = flags.replace(flag, "") if flag in flags else flags + flag
        yield from _put("flag", node, f"/{body}/{other}")
    for instead in (r"{1,\1}", "+", "*"):
        wider = re.sub(r"\{(\d)\}", instead, body)
        yield from _put("pattern", node, f"/{wider}/{flags}")
    for found in re.finditer(r"(?<!\\)[+*]", body):
        swapped = "*" if found[0] == "+" else "+"
        yield from _put(
            "pattern", node, f"/{body[: found.start()]}{swapped}{body[found.end() :]}/{flags}"
        )
    for found in re.finditer(r"\\([wdsbWDSB.])|(?<!\\)\.", body):
        letter = found[1]
        new = r"\." if letter is None else "." if letter == "." else f"\\{letter.swapcase()}"
        yield from _put(
            "pattern", node, f"/{body[: found.start()]}{new}{body[found.end() :]}/{flags}"
        )
    more = [
        f"^{body}",
        f"{body}$",
        f"^{body}$",
        f"{body}+",
        f"{body}*",
        body.strip("^"),
        body.rstrip("$"),
    ]
    more += [
        re.sub(r"\[([^\]]+)\]", rf"[\g<1>{each}]", body) for each in ("_", "-", "A-Z", "0-9", ".")
    ]
    yield from _put(
        "pattern", node, *(f"/{each}/{flags}" for each in more if each != body and each)
    )


def _names_at(step: Node) -> list[str]:
    """Return the variables that a statement can use: the nearest functions' first."""
    found: dict[str, None] = {}
    for around in step.above():
        if around.kind not in FUNCTIONS and around.kind != "program":
            continue
        given = around.get("parameters", "parameter")
        for each in given.walk() if given else ():
            if each.kind in ("identifier", "shorthand_property_identifier_pattern"):
                found.setdefault(each.text)
        for each in around.walk(lambda node: node.kind in FUNCTIONS):
            name = each.get("name")
            if each.kind == "variable_declarator" and name and each.start < step.start:
                found.update(dict.fromkeys(WORD.findall(name.text)))
            if each.kind in ("for_in_statement",):
                found.update(dict.fromkeys(WORD.findall(_text(each.get("left")))))
    return list(found)[:MOST_NAMES]


def _members(source: ScriptSource) -> dict[str, list[str]]:
    """Return the members that each variable is seen with."""
    found: dict[str, dict[str, None]] = {}
    for node in source.root.walk():
        owner, name = node.get("object"), node.get("property")
        if node.kind == "member_expression" and owner is not None and name is not None:
            found.setdefault(owner.text, {}).setdefault(name.text)
    return {owner: list(names) for owner, names in found.items()}


def _operands(
    node: Node, names: Sequence[str], members: Mapping[str, Sequence[str]]
) -> Iterator[Draft]:
    """Yield what may be missing next to a value: another member, a length, one."""
    parent, text = node.parent, node.text
    if parent is None or parent.kind not in VALUED:
        return
    if node.kind == "member_expression":
        owner, own = _text(node.get("object")), _text(node.get("property"))
        others = [f"{owner}.{each}" for each in members.get(owner, ()) if each != own]
        yield from _put(
            "operand added", node, *(f"{text} {op} {each}" for each in others[:6] for op in "*+-")
        )
    if node.kind == "identifier" and parent.kind == "arguments":
        texts = [f"{each}{end}" for each in names if each != text for end in ("", ".length")]
        yield from _put(
            "operand added", node, *(f"{text} {op} {each}" for each in texts for op in "-+")
        )
    if parent.kind == "return_statement" and node.kind in ("call_expression", "identifier"):
        yield from _put("off by one", node, f"{text} + 1", f"1 + {text}", f"{text} - 1")
        inner = dict.fromkeys(FIELD.findall(text))
        yield from _put(
            "operand added", node, *(f"{each} {op} {text}" for each in inner for op in "+-*")
        )


VALUED = frozenset(
    {"arguments", "return_statement", "binary_expression", "arrow_function", "variable_declarator"}
)


def _named(
    node: Node, names: Sequence[str], members: Mapping[str, Sequence[str]]
) -> Iterator[Draft]:
    parent = node.parent
    if node.kind in ("property_identifier", "identifier") and node.text in TWIN_OF:
        yield from _put("twin", node, *TWIN_OF[node.text])
    if node.kind == "property_identifier" and parent and parent.kind == "member_expression":
        if node.text not in TWIN_OF:
            yield from _put("property", node, *members.get(_text(parent.get("object")), ()))
        if node.text in ("length", "size"):
            yield from _put("off by one", parent, f"{parent.text} - 1", f"{parent.text} + 1")
    if node.kind in ("null", "undefined") and parent and parent.kind == "return_statement":
        yield from _put("name", node, *names)
    if node.kind != "identifier" or parent is None:
        return
    is_target = node.field == "name" or parent.kind in ("formal_parameters", "import_specifier")
    if is_target or (node.field == "function" and parent.kind == "call_expression"):
        yield from _put("name", node, *(each for each in names if node.field == "function"))
        return
    yield from _put("name", node, *names)
    if f"this.{node.text}" in node.source.decode("utf-8", "replace"):
        yield from _put("this", node, f"this.{node.text}")


def _called(node: Node, names: Sequence[str]) -> Iterator[Draft]:
    if node.kind not in ("call_expression", "new_expression"):
        return
    called, given = node.get("function", "constructor"), node.get("arguments")
    if called is None or given is None or given.kind != "arguments":
        return
    parts, texts = given.parts, [each.text for each in given.parts]
    for n, _ in enumerate(pairwise(parts)):
        swapped = [*texts[:n], texts[n + 1], texts[n], *texts[n + 2 :]]
        yield from _put("arguments", given, f"({', '.join(swapped)})")
    if parts:
        yield from _put("arguments", given, f"({', '.join(texts[:-1])})")
    name = called.text.rpartition(".")[2]
    more = {"sort": [NUMERIC, "(a, b) => b - a"], "parseInt": ["10"], "join": ["''", "' '"]}
    more.update(split=["''", "' '"], reduce=["0", "[]", "{}", "''"], slice=["1", "0"], fill=["0"])
    more.update(padStart=["'0'", "' '"], flat=["Infinity"], stringify=["null, 2"])
    for extra in [*more.get(name, []), *names[:4]]:
        yield from _put("argument added", given, f"({', '.join([*texts, extra])})")
    receiver = called.get("object") if called.kind == "member_expression" else None
    if receiver is not None:
        yield from _put("unwrapped", node, receiver.text)
        if name in ("sort", "reverse", "splice", "push", "pop", "shift", "unshift", "fill"):
            yield from _put("copied", receiver, f"[...{receiver.text}]")
    elif len(texts) == 1:
        yield from _put("unwrapped", node, texts[0])
    if not (node.parent and node.parent.kind == "await_expression") and _is_async(node):
        yield from _put("awaited", node, f"await {node.text}")


def _is_async(node: Node) -> bool:
    function = function_around(node)
    return function is not None and function.text.startswith("async")


def _conditions(node: Node) -> Iterator[Draft]:
    test = node.get("condition")
    if test is not None and node.kind != "for_statement":
        inner = test.text[1:-1] if test.kind == "parenthesized_expression" else test.text
        is_bare = bool(re.fullmatch(r"!?[\w.()]+", inner))
        negated = inner[1:] if inner.startswith("!") and is_bare else f"!({inner})"
        opened, closed = ("(", ")") if test.kind == "parenthesized_expression" else ("", "")
        yield from _put("negation", test, f"{opened}{negated}{closed}")
        for name in dict.fromkeys(re.findall(r"\b[a-z_$][\w$]*(?:\.\w+)?\b(?!\()", inner)):
            texts = [
                f"{inner} || {name} == null",
                f"{name} != null && {inner}",
                f"{name} && {inner}",
            ]
            texts += [f"{inner} || {name} === 0", f"{inner} || !{name}", f"{name} !== undefined"]
            yield from _put("condition", test, *(f"{opened}{each}{closed}" for each in texts))
    if node.kind == "unary_expression" and node.text.startswith(("!", "-")):
        yield from _put("negation", node, node.text[1:])
    if node.kind == "ternary_expression":
        yes, no = node.get("consequence"), node.get("alternative")
        if test and yes and no:
            yield from _put("branches", node, f"{test.text} ? {no.text} : {yes.text}")
    if node.kind == "for_in_statement":
        word = node.get("operator")
        if word is not None:
            yield from _put("loop", word, "of" if word.text == "in" else "in")


def _values(node: Node) -> Iterator[Draft]:
    yield from _accesses(node)
    yield from _conversions(node)
    if node.kind == "return_statement" and node.parts:
        value = node.parts[0]
        yield from _put("negation", value, f"!({value.text})")
        yield from _put("wrapped", value, f"Math.round({value.text})", f"{value.text}.reverse()")


def _accesses(node: Node) -> Iterator[Draft]:
    """Yield other indexes, members and results, and values for where there is none."""
    parent = node.parent
    text = node.text
    if node.kind == "subscript_expression":
        index = node.get("index")
        if index is not None:
            yield from _put("off by one", index, f"{index.text} + 1", f"{index.text} - 1")
        yield from _put(
            "fallback", node, *(f"({text} ?? {each})" for each in ("0", "''", "[]", "{}"))
        )
    if node.kind == "binary_expression" and re.search(r"[+-] 1$", text):
        yield from _put(
            "off by one", node, text[:-4], text[:-3] + ("- 1" if "+ 1" in text[-4:] else "+ 1")
        )
    if node.kind == "member_expression" and "?." not in text:
        owner, name = node.get("object"), node.get("property")
        if owner is not None and name is not None:
            yield from _put("chained", node, f"{owner.text}?.{name.text}")
            yield from _put("chained", owner, f"({owner.text} ?? {{}})", f"({owner.text} || [])")
        yield from _put(
            "fallback", node, *(f"({text} ?? {each})" for each in ("0", "''", "[]", "{}"))
        )
    if node.kind == "call_expression" and not (parent and parent.kind == "member_expression"):
        yield from _put("fallback", node, f"({text} ?? [])", f"({text} ?? 0)")
        yield from _put("wrapped", node, f"{text}.map(Number)", f"{text}.filter(Boolean)")
    if node.kind == "await_expression":
        yield from _put("unwrapped", node, node.parts[0].text if node.parts else text)


def _conversions(node: Node) -> Iterator[Draft]:
    """Yield a value converted, copied, negated or moved by one where it is used."""
    parent = node.parent
    text = node.text
    is_value = node.field in ("value", "right", "argument", "left", "object") or (
        parent is not None
        and parent.kind in ("return_statement", "arguments", "template_substitution")
    )
    if not is_value or node.kind not in (
        "identifier",
        "member_expression",
        "call_expression",
        "subscript_expression",
    ):
        return
    if parent is None or parent.kind != "member_expression":
        yield from _put("wrapped", node, f"Number({text})", f"String({text})", f"Math.abs({text})")
        yield from _put("copied", node, f"[...{text}]", f"{{ ...{text} }}", f"{text}.slice()")
        yield from _put("negation", node, f"!{text}", f"-{text}")
    yield from _put("wrapped", node, f"{text}.trim()", f"{text}.toLowerCase()", f"{text}.length")
    if node.field in ("left", "right"):
        yield from _put("off by one", node, f"({text} + 1)", f"({text} - 1)")


RESULTS = ("", " 0", " null", " ''", " []", " {}", " false", " true", " -1")


def _whole(step: Node, names: Sequence[str], fields: Sequence[str]) -> Iterator[Draft]:
    """Yield changes to a statement as such: guards, results, and what is left out or moved."""
    parent, text = step.parent, step.text
    indent = _indent(step)
    if parent is None or parent.kind not in ("statement_block", "switch_case", "switch_default"):
        return
    if step.kind == "expression_statement" and step.parts:
        yield from _put("returned", step, f"return {text}")
    if step.kind in ("expression_statement", "break_statement", "continue_statement"):
        yield from _put("left out", step, ";")
    at = step.start
    used = [each for each in (*names, *fields) if re.search(rf"\b{re.escape(each)}\b", text)]
    for name in used[:4]:
        for test in (
            f"{name} == null",
            f"!{name}",
            f"{name}.length === 0",
            f"{name} <= 0",
            f"{name} < 0",
        ):
            for result in (*RESULTS, f" {name}"):
                yield Draft("guard", at, at, f"if ({test}) return{result};\n{indent}")
    is_end = parent.kind in ("switch_case", "switch_default") and step is parent.parts[-1]
    if is_end and not re.match(r"break|return|throw|continue", text):
        yield Draft("broken off", step.end, step.end, f"\n{indent}break;")
    siblings = parent.parts
    after = next((b for a, b in pairwise(siblings) if a is step), None)
    if after is not None:
        gap = step.source[step.end : after.start].decode("utf-8", "replace")
        yield Draft("exchanged", step.start, after.end, f"{after.text}{gap}{text}")
    elif not re.match(r"return|throw|break|continue", text):
        owners = {each.kind for each in step.above()}
        ends = [f"return {name};" for name in names[:6]] + ["return this;", "return true;"]
        ends += (
            ["break;", "continue;"]
            if owners & {"for_statement", "while_statement", "for_in_statement"}
            else []
        )
        for end in ends:
            yield Draft("returned", step.end, step.end, f"\n{indent}{end}")
    for name in (*names[:4], *fields[:4]):
        for change in (f"{name}++;", f"{name}--;", f"{name} = 0;"):
            yield Draft("added", step.end, step.end, f"\n{indent}{change}")


def _indent(node: Node) -> str:
    before = node.source[: node.start].rpartition(b"\n")[2].decode("utf-8", "replace")
    return before if not before.strip() else "  "


def _parameters(step: Node) -> Iterator[Draft]:
    """Yield defaults for the parameters of the function that a statement begins."""
    function = function_around(step)
    body, given = (function.get("body"), function.get("parameters")) if function else (None, None)
    if body is None or given is None or (step is not body and step not in body.parts[:1]):
        return
    for each in given.parts:
        value = each.get("right", "value")
        if value is not None:
            yield from _put("default", value, "0", "1", "''", "[]", "{}", "true", "false", "null")
        elif each.kind in ("identifier", "required_parameter"):
            yield from _put(
                "default",
                each,
                *(f"{each.text} = {v}" for v in ("0", "1", "''", "[]", "{}", "true", "false")),
            )
    texts = [each.text for each in given.parts]
    if len(texts) == 2:
        yield from _put("exchanged", given, f"({texts[1]}, {texts[0]})")
