"""Commands that run tests and checks, and whether another one runs as much."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from flyball.regex import regex

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
    """Return whether a command runs something else; flags that only change how it talks are no
    matter.
    """
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
    """Return whether a command differs by its runner or its type checker alone, and runs all as
    before.
    """
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
