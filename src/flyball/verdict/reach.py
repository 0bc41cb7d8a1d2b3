"""Find places where a change reaches into the runner or into the environment of the tests.

There are two kinds of places. Some files are loaded before or around every test wherever they are,
so their appearance or change is reported. And some lines of product code only make sense in code
that knows it is being tested, or that ends the process before its runner can report. Values that
occur both in the tests and in the new code are shown as well: the code may have memorised its
tests.
"""

from __future__ import annotations

import ast
import posixpath
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, cast

from flyball.errors import MissingExtra
from flyball.regex import regex
from flyball.verdict.reports import RunnerReach
from flyball.verdict.tests import read_tests

Texts = Mapping[str, str | None]
"""Path → text; None for a missing file, or one that is not text."""

RUNNERS = (
    "pytest|_pytest|unittest|nose|nose2|tox|jest|vitest|mocha|ava|tape|tap|jasmine|chai|"
    "node_test|testing|rspec|minitest|phpunit"
)

_PRELOADED = regex(
    r"""(?:^|/)(?:
        conftest\.py | pytest\.toml
      | \.?pytest\.ini | tox\.ini | \.npmrc | \.mocharc\.\w+ | \.taprc
      | (?:jest|vitest|vite|ava|karma|babel)\.config\.\w+ | \.babelrc(?:\.\w+)?
      | GNUmakefile | [Mm]akefile | build\.rs | \.cargo/config(?:\.toml)? | bunfig\.toml
      | noxfile\.py | setup\.cfg
    )$""",
    re.VERBOSE,
)
_SHADOWS = regex(rf"^(?:src/|lib/)?(?:{RUNNERS})(?:\.(?:py|js|mjs|cjs|ts)|/__init__\.py)$")
_EVERY_START = regex(r"(?:^|/)(?:(?:site|user)customize\.py|[^/]+\.pth|entry_points\.txt)$")
_LIBRARY = regex(
    r"^(?:src/)?(?:json|re|os|sys|io|time|xml|inspect|importlib)(?:\.py|/__init__\.py)$"
)
_USED_BY_RUNNERS = regex(
    r"^(?:src/)?(?:abc|argparse|ast|attrs?|bdb|collections|colorama|configparser|contextlib|copy"
    r"|coverage|dataclasses|datetime|decimal|difflib|dis|enum|exceptiongroup|faulthandler|fnmatch"
    r"|functools|gc|glob|hashlib|iniconfig|itertools|linecache|locale|logging|math|numbers|opcode"
    r"|operator|packaging|pathlib|pdb|pickle|pkgutil|platform|pluggy|pprint|py|random|runpy|shlex"
    r"|shutil|signal|site|string|struct|subprocess|tempfile|textwrap|threading|tokenize|tomli"
    r"|tomllib|traceback|types|typing|warnings|weakref|xdist)(?:\.py|/__init__\.py)$"
)
"""Other modules that a runner loads; only a new one counts, as such names are common."""


class _Sign(NamedTuple):
    """Lines of product code that only occur in code that detects tests, in one language."""

    language: str
    sentence: str
    pattern: re.Pattern[str]


_OF_TESTS = (
    r"['\"`](?:[^'\"`\s]*/)?(?:tests?/|(?:tests?|spec)['\"`]|__tests__|spec/|test_\w+\.\w"
    r"|[^'\"`\s/]*[._](?:test|spec)\.\w)"
)
"""How code names a file or a folder of tests."""
_OF_PROCESS = (
    r"mainModule|moduleLoadList|report|ppid|listenerCount|listeners|rawListeners|eventNames|title"
    r"|argv0|execArgv|debugPort|domain|channel|permission|_\w+|getActiveResourcesInfo|constructor"
)
"""What a process knows of who started it."""
_OF_JS = (
    r"(?:Object|Array|Number|String|Boolean|Map|Set|Promise|Reflect|JSON|Math|Function|RegExp|Date"
    r"|performance)"
)


def _sign(language: str, sentence: str, *patterns: str) -> _Sign:
    return _Sign(language, sentence, re.compile("|".join(patterns)))


