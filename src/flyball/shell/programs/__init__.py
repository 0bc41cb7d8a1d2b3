"""The tables of all known programs, and the lookup of a rule by name."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from flyball.secret_files import is_secret_variable
from flyball.shell.judgement import CommandKind
from flyball.shell.programs.archive import ARCHIVES
from flyball.shell.programs.builtin import BUILTINS
from flyball.shell.programs.checker import CHECKERS
from flyball.shell.programs.cloud import CLOUDS
from flyball.shell.programs.container import CONTAINERS
from flyball.shell.programs.database import DATABASES
from flyball.shell.programs.file import FILES
from flyball.shell.programs.git import GITS
from flyball.shell.programs.interpreter import INTERPRETERS
from flyball.shell.programs.network import NETWORKS, stays_here
from flyball.shell.programs.package import PACKAGES
from flyball.shell.programs.project import PROJECTS
from flyball.shell.programs.system import SYSTEMS
from flyball.shell.programs.text import TEXTS
from flyball.shell.programs.toolchain import TOOLCHAINS
from flyball.shell.programs.wrapper import WRAPPERS
from flyball.shell.rule import Operands, Rule, parse
from flyball.shell.words.names import names
from flyball.shell.words.pattern import Pattern
from flyball.shell.words.place import (
    Scope,
    belongs_to_others,
    outside,
    reaches_others,
    selects_secret,
    settings,
)
from flyball.shell.words.variable import may_hold_login
from flyball.shell.words.word import Word, literal

PROGRAMS: dict[str, Rule] = {
    **INTERPRETERS,
    **CHECKERS,
    **PROJECTS,
    **PACKAGES,
    **TOOLCHAINS,
    **CONTAINERS,
    **CLOUDS,
    **DATABASES,
    **NETWORKS,
    **GITS,
    **ARCHIVES,
    **FILES,
    **SYSTEMS,
    **TEXTS,
    **BUILTINS,
    **WRAPPERS,
}

SYSTEM_DIRS = names(
    "/bin /usr/bin /usr/local/bin /sbin /usr/sbin /opt/homebrew/bin /usr/local/sbin"
)
_TOOL_DIRS = Pattern(r"(\./)?([\w.@-]+/)*(node_modules/\.bin|\.?venv\w*/bin|env/bin|vendor/bin)")
_LAUNCHERS = frozenset(("gradlew", "mvnw"))


_PROJECT = Pattern(
    r"(python|pypy)[\d.]*|node|nodejs|deno|bun|ruby|php|perl|java|tsx|ts-node|lua|elixir|sh|bash|dash|"
    r"rails|rake|flask|django-admin|alembic|knex|sequelize|typeorm|prisma|flyway|liquibase|mix|artisan|npx|uvx"
)


def runs_project(name: str) -> bool:
    """Return whether a name is a program of the project, or one that runs such programs."""
    return "/" in name or bool(_PROJECT.fullmatch(name))


_AWAY = {
    **dict.fromkeys(
        [
            *NETWORKS,
            *CLOUDS,
            *names(
                "gh glab hub kubectl k oc helm terraform tofu twine ssh scp sftp rsync rclone "
                "mosh sudo su doas pkexec runuser setpriv gosu"
            ),
        ],
        frozenset[str](),
    ),
    "openssl": names("s_client s_server s_time"),
    "git": names("push fetch pull clone remote ls-remote submodule send-email svn p4"),
    **dict.fromkeys(
        names("docker podman nerdctl docker-compose"), names("push pull login search run")
    ),
    **dict.fromkeys(
        names("npm pnpm yarn bun cargo gem poetry uv hatch"),
        names("publish push login owner yank dlx unpublish deprecate access token"),
    ),
}
"""Programs that reach other machines, or take other rights, with the subcommands that do so."""


def reaches_out(words: Sequence[Word]) -> bool:
    """Return whether a command contacts another machine or takes other privileges, other than for
    reading."""
    if stays_here(words):
        return False
    program = posixpath.basename(words[0].known)
    verbs = _AWAY.get(program)
    verb = next((w.known for w in words[1:] if not w.known.startswith("-")), "")
    if program in DATABASES:
        return any(map(_names_host, words[1:], words[2:])) or any(
            map(_ELSEWHERE.search, _known(words))
        )
    if program not in PROGRAMS:
        return program in _RELEASERS or verb.partition(":")[0] in _SENDING
    return verbs is not None and (not verbs or verb in verbs)


def _known(words: Sequence[Word]) -> list[str]:
    return [word.known for word in words[1:]]


def _names_host(flag: Word, host: Word) -> bool:
    is_here = _HERE.fullmatch(host.known) is not None
    return flag.known in ("-h", "--host", "-H") and not is_here


_SENDING = names("deploy publish release upload promote rollback destroy unpublish submit")
"""Verbs of programs that are not known here, by which something leaves the machine."""
_RELEASERS = names("semantic-release release-it np surge gh-pages ansible-playbook")
_HERE = Pattern(r"localhost|127\.[\d.]+|::1|/.*|\$.*|")
_ELSEWHERE = Pattern(
    r"^--host=(?!localhost|127\.|/)|\bhost=(?!localhost|127\.|/)"
    r"|^\w[\w+]*://(?:[^/@]*@)?(?!localhost|127\.|\[::1\]|/)"
)
"""A database on another machine, in a flag, a connection string or an address."""

SAYING = names("echo printf git gh : true false export")
"""Programs that print their words as text, whatever they begin with."""
_NAMING = SAYING | names(
    "cd chdir pushd popd test [ [[ touch mkdir rm rmdir unlink chmod chown chgrp mv cp install "
    "find tee sponge sed gsed awk gawk mawk nawk jq yq make gmake just task rake alias type which "
    "command hash basename dirname read set shopt source . ls fd fdfind locate tree seq expr "
    "perl ruby node nodejs php"
)
"""Programs that only list names, or whose own rule separates names from contents."""
_COUNTING = names(
    "wc md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum shasum md5 tokei "
    "scc cloc sloccount ssh-keygen"
)
"""Programs that show the size of a file, and not its contents."""
_SEARCHING = names("grep egrep fgrep zgrep zegrep zfgrep rg ag ack")
_ALL = Pattern(r"|\^|\.|\.[*+]|\^?\.\*\$?|=|\$|\[\^?.{0,3}\][*+]?|\\S|\\w|\(\)")
"""Patterns that match every line."""


def reads_its_words(name: str, rule: Rule | None) -> bool:
    """Return whether no word of this program may contain the name of a secret."""
    base = posixpath.basename(name)
    if base in _NAMING or base in WRAPPERS or base in _SEARCHING:
        return False
    return rule is None or rule.operands is not Operands.NAMES


def shows_contents(name: str, rule: Rule | None) -> bool:
    """Return whether a program shows the contents of files given by name."""
    base = posixpath.basename(name)
    if rule is None or rule.subcommands or base in _COUNTING or base in WRAPPERS:
        return False
    if base in _SHOWING or base in _SEARCHING:
        return True
    return base not in _NAMING and rule.operands in (Operands.READ, Operands.SECOND)


_SHOWING = names("sed gsed awk gawk mawk nawk jq yq sqlite3")


_HAS_LANGUAGE = Pattern(r"jq|yq|[gmn]?awk|python[\d.]*|pypy3?|node(js)?|ruby|perl|php")
_ENVIRONMENT = Pattern(
    r"(?:\bENVIRON\b|\$?\bENV\b|\benviron\b|\bprocess\.env\b|(?<![\w.$\"'{])env\b(?=[.\[]|\s*(?:\||$)))"
    r"(?:(?:\.get\(|[.\[({]+)[\"']?(?P<key>[A-Za-z_]\w*))?"
    r"|\b(?:str)?env\((?P<name>\w*)|\bgetenvb?\(\s*[\"']?(?P<got>\w*)|\benvsubst\b"
)
"""Where a program given as text asks for variables, and for which, in the languages above."""


def shows_environment(name: str, words: Iterable[Word]) -> bool:
    """Return whether a program's text reads the environment, or anything in it that may be a
    secret."""
    if not _HAS_LANGUAGE.fullmatch(posixpath.basename(name)):
        return False
    asked = [match for word in words for match in _ENVIRONMENT.every(word.known)]
    keys = [match["key"] or match["name"] or match["got"] for match in asked]
    return any(not key or may_hold_login(key) for key in keys)


_GIT_SHOWS = names("show diff log grep blame annotate cat-file whatchanged diff-tree stash")


def settings_shown(name: str, rule: Rule | None, words: Sequence[Word]) -> str | None:
    """Return the first settings file, which often has secrets, whose contents a program shows."""
    shows = shows_contents(name, rule) or (
        posixpath.basename(name) == "git" and any(word.value in _GIT_SHOWS for word in words)
    )
    if not shows:
        return None
    named = (w.source for w in words if any(map(settings, (w.known, *w.likely.split()))))
    return next(named, None)


def searches(name: str, rule: Rule | None) -> bool:
    """Return whether a program shows only matching lines of its files."""
    return posixpath.basename(name) in _SEARCHING and rule is not None


_NO_LINES = Pattern(r"-[clq]|--(count|quiet|files-with(out)?-match(es)?)")
_GREPS_NONE = Pattern(r"-(?=\w*[clLq])[acEFGHhiIlLnqrRsvwxzZ]+")


def _shows_lines(name: str, words: Sequence[Word]) -> bool:
    """Return whether a search shows lines, and not only names of files or how many lines match."""
    is_grep = posixpath.basename(name).endswith("grep")
    found = (
        _NO_LINES.fullmatch(w.known) or (is_grep and _GREPS_NONE.fullmatch(w.known)) for w in words
    )
    return not any(found)


def matches_all(name: str, words: Sequence[Word]) -> bool:
    """Return whether a search shows every line."""
    if not _shows_lines(name, words):
        return False
    patterns = [word.value for word in _looked_for(words) if word.value is not None]
    return any(map(_ALL.fullmatch, patterns)) or any(w.value == "--regexp=" for w in words)


def _looked_for(words: Sequence[Word]) -> list[Word]:
    """Return the expressions of a search: the argument of each `-e`, or else the first operand."""
    given = [after for word, after in pairwise(words) if word.value in ("-e", "--regexp")]
    return given or [word for word in words if not word.known.startswith("-")][:1]


_DEEP = {
    **dict.fromkeys(
        names("grep egrep fgrep zgrep rgrep"),
        Pattern(r"-\w*[rR]\w*|--(rec|der)[\w-]*=?|(-d|--d[\w-]*=)?rec(u|ur|urs|urse)?"),
    ),
    "git": Pattern(r"--no-index|--untracked|--no-exclude-standard"),
    **dict.fromkeys(
        ("rg", "ag", "ack"), Pattern(r"-[\w.]*[.uU][\w.]*|--(hidden|unrestricted|no-ignore\S*)")
    ),
}
"""Options by which a search goes through a folder with all its files, hidden or not in git."""


def _names_secret(word: Word) -> bool:
    """Return whether a search is for the name of a secret variable, as files of them have it."""
    return any(map(is_secret_variable, re.findall(r"[A-Za-z_]+", word.known)))


_RECURSE = Pattern(r"rec(u|ur|urs|urse)?")


def reads_others(name: str, rule: Rule | None, words: Sequence[Word], scope: Scope) -> str | None:
    """Return the first word by which a program shows files outside the workspace, other than the
    system's own, or files that a pattern may select with secrets among them.
    """
    base = posixpath.basename(name)
    if rule is None or (base in _AWAY and base != "git"):
        return None
    flag = _DEEP.get(base)
    flagged = any(flag.fullmatch(w.known) for w in words if flag)
    deep = flagged or base in ("rg", "ag", "ack")
    given = [word for word in words if not _RECURSE.fullmatch(word.known)][base == "git" :]
    shows = shows_contents(name, rule) or (deep and base == "git") or base in _COPYING
    compares = base == "git" and any(word.value == "diff" for word in words[:1])
    files = _files(base, rule, given) if shows else _lists(rule, given)
    if deep and not files:
        files.append(literal("."))
    if found := next((word.source for word in files if _leads_away(word, scope, deep=deep)), None):
        return found
    if flagged and _shows_lines(base, given):
        # Files of secrets, hidden ones too, have the names of secrets in them.
        folder = any("." not in word.known.strip("./") for word in files)
        wide = (compares and folder) or matches_all(base, given)
        return next((w.source for w in _looked_for(given) if wide or _names_secret(w)), None)
    if searches(name, rule) and not matches_all(name, given):
        return None
    return next((word.source for word in files if word.glob and selects_secret(word.known)), None)


_COPYING = names("cp install")
"""Programs that only read if they write to the output."""
_LISTED = ("--files0-from", "--files-from")
_TEXT_FLAGS = ("-e", "--regexp", "--expression")


def _lists(rule: Rule, words: Sequence[Word]) -> list[Word]:
    """Return the options of a program that name a file with names of files."""
    read = [value for flag, value in parse(rule, words).flags if value and flag in rule.reads]
    return [*read, *(word for word in words if word.known.startswith(_LISTED))]


def _files(base: str, rule: Rule, words: Sequence[Word]) -> list[Word]:
    """Return the words of a program that may name files to show.

    A value of an option may be a file for another program of the same rule: `cat -n FILE`.
    """
    parsed = parse(rule, words)
    has_text = base in _SHOWING or base in _SEARCHING
    texts = _TEXT_FLAGS if has_text else ("--xpath", "-xpath")
    values = [v for flag, v in parsed.flags if v and flag not in texts and v.known != "/"]
    files = parsed.operands[:1] if base == "sqlite3" else parsed.operands
    if has_text and base != "sqlite3" and not any(flag in texts for flag, _ in parsed.flags):
        files = files[1:]
    if base == "dd":
        files = tuple(literal(word.known.partition("=")[2]) for word in files)
    return [*(word for word in words if word.known.startswith(_LISTED)), *values, *files]


def _leads_away(word: Word, scope: Scope, *, deep: bool) -> bool:
    if word.known.startswith("-"):
        return word.known.startswith(_LISTED)
    leads = reaches_others if deep or word.glob else belongs_to_others
    if word.value is not None:
        return any(leads(path, scope) for path in (word.value, *word.likely.split()))
    return any(
        path.startswith("*/") or path == "*" or reaches_others(path, scope)
        for path in word.likely.split()
        if deep or "*" in path
    )


_FETCHERS = names("curl wget aria2c http https xh fetch lwp-request lynx axel gh aws gsutil scp")
_CLIENTS = names(
    "npm pnpm yarn bun pip pip3 uv cargo gem kubectl k oc helm docker podman gh glab terraform "
    "tofu psql mysql mariadb redis-cli"
)
_ASKERS = names("view info show v search add install i")


def fetched_names(commands: Sequence[Sequence[str]]) -> frozenset[str]:
    """Return the words, and parts of addresses, of programs that fetch; empty if none does."""
    fetching = [words for words in commands if words and posixpath.basename(words[0]) in _FETCHERS]
    return frozenset(
        part for words in fetching for word in words for part in re.split(r"[/=?]", word)
    )


def computed_request(words: Sequence[Word]) -> Word | None:
    """Return the part that a client would send to another machine and that its text does not show.

    This is a computed option or address; for a registry also the requested name.
    """
    if posixpath.basename(words[0].known) not in _CLIENTS:
        return None
    asks = len(words) > 1 and words[1].known in _ASKERS
    for word in words[1:]:
        made = word.value is None and re.search(r"\$\(|`|<\(", word.source)
        if made and (asks or word.known.startswith("-") or "://" in word.known):
            return word
    return None


_SERVER = Pattern(
    r"--(?:(?:[\w@/-]+:)?registry|index(?:-url)?|extra-index-url|default-index|endpoint(?:-url)?|"
    r"server|hostname|host|(?:https?-)?proxy|api-(?:url|server|endpoint|endpoint-overrides/\w+)|kube-apiserver|address|url|"
    r"repository-url|cache|(?!no-)[\w-]*(?:cache|logs?|store|state|data|config|lib)-?(?:dir|folder|file)|"
    r"repository-(?:cache|config))(?:=(?P<value>.*))?",
    re.S,
)
_SHORT_SERVER = {
    **dict.fromkeys(names("pip pip3 uv"), names("-i -f --find-links")),
    **dict.fromkeys(names("kubectl k oc gem"), names("-s --source")),
    **dict.fromkeys(names("docker podman nerdctl"), names("-H")),
    "helm": names("--repo"),
}
_THIS_MACHINE = Pattern(r"(https?://)?(localhost|127(\.\d+){3}|\[::1\])([:/][^@]*)?|")
_LOGS_IN = _CLIENTS | frozenset(PACKAGES) | frozenset(CLOUDS) | frozenset(CONTAINERS)


def elsewhere(name: str, words: Sequence[Word]) -> str | None:
    """Return the option or address that points a client with saved logins at another server or
    folder.
    """
    base = posixpath.basename(name)
    if base not in _LOGS_IN or base in DATABASES:
        return None
    short = _SHORT_SERVER.get(base, frozenset[str]())
    for word, after in pairwise([*words, literal("")]):
        match = _SERVER.fullmatch(word.known)
        flag = next((each for each in short if word.known.startswith(each)), None)
        if base == "gh" and re.match(r"\w+://", word.known):
            return word.source
        if match is None and flag is None:
            continue
        server = match["value"] if match else word.known[len(flag or "") :].lstrip("=")
        if not _THIS_MACHINE.fullmatch(server or after.known) or word.value is None:
            return word.source
    return None


class Known(NamedTuple):
    """A rule for a program, and the minimum class due to its location."""

    rule: Rule | None
    floor: CommandKind
    why: str


def lookup(name: str, scope: Scope) -> Known:
    """Return the rule for a program by the name used to call it."""
    folder, base = posixpath.split(name)
    found = PROGRAMS.get(base)
    if not folder or folder in SYSTEM_DIRS:
        if found is None:
            return Known(
                None,
                CommandKind.UNKNOWN,
                "is not a program known here (a person can add it to the allow-list)",
            )
        return Known(found, CommandKind.READ_ONLY, "")
    if outside(name, scope):
        return Known(None, CommandKind.UNKNOWN, "is a program from outside the workspace")
    own = "is the workspace's own program"
    if found is not None and (_TOOL_DIRS.fullmatch(folder) or base in _LAUNCHERS):
        return Known(found, CommandKind.VERIFICATION, own)
    return Known(None, CommandKind.MUTATING, own)
