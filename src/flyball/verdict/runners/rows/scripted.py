"""Ruby, PHP, Elixir, Deno and shell suites, and targets of make and just."""

from __future__ import annotations

import os
import posixpath
import re
import shlex
from collections.abc import Callable, Sequence

from flyball.regex import regex
from flyball.verdict.case import SuiteCase
from flyball.verdict.part import is_within
from flyball.verdict.runners.layout import READ_TESTS, FileIndex
from flyball.verdict.runners.reports.console import from_text
from flyball.verdict.runners.reports.documents import from_rspec
from flyball.verdict.runners.reports.junit import file_case, junit, phpunit_case, without_sums
from flyball.verdict.runners.reports.output import RunnerOutput, printed, reported
from flyball.verdict.runners.reports.unknown import documents_left, from_unknown
from flyball.verdict.runners.reports.verbose import from_minitest, from_mix, from_test_unit
from flyball.verdict.runners.row import Argv, Runner, Select, accepts, adding, split_words
from flyball.verdict.runners.start_context import StartContext
from flyball.verdict.runners.start_env import homes_of, program_of
from flyball.verdict.runners.tally import Tally


def _by_file(flag: str = "") -> Select:
    """Return the files of the selected tests, and a pattern of names if single tests are
    selected."""

    def select(files: Sequence[str], cases: Sequence[SuiteCase]) -> tuple[str, ...] | None:
        named = dict.fromkeys([*files, *(case.file for case in cases if case.file)])
        if len([case for case in cases if not case.file]):
            return None
        names = "|".join(dict.fromkeys(re.escape(case.name) for case in cases))
        pattern = (flag, f"^({names})$") if flag and names and not files else ()
        return (*named, *pattern) or None

    return select


def _has_spec(land: FileIndex) -> bool:
    return bool(land.matching(re.compile(r"(?:.*/)?spec/(?:.*/)?[^/]+_spec\.rb")))


def _bundled(land: FileIndex, *words: str) -> list[str]:
    return ["bundle", "exec", *words] if land.has("Gemfile.lock") else [*words]


def _rspec(context: StartContext, land: FileIndex, args: Sequence[str]) -> list[str]:
    return [*_bundled(land, "rspec"), "--no-color", *_rspec_report(context), *args]


def _rspec_report(context: StartContext) -> list[str]:
    return ["--format", "progress", "--format", "json", "--out", os.fspath(context.report)]


_MINITEST = regex(r"(?:.*/)?(?:test_[^/]+|[^/]+_test)\.rb")


def _has_minitest(land: FileIndex) -> bool:
    return land.has("Rakefile", "rakefile") and bool(land.matching(_MINITEST))


def _rake(_context: StartContext, land: FileIndex, args: Sequence[str]) -> list[str]:
    """Return a rake command; Minitest names every test only on request, which rake passes through a
    shell."""
    options, names = split_words(_RAKE_WORDS, args)
    files = [f"{name.rstrip('/')}/**/*.rb" if _is_folder(name, land) else name for name in names]
    wanted = [f"TEST={files[0] if len(files) == 1 else '{' + ','.join(files) + '}'}"]
    start = [*_bundled(land, "rake"), "test", f"TESTOPTS={shlex.join(['-v', *options])}"]
    return [*start, *(wanted if files else ())]


_RAKE_WORDS = accepts("-v", "-n --name -s --seed", like=r".*\.rb|(?:test|spec)/.*|(?:test|spec)")


def _is_folder(name: str, land: FileIndex) -> bool:
    return any(is_within(path, posixpath.normpath(name)) for path in land.files) and (
        not land.has(posixpath.normpath(name))
    )


def _rake_select(files: Sequence[str], cases: Sequence[SuiteCase]) -> tuple[str, ...] | None:
    if files or not cases:
        return None
    # Minitest matches the class and the method, test-unit the method alone.
    names = "|".join(
        f"(?:{re.escape('::'.join(case.suite))}#)?{re.escape(case.name)}" for case in cases
    )
    return (f"--name=/^({names})$/",)


def _has_phpunit(land: FileIndex) -> bool:
    is_settled = land.has("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml")
    return is_settled or "phpunit/phpunit" in land.text("composer.json")


def _phpunit(context: StartContext, _land: FileIndex, args: Sequence[str]) -> list[str]:
    return [
        _composers(context, "vendor/bin/phpunit") or "phpunit",
        "--colors=never",
        "--log-junit",
        os.fspath(context.report),
        *args,
    ]


def _composers(context: StartContext, program: str) -> str:
    """Return the program in the tree's `vendor`, which loads the tree's classes, unless a run
    changed it."""
    installed = next(
        (home / program for home in homes_of(context) if (home / program).exists()), None
    )
    if installed is None:
        return ""
    copy = context.workdir / program
    is_copy = copy.is_file() and copy.read_bytes() == installed.read_bytes()
    return os.fspath(copy if is_copy else installed)


def _phpunit_select(files: Sequence[str], cases: Sequence[SuiteCase]) -> tuple[str, ...] | None:
    if files or not cases:
        return None
    names = "|".join(re.escape("::".join((*case.suite, case.name))) for case in cases)
    return ("--filter", f"/^({names})\\b/")


def _has_mix(land: FileIndex) -> bool:
    return land.has("mix.exs") and bool(land.matching(re.compile(r"(?:.*/)?[^/]+_test\.exs")))


_DENO_TEST = regex(r"(?:.*/)?(?:[^/]*[._])?test\.[cm]?[jt]sx?")


