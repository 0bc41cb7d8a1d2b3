"""Judge statements that set, declare or unset variables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tree_sitter import Node

from flyball.secret_files import is_secret_variable
from flyball.shell.judgement import CommandKind, Finding
from flyball.shell.rule import named_secret, secret_finding
from flyball.shell.walk.expression import check_counted, examine
from flyball.shell.words.pattern import Pattern
from flyball.shell.words.place import outside
from flyball.shell.words.variable import SEARCHED, assignment_objection, is_harmless, is_plain
from flyball.shell.words.word import HOME_NAMES, Word, text_of, words_of

if TYPE_CHECKING:
    from flyball.shell.walk.walk import Walk

_OPTIONS = Pattern(r"-[praAxgF]+")


def assign(
    walk: Walk, node: Node, *, exported: bool, arithmetic: bool = False, only_read: bool = False
) -> None:
    """Judge `NAME=value`; `only_read` if only a program that reads receives it."""
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name is None or name.type != "variable_name":
        walk.unknown(node, "assigning to an element evaluates its index")
        return
    if value is not None and value.type == "array":
        _indices(walk, value)
    listed = value.named_children if value is not None and value.type == "array" else [value]
    held = tuple(word for item in listed if item is not None for word in words_of(item))
    if value is not None:
        examine(walk, value, arithmetic=arithmetic)
    label = text_of(name)
    first = held[0] if held else None
    if objection := assignment_objection(label, first):
        walk.unknown(node, objection)
    elif label in SEARCHED:
        _search_path(walk, node, label, first)
    elif named_secret(held):
        walk.findings.append(secret_finding(text_of(node), text_of(node)))
    elif exported and not (is_plain(label) if only_read else is_harmless(label)):
        reason = f"{label} is not a variable known to be harmless"
        # What the program does with it, no text shows.
        walk.findings.append(Finding(text_of(node), CommandKind.MUTATING, reason, runs=True))
    else:
        walk.found(node, CommandKind.READ_ONLY, f"it sets {label} for this command")


_INDEX = Pattern(r"""\[(["']?)([\w ./:-]*)\1\]\+?=.*""", re.S)


def _indices(walk: Walk, array: Node) -> None:
    """Judge `([index]=value)`: an index is arithmetic."""
    for item in array.named_children:
        text = text_of(item)
        match = _INDEX.fullmatch(text)
        if match:
            check_counted(walk, item, match[2])
        elif text.startswith("["):
            walk.unknown(item, "an index that is not plain is evaluated")


def _may_be_list(walk: Walk, node: Node) -> bool:
    """Return whether a value in quotes may be parsed again as a list, which evaluates it.

    A shell does so if the name is declared as an array, here or earlier.
    """
    value = node.child_by_field_name("value")
    if value is None or value.type == "array":
        return False
    words = words_of(value, walk.facts)
    if all(word.value is not None for word in words):
        return any(word.known.lstrip().startswith("(") for word in words)
    top = node
    while top.parent is not None:
        top = top.parent
    name = re.escape(text_of(node).partition("=")[0].rstrip("+"))
    return bool(
        re.search(
            rf"(declare|typeset|local|readonly|export)\s+(-\w+\s+)*-\w*[aA]|"
            rf"\b{name}\+?=\(",
            text_of(top),
        )
    )


def _search_path(walk: Walk, node: Node, label: str, value: Word | None) -> None:
    places = (value.value or "/").split(":") if value else []
    if any(outside(path or ".", walk.scope) for path in places):
        walk.unknown(node, f"{label} names a place outside the workspace")
    else:
        walk.found(node, CommandKind.VERIFICATION, f"{label} lets the workspace's own code run")


def declare(walk: Walk, node: Node) -> None:
    """Judge `export`, `declare` and similar builtins."""
    keyword = node.children[0].type
    for child in node.named_children:
        if child.type == "variable_assignment" and _may_be_list(walk, child):
            walk.unknown(child, "a text that becomes an array is evaluated again")
        elif child.type == "variable_assignment":
            assign(walk, child, exported=True)
        elif child.type == "variable_name":
            if assignment_objection(text_of(child), None):
                walk.unknown(node, f"{keyword} {text_of(child)} touches a controlling variable")
        elif not (child.type == "word" and _OPTIONS.fullmatch(text_of(child))):
            walk.unknown(node, f"what {keyword} declares here is not understood")
    walk.found(node, CommandKind.READ_ONLY, f"{keyword} changes nothing outside this shell")
    if _prints(node):
        walk.revealed(node, f"{keyword} prints variables")


def _prints(node: Node) -> bool:
    """Return whether a declaration prints variables: all of them, or with `-p` those it names."""
    named = [text_of(child) for child in node.named_children if child.type == "variable_name"]
    options = [text_of(child) for child in node.named_children if child.type == "word"]
    if any("F" in option for option in options):
        return False
    if not named:
        return all(child.type == "word" for child in node.named_children)
    return any("p" in option for option in options) and any(map(is_secret_variable, named))


def forget(walk: Walk, node: Node) -> None:
    """Judge `unset`."""
    if any(
        child.type != "variable_name" or text_of(child) in HOME_NAMES
        for child in node.named_children
    ):
        walk.unknown(node, "what it unsets is not a plain name")
    else:
        walk.found(node, CommandKind.READ_ONLY, "it forgets a variable")
