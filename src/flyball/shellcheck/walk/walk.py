"""The walk over a command: its state, and the judgement of one simple command."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from tree_sitter import Node

from flyball.shellcheck.judgement import AllowRule, CommandKind, Finding
from flyball.shellcheck.programs import lookup, runs_project
from flyball.shellcheck.rule import judge_rule, secret_among
from flyball.shellcheck.task import drops_data
from flyball.shellcheck.walk.redirect import redirect
from flyball.shellcheck.walk.statement import STATEMENTS
from flyball.shellcheck.words.place import Scope
from flyball.shellcheck.words.source import read
from flyball.shellcheck.words.variable import facts_of
from flyball.shellcheck.words.word import NO_FACTS, Word, text_of

MAX_COMMANDS = 50
MAX_SCRIPTS = 4
MAX_WRAPPERS = 12


def _lost(found: Finding, words: Sequence[Word]) -> Finding:
    """A project's own program that is told to drop data: that is lost outside any tree of files."""
    word = drops_data([word.known for word in words])
    if word is None or found.kind is not CommandKind.MUTATING:
        return found
    return found._replace(kind=CommandKind.DESTRUCTIVE, reason=f"`{word}` throws data away")


def _too_many(text: str) -> Finding:
    reason = f"it runs more than {MAX_COMMANDS} commands; split it up"
    return Finding(text, CommandKind.UNKNOWN, reason, unread=True)


class Walk:
    """One pass over one command; `findings` grows in the order of the source."""

    def __init__(
        self, scope: Scope, allow: Sequence[AllowRule] = (), depth: int = 0, *, fresh: bool = False
    ) -> None:
        self.scope = scope
        self.findings: list[Finding] = []
        self.facts = NO_FACTS
        self.fed: Word | None = None
        self.commands: list[tuple[str, ...]] = []
        """The words of every simple command, those inside of others included, as far as known."""
        self._allow = allow
        self._depth = depth
        self._wrapped = 0
        self._fresh = fresh

    def over(self, command: str) -> list[Finding]:
        """Judge a whole command line."""
        root = read(command)
        if isinstance(root, str):
            return [Finding(command, CommandKind.UNKNOWN, root, unread=True)]
        self.facts = facts_of(root, fresh=self._fresh)
        self.visit(root)
        if len(self.commands) > MAX_COMMANDS:
            self.findings.append(_too_many(command))
        return self.findings

    def visit(self, node: Node) -> None:
        """Judge one statement."""
        handler = STATEMENTS.get(node.type)
        if handler is None:
            self.unknown(node, f"the construct {node.type.replace('_', ' ')} is not understood")
        else:
            handler(self, node)

    def found(self, node: Node, kind: CommandKind, reason: str) -> None:
        """Note what a node does."""
        self.findings.append(Finding(text_of(node), kind, reason))

    def unknown(self, node: Node, reason: str) -> None:
        """Note a node that is not understood, or understood too well."""
        self.found(node, CommandKind.UNKNOWN, reason)

    def command(self, words: Sequence[Word]) -> list[Finding]:
        """Judge one simple command, given as words."""
        self.commands.append(tuple(word.known for word in words))
        text = " ".join(word.source for word in words)
        if len(self.commands) > MAX_COMMANDS:
            return [_too_many(text)]
        if self._wrapped >= MAX_WRAPPERS:
            reason = "programs that run programs are nested too deep"
            return [Finding(text, CommandKind.UNKNOWN, reason, unread=True)]
        self._wrapped += 1
        try:
            return self._command(words, text)
        finally:
            self._wrapped -= 1

    def _command(self, words: Sequence[Word], text: str) -> list[Finding]:
        name = words[0]
        if self.scope.cwd != ".":
            words = [name, *(word.below(self.scope.cwd or "/etc") for word in words[1:])]
        if not name.value or name.glob:
            reason = f"which program {name.source} stands for is only known when it runs"
            return [Finding(text, CommandKind.UNKNOWN, reason)]
        if (allowed := self._allowed(words)) is not None:
            return [Finding(text, allowed.kind, "the user's allow-list has it")]
        rule, floor, why = lookup(name.value, self.scope)
        if rule is None:
            found = [Finding(text, floor, f"{name.value} {why}")]
        else:
            judged = judge_rule(self, rule, words)
            found = [f.at_least(floor, f"{name.value} {why}") for f in judged]
        return [_lost(f, words) for f in found] if runs_project(name.value) else found

    def script(self, text: str) -> list[Finding]:
        """Judge text that a program hands to a shell."""
        if self._depth >= MAX_SCRIPTS:
            return [Finding(text, CommandKind.UNKNOWN, "shells are nested too deep", unread=True)]
        inner = Walk(self.scope, self._allow, self._depth + 1)
        found = inner.over(text)
        self.commands += inner.commands
        return found or [Finding(text, CommandKind.READ_ONLY, "an empty script does nothing")]

    def redirect(self, node: Node) -> None:
        """Judge a redirection that stands alone."""
        redirect(self, node)

    def enter(self, target: str | None) -> None:
        """Note that the shell changed its directory."""
        self.scope = self.scope.entered(target)

    def _allowed(self, words: Sequence[Word]) -> AllowRule | None:
        if secret_among(words):
            return None
        values = [None if word.glob else word.value for word in words]
        for rule in self._allow:
            size = len(rule.prefix)
            rest = values[size:]
            if tuple(values[:size]) == rule.prefix and all(
                v is not None and any(fnmatchcase(v, p) for p in rule.args) for v in rest
            ):
                return rule
        return None
