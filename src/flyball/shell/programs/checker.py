"""Test runners, linters, type checkers, compilers: programs that verify."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from flyball.shell.judgement import CommandKind, Finding
from flyball.shell.programs.project import SCRIPT
from flyball.shell.rows import MUTATE, READ, TEXT, UNKNOWN, VERIFY, each, rule, table
from flyball.shell.rule import Check, Inquiry, Rule, judge_words, parse
from flyball.shell.words.names import names
from flyball.shell.words.pattern import Pattern
from flyball.shell.words.place import device, outside
from flyball.shell.words.word import Word, literal


def check_inside(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Require that a program which runs code is pointed only at the workspace's own."""
    parsed = parse(rule, words[1:])
    given = [value for _, value in parsed.flags if value and re.match(r"[/~]|\.\./", value.known)]
    for word in (*parsed.operands, *given):
        if outside(word.known or ".", inquiry.scope) and not device(word.known):
            text = " ".join(w.source for w in words)
            yield Finding(
                text, CommandKind.UNKNOWN, f"{word.source} is code from outside the workspace"
            )
            return
    yield from judge_words(inquiry, rule, words)


def _changes_unless(flags: str, proves: str) -> Check:
    """Return a check for a formatter that rewrites files unless told only to check."""
    sparing = frozenset(flags.split())

    def check(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
        general = judge_words(inquiry, rule, words)[0]
        if general.kind is CommandKind.VERIFICATION and not parse(rule, words[1:]).keeps(*sparing):
            yield general._replace(
                kind=CommandKind.MUTATING, reason=f"{words[0].source} rewrites files"
            )
        else:
            yield general._replace(proves=proves)

    return check


_COMPILER_SHOWS = names(
    "-v -V -version --version -dumpversion -dumpmachine --print -vV -print-search-dirs "
    "-print-sysroot -print-multiarch -print-multi-lib -print-libgcc-file-name --help "
    "-print-resource-dir -print-targets"
)
_PREPROCESSES = Pattern(
    r"-|-E|-d[MDIN]+|-P|-x ?|c|c\+\+|-xc(\+\+)?|-std=[\w+]+|-m(arch|tune)=[\w-]+|/dev/null"
)
"""Words by which a compiler prints its own macros, and reads nothing but its input."""


_COMPILER_CHECKS = Pattern(
    r"[^-@].*|-[IDULl].*|-W(?![pal],)[\w=+-]*|-(std|O|g|m|x|include|isystem|iquote|idirafter)[\w=+.-]*|"
    r"-f(?!.*(plugin|dump|save|profile|time-trace|callgraph|stack-usage|use-ld))[\w=+.-]+|"
    r"-([EPCcwo]|ansi|pedantic|pedantic-errors|pthread|nostdinc|undef)|--noEmit|-noEmit"
)
"""Options of a compiler that only check: everything else may write or run."""


def _compiler(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge compilers: they write their output, except for a syntax check."""
    general = judge_words(inquiry, rule, words)[0]
    asked = [word.value for word in words[1:]]
    prints = asked[:1] == ["--print"] and len(asked) == 2 and "=" not in (asked[1] or "=")
    explains = asked[:1] == ["--explain"] and len(asked) == 2 and asked[1] is not None
    macros = "-E" in asked and all(word and _PREPROCESSES.fullmatch(word) for word in asked)
    shown = [word for word in asked if word != "--verbose"]
    shows = bool(shown) and all(word in _COMPILER_SHOWS for word in shown)
    if prints or explains or macros or shows:
        yield general._replace(
            kind=CommandKind.READ_ONLY, reason="it only shows its version or settings"
        )
        return
    checks = any(word in ("-fsyntax-only", "-E", "--noEmit", "-noEmit") for word in asked)
    checks = checks and all(word and _COMPILER_CHECKS.fullmatch(word) for word in asked)
    if (
        general.kind is CommandKind.MUTATING
        and checks
        and not general.veto
        and "-o" not in general.reason
    ):
        yield general._replace(
            kind=CommandKind.VERIFICATION, reason="it only checks", proves="syntax"
        )
    else:
        yield general


_SETTINGS = Pattern(
    r"addopts=(-[qvxsl]+ ?)*|(xfail_strict|log_\w*level|log_cli\w*|log_(date_)?format|markers|"
    r"log_auto_indent|console_output_style|python_(files|classes|functions)|filterwarnings|"
    r"asyncio_\w+|junit_\w+|timeout\w*|usefixtures|faulthandler_timeout|norecursedirs|"
    r"empty_parameter_set_mark|verbosity_\w+|truncation_\w+)=.*"
)
"""Settings of pytest that neither name a file to write nor bring more options in."""


def check_pytest(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge pytest: a setting on the command line can do what any option can."""
    given = [v for f, v in parse(rule, words[1:]).flags if f in ("-o", "--override-ini")]
    odd = [v for v in given if v is None or not _SETTINGS.fullmatch(v.value or "")]
    for found in check_inside(inquiry, rule, words):
        yield found.at_least(CommandKind.MUTATING, "a setting may name a file") if odd else found


_PYTEST = rule(
    VERIFY,
    "runs the tests",
    operands=TEXT,
    proves="tests",
    check=check_pytest,
    valued="-k -m -n -p -W -o --override-ini --tb --maxfail --cov --durations --rootdir -c "
    "--ignore --deselect --timeout --color --dist --randomly-seed --cov-config --log-level "
    "--log-cli-level --capture --import-mode --durations-min --cov-fail-under",
    writes="--junitxml --junit-xml --log-file --html --json-report-file --report-log --result-log "
    "--resultlog",
    mutates="--snapshot-update --update-snapshots --force-regen --regen-all --inline-snapshot "
    "--debug --update-golden --accept",
    destroys="--basetemp",
    runs="--pastebin --pdbcls",
    known="--pdb --cov --html --log-level --log-cli-level --durations",
)
_UNIT = rule(
    VERIFY,
    "runs the tests",
    operands=TEXT,
    proves="tests",
    check=check_inside,
    valued="-s -p -t -k -b",
    mutates="--update --updateSnapshot -u",
    writes="--outputFile --output-file",
)
_JS_TEST = rule(
    VERIFY,
    "runs the tests",
    operands=TEXT,
    proves="tests",
    check=check_inside,
    mutates="-u --update --updateSnapshot --update-snapshots",
    writes="--outputFile --reporter-options --output",
    valued="-t -c --config --testNamePattern -g --grep --reporter --project --testPathPattern",
)
_LINT = rule(
    VERIFY,
    "lints",
    operands=TEXT,
    proves="lint",
    check=check_inside,
    mutates="--fix --fix-only --unsafe-fixes --add-noqa --write --apply -w --apply-unsafe "
    "--in-place -a -A --autocorrect --autocorrect-all --auto-correct --generate-config "
    "--generate-rcfile --auto-gen-config --install-types "
    "--autofix --createstub",
    writes="--output-file --output -o --cache-dir --cache-location --junit-xml --html-report "
    "--txt-report --xml-report --linecoverage-report --linecount-report --any-exprs-report "
    "--cobertura-xml-report",
    runs="--init-hook --load-plugins --require --python-executable",
    valued="-c --config -f --format --select --ignore --ext --max-line-length --exclude --rules "
    "-d -e --rcfile --line-length -l -E",
    known="--format --output-format --reporter --required-version --write-changes --fix-type "
    "--report-unused-disable-directives --install-hooks",
)
_TYPES = _LINT._replace(proves="types", does="checks types")
_FORMAT = rule(
    VERIFY,
    "checks formatting",
    operands=TEXT,
    valued="-l --line-length --config -c --target-version -t --exclude --profile",
    known="--config",
)
_BUILD = rule(
    VERIFY,
    "builds",
    proves="build",
    operands=TEXT,
    runs="--exec",
    places="--outfile --outdir --output-path --out-dir --out-file -o --output --dist-dir --outDir",
    check=check_inside,
)
_SERVE = rule(MUTATE, "starts a server or watches", operands=TEXT)
_COMPILE = rule(
    MUTATE,
    "writes what it compiles",
    operands=TEXT,
    check=_compiler,
    writes="-o",
    runs="-wrapper -B -fplugin -fpass-plugin -specs --specs -load -Xclang",
    valued="-I -L -l -D -U -std -x -W -f -m",
)


def _covered(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `coverage run` as Python with recording: the program it runs is judged like Python's
    own."""
    text = " ".join(word.source for word in words)
    parsed = parse(rule, words[1:], stop_at_operand=True)
    module = parsed.value("-m")
    start = next((i for i, w in enumerate(words) if w is module), len(words))
    inner = [literal("-m"), *words[start:]] if module else list(parsed.operands)
    own = judge_words(inquiry, rule, words[:start])[0] if module else None
    if own is not None and own.kind is not CommandKind.VERIFICATION:
        yield own._replace(text=text)
        return
    for found in inquiry.command([literal("python"), *inner]):
        yield found._replace(text=text).at_least(CommandKind.VERIFICATION, "it notes what runs")


def _buildifier(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge buildifier, which rewrites files unless a mode says otherwise."""
    general = judge_words(inquiry, rule, words)[0]
    parsed = parse(rule, words[1:])
    mode, lint = parsed.value("-mode"), parsed.value("-lint")
    looks = mode is not None and mode.value in ("check", "diff", "print_if_changed")
    fixes = lint is not None and lint.value not in ("off", "warn")
    if general.kind is CommandKind.MUTATING and looks and not fixes:
        yield general._replace(
            kind=CommandKind.VERIFICATION, reason="it only checks", proves="lint"
        )
    else:
        yield general


def _first(rows: dict[str, Rule], bare: Rule) -> Rule:
    return Rule(subcommands=rows, bare=bare)


_RUFF = {
    "check": _LINT,
    "rule": rule(READ, "shows a rule", operands=TEXT),
    "format": _FORMAT._replace(check=_changes_unless("--check --diff", "lint")),
    **each("config linter version help analyze", rule(READ, "shows", operands=TEXT)),
    "clean": rule(MUTATE, "deletes caches", operands=TEXT),
}

CHECKERS = table(
    {
        "pytest py.test": _PYTEST,
        "unittest nosetests nose2 green ward behave trial stestr phpunit pest rspec minitest "
        "cucumber ctest prove bats shunit2 busted tap ginkgo gotestsum karma qunit tape ava "
        "uvu": _UNIT,
        "jest vitest mocha jasmine": _JS_TEST,
        "playwright cypress": _first(
            {**each("test run", _JS_TEST), **each("open codegen install show-report", _SERVE)},
            rule(READ, "shows help"),
        ),
        "mypy pyright basedpyright pyre pytype ty dmypy flow": _TYPES,
        "flake8 pylint bandit vulture pydocstyle pycodestyle pyflakes djlint radon xenon eslint "
        "oxlint jshint stylelint standard xo markdownlint-cli2 yamllint jsonlint "
        "hadolint actionlint shellcheck semgrep staticcheck revive golint errcheck ineffassign "
        "govulncheck reek brakeman phpcs phpstan psalm cppcheck cpplint detekt swiftlint "
        "luacheck credo tflint checkov trivy ansible-lint codespell typos vale proselint "
        "commitlint knip depcheck dependency-cruiser madge pip-audit safety deptry import-linter "
        "lint-imports interrogate": _LINT,
        "markdownlint": _LINT._replace(
            mutates=_LINT.mutates | {"-f"}, valued=_LINT.valued - {"-f"}
        ),
        "ktlint": _LINT._replace(
            mutates=_LINT.mutates | {"-F", "--format"},
            valued=_LINT.valued - {"--format"},
            known=_LINT.known - {"--format"},
            runs=_LINT.runs | {"-R", "--ruleset"},
        ),
        "golangci-lint": _first(
            {
                "run": _LINT,
                **each("linters version help config", rule(READ, "shows", operands=TEXT)),
            },
            _LINT,
        ),
        "rubocop": _LINT._replace(runs=frozenset(("-r", "--require", "--plugin"))),
        "sqlfluff biome": _first(
            {
                **each("lint check ci", _LINT),
                **each("fix", _SERVE._replace(does="rewrites files")),
                "format": _FORMAT._replace(check=_changes_unless("", "lint")),
            },
            rule(READ, "shows"),
        ),
        "ruff": _first(_RUFF, rule(READ, "shows help")),
        "black isort autopep8 yapf autoflake pyupgrade docformatter rustfmt": _FORMAT._replace(
            mutates=frozenset(("-i", "--in-place", "--overwrite-in-place")),
            check=_changes_unless("--check --diff --check-only -c --quiet-check -d", "lint"),
        ),
        "prettier": _FORMAT._replace(
            mutates=frozenset(("--write", "-w")),
            valued=frozenset(("--config", "--parser", "--ignore-path")),
            proves="lint",
        ),
        "gofmt gofumpt goimports shfmt clang-format": rule(
            READ,
            "prints formatted code",
            mutates="-w --write -i --inplace --in-place",
            valued="-style --style -r -e -ci",
            runs="-cpuprofile",
        ),
        "stylua": rule(
            MUTATE,
            "rewrites files",
            operands=TEXT,
            spares="-c --check",
            valued="-f --config-path -g --glob --stdin-filepath",
        ),
        "taplo": _first(
            {
                **each(
                    "fmt format", rule(MUTATE, "rewrites files", operands=TEXT, spares="--check")
                ),
                **each("lint check validate", _LINT),
                "get": rule(READ, "shows a value"),
            },
            rule(READ, "shows help"),
        ),
        "buildifier": rule(
            MUTATE,
            "rewrites files",
            operands=TEXT,
            single=True,
            runs="-diff_command",
            valued="-mode -lint -type -warnings -path",
            check=_buildifier,
        ),
        "clang-tidy": rule(
            VERIFY,
            "lints",
            proves="lint",
            mutates="-fix --fix --fix-errors -fix-errors --fix-notes -fix-notes",
            runs="-load --load",
            writes="-export-fixes --export-fixes",
        ),
        "coverage": _first(
            {
                **each(
                    "run",
                    rule(
                        VERIFY,
                        "runs the tests",
                        operands=TEXT,
                        proves="tests",
                        check=_covered,
                        valued="--source -m --omit --include --rcfile",
                        writes="--data-file",
                    ),
                ),
                **each(
                    "report html xml json lcov combine annotate debug help",
                    rule(VERIFY, "reports coverage", operands=TEXT, writes="-d --directory -o"),
                ),
                "erase": rule(MUTATE, "deletes coverage data", operands=TEXT),
            },
            rule(READ, "shows help"),
        ),
        "tsc vue-tsc": rule(
            VERIFY,
            "checks types",
            operands=TEXT,
            proves="types",
            mutates="--init",
            writes="--outDir --outFile --declarationDir --tsBuildInfoFile --generateTrace "
            "--generateCpuProfile",
            valued="-p --project --target -t --module",
        ),
        "webpack rollup esbuild parcel swc babel sass lessc postcss tailwindcss browserify "
        "tsup": _BUILD,
        "vite next nuxt astro gatsby remix vue-cli-service react-scripts ng svelte-kit expo "
        "rsbuild": _first(
            {
                **each("build prerender export", _BUILD),
                **each("lint", _LINT),
                **each("test", _JS_TEST),
                **each("check typecheck info", _TYPES),
                **each("dev start serve preview generate add new eject", _SERVE),
            },
            _SERVE,
        ),
        "meson": _first(
            {
                **each("compile", _BUILD),
                "test": _UNIT,
                "introspect": rule(READ, "shows"),
                "setup": rule(MUTATE, "configures", operands=TEXT),
            },
            rule(READ, "shows help"),
        ),
        "cmake": rule(
            MUTATE,
            "configures or builds",
            operands=TEXT,
            runs="-E -P -C",
            valued="-S -G -D -B --preset --target -j --config",
            spares="--version -N",
        ),
        "sphinx-build mkdocs hugo jekyll doxygen typedoc jsdoc": rule(
            MUTATE, "writes pages", operands=TEXT
        ),
        "gcc g++ cc c++ clang clang++ javac kotlinc rustc ghc nvcc ld as nasm gfortran swiftc "
        "protoc dmd fpc ocamlc ocamlopt scalac": _COMPILE,
        "vapor hyperfine nodemon entr concurrently": rule(UNKNOWN, "runs commands given as text"),
        "alembic flyway liquibase prisma sequelize knex": rule(
            MUTATE, "may change a database", operands=TEXT
        ),
        "flask uvicorn gunicorn hypercorn daphne celery streamlit jupyter rails puma": rule(
            MUTATE, "starts the project's own program", operands=TEXT
        ),
        "npm-run-all run-s run-p": SCRIPT,
    }
)
