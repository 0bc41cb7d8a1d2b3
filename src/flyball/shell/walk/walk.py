"""The walk over a command: its state, and the judgement of one simple command."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from tree_sitter import Node

from flyball.secret_files import holds_secret
from flyball.shell.judgement import AllowRule, CommandKind, Finding
from flyball.shell.programs import (
    SAYING,
    computed_request,
    elsewhere,
    fetched_names,
    lookup,
    matches_all,
    reaches_out,
    reads_its_words,
    reads_others,
    runs_project,
    searches,
    settings_shown,
    shows_contents,
    shows_environment,
)
from flyball.shell.rule import (
    Rule,
    computed,
    judge_rule,
    named_secret,
    secret_among,
    secret_finding,
)
from flyball.shell.task import drops_data
from flyball.shell.walk.redirect import redirect
from flyball.shell.walk.statement import STATEMENTS
from flyball.shell.words.listing import may_be_secret
from flyball.shell.words.pattern import Pattern
from flyball.shell.words.place import Scope, secret
from flyball.shell.words.source import read
from flyball.shell.words.variable import facts_of, secret_variable
from flyball.shell.words.word import NO_FACTS, Word, text_of

MAX_COMMANDS = 50
MAX_SCRIPTS = 4
MAX_WRAPPERS = 12

_ENV_FILE = Pattern(r"--?env[-_]?file=")
_IN_FILE = Pattern(r"(?:(?:^|[=:])@|file://)([^\s,;]+)")
"""Where a program takes a file in the place of a text: `-d @file`, `-F x=@file`, `file://…`."""


def _lost(found: Finding, words: Sequence[Word]) -> Finding:
    """Raise the class of a project's program that is told to delete data outside any tree of
    files."""
    word = drops_data([word.known for word in words])
    if word is None or found.kind is not CommandKind.MUTATING:
        return found
    return found._replace(kind=CommandKind.DESTRUCTIVE, reason=f"`{word}` throws data away")


def _fetched(found: Finding, names: frozenset[str]) -> Finding:
    """Return a program that the same command fetched before: fetching and running count as one
    act."""
    named = not names.isdisjoint(re.split(r"[\s/='\"]+", found.text))
    if not (found.fed or (found.runs and named and found.kind is CommandKind.MUTATING)):
        return found
    raised = found.at_least(CommandKind.DESTRUCTIVE, "it was fetched by the same command")
    return raised._replace(away=True)


_ASKS = ("--version", "--help")


def _asks_version(words: Sequence[Word]) -> bool:
    """Return whether a program is only asked for its version or help."""
    return len(words) == 2 and words[1].value in _ASKS


def _too_many(text: str) -> Finding:
    reason = f"it runs more than {MAX_COMMANDS} commands; split it up"
    return Finding(text, CommandKind.UNKNOWN, reason, unread=True)


class Walk:
    """One pass over one command; `findings` follow the order of the source."""

    def __init__(
        self, scope: Scope, allow: Sequence[AllowRule] = (), depth: int = 0, *, fresh: bool = False
    ) -> None:
        self.scope = scope
        self.findings: list[Finding] = []
        self.facts = NO_FACTS
        self.fed: Word | None = None
        self.commands: list[tuple[str, ...]] = []
        """The words of every simple command, including nested ones, as far as known."""
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
        if shown := secret_variable(root, self.facts):
            self.revealed(shown, "it uses a variable that holds a secret")
        if len(self.commands) > MAX_COMMANDS:
            self.findings.append(_too_many(command))
        if self._depth == 0 and (names := fetched_names(self.commands)):
            self.findings = [_fetched(found, names) for found in self.findings]
        return self.findings

    def visit(self, node: Node) -> None:
        """Judge one statement."""
        handler = STATEMENTS.get(node.type)
        if handler is None:
            self.unknown(node, f"the construct {node.type.replace('_', ' ')} is not understood")
        else:
            handler(self, node)

    def found(self, node: Node, kind: CommandKind, reason: str) -> None:
        """Record the effect of a node."""
        self.findings.append(Finding(text_of(node), kind, reason))

    def revealed(self, node: Node, reason: str) -> None:
        """Record a node that may show a secret."""
        self.findings.append(Finding(text_of(node), CommandKind.READ_ONLY, reason, reveals=True))

    def unknown(self, node: Node, reason: str) -> None:
        """Record a node that was not understood, or that is known to be unsafe."""
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
        if rule is None and "/" not in name.value and _asks_version(words):
            found = [Finding(text, CommandKind.READ_ONLY, "it shows its version or help")]
        elif rule is None:
            found = [Finding(text, floor, f"{name.value} {why}")]
        else:
            judged = judge_rule(self, rule, words)
            found = [f.at_least(floor, f"{name.value} {why}") for f in judged]
        found += self._by_names(name.value, rule, words, found)
        if reaches_out(words):
            found = [f._replace(away=True) for f in found]
        if runs_project(name.value):
            found = [_lost(f._replace(runs=True), words) for f in found]
        return found

    def _by_names(
        self, name: str, rule: Rule | None, words: Sequence[Word], found: Sequence[Finding]
    ) -> list[Finding]:
        """Return findings for secrets among all words, and for names known only at run time."""
        if any(f.veto for f in found):
            return []
        text = " ".join(word.source for word in words)
        given = words[1:]
        if hidden := next((w.source for w in given if self._hides(w, name, rule)), None):
            return [secret_finding(text, hidden)]
        if odd := computed_request(words):
            reason = f"it would send {odd.source}, which is only known when it runs"
            return [Finding(text, CommandKind.UNKNOWN, reason, away=True)]
        if all(f.kind is CommandKind.READ_ONLY for f in found):
            shows = shows_contents(name, rule) and (
                not searches(name, rule) or matches_all(name, given)
            )
            if shows and (odd := next((w.source for w in given if self._is_open(w)), None)):
                reason = f"which file {odd} names is only known when it runs"
                return [Finding(text, CommandKind.UNKNOWN, reason)]
            if shown := settings_shown(name, rule, given):
                reason = f"{shown} may hold secrets among its settings"
                return [Finding(text, CommandKind.READ_ONLY, reason, reveals=True)]
            if odd := reads_others(name, rule, given, self.scope):
                reason = f"which files {odd} names outside the workspace is known when it runs"
                return [Finding(text, CommandKind.READ_ONLY, reason, reveals=True)]
            if server := elsewhere(name, given):
                reason = f"{server} points {name}, with its logins, at another server or folder"
                return [Finding(text, CommandKind.READ_ONLY, reason, reveals=True)]
            if shows_environment(name, given):
                reason = "its program shows variables of the environment"
                return [Finding(text, CommandKind.READ_ONLY, reason, reveals=True)]
        return []

    def _hides(self, word: Word, name: str, rule: Rule | None) -> bool:
        """Return whether a word names a secret: directly, unless only names are listed, or in
        `@file`."""
        texts = {word.known, *word.guesses}
        if any(_ENV_FILE.match(t) for t in texts) and named_secret([word]):
            return True
        if any(secret(m[1]) for t in texts for m in _IN_FILE.every(t)) and name not in SAYING:
            return True
        if not reads_its_words(name, rule) or re.search(r"\s|://", word.known):
            return False
        return named_secret([word]) is not None or self._users(texts)

    def _is_open(self, word: Word) -> bool:
        """Return whether only running shows if a word, or its folder, is that of a secret."""
        away = self.scope.cwd is None and not word.known.startswith(("/", "~", "-"))
        return computed(word) or (away and may_be_secret(f"*/{word.known}"))

    def _users(self, texts: Iterable[str]) -> bool:
        """Return whether a text names a secret from the user's own settings."""
        more = self.scope.secrets
        return bool(more) and any(
            holds_secret(part, more) for text in texts for part in re.split(r"[=@:]", text)
        )

    def script(self, text: str) -> list[Finding]:
        """Judge text that a program passes to a shell."""
        if self._depth >= MAX_SCRIPTS:
            return [Finding(text, CommandKind.UNKNOWN, "shells are nested too deep", unread=True)]
        inner = Walk(self.scope, self._allow, self._depth + 1)
        found = inner.over(text)
        self.commands += inner.commands
        return found or [Finding(text, CommandKind.READ_ONLY, "an empty script does nothing")]

    def redirect(self, node: Node) -> None:
        """Judge a redirection without a command."""
        redirect(self, node)

    def enter(self, target: str | None) -> None:
        """Record that the shell changed its directory."""
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
