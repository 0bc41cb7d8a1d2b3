"""The names that a substitution or pipeline may print, as far as its first command shows."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence

from flyball.secret_files import holds_secret, patterns
from flyball.shell.words.names import names
from flyball.shell.words.pattern import Pattern
from flyball.shell.words.place import aimed

ANY = ("*",)
"""Nothing is known: it may be any name."""
_NAMELESS = ("listed",)
"""Some name that is shown to everybody: tracked by git, or neither hidden nor ignored."""

_HERE = ("./*",)
"""Some name below the command's directory."""
_AWAY = Pattern(r"~|/|\.\.(/|$)|$")

_NARROWS = Pattern(
    r"(head|tail|sort|uniq|shuf|tac|column|e?grep(?!.* -\w*o)|sed -n '?\d+(,\d+)?p'?|"
    r"tr ['\"]?\\\\n['\"]? ['\"]? ?['\"]?|cat -?)(?![\w-])[^`$]*"
)
"""Filters that print some of the lines they get, and no others."""


def narrows(text: str) -> bool:
    """Return whether a command only drops lines of its input, and does not select names of
    secrets."""
    return bool(_NARROWS.fullmatch(text.strip())) and (
        bool(_LEAVES_OUT.match(text)) or not _picks(text)
    )


_LEAVES_OUT = Pattern(r"\s*e?grep (-\w+ )*-\w*v")


def _picks(pattern: str) -> bool:
    """Return whether a part of a searched name is that of a secret: `env`, `tfvars$`."""
    parts = (part.strip(".") for part in re.findall(r"[\w.-]+", pattern.replace("\\", "")))
    return any(
        holds_secret(shape.format(part)) for part in parts for shape in ("{}", ".{}", "x.{}")
    )


def listed_names(words: Sequence[str]) -> tuple[str, ...]:
    """Return the possible names that a program prints, with `*` for gaps."""
    reader = _LISTERS.get(words[0].rpartition("/")[2]) if words else None
    return (reader(words[1:]) or ANY) if reader else ANY


def _git(words: Sequence[str]) -> tuple[str, ...]:
    verb = next((word for word in words if not word.startswith("-")), "")
    rest = set(words)
    lists = verb == "ls-files" and not rest & {"-o", "--others", "-i", "--ignored"}
    names_only = bool(rest & {"--name-only", "-l", "--files-with-matches"})
    place = verb == "rev-parse" and not any(word.startswith(".") for word in words)
    return _NAMELESS if lists or place or (names_only and verb in _GIT_NAMES) else ANY


_GIT_NAMES = names("diff show log grep diff-tree whatchanged ls-tree")


def _find(words: Sequence[str]) -> tuple[str, ...]:
    starts = [*itertools.takewhile(_is_start, words)]
    if any(map(_AWAY.match, starts)):
        # In a home a plain name may be that of a secret: `~/.aws/credentials`.
        return tuple(f"{start}/**" if start else "*" for start in starts)
    pairs = zip(["", *words], words, words[1:], strict=False)
    wanted = [
        pattern
        for before, test, pattern in pairs
        if test in ("-name", "-iname") and before not in ("!", "-not")
    ]
    if not wanted or ("-o" in words and len(wanted) < 2):
        return _HERE
    return tuple(w.replace("?", "*") for w in wanted)


def _is_start(word: str) -> bool:
    """Return whether a word of `find` is a starting point rather than a test."""
    return not word.startswith(("-D", "-O")) and word[:1] not in ("-", "(", "!")


def _ls(words: Sequence[str]) -> tuple[str, ...]:
    given = [word for word in words if not word.startswith("-")]
    # A folder is listed by its contents, whose names nobody knows.
    if given and all(re.search(r"[*?]|\.\w+$", each) for each in given):
        return tuple(given)
    return () if any(map(_AWAY.match, given)) else _HERE


