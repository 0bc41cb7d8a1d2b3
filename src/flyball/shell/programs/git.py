"""git: the subcommands that only read, and the options that let them do more."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from flyball.shell.judgement import CommandKind, Finding
from flyball.shell.rows import (
    DESTROY,
    MUTATE,
    NAMES,
    READ,
    TEXT,
    UNKNOWN,
    each,
    rule,
    table,
)
from flyball.shell.rule import Check, Inquiry, Rule, judge_rule, judge_words, parse
from flyball.shell.words.names import names
from flyball.shell.words.pattern import Pattern
from flyball.shell.words.place import outside
from flyball.shell.words.word import Word

_SAFE_CONFIG = Pattern(
    r"(?:color\.[\w.]+|core\.(?:pager|quotepath|abbrev|autocrlf)|log\.\w+|advice\.\w+|"
    r"diff\.(?:renames|algorithm|noprefix|mnemonicprefix|context|colormoved)|user\.(?:name|email)|"
    r"column\.ui|blame\.(?!ignorerevsfile)\w+|grep\.\w+|status\.\w+|init\.defaultbranch|commit\.gpgsign)"
    r"(?:=(?P<value>[\w@. +:-]*))?",
    re.I,
)
_PAGERS = names("cat less")


def _git(inquiry: Inquiry, _rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge options before the subcommand: a repository elsewhere brings its own helpers."""
    text = " ".join(word.source for word in words)
    rest = list(words[1:])
    scope = inquiry.scope
    while rest and rest[0].known.startswith("-"):
        flag = rest.pop(0).value
        if flag == "-c" and rest and _config_ok(rest.pop(0).value):
            continue
        if flag == "-C" and rest and rest[0].value and not rest[0].glob:
            scope = scope.entered(rest.pop(0).value)
            continue
        if flag not in _GLOBAL_FLAGS:
            reason = f"git {flag or 'with that option'} points git at other settings or places"
            yield Finding(text, CommandKind.UNKNOWN, reason)
            return
    if not scope.at_root and outside(".", scope):
        reason = "a repository elsewhere may start its own helpers; stay in the workspace"
        yield Finding(text, CommandKind.UNKNOWN, f"{reason} and name the path to git")
        return
    if not rest:
        yield Finding(text, CommandKind.READ_ONLY, "git only prints its help")
        return
    inner = Rule(subcommands=_SUBCOMMANDS)
    # A folder of the workspace may hold a repository of its own, and that may name helpers: then
    # code of the workspace runs, as in any test.
    floor = CommandKind.READ_ONLY if scope.at_root else CommandKind.VERIFICATION
    for found in judge_rule(inquiry, inner, [words[0]._replace(source="git"), *rest]):
        kept = found.at_least(floor, "a repository in that folder may start its own helpers")
        yield kept._replace(text=text)


def _config_ok(setting: str | None) -> bool:
    """Return whether a setting given on the command line only changes how git prints."""
    match = _SAFE_CONFIG.fullmatch(setting or "")
    if match is None:
        return False
    return "pager" not in (setting or "").lower() or match["value"] in _PAGERS


_GLOBAL_FLAGS = names(
    "--no-pager -P -p --paginate --no-optional-locks --literal-pathspecs --glob-pathspecs "
    "--no-replace-objects --version --help -v -h --html-path --man-path --info-path "
    "--icase-pathspecs"
)


