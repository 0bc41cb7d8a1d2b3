"""Package managers: listing looks, installing changes, running looks through."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from flyball.shellcheck.judgement import Finding, Kind
from flyball.shellcheck.names import names
from flyball.shellcheck.place import outside
from flyball.shellcheck.programs.project import NPM_RUNS, SCRIPT, SCRIPT_TEST
from flyball.shellcheck.programs.table import (
    DESTROY,
    MUTATE,
    READ,
    TEXT,
    VERIFY,
    each,
    rule,
    table,
)
from flyball.shellcheck.programs.wrapper import RUNNER
from flyball.shellcheck.rule import Check, Inquiry, Rule, judge_rule, judge_words, parse
from flyball.shellcheck.word import Word

_LOOK = rule(
    READ,
    "only shows",
    operands=TEXT,
    runs=f"{NPM_RUNS} --python --config-file --editor",
    writes="--log --output-file",
    places="--prefix --directory --project --cwd",
    known="--python-version --python-platform --git-ref --prod --production --global",
)
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
_CHANGE = rule(MUTATE, "changes the project", operands=TEXT, destroys="-g --global")
_PUBLISH = rule(DESTROY, "publishes or changes things elsewhere", operands=TEXT)
_BUILD = rule(VERIFY, "builds", proves="build", operands=TEXT, runs="--config -Z -toolexec")
_CHECK = rule(VERIFY, "checks", proves="lint", operands=TEXT)


def _one_or_more(changes: str) -> Check:
    """Shows when given nothing, changes when given a word."""

    def check(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
        general = judge_words(inquiry, rule, words)[0]
        if general.kind is Kind.READ_ONLY and parse(rule, words[1:]).operands:
            yield general._replace(kind=Kind.MUTATING, reason=f"{words[0].source} {changes}")
        else:
            yield general

    return check


def _group(shows: str = "", changes: str = "", loses: str = "", bare: Rule | None = None) -> Rule:
    rows = {**each(shows, _LOOK), **each(changes, _CHANGE), **each(loses, _PUBLISH)}
    return Rule(subcommands=rows, bare=bare)


_VERSION = rule(READ, "shows versions", operands=TEXT, check=_one_or_more("sets the version"))
_AUDIT = Rule(
    subcommands={"fix": _CHANGE, "signatures": _LOOK},
    bare=rule(READ, "asks for advisories", mutates="--fix", operands=TEXT),
)
_NODE_LOOKS = (
    "ls list ll la view info show v outdated root bin prefix help help-search explain why fund "
    "ping "
    "whoami search doctor query licenses"
)
_NODE_CHANGES = (
    "uninstall un remove rm update up upgrade rebuild dedupe prune link unlink init create "
    "set import patch store pack shrinkwrap start restart dev stop edit approve-builds"
)
_NODE: dict[str, Rule] = {
    **each(_NODE_LOOKS, _LOOK),
    **each(_NODE_CHANGES, _CHANGE),
    **each("install i add ci install-test it clean-install", _INSTALL),
    **each(
        "publish unpublish deprecate dist-tag owner access token login logout adduser team hook "
        "profile org",
        _PUBLISH,
    ),
    **each("run run-script rum", SCRIPT),
    **each("test t tst", SCRIPT_TEST),
    **each("exec x dlx", RUNNER),
    "audit": _AUDIT,
    "version": _VERSION,
    "config": _group("get list ls", "set delete edit"),
    "pkg": _group("get", "set delete fix"),
    "cache": _group("ls verify dir list", "add", "clean clear"),
    "pm": _group("ls bin hash cache", "trust migrate", ""),
    "workspaces": _group("info list", "foreach run focus", "", _LOOK),
}


def _script_or(name: str) -> Check:
    """`yarn NAME` and `bun NAME`: a subcommand, or else a script of the project."""

    def check(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
        parsed = parse(rule, words[1:], stop_at_operand=True)
        first = parsed.operands[0].value if parsed.operands else None
        known = Rule(
            subcommands=_NODE, bare=_INSTALL, valued=rule.valued, places=rule.places, runs=rule.runs
        )
        if len(words) == 2 and words[1].value == "-v":
            yield Finding(f"{name} -v", Kind.READ_ONLY, f"{name} shows its version")
        elif parsed.operands and first not in _NODE:
            yield from judge_rule(inquiry, SCRIPT, words)
        elif name == "bun" and first == "test":
            yield Finding(
                " ".join(w.source for w in words),
                Kind.VERIFICATION,
                "bun runs the tests",
                proves="tests",
            )
        else:
            yield from judge_rule(inquiry, known, words)

    return check


_NPM_PLACES = "--prefix -C --dir --cwd"


def _cargo(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """A toolchain may stand before the subcommand."""
    rest = [w for i, w in enumerate(words) if i != 1 or not re.match(r"\+[\w.-]+$", w.known)]
    text = " ".join(w.source for w in words)
    for found in judge_rule(inquiry, rule._replace(check=None, subcommands=_CARGO), rest):
        yield found._replace(text=text)


_CARGO_BUILD = rule(
    VERIFY,
    "builds",
    proves="build",
    operands=TEXT,
    runs="--config -Z",
    mutates="--fix",
    valued="-p --package --features -F --target --test --bin --example --bench --profile -j ",
    places="--manifest-path",
    writes="--target-dir --out-dir --artifact-dir",
    known="--target --test --tests --benches --bench --bins --bin --color",
)
_CARGO_TEST = _CARGO_BUILD._replace(proves="tests", does="runs the tests")
_CARGO_LINT = _CARGO_BUILD._replace(proves="lint", does="lints")
_FMT = rule(MUTATE, "formats files", operands=TEXT, spares="--check", runs="--config --config-path")
_CARGO: dict[str, Rule] = {
    **each("build b check c doc d rustc rustdoc", _CARGO_BUILD),
    **each("test t bench nextest miri llvm-cov tarpaulin", _CARGO_TEST),
    **each("clippy audit deny udeps machete semver-checks", _CARGO_LINT),
    **each(
        "tree metadata search info version help pkgid locate-project verify-project "
        "read-manifest outdated config",
        rule(READ, "only shows", operands=TEXT, runs="--config -Z", places="--manifest-path"),
    ),
    "fmt": _FMT,
    **each(
        "run r clean update add remove rm fetch vendor init new fix generate-lockfile "
        "package watch insta",
        _CHANGE,
    ),
    **each("publish yank owner login logout install uninstall", _PUBLISH),
}
_GO_RUNS = "-toolexec -exec -vettool -overlay -modfile -C -fuzz"
_GO = rule(
    VERIFY,
    "builds",
    proves="build",
    operands=TEXT,
    single=True,
    runs=_GO_RUNS,
    writes="-o -coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile -trace -outputdir",
    valued="-run -tags -count -timeout -bench -p -mod -ldflags -gcflags -asmflags -cover -parallel "
    "-covermode -coverpkg -skip -shuffle -f",
)
_GO_LOOK = rule(
    READ,
    "only shows",
    operands=TEXT,
    single=True,
    runs="-toolexec -exec -overlay -modfile -C",
    mutates="-w -u",
    valued="-f -m -tags",
)


def _go(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Linker and compiler flags can name another program to run."""
    text = " ".join(w.source for w in words)
    if re.search(r"-extld|-toolexec|-fplugin|-wrapper|-B\b", text):
        yield Finding(text, Kind.UNKNOWN, "its flags name another program to run")
    elif any(outside(w.known, inquiry.scope) for w in parse(rule, words[1:]).operands):
        yield Finding(text, Kind.UNKNOWN, "it builds code from outside the workspace")
    else:
        yield from judge_words(inquiry, rule, words)


