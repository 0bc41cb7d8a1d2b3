"""Package managers: listing reads, installing changes, and a program they run is judged itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flyball.shell.judgement import CommandKind, Finding
from flyball.shell.programs.project import NPM_RUNS, SCRIPT, SCRIPT_TEST
from flyball.shell.programs.wrapper import RUNNER
from flyball.shell.rows import (
    DESTROY,
    MUTATE,
    READ,
    TEXT,
    VERIFY,
    each,
    rule,
    table,
)
from flyball.shell.rule import Check, Inquiry, Rule, judge_rule, judge_words, parse
from flyball.shell.words.names import names
from flyball.shell.words.pattern import Pattern
from flyball.shell.words.word import Word

LOOK = rule(
    READ,
    "only shows",
    operands=TEXT,
    reads="-r --requirement",
    runs=f"{NPM_RUNS} --python --config-file --editor",
    writes="--log --output-file",
    places="--prefix --directory --project --cwd",
    known="--python-version --python-platform --git-ref --prod --production --global",
)
_SETTINGS = LOOK._replace(does="shows settings, secrets among them", reveals=frozenset("*"))
_INSTALL = rule(
    MUTATE,
    "changes what is installed",
    operands=TEXT,
    destroys="-g --global --user --break-system-packages",
    runs=f"{NPM_RUNS} --python --config",
    writes="--prefix -C --dir --cwd -t --target --root --src --cache-dir -d --dest",
    valued="-r --requirement -e --editable -c --constraint -w --workspace --index-url --extra -E "
    "--with --without --group -G --registry -i",
    known="--global-style --no-root --without --only-binary --python-version --prefer-offline",
)
CHANGE = rule(MUTATE, "changes the project", operands=TEXT, destroys="-g --global")
PUBLISH = rule(DESTROY, "publishes or changes things elsewhere", operands=TEXT)
BUILD = rule(VERIFY, "builds", proves="build", operands=TEXT, runs="--config -Z -toolexec")
CHECK = rule(VERIFY, "checks", proves="lint", operands=TEXT)
QUERY = rule(VERIFY, "evaluates the project's build files", operands=TEXT)


def _one_or_more(changes: str) -> Check:
    """Return a check for commands that show without operands, and change with one."""

    def check(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
        general = judge_words(inquiry, rule, words)[0]
        if general.kind is CommandKind.READ_ONLY and parse(rule, words[1:]).operands:
            yield general._replace(kind=CommandKind.MUTATING, reason=f"{words[0].source} {changes}")
        else:
            yield general

    return check


def group(
    shows: str = "",
    changes: str = "",
    loses: str = "",
    bare: Rule | None = None,
    look: Rule = LOOK,
) -> Rule:
    """Return the rule of a subcommand that has its own subcommands."""
    rows = {**each(shows, look), **each(changes, CHANGE), **each(loses, PUBLISH)}
    return Rule(subcommands=rows, bare=bare)


def _setting(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `config get NAME`; without one, or a secret's, only where secrets are invisible."""
    is_secret = len(words) == 1 or any(_SECRET_SETTING.search(w.known) for w in words[1:])
    for found in judge_words(inquiry, rule, words):
        yield found._replace(reveals=is_secret)


_SECRET_SETTING = Pattern(r"(?i)auth|token|passw|secret|key")
_VERSION = LOOK._replace(
    does="shows versions",
    check=_one_or_more("sets the version"),
    mutates=names(
        "--bump --patch --minor --major --new-version --premajor --preminor --prepatch "
        "--prerelease --preid -i --interactive -d --deferred --immediate"
    ),
)
_UV_LOOK = LOOK._replace(runs=LOOK.runs | {"-p"})
_RELEASE = Pattern(r"((c?python|pypy|graalpy)[@=]*)?[<>=~!]*\d[\w.,<>=~!*-]*")


