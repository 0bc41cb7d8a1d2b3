"""Compare the checks named as verification with those run on the new tree."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from flyball.intent.change import read_change
from flyball.regex import regex
from flyball.terms.intent import ChangeKind, Intent
from flyball.verdict.case import CaseOutcome
from flyball.verdict.reports import AskedFor, Named, NamedEnd, TreeRun


class CheckEnd(NamedTuple):
    """The result of a command that Flyball ran on the new tree."""

    command: str
    exit_code: int
    detail: str = ""


_WHOLE = regex(
    r"(?i)^(?:run )?(?:the )?(?:whole |full |entire |all )?"
    r"(?:unit )?(?:test suite|tests?|suite|test runner)(?: pass(?:es)?)?\.?$"
)
_RUNNERS = regex(
    r"\b(?:pytest|unittest|py\.test|tox|nox|jest|vitest|mocha|ava|tape|go test|cargo test|"
    r"(?:npm|pnpm|yarn|bun)(?: run)? test|node --test|make (?:test|check)|rspec|phpunit|mix test|"
    r"mvn|gradle|ctest|bats|deno test|dotnet test|rake)\b"
)


def is_suite(what: str) -> bool:
    """Return whether the words name a test run, of any part."""
    return bool(_RUNNERS.search(what) or _WHOLE.match(what.strip()))


def resolve_named(
    named: Sequence[str], runs: Iterable[TreeRun], checks: Iterable[CheckEnd]
) -> tuple[tuple[Named, ...], tuple[str, ...]]:
    """Return the result of each name, and the names that no program could run.

    A named test must itself be green. A suite is judged by the verdict test by test: naming a part
    of it does not make that part sufficient.
    """
    suites, ended = list(runs), {_plain(each.command): each for each in checks}
    started = {_plain(each.command) for each in suites}
    found: list[Named] = []
    unknown: list[str] = []
    for what in dict.fromkeys(each.strip() for each in named if each.strip()):
        check = ended.get(_plain(what))
        if check is not None:
            end = NamedEnd.RED if check.exit_code else NamedEnd.GREEN
            found.append(Named(what, end, check.detail))
        elif tests := _tests_named(what, suites):
            bad = sorted(name for name, end in tests.items() if end is not CaseOutcome.PASSED)
            end = NamedEnd.RED if bad else NamedEnd.GREEN
            found.append(Named(what, end, ", ".join(bad[:3])))
        elif missing := _missing_tests(what, suites):
            found.append(Named(what, NamedEnd.NOT_RUN, f"no test of {missing} was run"))
        elif _plain(what) in started or _ran_tests_in(what, suites):
            continue
        elif not is_suite(what):
            unknown.append(what)
        elif not suites:
            found.append(Named(what, NamedEnd.NOT_RUN, "the project has no such suite"))
    return tuple(found), tuple(unknown)


def _tests_named(what: str, runs: Iterable[TreeRun]) -> Mapping[str, CaseOutcome]:
    """Return the tests whose own name, not only their file's, is among the words.

    Naming a whole file makes no promise about each old failure in it, so only functions count.
    """
    words = set(re.split(r"[\s:,.()'\"`\[\]/]+", what))
    found: dict[str, CaseOutcome] = {}
    for run in runs:
        for name, end in run.ends.items():
            function = re.split(r"::|\.| > ", name)[-1]
            if function in words and len(function) > 3 and "::" in name:
                found[name] = end
    return found


def _ran_tests_in(path: str, runs: Iterable[TreeRun]) -> bool:
    """Return whether tests of a named file or folder were run."""
    inside = re.compile(re.escape(path.removeprefix("./").rstrip("/")) + r"(?:$|/|::| > )")
    return any(inside.match(name) for run in runs for name in run.ends)


_PYTHON_TEST = regex(r"(?:^|/)(test_\w+|\w+_test)\.py(?:::([\w:]+))?$")


def _missing_tests(what: str, runs: Sequence[TreeRun]) -> str:
    """Return a named test file or test that no run reported, if all tests were run.

    Only Python's runners always report a test's file.
    """
    test_names = [name for run in runs for name in run.ends]
    if any(run.whole or not run.is_counted for run in runs) or not any(
        ".py" in n for n in test_names
    ):
        return ""
    for word in what.split():
        named = _PYTHON_TEST.search(word)
        if named and not any(_has(name, named) for name in test_names):
            return word
    return ""


def _has(name: str, named: re.Match[str]) -> bool:
    file, test = named[1], (named[2] or "").rpartition("::")[2]
    return file in re.split(r"[/.:]", name) and (not test or test in re.split(r"[.:]+", name))


def _plain(command: str) -> str:
    """Return a command without parts that do not change its meaning, such as spaces or a
    launcher."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    while words and words[0] in ("npx", "pnpm", "yarn", "exec", "run", "poetry", "uv", "python",
                                 "python3", "-m", "bunx", "--no-install"):  # fmt: skip
        words = words[1:]
    return " ".join(words)


_NAMED = regex(r"\btest_\w+|\bTest[A-Z]\w+|[\w./-]+::[\w:]+|[\w./-]+[._-](?:test|spec)\.\w+")
_ALL = regex(
    r"(?i)\b(?:tests?|suite|specs?|ci|build)\b[^.\n]{0,30}\b(?:fail\w*|red|broken|break\w*)\b"
    r"|\b(?:fail\w*|red|broken)\b[^.\n]{0,20}\b(?:tests?|suite|specs?)\b"
)
_REPAIR = regex(
    r"(?i)\b(?:fix\w*|bug\w*|fail\w*|broken|breaks?|wrong|crash\w*|error\w*|incorrect\w*|repair\w*|mend\w*|"
    r"typo|regress\w*|should not|shouldn't|does ?n[o']t)\b"
)


def asked_for(
    request: str, promised: Iterable[str], intent: Intent | None, *, wants_red: bool
) -> AskedFor:
    """Return the request and the stated plan as the verdict uses them.

    A request that names tests requires those to be green; one that only says that tests fail
    requires all of them. A repair or a refactoring must not change expectations unless asked to.
    """
    named = tuple(dict.fromkeys(_NAMED.findall(request)))
    kind = read_change(request).kind
    is_repair = kind is ChangeKind.FIX or (
        kind is ChangeKind.UNKNOWN and bool(_REPAIR.search(request))
    )
    is_refactoring = kind is ChangeKind.REFACTORING
    builds = intent in (Intent.FEATURE_BUILD, Intent.AUTONOMOUS) and not is_repair
    return AskedFor(
        announced=(request, *promised),
        request=request,
        must_mend=named,
        mends_all=bool(not named and _ALL.search(request)),
        repairs=is_repair or (intent is Intent.SMALL_FIX and kind is ChangeKind.UNKNOWN),
        adds=kind is ChangeKind.FEATURE,
        keeps_behaviour=is_repair or is_refactoring or not (builds or intent is Intent.SMALL_FIX),
        is_run=True,
        is_refactoring=is_refactoring,
        wants_red=wants_red,
    )
