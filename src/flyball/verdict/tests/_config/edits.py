"""Find changes to the configuration that decides which tests run, and how."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from flyball.regex import regex
from flyball.terms.evidence import Weakened
from flyball.terms.test_paths import TEST_DIRS, is_test_config
from flyball.verdict.tests._config.settings import EXCUSE, TESTING, Settings, settings_of

HARMLESS = frozenset(
    [
        "allowlist_externals",
        "base_python",
        "basepython",
        "dependency_groups",
        "depends",
        "deps",
        "description",
        "download",
        "env_list",
        "envlist",
        "extras",
        "flake8-ignore",
        "isolated_build",
        "junit_family",
        "markers",
        "min_version",
        "minversion",
        "package",
        "pass_env",
        "passenv",
        "pep8ignore",
        "recreate",
        "required_plugins",
        "requires",
        "skip_missing_interpreters",
        "whitelist_externals",
        "wheel_build_env",
    ]
)
SELECTING_KEYS = frozenset(
    [
        "autotests",
        "match",
        "python_classes",
        "python_files",
        "python_functions",
        "required-features",
        "script-shell",
        "node-options",
        "test_paths",
        "testmatch",
        "testnamepattern",
        "testpaths",
        "testregex",
    ]
)
"""Settings that select tests: any other value may leave some out."""
EXCLUDING_KEYS = frozenset(
    [
        "collect_ignore",
        "collect_ignore_glob",
        "exclude",
        "ignore",
        "norecursedirs",
        "omit",
        "testpathignorepatterns",
    ]
)
"""Settings that exclude tests: fewer words exclude fewer."""
THRESHOLD_KEYS = frozenset(
    ["fail_under", "branches", "check-coverage", "functions", "lines", "statements"]
)
"""How much must be covered: less is weaker, and nothing else about coverage decides anything."""
RUNNING_KEYS = frozenset(
    [
        "babel",
        "cache",
        "compileenhancements",
        "concurrency",
        "nodearguments",
        "preset",
        "require",
        "serial",
        "testenvironment",
        "timeout",
        "transform",
        "tsconfig",
        "verbose",
        "workerthreads",
    ]
)
"""How a JavaScript runner loads tests; running them shows whether they are found and pass."""
COVERAGE = regex(r"(?:.*\.)?(?:coverage\w*|nyc|c8|(?:run|report|html|xml|paths))[.:].*")


class Elsewhere(NamedTuple):
    """All configuration of a change, before and after."""

    before: frozenset[tuple[str, str]]
    now: frozenset[tuple[str, str]]
    deleted: frozenset[str] = frozenset()
    """Files that the change deleted."""
    added: frozenset[str] = frozenset()
    """Files that the change added."""

    def has_now(self, last: str, value: str) -> bool:
        """Return whether a setting of that name contains the whole value, and possibly more."""
        wanted = set(value.split())
        return any(last == name and wanted <= set(other.split()) for name, other in self.now)

    def is_new_place(self, word: str) -> bool:
        """Return whether the change added a directory, so that it contains no older test."""
        return "/" in word and any(path.startswith(f"{word.rstrip('/')}/") for path in self.added)

    def has_left(self, runner: str) -> bool:
        """Return whether the tests of one runner are now run by another."""
        was, now = (
            {match[0] for _, value in side for match in RUNNER.finditer(value)}
            for side in (self.before, self.now)
        )
        return runner in was and bool(now) and runner not in now


NOWHERE = Elsewhere(frozenset(), frozenset())


def config_weakenings(
    path: str, before: str | None, after: str | None, elsewhere: Elsewhere = NOWHERE
) -> Iterator[Weakened]:
    """Yield changed or removed settings, and new ones that leave tests out.

    `elsewhere` holds the other files' settings before and after, to recognise what only moved.
    """
    old, new = settings_of(path, before), settings_of(path, after)
    if old is None:
        return
    if new is None:
        yield Weakened(path, 1, "edited-config", "cannot be parsed any more")
        return
    for key in sorted(old.keys() | new.keys()):
        was, now = old.get(key), new.get(key)
        if was == now or _last(key) in HARMLESS or _is_about_no_test(key, was, now):
            continue
        kind = _kind(_runner_of(path, key), key, (was, now), elsewhere)
        has_moved = now is None and _is_kept(key, was or "", new, elsewhere)
        has_moved |= now is None and _is_side_script(key) and _runs_no_test(was or "")
        # In a file that stays, what only told a runner how to talk may go.
        has_moved |= after is not None and now is None and not words(was or "")
        if not kind or has_moved or (was is None and (_last(key), now) in elsewhere.before):
            continue
        detail = f"{key}: {_short(was or 'nothing')} became {_short(now or 'nothing')}"
        if key in (was, now):
            detail = f"`{_short(key)}` was {'removed' if now is None else 'added'}"
        yield Weakened(path, _line(after or "", key), kind, detail)


def _is_kept(key: str, value: str, now: Settings, elsewhere: Elsewhere) -> bool:
    """Return whether a setting is found in another section, or all of its words under its name."""
    below = all(f"{key}.{word}" in now for word in value.split())
    return (bool(value) and below) or elsewhere.has_now(_last(key), value)


def _is_side_script(key: str) -> bool:
    """Return whether a script is a variant of another, as `test:ci` is of `test`."""
    return key.startswith("scripts.") and ":" in key


def _runs_no_test(command: str) -> bool:
    return bool(REPORT.fullmatch(command) or STYLE_ONLY.fullmatch(command))


def _is_about_no_test(key: str, was: str | None, now: str | None) -> bool:
    """Return whether an environment, for example for documents, never ran tests."""
    section, _, last = key.rpartition(".")
    name = section.partition(":")[2]
    if not section.startswith("testenv:") or not last.startswith("commands"):
        return False
    commands = (LINTER.sub("", text or "") for text in (was, now))
    return not any(map(TESTING.search, (name, *commands)))


def _runner_of(path: str, key: str) -> str:
    """Return the runner that a setting is for, from its file or its section."""
    name = path.rpartition("/")[2].lstrip(".").removesuffix("rc").partition(".")[0]
    return (key.partition(".")[0] if name == "package" else name).removesuffix("rc")


def settings_in(files: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    """Return every setting of some files by the last part of its name, with its value."""
    return frozenset(
        (_last(key), value)
        for path, text in files.items()
        if is_test_config(path)
        for key, value in (settings_of(path, text) or {}).items()
    )


def _last(key: str) -> str:
    return key.rpartition(".")[2].lower()


STRICT_WORDS = regex(r"--strict(?:-markers|-config)?\b")

Values = tuple[str | None, str | None]


def _kind(runner: str, key: str, values: Values, elsewhere: Elsewhere) -> str | None:
    """Return how a setting became weaker, or None."""
    old, new = values
    if new is None and elsewhere.has_left(runner):
        return None
    if _last(key) == "testpaths" and old is None and not TEST_DIRS.isdisjoint(words(new or "")):
        # All tests of most projects, yet some keep others beside the code.
        return "changed-expected"
    if _is_command(key) and old and new and is_exchanged(old, new, elsewhere.deleted):
        return "changed-expected"
    return "edited-config" if _is_weaker(key, old, new, elsewhere) else None


def _is_command(key: str) -> bool:
    is_named = key.startswith(("scripts.", "target.", "tasks."))
    return is_named or _last(key).startswith("commands")


def _is_weaker(key: str, old: str | None, new: str | None, elsewhere: Elsewhere) -> bool:
    """Return whether a setting is weaker: new and leaving tests out, or old with words removed."""
    last = _last(key)
    if key.startswith("strict."):
        return old == "true" and new != "true"
    if COVERAGE.fullmatch(key):
        return last in THRESHOLD_KEYS and _is_less(old, new)
    if key.startswith("hook."):
        return True
    if last in EXCLUDING_KEYS:
        came = {*words(new or "")} - {*words(old or "")}
        return not all(map(elsewhere.is_new_place, came))
    if old is None and _is_side_script(key):
        # One more script beside those that there were takes nothing from them.
        return False
    if old is None and SETS_UP.search(key) and not RUNNER.search(new or ""):
        return False
    if old is None:
        is_off = key.startswith("cargo.") and new == "false"
        return is_off or last in SELECTING_KEYS or bool(NARROWING.search(new or ""))
    if last == "filterwarnings":
        return any(word.startswith("error") for word in {*old.split()} - {*(new or "").split()})
    if new is None:
        is_implied = last == "xfail_strict" and ("strict", "True") in elsewhere.now
        is_free = is_implied or last in RUNNING_KEYS or bool(EXCUSE.search(key))
        return not is_free and not key.startswith(("cargo.", "excuse."))
    return _says_less(key, old, new, elsewhere)


def _says_less(key: str, old: str, new: str, elsewhere: Elsewhere) -> bool:
    if ("strict", "True") in elsewhere.now:
        old = STRICT_WORDS.sub("", old)
    was, now = words(old), words(new)
    gained = " ".join(word for word in now if word not in was)
    if NARROWING.search(gained):
        return True
    if _last(key) in SELECTING_KEYS:
        # A file that is gone need not be looked for; anything else may have held tests.
        return {*was} <= {*now} or not {*was} - {*now} <= elsewhere.deleted
    if _is_command(key):
        return is_other_command(old, new, elsewhere.deleted)
    return _last(key) not in RUNNING_KEYS and any(word not in now for word in was)


def _is_less(old: str | None, new: str | None) -> bool:
    """Return whether a threshold is lower or gone; other values are compared as switches."""
    try:
        return float(new or 0) < float(old or 0)
    except ValueError:
        return old not in {None, "False"}


def _line(text: str, key: str) -> int:
    wanted = key if "\n" not in key else ""
    last = wanted.rpartition(".")[2] if wanted not in text else wanted
    at = text.find(last) if last else -1
    return text.count("\n", 0, at) + 1 if at >= 0 else 1


def _short(value: str) -> str:
    return value if len(value) <= 120 else value[:119] + "…"


NARROWING = regex(
    r"(?:^|\s)['\"]?(?:-[gkmt]|-run|-skip|--(?:ignore|deselect|co|collect-only|passWithNoTests"
    r"|f?grep|exclude|skip"
    r"|match|filter|spec|invert|if-present|only\w*|test-only|changed|shard|related"
    r"|findRelatedTests|lastCommit"
    r"|test-?[nN]ame-?[pP]attern|testPath\w*|test-skip-pattern)\b|-p\s+no:)|\|\|\s*(?:true|:"
    r"|exit 0)|;\s*true\b"
    r"|\bexit 0\b|continue-on-error|allow_failure|\b(?:exclude|testPathIgnorePatterns"
    r"|testNamePattern|grep)\s*[:=]"
    r"|ignoreFailures|skipTests|testFailureIgnore|maven\.test\.skip|(?<!\w)enabled\s*=\s*false"
)
PATH_WORD = regex(r"['\"]?[\w.*@-]*(?:/[\w.*{},@-]*|\.[cm]?[jt]sx?|\.py|\.rb)['\",\]]*")

# How a runner talks, and how long it waits, with the word that follows.
TALK = regex(r"(?:(?<=\s)|^)(?:-R|--reporters?|--timeout|--slow|--colou?rs?)[ =][^\s-]\S*")

# Words that every run may be given, or that only tell where it works and how it talks.
FREE = regex(
    r"\{'replace': 'posargs'[^{}]*\}"
    r"|(?:(?<=\s)|^)(?:-r\w+|-q+|-v+|-n[ =]?\w+"
    r"|--(?:tb|color|durations|import-mode|basetemp)[= ]\S+)"
)
POSARGS = regex(r"\{posargs:?([^{}]*)\}")
PLAIN_FLAG = regex(
    r"['\"]?-{1,2}(?!strict|fail|cov-fail|forbid|max-warnings|W|error)[\w-]+.*|&&|NODE_\w+=.*"
)
# What stands around a runner, or before it: it counts, builds or tidies, and tests nothing.
AROUND = regex(
    r"(?:npm run|yarn(?: run)?|pnpm(?: run)?) (?:pre)?(?:build|clean|compile|prepare)\S*"
    r"|(?:npm|pnpm|yarn) exec(?: --)?|\b(?:nyc|c8|cross-env|npx|del-cli \S+|rimraf \S+|rm -rf \S+"
    r"|coverage (?:run(?: -m)?|report|html|xml|erase|combine)|env|sh -c)(?=\s|$)"
)

RUNNER = regex(
    r"(?<![\w./-])(?P<program>(?:(?:python3? -m )?(?:py\.?test|nosetests?|unittest)(?: discover)?"
    r"|trial|mocha|_mocha|jest|vitest(?: run)?|ava|tap|tape|jasmine|uvu|rspec|phpunit|bats"
    r"|node(?: -\S+)* --test|bun test|deno test|python3? setup\.py test)(?![\w./=-])"
    r"|python3?(?= \S*tests?\S*\.py))"
)
"""A program that discovers tests, or runs the given ones."""
CHECKER = regex(
    r"(?<![\w./-])(?P<program>tsc|vue-tsc|tsd|tsd-check|dtslint|mypy|pyright|basedpyright|pytype)"
    r"(?![\w./-])[^&|;]*"
)
"""A type checker with its arguments: each has its own words for the same files."""
STYLE_ONLY = regex(r"(?:eslint|prettier|biome|standard|xo|stylelint)(?: [^&|;]*)?")
"""A whole command that checks only style."""
LINTER = regex(
    r"(?<![\w./-])(?:flake8|ruff(?: (?:check|format))?|black|isort|pylint)(?![\w./-])"
    rf"(?:(?!{RUNNER.pattern.replace('?P<program>', '?:')}|&&|\|\||;).)*"
)
"""A style checker with its arguments: the files it reads run nothing."""
SETS_UP = regex(r"\binstall\b|\bbefore_(?:script|install)\b")
"""A step before the tests: should it fail unheard, they fail in its stead."""
REPORT = regex(r"(?:nyc|c8|coverage) (?:report|html|xml)(?: [^&|;]*)?|codecov|coveralls")
"""A command that only reports what an earlier run covered."""
# A place for tests as a whole, as `tests`, `test/*.ts` or `**/*.test.js`.
WHOLE = regex(
    r"['\"]?(?:\./)?(?:(?:tests?|spec|__tests__|\*\*?)/?)*(?:\*(?:[._](?:tests?|spec))?\.[\w{},]+)?['\"]?"
)


def words(text: str) -> list[str]:
    """Return the words that decide what is run; `{posargs:…}` counts as its default."""
    return FREE.sub("", TALK.sub("", POSARGS.sub(r"\1", text))).split()


def bare(word: str) -> str:
    """Return a word without the quotes and brackets of its list."""
    return word.strip("'\",[]")


def is_other_command(old: str, new: str, deleted: AbstractSet[str]) -> bool:
    """Return whether a command runs something else, ignoring flags of its output."""
    old, new = (AROUND.sub("", text) for text in (old, new))
    was, now = words(old), words(new)
    lost = [word for word in was if word not in now and bare(word) not in deleted]
    given = [word for word in now if word not in was and not PLAIN_FLAG.fullmatch(word)]
    missed = [word for word in lost if not PLAIN_FLAG.fullmatch(word)]
    # The first path that is named narrows a run; a further one widens it.
    is_picked = any(map(PATH_WORD.fullmatch, given)) and not any(
        map(PATH_WORD.fullmatch, old.split())
    )
    # A runner that is told no path any more looks for all tests.
    if RUNNER.search(new) and not any(map(PATH_WORD.fullmatch, now)):
        missed = [word for word in missed if not PATH_WORD.fullmatch(word)]
    # A folder in place of files below it runs more, not less.
    is_lost = any(not any(_holds(word, other) for word in given) for other in missed)
    return is_picked or is_lost


def _holds(folder: str, path: str) -> bool:
    plain = bare(folder).rstrip("/")
    return bool(plain) and bare(path).startswith(f"{plain}/")


def is_exchanged(old: str, new: str, deleted: AbstractSet[str]) -> bool:
    """Return whether two commands differ only by runner or type checker."""
    old, new = (AROUND.sub("", text) for text in (old, new))
    for kind in (RUNNER, CHECKER):
        was, now = kind.search(old), kind.search(new)
        if was and now and was["program"] != now["program"]:
            if NARROWING.search(new.replace(now["program"], "", 1)):
                return False
            adapted = old.replace(was[0], now[0], 1)
            whole = " ".join(word for word in new.split() if not WHOLE.fullmatch(word))
            return any(not is_other_command(adapted, text, deleted) for text in (new, whole))
    return False
