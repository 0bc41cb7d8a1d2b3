"""Go, Rust, Java, .NET and C, which are compiled before testing."""

from __future__ import annotations

import os
import posixpath
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import msgspec

from flyball.regex import regex
from flyball.verdict.case import SuiteCase
from flyball.verdict.part import is_within
from flyball.verdict.runners.layout import FileIndex
from flyball.verdict.runners.pace import Steps
from flyball.verdict.runners.reports.cargo import from_cargo
from flyball.verdict.runners.reports.console import from_text
from flyball.verdict.runners.reports.golang import from_go_json
from flyball.verdict.runners.reports.junit import ctest_case, java_case, junit
from flyball.verdict.runners.reports.output import printed, reported
from flyball.verdict.runners.reports.trx import from_trx
from flyball.verdict.runners.row import Runner, accepts, adding, split_words
from flyball.verdict.runners.start_context import StartContext

_GO_TEST = regex(r".*_test\.go")
_GO_VALUES = frozenset(
    {"-run", "-skip", "-count", "-timeout", "-bench", "-cpu", "-parallel", "-shuffle", "-tags"}
)


def _has_go_tests(land: FileIndex) -> bool:
    return land.has("go.mod") and bool(land.matching(_GO_TEST))


_GO_WORDS = accepts("-v -short -failfast -race", " ".join(sorted(_GO_VALUES)))


def _go(_context: StartContext, land: FileIndex, args: Sequence[str]) -> list[str]:
    flags, names = split_words(_GO_WORDS, args)
    packages = [_go_package(name, land) for name in names]
    tests = [name.partition("::")[2].replace("::", "/") for name in names if "::" in name]
    flags += ["-run", f"^({'|'.join(tests)})$"] if tests and "-run" not in flags else []
    return ["go", "test", "-json", *flags, *(dict.fromkeys(packages) or ("./...",))]


def _go_build(_context: StartContext, _land: FileIndex, _args: Sequence[str]) -> list[str]:
    """Compile, vet and link every test, and run `true` instead of it."""
    return ["go", "test", "-run", "^$", "-exec", "true", "./..."]


def _go_package(word: str, land: FileIndex) -> str:
    """Return a package as go expects it: `...` alone would be every package that Go knows.

    A file means its directory, and a directory the tests in or below it.
    """
    path, is_below = word.partition("::")[0].rstrip("/"), False
    if path.endswith(".go"):
        path = posixpath.dirname(path)
    elif path == "..." or path.endswith("/..."):
        path, is_below = path.removesuffix("..."), True
    bare = posixpath.normpath(path)
    if bare == ".":
        return "./..." if is_below else "."
    if not any(file.startswith(f"{bare}/") for file in land.files):
        return word
    tested = [posixpath.dirname(file) for file in land.matching(_GO_TEST)]
    is_below |= bare not in tested and any(is_within(each, bare) for each in tested)
    return f"./{bare}/..." if is_below else f"./{bare}"


def _go_select(files: Sequence[str], cases: Sequence[SuiteCase]) -> tuple[str, ...] | None:
    """Select packages by file, or whole tests by name; one start cannot mix the two."""
    if files and cases:
        return None
    if files:
        return tuple(dict.fromkeys(f"./{Path(path).parent}" for path in files))
    tops = {case.suite[1] if len(case.suite) > 1 else case.name for case in cases}
    packages = {case.suite[0] for case in cases if case.suite}
    if not tops or "(package)" in tops:
        return None
    return ("-run", f"^({'|'.join(sorted(map(re.escape, tops)))})$", *sorted(packages))


def _has_cargo(land: FileIndex) -> bool:
    return land.has("Cargo.toml")


_CARGO_WORDS = accepts(
    "--lib --doc --bins --tests --examples --all --workspace --all-features --release -q -v"
    " --exact --ignored --include-ignored --nocapture --no-default-features",
    "-p --package --test --bin --example --features --skip --test-threads",
)
_CARGO_NAME = regex(r"^\[package\][^\[]*?^name\s*=\s*[\"']([^\"']+)", re.M | re.S)


