"""awk: a language that can write files and run commands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from flyball.shell.judgement import CommandKind, Finding
from flyball.shell.rule import (
    Inquiry,
    Rule,
    judge_words,
    parse,
    secret_among,
    secret_finding,
)
from flyball.shell.words.names import names
from flyball.shell.words.pattern import Pattern, is_open
from flyball.shell.words.word import Word

_TOKEN = Pattern(
    r"""
    (?P<blank>\s+|\\\n|\#[^\n]*)
    | (?P<string>"(?:[^"\\\n]|\\.)*")
    | (?P<name>[A-Za-z_]\w*)
    | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<slash>/)
    | (?P<mark>&&|\|\||\+\+|--|[-+*%^=!<>]=|\*\*=?|>>|[^\s\w"/\#\\])
    """,
    re.X,
)
_REGEX = Pattern(r"/(?:[^/\\\n]|\\.)*/")
_OPENERS = names(
    "print printf return in case else do exit delete next nextfile continue break default BEGIN "
    "END BEGINFILE ENDFILE while if for switch function func"
)
_ODD = Pattern(r"[|>@]|system|getline")


def check(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge the options, then the program text."""
    text = " ".join(word.source for word in words)
    parsed = parse(rule, words[1:])
    for found in judge_words(inquiry, rule, [words[0], *_options(rule, words)]):
        if found.kind is not CommandKind.READ_ONLY:
            yield found._replace(text=text)
            return
    if not parsed.operands:
        yield Finding(text, CommandKind.UNKNOWN, f"{words[0].source} has no program to judge")
    elif objection := program_objection(parsed.operands[0].value):
        yield Finding(text, CommandKind.UNKNOWN, f"{words[0].source} {objection}")
    elif hidden := secret_among(parsed.operands[1:]):
        yield secret_finding(text, hidden)
    else:
        yield Finding(text, CommandKind.READ_ONLY, f"{words[0].source} only prints")


def _options(rule: Rule, words: Sequence[Word]) -> Sequence[Word]:
    """Return the words before the program text; words after it are files, not options."""
    found: list[Word] = []
    rest = list(words[1:])
    while rest and rest[0].known.startswith("-") and rest[0].value != "--":
        found.append(rest.pop(0))
        if found[-1].value in rule.valued and rest:
            found.append(rest.pop(0))
    return found


def program_objection(program: str | None) -> str | None:
    """Return why a program does more than read and print, or None."""
    if program is None:
        return "gets a program that is only known when it runs"
    tokens = _tokens(program)
    if tokens is None:
        return "gets a program that is not understood"
    for name in ("system", "getline", "close", "fflush", "ARGV", "@", "|", "|&", ">>"):
        if name in tokens:
            return f"uses `{name}`, which can run programs or reach other files"
    printing = False
    for token in tokens:
        if printing and token == ">":
            return "writes to a file with `>`"
        printing = token in ("print", "printf") or (printing and token not in (";", "}"))
    return None


def _tokens(program: str) -> list[str] | None:
    """Return the tokens of a program, or None if a slash is ambiguous."""
    found: list[str] = []
    at = 0
    while at < len(program):
        match = _TOKEN.match(program, at)
        if match is None:
            return None
        at = match.end()
        token = match.group()
        if match.lastgroup == "blank":
            # A statement ends with its line, so a slash after that opens a pattern.
            found.extend(["\n"] if "\n" in token and token[0] != "\\" else [])
            continue
        if match.lastgroup == "slash":
            before = found[-1] if found else ";"
            if before in (")", "++", "--") and _ODD.search(program, at):
                return None
            if not (before in (")", "]", "$", "++", "--") or _is_value(before)):
                regex = _REGEX.match(program, match.start())
                if regex is None or (is_open(regex.group()) and _ODD.search(program)):
                    return None
                at, token = regex.end(), "0"
        found.append('""' if match.lastgroup == "string" else token)
    return found


def _is_value(token: str) -> bool:
    return token not in _OPENERS and bool(re.match(r'[\w".]', token))
