"""Walk every node of a command and find out what each part does."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase

from tree_sitter import Node

from flyball.shellcheck import place
from flyball.shellcheck.judgement import AllowRule, Finding, Kind
from flyball.shellcheck.place import Scope
from flyball.shellcheck.programs import lookup
from flyball.shellcheck.rule import judge_rule, secret_among, secret_finding, written
from flyball.shellcheck.source import heredoc_delimiter, read
from flyball.shellcheck.variable import SEARCHED, Facts, assignment_objection, facts_of
from flyball.shellcheck.word import Word, text_of, words_of

MAX_COMMANDS = 50
MAX_SCRIPTS = 4


class Walk:
    """One pass over one command; `findings` grows in the order of the source."""

    def __init__(self, scope: Scope, allow: Sequence[AllowRule] = (), depth: int = 0) -> None:
        self.scope = scope
        self.findings: list[Finding] = []
        self.commands = 0
        self._allow = allow
        self._depth = depth
        self._facts = Facts(frozenset(), frozenset())

    def over(self, command: str) -> list[Finding]:
        """Judge a whole command line."""
        root = read(command)
        if isinstance(root, str):
            return [Finding(command, Kind.UNKNOWN, root)]
        self._facts = facts_of(root)
        self.visit(root)
        if self.commands > MAX_COMMANDS:
            reason = f"it runs more than {MAX_COMMANDS} commands; split it up"
            self.findings.append(Finding(command, Kind.UNKNOWN, reason))
        return self.findings

    def visit(self, node: Node) -> None:
        """Judge one statement."""
        handler = _STATEMENTS.get(node.type)
        if handler is None:
            self._unknown(node, f"the construct {node.type.replace('_', ' ')} is not understood")
        else:
            handler(self, node)

    # What rules may ask of the walk.

    def command(self, words: Sequence[Word]) -> list[Finding]:
        """Judge one simple command, given as words."""
        self.commands += 1
        text = " ".join(word.source for word in words)
        name = words[0]
        if not name.value or name.glob:
            reason = f"which program {name.source} stands for is only known when it runs"
            return [Finding(text, Kind.UNKNOWN, reason)]
        if (allowed := self._allowed(words)) is not None:
            return [Finding(text, allowed.kind, "the user's allow-list has it")]
        rule, floor, why = lookup(name.value, self.scope)
        if rule is None:
            return [Finding(text, floor, f"{name.value} {why}")]
        found = judge_rule(self, rule, words)
        return [f.at_least(floor, f"{name.value} {why}") for f in found]

    def script(self, text: str) -> list[Finding]:
        """Judge text that a program hands to a shell."""
        if self._depth >= MAX_SCRIPTS:
            return [Finding(text, Kind.UNKNOWN, "shells are nested too deep")]
        inner = Walk(self.scope, self._allow, self._depth + 1)
        found = inner.over(text)
        self.commands += inner.commands
        return found or [Finding(text, Kind.READ_ONLY, "an empty script does nothing")]

    def enter(self, target: str | None) -> None:
        """Note that the shell changed its directory."""
        self.scope = self.scope.entered(target)

    def _allowed(self, words: Sequence[Word]) -> AllowRule | None:
        values = [word.value for word in words]
        for rule in self._allow:
            rest = values[len(rule.prefix) :]
            if tuple(values[: len(rule.prefix)]) == rule.prefix and all(
                v is not None and any(fnmatchcase(v, p) for p in rule.args) for v in rest
            ):
                return rule
        return None

    # Statements.

    def _unknown(self, node: Node, reason: str) -> None:
        self.findings.append(Finding(text_of(node), Kind.UNKNOWN, reason))

    def _each(self, node: Node) -> None:
        for child in node.named_children:
            self.visit(child)

    def _nothing(self, node: Node) -> None:
        """A comment."""

    def _inner(self, node: Node) -> None:
        """Statements in a shell of their own: a change of directory ends with it."""
        before = self.scope
        for child in node.named_children:
            self.visit(child)
            if node.type == "pipeline":
                self.scope = before
        self.scope = before

    def _compound(self, node: Node) -> None:
        if node.children[0].type == "((":
            for child in node.named_children:
                self._expression(child, arithmetic=True)
        else:
            self._each(node)

    def _simple(self, node: Node, more: Sequence[Word] = ()) -> None:
        words: list[Word] = []
        for child in node.named_children:
            if child.type == "variable_assignment":
                self._assign(child, exported=True)
            elif child.type in _REDIRECTS:
                words.extend(self._redirect(child))
            else:
                self._expression(child)
                words.extend(words_of(child, self._facts.tame))
        words.extend(more)
        if words:
            self.findings.extend(self.command(words))

    def _redirected(self, node: Node) -> None:
        body = node.child_by_field_name("body")
        more = [
            word for child in node.named_children if child != body for word in self._redirect(child)
        ]
        if body is not None and body.type == "command":
            self._simple(body, more)
        elif more:
            self._unknown(node, "words follow a redirection where no command takes them")
        elif body is not None:
            self.visit(body)

    def _redirect(self, node: Node) -> list[Word]:
        """Judge a redirection; words the grammar hangs on it belong to the command."""
        if node.type == "heredoc_redirect":
            return self._heredoc(node)
        targets: list[Word] = []
        for child in node.named_children:
            if child.type == "file_descriptor":
                continue
            self._expression(child)
            targets.extend(words_of(child))
        operator = next(c.type for c in node.children if not c.is_named)
        if operator in ("<&-", ">&-"):
            return targets
        if not targets:
            self._unknown(node, "a redirection without a target is not understood")
            return []
        if operator != "<<<":
            self._open(node, operator, targets[0])
        return targets[1:]

    def _open(self, node: Node, operator: str, target: Word) -> None:
        path = target.value
        is_copy = operator in (">&", "<&") and re.fullmatch(r"\d+-?|-", path or "")
        if is_copy or (path is not None and place.device(path)):
            return
        text = text_of(node)
        if path is not None and path.startswith(("/dev/tcp/", "/dev/udp/")):
            self.findings.append(Finding(text, Kind.UNKNOWN, "it opens a network connection"))
        elif operator in ("<", "<&"):
            inner = text_of(node).lstrip("<& \t").startswith("<(")
            if not inner and secret_among([target]):
                self.findings.append(secret_finding(text, target.source))
        elif path is None:
            self._unknown(node, f"it writes to {target.source}, only known when it runs")
        elif target.glob:
            self._unknown(node, f"it writes to {target.source}, which may be any file")
        else:
            self.findings.append(written(self, text, "the redirection", [target]))

    def _heredoc(self, node: Node) -> list[Word]:
        more: list[Word] = []
        for child in node.named_children:
            if child.type in ("heredoc_start", "heredoc_end"):
                continue
            if child.type == "heredoc_body":
                self._heredoc_body(node, child)
            elif child.type in _REDIRECTS:
                more.extend(self._redirect(child))
            elif child.type in _STATEMENTS:
                self.visit(child)
            else:
                self._expression(child)
                more.extend(words_of(child, self._facts.tame))
        return more

    def _heredoc_body(self, node: Node, body: Node) -> None:
        delimiter = heredoc_delimiter(node)
        live = re.sub(r"\\.", "", text_of(body), flags=re.S)
        if not (delimiter and delimiter[1]) and re.search(r"`|\$[({]", live):
            self._unknown(node, "its here-document is expanded by the shell; quote it as <<'EOF'")

    def _for(self, node: Node) -> None:
        name = node.child_by_field_name("variable")
        if name is None or assignment_objection(text_of(name), None, exported=False):
            self._unknown(node, "it loops over a variable that controls the shell")
        values = node.children_by_field_name("value")
        for value in values:
            self._expression(value)
            if secret_among(words_of(value)):
                self.findings.append(secret_finding(text_of(value), text_of(value)))
        body = node.child_by_field_name("body")
        if body is None:
            self._unknown(node, "a loop without a body is not understood")
        else:
            self.visit(body)

    def _counting(self, node: Node) -> None:
        body = node.child_by_field_name("body")
        for child in node.named_children:
            if child == body:
                self.visit(child)
            elif child.type == "variable_assignment":
                self._assign(child, exported=False, arithmetic=True)
            else:
                self._expression(child, arithmetic=True)

    def _case(self, node: Node) -> None:
        values = node.children_by_field_name("value")
        for child in node.named_children:
            if child in values:
                self._expression(child)
            else:
                self.visit(child)

    def _bare_assignment(self, node: Node) -> None:
        self._assign(node, exported=False)

    def _assign(self, node: Node, *, exported: bool, arithmetic: bool = False) -> None:
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        held = words_of(value) if value is not None else ()
        text = text_of(node)
        if name is None or name.type != "variable_name":
            self._unknown(node, "assigning to an element evaluates its index")
            return
        if value is not None:
            self._expression(value, arithmetic=arithmetic)
        label = text_of(name)
        first = held[0] if held else None
        if objection := assignment_objection(label, first, exported=exported):
            self._unknown(node, objection)
        elif label in SEARCHED:
            self._search_path(node, label, first)
        elif secret_among(held):
            self.findings.append(secret_finding(text, text))
        else:
            self.findings.append(Finding(text, Kind.READ_ONLY, f"it sets {label} for this command"))

    def _search_path(self, node: Node, label: str, value: Word | None) -> None:
        places = (value.value or "/").split(":") if value else []
        if any(place.outside(p or ".", self.scope) for p in places):
            self._unknown(node, f"{label} names a place outside the workspace")
        else:
            reason = f"{label} lets the workspace's own code run"
            self.findings.append(Finding(text_of(node), Kind.VERIFICATION, reason))

    def _declaration(self, node: Node) -> None:
        keyword = node.children[0].type
        for child in node.named_children:
            if child.type == "variable_assignment":
                self._assign(child, exported=True)
            elif child.type == "variable_name":
                if assignment_objection(text_of(child), None, exported=False):
                    self._unknown(
                        node, f"{keyword} {text_of(child)} touches a controlling variable"
                    )
            elif not (child.type == "word" and re.fullmatch(r"-[praAxgF]+", text_of(child))):
                self._unknown(node, f"what {keyword} declares here is not understood")
        if len(node.named_children) == 0 or text_of(node.named_children[0]).startswith("-p"):
            self.findings.append(
                Finding(text_of(node), Kind.READ_ONLY, f"{keyword} lists variables")
            )

    def _unset(self, node: Node) -> None:
        if any(child.type != "variable_name" for child in node.named_children):
            self._unknown(node, "what it unsets is not a plain name")
        else:
            self.findings.append(Finding(text_of(node), Kind.READ_ONLY, "it forgets a variable"))

    def _test(self, node: Node) -> None:
        deep = node.children[0].type == "[["
        for child in node.named_children:
            self._condition(child, deep=deep)
        self.findings.append(Finding(text_of(node), Kind.READ_ONLY, "it only tests a condition"))

    def _condition(self, node: Node, *, deep: bool) -> None:
        operator = node.child_by_field_name("operator")
        sign = text_of(operator) if operator is not None else ""
        if sign in ("-v", "-R"):
            self._unknown(node, f"{sign} evaluates the index of what it is given")
        counts = deep and sign in ("-eq", "-ne", "-lt", "-le", "-gt", "-ge")
        if node.type in ("unary_expression", "binary_expression", "parenthesized_expression"):
            for child in node.named_children:
                if child == operator:
                    continue
                if counts:
                    self._expression(child, arithmetic=True)
                else:
                    self._condition(child, deep=deep)
        else:
            self._expression(node)

    def _function(self, node: Node) -> None:
        self._unknown(node, "a function can take the name of any program; write the commands out")

    # Words and expressions.

    def _expression(self, node: Node, *, arithmetic: bool = False) -> None:
        kind = node.type
        if kind in ("command_substitution", "process_substitution"):
            self._substitution(node)
        elif kind == "expansion":
            self._expansion(node)
        elif kind in ("arithmetic_expansion", "subscript"):
            for child in node.named_children:
                self._expression(child, arithmetic=True)
        elif kind in _LEAVES:
            if arithmetic and kind not in ("number", "special_variable_name"):
                self._counted(node)
        elif kind in _NESTED:
            deeper = arithmetic or kind in _ARITHMETIC
            for child in node.named_children:
                self._expression(child, arithmetic=deeper)
        elif node.is_named:
            self._unknown(node, f"the construct {kind.replace('_', ' ')} is not understood")

    def _substitution(self, node: Node) -> None:
        before = self.scope
        for child in node.named_children:
            if child.type in _REDIRECTS:
                self._redirect(child)
            else:
                self.visit(child)
        self.scope = before

    def _expansion(self, node: Node) -> None:
        """`${…}`: everything but prompt expansion, indirection and assignment to controlling names."""
        text = text_of(node).strip()
        operators = [text_of(c) for c in node.children_by_field_name("operator")]
        if "!" in operators[:1] or "@" in operators:
            self._unknown(node, f"{text} may execute what a variable holds")
        name = re.match(r"\$\{#?(\w+)", text)
        if any("=" in o for o in operators) and (
            not name or assignment_objection(name[1], None, exported=False)
        ):
            self._unknown(node, f"{text} sets a controlling variable")
        counts = ":" in operators
        for i, child in enumerate(node.named_children):
            self._expression(child, arithmetic=counts and i > 0)

    def _counted(self, node: Node) -> None:
        """A name or text in arithmetic: the shell evaluates its value again."""
        for name in re.findall(r"[A-Za-z_]\w*", text_of(node)):
            if name in self._facts.tainted:
                self._unknown(node, f"arithmetic evaluates what {name} holds, which is not known")
        if node.type not in ("variable_name", "word") or not re.fullmatch(
            r"[\w@*]+", text_of(node)
        ):
            self._unknown(node, "arithmetic on quoted text is not understood")


_REDIRECTS = frozenset(("file_redirect", "heredoc_redirect", "herestring_redirect"))
_LEAVES = frozenset(
    ["word", "number", "raw_string", "ansi_c_string", "string_content", "variable_name", "special_variable_name", "regex", "extglob_pattern", "test_operator", "heredoc_content"]
)
_ARITHMETIC = frozenset(["postfix_expression", "ternary_expression"])
_NESTED = frozenset(
    ["string", "translated_string", "concatenation", "simple_expansion", "array", "brace_expression", "command_name", "binary_expression", "unary_expression", "postfix_expression", "parenthesized_expression", "ternary_expression"]
)
_STATEMENTS: dict[str, Callable[[Walk, Node], None]] = {
    "program": Walk._each,
    "list": Walk._each,
    "do_group": Walk._each,
    "if_statement": Walk._each,
    "elif_clause": Walk._each,
    "else_clause": Walk._each,
    "while_statement": Walk._each,
    "negated_command": Walk._each,
    "variable_assignments": Walk._each,
    "pipeline": Walk._inner,
    "subshell": Walk._inner,
    "compound_statement": Walk._compound,
    "case_statement": Walk._case,
    "case_item": Walk._case,
    "for_statement": Walk._for,
    "c_style_for_statement": Walk._counting,
    "command": Walk._simple,
    "redirected_statement": Walk._redirected,
    "variable_assignment": Walk._bare_assignment,
    "declaration_command": Walk._declaration,
    "unset_command": Walk._unset,
    "test_command": Walk._test,
    "function_definition": Walk._function,
    "comment": Walk._nothing,
}
