"""Rules for the shell's built-in commands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from flyball.shell.judgement import CommandKind, Finding
from flyball.shell.rows import MUTATE, NONE, READ, TEXT, UNKNOWN, rule, table
from flyball.shell.rule import Inquiry, Rule, judge_words, parse, secret_finding
from flyball.shell.words.names import names
from flyball.shell.words.pattern import Pattern
from flyball.shell.words.place import secret
from flyball.shell.words.word import Word

_SHOPTS = names(
    "globstar nullglob extglob nocaseglob failglob lastpipe inherit_errexit nocasematch"
)
_ACTIVATE = Pattern(r"(\./)?([\w.-]+/)*\.?v?env[\w.-]*/bin/activate")


def _text(words: Sequence[Word]) -> str:
    return " ".join(word.source for word in words)


def check_cd(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Track a change of directory; the shell's stack of directories is not followed."""
    operands = parse(rule, words[1:]).operands
    bare = None if words[0].value in ("pushd", "popd") else "~"
    target = operands[0].value if operands else bare
    if target is not None and secret(target):
        yield secret_finding(_text(words), operands[0].source)
        return
    is_known = target is not None and target[:1] not in ("-", "+") and words[0].value != "popd"
    inquiry.enter(target if is_known and not (operands and operands[0].glob) else None)
    yield Finding(_text(words), CommandKind.READ_ONLY, "it only changes the shell's directory")


def check_set(_inquiry: Inquiry, _rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `set` with options that only make a shell stricter or more verbose."""
    known = all(
        re.fullmatch(r"[-+][euxvfCo]+|pipefail|errexit|nounset", w.known) for w in words[1:]
    )
    if len(words) == 1:
        reason = "it prints every variable"
        yield Finding(_text(words), CommandKind.READ_ONLY, reason, reveals=True)
    elif known and all(w.value is not None for w in words):
        yield Finding(_text(words), CommandKind.READ_ONLY, "it sets how strict the shell is")
    else:
        yield Finding(_text(words), CommandKind.UNKNOWN, "what it sets is not understood")


def check_shopt(_inquiry: Inquiry, _rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `shopt` with options that only change matching; `dotglob` reveals hidden files."""
    if all(w.value in _SHOPTS or w.value in ("-s", "-u", "-q", "-p") for w in words[1:]):
        yield Finding(_text(words), CommandKind.READ_ONLY, "it sets how the shell matches names")
    else:
        yield Finding(_text(words), CommandKind.UNKNOWN, "this shell option is not understood")


def check_alias(_inquiry: Inquiry, _rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge alias: listing is harmless, defining one is not."""
    if all(w.value is not None and "=" not in w.value for w in words[1:]):
        yield Finding(_text(words), CommandKind.READ_ONLY, "it lists aliases")
    else:
        yield Finding(
            _text(words), CommandKind.UNKNOWN, "an alias can take the name of any program"
        )


def check_source(_inquiry: Inquiry, _rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `source`: a virtual environment, or the workspace's own script."""
    script = words[1] if len(words) > 1 else None
    text = _text(words)
    if script is not None and script.value and _ACTIVATE.fullmatch(script.value):
        yield Finding(
            text, CommandKind.VERIFICATION, "it enters the workspace's virtual environment"
        )
    else:
        yield Finding(text, CommandKind.UNKNOWN, "it runs a script inside this shell")


def check_read(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `read` and similar builtins: only plain names without special meaning are allowed."""
    from_name = Pattern(r"[a-z_][a-z0-9_]*|[A-Z]")
    parsed = parse(rule, words[1:])
    text = _text(words)
    if any(not (w.value and from_name.fullmatch(w.value)) for w in parsed.operands):
        yield Finding(text, CommandKind.UNKNOWN, "it sets a variable that is not plain")
    else:
        yield from judge_words(inquiry, rule, words)


def check_stty(_inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `stty -a`; most words change the terminal."""
    shows = all(word.value in rule.known for word in words[1:])
    kind = CommandKind.READ_ONLY if shows else CommandKind.MUTATING
    yield Finding(_text(words), kind, f"it {'shows' if shows else 'changes'} terminal settings")


def check_eval(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `eval`: what it runs, where that is known, and that it changes this shell."""
    yield Finding(_text(words), rule.kind, rule.does)
    texts = [word.value for word in words[1:]]
    if texts and all(text is not None for text in texts):
        yield from inquiry.script(" ".join(filter(None, texts)))


def check_exit(_inquiry: Inquiry, _rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge exit: its status must be a number."""
    yield Finding(_text(words), CommandKind.READ_ONLY, "it ends the script or loop")


BUILTINS = table(
    {
        "cd chdir pushd popd": rule(READ, "changes directory", check=check_cd),
        "dirs pwd times wait hash": rule(READ, "reports", operands=TEXT, runs="-p -n -x"),
        "jobs": rule(READ, "lists what runs behind the shell", operands=TEXT, runs="-x"),
        "type which": rule(READ, "tells where a program is", operands=TEXT),
        "help compgen": rule(READ, "lists", operands=TEXT, runs="-C -F -W"),
        "exit return break continue": rule(READ, "ends", check=check_exit),
        "set": rule(READ, "sets", check=check_set),
        "shopt": rule(READ, "sets", check=check_shopt),
        "alias": rule(READ, "lists", check=check_alias),
        "source .": rule(UNKNOWN, "runs a script", check=check_source),
        "read mapfile readarray": rule(
            READ,
            "reads a line into a variable",
            operands=TEXT,
            runs="-C",
            valued="-d -n -N -p -t -u -O -s -c",
            check=check_read,
        ),
        "history fc": rule(READ, "lists", mutates="-c -d -a -w -r -n -s -p", runs="-e"),
        "ulimit": rule(READ, "shows or lowers limits", operands=TEXT),
        "umask": rule(READ, "shows the mask", operands=NONE),
        "eval": rule(UNKNOWN, "changes the shell it runs in", check=check_eval),
        "bind complete disown enable trap let logout suspend": rule(
            UNKNOWN, "changes the shell or runs text that was not judged"
        ),
        "coproc": rule(UNKNOWN, "runs a command beside the shell"),
        "tput clear reset tty": rule(READ, "talks to the terminal", operands=TEXT),
        "stty": rule(READ, "shows terminal settings", known="-a -g size speed", check=check_stty),
        "mktemp": rule(MUTATE, "makes a temporary file", operands=TEXT),
    }
)