def _has_deno(land: FileIndex) -> bool:
    found = land.matching(_DENO_TEST)[:READ_TESTS]
    is_settled = land.has("deno.json", "deno.jsonc", "deno.lock")
    return is_settled and any(
        "Deno.test" in land.text(path) or "jsr:" in land.text(path) for path in found
    )


def _deno(context: StartContext, _land: FileIndex, args: Sequence[str]) -> list[str]:
    offline = () if context.settings.network else ("--cached-only",)
    report = f"--junit-path={context.report}"
    return [program_of(context, "deno"), "test", "--allow-all", *offline, report, *args]


def _has_bats(land: FileIndex) -> bool:
    return bool(land.matching(re.compile(r".+\.bats")))


def _bats(context: StartContext, land: FileIndex, args: Sequence[str]) -> list[str]:
    """Read the report from stdout: bats writes the file in the background, perhaps too late."""
    found = land.matching(re.compile(r".+\.bats"))
    files = () if any(not word.startswith("-") for word in args) else found
    return [program_of(context, "bats"), "--formatter", "junit", *args, *files]


_DOCUMENT = regex(r"<testsuites?\b.*</testsuites?>", re.S)
_READ_BATS = junit(file_case)


def _read_bats(said: RunnerOutput) -> Tally | None:
    found = _DOCUMENT.search(said.tidy)
    inner = RunnerOutput(said.text, (found[0].encode(),) if found else (), said.place)
    return reported(_READ_BATS, from_text)(inner)


MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_MAKE_TARGET = r"^(?:[\w.-]+[ \t]+)*{}(?:[ \t]+[\w.-]+)*[ \t]*::?(?![:=]*=)"


def make_target(land: FileIndex) -> str:
    """Return the target that tests: `test`, else `check`, else one that builds a test directory."""
    text = next((land.text(name) for name in MAKEFILES if land.has(name)), "")
    for name in ("test", "check"):
        if re.search(_MAKE_TARGET.format(name), text, re.M):
            return name
    if text and land.has("Makefile.am") and "TESTS" in land.text("Makefile.am"):
        return "check"
    inner = (each for each in ("tests", "test") if land.has(*(f"{each}/{m}" for m in MAKEFILES)))
    return next((f"-C {folder}" for folder in inner), "")


def _just_target(land: FileIndex) -> str:
    text = next((land.text(name) for name in ("justfile", "Justfile", ".justfile")), "")
    found = re.search(r"^@?(test|check)\b[^:=\n]*:(?!=)", text, re.M)
    return found[1] if found else ""


def _is_there(target: Callable[[FileIndex], str]) -> Callable[[FileIndex], bool]:
    return lambda land: bool(target(land))


def _described(program: str, target: Callable[[FileIndex], str]) -> Callable[[FileIndex], str]:
    return lambda land: f"{program} {target(land)}"


def _target(program: str, target: Callable[[FileIndex], str]) -> Argv:
    def argv(_context: StartContext, land: FileIndex, _args: Sequence[str]) -> list[str]:
        return [program, *(target(land) or "test").split()]

    return argv


def _plain(*fixed: str) -> Argv:
    return lambda _context, _land, args: [*fixed, *args]


ROWS: tuple[Runner, ...] = (
    Runner(
        "rspec",
        _has_spec,
        _rspec,
        reported(from_rspec, from_text),
        accepts("--fail-fast --only-failures", "-e --example -t --tag --seed"),
        _by_file(),
        tell=adding(_rspec_report),
    ),
    Runner(
        "rake",
        _has_minitest,
        _rake,
        printed(lambda text: from_minitest(text) or from_test_unit(text) or from_text(text)),
        _RAKE_WORDS,
        _rake_select,
    ),
    Runner(
        "phpunit",
        _has_phpunit,
        _phpunit,
        reported(junit(phpunit_case), from_text),
        accepts(
            "--stop-on-failure --stop-on-error --testdox",
            "--filter --group --exclude-group --testsuite",
        ),
        _phpunit_select,
        tell=adding(lambda context: ("--log-junit", os.fspath(context.report))),
    ),
    Runner(
        "mix",
        _has_mix,
        _plain("mix", "test", "--trace", "--no-color"),
        printed(lambda text: from_mix(text) or from_text(text)),
        accepts("--failed --stale", "--only --exclude --include --seed --max-failures"),
        _by_file(),
        tell=adding(lambda _context: ("--trace", "--no-color")),
    ),
    Runner(
        "deno",
        _has_deno,
        _deno,
        reported(without_sums(junit(file_case)), from_text),
        accepts("--fail-fast --parallel", "--filter --shuffle --ignore"),
        _by_file(),
        tell=adding(lambda context: (f"--junit-path={context.report}",)),
    ),
    Runner(
        "bats",
        _has_bats,
        _bats,
        _read_bats,
        accepts("-r --recursive", "-f --filter -j --jobs"),
        _by_file("--filter"),
        tell=adding(lambda _context: ("--formatter", "junit")),
    ),
    Runner(
        "make",
        _is_there(make_target),
        _target("make", make_target),
        from_unknown,
        accepts(names=False),
        reports=documents_left,
        describe=_described("make", make_target),
    ),
    Runner(
        "just",
        _is_there(_just_target),
        _target("just", _just_target),
        from_unknown,
        accepts(names=False),
        reports=documents_left,
        describe=_described("just", _just_target),
    ),
)
