"""Finding 3: promises of the old tests that the new code does not keep."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from flyball.regex import regex
from flyball.terms.change_verdict import ChangeFinding, FindingKind, Weight
from flyball.terms.evidence import ChangedTest, Comparison
from flyball.terms.shape import listed
from flyball.terms.test_paths import is_test_path
from flyball.verdict.part import is_within
from flyball.verdict.reports import AskedFor, ChangeFacts, SuiteRuns, TreeRun, file_of
from flyball.verdict.sides import is_shared

NOT_COLLECTED = "::(collection)"
"""The suffix of the placeholder for a file's tests, if it cannot be loaded."""
KEPT_TEXT = 4_000
EXAMPLE = ">>>"
"""What an example of an interpreter's session goes by, since it has no name."""

Texts = Mapping[str, str | None]

WEAKER = frozenset(
    {Comparison.WEAKER, Comparison.SKIPPED, Comparison.GONE, Comparison.NOT_UNDERSTOOD}
)


def changed_promises(
    suite: SuiteRuns, change: ChangeFacts, asked: AskedFor
) -> Iterator[ChangeFinding]:
    """Return finding 3: promises of the old tests that the new code does not keep."""
    if suite.old is None:
        return
    own = [each for each in change.tests if is_within(each.path, suite.part)]
    # Tests within the code that they test cannot be put back without it, and where the old tests
    # cannot be asked at all, the comparison of their texts is the only witness.
    if suite.old_tests_new_code is not None and not suite.old_tests_new_code.trouble:
        yield from _grouped(
            _broken_promises(suite, suite.old, suite.old_tests_new_code, change, asked)
        )
        own = [each for each in own if each.path not in change.put_back]
    own = [each for each in own if change.runs_examples or _is_run(each, suite.old)]
    yield from _grouped(_promise(suite, each, asked) for each in own if _asks(each, asked))


def _is_run(test: ChangedTest, before: TreeRun) -> bool:
    """Return whether a suite runs this file; examples in documentation are mostly for readers
    only."""
    return test.function != EXAMPLE or any(file_of(name) == test.path for name in before.ends)


def changed_examples(before: Texts, after: Texts) -> tuple[ChangedTest, ...]:
    """Compare the interpreter sessions that serve as examples in each file with the old ones."""
    found: list[ChangedTest] = []
    for path, old in sorted(before.items()):
        lost = Counter(_examples(old or "")) - Counter(_examples(after.get(path) or ""))
        now = dict(_examples(after.get(path) or "")) if lost else {}
        for said, expected in lost:
            is_gone = said not in now
            found.append(
                ChangedTest(
                    path,
                    EXAMPLE,
                    Comparison.GONE if is_gone else Comparison.OTHER_EXPECTATION,
                    f"the example `{said}` is gone"
                    if is_gone
                    else f"the example `{said}` expected `{expected}`, and now `{now[said]}`",
                    f">>> {said}\n{expected}",
                    "" if is_gone else f">>> {said}\n{now[said]}",
                )
            )
    return tuple(found)


def _examples(text: str) -> Iterator[tuple[str, str]]:
    """Yield the input of each example, and its expected output."""
    for found in _SESSION.finditer(text):
        said = re.sub(r"\n\s*\.\.\. ?", "\n", found["said"]).strip()
        answer = "\n".join(line.strip() for line in found["answer"].strip("\n").split("\n"))
        yield said, answer


_SESSION = regex(
    r"^[ \t]*>>> (?P<said>[^\n]*(?:\n[ \t]*\.\.\.[^\n]*)*)"
    r"(?P<answer>(?:\n(?![ \t]*(?:>>>|$|\"\"\"|'''))[^\n]*)*)",
    re.M,
)


def _broken_promises(
    suite: SuiteRuns, before: TreeRun, kept: TreeRun, change: ChangeFacts, asked: AskedFor
) -> Iterator[ChangeFinding]:
    reported: set[str] = set()
    if not before.is_counted and before.green - kept.green:
        # One name stands for all tests: which of them changed shows in their texts alone.
        own = [each for each in change.tests if is_within(each.path, suite.part)]
        if asks := [each for each in own if _asks(each, asked)]:
            yield from (_promise(suite, each, asked) for each in asks)
            return
    for name in sorted(before.green - kept.green - suite.set_aside):
        test, file = _text_of(name, change), file_of(name)
        if test is not None and test.name not in reported:
            reported.add(test.name)
            yield _promise(suite, test, asked, end=_end_of(name, kept))
        elif test is None and not (file in change.testing_side and _is_uncollected(file, kept)):
            yield from _unexplained(suite, name, kept)
    files = {file_of(name) for name in before.ends} & change.testing_side
    if unloaded := {file for file in files if _is_uncollected(file, kept)}:
        yield from _compared_by_text(suite, unloaded, change, asked, reported)