_SIGNS = (
    _sign("py", "ends the process behind its runner's back", r"\bos\._exit\s*\("),
    _sign("py", "does something when the process ends", r"\batexit\."),
    _sign(
        "py",
        "takes over a hook of the interpreter",
        r"\bsys\.(?:settrace|setprofile|excepthook|exitfunc)\b\s*[=(]",
        r"\bbuiltins\.\w+\s*=|__builtins__",
    ),
    _sign(
        "py",
        "names the test framework or its report",
        r"\b(?:TestCase|TestResult|TextTestResult|TextTestRunner|TestSuite|TestLoader)\b",
        r"\b_?pytest\b|\bPYTEST_\w+|junit_?xml|\bdef (?:pytest_\w+|load_tests)\b|\b__test__\s*=",
        r"^\s*(?:import|from)\s+unittest\b|\bunittest\.|\bSkipTest\b",
    ),
    _sign(
        "py",
        "looks who calls it",
        r"\bsys\._getframe\b|\binspect\.(?:stack|currentframe|getouterframes|trace)\b|\.f_back\b",
        r"\btraceback\.(?:extract|walk|format|print)_stack\b",
    ),
    _sign(
        "py",
        "asks where it runs",
        r"(?:environ|getenv)\b.*['\"](?:CI|GITHUB_ACTIONS|GITLAB_CI|FLYBALL\w*)['\"]",
    ),
    _sign(
        "py",
        "names something in pieces",
        r"(?:getattr|setattr|__import__|import_module)\(.*['\"]\s*\+\s*['\"]",
        r"['\"]\s*\+\s*['\"][^'\"]*['\"]\)?\s+(?:not\s+)?in\s+sys\.modules"
        r"|sys\.modules\[.*['\"]\s*\+",
    ),
    _sign(
        "py",
        "makes a comparison of its own by name",
        r"['\"]__(?:eq|ne|bool|lt|gt|le|ge)__['\"]",
    ),
    _sign(
        "py",
        "looks at its surroundings as a whole",
        r"\bin\s+os\.environ(?:\.(?:keys|items|values)\(\))?\s*[:)\]]|/proc/self\b",
        r"\bsys\.modules\.get\b|\bvars\(sys\)|\b(?:tb|gi|cr|ag)_frame\b|['\"]f_\S*['\"]",
        r"['\"](?:[pb]db|doctest|cmd|code|difflib|faulthandler|coverage)['\"]\s+(?:not\s+)?in\s+sys\.m",
        r"\bsys\.(?:orig_argv|__std(?:out|err)__)|\bimport\s+__main__\b",
        r"\bos\.getppid\b|\.findCaller\b|\bwarnings\.filters\b|['\"](?:pluggy|iniconfig)['\"]",
    ),
    _sign(
        "js",
        "looks at its surroundings as a whole",
        r"\b(?:keys|entries|values|stringify|ownKeys|getOwnPropertyNames)\(\s*process\.env\b"
        r"|\bin\s+process\.env\b|\.\.\.process\.env\b|\bprocess\.argv\[[01]\]",
        rf"\}}\s*=\s*process\b(?!\.)|(?<![.\w])process\.(?:{_OF_PROCESS})\b",
        r"\b(?:keys|entries|values)\(\s*env\b|\bexecutionAsync(?:Resource|Id)\b|/proc/",
    ),
    _sign(
        "go",
        "looks at its surroundings as a whole",
        r"\bflag\.(?:Visit(?:All)?|NFlag|NArg|Parsed)\(|\bflag\.CommandLine\b|\bos\.Environ\(|/proc/",
        r"\bruntime\.NumGoroutine\(|\bpprof\.Lookup\(|\bos\.Getppid\(",
    ),
    _sign(
        "rs",
        "looks at its surroundings as a whole",
        r"\benv::args(?:_os)?\(\)\s*\.(?:next|nth\(0|any|find|last)|\benv::vars(?:_os)?\(|/proc/",
        r"(?:env!?|var|var_os)\(\s*\"(?:CARGO|RUST_TEST|RUST_BACKTRACE)\w*\"|\bparent_id\(",
    ),
    _sign(
        "rb",
        "looks at its surroundings as a whole",
        r"\$LOADED_FEATURES\b|\$\"|\bObjectSpace\b|\bENV\.(?:keys|any\?|each|to_h|find)\b",
        r"\bbacktrace(?:_locations)?\.(?!join|map|each|first\()\w|\bThread\.current\.backtrace\b|/proc/",
        r"\b(?:Module|Object)\.(?:constants|const_defined\?)|\bProcess\.ppid\b",
    ),
    _sign(
        "php",
        "looks at its surroundings as a whole",
        r"(?i)\bget_(?:declared_(?:classes|traits|interfaces)|defined_functions)\b|\bgetenv\(\s*\)",
        r"(?i:->getTrace\(|\bGLOBALS\b.*\bargv\b|\bposix_getppid\b|/proc/)",
    ),
    _sign(
        "py",
        "replaces a function of the standard library",
        r"\bsocket\.(?:create_connection|socket|getaddrinfo)\s*=(?!=)",
        r"\bos\.(?:open|stat|environ|path|getenv)\s*=(?!=)",
        r"\bsubprocess\.(?:run|Popen|call|check_\w+)\s*=(?!=)",
    ),
    _sign(
        "js",
        "replaces a function of the standard library",
        r"\brequire\(\s*['\"](?:node:)?\w+['\"]\s*\)\.\w+\s*=(?![=>])",
        r"\bfs\.(?:read|write|exists|stat|open)\w*\s*=(?![=>])",
        r"\bnet\.(?:connect|createConnection)\s*=(?![=>])",
        r"\bhttps?\.(?:request|get)\s*=(?![=>])",
    ),
    _sign(
        "py",
        "sets what a mock records",
        r"\.(?:called|call_count|call_args(?:_list)?|(?:method|mock)_calls)\b(?:\s*=(?!=)|\.(?:append|extend|insert)\()",
    ),
    _sign("py", "leaves something out of comparisons", r"\b(?:compare|eq)\s*=\s*False\b"),
    _sign("py", "reads or writes tests", r"\bopen\(.*['\"][^'\"]*\btests?[/_]"),
    _sign(
        "py",
        "looks for the runner in the process",
        r"(?i:sys\.argv.*(?:test|junit)|(?:test|junit).*sys\.argv)",
        r"sys\.modules.*(?:pytest|unittest)",
        r"\bgc\.get_\w+|\bsys\.modules\.(?:items|values|keys|copy)\b|\(\s*sys\.modules\s*\)",
        r"\bfor\b.*\bin\s+sys\.modules\b",
    ),
    _sign(
        "js",
        "ends the process or sets its exit code",
        # A status that tells of a failure deceives nobody.
        r"\bprocess\.(?:exit|reallyExit)\s*\((?!\s*[1-9])|\bprocess\.(?:abort|kill)\s*\(",
        r"\bprocess\.exitCode\s*=(?!=|\s*[1-9])|\bprocess\[",
        r"\bprocess\.(?:on|once)\(\s*['\"](?:exit|beforeExit)",
    ),
    _sign(
        "js",
        "looks for the runner",
        r"\b(?:JEST_WORKER_ID|VITEST\w*|NODE_TEST_CONTEXT|AVA_PATH|npm_lifecycle_event)\b",
        r"process\.argv.*test|__(?:vitest|jest|mocha)\w*",
        # By its names among all names, spelled out or not: a symbol is the project's own.
        r"\btypeof\s+(?:describe|it|test|expect|jest|vi|suite|(?:before|after)(?:Each|All)?)\b",
        r"\b(?:globalThis|global)\[(?!\s*Symbol)",
        r"\b(?:Object\.(?:keys|entries|getOwnPropertyNames)|Reflect\.ownKeys)\(\s*global(?:This)?\b",
    ),
    _sign(
        "js",
        "looks who calls it",
        r"\bnew Error\([^)]*\)\.stack|prepareStackTrace|require\.main\s*!==?\s*module",
        r"(?<!!)(?<!!\s)\bmodule\.parent\b|\brequire\.main\??\.\w",
    ),
    _sign(
        "js",
        "changes what the language itself does",
        rf"\b{_OF_JS}(?:\.prototype)?(?:\.\w+|\[[^\]]+\])\s*=(?![=>])",
        rf"\b(?:Object|Reflect)\.(?:defineProperty|assign)\(\s*(?:{_OF_JS}|globalThis|global)\b",
    ),
    _sign(
        "js",
        "uses or changes the test framework",
        r"require\(['\"](?:node:)?(?:assert|test|jest|vitest|mocha|ava|tape|chai)['\"/]",
        r"from ['\"](?:node:)?(?:assert|test|vitest|mocha|ava|tape|chai)['\"/]",
        r"globalThis\.(?:expect|it|test|describe)\s*=|\bgetBuiltinModule\b|asymmetricMatch",
        r"\bimport\(\s*['\"](?:node:)?(?:assert|test|vitest|ava|chai)['\"/]",
        r"\b(?:Module\._\w+|module\.constructor)\b|\brequire\.cache\b",
        r"\b(?:require|import)\(.*['\"]\s*\+\s*['\"]",
        r"\[\s*['\"]\w*['\"]\s*\+\s*['\"]",
    ),
    _sign(
        "go",
        "ends the process with success, or asks whether it is tested",
        r"\bos\.Exit\(\s*0|\btesting\.(?:Testing|Short|Init)\(|\bflag\.Lookup\((?:\"test\b|[^)]*\+)",
        r"\bsyscall\.Exit\(|\bruntime\.Goexit\(|\bos\.Args(?:\[0\]|\s*=)|\"-?-?test\.",
    ),
    _sign(
        "rs",
        "ends the process with success, or asks whether it is tested",
        r"process::exit\(\s*0|cfg!?\(\s*(?:not\()?test\b",
    ),
    _sign(
        "c",
        "ends the process with success, or runs before or after main",
        r"\b_?_?exit\s*\((?!\s*(?:-?[1-9]|EXIT_FAILURE))|\b_Exit\s*\(|\bquick_exit\s*\(",
        r"\b(?:atexit|on_exit|at_quick_exit)\s*\(|\bsyscall\s*\(|\braise\s*\(|\bsigaction\s*\(",
        # Any of several attributes, with underscores or without, and the sections they stand for.
        r"(?:__attribute__\s*\(\(|\[\[)[^)\]]*?\b_*(?:(?:con|de)structor|weak|alias)",
        r"\.(?:preinit|init|fini)_array\b",
    ),
    _sign(
        "c",
        "looks for the program that it is part of",
        r"\b__progname\b|\bprogram_invocation_(?:short_)?name\b|/proc/|\bdl(?:sym|addr)\s*\(",
    ),
    _sign(
        "c",
        "changes what the words of a test mean",
        r"^\s*#\s*(?:define|undef)\s+(?:NDEBUG|assert\w*|main|return|if|else|while|for|int|void"
        r"|exit|abort|printf|fprintf|puts|strn?cmp|memcmp|(?:check|expect|test|fail|assert)\w*"
        r"|(?:CHECK|EXPECT|TEST|ASSERT|REQUIRE|FAIL)\w*)\b",
        r"\b__assert_fail\b",
        # A function of the standard library that is defined here, and so called by the tests.
        r"^\s*(?:static\s+)?(?:int|void|char\s*\*|size_t)\s*\*?\s*(?:str(?:n|case|ncase)?cmp|memcmp"
        r"|strlen|abort|_?exit|printf|fprintf|puts|perror|write)\s*\([^;]*$",
    ),
    _sign(
        "sh",
        "ends its caller, or changes what commands mean",
        r"\btrap\b.*\b(?:EXIT|0)\b|\$\{?PPID\b|^\s*alias\b",
        r"^\s*(?:function\s+)?(?:\[|test|exit|return|expect\w*|assert\w*|check\w*|fail\w*|diff|cmp"
        r"|grep|echo|printf|make|sh|bash)\s*\(\)",
    ),
    _sign(
        "sh",
        "looks who calls it",
        r"\bcase\s+\"?(?:\$\{?0|\$\{?BASH_SOURCE)|(?:\$\{?0\b|BASH_SOURCE|FUNCNAME).*test"
        r"|\$\{?FUNCNAME\[[1-9@*]|\$\(caller\b|\bps\b.*\b(?:args|command|cmd|comm)\b|/proc/",
        r"\b(?:command -v|type|declare -[fF]|typeset -[fF])\s+(?:expect|assert|check|fail|test)\w*",
    ),
    _sign(
        "rb",
        "ends the process or names the test framework",
        r"\bexit!|\bat_exit\b|\bRSpec\b|\bMinitest\b|\bTest::Unit\b",
    ),
    _sign(
        "rb", "looks who calls it", r"\bcaller(?:_locations)?\b|\$PROGRAM_NAME|\$0\b|\bTracePoint\b"
    ),
    _sign("py", "changes how modules are loaded", r"\bsys\.(?:meta_path|path_hooks)\b"),
    _sign("php", "asks whether it is tested", r"(?i)PHPUnit|\bdebug_(?:print_)?backtrace\b"),
    _sign(
        "php",
        "looks for the runner",
        r"(?i)_SERVER.*\b(?:argv|SCRIPT_(?:FILE)?NAME|PHP_SELF)\b|\bget_(?:included|required)_files\b"
        r"|\bphp_sapi_name\b|\bPHP_SAPI\b",
    ),
    _sign("php", "ends the process with success", r"(?i)\b(?:exit|die)\s*(?:\(\s*0?\s*\))?;"),
    _sign("js", "looks who calls it", r"\bcaptureStackTrace\b|\.stack\b"),
    _sign("js", "asks whether it is tested", r"\bimport\.meta\.(?:env(?!\.VITE_)|vitest|jest)\b"),
    _sign(
        "go",
        "looks who calls it",
        r"\bruntime\.(?:Callers?|FuncForPC|Stack)\(|\bdebug\.(?:Print)?Stack\(",
    ),
    _sign("go", "asks where it runs", r"\bos\.Executable\(|\bdebug\.ReadBuildInfo\("),
    _sign(
        "rs",
        "asks whether it is tested, or where it runs",
        r"cfg!?\(\s*(?:not\()?debug_assertions\b|\benv::current_exe\b|\bBacktrace\b"
        r"|\bthread::current\(\)(?!\s*\.\s*id\b)|\blink_section\b|\bno_mangle\b",
    ),
    _sign(
        "java",
        "looks who calls it, or for the runner",
        r"\bStackWalker\b|\bgetStackTrace\(|(?i:class\.forName\(.*(?:junit|testng|surefire))"
        r"|\borg\.(?:junit|testng)\b|\bsun\.java\.command\b|\bjava\.class\.path\b",
    ),
    _sign("java", "ends the process with success", r"\bSystem\.exit\(\s*0|\.halt\(\s*0"),
    *(
        _sign(
            language,
            "looks for the project's tests",
            r"(?i:\b(?:exists|existsSync|access|accessSync|stat|statSync|lstat|is_?file|is_?dir|open"
            rf"|read\w*|glob|file_exists|is_readable)\b[^\n]*{_OF_TESTS}|{_OF_TESTS}[^\n]*\.exists\()",
        )
        for language in ("py", "js", "go", "rs", "rb", "php", "java")
    ),
    *(
        _sign(
            language,
            "asks the environment whether it is tested",
            r"(?i:env(?:iron)?\b.*\b\w*(?:env|mode|stage)\b.*['\"](?:test|testing)['\"])",
        )
        for language in ("py", "js", "go", "rs", "rb", "php", "java")
    ),
)

