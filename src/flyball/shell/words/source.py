"""Parse a command with the shell grammar, and check the result against the shell's own rules.

The grammar is more lenient than a shell: it takes carriage returns and form feeds for blanks, reads
`\\ ` between words as nothing, and splits a word at a line continuation. Each such difference is a
way to show one command and run another. So every leaf and every gap between leaves is checked here,
and a tree that a shell might read differently is refused.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from importlib.machinery import ExtensionFileLoader, PathFinder
from importlib.util import module_from_spec

from tree_sitter import Language, Node, Parser

from flyball.shell.words.names import names
from flyball.shell.words.pattern import Pattern

MAX_LENGTH = 65_536
MAX_OPEN = 200
"""Brackets that may be open at once. Counted before the parse, which is slow on deep nesting."""
MAX_HEREDOCS = 100
"""Here-documents in one command. Counted before the parse, which is slow on many."""
MAX_GLOBS = 500
"""Extended patterns such as `@(a)` in one command, for the same reason."""
MAX_NODES = 4_000
MAX_DEPTH = 60


@cache
def _parser() -> Parser:
    return Parser(Language(_grammar()))


def _grammar() -> object:
    """Load the grammar of `tree_sitter_bash` from its compiled module alone.

    Its package also loads code to run queries, on which a hook without a governor would spend a
    tenth of its time.
    """
    package = PathFinder.find_spec("tree_sitter_bash")
    found = PathFinder.find_spec("_binding", package and package.submodule_search_locations)
    if found is None or not isinstance(found.loader, ExtensionFileLoader):
        raise ImportError("tree_sitter_bash is not installed as a compiled module")
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module.language()


def read(command: str) -> Node | str:
    """Return the syntax tree of a command, or the reason why it is unreliable."""
    if len(command) > MAX_LENGTH:
        return f"the command is longer than {MAX_LENGTH} characters"
    if bad := _odd_character(command):
        return (
            f"it contains the character U+{ord(bad):04X}, which shells and readers see differently"
        )
    if _too_open(command):
        return f"it opens more than {MAX_OPEN} brackets inside of each other"
    if command.count("<<") > MAX_HEREDOCS:
        return f"it has more than {MAX_HEREDOCS} here-documents"
    if sum(1 for _ in re.finditer(r"[@?*+!]\(", command)) > MAX_GLOBS:
        return f"it has more than {MAX_GLOBS} extended patterns"
    source = command.encode()
    root = _parser().parse(source).root_node
    if root.descendant_count > MAX_NODES:
        return "it has too many words and signs to be judged; split it up"
    if too_deep(root):
        return f"it is nested more than {MAX_DEPTH} levels deep"
    if root.has_error:
        return f"the shell grammar cannot read {_first_error(root)!r}"
    return _misread(root, source) or root


def _odd_character(command: str) -> str | None:
    for char in command:
        if char in "\t\n" or " " <= char <= "~":
            continue
        if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"):
            return char
    return None


def _too_open(command: str) -> bool:
    """Return whether brackets are nested too deep, in quotes or not."""
    level = 0
    for match in re.finditer(r"[(){}]", command):
        level = max(0, level + (1 if match[0] in "({" else -1))
        if level > MAX_OPEN:
            return True
    return False


def backtick_readings(node: Node) -> tuple[str, ...]:
    r"""Return the texts a shell may parse for a backtick substitution with backslashes in it.

    A shell removes one level of backslashes before it parses the text, so the text that the grammar
    found there is not what runs. Within double quotes shells differ about `\"`: both readings
    count. Empty if nothing is escaped, or if the node is no such substitution.
    """
    text = (node.text or b"").decode().strip()
    if node.type != "command_substitution" or text[:1] != "`" or "\\" not in text:
        return ()
    body = text[1:-1]
    plain = re.sub(r"\\([\\`$])", r"\1", body)
    return tuple(dict.fromkeys((plain, re.sub(r"\\([\\`$\"])", r"\1", body))))


def too_deep(root: Node) -> bool:
    """Return whether a tree is nested deeper than the walk supports."""
    level = [root]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in node.children]
        if not level:
            return False
    return True


def _first_error(root: Node) -> str:
    """Return the text of the smallest node that the grammar could not parse."""
    node = root
    while broken := [child for child in node.children if child.has_error or child.is_missing]:
        node = broken[0]
    return (node.text or (node.parent or node).text or b"").decode()[:60]


_QUOTED = r"\\[^\n]"
_PLAIN = Pattern(rf"(?:[^\s'\"`$\\;&|<>()]|{_QUOTED})+")
_LEAVES = {
    "word": _PLAIN,
    "number": Pattern(r"-?(?:0x)?[0-9a-fA-F]+(?:#[0-9A-Za-z@_]+)?"),
    "raw_string": Pattern(r"'[^']*'"),
    "ansi_c_string": Pattern(r"\$'(?:[^'\\]|\\.)*'", re.S),
    "string_content": Pattern(r'(?:[^"`\\$]|\\.|\$(?![\w({@*#?$!\'"-]))*', re.S),
    "variable_name": Pattern(r"\w+"),
    "special_variable_name": Pattern(r"[*@?!#\-$0_]"),
    "file_descriptor": Pattern(r"\d+"),
    "test_operator": Pattern(r"-[a-zA-Z]+"),
    "comment": Pattern(r"#[^\n]*"),
    "regex": Pattern(r"(?:[^`$\\\n<>]|\\.|\$(?![({'\"]))*"),
    "extglob_pattern": Pattern(r"(?:[^`$\\\n;<>]|\\.|\$(?![({'\"]))*"),
}
"""What the text of each named leaf must look like for a shell to read it as that leaf."""

_LINE = Pattern(r"(?:[ \t]|\\\n)*")
_LINES = Pattern(r"(?:[ \t\n]|\\\n)*")
_DASH = Pattern(r"[ \t]+-[ \t]*")
_MULTILINE = names(
    "program do_group if_statement elif_clause else_clause case_statement case_item "
    "compound_statement subshell list pipeline command_substitution process_substitution "
    "while_statement for_statement c_style_for_statement array arithmetic_expansion "
    "parenthesized_expression binary_expression ternary_expression string translated_string"
)
_SEQUENCES = names(
    "program do_group compound_statement subshell command_substitution process_substitution "
    "case_item else_clause"
)
_WORDS = names(
    "word number raw_string ansi_c_string string translated_string concatenation simple_expansion "
    "expansion command_substitution process_substitution arithmetic_expansion brace_expression "
    "command_name variable_assignment $"
)


_GOES_ON = Pattern(
    r"(?<![ \t\n])(?<!&&)(?<![^>]\|)(?<!;)(?:(?<!\\)(?:\\\\)*\\\n)+(?![ \t\n]|\Z)|\\\n#"
)
"""A line that goes on in the midst of a word or sign, which a shell puts together before it reads
them, or before what would be a comment if the line began anew.
"""


def _joined(root: Node, command: str) -> str | None:
    """Return why a continued line is ambiguous; in single quotes it is not."""
    for match in _GOES_ON.every(command):
        at = len(command[: match.start()].encode())
        node = root.descendant_for_byte_range(at, at + 1)
        if node is None or not (node.type == "raw_string" or _is_quoted_heredoc(node)):
            said = command[max(0, match.start() - 20) : match.end() + 20]
            return f"a shell joins the lines of {said!r}; write the word on one line"
    return None


def _is_quoted_heredoc(node: Node) -> bool:
    """Return whether a node is the text of a here-document without expansion."""
    if node.type != "heredoc_body" or node.parent is None:
        return False
    found = heredoc_delimiter(node.parent)
    return found is not None and found[1]


def _misread(root: Node, source: bytes) -> str | None:
    around = source[: root.start_byte] + source[root.end_byte :]
    if not _LINES.fullmatch(around.decode()):
        return f"the shell grammar leaves out {around.decode()[:60]!r}"
    if problem := _joined(root, source.decode()):
        return problem
    stack = [root]
    while stack:
        node = stack.pop()
        if problem := _leaf_problem(node, source) or _gap_problem(node, source):
            return problem
        if node.type not in ("heredoc_body", "ansi_c_string"):
            stack.extend(node.children)
    return None


def _leaf_problem(node: Node, source: bytes) -> str | None:
    text = (node.text or b"").decode()
    pattern = _LEAVES.get(node.type)
    if pattern is not None and node.child_count == 0 and not pattern.fullmatch(text):
        return f"a shell may read {text[:60]!r} in another way"
    if node.type == "command_substitution" and text.lstrip()[:1] == "`":
        body = text.strip()[1:-1]
        if "`" in re.sub(r"\\.", "", body, flags=re.S):
            return f"a shell may end {text[:60]!r} at another backtick"
    if node.type == "comment":
        before = source[node.start_byte - 1 : node.start_byte]
        if before not in (b"", b" ", b"\t", b"\n", b";", b"&", b"|", b"(", b")"):
            return f"{text[:60]!r} may not be a comment"
    return None


def _gap_problem(node: Node, source: bytes) -> str | None:
    if node.type == "heredoc_redirect":
        return _heredoc_problem(node, source)
    if node.type == "heredoc_body":
        return None
    allowed = _LINES if node.type in _MULTILINE else _LINE
    before: Node | None = None
    for child in node.children:
        if before is not None:
            gap = source[before.end_byte : child.start_byte].decode()
            if lost_dash(before, child, gap):
                pass
            elif not allowed.fullmatch(gap) or _glued(before, child, gap, node):
                return f"a shell may join or split {_around(before, child, source)!r} differently"
        before = child
    return None


def lost_dash(before: Node, child: Node, gap: str) -> bool:
    """Return whether a gap is the lone `-` before a here-document, which the grammar leaves out."""
    is_heredoc = before.type == "command" and child.type == "heredoc_redirect"
    return is_heredoc and _DASH.fullmatch(gap) is not None


def _glued(before: Node, child: Node, gap: str, parent: Node) -> bool:
    """Return whether a shell would join two neighbours, or would split them differently."""
    if parent.type == "concatenation":
        return gap != ""
    real = gap.replace("\\\n", "")
    if parent.type == "variable_assignment":
        return real != "" or gap != ""
    if parent.type in _SEQUENCES and before.is_named and child.is_named:
        return "\n" not in real and child.type != "comment" and parent.type != "case_item"
    in_words = parent.type in ("command", "declaration_command", "file_redirect", "array")
    return in_words and before.type in _WORDS and child.type in _WORDS and real == ""


def _around(before: Node, child: Node, source: bytes) -> str:
    return source[before.start_byte : child.end_byte].decode()[:60]


_DELIMITER = Pattern(r"""(['"]?)([A-Za-z_][A-Za-z0-9_]*)\1""")


def heredoc_delimiter(node: Node) -> tuple[str, bool] | None:
    """Return the delimiter of a here-document, and whether it is quoted; None if it is not
    plain."""
    start = next(c for c in node.children if c.type == "heredoc_start")
    match = _DELIMITER.fullmatch((start.text or b"").decode())
    return (match[2], bool(match[1])) if match else None


def heredoc_text(node: Node, source: bytes) -> tuple[str, int] | None:
    """Return the body of a here-document by the shell's rule, and the byte offset of its end
    line."""
    delimiter = heredoc_delimiter(node)
    if delimiter is None:
        return None
    start = source.find(b"\n", node.start_byte) + 1
    at = start
    while 0 < at < len(source):
        stop = source.find(b"\n", at)
        line = source[at : stop if stop >= 0 else len(source)]
        bare = line.lstrip(b"\t") if node.children[0].type == "<<-" else line
        if bare == delimiter[0].encode():
            return source[start:at].decode(), at + len(line) - len(bare)
        at = stop + 1
    return None


def _heredoc_problem(node: Node, source: bytes) -> str | None:
    found = heredoc_text(node, source)
    end = next((c for c in node.children if c.type == "heredoc_end"), None)
    if found is None or end is None or end.start_byte != found[1]:
        return "where its here-document ends is not plain; use <<'EOF' on a line of its own"
    return None
