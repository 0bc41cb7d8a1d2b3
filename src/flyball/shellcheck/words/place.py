"""Judge paths by their spelling: secret, protected, outside. No file is looked at."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import NamedTuple

from flyball.shellcheck.words.names import names
from flyball.shellcheck.words.pattern import Pattern

SECRET_NAMES = names(
    ".ssh .gnupg .aws .azure .kube .netrc .pgpass .pypirc .git-credentials .password-store "
    ".vault-token .env .envrc .bash_history .zsh_history .python_history .my.cnf .htpasswd id_rsa "
    "id_dsa id_ecdsa id_ed25519 hosts.yml~gh master.key credentials.json service-account.json "
    "shadow~etc gshadow~etc shadow-~etc gshadow-~etc sudoers~etc sudoers.d~etc environ~proc "
    "mem~proc"
)
"""File and directory names that usually hold a secret; `name~parent` needs that parent."""

OPEN_VARIANTS = names("example sample template tmpl dist defaults")
"""`.env.example` and the like are documentation."""

DEVICES = names("/dev/null /dev/stdout /dev/stderr /dev/stdin /dev/tty /dev/zero /dev/full")
PROTECTED = frozenset((".git", ".flyball", "flyball.toml"))
TEMPORARY = "$TMPDIR"
WILD = Pattern(r"[*?\[]")


class Scope(NamedTuple):
    """Where a command stands: the workspace root, and the directory below it (None: not known)."""

    root: str = ""
    cwd: str | None = "."

    def entered(self, target: str | None) -> Scope:
        """The scope after `cd target`."""
        if target is None or self.cwd is None:
            return self._replace(cwd=None)
        # An earlier `cd` may have failed, so going up from anywhere but the start is a guess.
        if ".." in target.split("/") and self.cwd != ".":
            return self._replace(cwd=None)
        return self._replace(cwd=posixpath.normpath(posixpath.join(self.cwd, target)))

    @property
    def at_root(self) -> bool:
        """Whether the command still stands where it began."""
        return self.cwd is not None and (self.cwd == "." or self.cwd == self.root)


# The words of a command that programs hand on are asked about again for each of them.
@lru_cache(4_096)
def secret(path: str, *, hidden: bool = True) -> bool:
    """Whether a path (or pattern of one) names something that usually holds a secret.

    `hidden`: whether a wildcard at the beginning of a name matches a dot, as in most programs, but
    not in the shell. Case does not count: to many patterns and file systems it does not.
    """
    for whole in re.split(r"[:=\s(),'\"]", _simple(path.lower())):
        parts = [part for part in whole.split("/") if part not in ("", ".")]
        if any(_secret_name(name, parts[:i], hidden) for i, name in enumerate(parts)):
            return True
    return False


def aimed(pattern: str) -> bool:
    """Whether a pattern to look for files, a wildcard or a regular expression, finds a secret."""
    return secret(pattern) or secret(pattern.replace(".*", "*").replace("\\", ""))


def _simple(pattern: str) -> str:
    """A pattern with less clever wildcards, that match at least as much."""
    pattern = re.sub(r"\[[^]/]*(?:\[[:.=][^]/]*[:.=]\][^]/]*)+\]", "?", pattern)
    pattern = re.sub(r"[?*+@!]\([^)/]*\)", "*", pattern)
    return pattern.replace("[^", "[!")


def _secret_name(name: str, above: Sequence[str], hidden: bool) -> bool:
    if name.startswith(".env."):
        return name.rpartition(".")[2] not in OPEN_VARIANTS
    is_wild = bool(WILD.search(name))
    for known in SECRET_NAMES:
        plain, _, needs = known.partition("~")
        if needs and needs not in above and not (needs == "proc" and _is_process(above)):
            continue
        is_aimed = is_wild and _pointed(name, plain, hidden)
        if name == plain or (is_aimed and fnmatchcase(plain, name)):
            return True
    return False


def _pointed(name: str, plain: str, hidden: bool) -> bool:
    """A pattern with something literal to go by; `*` and `*.json` aim at nothing in particular."""
    if name[:2] == ".*":
        return False
    if not WILD.match(name):
        return True
    if plain.startswith(".") and not hidden:
        return False
    said = re.sub(r"\[[^]]*\]|[*?]", "", name)
    return 2 * len(said) >= len(plain) and not (name[:2] == "*." and said != plain)


def _is_process(above: Sequence[str]) -> bool:
    name = above[-1] if above else ""
    return name in ("self", "thread-self") or name.isdigit() or bool(WILD.search(name))


def device(path: str) -> bool:
    """Whether writing there changes no file."""
    return path in DEVICES or bool(re.fullmatch(r"/dev/fd/\d+", path))


def outside(path: str, scope: Scope) -> bool:
    """Whether a path leads out of the workspace, as far as its spelling tells."""
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


def protected(path: str) -> bool:
    """Whether a path leads into what only Flyball or git itself may write."""
    return any(part.lower() in PROTECTED for part in path.split("/"))


def write_objection(path: str | None, scope: Scope) -> str | None:
    """Why nothing may be written there, or None."""
    if path is None:
        return "writes to a path that is only known when it runs"
    if device(path):
        return None
    if outside(path, scope):
        return f"writes to {path}, which is outside the workspace"
    if protected(path):
        return f"writes to {path}, which is protected"
    return None