_STARTS_SCRIPTS = regex(r"\s*(node[-_]options|script[-_]shell)\s*=")
"""Settings of npm that decide how a script runs; our own runs start the runner itself."""

_LANGUAGES = {
    "py": "py", "js": "js", "mjs": "js", "cjs": "js", "ts": "js", "mts": "js", "cts": "js",
    "jsx": "js", "tsx": "js", "go": "go", "rs": "rs", "c": "c", "h": "c", "cc": "c", "cpp": "c",
    "hpp": "c", "rb": "rb", "sh": "sh", "bash": "sh",
    "php": "php", "java": "java", "kt": "java", "pyi": "py", "pyw": "py",
}  # fmt: skip


def runner_reaches(
    before: Texts,
    after: Texts,
    testing_side: frozenset[str],
    is_alone: Callable[[str], bool] = lambda _path: False,
) -> tuple[RunnerReach, ...]:
    """Return every place of a change that reaches into the runner, each in a sentence.

    `is_alone` tells of a C file whether no other file includes it, so that its macros affect only
    itself.
    """
    found: list[RunnerReach] = []
    for path in sorted({*before, *after}):
        old, new = before.get(path), after.get(path)
        if new is None or new == old:
            continue
        found += _by_name(path, old, new)
        if path not in testing_side:
            found += _by_line(path, old or "", new)
            language = _language(path)
            if (sign := _CHECKING.get(language)) and sign.search(new) and not is_alone(path):
                said = f"{path} defines what tests check with."
                found.append(RunnerReach(said, in_product=True))
    return tuple(found)


