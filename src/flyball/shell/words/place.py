"""Judge paths by their text: secret, protected, outside. No file is read."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import NamedTuple

from flyball.secret_files import holds_below, holds_secret, holds_settings, patterns, spelled
from flyball.shell.words.names import names
from flyball.shell.words.pattern import Pattern

DEVICES = names("/dev/null /dev/stdout /dev/stderr /dev/stdin /dev/tty /dev/zero /dev/full")
PROTECTED = frozenset((".git", ".flyball", "flyball.toml"))
TEMPORARY = "$TMPDIR"
WILD = Pattern(r"[*?\[]")


class Scope(NamedTuple):
    """The position of a command: the workspace root, and the directory below it (None: unknown)."""

    root: str = ""
    cwd: str | None = "."
    secrets: tuple[str, ...] = ()
    """What the user's settings call secrets, besides the table."""

    def entered(self, target: str | None) -> Scope:
        """Return the scope after `cd target`."""
        if target is None or self.cwd is None:
            return self._replace(cwd=None)
        # An earlier `cd` may have failed, so going up from anywhere but the start is a guess.
        if ".." in target.split("/") and self.cwd != ".":
            return self._replace(cwd=None)
        return self._replace(cwd=posixpath.normpath(posixpath.join(self.cwd, target)))

    @property
    def at_root(self) -> bool:
        """Return whether the command is still in its start directory."""
        return self.cwd is not None and (self.cwd == "." or self.cwd == self.root)


# The words of a command that programs hand on are asked about again for each of them.
@lru_cache(4_096)
def secret(path: str, *, hidden: bool = True) -> bool:
    """Return whether a path (or pattern) names something that usually contains a secret.

    `hidden`: whether a wildcard at the beginning of a name matches a dot, as in most programs, but
    not in the shell. Case is ignored, as by many patterns and file systems.
    """
    if path.count("[") > MAX_SETS:
        return True
    # In a text that is no path, the end of a word is hardly that of a file: `print(a.key)`.
    is_path = not _TEXT.search(path)
    # Each part once: a long word may repeat a short one thousands of times.
    for whole in dict.fromkeys(_BETWEEN.split(_simple(path.lower()))):
        if holds_secret(whole, shapes=is_path, settings=False) or (
            WILD.search(whole) and _aims(whole, hidden)
        ):
            return True
    return False


@lru_cache(4_096)
def settings(path: str) -> bool:
    """Return whether a path (or pattern) names settings that may contain secrets, or git's
    settings, whose addresses may contain a password."""
    if path.count("[") > MAX_SETS:
        return True
    return any(map(_is_settings, dict.fromkeys(_BETWEEN.split(_simple(path.lower())))))


def _in_tools_folder(parts: Sequence[str]) -> bool:
    """Return whether a path is in a folder of a home where a tool keeps its settings or logins.

    The table has an answer of its own for each file of the folders in it.
    """
    home, *below = parts or ("",)
    is_tools = home == "~" and len(below) > 1 and (below[0][0] == "." or below[0] == "library")
    return is_tools and not holds_secret(f"~/{below[0]}")


def _is_settings(path: str) -> bool:
    parts = spelled(path)
    if _in_tools_folder(parts) or _SERVERS.fullmatch("/".join(parts)):
        return True
    if not parts or parts[-1] in ("*", "**"):
        return parts[-2:-1] == (".git",)
    if holds_settings(parts) or (parts[-2:-1] == (".git",) and fnmatchcase("config", parts[-1])):
        return True
    return bool(len(parts[-1]) <= MAX_PATTERN and WILD.search(parts[-1])) and (
        _shaped_end(parts[-1], ("tfvars",))
        or any(
            fnmatchcase(name, parts[-1]) and _pointed(parts[-1], name, hidden=True)
            for name in ("secrets.yaml", "secrets.yml", "terraform.tfvars")
        )
    )