def _listing(changes: str, shows: str = "") -> Check:
    """Return a rule for a subcommand that lists without operands (or with these options) and
    changes with them."""
    showing = frozenset(shows.split())

    def check(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
        parsed = parse(rule, words[1:])
        general = judge_words(inquiry, rule, words)[0]
        shown = parsed.keeps(*showing)
        if general.kind is not CommandKind.READ_ONLY or shown or not parsed.operands:
            yield general
        else:
            yield Finding(general.text, CommandKind.MUTATING, f"{words[0].source} {changes}")

    return check


def _symbolic(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge symbolic-ref: one name is shown; two set the first."""
    general = judge_words(inquiry, rule, words)[0]
    if general.kind is CommandKind.READ_ONLY and len(parse(rule, words[1:]).operands) > 1:
        yield general._replace(kind=CommandKind.MUTATING, reason="it sets a reference")
    else:
        yield general


_CONFIG_READS = names("--get --get-all --get-regexp --list -l --get-urlmatch --get-color")
_CONFIG_LISTS = names("--list -l --get-regexp --get-urlmatch")
_SECRET_KEY = Pattern(r"(?i)extraheader|cookie|passw?|token|secret|proxy|askpass|credential")
_CONFIG_NEUTRAL = names(
    "--global --system --local --worktree --type --bool --int --path --show-origin --show-scope "
    "--name-only -z --null --includes --default --all --regexp"
)


def _config(_inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge config: reading is harmless; writing may set a program that git will run."""
    text = " ".join(word.source for word in words)
    parsed = parse(rule, words[1:])
    values = [w.value for w in parsed.operands]
    flags = {flag for flag, _ in parsed.flags}
    reads = flags & _CONFIG_READS
    if parsed.doubtful or flags & {"-f", "--file", "--blob", "-e", "--edit"}:
        yield Finding(
            text, CommandKind.UNKNOWN, "git config is pointed at another file or an editor"
        )
    elif flags - _CONFIG_READS - _CONFIG_NEUTRAL:
        yield Finding(
            text, CommandKind.DESTRUCTIVE, "git config is given an option that changes settings"
        )
    elif reads or (values and values[0] in ("get", "list")) or _is_key(values):
        lists = reads & _CONFIG_LISTS or values[:1] == ["list"]
        keys = "".join(value or "" for value in values)
        does = "git config shows settings, which may hold passwords"
        is_mixed = bool(lists) or bool(_SECRET_KEY.search(keys))
        yield Finding(text, CommandKind.READ_ONLY, does, reveals=is_mixed)
    elif parsed.has("--global", "--system"):
        yield Finding(
            text, CommandKind.DESTRUCTIVE, "git config changes settings outside the workspace"
        )
    elif len(values) == 2 and values[0] in ("user.name", "user.email"):
        yield Finding(text, CommandKind.MUTATING, "git config sets who commits")
    else:
        yield Finding(text, CommandKind.DESTRUCTIVE, "a git setting can make git run programs")


def _is_key(values: Sequence[str | None]) -> bool:
    """Return whether one dotted name is a query."""
    return len(values) == 1 and "." in (values[0] or "")


def _remote_url(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge a remote's address, which must be plain: some kinds of address run a program."""
    text = " ".join(word.source for word in words)
    for word in parse(rule, words[1:]).operands:
        plain = r"https?://\S+|git@[\w.-]+:[\w./~-]+|ssh://[\w@.-]+(:\d+)?/\S+|[\w./@+-]+"
        if word.value is None or not re.fullmatch(plain, word.value) or "::" in word.value:
            yield Finding(text, CommandKind.UNKNOWN, f"{word.source} is not a plain address")
            return
    yield from judge_words(inquiry, rule, words)


def _remote_show(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `remote show`, which connects unless told -n: only to a configured remote, not to any
    address."""
    parsed = parse(rule, words[1:])
    named = all(re.fullmatch(r"\w[\w.-]*", w.value or "") for w in parsed.operands)
    if named or (parsed.has("-n") and not parsed.doubtful):
        yield from judge_words(inquiry, rule, words)
    else:
        text = " ".join(word.source for word in words)
        yield Finding(text, CommandKind.UNKNOWN, "it connects to whatever address it is given")


_BRANCH = Pattern(
    r"-|@.*|HEAD.*|main|master|trunk|dev|develop|[0-9a-f]{7,40}|v?\d+(\.\d+)+|"
    r"(origin|upstream|feature|feat|fix|bugfix|hotfix|release|chore|refactor|topic)"
    r"(/[\w-]+)*/([\w-]+|v?\d+(\.\d+)+)"
)
"""What can hardly be a path: any other checkout target may be a file or a folder."""


def _checkout(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge checkout: switching branches loses nothing; overwriting files does.

    `git checkout NAME` may do either, depending on the repository: one plain name switches to it, a
    new branch starts at a commit, and every other form may lose work.
    """
    general = judge_words(inquiry, rule, words)[0]
    parsed = parse(rule, words[1:])
    makes = parsed.has("-b", "--orphan", "-t", "--track", "-d", "--detach")
    one = len(parsed.operands) <= 1 and all(w.value != "--" for w in words)
    named = [w for w in parsed.operands if w.value is None or not _BRANCH.fullmatch(w.value)]
    if general.kind is not CommandKind.MUTATING or (one and (makes or not named)):
        yield general
    else:
        reason = "it may overwrite files with older ones (`git switch` only changes the branch)"
        yield general._replace(kind=CommandKind.DESTRUCTIVE, reason=reason)


def _fetch(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge fetch: a `+` before a refspec moves a branch unconditionally."""
    general = judge_words(inquiry, rule, words)[0]
    forced = any(w.known.startswith("+") for w in words[1:])
    if forced and general.kind is CommandKind.MUTATING:
        general = general._replace(
            kind=CommandKind.DESTRUCTIVE, reason="it moves a branch by force"
        )
    yield general


_SHOW = rule(
    READ,
    "only looks",
    writes="--output",
    runs="--ext-diff --textconv --show-signature",
    valued="-n -L -S -G --author --grep --since --until --date --max-count --after --before "
    "--committer --skip --diff-filter --exclude --glob",
    attached="-U",
    known="--text --exclude --extended-regexp",
)
_SHOW_NUMBERED = _SHOW._replace(valued=_SHOW.valued - {"-n"})
"""Subcommands whose `-n` takes no value."""
_GIT_GREP = rule(
    READ,
    "searches",
    runs="-O --open-files-in-pager --textconv --ext-grep",
    valued="-e -f -m -A -B -C --max-depth --threads",
    known="--text --or --only-matching --exclude-standard --extended-regexp",
)
_PLAIN = rule(READ, "only looks", operands=TEXT)
_LOCAL = rule(
    MUTATE,
    "changes the repository",
    operands=TEXT,
    runs="-x --exec --upload-pack --receive-pack -i --interactive --ext-diff --template --config",
    valued="-m -b -B -s -X -C -F --message --strategy",
    known="--include --ignore-whitespace --index --input --ignore-errors --ignore-removal "
    "--initial-branch --include-untracked",
)


def _losing(options: str) -> Rule:
    """Return a rule for a subcommand that loses work with one of these options."""
    return _LOCAL._replace(destroys=names(options))


_LOSES = rule(
    DESTROY,
    "can lose work or change another repository",
    operands=TEXT,
    runs="--receive-pack --exec",
    known="--expire --exclude",
)


def _reflog(inquiry: Inquiry, _rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge reflog, which only shows, unless a subcommand is given, before or after options."""
    shows = len(words) > 1 and words[1].value in ("show", "list", "exists")
    loses = any(w.value in ("expire", "delete", "drop", "write", None) for w in words[1:])
    yield from judge_words(inquiry, _LOSES if loses and not shows else _SHOW, words)


def _merge_tree(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge merge-tree: three trees, or the option for it, are merged in memory only."""
    general = judge_words(inquiry, rule, words)[0]
    parsed = parse(rule, words[1:])
    known = all(w.value is not None and not w.glob for w in words)
    flags = {flag for flag, _ in parsed.flags}
    trivial = flags == {"--trivial-merge"} or (not flags and len(parsed.operands) == 3)
    if known and trivial:
        yield general._replace(kind=CommandKind.READ_ONLY, reason="git merge-tree only looks")
    else:
        yield general


def _subs(shows: str = "", changes: str = "", loses: str = "", bare: Rule | None = None) -> Rule:
    rows = {**each(shows, _PLAIN), **each(changes, _LOCAL), **each(loses, _LOSES)}
    return Rule(subcommands=rows, bare=bare)


_SUBCOMMANDS = table(
    {
        "log show diff whatchanged diff-tree diff-files diff-index rev-list range-diff": _SHOW,
        "shortlog blame annotate": _SHOW_NUMBERED,
        "grep": _GIT_GREP,
        "status ls-files ls-tree rev-parse describe merge-base name-rev cherry for-each-ref "
        "show-ref show-branch count-objects check-ignore check-attr check-ref-format version "
        "help fsck get-tar-commit-id verify-pack stripspace patch-id column "
        "check-mailmap": rule(
            READ,
            "only looks",
            operands=NAMES,
            runs="--textconv --filters --web -w",
            mutates="--lost-found",
            known="--worktree --with-tree --text",
        ),
        "var": rule(READ, "shows settings", operands=NAMES, reveals="-l"),
        "cat-file": rule(READ, "only looks", runs="--textconv --filters --batch --batch-command"),
        "merge-tree": rule(MUTATE, "writes what it merges as objects", check=_merge_tree),
        "reflog": _SHOW._replace(check=_reflog),
        "ls-remote": rule(
            READ,
            "asks a remote",
            runs="--upload-pack --exec",
            fixed=True,
            operands=TEXT,
            check=_remote_url,
        ),
        "branch": rule(
            READ,
            "lists branches",
            destroys="-D -M -f --force -C",
            mutates="-d --delete -m --move -c --copy -u --set-upstream-to --unset-upstream "
            "--track -t",
            runs="--edit-description",
            valued="--sort --format --contains --no-contains --merged --no-merged --points-at -u",
            known="--format --merged --color --column --contains --sort",
            operands=TEXT,
            check=_listing(
                "makes a branch",
                "-l --list --contains --merged --no-merged --points-at --no-contains -a -r --all "
                "--remotes",
            ),
        ),
        "tag": rule(
            READ,
            "lists tags",
            destroys="-f --force",
            mutates="-d --delete -a -s -m -F --annotate --sign",
            valued="--sort --format --contains --points-at --merged --no-merged",
            runs="-v --verify -e --edit",
            known="--format --contains --merged --sort --column --color",
            operands=TEXT,
            check=_listing(
                "makes a tag", "-l --list -n --contains --points-at --merged --no-merged"
            ),
        ),
        "remote": Rule(
            subcommands={
                "get-url": _PLAIN,
                "show": rule(READ, "asks a remote", operands=TEXT, check=_remote_show),
                **each("add rename set-url set-head set-branches prune update", _LOCAL),
                **each("remove rm", _LOSES),
            },
            bare=_PLAIN,
        ),
        "stash": _subs(
            "list", "push save apply pop branch create store", "drop clear", _LOCAL
        )._replace(
            subcommands={
                "list": _SHOW,
                "show": _SHOW,
                **each("push save apply pop branch create store", _LOCAL),
                **each("drop clear", _LOSES),
            }
        ),
        "worktree": _subs("list", "add lock unlock move repair prune", "remove"),
        "notes": _subs("list show", "add append copy", "remove prune", _PLAIN),
        "submodule": Rule(
            subcommands={
                **each("status summary", _PLAIN),
                **each("init sync add absorbgitdirs set-branch set-url", _LOCAL),
                "update": _losing("-f --force"),
                "deinit": _LOSES,
            },
            bare=_PLAIN,
        ),
        "bisect": Rule(
            subcommands={
                "log": _PLAIN,
                **each("view visualize", _SHOW),
                **each("start good bad skip reset new old", _LOCAL),
            }
        ),
        "bundle": _subs("verify list-heads", "create unbundle"),
        "lfs": _subs(
            "ls-files status env version locks", "track untrack pull fetch install", "prune"
        ),
        "sparse-checkout": _subs("list", "set add init disable reapply"),
        "commit-graph multi-pack-index maintenance": _subs("verify", "write run start stop"),
        "symbolic-ref": rule(
            READ,
            "shows a reference",
            mutates="-d --delete -m",
            operands=TEXT,
            check=_symbolic,
        ),
        "hash-object": rule(READ, "computes a hash", mutates="-w", valued="-t"),
        "archive": rule(
            READ,
            "lists formats",
            runs="--exec --remote",
            writes="-o --output",
            valued="--format --prefix",
            check=_listing("packs with a configured filter"),
        ),
        "config": rule(READ, "shows settings", valued="--type --default", check=_config),
        "apply": rule(
            MUTATE,
            "changes files",
            operands=TEXT,
            valued="-p -C --directory --exclude",
            mutates="--apply",
            writes="--build-fake-ancestor",
            known="--allow-empty",
            spares="--check --stat --numstat --summary",
        ),
        "add commit revert init format-patch update-index write-tree commit-tree mktree "
        "pack-refs": _LOCAL,
        "rerere": _subs("status diff remaining", "", "clear forget gc", _LOCAL),
        "merge cherry-pick rebase am": _losing("--abort --quit --skip"),
        "rm mv replace": _losing("-f --force -d --delete"),
        "fetch pull": _losing("-f --force --update-head-ok")._replace(check=_fetch),
        "switch": _losing("-f --force --discard-changes -C --force-create")._replace(
            known=_LOCAL.known | names("--detach")
        ),
        "read-tree": _losing("-u --reset"),
        "clone": _LOCAL._replace(
            operands=TEXT,
            check=_remote_url,
            valued=frozenset(("--depth", "-b", "--branch", "-o", "--origin", "-j", "--jobs")),
        ),
        "checkout": _losing(
            "-f --force -B -p --patch --ours --theirs -2 -3 --pathspec-from-file --overlay "
            "--no-overlay --ignore-skip-worktree-bits"
        )._replace(
            valued=names("-b -B --orphan --conflict"),
            known=_LOCAL.known | names("--orphan --progress --overwrite-ignore"),
            check=_checkout,
        ),
        "restore": _LOCAL._replace(kind=DESTROY, does="overwrites files with older ones"),
        "reset": rule(MUTATE, "moves the branch", destroys="--hard --merge --keep", operands=TEXT),
        "clean": rule(
            DESTROY,
            "deletes untracked files",
            spares="-n --dry-run",
            valued="-e",
            runs="-i --interactive",
        ),
        "push gc prune repack filter-branch update-ref fast-import send-pack replay": _LOSES,
        "difftool mergetool instaweb daemon shell citool gui gitk web--browse credential "
        "send-email svn p4 cvsserver upload-pack receive-pack": rule(
            UNKNOWN, "starts other programs or a server"
        ),
    }
)

_VERSIONED = Rule(
    subcommands={
        **each(
            "status st log diff cat info annotate blame list ls heads tip branches tags "
            "summary id identify paths root manifest files parents",
            rule(
                READ,
                "only looks",
            ),
        ),
        **each(
            "add commit ci update up checkout co merge resolve move mv copy cp remove rm",
            rule(
                MUTATE,
                "changes the repository",
                operands=TEXT,
                destroys="-C --clean -f --force",
            ),
        ),
        **each("revert cleanup purge strip rollback", _LOSES),
    }
)

GITS = table(
    {
        "git": rule(READ, "looks at the repository", check=_git),
        "tig gitui lazygit gitk": rule(UNKNOWN, "is interactive"),
        "hg": _VERSIONED._replace(
            runs=names("--config --cwd -R --repository --config-file --pager --editor-cmd --tool")
        ),
        "svn": _VERSIONED._replace(
            runs=names("--diff-cmd --diff3-cmd --config-option --config-dir --editor-cmd")
        ),
    }
)
