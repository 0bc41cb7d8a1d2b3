"""Archives and compression: listing and printing are harmless, the rest writes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from flyball.shell.judgement import CommandKind, Finding
from flyball.shell.rows import MUTATE, READ, rule, table
from flyball.shell.rule import (
    Check,
    Inquiry,
    Rule,
    judge_words,
    named,
    parse,
    secret_among,
    secret_finding,
    written,
)
from flyball.shell.words.names import names
from flyball.shell.words.word import Word, literal

_TAR_RUNS = names(
    "--checkpoint-action --to-command -I --use-compress-program -F --info-script "
    "--new-volume-script --rsh-command --rmt-command"
)

_TAR_WRITES = names("-g --listed-incremental --index-file --volno-file")


def _tar(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge tar: `t` lists; `x` and `c` write, and several options run programs."""
    text = " ".join(word.source for word in words)
    rest = list(words[1:])
    if rest and re.fullmatch(r"[A-Za-z]+", rest[0].value or ""):
        rest = _old_style(rule, rest[0].known, rest[1:])
    parsed = parse(rule, rest)
    modes = [f for f, _ in parsed.flags if f in rule.known]
    if parsed.doubtful or any(named(f, _TAR_RUNS, rule) for f, _ in parsed.flags):
        yield Finding(
            text, CommandKind.UNKNOWN, "tar is given an option that can run another program"
        )
    elif index := next((f for f, _ in parsed.flags if named(f, _TAR_WRITES, rule)), None):
        yield written(inquiry, text, f"tar {index}", [parsed.value(index)])
    elif any("::" in w.known or re.match(r"[\w.@-]+:", w.known) for _, w in parsed.flags if w):
        yield Finding(text, CommandKind.UNKNOWN, "tar would reach another machine")
    elif hidden := secret_among(v for f, v in parsed.flags if v and named(f, rule.reads, rule)):
        yield secret_finding(text, hidden)
    elif modes and all(m in ("-t", "--list", "-d", "--diff", "--compare") for m in modes):
        yield Finding(text, CommandKind.READ_ONLY, "tar lists an archive")
    elif modes == ["-x"] and parsed.has("-O", "--to-stdout"):
        yield Finding(text, CommandKind.READ_ONLY, "tar prints a file from an archive")
    elif hidden := secret_among(parsed.operands):
        yield secret_finding(text, hidden)
    elif {"-P", "--absolute-names"} & {f for f, _ in parsed.flags}:
        yield Finding(text, CommandKind.MUTATING, "tar may write outside the workspace", veto=True)
    else:
        makes = any(m in ("-c", "--create", "-r", "--append", "-u", "--update") for m in modes)
        target = parsed.value("-f", "--file") if makes else parsed.value("-C", "--directory")
        yield written(inquiry, text, "tar", [target or literal(".")])


def _old_style(rule: Rule, letters: str, rest: list[Word]) -> list[Word]:
    """Split letters without a dash, which take their values from the words that follow, in
    order."""
    found: list[Word] = []
    for letter in letters:
        found.append(literal(f"-{letter}"))
        if rule.takes_value(f"-{letter}") and rest:
            found.append(rest.pop(0))
    return found + rest


def _unzip(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge unzip: listing, testing and printing are harmless."""
    text = " ".join(word.source for word in words)
    parsed = parse(rule, words[1:])
    # A second dash takes back the letters after it.
    back = any(re.match(r"-.*-", word.known) for word in words[1:])
    if parsed.has("-l", "-v", "-t", "-Z", "-p", "-c", "-z") and not back:
        yield Finding(text, CommandKind.READ_ONLY, "unzip lists or prints an archive")
    else:
        yield written(inquiry, text, "unzip", [parsed.value("-d") or literal(".")])


def _squeeze(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge gzip and similar programs, which replace files unless told to print, test or list."""
    text = " ".join(word.source for word in words)
    parsed = parse(rule, words[1:])
    prints = parsed.keeps("-c", "--stdout", "--to-stdout", "-l", "--list", "-t", "--test")
    if (prints or not parsed.operands) and not parsed.doubtful:
        yield from judge_words(inquiry, rule, words)
    else:
        yield written(inquiry, text, words[0].source, parsed.operands or [None])


def _keyed(lists: frozenset[str]) -> Check:
    """Return a check for archivers whose first word is the operation."""

    def check(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
        if len(words) > 1 and words[1].value in lists:
            text = " ".join(word.source for word in words)
            yield Finding(text, CommandKind.READ_ONLY, f"{words[0].source} lists an archive")
        else:
            yield from judge_words(inquiry, rule, words)

    return check


_LIST = rule(READ, "lists an archive")
_PACK = rule(MUTATE, "packs or unpacks", writes="-o")

ARCHIVES = table(
    {
        "tar gtar bsdtar": rule(
            READ,
            "handles archives",
            check=_tar,
            reads="-X -T --exclude-from --files-from",
            valued="-f -C -b -g -H -K -L -N -V --file --directory --exclude "
            "--strip-components --transform --owner --group --mode --format "
            "--checkpoint",
            known="-t -x -c -r -u -d -A --list --extract --get --create --append --update --diff "
            "--compare --delete --concatenate --checkpoint",
        ),
        "unzip": rule(READ, "handles archives", valued="-d -x -P", check=_unzip),
        "zipinfo lsar": _LIST,
        "zip 7za unrar unar": rule(MUTATE, "writes archives", runs="-TT --unzip-command -T --test"),
        "7z": rule(
            READ,
            "handles archives",
            runs="-o",
            subcommands={"l": _LIST, "t": _LIST, "a": _PACK, "x": _PACK, "e": _PACK},
        ),
        "jar": rule(MUTATE, "handles archives", check=_keyed(names("tf tvf -tf -tvf --list"))),
        "ar": rule(MUTATE, "handles archives", check=_keyed(names("t tv p -t -tv -p"))),
        "gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 lzma unlzma pigz": rule(
            READ,
            "prints, lists or tests",
            writes="-o",
            valued="-S --suffix -T --threads",
            check=_squeeze,
        ),
    }
)
