"""Go, Rust, Java, .NET and C: what is compiled before it is tested."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from flyball.core.suite.case import SuiteCase
from flyball.regex import regex
from flyball.tools.call.protocol import CallContext
from flyball.tools.runner.layout import Land
from flyball.tools.runner.reports.cargo import from_cargo
from flyball.tools.runner.reports.console import from_text
from flyball.tools.runner.reports.golang import from_go_json
from flyball.tools.runner.reports.junit import ctest_case, java_case, junit
from flyball.tools.runner.reports.output import printed, reported
from flyball.tools.runner.reports.trx import from_trx
from flyball.tools.runner.row import Runner, accepts, adding

_GO_TEST = regex(r".*_test\.go")
_GO_VALUES = frozenset(
    {"-run", "-skip", "-count", "-timeout", "-bench", "-cpu", "-parallel", "-shuffle", "-tags"}
)


def _has_go_tests(land: Land) -> bool:
    return land.has("go.mod") and bool(land.matching(_GO_TEST))


def _go(_context: CallContext, land: Land, args: Sequence[str]) -> list[str]:
    flags: list[str] = []
    packages: list[str] = []
    waiting = iter(args)
    for word in waiting:
        if word.startswith("-"):
            flags.append(word)
            if word in _GO_VALUES:
                flags += [value for value in [next(waiting, None)] if value is not None]
        else:
            packages.append(_go_package(word, land))
    return ["go", "test", "-json", *flags, *(dict.fromkeys(packages) or ("./...",))]


def _go_package(word: str, land: Land) -> str:
    """A package as go wants it: a file stands for its directory, a directory for itself."""
    if word.endswith(".go"):
        word = os.fspath(Path(word).parent)
    bare = word.removeprefix("./").removesuffix("/...").rstrip("/")
    is_folder = bare in ("", ".", "...") or any(path.startswith(f"{bare}/") for path in land.files)
    return word if word.startswith(".") or not is_folder else f"./{word}"


def _go_select(files: Sequence[str], cases: Sequence[SuiteCase]) -> tuple[str, ...] | None:
    """Packages of files, or whole tests by name; one start cannot mix the two."""
    if files and cases:
        return None
    if files:
        return tuple(dict.fromkeys(f"./{Path(path).parent}" for path in files))
    tops = {case.suite[1] if len(case.suite) > 1 else case.name for case in cases}
    packages = {case.suite[0] for case in cases if case.suite}
    if not tops or "(package)" in tops:
        return None
    return ("-run", f"^({'|'.join(sorted(map(re.escape, tops)))})$", *sorted(packages))


def _has_cargo(land: Land) -> bool:
    return land.has("Cargo.toml")


def _cargo(_context: CallContext, _land: Land, args: Sequence[str]) -> list[str]:
    return ["cargo", "test", "--no-fail-fast", *args]


def _cargo_select(files: Sequence[str], cases: Sequence[SuiteCase]) -> tuple[str, ...] | None:
    if files or not cases or any("documentation" in case.suite for case in cases):
        return None
    names = dict.fromkeys("::".join((*case.suite[1:], case.name)) for case in cases)
    return ("--", "--exact", *names)


_JAVA_TEST = regex(r"(?:.*/)?src/(?:test|[a-zA-Z]*Test)/.+\.(?:java|kt|groovy|scala)")


def _has_pom(land: Land) -> bool:
    return land.has("pom.xml") and bool(land.matching(_JAVA_TEST))


def _maven(context: CallContext, land: Land, args: Sequence[str]) -> list[str]:
    program = "./mvnw" if land.has("mvnw") else "mvn"
    offline = () if context.settings.network else ("-o",)
    # Without this one module's failure would keep the tests of those after it from running.
    fixed = ("-B", "-ntp", "--fail-at-end", *offline)
    return [program, *fixed, "test", *args]


def _maven_select(files: Sequence[str], cases: Sequence[SuiteCase]) -> tuple[str, ...] | None:
    named = [Path(path).stem for path in files]
    for case in cases:
        owner = case.suite[0] if case.suite else ""
        named.append(f"{owner}#{case.name}" if owner else case.name)
    if not named:
        return None
    return (f"-Dtest={','.join(named)}", "-Dsurefire.failIfNoSpecifiedTests=false")


def _surefire(context: CallContext) -> list[Path]:
    return _fresh(context, "target/surefire-reports/TEST-*.xml")


def _has_gradle(land: Land) -> bool:
    return land.has("build.gradle", "build.gradle.kts") and bool(land.matching(_JAVA_TEST))


def _gradle(context: CallContext, land: Land, args: Sequence[str]) -> list[str]:
    program = "./gradlew" if land.has("gradlew") else "gradle"
    offline = () if context.settings.network else ("--offline",)
    return [program, "--console=plain", "--continue", "--no-daemon", *offline, "test", *args]


def _gradle_select(files: Sequence[str], cases: Sequence[SuiteCase]) -> tuple[str, ...] | None:
    named = [f"*{Path(path).stem}" for path in files]
    named += [".".join((*case.suite, case.name)) for case in cases]
    return tuple(word for name in dict.fromkeys(named) for word in ("--tests", name)) or None


def _gradle_results(context: CallContext) -> list[Path]:
    return _fresh(context, "build/test-results/*/TEST-*.xml")


def _fresh(context: CallContext, pattern: str) -> list[Path]:
    """Reports of this very start; those that an earlier one left say nothing about it."""
    began = context.shelf.stat().st_mtime
    found = [*context.workdir.glob(pattern), *context.workdir.glob(f"*/**/{pattern}")]
    plain = (path for path in found if path.is_file() and not path.is_symlink())
    return sorted({path for path in plain if path.stat().st_mtime >= began})


_DOTNET = regex(r".*\.(?:[cf]sproj|slnx?)")
_DOTNET_SUITE = regex(r"Microsoft\.NET\.Test\.Sdk|xunit|NUnit|MSTest", re.I)


def _has_dotnet(land: Land) -> bool:
    return any(_DOTNET_SUITE.search(land.text(path)) for path in land.matching(_DOTNET))


def _dotnet(context: CallContext, _land: Land, args: Sequence[str]) -> list[str]:
    return ["dotnet", "test", "--nologo", *_trx(context), *args]


def _trx(context: CallContext) -> list[str]:
    # A prefix and not a file name: each test project writes a report of its own.
    logger = "trx;LogFilePrefix=report"
    return ["--logger", logger, "--results-directory", os.fspath(context.shelf)]


def _dotnet_select(files: Sequence[str], cases: Sequence[SuiteCase]) -> tuple[str, ...] | None:
    named = [f"FullyQualifiedName~{Path(path).stem}" for path in files]
    named += [f"FullyQualifiedName={'.'.join((*case.suite, case.name))}" for case in cases]
    return ("--filter", "|".join(dict.fromkeys(named))) if named else None


def _has_ctest(land: Land) -> bool:
    texts = (land.text(path) for path in land.matching(re.compile(r"(?:.*/)?CMakeLists\.txt")))
    return land.has("CMakeLists.txt") and any(
        re.search(r"\b(?:enable_testing|add_test|include\s*\(\s*CTest)\b", text) for text in texts
    )


def _ctest(context: CallContext, _land: Land, args: Sequence[str]) -> list[str]:
    """Built on the shelf: a build directory of another checkout would be refused."""
    build = shlex.quote(os.fspath(context.shelf / "build"))
    run = ["ctest", "--test-dir", os.fspath(context.shelf / "build"), "--output-on-failure"]
    run += [*_ctest_report(context), *args]
    configure = f"cmake -S . -B {build} && cmake --build {build}"
    return ["sh", "-c", f"{configure} && {shlex.join(run)}"]


def _ctest_report(context: CallContext) -> list[str]:
    return ["--output-junit", os.fspath(context.report)]


def _ctest_select(files: Sequence[str], cases: Sequence[SuiteCase]) -> tuple[str, ...] | None:
    if files or not cases:
        return None
    return ("-R", f"^({'|'.join(re.escape(case.name) for case in cases)})$")


ROWS: tuple[Runner, ...] = (
    Runner(
        "go",
        _has_go_tests,
        _go,
        printed(from_go_json),
        accepts("-v -short -failfast -race", " ".join(sorted(_GO_VALUES - {"-tags"}))),
        _go_select,
        tell=adding(lambda _context: ("-json",)),
    ),
    Runner(
        "cargo",
        _has_cargo,
        _cargo,
        printed(from_cargo),
        accepts(
            "--lib --doc --bins --tests --examples --all --workspace --all-features --release -q -v"
            " --exact --ignored --include-ignored --nocapture --no-default-features",
            "-p --package --test --bin --example --features --skip --test-threads",
        ),
        _cargo_select,
    ),
    Runner(
        "maven",
        _has_pom,
        _maven,
        reported(junit(java_case), from_text),
        accepts("-am -amd -q", "-Dtest -pl --projects -Dgroups", names=False),
        _maven_select,
        _surefire,
    ),
    Runner(
        "gradle",
        _has_gradle,
        _gradle,
        reported(junit(java_case), from_text),
        # Another name is another task, such as one that publishes.
        accepts("--rerun-tasks -i -q", "--tests", names=False),
        _gradle_select,
        _gradle_results,
    ),
    Runner(
        "dotnet",
        _has_dotnet,
        _dotnet,
        reported(from_trx, from_text),
        accepts("--no-restore --no-build", "--filter -c --configuration -f --framework -v"),
        _dotnet_select,
        tell=adding(_trx),
    ),
    Runner(
        "ctest",
        _has_ctest,
        _ctest,
        reported(junit(ctest_case), from_text),
        accepts(
            "-V --verbose --rerun-failed --stop-on-failure",
            "-R -E -L -LE -j --timeout",
            names=False,
        ),
        _ctest_select,
        tell=adding(_ctest_report),
    ),
)