def _cargo(_context: StartContext, land: FileIndex, args: Sequence[str]) -> list[str]:
    """Return Cargo's names for files and directories, because it accepts no path."""
    ours = args[: args.index("--")] if "--" in args else args
    options, names = split_words(_CARGO_WORDS, ours)
    words = [word for name in names for word in _cargo_words(name, land)]
    is_whole = not {"-p", "--package", "--workspace", "--all"} & {*options, *words}
    everything = ["--workspace"] if is_whole and is_workspace(land) else []
    return ["cargo", "test", "--no-fail-fast", *everything, *options, *words, *args[len(ours) :]]


def _cargo_build(_context: StartContext, land: FileIndex, _args: Sequence[str]) -> list[str]:
    """Build the tests and keep only dependencies: the project's own packages are always rebuilt."""
    everything = "--workspace " if is_workspace(land) else ""
    forget = "cargo clean --workspace 2>/dev/null"
    return ["sh", "-c", f"cargo test --no-run --no-fail-fast {everything}; {forget}"]


def is_workspace(land: FileIndex) -> bool:
    """Return whether one `cargo test` at the top tests every member of a workspace."""
    manifest = land.text("Cargo.toml")
    return "[workspace]" in manifest and "default-members" not in manifest


def _cargo_words(name: str, land: FileIndex) -> list[str]:
    path, _, inner = name.partition("::")
    bare = posixpath.normpath(path)
    tests = [inner] if inner else []
    if bare.endswith(".rs") and land.has(bare):
        crate = _cargo_crate(posixpath.dirname(bare), land)
        stem = posixpath.basename(bare).removesuffix(".rs")
        folder = posixpath.relpath(posixpath.dirname(bare) or ".", crate)
        package = _cargo_package(crate, land)
        if folder == "tests":
            return [*package, "--test", stem, *tests]
        modules = posixpath.relpath(bare, posixpath.join(crate, "src")).removesuffix(".rs")
        parts = [each for each in modules.split("/") if each not in ("lib", "main", "mod", "..")]
        return [*package, *filter(None, ["::".join([*parts, *tests])])]
    if bare == "." or any(file.startswith(f"{bare}/") for file in land.files):
        return _cargo_package(_cargo_crate(bare, land), land)
    return [name]


def _cargo_crate(folder: str, land: FileIndex) -> str:
    """Return the directory of the crate that a directory belongs to."""
    while folder not in ("", "."):
        if land.has(f"{folder}/Cargo.toml"):
            return folder
        folder = posixpath.dirname(folder)
    return "."


def _cargo_package(crate: str, land: FileIndex) -> list[str]:
    found = _CARGO_NAME.search(land.text(f"{crate}/Cargo.toml")) if crate != "." else None
    return ["-p", found[1]] if found else []


def _cargo_select(files: Sequence[str], cases: Sequence[SuiteCase]) -> tuple[str, ...] | None:
    if files or not cases or any("documentation" in case.suite for case in cases):
        return None
    names = dict.fromkeys("::".join((*case.suite[1:], case.name)) for case in cases)
    return ("--", "--exact", *names)


_JAVA_TEST = regex(r"(?:.*/)?src/(?:test|[a-zA-Z]*Test)/.+\.(?:java|kt|groovy|scala)")


def _has_pom(land: FileIndex) -> bool:
    return land.has("pom.xml") and bool(land.matching(_JAVA_TEST))


def _maven(context: StartContext, land: FileIndex, args: Sequence[str]) -> list[str]:
    program = "./mvnw" if land.has("mvnw") else "mvn"
    offline = () if context.settings.network else ("-o",)
    # Without this one module's failure would keep the tests of those after it from running.
    fixed = ("-B", "-ntp", "--fail-at-end", *offline)
    options, names = split_words(_MAVEN_WORDS, args)
    wanted = [f"-Dtest={','.join(map(_java_class, names))}", _MAVEN_SOME] if names else []
    return [program, *fixed, "test", *options, *wanted]