def _language(path: str) -> str:
    return _LANGUAGES.get(posixpath.splitext(path)[1].lstrip("."), "")


def _by_name(path: str, old: str | None, new: str) -> Iterator[RunnerReach]:
    verb = "is new" if old is None else "changed"
    is_new_shadow = old is None and _USED_BY_RUNNERS.search(path)
    if _SHADOWS.search(path) or _LIBRARY.search(path) or is_new_shadow:
        what = f"{path} {verb}: it would be loaded instead of what the runner itself uses."
        yield RunnerReach(what, in_product=True)
    elif _EVERY_START.search(path):
        yield RunnerReach(f"{path} {verb}: every start of the interpreter loads it.", True)
    elif setting := _npm_setting(path, old or "", new):
        what = f"{path} sets {setting}: npm starts every test by it, and Flyball did not."
        yield RunnerReach(what, in_product=True)
    elif _PRELOADED.search(path):
        yield RunnerReach(f"{path} {verb}: it is loaded before or around the tests.", False)


def _npm_setting(path: str, old: str, new: str) -> str:
    """Return a changed npm setting that affects how scripts are started."""
    if posixpath.basename(path) != ".npmrc":
        return ""
    added = (_STARTS_SCRIPTS.match(line) for line in new.split("\n") if line not in old.split("\n"))
    return next((found[1] for found in added if found), "")


