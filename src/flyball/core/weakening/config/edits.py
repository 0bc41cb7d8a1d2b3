"""Changes to what decides which tests run, and how."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from flyball.core.terms.evidence import Weakened
from flyball.core.weakening.config.settings import settings_of
from flyball.core.weakening.paths import is_test_config

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
        "isolated_build",
        "junit_family",
        "markers",
        "min_version",
        "minversion",
        "package",
        "pass_env",
        "passenv",
        "recreate",
        "required_plugins",
        "requires",
        "skip_missing_interpreters",
        "whitelist_externals",
        "wheel_build_env",
    ]
)
NARROWING_KEYS = frozenset(
    {
        "autotests",
        "collect_ignore",
        "collect_ignore_glob",
        "exclude",
        "fail_under",
        "ignore",
        "match",
        "norecursedirs",
        "omit",
        "python_classes",
        "python_files",
        "python_functions",
        "required-features",
        "script-shell",
        "node-options",
        "test_paths",
        "testmatch",
        "testnamepattern",
        "testpathignorepatterns",
        "testpaths",
        "testregex",
    }
)
NARROWING = re.compile(
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
PATH_WORD = re.compile(r"['\"]?[\w.*@-]*(?:/[\w.*{},@-]*|\.[cm]?[jt]sx?|\.py|\.rb)['\",\]]*")


class Elsewhere(NamedTuple):
    """What all configuration of a change said before and says now."""

    before: frozenset[tuple[str, str]]
    now: frozenset[tuple[str, str]]
    deleted: frozenset[str] = frozenset()
    """Files that the change deleted."""

    def has_now(self, last: str, value: str) -> bool:
        """Whether a setting of that name says all of it, and maybe more."""
        words = set(value.split())
        return any(last == name and words <= set(other.split()) for name, other in self.now)


NOWHERE = Elsewhere(frozenset(), frozenset())


def config_weakenings(
    path: str, before: str | None, after: str | None, elsewhere: Elsewhere = NOWHERE
) -> Iterator[Weakened]:
    """Settings that were changed or taken away, and new ones that leave tests out.

    `elsewhere` holds what other files of the change said and say now, for what only moved.
    """
    old, new = settings_of(path, before), settings_of(path, after)
    if old is None:
        return
    if new is None:
        yield Weakened(path, 1, "edited-config", "cannot be parsed any more")
        return
    for key in sorted(old.keys() | new.keys()):
        was, now = old.get(key), new.get(key)
        if was == now or _last(key) in HARMLESS or not _is_weaker(key, was, now, elsewhere):
            continue
        has_moved = now is None and elsewhere.has_now(_last(key), was or "")
        if has_moved or (was is None and (_last(key), now) in elsewhere.before):
            continue
        detail = f"{key}: {_short(was or 'nothing')} became {_short(now or 'nothing')}"
        if key in (was, now):
            detail = f"`{_short(key)}` was {'removed' if now is None else 'added'}"
        yield Weakened(path, _line(after or "", key), "edited-config", detail)


def settings_in(files: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    """Every setting of some files by the last part of its name, with its value."""
    return frozenset(
        (_last(key), value)
        for path, text in files.items()
        if is_test_config(path)
        for key, value in (settings_of(path, text) or {}).items()
    )


def _last(key: str) -> str:
    return key.rpartition(".")[2].lower()


# How a runner talks, and how long it waits, with the word that follows.
TALK = re.compile(r"(?:(?<=\s)|^)(?:-R|--reporters?|--timeout|--slow|--colou?rs?)[ =][^\s-]\S*")


# Words that every run may be given, or that only tell where it works and how it talks.
FREE = re.compile(
    r"\{'replace': 'posargs'[^{}]*\}"
    r"|(?:(?<=\s)|^)(?:-r\w+|-q+|-v+|-n[ =]?\w+"
    r"|--(?:tb|color|durations|import-mode|basetemp)[= ]\S+)"
)
POSARGS = re.compile(r"\{posargs:?([^{}]*)\}")
STRICT_WORDS = re.compile(r"--strict(?:-markers|-config)?\b")


def _words(text: str) -> list[str]:
    """The words that decide what is run; by default, a run is given what stands in the braces."""
    return FREE.sub("", TALK.sub("", POSARGS.sub(r"\1", text))).split()


def _is_weaker(key: str, old: str | None, new: str | None, elsewhere: Elsewhere) -> bool:
    """A new setting is weaker when it leaves tests out; an old one unless it only gained words."""
    if key.startswith("strict."):
        return old == "true" and new != "true"
    if old is None:
        is_off = key.startswith("cargo.") and new == "false"
        return is_off or _last(key) in NARROWING_KEYS or bool(NARROWING.search(new or ""))
    if new is None:
        is_implied = _last(key) == "xfail_strict" and ("strict", "True") in elsewhere.now
        return not is_implied and not key.startswith(("cargo.", "excuse."))
    if ("strict", "True") in elsewhere.now:
        old = STRICT_WORDS.sub("", old)
    was, now = (_words(text) for text in (old, new))
    gained = [word for word in now if word not in was]
    lost = [word for word in was if word not in now]
    if NARROWING.search(" ".join(gained)) or _last(key) in NARROWING_KEYS:
        return True
    if key.startswith(("scripts.", "target.", "tasks.")) or _last(key).startswith("commands"):
        lost = [word for word in lost if _bare(word) not in elsewhere.deleted]
        return _is_other_command(lost, gained, old, now)
    return bool(lost)


PLAIN_FLAG = re.compile(
    r"['\"]?-{1,2}(?!strict|fail|cov-fail|forbid|max-warnings|W|error)[\w-]+.*|&&|NODE_\w+=.*"
)


RUNNERS = frozenset(
    [
        "pytest",
        "mocha",
        "jest",
        "vitest",
        "ava",
        "tap",
        "rspec",
        "phpunit",
        "unittest",
        "nox",
        "bats",
    ]
)


def _is_other_command(lost: list[str], gained: list[str], old: str, now: list[str]) -> bool:
    """Whether a command runs something else; flags that only change how it talks are no matter."""
    given = [word for word in gained if not PLAIN_FLAG.fullmatch(word)]
    missed = [word for word in lost if not PLAIN_FLAG.fullmatch(word)]
    # The first path that is named narrows a run; a further one widens it.
    is_picked = any(map(PATH_WORD.fullmatch, given)) and not any(
        map(PATH_WORD.fullmatch, old.split())
    )
    # A runner that is told no path any more looks for all tests.
    if RUNNERS.intersection(map(_bare, now)) and not any(map(PATH_WORD.fullmatch, now)):
        missed = [word for word in missed if not PATH_WORD.fullmatch(word)]
    # A folder in place of files below it runs more, not less.
    is_lost = any(not any(_holds(word, other) for word in given) for other in missed)
    return is_picked or is_lost


def _bare(word: str) -> str:
    return word.strip("'\",[]")


def _holds(folder: str, path: str) -> bool:
    bare = _bare(folder).rstrip("/")
    return bool(bare) and _bare(path).startswith(f"{bare}/")


def _line(text: str, key: str) -> int:
    wanted = key if "\n" not in key else ""
    last = wanted.rpartition(".")[2] if wanted not in text else wanted
    at = text.find(last) if last else -1
    return text.count("\n", 0, at) + 1 if at >= 0 else 1


def _short(value: str) -> str:
    return value if len(value) <= 120 else value[:119] + "…"