_JAVA_NAME = r"(?:.*/)?[A-Z][\w$*]*(?:\.(?:java|kt|groovy|scala))?(?:::\w+)?"
"""A class or its file: any other word would be a goal or a task, such as one that publishes."""
_MAVEN_WORDS = accepts("-am -amd -q", "-Dtest -pl --projects -Dgroups", like=_JAVA_NAME)
_MAVEN_SOME = "-Dsurefire.failIfNoSpecifiedTests=false"


def _java_class(name: str, dot: str = "#") -> str:
    """Return the class in a file, or a class and its test, in the notation of the build tools."""
    path, _, inner = name.partition("::")
    stem = Path(path).stem if "/" in path or Path(path).suffix in _JAVA else path
    return f"{stem}{dot}{inner}" if inner else stem


_JAVA = frozenset({".java", ".kt", ".groovy", ".scala"})


def _maven_select(files: Sequence[str], cases: Sequence[SuiteCase]) -> tuple[str, ...] | None:
    named = [Path(path).stem for path in files]
    for case in cases:
        owner = case.suite[0] if case.suite else ""
        named.append(f"{owner}#{case.name}" if owner else case.name)
    if not named:
        return None
    return (f"-Dtest={','.join(named)}", _MAVEN_SOME)


def _surefire(context: StartContext) -> list[Path]:
    return _fresh(context, "target/surefire-reports/TEST-*.xml")


def _has_gradle(land: FileIndex) -> bool:
    return land.has("build.gradle", "build.gradle.kts") and bool(land.matching(_JAVA_TEST))


def _gradle(context: StartContext, land: FileIndex, args: Sequence[str]) -> list[str]:
    program = "./gradlew" if land.has("gradlew") else "gradle"
    offline = () if context.settings.network else ("--offline",)
    options, names = split_words(_GRADLE_WORDS, args)
    # A bare name would be another task, such as one that publishes.
    wanted = [word for name in names for word in ("--tests", f"*{_java_class(name, '.')}")]
    fixed = ("--console=plain", "--continue", "--no-daemon", *offline)
    return [program, *fixed, "test", *options, *wanted]


_GRADLE_WORDS = accepts("--rerun-tasks -i -q", "--tests", like=_JAVA_NAME)


def _gradle_select(files: Sequence[str], cases: Sequence[SuiteCase]) -> tuple[str, ...] | None:
    named = [f"*{Path(path).stem}" for path in files]
    named += [".".join((*case.suite, case.name)) for case in cases]
    return tuple(word for name in dict.fromkeys(named) for word in ("--tests", name)) or None


def _gradle_results(context: StartContext) -> list[Path]:
    return _fresh(context, "build/test-results/*/TEST-*.xml")


def _fresh(context: StartContext, pattern: str) -> list[Path]:
    """Return the reports of this start, without those of earlier ones."""
    began = context.shelf.stat().st_mtime
    found = [*context.workdir.glob(pattern), *context.workdir.glob(f"*/**/{pattern}")]
    plain = (path for path in found if path.is_file() and not path.is_symlink())
    return sorted({path for path in plain if path.stat().st_mtime >= began})


_DOTNET = regex(r".*\.(?:[cf]sproj|slnx?)")
_DOTNET_SUITE = regex(r"Microsoft\.NET\.Test\.Sdk|xunit|NUnit|MSTest", re.I)


def _has_dotnet(land: FileIndex) -> bool:
    return any(_DOTNET_SUITE.search(land.text(path)) for path in land.matching(_DOTNET))


def _dotnet(context: StartContext, _land: FileIndex, args: Sequence[str]) -> list[str]:
    return ["dotnet", "test", "--nologo", *_trx(context), *args]


def _trx(context: StartContext) -> list[str]:
    # A prefix and not a file name: each test project writes a report of its own.
    logger = "trx;LogFilePrefix=report"
    return ["--logger", logger, "--results-directory", os.fspath(context.shelf)]