def _by_line(path: str, old: str, new: str) -> Iterator[RunnerReach]:
    language = _language(path)
    if language == "py" and (coding := _CODING.match(new)) and coding[1] not in old:
        said = f"{path} is written in {coding[1]}, which hides its content from readers."
        yield RunnerReach(said, in_product=True)
    known = set(old.split("\n"))
    apart = as_read(language, new).split("\n")
    joined = _JOINED.sub("", "\n".join(apart)).split("\n")
    seen = {*as_read(language, old).split("\n")}
    reported: set[str] = set()
    for number, (line, whole) in enumerate(zip(apart, joined, strict=True), 1):
        if line in seen:
            continue
        for sign in _SIGNS:
            if (
                sign.language == language
                and sign.sentence not in reported
                and (sign.pattern.search(line) or sign.pattern.search(whole))
            ):
                reported.add(sign.sentence)
                yield RunnerReach(f"{path}:{number} {sign.sentence}.", in_product=True)
    if language == "py":
        yield from _always_equal(path, known, new)
    # A script that is started may end as it likes; one that others read ends them.
    ends = language == "sh" and not new.startswith("#!") and "exit 0" in new.split("\n")
    if ends and "exit 0" not in known:
        yield RunnerReach(f"{path} exits with success when it is loaded.", in_product=True)