_POETRY_LOOKS = "show check about search help tree list ls info debug"
PACKAGES = table(
    {
        "npm": Rule(
            subcommands=_NODE,
            valued=names("--filter -w -F --workspace"),
            places=names(_NPM_PLACES),
            runs=names(NPM_RUNS),
            bare=_LOOK,
        ),
        "yarn pnpm": rule(
            MUTATE,
            "installs",
            check=_script_or("yarn"),
            places=_NPM_PLACES,
            valued="--filter -F -w --workspace",
            runs=NPM_RUNS,
        ),
        "bun": rule(
            MUTATE, "installs", check=_script_or("bun"), runs="-e --eval -p --print --preload -r"
        ),
        "corepack nvm fnm volta asdf mise rbenv pyenv rustup sdk": Rule(
            subcommands={
                **each(
                    "ls list current which version versions where show doctor "
                    "list-remote ls-remote",
                    _LOOK,
                ),
                "toolchain": _group("list", "", "install uninstall remove"),
                "target": _group("list", "", "add remove"),
                "component": _group("list", "", "add remove"),
                **each(
                    "install use uninstall default global local shell update enable prepare set",
                    _PUBLISH,
                ),
            },
            bare=_LOOK,
        ),
        "pip pip3": rule(
            READ,
            "handles packages",
            runs="--python --config-settings",
            valued="--log --proxy",
            subcommands={
                **each("list show freeze check inspect search debug help hash", _LOOK),
                "config": _group("list get debug", "set unset edit"),
                "index": _group("versions"),
                "cache": _group("list info dir", "", "purge remove"),
                **each("install uninstall download wheel", _INSTALL),
            },
        ),
        "pipx": Rule(
            subcommands={
                "list": _LOOK,
                "environment": _LOOK,
                "run": RUNNER,
                **each("install uninstall upgrade inject", _PUBLISH),
            }
        ),
        "uv": Rule(
            places=frozenset(("--directory", "--project")),
            runs=frozenset(("--config-file",)),
            subcommands={
                "pip": Rule(
                    subcommands={
                        **each("list show freeze check tree", _LOOK),
                        **each("install uninstall sync compile", _INSTALL),
                    }
                ),
                **each("tree version help", _LOOK),
                "python": _group("list find dir", "pin", "install uninstall"),
                "tool": Rule(
                    subcommands={
                        "list": _LOOK,
                        "dir": _LOOK,
                        "run": RUNNER,
                        **each("install uninstall upgrade", _PUBLISH),
                    }
                ),
                "cache": _group("dir", "", "clean prune"),
                "run": RUNNER,
                "build": _BUILD,
                **each("sync lock add remove init venv export", _CHANGE),
                "publish": _PUBLISH,
            },
        ),
        "poetry pdm pipenv hatch rye": Rule(
            subcommands={
                "version": _VERSION,
                **each(_POETRY_LOOKS, _LOOK),
                **each("graph verify --venv --py", _LOOK),
                "env": _group("info list show find", "use remove create prune"),
                "run": RUNNER,
                "build": _BUILD,
                **each("test", rule(VERIFY, "runs the tests", proves="tests")),
                **each(
                    "install add remove lock update sync init new export uninstall clean "
                    "self shell",
                    _CHANGE,
                ),
                **each("publish", _PUBLISH),
            },
        ),
        "conda mamba micromamba": Rule(
            subcommands={
                **each("list info search", _LOOK),
                "env": _group("list", "export", "create remove update"),
                "config": rule(DESTROY, "changes settings", spares="--show --get"),
                "run": RUNNER,
                **each("install create remove update activate deactivate clean", _PUBLISH),
            },
        ),
        "cargo": rule(VERIFY, "builds", check=_cargo),
        "go": Rule(
            subcommands={
                **each("build vet", _GO._replace(check=_go)),
                "test": _GO._replace(check=_go, proves="tests", does="runs the tests"),
                **each("list env version doc", _GO_LOOK),
                "help": _LOOK,
                "mod": _group("graph why verify", "tidy download init edit vendor"),
                "work": _group("", "init use sync edit vendor"),
                "tool": _group("", "cover", "", _LOOK),
                **each("fmt run generate get clean fix", _CHANGE),
                **each("install telemetry", _PUBLISH),
            },
        ),
        "bundle bundler": Rule(
            subcommands={
                **each("list show check outdated info env platform", _LOOK),
                "config": _group("list get", "set unset", "", _LOOK),
                "exec": RUNNER,
                **each("install update add remove lock package init", _CHANGE),
            },
            bare=_CHANGE,
        ),
        "gem": Rule(
            subcommands={
                **each(
                    "list info search environment env which contents outdated "
                    "specification dependency",
                    _LOOK,
                ),
                "build": _BUILD,
                **each("install uninstall update push cleanup", _PUBLISH),
            }
        ),
        "composer": Rule(
            subcommands={
                **each(
                    "show info outdated licenses depends why prohibits search status about "
                    "diagnose",
                    _LOOK,
                ),
                "validate": _CHECK,
                "audit": _CHECK,
                **each("run-script run test", SCRIPT),
                **each("install update require remove dump-autoload create-project", _CHANGE),
            },
        ),
        "dotnet": Rule(
            bare=_LOOK,
            subcommands={
                **each("--info --list-sdks --list-runtimes list help", _LOOK),
                **each("build msbuild pack", _BUILD),
                "test": _BUILD._replace(proves="tests"),
                "format": rule(MUTATE, "formats", spares="--verify-no-changes"),
                **each("restore add remove new clean run sln publish ef tool", _CHANGE),
                "nuget": _PUBLISH,
            },
        ),
        "mix swift stack cabal zig dart flutter rebar3 dune opam": Rule(
            subcommands={
                **each("build compile assemble", _BUILD),
                **each("test eunit ct", _BUILD._replace(proves="tests")),
                **each("analyze credo dialyzer check", _CHECK),
                **each("deps.tree hex.outdated help version doctor devices env list", _LOOK),
                "format": rule(
                    MUTATE,
                    "formats",
                    spares="--check-formatted --set-exit-if-changed --output=none",
                ),
                **each("run deps.get get clean package pub install", _CHANGE),
            },
        ),
        "bazel bazelisk buck2 pants": Rule(
            subcommands={
                **each("query cquery aquery info version help", _LOOK),
                "build": _BUILD,
                "test": _BUILD._replace(proves="tests"),
                **each("run clean sync fetch", _CHANGE),
            },
        ),
        "twine": Rule(subcommands={"check": _CHECK, "upload": _PUBLISH}),
        "lerna nx turbo": Rule(
            subcommands={
                **each("ls list changed show", _LOOK),
                **each("run test lint build affected run-many", SCRIPT),
                **each("bootstrap clean init add version", _CHANGE),
                "publish": _PUBLISH,
            },
        ),
    }
)
