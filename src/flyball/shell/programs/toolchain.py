"""Build tools that come with a language: cargo, go, dotnet and similar ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from flyball.shell.judgement import CommandKind, Finding
from flyball.shell.programs.package import BUILD, CHANGE, CHECK, LOOK, PUBLISH, QUERY, group
from flyball.shell.rows import MUTATE, READ, TEXT, VERIFY, each, rule, table
from flyball.shell.rule import Inquiry, Rule, judge_rule, judge_words, parse
from flyball.shell.words.pattern import Pattern
from flyball.shell.words.place import outside
from flyball.shell.words.word import Word


def _cargo(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge cargo; a toolchain may come before the subcommand."""
    rest = [w for i, w in enumerate(words) if i != 1 or not re.match(r"\+[\w.-]+$", w.known)]
    text = " ".join(w.source for w in words)
    floor = CommandKind.READ_ONLY if len(rest) == len(words) else CommandKind.VERIFICATION
    if [w.value for w in rest[1:2]] == ["fmt"]:
        # What stands behind the dashes is for rustfmt, as if it stood before them.
        rest = [w for w in rest if w.value != "--"]
    for found in judge_rule(inquiry, rule._replace(check=None, subcommands=_CARGO), rest):
        kept = found.at_least(floor, "a toolchain may be fetched, or be a program of the user's")
        yield kept._replace(text=text)


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
_FMT = rule(
    MUTATE,
    "formats files",
    operands=TEXT,
    spares="--check",
    runs="--config --config-path --print-config",
)
_CARGO: dict[str, Rule] = {
    **each("build b check c doc d rustc rustdoc", _CARGO_BUILD),
    **each("test t bench nextest miri llvm-cov tarpaulin", _CARGO_TEST),
    **each("clippy audit deny outdated udeps machete semver-checks", _CARGO_LINT),
    **each(
        "tree metadata search info version help pkgid locate-project verify-project read-manifest "
        "config",
        rule(READ, "only shows", operands=TEXT, runs="--config -Z", places="--manifest-path"),
    ),
    "fmt": _FMT,
    **each(
        "run r clean update add remove rm fetch vendor init new fix generate-lockfile package "
        "watch insta",
        CHANGE,
    ),
    **each("publish yank owner login logout install uninstall", PUBLISH),
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
    valued="-run -tags -count -timeout -bench -p -mod -ldflags -gcflags -asmflags -cover "
    "-parallel -covermode -coverpkg -skip -shuffle -f",
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
    """Judge go: linker and compiler flags can name another program to run."""
    text = " ".join(w.source for w in words)
    if re.search(r"-extld|-toolexec|-fplugin|-wrapper|-B\b", text):
        yield Finding(text, CommandKind.UNKNOWN, "its flags name another program to run")
    elif any(outside(w.known, inquiry.scope) for w in parse(rule, words[1:]).operands):
        yield Finding(text, CommandKind.UNKNOWN, "it builds code from outside the workspace")
    else:
        yield from judge_words(inquiry, rule, words)


_GO_BUILDS = Pattern(r"--?(export|compiled|mod=mod|mod|toolchain)(=.*)?")


def _go_list(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `go list`: some options build packages, or let it change go.mod."""
    builds = any(_GO_BUILDS.fullmatch(word.known) for word in words[1:])
    floor = CommandKind.VERIFICATION if builds else CommandKind.READ_ONLY
    for found in judge_words(inquiry, rule, words):
        yield found.at_least(floor, "it builds packages, or may change go.mod")


TOOLCHAINS = table(
    {
        "cargo": rule(
            VERIFY,
            "builds",
            check=_cargo,
            runs="--config -Z -C",
            valued="--color",
            places="--manifest-path",
            bare=rule(READ, "only shows", operands=TEXT, runs="--config -Z -C"),
        ),
        "go": Rule(
            subcommands={
                **each("build vet", _GO._replace(check=_go)),
                "test": _GO._replace(check=_go, proves="tests", does="runs the tests"),
                "list": _GO_LOOK._replace(check=_go_list),
                **each("env version doc", _GO_LOOK),
                "help": LOOK,
                "mod": Rule(
                    subcommands={
                        **each("graph why verify", LOOK),
                        **each("tidy download init vendor", CHANGE),
                        "edit": rule(MUTATE, "changes go.mod", spares="-json -print", single=True),
                    }
                ),
                "work": group("", "init use sync edit vendor"),
                "tool": Rule(
                    bare=LOOK,
                    subcommands={
                        **each("nm objdump addr2line", LOOK),
                        "cover": CHANGE,
                        "dist": group("list version", "bootstrap install test clean"),
                    },
                ),
                **each("fmt run generate get clean fix install", CHANGE),
                **each("telemetry", PUBLISH),
            },
        ),
        "dotnet": Rule(
            bare=LOOK,
            subcommands={
                **each("--info --list-sdks --list-runtimes list help", LOOK),
                **each("build msbuild pack", BUILD),
                "test": BUILD._replace(proves="tests"),
                "format": rule(MUTATE, "formats", spares="--verify-no-changes"),
                **each("restore add remove new clean run publish ef tool", CHANGE),
                "sln": group("list", "add remove migrate"),
                "nuget": group("list", "", "push delete add remove update enable disable sign"),
            },
        ),
        "mix": Rule(
            subcommands={
                **each("compile", BUILD),
                "test": BUILD._replace(proves="tests"),
                **each("credo dialyzer", CHECK),
                **each("run deps.get clean", CHANGE),
                # Each task evaluates mix.exs, which may name others by these words.
                **each("deps.tree hex.outdated help", QUERY),
                "format": rule(MUTATE, "formats", spares="--check-formatted"),
            }
        ),
        "swift stack cabal zig dart flutter rebar3 dune opam": Rule(
            subcommands={
                **each("build compile assemble", BUILD),
                **each("test eunit ct", BUILD._replace(proves="tests")),
                **each("analyze check", CHECK),
                **each("help version doctor devices env list", LOOK),
                "format": rule(
                    MUTATE,
                    "formats",
                    spares="--check-formatted --set-exit-if-changed --output=none",
                ),
                **each("run deps.get get clean package pub install", CHANGE),
            },
        ),
        "bazel bazelisk buck2 pants": Rule(
            subcommands={
                **each("query cquery aquery info", QUERY),
                **each("version help", LOOK),
                "build": BUILD,
                "test": BUILD._replace(proves="tests"),
                **each("run clean sync fetch", CHANGE),
            },
        ),
    }
)
