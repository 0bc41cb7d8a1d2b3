"""Determine what a command proves by succeeding, and whether it can fail at all."""

from __future__ import annotations

from collections.abc import Sequence

from tree_sitter import Node

from flyball.shell.programs.interpreter import inline_python
from flyball.shell.verdict import findings_of
from flyball.shell.words.names import names
from flyball.shell.words.source import read
from flyball.shell.words.word import Word, text_of, words_of

STRENGTH = ("tests", "types", "build", "lint", "import", "syntax")
"""Kinds of proof, strongest first."""

_ALWAYS = names("true : echo printf pwd date sleep wait export declare local readonly unset set")
_HIDES = names(
    "cat tail head tee less more sort uniq wc tr cut sed awk column nl rev tac fold xargs jq ts"
)
"""Filters that succeed whatever the command before them did."""

_ASKS = names("--version --help -version --collect-only --co --fixtures --markers --setup-plan")
_LENIENT = names("--exit-zero --if-present --just-print --dry-run --no-error")
_WRAPPERS = names("timeout env nohup nice time stdbuf command exec poetry uv pipenv npx xvfb-run")


def verification_kind(command: str) -> str | None:
    """Return the strongest thing a command proves: tests, types, build, lint, import or syntax."""
    proven = {finding.proves for finding in findings_of(command)}
    return next((kind for kind in STRENGTH if kind in proven), None)


def is_single(command: str) -> bool:
    """Return whether a text is one command, perhaps after a `cd`.

    With more around it (`! pytest`, `pytest && false`) it may fail where its program does not.
    """
    root = read(command)
    statements = () if isinstance(root, str) else _statements(root)
    if len(statements) != 1:
        return False
    *before, last = statements[0].children if statements[0].type == "list" else statements
    kinds = [(node.type, (node.text or b"").partition(b" ")[0]) for node in before]
    return last.type == "command" and kinds in ([], [("command", b"cd"), ("&&", b"&&")])


def cannot_fail(command: str) -> str | None:
    """Return why a command proves nothing because it always succeeds, or None if it may fail."""
    root = read(command)
    if isinstance(root, str):
        return None
    statements = _statements(root)
    if not statements:
        return "an empty command always succeeds"
    return _last(statements, root)


def _statements(node: Node) -> list[Node]:
    return [child for child in node.named_children if child.type != "comment"]


def _last(statements: Sequence[Node], parent: Node) -> str | None:
    """Return the statement that decides a sequence's status: the last, unless an earlier one can
    stop it."""
    last = statements[-1]
    following = parent.children[parent.children.index(last) + 1 :]
    if any(child.type == "&" for child in following):
        return f"`{text_of(last)}` runs in the background, so its failure is not seen"
    reason = _always(last)
    strict = any(text_of(s).startswith(("set -e", "set -o errexit")) for s in statements[:-1])
    if reason and strict and len(statements) > 2:
        return None
    return reason


def _always(node: Node) -> str | None:
    """Return why this statement always succeeds, or None."""
    children = _statements(node)
    if node.type in ("program", "compound_statement", "subshell"):
        if node.children[0].type == "((" or not children:
            return None
        return _last(children, node)
    if node.type == "list":
        return _chain(node, children)
    if node.type == "pipeline":
        return _pipeline(children)
    if node.type == "negated_command":
        return _never(children[0])
    if node.type == "redirected_statement":
        return _always(children[0])
    if node.type == "if_statement":
        return _branches(node)
    if node.type in ("variable_assignment", "variable_assignments"):
        return None if "$(" in text_of(node) else f"`{text_of(node)}` only sets a variable"
    if node.type == "declaration_command":
        return f"`{text_of(node)}` hides the status of what it runs"
    if node.type == "test_command":
        return _constant(node)
    if node.type == "command":
        return _command([word for child in children for word in words_of(child)])
    return None


def _chain(node: Node, children: Sequence[Node]) -> str | None:
    left, right = _always(children[0]), _always(children[-1])
    if any(child.type == "||" for child in node.children):
        if right:
            return f"`|| {text_of(children[-1])}` turns every failure into success"
        return left
    return right if left else None


def _pipeline(children: Sequence[Node]) -> str | None:
    last = children[-1]
    if reason := _always(last):
        return reason
    name = text_of(last.named_children[0]) if last.type == "command" else ""
    if name in _HIDES:
        return f"the pipeline's status is that of `{name}`, which hides a failure before it"
    return None


def _never(node: Node) -> str | None:
    """Return why this statement always fails, which its negation turns into success."""
    words = [word.value for child in _statements(node) for word in words_of(child)]
    if node.type == "command" and (words == ["false"] or words[:1] == ["exit"]):
        return f"`! {text_of(node)}` always succeeds"
    return None


def _branches(node: Node) -> str | None:
    """Return whether an `if` succeeds in every branch."""
    parts = [child for child in node.children if child.is_named and child.type != "comment"]
    body = [p for p in parts if p.type not in ("elif_clause", "else_clause")]
    clauses = [p for p in parts if p.type in ("elif_clause", "else_clause")]
    ends = [body[-1], *(clause.named_children[-1] for clause in clauses if clause.named_children)]
    if all(_always(end) for end in ends):
        return "every branch of its `if` succeeds"
    return None


def _constant(node: Node) -> str | None:
    """Return whether a test consists only of constants, so that its result never changes."""
    if any(c.type in ("-f", "-e") for c in node.children) or "$" in text_of(node):
        return None
    inner = _statements(node)
    unary = any(child.type == "unary_expression" for child in inner)
    if unary and not any(sign in text_of(node) for sign in ("-n ", "-z ")):
        return None
    return f"`{text_of(node)}` compares constants"


def _command(words: Sequence[Word]) -> str | None:
    values = [word.value for word in words]
    text = " ".join(word.source for word in words)
    name = values[0]
    if name in _ALWAYS:
        return f"`{text}` always succeeds"
    if name in ("exit", "return"):
        return f"`{text}` always succeeds" if values[1:] == ["0"] else None
    if name == "test" and len(words) > 1:
        dynamic = None in values or any(v and v.startswith("-") and v != "-n" for v in values[1:])
        return None if dynamic else f"`{text}` compares constants"
    if name in _WRAPPERS and len(words) > 1:
        return _unwrapped(values, words)
    if name in ("sh", "bash") and "-c" in values[:-1]:
        script = values[values.index("-c") + 1]
        return cannot_fail(script) if script is not None else None
    return _arguments(values, text)


def _unwrapped(values: Sequence[str | None], words: Sequence[Word]) -> str | None:
    """Skip a wrapper's own words: options, numbers, assignments and `run`."""
    at = 1
    while at < len(words) - 1:
        value = values[at] or ""
        if not (value.startswith("-") or value[:1].isdigit() or "=" in value or value == "run"):
            break
        at += 1
    return _command(words[at:])


def _arguments(values: Sequence[str | None], text: str) -> str | None:
    rest = values[1:]
    if any(value in _ASKS for value in rest):
        return f"`{text}` runs no check; it only shows something"
    if lenient := next((value for value in rest if value in _LENIENT), None):
        return f"{lenient} lets `{text}` succeed without a check; leave it out"
    if values[0] == "make" and "-n" in rest:
        return f"`{text}` only prints what it would do"
    if values[0] == "go" and ("^$" in rest or "-run=^$" in rest):
        return f"`{text}` selects no test"
    if values[0] in ("python", "python3") and rest[:1] == ["-c"] and len(rest) > 1:
        code = rest[1]
        if code is not None and inline_python(code) == "nothing":
            return f"`{text}` checks nothing of the project"
    return None
