"""Variables that a command sets: which ones it may set, and their known values."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from flyball.secret_files import is_secret_variable
from flyball.shell.words.names import names
from flyball.shell.words.pattern import Pattern
from flyball.shell.words.word import (
    HOME_NAMES,
    MAX_GUESSES,
    NO_FACTS,
    VariableFacts,
    Word,
    literal,
    made_names,
    makes_text,
    opaque,
    said_words,
    text_of,
    words_of,
)

HARMLESS = names(
    "LC_ALL LANG LANGUAGE LC_CTYPE LC_COLLATE LC_NUMERIC LC_TIME LC_MESSAGES TZ TERM COLUMNS "
    "LINES NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE COLORTERM PY_COLORS CI DEBUG VERBOSE "
    "NODE_ENV RAILS_ENV RACK_ENV APP_ENV FLASK_ENV FLASK_DEBUG DJANGO_ENV ENVIRONMENT MIX_ENV "
    "LOG_LEVEL RUST_BACKTRACE RUST_LOG CARGO_TERM_COLOR CARGO_INCREMENTAL CGO_ENABLED GOOS GOARCH "
    "GO111MODULE PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED PYTHONHASHSEED PYTHONUTF8 "
    "PYTHONIOENCODING PYTEST_DISABLE_PLUGIN_AUTOLOAD HYPOTHESIS_PROFILE GIT_TERMINAL_PROMPT "
    "GIT_OPTIONAL_LOCKS SOURCE_DATE_EPOCH DOCKER_BUILDKIT NPM_CONFIG_LOGLEVEL HUSKY "
    "NEXT_TELEMETRY_DISABLED DO_NOT_TRACK PORT HOST PIP_DISABLE_PIP_VERSION_CHECK PIP_NO_INPUT "
    "UV_NO_PROGRESS"
)
"""Names that change how a program looks or reports, never what it runs."""

SEARCHED = frozenset(("PYTHONPATH",))
"""Search paths that may name places in the workspace: then its code runs, as in any test."""

PASSIVE_PAGERS = frozenset(("cat", "", "/bin/cat"))

_CONTROLLING = Pattern(
    r"PATH|IFS|ENV|HOME|SHELL|SHELLOPTS|BASHOPTS|BASH_.*|PS[0-4]|PROMPT_COMMAND|CDPATH|GLOBIGNORE|"
    r"TMPDIR|VISUAL|BROWSER|.*PAGER|.*EDITOR|LESS.*|LD_.*|DYLD_.*|GIT_.*|PYTHON.*|NODE_.*|NPM_.*|"
    r"npm_.*|RUBY.*|GEM_.*|BUNDLE_.*|PERL.*|JAVA.*|_JAVA.*|JDK_.*|MAVEN_.*|GRADLE_.*|LUA_.*|PHP.*|"
    r"GO[A-Z]+|CARGO_.*|RUST.*|CC|CXX|LD|AR|MAKE.*|.*FLAGS|.*OPTS|.*OPTIONS|.*_COMMAND|.*_CMD|"
    r".*[Pp][Rr][Oo][Xx][Yy]|XDG_.*|SSH_.*|DOCKER_.*|KUBE.*|AWS_.*|PIP_.*|UV_.*|RIPGREP_.*|GREP_.*|"
    r"FZF_.*|TAR_.*|TAPE|ZIPOPT|GZIP|POSIX.*|TERMINFO|MANPATH|MANOPT|MAN.*|FCEDIT|HIST.*|INPUTRC|"
    r"EXECIGNORE|FUNCNAME|DIRSTACK|OPENSSL_.*|GCONV_PATH|LOCPATH|NLSPATH|MALLOC_.*|.*_CONFIG"
)


def assignment_objection(name: str, value: Word | None) -> str | None:
    """Return why a variable may not be set this way, or None."""
    if name in HARMLESS or name in SEARCHED:
        return None
    if name.endswith("PAGER") and value is not None and value.value in PASSIVE_PAGERS:
        return None
    if name in HOME_NAMES or _CONTROLLING.fullmatch(name):
        return f"setting {name} changes which programs run or how"
    return None


_TELLING = Pattern(
    r".*(PATH|HOME|ARG|CONF|ENV|EXEC|RSH|PREFIX|HOST|TOKEN|SOCK|URL|LIB|PLUG|INIT|LOAD|HOOK|FILE|"
    r"DIR|CMD|COMMAND|SHELL|PROG|RUN|DRIVER|DEFAULT|CLASS|MODULE|WRAP|PASS|KEY|SECRET|USER|RC$|_OPT)"
    r".*|(TF|HELM|GH|GL|HG|SVN|CVS|PG|MYSQL|AWK|ACK|BC|DC|XZ|ZSTD|BZIP|SYSTEMD|GCC|TMUX|AZURE|GOOGLE|"
    r"CLOUDSDK|ANSIBLE|PULUMI|VAGRANT|RSYNC|RCLONE|FIND|LS|SORT|DIFF|JQ|BAT|FD|RG)_?.*"
)
"""Parts of variable names that a program that only reads may still respect."""


def is_plain(name: str) -> bool:
    """Return whether a program that only reads is unlikely to use a variable of this name."""
    return is_harmless(name) or not (_CONTROLLING.fullmatch(name) or _TELLING.fullmatch(name))


def is_harmless(name: str) -> bool:
    """Return whether passing a variable to a program is known to be harmless."""
    return (
        name in HARMLESS or name.endswith("PAGER") or bool(re.fullmatch(r"[a-z_][a-z0-9_]*", name))
    )


_SET_BY_SHELL = Pattern(
    r"_|REPLY|MAPFILE|OPTARG|DIRSTACK|COPROC|(BASH|COMP|READLINE|HIST|PROMPT|FUNC)(?!PID|_SUBSHELL|"
    r"_VERSINFO|CMD|SIZE|FILESIZE).*"
)


def is_set_by_shell(name: str) -> bool:
    """Return whether a shell sets a name by itself, to text printed by a command."""
    return bool(_SET_BY_SHELL.fullmatch(name))


def facts_of(root: Node, *, fresh: bool = False) -> VariableFacts:
    """Collect every value that the command itself gives to a name.

    In a `fresh` shell there are no others: it has only the governor's environment.
    """
    values: dict[str, list[Word | None]] = {}
    for name, word in _settings(root):
        values.setdefault(name, []).append(word)
    tame = frozenset(n for n, held in values.items() if all(w and _is_tame(w) for w in held))
    local = frozenset(n for n, held in values.items() if all(w and _is_local(w) for w in held))
    tainted = frozenset(
        n for n, held in values.items() if not all(w and _is_number(w) for w in held)
    )
    given = frozenset(values) if fresh else None
    facts = VariableFacts(tame, local, tainted, given=given)
    valued, hops = _with_values(root, facts), 1
    while valued != facts and hops < MAX_HOPS:
        facts, valued, hops = valued, _with_values(root, valued), hops + 1
    return valued


def secret_variable(root: Node, facts: VariableFacts) -> Node | None:
    """Return the first use of a variable that holds one of the user's secrets, by its name.

    Testing whether it is set reveals nothing, and a value that the command itself sets is no
    secret.
    """
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type in _EXPANSIONS:
            match = _USED.match(text_of(node).strip())
            name = match[1] if match else ""
            if name not in facts.values and may_hold_login(name):
                return node
        # What `=~` matches is kept in BASH_REMATCH.
        if "=~" in text_of(node) or not (node.type == "test_command" or _is_test(node)):
            stack.extend(reversed(node.named_children))
    return None


def may_hold_login(name: str) -> bool:
    """Return whether a variable of this name is a secret, or an address that may contain one."""
    return is_secret_variable(name) or bool(_ADDRESS.fullmatch(name))


_ADDRESS = Pattern(r"(\w+_)?(URL|URI|DSN|CONNECTION_STRING)")
"""Variables with addresses, which may contain a password."""
_EXPANSIONS = frozenset(("simple_expansion", "expansion"))
_USED = Pattern(r"\$\{?!?(\w+)(?!\w|:?\+)")


def _is_test(node: Node) -> bool:
    name = node.child_by_field_name("name") if node.type == "command" else None
    return name is not None and text_of(name) in ("test", "[")


MAX_HOPS = 5
"""How often a name may get its value from another name that was given one."""


def _with_values(root: Node, facts: VariableFacts) -> VariableFacts:
    """Return the facts with all possible values of each name, derived from those of the others."""
    made = set(facts.made)
    values: dict[str, dict[str, None]] = {}
    for name, word in _settings(root, facts):
        guesses = (word.guesses or word.likely.split() or [""]) if word else ["*"]
        values.setdefault(name, {}).update(dict.fromkeys(guesses))
        if (word and word.made) or len(values[name]) > MAX_GUESSES:
            made.add(name)
    possible = {name: ("*",) if name in made else tuple(held) for name, held in values.items()}
    return facts._replace(made=frozenset(made), values=possible)


def _is_tame(word: Word) -> bool:
    if word.value is None:
        return word.tame
    return (
        bool(word.value)
        and not word.value.startswith("-")
        and not (re.search(r"\s", word.value) or word.may_be_option)
    )


def _is_local(word: Word) -> bool:
    return _is_tame(word) and bool(word.value) and not re.match(r"[/~$]|.*\.\.", word.value or "")


def _is_number(word: Word) -> bool:
    return bool(word.value and re.fullmatch(r"-?\d+", word.value)) or word.tame


_SETTERS = frozenset(("read", "mapfile", "readarray", "printf", "getopts"))


def _settings(root: Node, facts: VariableFacts = NO_FACTS) -> Iterator[tuple[str, Word | None]]:
    stack = [root]
    while stack:
        node = stack.pop()
        stack.extend(node.children)
        if node.type == "variable_assignment":
            yield from _assigned(node, facts)
        elif node.type in ("expansion", "arithmetic_expansion", "compound_statement"):
            # `${name:=text}` and `((name = 1))` set a name too; which ones need not be known well.
            yield from ((name, None) for name in re.findall(r"([A-Za-z_]\w*)\W*=", text_of(node)))
        elif node.type == "for_statement":
            name = node.child_by_field_name("variable")
            held = [w for v in node.children_by_field_name("value") for w in words_of(v, facts)]
            for word in held or [None]:
                yield (text_of(name) if name else ""), word
        elif node.type == "command":
            words = [word.known for child in node.named_children for word in words_of(child)]
            at = next((i for i, word in enumerate(words) if word in _SETTERS), len(words))
            # Without a name these set one of their own.
            set_names = [*words[at + 1 :], "REPLY", "MAPFILE", "OPTARG"] if at < len(words) else []
            yield from ((word, _fed(node) if words[at] == "read" else None) for word in set_names)


def _fed(node: Node) -> Word | None:
    """Return the input of a loop around a `read` if it is a listing, or None."""
    above = node.parent
    while above is not None and above.type != "while_statement":
        above = above.parent
    around = above.parent if above is not None else None
    if above is None or around is None:
        return None
    fed = [n for n in around.named_children if n.end_byte <= above.start_byte]
    if around.type == "redirected_statement":
        fed = [
            inner
            for each in around.named_children
            if each.type == "file_redirect"
            for inner in each.named_children
            if inner.type == "process_substitution"
        ]
    elif around.type != "pipeline":
        return None
    if len(fed) != 1:
        return None
    printed = said_words(fed[0]) if makes_text(fed[0]) else made_names(fed[0])
    return None if printed is None else opaque("…")._replace(likely=" ".join(printed))


def _loops(node: Node) -> bool:
    """Return whether a node is in a loop, where a text may grow without limit."""
    above = node.parent
    return above is not None and (above.type == "do_group" or _loops(above))


def _assigned(node: Node, facts: VariableFacts) -> Iterator[tuple[str, Word | None]]:
    name = node.child_by_field_name("name")
    value = node.child_by_field_name("value")
    plain = name is not None and name.type == "variable_name" and text_of(node.children[1]) == "="
    words = words_of(value, facts) if value is not None else ()
    if plain and value is not None and value.type == "arithmetic_expansion":
        words = (literal("0"),)
    label = text_of(name) if name else ""
    if value is not None and value.type == "array":
        # As an option or a path it is not known, but its texts are.
        for word in (word for item in value.named_children for word in words_of(item, facts)):
            yield label, word._replace(value=None, likely=" ".join(word.guesses))
    elif plain or len(words) != 1:
        yield label, words[0] if plain and len(words) == 1 else None
    else:
        longer = [old + new for old in facts.values.get(label, "*") for new in words[0].guesses]
        yield (
            label,
            opaque(text_of(node))._replace(
                likely=" ".join(longer), made=words[0].made or _loops(node)
            ),
        )