_SERVERS = Pattern(
    r"(.*/)?(redis|valkey|keydb|sentinel|mongod|rabbitmq|activemq|slapd|pgbouncer|odbc|grafana|"
    r"snmpd|mosquitto|mariadb|gitea|tomcat-users|hgrc)[\w.-]*\.(conf\w*|ini|xml|ya?ml)|"
    r"/etc/(?!(nginx|apache2|httpd|ssh|ssl|pki|ca-certificates|apt/(sources|preferences)|ld\.so|"
    r"profile\.d|pam\.d|skel|alternatives|modprobe\.d|udev|fonts|x11|xdg|dpkg|logrotate\.d|java)"
    r"[\w./-]*/)[^/]+/.+|/etc/(env.*|fstab|crontab|my\.cnf|npmrc|msmtprc|pip\.conf|nslcd\.conf|.*ldap.*)"
)
"""Settings of servers and of the machine, often with passwords."""
MAX_SETS = 100
MAX_PATTERN = 500
"""Brackets of a text, and characters of a pattern, that are compared with the table; beyond that it
may match anything.
"""


_BETWEEN = Pattern(r"[:=@\s(),'\"]")
_TEXT = Pattern(r"[(){};]")


def aimed(pattern: str) -> bool:
    """Return whether a pattern to look for files, a wildcard or a regular expression, finds a
    secret."""
    return secret(pattern) or secret(pattern.replace(".*", "*").replace("\\", ""))


def _simple(pattern: str) -> str:
    """Return a pattern with simpler wildcards that match at least as much."""
    pattern = re.sub(r"\[[^]/]*(?:\[[:.=][^]/]*[:.=]\][^]/]*)+\]", "?", pattern)
    pattern = re.sub(r"[?*+@!]\([^)/]*\)", "*", pattern)
    return pattern.replace("[^", "[!")


def _aims(path: str, hidden: bool) -> bool:
    """Return whether a path with wildcards matches a secret, and has a literal part."""
    if len(path) > MAX_PATTERN:
        return True
    parts = spelled(path)
    return any(
        _pointed(parts[at], names[-1], hidden) and _may_be(parts[: at + 1], names)
        for at in range(len(parts))
        if WILD.search(parts[at])
        for names in _rows_like(parts[at])
    ) or (bool(parts) and (_shaped_end(parts[-1], _ENDS) or _is_place(parts)))


def _is_place(parts: Sequence[str]) -> bool:
    """Return whether a pattern matches files in a folder of the table, secrets among them."""
    if not WILD.search(parts[-1]) or not ("" in parts or any(p[:1] == "." for p in parts)):
        return False
    rows = (names for names in patterns() if 1 < len(names) <= len(parts))
    return any(
        parts[-len(names)] == names[0]
        and (any(p[:1] == "." for p in parts[:-1]) or parts[: -len(names)] == ("",))
        and names[-1][0] not in ".*"
        and _may_be(parts, names)
        for names in rows
    )


@lru_cache(1)
def _rows() -> dict[str, list[tuple[str, ...]]]:
    """Return the patterns of the table by the first letter of their last name."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for row in patterns():
        found.setdefault(row[-1][0], []).append(row)
    return found


def _rows_like(name: str) -> list[tuple[str, ...]]:
    """Return the patterns of the table that a wildcard may match, by the beginning of both."""
    head = WILD.split(name)[0]
    if not head:
        said = len(re.sub(r"\[[^]]*\]|[*?]", "", name))
        return [row for rows in _rows().values() for row in rows if 2 * said >= len(row[-1])]
    begun = [*_rows().get(head[0], ()), *_rows().get("*", ()), *_rows().get("[", ())]
    return [row for row in begun if _begins(row[-1], head)]


def _begins(name: str, head: str) -> bool:
    literal = WILD.split(name)[0]
    return literal.startswith(head) or head.startswith(literal)


def _may_be(parts: Sequence[str], names: Sequence[str]) -> bool:
    """Return whether the last parts may be these names; a pattern in the table is compared
    literally."""
    found = parts[-len(names) :]
    if len(found) < len(names):
        return False
    return all(
        fnmatchcase(re.sub(r"\[.*?\]|\*", "_", name).rstrip("_") + "_" * ("*" in name), part)
        or fnmatchcase(part, name)
        for part, name in zip(found, names, strict=True)
    )


_ENDS = ("pem", "key", "p12", "pfx", "env", "jks")


def _shaped_end(name: str, ends: Sequence[str]) -> bool:
    """Return whether the text after the last dot of a pattern may be one of these: `*.p?m`."""
    _, dot, end = name.rpartition(".")
    if not dot or len(re.sub(r"\[[^]]*\]|[*?]", "", end)) < 2 or not WILD.search(end):
        return False
    return any(fnmatchcase(shape, end) for shape in ends)


def _pointed(name: str, plain: str, hidden: bool) -> bool:
    """Return a pattern with a literal part; `*` and `*.json` target no file in particular."""
    if name[:2] == ".*":
        return False
    if not WILD.match(name):
        return True
    if plain.startswith(".") and not hidden:
        return False
    said = re.sub(r"\[[^]]*\]|[*?]", "", name)
    return 2 * len(said) >= len(plain) and not (name[:2] == "*." and said != plain)


def device(path: str) -> bool:
    """Return whether writing there changes no file."""
    return path in DEVICES or bool(re.fullmatch(r"/dev/fd/\d+", path))


def outside(path: str, scope: Scope) -> bool:
    """Return whether a path leads out of the workspace, as far as its text shows."""
    if path == TEMPORARY or path.startswith(TEMPORARY + "/"):
        return ".." in path.split("/")
    if path.startswith("~") or scope.cwd is None:
        return True
    if scope.cwd != "." and ".." in path.split("/"):
        return True
    whole = posixpath.normpath(posixpath.join(scope.cwd, path))
    if whole.startswith("/"):
        root = scope.root.rstrip("/")
        return not root or not (whole == root or whole.startswith(root + "/"))
    return whole == ".." or whole.startswith("../")


_SYSTEM = names("usr lib lib32 lib64 bin sbin sys proc dev etc tmp boot nix snap")


def _is_below_here(path: str) -> bool:
    """Return whether a path can only be below the command's directory."""
    return not path.startswith(("/", "~")) and ".." not in path.split("/")


