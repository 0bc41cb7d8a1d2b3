"""One handler for each kind of statement; a kind that is not in the table is not understood."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from tree_sitter import Node

from flyball.shell.judgement import CommandKind
from flyball.shell.rule import named_secret, secret_finding
from flyball.shell.walk.assignment import assign, declare, forget
from flyball.shell.walk.expression import examine, examine_condition, sh_reading
from flyball.shell.walk.redirect import REDIRECTS, redirect
from flyball.shell.words.listing import narrows
from flyball.shell.words.source import lost_dash
from flyball.shell.words.variable import assignment_objection
from flyball.shell.words.word import (
    Word,
    literal,
    made_names,
    makes_text,
    opaque,
    said_words,
    text_of,
    words_of,
)

if TYPE_CHECKING:
    from flyball.shell.walk.walk import Walk

Handler = Callable[["Walk", Node], None]


def _each(walk: Walk, node: Node) -> None:
    for child in node.named_children:
        walk.visit(child)


def _comment(_walk: Walk, _node: Node) -> None:
    """Ignore a comment."""


def _pipeline(walk: Walk, node: Node) -> None:
    """Judge each command of a pipeline in its own shell: none affects the others."""
    before, fed = walk.scope, walk.fed
    text: Word | None = None
    for child in node.named_children:
        walk.fed = text
        # What a loop does with a name it reads is not followed.
        loops = child.type not in ("command", "redirected_statement")
        if loops and (hidden := named_secret([text] if text else [])):
            walk.findings.append(secret_finding(text_of(node), hidden))
        walk.visit(child)
        walk.scope = before
        if text is None:
            text = _piped_text(child)
        elif text.tame:
            # What goes through another program is no longer followed, except names of files.
            text = text._replace(made=True)
        elif not narrows(text_of(child)):
            text = text._replace(likely=f"* {text.likely}")
    walk.fed = fed


def _piped_text(node: Node) -> Word:
    """Return what a command sends down a pipeline: its own text, or the names that it lists."""
    if not makes_text(node):
        return opaque(text_of(node))._replace(likely=" ".join(made_names(node)))
    words = said_words(node)
    text = opaque(text_of(node), tame=True)
    return text._replace(made=True) if words is None else text._replace(likely=" ".join(words))


def _subshell(walk: Walk, node: Node) -> None:
    """Judge a subshell: a change of directory ends with it."""
    before = walk.scope
    _each(walk, node)
    walk.scope = before


def _compound(walk: Walk, node: Node) -> None:
    if node.children[0].type == "((":
        for child in node.named_children:
            examine(walk, child, arithmetic=True)
        _hold(walk, node, "it only computes")
    else:
        _each(walk, node)


def _command(walk: Walk, node: Node, more: Sequence[Word] = ()) -> None:
    words: list[Word] = []
    assigned: list[Node] = []
    for child in node.named_children:
        if child.type == "variable_assignment":
            assigned.append(child)
        elif child.type in REDIRECTS:
            words.extend(redirect(walk, child))
        else:
            examine(walk, child)
            words.extend(words_of(child, walk.facts))
    found = walk.command([*words, *more])
    # What a variable can do depends on who gets to see it.
    only_read = all(f.kind is CommandKind.READ_ONLY for f in found)
    for child in assigned:
        if _splits_input(child, words):
            examine(walk, child.named_children[-1])
        else:
            assign(walk, child, exported=True, only_read=only_read)
    walk.findings.extend(found)


def _splits_input(node: Node, words: Sequence[Word]) -> bool:
    """Return whether `IFS=…` precedes `read`, so that only `read` sees it and splits its input by
    it."""
    name = node.child_by_field_name("name")
    reads = bool(words) and words[0].value == "read"
    return reads and name is not None and text_of(name) == "IFS"


def _redirected(walk: Walk, node: Node) -> None:
    body = node.child_by_field_name("body")
    rest = [child for child in node.named_children if child != body]
    if body is not None and body.type != "command":
        walk.visit(body)
    more = [*_lost(body, rest), *(word for child in rest for word in redirect(walk, child))]
    if body is not None and body.type == "command":
        _command(walk, body, more)
    elif more:
        walk.unknown(node, "words follow a redirection where no command takes them")


def _lost(body: Node | None, rest: Sequence[Node]) -> Iterator[Word]:
    """Yield the word between a command and its here-document that the grammar leaves out."""
    whole = body.parent if body else None
    if body is None or whole is None or not rest:
        return
    start = whole.start_byte
    gap = text_of(whole).encode()[body.end_byte - start : rest[0].start_byte - start].decode()
    if lost_dash(body, rest[0], gap):
        yield literal("-")


def _for(walk: Walk, node: Node) -> None:
    body = node.child_by_field_name("body")
    for child in node.named_children:
        if child == body:
            walk.visit(child)
        elif child.type == "variable_name":
            if objection := assignment_objection(text_of(child), None):
                walk.unknown(node, objection)
        else:
            examine(walk, child)
            if named_secret(words_of(child)):
                walk.findings.append(secret_finding(text_of(child), text_of(child)))


def _counting(walk: Walk, node: Node) -> None:
    body = node.child_by_field_name("body")
    for child in node.named_children:
        if child == body:
            walk.visit(child)
        elif child.type == "variable_assignment":
            assign(walk, child, exported=False, arithmetic=True)
        else:
            examine(walk, child, arithmetic=True)


def _case(walk: Walk, node: Node) -> None:
    values = node.children_by_field_name("value")
    for child in node.named_children:
        if child in values:
            examine(walk, child)
        else:
            walk.visit(child)


def _assignment(walk: Walk, node: Node) -> None:
    assign(walk, node, exported=False)


def _condition(walk: Walk, node: Node) -> None:
    for child in node.named_children:
        examine_condition(walk, child, deep=node.children[0].type == "[[")
    _hold(walk, node, "it only tests a condition")


def _hold(walk: Walk, node: Node, does: str) -> None:
    """Record an operator that only some shells treat as part of a condition."""
    if reason := sh_reading(node):
        walk.unknown(node, reason)
    else:
        walk.found(node, CommandKind.READ_ONLY, does)


def _function(walk: Walk, node: Node) -> None:
    walk.unknown(node, "a function can take the name of any program; write the commands out")


STATEMENTS: dict[str, Handler] = {
    "program": _each,
    "list": _each,
    "do_group": _each,
    "if_statement": _each,
    "elif_clause": _each,
    "else_clause": _each,
    "while_statement": _each,
    "negated_command": _each,
    "variable_assignments": _each,
    "pipeline": _pipeline,
    "subshell": _subshell,
    "compound_statement": _compound,
    "case_statement": _case,
    "case_item": _case,
    "for_statement": _for,
    "c_style_for_statement": _counting,
    "command": _command,
    "redirected_statement": _redirected,
    "variable_assignment": _assignment,
    "declaration_command": declare,
    "unset_command": forget,
    "test_command": _condition,
    "function_definition": _function,
    "comment": _comment,
}
