"""Words, expansions and arithmetic: whatever is nested in a word is judged like any command."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tree_sitter import Node

from flyball.shell.rule import named_secret, secret_finding
from flyball.shell.words.names import names
from flyball.shell.words.pattern import Pattern
from flyball.shell.words.source import backtick_readings
from flyball.shell.words.variable import assignment_objection, is_set_by_shell
from flyball.shell.words.word import text_of, words_of

if TYPE_CHECKING:
    from flyball.shell.walk.walk import Walk

_LEAVES = names(
    "word number raw_string ansi_c_string string_content variable_name special_variable_name "
    "regex extglob_pattern test_operator"
)
_NESTED = names(
    "string translated_string concatenation simple_expansion array brace_expression command_name "
    "binary_expression unary_expression postfix_expression parenthesized_expression "
    "ternary_expression"
)
_COUNTING = names("arithmetic_expansion subscript postfix_expression ternary_expression")
_COUNTS = Pattern(
    r"(wc|nproc|date \+%[sNYjmdHMS]+|git rev-list --count|grep -\w*c\w*|tput|"
    r"stat -c ?\W?%[sYXZWhu])(?!\w)[^*?$\[`]*"
)
"""A command that prints a number, and no name that is made up when it runs."""
_NARROWS = Pattern(r"(cut|head|tail|tr -d|awk '\{ ?print \$\d ?\}')(?!\w)[^$`]*")
_COMPARISONS = names("-eq -ne -lt -le -gt -ge")
_SIGNS = Pattern(r"[<>|&;()]")
_PLAIN_COUNT = Pattern(r"\(\([ \t]*(\w+(\+\+|--)|(\+\+|--)\w+|\w+[-+*/%=!]?=[\w$+*/%]+)[ \t]*\)\)")
_TESTS_FILE = Pattern(r"[ \t\n]*-[a-zA-Z][ \t]")
_OPAQUE = names(
    "string raw_string ansi_c_string expansion command_substitution arithmetic_expansion"
)


def examine(walk: Walk, node: Node, *, arithmetic: bool = False) -> None:
    """Judge everything inside a word or expression."""
    kind = node.type
    if kind in ("command_substitution", "process_substitution"):
        _substitution(walk, node)
        if arithmetic and not _is_count(node):
            walk.unknown(node, "arithmetic evaluates what a command prints, which is not known")
    elif kind == "expansion":
        _expansion(walk, node, arithmetic=arithmetic)
    elif kind in _LEAVES:
        if kind in ("raw_string", "ansi_c_string") and _is_bared(node):
            walk.unknown(node, "these quotes quote nothing within double quotes")
        if kind == "ansi_c_string" and "\\'" in text_of(node):
            walk.unknown(node, "sh ends these quotes at the first of the inner ones")
        if arithmetic:
            _counted(walk, node)
    elif kind == "subscript" and not arithmetic:
        # The name is looked up, and only its index is arithmetic.
        for child in node.named_children[1:]:
            examine(walk, child, arithmetic=True)
    elif kind in _NESTED or kind in _COUNTING:
        if text_of(node).startswith("$[") and _SIGNS.search(text_of(node)):
            walk.unknown(node, "sh does not compute within $[ ]")
        for child in node.named_children:
            examine(walk, child, arithmetic=arithmetic or kind in _COUNTING)
    else:
        walk.unknown(node, f"the construct {kind.replace('_', ' ')} is not understood")


def _is_bared(node: Node) -> bool:
    """Return whether single quotes occur in `"${x:-…}"`, where a shell expands their content."""
    body = text_of(node).partition("'")[2]
    if not any(sign in body for sign in "$`\\"):
        return False
    above, expands = node.parent, False
    while above is not None and above.type not in ("command_substitution", "process_substitution"):
        expands = expands or above.type == "expansion"
        if expands and above.type in ("string", "translated_string", "heredoc_body"):
            return True
        above = above.parent
    return False


def _substitution(walk: Walk, node: Node) -> None:
    if readings := backtick_readings(node):
        walk.findings.extend(found for text in readings for found in walk.script(text))
        return
    # `$(<file)` holds a bare redirection, which is a statement without a command.
    before = walk.scope
    for child in node.named_children:
        if child.type == "file_redirect":
            walk.redirect(child)
        else:
            walk.visit(child)
    walk.scope = before


def _is_count(node: Node) -> bool:
    """Return whether a substitution is one pipeline that ends in a number."""
    inner = () if backtick_readings(node) else node.named_children
    if len(inner) == 1 and inner[0].type == "pipeline":
        inner = inner[0].named_children
    elif len(inner) != 1 or inner[0].type not in ("command", "redirected_statement"):
        return False
    texts = [text_of(part) for part in inner]
    while len(texts) > 1 and _NARROWS.fullmatch(texts[-1]):
        texts.pop()
    return bool(_COUNTS.fullmatch(texts[-1]))


def _expansion(walk: Walk, node: Node, *, arithmetic: bool) -> None:
    """Judge `${…}`: no prompt expansion, no indirection, no assignment to special names."""
    text = text_of(node).strip()
    operators = [text_of(child) for child in node.children_by_field_name("operator")]
    if "!" in operators[:1] or "@" in operators:
        walk.unknown(node, f"{text} may execute what a variable holds")
    name = re.match(r"\$\{#?(\w+)", text)
    if any(o in ("=", ":=") for o in operators) and (
        name is None or assignment_objection(name[1], None)
    ):
        walk.unknown(node, f"{text} sets a controlling variable")
    for i, child in enumerate(node.named_children):
        counted = (arithmetic and "#" not in operators[:1]) or (":" in operators and i > 0)
        examine(walk, child, arithmetic=counted)
        if i > 0 and named_secret(words_of(child)):
            walk.findings.append(secret_finding(text, text))


def _counted(walk: Walk, node: Node) -> None:
    """Judge arithmetic, which evaluates the value of a name again, so the name must hold a
    number."""
    text = text_of(node)
    if node.type == "number" or (node.type == "special_variable_name" and text in "?#$!-"):
        return
    plain = node.type in ("variable_name", "word", "string_content", "special_variable_name")
    if not plain or not re.fullmatch(r"[\w@*+-]+", text):
        walk.unknown(node, "arithmetic on this text is not understood")
    if _is_argument(node):
        walk.unknown(node, f"arithmetic evaluates what ${text} holds, which is not known")
    check_counted(walk, node, text)


def _is_argument(node: Node) -> bool:
    """Return whether a name is an argument of the script: all of them, or one by number."""
    above = node.parent
    if above is None or above.type not in ("simple_expansion", "expansion"):
        return False
    return above.named_children[0] == node and bool(re.fullmatch(r"\d+|[@*]", text_of(node)))


def check_counted(walk: Walk, node: Node, text: str) -> None:
    """Object to names in an arithmetic text that may hold more than a number."""
    for name in re.findall(r"[A-Za-z_]\w*", text):
        if name in walk.facts.tainted or is_set_by_shell(name):
            walk.unknown(node, f"arithmetic evaluates what {name} holds, which is not known")


def examine_condition(walk: Walk, node: Node, *, deep: bool) -> None:
    """Judge a test; `[[ … -eq … ]]` (deep) computes, `[ … -eq … ]` does not."""
    operator = node.child_by_field_name("operator")
    sign = text_of(operator) if operator is not None else ""
    if sign in ("-v", "-R"):
        walk.unknown(node, f"{sign} evaluates the index of what it is given")
    if node.type not in ("unary_expression", "binary_expression", "parenthesized_expression"):
        examine(walk, node)
        return
    for child in node.named_children:
        if child == operator:
            continue
        if deep and sign in _COMPARISONS:
            examine(walk, child, arithmetic=True)
        else:
            examine_condition(walk, child, deep=deep)


def sh_reading(node: Node) -> str | None:
    """Return what `sh` would run of a `[[ ]]` or `(( ))`, or what is redirected within `[ ]`.

    A shell without them treats `[[` as a missing program, `((` as two subshells, and operators
    between words as usual.
    """
    if node.type == "compound_statement":
        return None if _PLAIN_COUNT.fullmatch(text_of(node)) else "(( )) is two subshells to sh"
    deep = node.children[0].type == "[["
    for sign, rest in _signs(node):
        skips = sign == "&&" and not _is_negated(node)
        names_none = sign in ("&&", "||") and _TESTS_FILE.match(rest)
        if not (deep and (skips or names_none)):
            return f"sh takes the {sign} in it for one between commands"
    return None


def _signs(node: Node) -> Iterator[tuple[str, str]]:
    """Yield the operators in a test that also separate commands, and the text after each."""
    within = 0
    for child in _leaves(node):
        after = (node.text or b"")[child.end_byte - node.start_byte :].decode()
        if not child.is_named and _SIGNS.search(child.type) and child.type not in "()":
            yield child.type, after
        elif child.type in ("regex", "extglob_pattern"):
            for sign in _SIGNS.every(re.sub(r"\\.", "", text_of(child))):
                within += {"(": 1, ")": -1}.get(sign[0], 0)
                if not within and sign[0] not in "()":
                    yield sign[0], after


def _leaves(node: Node) -> Iterator[Node]:
    """Yield the leaves of a node, including quoted and expanded parts."""
    for child in node.children:
        if child.child_count and child.type not in _OPAQUE:
            yield from _leaves(child)
        else:
            yield child


def _is_negated(node: Node) -> bool:
    above = node.parent
    return above is not None and (above.type == "negated_command" or _is_negated(above))