def belongs_to_others(path: str, scope: Scope) -> bool:
    """Return whether a path leads out of the workspace, other than to the system's own files."""
    if scope.cwd is None and _is_below_here(path):
        return False
    parts = spelled(_whole(path, scope))
    common = parts[:1] == ("",) and (
        not _SYSTEM.isdisjoint(parts[1:2]) or parts[1:3] == ("var", "log")
    )
    return outside(path, scope) and not common


def _whole(path: str, scope: Scope) -> str:
    start = "" if path.startswith("~") else posixpath.join(scope.root, scope.cwd or "~")
    return posixpath.normpath(posixpath.join(start, path))


def reaches_others(path: str, scope: Scope, *, hidden: bool = True) -> bool:
    """Return whether the files below a folder, or those a pattern matches, may be secrets outside
    the workspace.

    That is so anywhere outside, except for the system's own folders without such files.
    """
    below = path.removesuffix("/**")
    return holds_below(_whole(below, scope), hidden=hidden) or (
        hidden and belongs_to_others(below, scope)
    )


@lru_cache(1)
def _secret_names() -> tuple[str, ...]:
    """Return an example for each name of the table that a secret may have in any folder."""
    single = (row[0] for row in patterns() if len(row) == 1)
    named = (re.sub(r"\[.(.).*?\]", r"\1", name).replace("*", "x") for name in single)
    return (*named, *(f"x.{end}" for end in _ENDS))


def selects_secret(pattern: str) -> bool:
    """Return whether files that the shell finds for a pattern may be secrets."""
    last = _simple(pattern.lower()).rpartition("/")[2]
    return any(
        fnmatchcase(name, last) for name in _secret_names() if name[0] != "." or last[:1] == "."
    )


def protected(path: str) -> bool:
    """Return whether a path leads to files that only Flyball or git itself may write."""
    return any(part.lower() in PROTECTED for part in path.split("/"))


_SCRATCH = Pattern(r"/(tmp|var/tmp|dev/shm)/[^/]")


def is_scratch(path: str) -> bool:
    """Return whether a path is for temporary files.

    In the sandbox such directories are private to the command.
    """
    return bool(_SCRATCH.match(path)) and ".." not in path.split("/")


UNKNOWN_PATH = "writes to a path that is only known when it runs"


def write_objection(path: str | None, scope: Scope) -> str | None:
    """Return why nothing may be written there, or None."""
    if path is None or (scope.cwd is None and _is_below_here(path)):
        return UNKNOWN_PATH
    if device(path) or is_scratch(path):
        return None
    if outside(path, scope):
        return f"writes to {path}, which is outside the workspace"
    if protected(path):
        return f"writes to {path}, which is protected"
    return None