def _visible(words: Sequence[str]) -> tuple[str, ...]:
    shows = any(re.match(r"-\w*[uH.]|--hidden|--no-ignore|--unrestricted", word) for word in words)
    aims = any(aimed(word) or _picks(word) for word in words)
    return () if shows or aims or _is_away(words) else _NAMELESS


def _is_away(words: Sequence[str]) -> bool:
    """Return whether a search goes through a place that is given by its path, or not known."""
    given = [word for word in words if not word.startswith("-")]
    return any(map(_AWAY.match, given[1:]))


def _rg(words: Sequence[str]) -> tuple[str, ...]:
    lists = {"-l", "--files", "--files-with-matches", "-lc"} & {*words}
    lists = lists or any(re.fullmatch(r"-\w*l\w*", word) for word in words)
    return _visible(words) if lists else ()


def _grep(words: Sequence[str]) -> tuple[str, ...]:
    lists = any(re.fullmatch(r"-\w*[lL]\w*|--files-with(out)?-match(es)?", word) for word in words)
    included = [word.partition("=")[2] for word in words if word.startswith("--include=")]
    return (tuple(included) or _HERE) if lists and not _is_away(words) else ()


def _same(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(word or "*" for word in words if not word.startswith("-"))


def _resolved(words: Sequence[str]) -> tuple[str, ...]:
    """Return the names as they are, and any other to which a link may lead."""
    return (*_same(words), "*")


def _basename(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(word.rstrip("/").rpartition("/")[2] for word in _same(words))


def _dirname(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(word.rpartition("/")[0] or ("*" if "*" in word else ".") for word in _same(words))


def _date(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(re.sub(r"%-?[A-Za-z]", "0", w[1:]) for w in words if w.startswith("+")) or ("0",)


def _prints_place(*said: str) -> Callable[[Sequence[str]], tuple[str, ...]]:
    """Return a program that prints the location of something other than a user's file."""
    return lambda words: _NAMELESS if not said or set(words) & set(said) else ()


_LISTERS: dict[str, Callable[[Sequence[str]], tuple[str, ...]]] = {
    "git": _git,
    "find": _find,
    "gfind": _find,
    "ls": _ls,
    "rg": _rg,
    "ag": _rg,
    "ack": _rg,
    "fd": _visible,
    "fdfind": _visible,
    "grep": _grep,
    "egrep": _grep,
    "realpath": _resolved,
    "readlink": _resolved,
    "basename": _basename,
    "dirname": _dirname,
    "date": _date,
    "which": _prints_place(),
    "pwd": _prints_place(),
    "nproc": _prints_place(),
    "wc": _prints_place(),
    "hostname": _prints_place(),
    "whoami": _prints_place(),
    "uname": _prints_place(),
    "mktemp": _prints_place(),
    "command": _prints_place("-v"),
    "type": _prints_place("-P", "-p"),
    "npm": _prints_place("root", "prefix", "bin"),
    "yarn": _prints_place("bin"),
    "pnpm": _prints_place("root", "bin"),
    "go": _prints_place("GOPATH", "GOROOT", "GOMODCACHE", "GOCACHE", "GOBIN"),
    "brew": _prints_place("--prefix", "--cellar"),
    "rustc": _prints_place("sysroot", "--print=sysroot"),
    "python-config": _prints_place(),
    "llvm-config": _prints_place(),
}


def may_be_secret(text: str) -> bool:
    """Return whether a path with gaps could turn out to be a secret's."""
    if "*" not in text:
        return False
    last = text.rstrip("/").rpartition("/")[2]
    if "*" not in last:
        return any(len(row) > 1 and row[-1] == last.lower() for row in patterns())
    end = last.rpartition(".")[2]
    if "." in last and end and not re.search(r"[*?\[]", end):
        return holds_secret(f"x.{end}")
    head = last.partition("*")[0].lower()
    return len(head) < 3 or any(row[-1].startswith(head) for row in patterns())