def _dotnet_select(files: Sequence[str], cases: Sequence[SuiteCase]) -> tuple[str, ...] | None:
    named = [f"FullyQualifiedName~{Path(path).stem}" for path in files]
    named += [f"FullyQualifiedName={'.'.join((*case.suite, case.name))}" for case in cases]
    return ("--filter", "|".join(dict.fromkeys(named))) if named else None


def _has_ctest(land: FileIndex) -> bool:
    texts = (land.text(path) for path in land.matching(re.compile(r"(?:.*/)?CMakeLists\.txt")))
    return land.has("CMakeLists.txt") and any(
        re.search(r"\b(?:enable_testing|add_test|include\s*\(\s*CTest)\b", text) for text in texts
    )


def _ctest(context: StartContext, land: FileIndex, args: Sequence[str]) -> list[str]:
    """Build in Flyball's own directory: CMake refuses a build directory of another checkout."""
    build = shlex.quote(os.fspath(context.shelf / "build"))
    run = ["ctest", "--test-dir", os.fspath(context.shelf / "build"), "--output-on-failure"]
    run += [*_ctest_report(context), *args]
    preset = f"--preset {shlex.quote(name)} " if (name := _cmake_preset(land)) else ""
    configure = f"cmake {preset}-S . -B {build} && cmake --build {build}"
    return ["sh", "-c", f"{configure} && {shlex.join(run)}"]


class _CMakePreset(msgspec.Struct, rename="camel"):
    name: str
    hidden: bool = False
    configure_preset: str = ""


class _CMakePresets(msgspec.Struct, rename="camel"):
    configure_presets: list[_CMakePreset] = []
    test_presets: list[_CMakePreset] = []


def _cmake_preset(land: FileIndex) -> str:
    """Return the preset that the tests are configured with; empty if the project names none."""
    try:
        presets = msgspec.json.decode(land.text("CMakePresets.json"), type=_CMakePresets)
    except msgspec.MsgspecError:
        return ""
    tested = [each.configure_preset for each in presets.test_presets if each.configure_preset]
    shown = [each.name for each in presets.configure_presets if not each.hidden]
    return next(iter(tested), shown[0] if len(shown) == 1 else "")


def _ctest_report(context: StartContext) -> list[str]:
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
        _GO_WORDS._replace(options=_GO_WORDS.options - {"-tags"}),
        _go_select,
        steps=Steps(
            regex(r'\{.*"Action":"(?:pass|fail|skip)".*"Test":"([^"]+)"'),
            regex(r'\{.*"Action":"run".*"Test":"([^"]+)"'),
        ),
        tell=adding(lambda _context: ("-json",)),
        build=_go_build,
        typed="go test",
    ),
    Runner(
        "cargo",
        _has_cargo,
        _cargo,
        printed(from_cargo),
        _CARGO_WORDS,
        _cargo_select,
        steps=Steps(
            regex(r"test (.+?)(?: - should panic)? \.\.\. .*\b(?:ok|FAILED|ignored)\b"),
            regex(r"test (.+?)(?: has been running for .*| \.\.\. ?)$"),
        ),
        build=_cargo_build,
        typed="cargo test",
    ),
    Runner(
        "maven",
        _has_pom,
        _maven,
        reported(junit(java_case), from_text),
        _MAVEN_WORDS,
        _maven_select,
        _surefire,
        typed="mvn test",
    ),
    Runner(
        "gradle",
        _has_gradle,
        _gradle,
        reported(junit(java_case), from_text),
        _GRADLE_WORDS,
        _gradle_select,
        _gradle_results,
        typed="gradle test",
    ),
    Runner(
        "dotnet",
        _has_dotnet,
        _dotnet,
        reported(from_trx, from_text),
        accepts("--no-restore --no-build", "--filter -c --configuration -f --framework -v"),
        _dotnet_select,
        tell=adding(_trx),
        typed="dotnet test",
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
