"""Programs that change files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from flyball.shell.judgement import CommandKind, Finding
from flyball.shell.programs import find
from flyball.shell.rows import DESTROY, MUTATE, READ, UNKNOWN, rule, table
from flyball.shell.rule import (
    Inquiry,
    Operands,
    Rule,
    judge_words,
    parse,
    secret_among,
    secret_finding,
    written,
)
from flyball.shell.words.names import names
from flyball.shell.words.pattern import Pattern
from flyball.shell.words.place import WILD, device
from flyball.shell.words.word import Word, literal

_OUTPUT = Pattern(
    r"(dist|build|out|target|node_modules|coverage|htmlcov|__pycache__|\.[a-z]+_cache|\.next|\.nuxt|"
    r"\.tox|\.nox|\.venv|venv|\.turbo|\.parcel-cache|\.cache|\.coverage|[\w.-]+\.egg-info|tmp|\.output|"
    r"\.svelte-kit|bin|obj|_build|site|cmake-build-\w+|\.gradle)"
)
"""Names of directories that a build makes and can make again."""


def _rm(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge rm: named files and build output may be deleted; whole trees and patterns need a
    person."""
    text = " ".join(word.source for word in words)
    parsed = parse(rule, words[1:])
    found = written(inquiry, text, "rm", parsed.operands or [None])
    deep = parsed.has("-r", "-R", "--recursive", "-d", "--dir")
    if found.veto:
        yield found._replace(kind=CommandKind.DESTRUCTIVE)
    elif any(_is_whole(w) for w in parsed.operands):
        yield Finding(
            text, CommandKind.DESTRUCTIVE, "rm would delete the workspace itself", veto=True
        )
    elif deep and not all(_is_output(w) for w in parsed.operands):
        yield Finding(text, CommandKind.DESTRUCTIVE, "rm deletes a whole directory")
    elif any(w.glob for w in parsed.operands):
        yield Finding(text, CommandKind.DESTRUCTIVE, "rm deletes whatever matches")
    else:
        yield found._replace(reason=found.reason.replace("writes", "deletes"), scratch=False)


def _is_whole(word: Word) -> bool:
    return (word.value or "").rstrip("/") in ("", ".", "..", "*", "./*", ".*")


def _is_output(word: Word) -> bool:
    parts = [n for n in (word.value or "").split("/") if n not in ("", ".")]
    return bool(parts) and bool(_OUTPUT.fullmatch(parts[-1])) and not WILD.search(parts[-1])


def _below(target: Word) -> Word:
    """Return where a copy to a directory for temporary files will be."""
    is_temporary = (target.value or "").rstrip("/") in ("/tmp", "/var/tmp", "/dev/shm")
    return literal(f"{target.known.rstrip('/')}/copy") if is_temporary else target


