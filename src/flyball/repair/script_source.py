"""JavaScript and TypeScript source as statements: where they are, and how a run of them is seen."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cached_property

from flyball.regex import regex
from flyball.repair.inside.hot_swap import Edit, apply_edits
from flyball.verdict.tests import Node, language_of, parse

LANGUAGES = ("javascript", "typescript", "tsx")
LISTS = frozenset({"program", "statement_block", "switch_case", "switch_default"})
FUNCTIONS = frozenset(
    {
        "arrow_function",
        "function_expression",
        "function_declaration",
        "method_definition",
        "generator_function",
        "generator_function_declaration",
    }
)
UNSEEN = frozenset(
    {
        "import_statement",
        "export_statement",
        "class_declaration",
        "function_declaration",
        "generator_function_declaration",
        "interface_declaration",
        "type_alias_declaration",
        "empty_statement",
        "ambient_declaration",
        "enum_declaration",
    }
)
"""What is no step of a run, or holds its steps in itself."""
TEST_CALL = regex(r"(?:it|test|specify)(?:\.\w+)*(?:\s*\(|$)")

# `process` is what all modules of a run share, even where a runner gives each its own globals.
PROLOGUE = """var __fbP=globalThis.process,__fbS=__fbP.__fb||(__fbP.__fb={t:0,seen:new Set(),
w:function(s){(__fbP.getBuiltinModule?__fbP.getBuiltinModule("fs"):require("fs"))
.appendFileSync(FILE,s)}});function __fbTest(t){__fbS.t=t}
function __fbHit(n){var k=__fbS.t+" "+n;if(!__fbS.seen.has(k)){__fbS.seen.add(k);__fbS.w(k+"\\n")}}
"""


class ScriptSource:
    """A file, its tree, and the statements whose running can be seen."""

    def __init__(self, path: str, data: bytes) -> None:
        language = language_of(path) or ""
        root = parse(language, data) if language in LANGUAGES else None
        if root is None:
            raise ValueError(f"{path} cannot be read as a script")
        self.path, self.data, self.root = path, data, root

    @cached_property
    def steps(self) -> tuple[Node, ...]:
        """Return every statement, and every expression that is the body of an arrow function."""
        return tuple(node for node in self.root.walk() if _is_step(node))

    @cached_property
    def _step_ids(self) -> frozenset[int]:
        return frozenset(id(node) for node in self.steps)

    def own(self, step: Node) -> Iterator[Node]:
        """Yield the nodes of a statement, without those of the statements in it."""
        for node in step.walk(lambda each: id(each) in self._step_ids):
            if node is step or id(node) not in self._step_ids:
                yield node

    def line_text(self, line: int) -> str:
        """Return a line, by its number."""
        lines = self.data.split(b"\n")
        return lines[line - 1].decode("utf-8", "replace") if 0 < line <= len(lines) else ""

    def watched(self, first: int, file: str) -> bytes:
        """Return the text that reports each statement as it runs, numbered from `first`."""
        edits: list[Edit] = []
        for n, step in enumerate(self.steps, first):
            edits += _seen(step, f"__fbHit({n})")
        return self._with(edits, file)

    def marked(self, tests: dict[int, str], file: str) -> bytes:
        """Return the text of a test file that says which test begins, and collect their titles."""
        edits: list[Edit] = []
        for call in self.root.walk():
            if (found := _test_of(call)) is not None:
                title, body = found
                number = len(tests) + 1
                tests[number] = title
                edits += _seen(body, f"__fbTest({number})")
        return self._with(edits, file)

    def _with(self, edits: list[Edit], file: str) -> bytes:
        head = PROLOGUE.replace("\n", "").replace("FILE", json.dumps(file)) + "\n"
        if language_of(self.path) != "javascript":
            head = f"// @ts-nocheck\n{head}"
        at = self.data.find(b"\n") + 1 if self.data.startswith(b"#!") else 0
        ordered = sorted(enumerate(edits), key=_order)
        found, last = [self.data[:at], head.encode()], at
        for _, edit in ordered:
            found += [self.data[last : edit.start], edit.text.encode()]
            last = edit.end
        return b"".join([*found, self.data[last:]])


def _order(numbered: tuple[int, Edit]) -> tuple[int, bool, int]:
    """Order edits at one place: what ends there, the inner first; then what begins, outer first."""
    n, edit = numbered
    is_end = edit.text in (")", "}")
    return edit.start, not is_end, -n if is_end else n


def changed(data: bytes, edits: tuple[Edit, ...]) -> bytes:
    """Return a text with edits made."""
    return apply_edits(data, edits)


def function_around(node: Node) -> Node | None:
    """Return the nearest function around a node."""
    return next((each for each in node.above() if each.kind in FUNCTIONS), None)


def title_of(text: str) -> str:
    """Return what a title begins with before anything that is filled in."""
    return re.split(r"[%$]|\\", text, maxsplit=1)[0].strip()


def _is_step(node: Node) -> bool:
    parent = node.parent
    if parent is None or not node.named or "comment" in node.kind or node.kind in UNSEEN:
        return False
    if parent.kind in ("switch_case", "switch_default"):
        return node.field == "body"
    if parent.kind in LISTS:
        return True
    if parent.kind == "arrow_function" and node.field == "body":
        return node.kind != "statement_block"
    return _is_unbraced(node)


def _is_unbraced(node: Node) -> bool:
    """Return whether a statement stands where a block could stand."""
    parent = node.parent
    if parent is None or node.kind == "statement_block" or not node.kind.endswith("_statement"):
        return False
    if parent.kind == "else_clause":
        return node.kind != "if_statement"
    return node.field in ("consequence", "body") and parent.kind.endswith("_statement")


def _seen(node: Node, call: str) -> list[Edit]:
    """Return the edits that make a call when a statement, or the body of a function, begins."""
    if node.kind == "statement_block" and node.parent is not None and node.parent.kind in FUNCTIONS:
        return [Edit(node.start + 1, node.start + 1, f"{call};")]
    if node.parent is not None and node.parent.kind == "arrow_function":
        return [Edit(node.start, node.start, f"({call},"), Edit(node.end, node.end, ")")]
    if _is_unbraced(node):
        return [Edit(node.start, node.start, f"{{{call};"), Edit(node.end, node.end, "}")]
    if node.kind == "expression_statement" and re.match(r"['\"]use ", node.text):
        return []
    return [Edit(node.start, node.start, f"{call};")]


def _test_of(node: Node) -> tuple[str, Node] | None:
    """Return the title and the body of a test, for the call that declares it."""
    called = node.get("function") if node.kind == "call_expression" else None
    given = node.get("arguments") if called is not None else None
    if called is None or given is None or not TEST_CALL.match(called.text):
        return None
    parts = given.parts
    body = next((each.get("body") for each in parts if each.kind in FUNCTIONS), None)
    if len(parts) < 2 or body is None:
        return None
    return parts[0].text.strip("'\"`"), body