def _interpreter(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge uv's interpreter option: uv runs the interpreter to query it, so only a version is
    allowed.
    """
    general = judge_words(inquiry, rule, words)[0]
    operands = parse(rule, words[1:]).operands
    odd = next((w for w in operands if not _RELEASE.fullmatch(w.value or "")), None)
    if odd is not None and general.kind is CommandKind.READ_ONLY:
        reason = f"{odd.source} is not a version of Python"
        general = general._replace(kind=CommandKind.UNKNOWN, reason=reason)
    yield general


_AUDIT = Rule(
    subcommands={"fix": CHANGE, "signatures": LOOK},
    bare=rule(READ, "asks for advisories", mutates="--fix", operands=TEXT),
)
_NODE_LOOKS = (
    "ls list ll la view info show v outdated root bin prefix help help-search explain why fund "
    "ping whoami search doctor query licenses sbom completion"
)
_NODE_CHANGES = (
    "uninstall un remove rm update up upgrade rebuild dedupe prune link unlink init create set "
    "import patch pack shrinkwrap start restart dev stop edit approve-builds"
)
_NODE: dict[str, Rule] = {
    **each(_NODE_LOOKS, LOOK),
    **each(_NODE_CHANGES, CHANGE),
    **each("install i add ci install-test it clean-install", _INSTALL),
    **each(
        "publish unpublish deprecate token login logout adduser hook profile",
        PUBLISH,
    ),
    **each(
        "dist-tag owner team org access",
        group("ls list", "", "add rm set create destroy grant revoke edit public restricted get"),
    ),
    "store": group("path status", "add prune"),
    **each("run run-script rum", SCRIPT),
    **each("test t tst", SCRIPT_TEST),
    **each("exec x dlx", RUNNER),
    "audit": _AUDIT,
    "version": _VERSION,
    "config": Rule(
        subcommands={
            **each("list ls", _SETTINGS),
            "get": LOOK._replace(check=_setting),
            **each("set delete edit", CHANGE),
        }
    ),
    "pkg": group("get", "set delete fix"),
    "cache": group("ls verify dir list", "add", "clean clear"),
    "pm": Rule(
        subcommands={
            **each("ls bin hash", LOOK),
            "cache": LOOK._replace(check=_one_or_more("changes the cache")),
            **each("trust migrate", CHANGE),
        }
    ),
    "npm": group("info audit whoami", "tag", "publish login logout"),
    "workspaces": group("info list", "foreach run focus", "", LOOK),
}


def _script_or(name: str, looks: str) -> Check:
    """Return a check for `yarn NAME` and `bun NAME`: a subcommand, or else a script of the project;
    words that only npm uses for reading count as scripts."""
    shows = names(looks)
    own = {w: r for w, r in _NODE.items() if r.kind is not CommandKind.READ_ONLY or w in shows}

    def check(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
        parsed = parse(rule, words[1:], stop_at_operand=True)
        first = parsed.operands[0].value if parsed.operands else None
        known = Rule(
            subcommands=own, bare=_INSTALL, valued=rule.valued, places=rule.places, runs=rule.runs
        )
        if len(words) == 2 and words[1].value == "-v":
            yield Finding(f"{name} -v", CommandKind.READ_ONLY, f"{name} shows its version")
        elif parsed.operands and first not in own:
            yield from judge_rule(inquiry, SCRIPT, words)
        elif name == "bun" and first == "test":
            yield Finding(
                " ".join(w.source for w in words),
                CommandKind.VERIFICATION,
                "bun runs the tests",
                proves="tests",
            )
        else:
            yield from judge_rule(inquiry, known, words)

    return check


_NPM_PLACES = "--prefix -C --dir --cwd"
_YARN = rule(
    MUTATE,
    "installs",
    check=_script_or(
        "yarn", "list info outdated bin help why licenses audit version config cache workspaces npm"
    ),
    places=_NPM_PLACES,
    valued="--filter -F -w --workspace",
    runs=NPM_RUNS,
)


_POETRY_LOOKS = "show check about search help tree list ls info debug"
PACKAGES = table(
    {
        "npm": Rule(
            subcommands=_NODE,
            valued=names("--filter -w -F --workspace"),
            places=names(_NPM_PLACES),
            runs=names(NPM_RUNS),
            bare=LOOK,
        ),
        "yarn": _YARN,
        "pnpm": _YARN._replace(
            check=_script_or(
                "pnpm",
                "ls list ll la view info show v outdated root bin prefix help why ping whoami "
                "search doctor licenses completion dist-tag owner team access store audit version "
                "config pkg cache",
            )
        ),
        "bun": rule(
            MUTATE,
            "installs",
            check=_script_or("bun", "info outdated audit why pm help"),
            runs="-e --eval -p --print --preload -r",
        ),
        "mise": Rule(
            # Any other word may be a task of the project.
            subcommands={
                **each("ls list current which where version doctor ls-remote", LOOK),
                **each("install use uninstall upgrade set", PUBLISH),
            },
            bare=LOOK,
        ),
        "corepack nvm fnm volta asdf rbenv pyenv rustup sdk": Rule(
            subcommands={
                **each(
                    "ls list current which version versions where show doctor list-remote "
                    "ls-remote",
                    LOOK,
                ),
                "toolchain": group("list", "", "install uninstall remove"),
                "target": group("list", "", "add remove"),
                "component": group("list", "", "add remove"),
                **each("install use local shell enable prepare", CHANGE),
                **each("uninstall default global update set", PUBLISH),
            },
            bare=LOOK,
        ),
        "pip pip3": rule(
            READ,
            "handles packages",
            runs="--python --config-settings",
            valued="--proxy",
            writes="--log",
            subcommands={
                **each("list show freeze check inspect search debug help hash", LOOK),
                "config": group("list get debug", "set unset edit", look=_SETTINGS),
                "index": group("versions"),
                "cache": group("list info dir", "", "purge remove"),
                **each("install uninstall download wheel", _INSTALL),
            },
        ),
        "pipx": Rule(
            subcommands={
                "list": LOOK,
                "environment": LOOK,
                "run": RUNNER,
                **each("install uninstall upgrade inject", PUBLISH),
            }
        ),
        "uv": Rule(
            places=frozenset(("--directory", "--project")),
            runs=frozenset(("--config-file",)),
            subcommands={
                "pip": Rule(
                    subcommands={
                        **each("list show freeze check tree", _UV_LOOK),
                        **each("install uninstall sync compile", _INSTALL),
                    }
                ),
                **each("tree help", _UV_LOOK),
                "version": _VERSION,
                "python": Rule(
                    subcommands={
                        **each("list find", _UV_LOOK._replace(check=_interpreter)),
                        "dir": LOOK,
                        "pin": CHANGE,
                        **each("install uninstall", PUBLISH),
                    }
                ),
                "tool": Rule(
                    subcommands={
                        "list": LOOK,
                        "dir": LOOK,
                        "run": RUNNER,
                        **each("install uninstall upgrade", PUBLISH),
                    }
                ),
                "cache": group("dir", "", "clean prune"),
                "run": RUNNER,
                "build": BUILD,
                **each("sync lock add remove init venv export", CHANGE),
                "publish": PUBLISH,
            },
        ),
        "pdm": Rule(
            # Any other word may be a script of the project.
            subcommands={
                **each("list show search info outdated", LOOK),
                **each("run", RUNNER),
                "build": BUILD,
                **each("install add remove lock update sync init export", CHANGE),
                "publish": PUBLISH,
            },
        ),
        "poetry pipenv hatch rye": Rule(
            subcommands={
                "version": _VERSION,
                **each(_POETRY_LOOKS, LOOK),
                **each("graph verify --venv --py", LOOK),
                "env": group("info list show find", "use remove create prune"),
                "config": rule(DESTROY, "changes settings", spares="--list", reveals="--list"),
                "run": RUNNER,
                "build": BUILD,
                **each("test", rule(VERIFY, "runs the tests", proves="tests")),
                **each(
                    "install add remove lock update sync init new export uninstall clean self "
                    "shell",
                    CHANGE,
                ),
                **each("publish", PUBLISH),
            },
        ),
        "conda mamba micromamba": Rule(
            subcommands={
                **each("list info search", LOOK),
                "env": group("list", "export", "create remove update"),
                "config": rule(
                    DESTROY, "changes settings", spares="--show --get", reveals="--show"
                ),
                "run": RUNNER,
                **each("install create remove update activate deactivate clean", PUBLISH),
            },
        ),
        "bundle bundler": Rule(
            subcommands={
                # The Gemfile is a program.
                **each("list show check outdated info env platform", QUERY),
                "config": group("list get", "set unset", bare=_SETTINGS, look=_SETTINGS),
                "exec": RUNNER,
                **each("install update add remove lock package init", CHANGE),
            },
            bare=CHANGE,
        ),
        "gem": Rule(
            subcommands={
                **each(
                    "list info search environment env which contents outdated specification "
                    "dependency",
                    LOOK,
                ),
                "build": BUILD,
                **each("install uninstall update push cleanup", PUBLISH),
            }
        ),
        "composer": Rule(
            places=names("-d --working-dir"),
            subcommands={
                **each(
                    "show info outdated licenses depends why prohibits search status about "
                    "diagnose",
                    LOOK._replace(places=names("-d --working-dir")),
                ),
                "validate": CHECK,
                "audit": CHECK,
                **each("run-script run test", SCRIPT),
                **each("install update require remove dump-autoload create-project", CHANGE),
            },
        ),
        "twine": Rule(subcommands={"check": CHECK, "upload": PUBLISH}),
        "lerna nx turbo": Rule(
            subcommands={
                **each("ls list changed show", QUERY),
                **each("run test lint build affected run-many", SCRIPT),
                **each("bootstrap clean init add version", CHANGE),
                "publish": PUBLISH,
            },
        ),
    }
)