def _cp(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge copies: sources are read, the last operand or `-t` is written."""
    text = " ".join(word.source for word in words)
    parsed = parse(rule, words[1:])
    into = parsed.value("-t", "--target-directory")
    targets = [*map(_below, [into] if into else parsed.operands[-1:])]
    sources = parsed.operands if into else parsed.operands[:-1]
    if hidden := secret_among(sources):
        yield secret_finding(text, hidden)
    else:
        yield written(inquiry, text, words[0].source, targets or [None])


def _all(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge moves and links: every operand must be inside."""
    text = " ".join(word.source for word in words)
    parsed = parse(rule, words[1:])
    into = parsed.value("-t", "--target-directory")
    given = [*parsed.operands, *([into] if into else [])]
    yield written(inquiry, text, words[0].source, [*given[:-1], *map(_below, given[-1:])])


def _after_first(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge chmod and similar programs: a mode, then the files."""
    text = " ".join(word.source for word in words)
    operands = parse(rule, words[1:]).operands
    targets = operands if any(f.known.startswith("--ref") for f in words) else operands[1:]
    found = written(inquiry, text, words[0].source, targets or [None])
    odd = operands and re.search(r"[ugoa]*[+=][rwxX]*s|^[2467]\d{3}$", operands[0].known)
    if odd:
        yield Finding(
            text, CommandKind.DESTRUCTIVE, f"{words[0].source} gives a file another's rights"
        )
    else:
        yield found


def _dd(inquiry: Inquiry, _rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge dd, which writes where `of=` says, and prints otherwise."""
    text = " ".join(word.source for word in words)
    given = [word.known.partition("=") for word in words[1:]]
    targets = [literal(value) for name, _, value in given if name == "of"]
    if any(word.value is None for word in words):
        yield Finding(text, CommandKind.UNKNOWN, "what dd copies is only known when it runs")
    elif hidden := secret_among(words[1:]):
        yield secret_finding(text, hidden)
    elif targets:
        yield written(inquiry, text, "dd", targets)
    else:
        yield Finding(text, CommandKind.READ_ONLY, "dd only copies to its output")


def _rsync(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge rsync: a trial copies nothing; another machine, or a copy, is a person's choice."""
    general = judge_words(inquiry, rule, words)[0]
    operands = parse(rule, words[1:]).operands
    if general.kind is not CommandKind.READ_ONLY or general.veto:
        yield general
    elif hidden := secret_among(operands):
        yield secret_finding(general.text, hidden)
    elif any(w.value is None or ":" in w.value for w in operands):
        yield general._replace(kind=CommandKind.DESTRUCTIVE, reason="rsync reaches another machine")
    else:
        yield general


_REMOTE = Pattern(r"([\w.-]+:)?[\w./@ -]*")
_LISTS = names(
    "ls lsd lsl lsf lsjson size tree about version listremotes md5sum sha1sum hashsum help"
)


def _rclone(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge rclone: listing contacts a remote; an address with options can name a program to
    run."""
    general = judge_words(inquiry, rule, words)[0]
    operands = parse(rule, words[1:]).operands
    plain = all(w.value is not None and _REMOTE.fullmatch(w.value) for w in operands)
    listing = bool(operands) and operands[0].value in _LISTS
    if general.kind is CommandKind.DESTRUCTIVE and not general.veto and plain and listing:
        yield general._replace(kind=CommandKind.READ_ONLY, reason="rclone only lists")
    else:
        yield general


def _mv(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge mv: moving a file onto a device deletes it."""
    operands = parse(rule, words[1:]).operands
    for found in _all(inquiry, rule, words):
        if operands and device(operands[-1].value or ""):
            reason = f"{words[0].source} throws {operands[0].source} away"
            yield found._replace(kind=CommandKind.DESTRUCTIVE, reason=reason)
        else:
            yield found


WRITE = Operands.WRITE
FILES = table(
    {
        "find gfind": rule(READ, "finds", check=find.check),
        "touch": rule(MUTATE, "writes", operands=WRITE, valued="-d -t -r --date --reference"),
        "mkdir": rule(MUTATE, "writes", operands=WRITE, valued="-m --mode"),
        "rmdir mkfifo unlink": rule(MUTATE, "writes", operands=WRITE, valued="-m --mode"),
        "truncate": rule(
            DESTROY, "cuts files off", operands=WRITE, valued="-s --size -r --reference"
        ),
        "dos2unix unix2dos": rule(MUTATE, "writes", operands=WRITE),
        "shred": rule(DESTROY, "destroys", operands=WRITE, valued="-n -s"),
        "rm": rule(MUTATE, "deletes", check=_rm),
        "cp install": rule(
            MUTATE, "copies", valued="-t --target-directory -S --suffix -m -o -g", check=_cp
        ),
        "mv": rule(MUTATE, "moves", valued="-t --target-directory -S --suffix", check=_mv),
        "ln link": rule(MUTATE, "links", valued="-t --target-directory -S --suffix", check=_all),
        "chmod chown chgrp chattr setfacl": rule(MUTATE, "changes rights", check=_after_first),
        "dd": rule(READ, "copies", check=_dd),
        "split csplit": rule(MUTATE, "writes pieces", runs="--filter", valued="-l -b -n -a -C -d"),
        "patch": rule(
            MUTATE,
            "changes files",
            spares="--dry-run -C --check",
            runs="-e --ed",
            writes="-o --output -r --reject-file",
            valued="-p -i -d -F --input --strip",
        ),
        "strip ctags etags rename mogrify convert": rule(MUTATE, "changes files", operands=WRITE),
        "rsync": rule(
            DESTROY,
            "copies between places",
            check=_rsync,
            spares="-n --dry-run --list-only",
            runs="-e --rsh --rsync-path --daemon -M --remote-option --early-input",
            writes="--log-file --write-batch --only-write-batch",
            valued="-f --filter --exclude --include --exclude-from --include-from --files-from "
            "--max-size --min-size --bwlimit --compare-dest --out-format -B --block-size --timeout",
            known="--delete --delete-after --delete-before --delete-during --delete-excluded "
            "--dirs --devices --exclude --include --filter --relative --recursive --rsh --links",
        ),
        "rclone": rule(
            DESTROY,
            "copies between places",
            check=_rclone,
            runs="--config --password-command --metadata-mapper --sftp-ssh --rc --rc-addr "
            "--webdav-bearer-token-command --http-proxy --bearer-token-command",
            writes="--log-file -o --output",
            valued="--max-depth --include --exclude --filter --format -F --separator -s",
            known="--recursive -R --human-readable --hash --files-only --dirs-only --csv",
        ),
        "scp sftp": rule(DESTROY, "copies between places"),
        "mknod": rule(UNKNOWN, "makes a device"),
    }
)