_CODING = regex(
    r"(?:[^\n]*\n)?[ \t\f]*#.*?coding[:=][ \t]*"
    r"((?!(?i:utf[-_]?8(?:-sig)?|ascii|us-ascii|latin-?1|iso-8859-\d+|cp125\d)\b)[-\w.]+)"
)
_QUOTED_OR_COMMENT = {
    "hash": regex(
        r"(\"\"\".*?\"\"\"|'''.*?'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')|#[^\n]*", re.S
    ),
    "slash": regex(
        r"(\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|//[^\n]*|/\*.*?\*/", re.S
    ),
}
_JOINED = regex(r"([\"'])[ \t]*[+.]?[ \t]*\1(?![\"'])(?<![\"'][\"'][\"'])")
_TEST_MODULE = regex(r"#\[cfg\(test\)\](?=\s*(?:pub\s+)?mod\b)")


def as_read(language: str, text: str) -> str:
    """Normalise code as its language does: letters unified, comments and inline tests removed."""
    text = unicodedata.normalize("NFKC", text)
    if language == "rs":
        text = _without_inline_tests(text)
    apart = _QUOTED_OR_COMMENT["hash" if language in ("py", "rb", "sh") else "slash"]

    def kept(found: re.Match[str]) -> str:
        # Lines are counted, so a comment of several leaves as many behind.
        return found[1] or "\n" * found[0].count("\n")

    return text if language == "sh" else apart.sub(kept, text)