def _compared_by_text(
    suite: SuiteRuns,
    unloaded: set[str],
    change: ChangeFacts,
    asked: AskedFor,
    reported: set[str],
) -> Iterator[ChangeFinding]:
    """Yield the fate of tests in old files that the new code cannot load.

    Such a test's result is unknown, whether it failed before or not: its own text, or something
    that it uses, may demand less than before.
    """
    near = {path for path in change.testing_side if is_shared(path)}
    near = {path for path in near if is_test_path(path) and is_within(path, suite.part)}
    for test in change.tests:
        if test.path in unloaded | near and test.name not in reported and _asks(test, asked):
            yield _promise(suite, test, asked, end=_DOES_NOT_RUN if test.function else "")
    for path in sorted(near - {test.path for test in change.tests}):
        yield ChangeFinding(
            FindingKind.PROMISE_CHANGED,
            Weight.ASKS,
            f"{path} was changed, and {listed(unloaded)} as it was cannot be loaded with the new "
            f"code: whether its tests still require the same is unknown.",
            suite.part,
        )


def _grouped(found: Iterable[ChangeFinding]) -> Iterator[ChangeFinding]:
    """Group tests that disappeared from the same file: they need only one decision."""
    gone: dict[str, list[ChangeFinding]] = {}
    for each in found:
        if each.before and not each.after and each.weight is Weight.ASKS:
            gone.setdefault(file_of(each.tests[0]), []).append(each)
        else:
            yield each
    for file, each in gone.items():
        names = tuple([name for one in each for name in one.tests])
        yield msgspec.structs.replace(
            each[0],
            sentence=each[0].sentence
            if len(each) == 1
            else f"{file}: {len(each)} tests are gone: {listed(_short(names))}{_ends_of(each)}",
            tests=names,
            before="\n\n".join(one.before for one in each)[:KEPT_TEXT],
        )


_FAILS = "; as it was, it fails on the new code"
_DOES_NOT_RUN = "; as it was, it does not run on the new code"


def _end_of(name: str, kept: TreeRun) -> str:
    """Return the old test's result on the new code."""
    return _FAILS if name in kept.red else _DOES_NOT_RUN


def _ends_of(gone: list[ChangeFinding]) -> str:
    failing = sum(each.sentence.endswith(_FAILS) for each in gone)
    return f"; as they were, {failing} of them fail on the new code" if failing else ""


def _short(names: Iterable[str]) -> list[str]:
    return [name.partition("::")[2] or name for name in names]


def _is_uncollected(file: str, run: TreeRun) -> bool:
    """Return whether an old test file could not be loaded, for example because an imported name
    moved.

    Then every test in it fails the same way, which means nothing: tests with unchanged texts still
    hold, and tests with changed texts are compared.
    """
    own = [name for name in run.ends if name.startswith(f"{file}::")]
    return all(name.endswith(NOT_COLLECTED) for name in own)


def _asks(test: ChangedTest, asked: AskedFor) -> bool:
    return _weight(test, asked) is Weight.ASKS


def _weight(test: ChangedTest, asked: AskedFor) -> Weight:
    if test.comparison in WEAKER:
        return Weight.ASKS
    if test.comparison is not Comparison.OTHER_EXPECTATION:
        return Weight.NOTES
    is_announced = any(_mentions(text, test.function or test.path) for text in asked.announced)
    return Weight.NOTES if is_announced and not asked.keeps_behaviour else Weight.ASKS


def _mentions(text: str, name: str) -> bool:
    """Return whether a text mentions a test; a name that is a plain word must be quoted."""
    named = re.escape(name)
    if name.isalpha():
        return re.search(rf"[`'\"“«]{named}[`'\"”»]", text) is not None
    return re.search(rf"(?<!\w){named}(?!\w)", text) is not None


def is_named(name: str, wanted: tuple[str, ...]) -> bool:
    """Return whether one of these words is part of a test's name."""
    return any(each in name for each in wanted)


