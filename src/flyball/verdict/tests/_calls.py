"""Calls, comparisons and literals, in the spelling of the different grammars."""

from __future__ import annotations

from typing import NamedTuple

from flyball.verdict.tests._tree import BOOLEANS, NOTHINGS, NUMBERS, STRINGS, Node, kinds

CALLS = kinds(
    "call call_expression method_invocation function_call_expression member_call_expression"
    " scoped_call_expression nullsafe_member_call_expression macro_invocation"
)
MEMBERS = kinds(
    "attribute member_expression selector_expression field_expression field_access"
    " member_access_expression scoped_identifier class_constant_access_expression"
    " qualified_identifier"
)
FUNCTIONS = kinds(
    "function_definition function_declaration method_declaration function_item method"
    " singleton_method method_definition generator_function_declaration constructor_declaration"
)
LAMBDAS = kinds(
    "lambda arrow_function function_expression func_literal closure_expression lambda_expression"
    " anonymous_function generator_function anonymous_function_creation_expression do_block block"
    " function"
)
CLASSES = kinds(
    "class_definition class_declaration class module mod_item class_specifier impl_item"
    " namespace_definition"
)
CONDITIONS = kinds(
    "if_statement if_expression if unless conditional_expression ternary_expression if_modifier"
    " unless_modifier conditional switch_statement expression_switch_statement"
    " type_switch_statement switch_expression match_expression match_statement case"
    " select_statement case_match elsif else_if_clause if_let_expression"
)
LOOPS = kinds(
    "for_statement while_statement for_in_statement enhanced_for_statement for_expression"
    " while_expression loop_expression while until for foreach_statement do_statement"
    " for_range_loop while_modifier"
)
TRIES = kinds("try_statement begin try_with_resources_statement")
HANDLERS = kinds("except_clause catch_clause rescue catch")
LEAVING = kinds(
    "return_statement return_expression return raise_statement throw_statement throw_expression"
    " continue_statement break_statement next break"
)
PARENS = kinds("parenthesized_expression parenthesized_statements argument literal_element"
                   " expression_list await await_expression"
)  # fmt: skip
NOTS = kinds("unary unary_expression unary_op_expression not not_operator")
BINARY = kinds("comparison boolean binary binary_expression instanceof_expression")
EQUALS = kinds("== === != !== < <= > >= is in") | {"is not", "not in"}
LISTS = kinds(
    "list tuple set array array_expression literal_value array_creation_expression"
    " array_initializer initializer_list tuple_expression array_literal"
)
MAPS = kinds("dictionary object hash")
PAIRS = kinds("pair keyword_argument keyed_element array_element_initializer")


class Call(NamedTuple):
    """A call: its qualified name, the last part of the name, and its arguments."""

    node: Node
    name: str
    last: str
    receiver: Node | None
    args: tuple[Node, ...]


def bare(node: Node) -> Node:
    """Return the content of parentheses, of `await`, or of an argument of PHP."""
    while node.kind in PARENS and len(node.parts) == 1:
        node = node.parts[0]
    return node


def call_of(node: Node) -> Call | None:
    """Return a node as a call, if it is one."""
    if node.kind not in CALLS:
        return None
    given = node.get("arguments")
    if node.kind == "macro_invocation":
        tree = next((kid for kid in node.kids if kid.kind == "token_tree"), None)
        macro = node.get("macro")
        name = f"{macro.plain if macro else ''}!"
        args = tuple(tree.parts) if tree else ()
        return Call(node, name, name.rpartition("::")[2], None, args)
    args = node.all("argument") if given is None else [bare_argument(a) for a in given.parts]
    callee = node.get("function")
    if callee is None:
        named = node.get("method", "name")
        receiver = node.get("receiver", "object", "scope")
        last = named.text if named else ""
        glue = {"scoped_call_expression": "::", "member_call_expression": "->"}.get(node.kind, ".")
        name = f"{_name(receiver)}{glue}{last}" if receiver else last
        return Call(node, name, last, receiver, tuple(args))
    callee = _ungeneric(callee)
    if callee.kind in MEMBERS and callee.parts:
        receiver, last = member_of(callee)
        return Call(node, _name(callee), last, receiver, tuple(args))
    return Call(node, _name(callee), _name(callee).rpartition(".")[2], None, tuple(args))


def bare_argument(node: Node) -> Node:
    return node.parts[-1] if node.kind == "argument" and node.parts else node


def _ungeneric(node: Node) -> Node:
    while node.kind in {"generic_function", "instantiation_expression", "non_null_expression"}:
        node = node.parts[0]
    return node


def member_of(node: Node) -> tuple[Node, str]:
    """Return the object of a member access, and the member's name."""
    return node.parts[0], node.parts[-1].text


def _name(node: Node | None) -> str:
    """Return a dotted name; a call in it becomes its name and `()`."""
    if node is None:
        return ""
    inner = call_of(node)
    if inner is not None:
        return f"{inner.name}()"
    if node.kind in MEMBERS and len(node.parts) > 1:
        receiver, last = member_of(node)
        return f"{_name(receiver)}{'::' if '::' in node.text else '.'}{last}"
    return node.text if len(node.text) < 80 else ""


def comparison_of(node: Node) -> tuple[Node, Node, Node] | None:
    """Return the left side, operator and right side of a comparison of two values."""
    node = bare(node)
    if node.kind not in BINARY:
        return None
    left, right = node.get("left"), node.get("right")
    op = node.get("operator") or next((k for k in node.kids if not k.named), None)
    if left is None or right is None or op is None or op.text.strip() == "":
        return None
    return (left, op, right) if op.kind in EQUALS or op.text in EQUALS else None


def operands_of(node: Node) -> tuple[str, list[Node]] | None:
    """Return `and` or `or` with its operands."""
    node = bare(node)
    if node.kind not in BINARY:
        return None
    ops = {kid.text for kid in node.kids if kid.field == "operator" or not kid.named}
    for word, said in (("and", {"and", "&&"}), ("or", {"or", "||"})):
        if ops & said:
            return word, [kid for kid in node.kids if kid.named and kid.field != "operator"]
    return None


def negated_of(node: Node) -> Node | None:
    """Return the operand of `not` or `!`."""
    node = bare(node)
    if node.kind not in NOTS or not node.kids:
        return None
    is_not = node.kids[0].text in ("not", "!")
    return node.kids[-1] if is_not else None


def is_literal(node: Node) -> bool:
    """Return whether an expression consists of constants only."""
    stack = [bare(node)]
    while stack:
        each = stack.pop()
        if each.kind in STRINGS:
            if any("interpolation" in k.kind or "substitution" in k.kind for k in each.kids):
                return False
            if each.text[:2].lower().lstrip("r").startswith("f") and each.kind == "string":
                return False
        elif each.kind in NUMBERS or each.text in BOOLEANS or each.text in NOTHINGS:
            continue
        elif each.kind in LISTS | MAPS | PAIRS | PARENS | {"unary", "unary_expression", "binary"}:
            stack += each.parts
        elif each.field == "name" and each.parent and each.parent.kind in PAIRS:
            continue
        elif each.kind not in {"property_identifier", "hash_key_symbol", "ellipsis"}:
            return False
    return True


def string_in(node: Node) -> str:
    """Return the content of a plain string."""
    text = node.text
    if node.kind == "simple_symbol":
        return text.removeprefix(":")
    body = text.lstrip("rRbBuUfF")
    for quote in ('"""', "'''", '"', "'", "`"):
        if body.startswith(quote) and body.endswith(quote) and len(body) >= 2 * len(quote):
            return body[len(quote) : -len(quote)]
    return text