def _without_inline_tests(text: str) -> str:
    """Return Rust code with the lines of its inline tests blanked."""
    try:
        cases = read_tests("src/lib.rs", text)
    except MissingExtra:
        cases = ()
    suites = {case.suites for case in cases if case.is_test and case.name}
    lines = _TEST_MODULE.sub("", text).split("\n")
    for case in cases:
        if case.name and case.suites and case.suites in suites:
            lines[case.line - 1 : case.last_line] = [""] * (case.last_line - case.line + 1)
    return "\n".join(lines)


_CHECKING = {
    "go": regex(r"\*testing\.[TB]\b|\btesting\.TB\b"),
    "c": regex(
        r"^\s*#\s*define\s+(?:TEST|CHECK|EXPECT|ASSERT|REQUIRE|mu_assert)\w*\(", re.MULTILINE
    ),
}
"""What makes a file one of assertions, whatever its name."""
_COMPARISONS = frozenset({"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"})
_ANSWERS = _COMPARISONS | {"__bool__", "__instancecheck__"}


def _always_equal(path: str, known: set[str], new: str) -> Iterator[RunnerReach]:
    """Yield comparisons that are always true, so that any assertion about them holds."""
    try:
        tree = ast.parse(new)
    except (SyntaxError, ValueError):
        return
    lines = new.split("\n")
    for node in ast.walk(tree):
        if name := _fixed_answer(node):
            number = cast("ast.stmt", node).lineno
            if lines[number - 1] not in known:
                yield RunnerReach(f"{path}:{number} {name} has a fixed answer.", in_product=True)


def _fixed_answer(node: ast.AST) -> str:
    """Return the name of a comparison that ignores its operand, if this is one."""
    match node:
        case ast.FunctionDef(name=name, args=ast.arguments(args=args), body=body) if (
            name in _ANSWERS
        ):
            answers = [body[-1].value] if isinstance(body[-1], ast.Return) else []
        case ast.Assign(
            targets=[ast.Name(id=name)], value=ast.Lambda(args=ast.arguments(args=args), body=only)
        ) if name in _ANSWERS:
            body, answers = [only], [only]
        case _:
            return ""
    other = args[-1].arg if name in _COMPARISONS and len(args) > 1 else ""
    if other and any(_says_yes_to_all(each, other) for each in answers):
        return name
    plain = [each for each in body if not _is_docstring(each)]
    is_fixed = len(plain) == 1 and len(answers) == 1 and isinstance(answers[0], ast.Constant)
    return name if is_fixed else ""


def _says_yes_to_all(answer: ast.expr | None, other: str) -> bool:
    """Return whether an answer is always true, independent of the other operand."""
    match answer:
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=asked), *_]):
            return asked == other
        case _:
            pass
    if not isinstance(answer, ast.BoolOp) or not isinstance(answer.op, ast.Or):
        return False
    return not all(_names(each, other) for each in answer.values)


def _names(node: ast.expr, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(node))


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


_LITERAL = regex(
    r"""(?P<quote>['"`]) (?P<text>[^'"`\n]{3,80}) (?P=quote)
      | (?<![\w.]) (?P<number>\d{3,}(?:\.\d+)? | \d+\.\d+) (?![\w.])""",
    re.VERBOSE,
)
_PLAIN = regex(r"[\w./-]{1,6}$")
SHOWN = 6


def shared_literals(added: Iterable[str], tests: Iterable[str]) -> tuple[str, ...]:
    """Return distinctive literals of the added product lines that also occur in the tests."""
    in_code = _literals("\n".join(added))
    if not in_code:
        return ()
    in_tests = _literals("\n".join(tests))
    return tuple(sorted(in_code & in_tests)[:SHOWN])


def _literals(text: str) -> set[str]:
    """Return literals that are unlikely to occur in two texts by chance, unlike short words."""
    found: set[str] = set()
    for match in _LITERAL.finditer(text):
        if match["number"]:
            found.add(match["number"])
        elif not _PLAIN.match(match["text"]):
            found.add(repr(match["text"]))
    return found