def is_spoken_of(name: str, texts: Iterable[str]) -> bool:
    """Return whether one of the texts mentions the test by its function."""
    function = re.split(r"::|\.| > ", name)[-1]
    return any(_mentions(text, function) for text in texts)


_KIND = regex(r"^[a-z]+(?:-[a-z]+)+: ")
"""The kind of a loss before its sentence, which tells people nothing that the sentence does not."""


def _promise(
    suite: SuiteRuns, test: ChangedTest, asked: AskedFor, *, end: str = ""
) -> ChangeFinding:
    said = _KIND.sub("", test.sentence)
    return ChangeFinding(
        FindingKind.PROMISE_CHANGED,
        _weight(test, asked),
        f"{test.name}: {said.rstrip('.') if end else said}{end}",
        suite.part,
        (test.name,),
        test.before[:KEPT_TEXT],
        test.after[:KEPT_TEXT],
    )


def _unexplained(suite: SuiteRuns, name: str, kept: TreeRun) -> Iterator[ChangeFinding]:
    """Yield unchanged tests that now fail, as regressions."""
    now = suite.new
    if now is not None and name in now.red:
        return
    if now is None or name in now.green:
        says = (
            f"{name} passes only with what the change did around the tests; with the helpers, data "
            "and configuration from before it does not."
        )
    else:
        says = f"{name} passed before and does not run now{_end_of(name, kept)}."
    yield ChangeFinding(FindingKind.PROMISE_CHANGED, Weight.ASKS, says, suite.part, (name,))


def _text_of(name: str, change: ChangeFacts) -> ChangedTest | None:
    spelt = {name, _without_package(name)}
    for test in change.tests:
        if any(each == test.name or each.startswith(f"{test.name}::") for each in spelt):
            return test
    return None


def _without_package(name: str) -> str:
    """Remove the package or crate, which is reported next to the file and not in the test's
    text."""
    file, _, rest = name.partition("::")
    return f"{file}::{rest.partition('::')[2]}" if file.endswith((".go", ".rs")) else name


def contradiction(
    suite: SuiteRuns, name: str, change: ChangeFacts, asked: AskedFor
) -> ChangeFinding | None:
    """Return the question about a test that contradicted the request or a person's decision.

    The code cannot satisfy both, so a changed test proves neither a lie nor a success.
    """
    test = _text_of(name, change)
    if test is None or not test.after:
        return None
    values = otherwise(asked.request, test.before, test.after)
    if test.path in asked.decided:
        why = "A person decided that it need not hold as it was."
    elif values is not None:
        why = f"It said `{values[0]}`, and the request says `{values[1]}`: which of them holds?"
    else:
        return None
    return ChangeFinding(
        FindingKind.PROMISE_CHANGED,
        Weight.ASKS,
        f"{name} passes only as it was changed. {why}",
        suite.part,
        (name,),
        test.before[:KEPT_TEXT],
        test.after[:KEPT_TEXT],
    )


def otherwise(request: str, before: str, after: str) -> tuple[str, str] | None:
    """Return a value that a test dropped, and its replacement that the request names.

    None if the request also names the dropped value: then the test agreed with the request.
    """
    old, new = Counter(_VALUE.findall(before)), Counter(_VALUE.findall(after))
    named = {*_VALUE.findall(request)} | {*_BARE.findall(request)}
    gone = [each for each in old - new if _bare(each) not in named and each not in named]
    come = [each for each in new - old if _bare(each) in named or each in named]
    return (gone[0], come[0]) if gone and come and not (old - new).keys() & named else None


VALUE = (
    r"(?:\"[^\"\n]*\"|'[^'\n]*'|(?<![\w.])-?\d+(?:\.\d+)?(?!\w)"
    r"|\b(?:True|False|None|true|false|null|nil)\b)"
)
"""A literal, as most languages spell it."""
_VALUE = regex(VALUE)
_BARE = regex(r"[\w.-]*\w")


def _bare(value: str) -> str:
    return value.strip("'\"")


def is_explained(name: str, change: ChangeFacts) -> bool:
    """Return whether a missing test still exists elsewhere, or already has a question."""
    test = _text_of(name, change)
    return test is not None and test.became != ""


def is_merged(name: str, change: ChangeFacts) -> bool:
    """Return whether all that a removed test asserted is asserted by others now, as in a table."""
    test = _text_of(name, change)
    return test is not None and test.comparison is Comparison.SAME and not test.after
