"""sed: a language that can write files and run commands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from flyball.shell.judgement import CommandKind, Finding
from flyball.shell.rule import (
    Inquiry,
    Rule,
    SortedWords,
    judge_words,
    named,
    parse,
    secret_among,
    secret_finding,
    written,
)
from flyball.shell.words.pattern import Pattern, is_open
from flyball.shell.words.word import Word, opaque


def check(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge the options, then every command of the script."""
    text = " ".join(word.source for word in words)
    parsed = parse(rule, words[1:])
    scripts = [v for f, v in parsed.flags if v and (f == "-e" or "--expression".startswith(f))]
    files = parsed.operands
    if not scripts:
        scripts, files = list(files[:1]), files[1:]
    for script in scripts:
        if objection := script_objection(script.value):
            yield Finding(text, CommandKind.UNKNOWN, f"sed {objection}")
            return
    # The script itself is not a path, so it is left out of the general judgement.
    rest = [w for w in words if not any(w is s for s in scripts)]
    general = judge_words(inquiry, rule, rest)[0]._replace(text=text)
    if general.kind is not CommandKind.UNKNOWN and _in_place(rule, parsed):
        yield written(inquiry, text, "sed -i", files or [opaque("nothing")])
    elif hidden := secret_among(files):
        yield secret_finding(text, hidden)
    else:
        yield general


def _in_place(rule: Rule, parsed: SortedWords) -> bool:
    return any(named(flag, rule.mutates, rule) for flag, _ in parsed.flags)


def script_objection(script: str | None) -> str | None:
    """Return why a script is not plain editing, or None."""
    if script is None:
        return "gets a script that is only known when it runs"
    rest = script
    while rest:
        step = _step(rest)
        if isinstance(step, str):
            return step
        rest = rest[step:]
    return None


_LINE = r"(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\.)*/[IM]*|\\%(?:[^%\\\n]|\\.)*%[IM]*)"
_ADDRESS = Pattern(rf"[\s;]*(?:{_LINE}(?:\s*,\s*(?:{_LINE}|[+~]\d+))?)?\s*!?\s*")
_SIMPLE = Pattern(r"[pPdDgGhHxnNlqQ=zF]\s*\d*\s*(?=[;}\n]|$)")
_BLOCK = Pattern(r"[{}]|#[^\n]*")
_LABEL = Pattern(r"[:btT]\s*[\w.-]*\s*(?=[;}\n]|$)")
_INSERT = Pattern(r"[aic](?:[^\n\\]|\\.)*", re.S)
_FLAGS = Pattern(r"[gpiIm0-9]*\s*(?=[;}\n]|$)")


_BRACKETS = "has a delimiter in brackets, which not every sed reads alike; put \\ before it"


def _step(rest: str) -> int | str:
    """Return the length of the first command of a script, or the error in it."""
    address = next(_ADDRESS.every(rest))
    at = address.end()
    if is_open(address.group()):
        return _BRACKETS
    if at == len(rest):
        return at
    for pattern in (_SIMPLE, _BLOCK, _LABEL, _INSERT):
        if match := pattern.match(rest, at):
            return match.end()
    if rest[at] in "sy" and at + 1 < len(rest):
        return _substitution(rest, at)
    if rest[at] in "ewWrR":
        return f"command `{rest[at]}` reads, writes or runs something else"
    return f"script {rest[:40]!r} is not understood"


def _substitution(rest: str, at: int) -> int | str:
    mark = re.escape(rest[at + 1])
    if mark in ("\\\\", "\\\n", "\n"):
        return "uses a delimiter that is not understood"
    body = rf"(?:[^{mark}\\\n]|\\.)*"
    match = Pattern(rf"[sy]{mark}({body}){mark}{body}{mark}", re.S).match(rest, at)
    if match is not None and rest[at] == "s" and is_open(match[1]):
        return _BRACKETS
    if match is None:
        return "has a substitution that is not understood"
    flags = _FLAGS.match(rest, match.end())
    if flags is None:
        return "has a substitution flag that runs or writes, or is not understood"
    return flags.end()
