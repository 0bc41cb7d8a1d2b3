"""find: a search, and its actions on the results."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence

from flyball.shell.judgement import CommandKind, Finding
from flyball.shell.rule import Inquiry, Rule, secret_finding, written
from flyball.shell.words.listing import listed_names
from flyball.shell.words.names import names
from flyball.shell.words.place import aimed, secret
from flyball.shell.words.word import Word, opaque

_RUNS = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
_PATTERNS = names(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -samefile"
)
_NAMING = names("ls stat du echo basename dirname realpath readlink")
"""Programs that show only a file's name."""
_WRITES = frozenset(("-fprint", "-fprint0", "-fls", "-fprintf"))
_TESTS = names(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -type -xtype -size -mtime "
    "-atime -ctime -mmin -amin -cmin -newer -anewer -cnewer -newermt -newerct -newerat -maxdepth "
    "-mindepth -perm -user -group -uid -gid -links -inum -samefile -lname -ilname -fstype -printf "
    "-regextype -used -context -D"
)
_FLAGS = names(
    "-print -print0 -ls -empty -readable -writable -executable -prune -quit -not -a -and -o -or "
    "-depth -d -daystart -follow -mount -xdev -noleaf -nouser -nogroup -true -false -warn -nowarn "
    "-L -H -P -E -ignore_readdir_race -noignore_readdir_race -O0 -O1 -O2 -O3 ( ) ! , -X -s -x -f "
    "-version --version -help --help"
)


def check(inquiry: Inquiry, _rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge find: every word of the expression must be known; actions are judged by their
    effect."""
    text = " ".join(word.source for word in words)
    rest = list(words[1:])
    found = 0
    while rest:
        word = rest.pop(0)
        name = word.value
        # The name of a device tells nothing, and one with a slash is no action.
        if secret(word.known) and not word.known.startswith("/dev/"):
            yield secret_finding(text, word.source)
            return
        if word.may_be_option and not (word.glob and "/" in word.known):
            yield Finding(text, CommandKind.UNKNOWN, f"{word.source} may become an action of find")
            return
        if word.known.startswith("+"):
            yield Finding(text, CommandKind.UNKNOWN, f"{word.source} may become a shell's option")
            return
        if name is None or not (name.startswith("-") or name in _FLAGS):
            continue
        if name in _RUNS:
            inner, many = _taken(rest)
            found += 1
            if (hidden := _aim(words)) and not (inner and inner[0].value in _NAMING):
                yield secret_finding(text, hidden)
            names = listed_names([w.known for w in words])
            yield from _executed(inquiry, text, inner, many=many, names=names)
        elif name == "-delete":
            found += 1
            yield Finding(text, CommandKind.DESTRUCTIVE, "find -delete deletes what it finds")
        elif name in _WRITES:
            found += 1
            yield written(inquiry, text, f"find {name}", rest[:1] or [None])
            rest = rest[2 if name == "-fprintf" else 1 :]
        elif name in _TESTS or name.startswith("-newer"):
            rest = rest[1:]
        elif name not in _FLAGS:
            yield Finding(text, CommandKind.UNKNOWN, f"find {name} is not a known test or action")
            return
    if not found:
        yield Finding(text, CommandKind.READ_ONLY, "find only lists")


def _is_start(word: Word) -> bool:
    return word.value in ("-L", "-H", "-P") or not re.match(r"[-(!]", word.known)


def _aim(words: Sequence[Word]) -> str | None:
    """Return the first searched name, below the starting points, that is a secret's."""
    starts = [word.known for word in itertools.takewhile(_is_start, words[1:])]
    for before, test, pattern in zip(words, words[1:], words[2:], strict=False):
        wanted = test.value in _PATTERNS and before.value not in ("!", "-not")
        if wanted and any(aimed(f"{start}/{pattern.known}") for start in ("", *starts)):
            return pattern.source
    return None


def _taken(rest: list[Word]) -> tuple[list[Word], bool]:
    """Return the words up to the end of an action, and whether it gets several names at once."""
    inner: list[Word] = []
    while rest:
        word = rest.pop(0)
        many = word.value == "+" and bool(inner) and inner[-1].value == "{}"
        if many or word.value == ";":
            return inner, many
        inner.append(word)
    return inner, False


def _executed(
    inquiry: Inquiry, text: str, inner: list[Word], *, many: bool, names: Sequence[str]
) -> Iterable[Finding]:
    if not inner or "{}" in inner[0].known:
        yield Finding(text, CommandKind.UNKNOWN, "find runs what it finds")
    else:
        yield from inquiry.command([_filled(word, names, many=many) for word in inner])


def _filled(word: Word, names: Sequence[str], *, many: bool) -> Word:
    """Return the word with the found name in it, which begins with the starting point, never a
    dash."""
    if "{}" not in word.known:
        return word
    head = word.known.partition("{}")[0]
    found = opaque(word.source, head=head, tame=True, splits=False)
    return found._replace(glob=many, likely=" ".join(f"{head}{name}" for name in names))
