"""Compare the tests of a change with the old ones, in every language by the same steps."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from flyball.regex import regex
from flyball.terms.evidence import Weakened
from flyball.terms.test_paths import is_support
from flyball.verdict.tests._conditions import complement, is_elsewhere, is_usual
from flyball.verdict.tests._finding import LOWERED, Compared
from flyball.verdict.tests._model import Assertion, Reach, TestCase
from flyball.verdict.tests._renames import WORD, Renames
from flyball.verdict.tests._successor import became_rows, judge, pair_up
from flyball.verdict.tests._text import (
    LITERAL,
    NEAR,
    ValueIndex,
    is_values,
    is_within,
    values_of,
    without_literals,
    without_names,
)
from flyball.verdict.tests._words import EXACT, HOLLOW, PARTIAL

Sides = Mapping[str, Sequence[TestCase]]
Key = tuple[object, ...]
Pool = Counter[Key]


class Change(NamedTuple):
    """Data shared by all comparisons of one change; pools are consumed as matches are found."""

    renames: Renames
    pool: Pool
    rows: Counter[str]
    moved: ValueIndex
    helped: frozenset[str]
    """What is newly asserted in helpers, whatever its variables are called."""
    helpers: frozenset[str]
    features: frozenset[str]
    gone: frozenset[str]
    asserted: ValueIndex
    """What tests newly assert, by the values in it."""
    wanted: frozenset[str]
    """Every name that an assertion expects something of, as of a fixture."""
    comments: Mapping[str, frozenset[str]]


def compare_cases(
    before: Sides,
    after: Sides,
    renames: Renames,
    features: frozenset[str],
    comments: Mapping[str, frozenset[str]],
) -> Iterator[Compared]:
    """Yield every case of both sides once, with its comparison.

    `features` lists those that the project can be built with or without; `comments` the current
    commented lines of each file.
    """
    old = [case for cases in before.values() for case in cases]
    new = [case for cases in after.values() for case in cases]
    rows = _gained_rows(old, new)
    helpers = frozenset(c.name for c in new if not c.is_test and any(map(counts, c.assertions)))
    shapes = _helper_shapes(new) - _helper_shapes(old)
    pool = _gained(old, new)
    change = Change(
        renames,
        pool,
        rows,
        ValueIndex(rows),
        shapes,
        helpers,
        features,
        frozenset(before.keys() - after.keys()),
        ValueIndex(map(_said, pool)),
        _wanted_names(new),
        comments,
    )
    pairs = _pairs(old, new)
    taken = {id(now) for _, now in pairs}
    # Those that kept their place take their assertions first, so that a copy of one cannot be
    # claimed by a test that vanished.
    for case, now in sorted(pairs, key=lambda pair: pair[1] is None):
        if now is None:
            yield from _vanished(case, old, new, change)
        else:
            yield _compared(case, now, change)
    yield from _other_constants(before, after)
    for case in new:
        if id(case) not in taken and case.is_test and case.name:
            gain, calls = _weight(case, change), _calls(case)
            yield Compared(case.path, case.place, case.line, None, case.text, (), gain, calls)


def _said(key: Key) -> str:
    return ",".join(WORD_OR_VALUE.findall(f"{key[1]},{key[2]}".replace("'", "")))


WORD_OR_VALUE = regex(r"\"(?:\\.|[^\"\\])*\"|[-\w.]+")


def _wanted_names(cases: Sequence[TestCase]) -> frozenset[str]:
    said = " ".join(each for case in cases for one in case.assertions for each in one.expected)
    return frozenset(WORD.findall(said))


def counts(one: Assertion) -> bool:
    return one.reach >= Reach.CONDITIONAL and one.strength > HOLLOW


def _gained(old: Sequence[TestCase], new: Sequence[TestCase]) -> Pool:
    """Return the additions to tests, including an assertion that only moved to another test."""

    def keyed(cases: Sequence[TestCase]) -> Counter[tuple[str, tuple[str, ...], Key]]:
        called = frozenset(name for case in cases for name in case.calls)
        return Counter(
            (case.path, case.place, one.key)
            for case in cases
            for one in case.assertions
            if counts(one) and (case.is_test or case.name in called)
        )

    gained = keyed(new) - keyed(old)
    return Counter(key[2] for key in gained.elements())


def _gained_rows(old: Sequence[TestCase], new: Sequence[TestCase]) -> Counter[str]:
    def rows(cases: Sequence[TestCase]) -> Counter[tuple[str, ...]]:
        return Counter((case.path, *case.place, row) for case in cases for row in case.rows)

    return Counter(key[-1] for key in (rows(new) - rows(old)).elements())


def _helper_shapes(cases: Sequence[TestCase]) -> frozenset[str]:
    called = frozenset(name for case in cases for name in case.calls)
    rest = [case for case in cases if not case.is_test and case.name in called]
    return frozenset(without_names(a.plain) for c in rest for a in c.assertions if counts(a))


def _pairs(
    old: Sequence[TestCase], new: Sequence[TestCase]
) -> list[tuple[TestCase, TestCase | None]]:
    """Return each case with its successor: by position, else by body, by name, by its
    assertions."""
    keys: tuple[Callable[[TestCase], Hashable], ...] = (
        lambda c: (c.path, c.place, c.is_test),
        lambda c: _shape(c) if c.is_test else None,
        lambda c: c.name or None if c.is_test else (c.path, c.place),
    )
    pairs = pair_up(old, new, keys, _features, _alike)
    found = [(one, new[pairs[n]] if n in pairs else None) for n, one in enumerate(old)]
    return [(one, None if _is_lost(one, other) else other) for one, other in found]


def _is_lost(old: TestCase, new: TestCase | None) -> bool:
    """Return whether the function still exists, but no runner collects it any more."""
    return new is not None and old.is_test and not new.is_test and bool(old.name)


def _shape(case: TestCase) -> Hashable:
    said = (*(a.key for a in case.assertions), *case.steps, *case.rows)
    return said or None


def _features(case: TestCase) -> Counter[Hashable]:
    return Counter[Hashable]([*(a.key for a in case.assertions), *case.rows, *case.steps])


def _alike(old: TestCase, new: TestCase) -> bool:
    """Return whether a test keeps half of its assertions or rows, or most of its steps."""
    if not (old.is_test and new.is_test):
        return False
    wanted, given = (Counter(a.key for a in case.assertions) for case in (old, new))
    if wanted and (wanted & given).total() * 2 >= wanted.total():
        return True
    rows, given_rows = Counter(old.rows), Counter(new.rows)
    if rows and (rows & given_rows).total() * 2 >= rows.total():
        return True
    did, does = Counter(old.steps), Counter(new.steps)
    return bool(did) and (did & does).total() * 5 >= max(did.total(), does.total()) * 3


def _vanished(
    case: TestCase, old: Sequence[TestCase], new: Sequence[TestCase], change: Change
) -> Iterator[Compared]:
    """Yield a case that disappeared, unless all of its assertions exist elsewhere."""
    wanted = Counter(one.key for one in case.assertions if counts(one))
    if case.path.endswith(".py") and not (case.is_test and case.name):
        return
    is_kept = bool(wanted) and not wanted - change.pool
    if is_kept:
        change.pool.subtract(wanted)
    is_kept = is_kept or _became_rows(case, new, change)
    kind, what = _kind_of_loss(case, wanted, change), "was removed"
    if (not case.is_test or not case.name) and not wanted:
        others = [c for c in old if c.path == case.path and c.is_test and c.name]
        what = "the file was deleted" if not case.name else what
        is_kept = bool(others) or not case.steps
        kind = "changed-expected" if is_support(case.path) else "not-understood"
    alike = [c for c in new if not c.is_test and case.is_test and case.name]
    if any(_shape(each) == _shape(case) or each.place == case.place for each in alike):
        is_kept, kind, what = False, "renamed-away", "is no longer collected"
    does = {step for each in new for step in each.steps}
    is_copy = not case.is_test and set(case.steps) <= does
    name = case.name or "what it held beside tests"
    said = what if what.startswith("the") else f"{name} {what}"
    found = () if is_kept or is_copy else (Weakened(case.path, case.line, kind, said),)
    if (case.is_test and case.name) or found:
        loss, calls = -_weight(case, change), _calls(case)
        yield Compared(case.path, case.place, case.line, case.text, None, found, loss, calls)


def _became_rows(case: TestCase, new: Sequence[TestCase], change: Change) -> bool:
    """Return whether a parametrised test of the same calls contains all of its assertions."""
    asked = [one for one in case.assertions if counts(one) and change.pool[one.key] <= 0]
    calls = _calls(case)
    over_rows = any(each.rows and each.is_test and calls & _calls(each) for each in new)
    held = all(
        (len(values_of(one.plain)) > 1 and change.moved.holds(one.plain)) or _is_row(one, change)
        for one in asked
    )
    return bool(asked) and over_rows and held


def _is_row(one: Assertion, change: Change) -> bool:
    """Return whether a new row holds a call's arguments, and then what is expected of it."""
    given = re.fullmatch(r"[\w.]+\((.+)\)", one.subject)
    said = re.escape(",".join((given[1], *one.expected))) if given else "(?!)"
    return any(re.search(rf"(?<![\w.-]){said}(?![\w.])", row) for row in change.rows)


def _kind_of_loss(case: TestCase, wanted: Pool, change: Change) -> str:
    """Return the kind of a loss: a changed expectation if half of its assertions exist
    elsewhere."""
    if not case.is_test:
        return "removed-assertion"
    parts = wanted.total() + len(case.rows)
    rows = sum(change.moved.holds(row) for row in case.rows)
    found = (wanted & change.pool).total() + rows
    return "changed-expected" if parts and found * 2 >= parts else "removed-test"


TOOLS = regex(
    r"(?:assert|expect|require|check|Equal|Error|Run|Assert|function|len|New|test|it|raises|range"
    r"|list|toBe|toEqual)\w*"
)


def _calls(case: TestCase) -> frozenset[str]:
    """Return the functions that a test calls, except those that every test calls."""
    return frozenset(name for name in case.calls if not TOOLS.match(name))


def _weight(case: TestCase, change: Change) -> int:
    asked = sum(one.strength for one in case.assertions)
    given = 0 if case.assertions else EXACT * (not change.helpers.isdisjoint(case.calls))
    return asked * max(1, len(case.rows)) + len(case.rows) + given


def _compared(old: TestCase, new: TestCase, change: Change) -> Compared:
    moved = (old.path, old.place) != (new.path, new.place)
    if old.text == new.text and not moved and _surroundings(old) == _surroundings(new):
        return Compared(old.path, old.place, new.line, old.text, new.text)
    return Compared(
        old.path,
        old.place,
        new.line,
        old.text,
        new.text,
        tuple(_losses(old, new, change)),
        gain=_weight(new, change) - _weight(old, change),
        calls=_calls(old) | _calls(new),
        moved_to=(new.path, *new.place) if moved else (),
        other_input=_other_input(old, new),
        is_test=old.is_test,
    )


def _surroundings(case: TestCase) -> tuple[object, ...]:
    """Return the conditions of a test outside its own text."""
    reaches = [one.reach for one in case.assertions]
    return [skip.text for skip in case.skips], reaches, case.rows


# What one case lost


def _losses(old: TestCase, new: TestCase, change: Change) -> list[Weakened]:
    is_emptied = old.is_test and old.name and (old.assertions or old.steps)
    is_commented = any(_is_commented(one, new.path, change) for one in old.assertions)
    if is_emptied and not new.assertions and not new.steps and not is_commented:
        detail = f"{new.name} does nothing now"
        return [Weakened(new.path, new.line, "emptied-test", detail), *_skips(old, new, change)]
    found = [
        *_skips(old, new, change),
        *_rows(old, new, change),
        *_assertions(old, new, change),
        *_wanted(old, new),
        *_returned(old, new, change),
    ]
    return found or list(_not_understood(old, new, change))


ALWAYS = regex(r".*\((?:True|1|not False|'.*'|\".*\")\)|.*\w+$")


def _skips(old: TestCase, new: TestCase, change: Change) -> Iterator[Weakened]:
    """Return the added reasons to skip a test; a replaced reason is another condition."""
    had, has = (Counter(skip.text for skip in case.skips) for case in (old, new))
    lost = Counter(text.partition("(")[0] for text in (had - has).elements())
    # Whatever comes in place of a test that never ran runs it more often.
    ignored = sum(count for text, count in (had - has).items() if text.startswith("#[ignore"))
    is_python = new.path.endswith(".py")
    for skip in new.skips:
        if had[skip.text]:
            had[skip.text] -= 1
            continue
        if _is_on_a_new_module(skip.text, old, new):
            continue
        head = skip.text.partition("(")[0]
        is_other = is_python and lost[head] > 0 and not ALWAYS.fullmatch(skip.text)
        lost[head] -= is_other
        is_other |= is_python and is_elsewhere(skip.text)
        if ignored or complement(skip.text) in has or is_usual(skip.text, change.features):
            ignored -= bool(ignored)
            is_other = True
        kind = "focused-test" if skip.is_focus else "new-skip"
        yield Weakened(new.path, skip.line, "changed-expected" if is_other else kind, skip.text)


def _is_on_a_new_module(text: str, old: TestCase, new: TestCase) -> bool:
    """Return whether a Rust attribute belongs to a new file of tests."""
    attribute, _, module = text.rpartition("]")
    had, has = (
        {step for step in case.steps if re.match(r"(?:pub )?mod ", step)} for case in (old, new)
    )
    is_new = module.strip() not in had
    return bool(attribute) and module.strip().startswith(("mod", "pub")) and is_new and had <= has


def _rows(old: TestCase, new: TestCase, change: Change) -> Iterator[Weakened]:
    """Return rows that are gone or have other values; a row that only gained values is the same
    row."""
    earlier, later = Counter(old.rows), Counter(new.rows)
    left, gone = later - earlier, list((earlier - later).elements())
    asserted = ValueIndex(a.plain for a in new.assertions if gone)
    fresh = ValueIndex(left)
    lost: list[str] = []
    for row in gone:
        near = [f for f in fresh.around(row) or islice(left, NEAR) if left[f] > 0]
        grown = next((f for f in near if _is_grown(row, f) or change.renames.explain(row, f)), None)
        if grown is not None:
            left[grown] -= 1
        elif change.rows[row] > 0:
            change.rows[row] -= 1
        elif not asserted.holds(row):
            lost.append(row)
    others = list((+left).elements())
    is_left_to = lost and _new_helper(new, old, change)
    for row in lost:
        if others:
            other = max(others[:NEAR], key=lambda f: _likeness(row, f))
            others.remove(other)
            detail = f"case {row} became {other}"
            yield Weakened(new.path, new.line, "changed-expected", detail)
        else:
            # A row that went over to another table now says something else.
            is_moved = change.moved.holds(row) or change.asserted.holds(row)
            is_kept = is_left_to or (is_moved and len(values_of(row)) > 1)
            kind = "changed-expected" if is_kept else "removed-case"
            yield Weakened(new.path, new.line, kind, f"{new.name}: case {row}".lstrip(": "))


def _is_grown(row: str, other: str) -> bool:
    return len(values_of(row)) > 1 and is_within(row, other)


def _likeness(one: str, other: str) -> int:
    return len({*values_of(one)} & {*values_of(other)})


def _assertions(old: TestCase, new: TestCase, change: Change) -> Iterator[Weakened]:
    free: defaultdict[tuple[object, ...], list[Assertion]] = defaultdict(list)
    for one in sorted(new.assertions, key=lambda a: a.reach):
        free[one.key].append(one)
    gone: list[Assertion] = []
    for one in sorted(old.assertions, key=lambda a: -a.reach):
        if not free[one.key]:
            gone.append(one)
            continue
        best = free[one.key].pop()
        if (old.path, old.place) != (new.path, new.place):
            change.pool[best.key] -= 1
        if best.reach < one.reach:
            kind, says = LOWERED[best.reach]
            yield Weakened(new.path, best.line, kind, f"`{_first(best)}` {says}")
    fresh = sorted((a for left in free.values() for a in left), key=lambda a: a.node.start)
    able = [a for a in fresh if a.reach >= Reach.CONDITIONAL]
    # Over a table an assertion stands for as many as there are rows.
    further = min(NEAR, len(new.rows) - len(old.rows) - 1)
    able += [a for a in able if ROW_NAME.search(a.plain) for _ in range(further)]
    known = {a.key for a in able}
    came = ValueIndex(row for row in new.rows if row not in set(old.rows))
    spelled = ValueIndex(a.plain for a in able)
    # First those with a successor about the same thing, or another would take it from them.
    subjects = {a.subject for a in able}
    says = "changed-expected" if _mass(new) >= _mass(old) and _mass(old) else "removed-assertion"
    for one in sorted(filter(counts, gone), key=lambda a: (a.subject not in subjects, a.line)):
        if change.pool[one.key] > 0 and one.key not in known:
            change.pool[one.key] -= 1
        elif not became_rows(one, able, came.around(one.plain)) and not _is_spelled_out(
            one, old, spelled
        ):
            for found in _judged(one, able, old, new, change):
                is_removed = found.kind == "removed-assertion"
                yield Weakened(found.path, found.line, says, found.detail) if is_removed else found


def _is_spelled_out(one: Assertion, old: TestCase, now: ValueIndex) -> bool:
    """Return whether the statements about each row are now asserted one by one."""
    is_of_rows = bool(old.rows) and ROW_NAME.search(one.plain)
    return bool(is_of_rows) and all(now.holds(row) for row in old.rows)


def _mass(case: TestCase) -> int:
    """Return how many values a test compares, and how strictly; a rewritten test may ask as
    much."""
    return sum(
        one.strength * (1 + len(values_of("".join(one.expected))))
        for one in case.assertions
        if counts(one)
    )


def _judged(
    one: Assertion, able: list[Assertion], old: TestCase, new: TestCase, change: Change
) -> Iterator[Weakened]:
    """Yield the comparison of a removed assertion, and remove its successor from the candidates."""
    if without_names(one.plain) in change.helped:
        return
    near = [a for a in able if a.subject == one.subject][:NEAR] or able[:NEAR]
    successor, kind = judge(one, near, new, old, change.renames)
    if successor is not None:
        able.remove(successor)
        if kind:
            detail = f"`{_first(one)}` became `{_first(successor)}`"
            yield Weakened(new.path, successor.line, kind, detail)
        return
    if helper := _new_helper(new, old, change):
        detail = f"`{_first(one)}` is left to {helper}"
        yield Weakened(new.path, new.line, "changed-expected", detail)
        return
    kind = "removed-assertion"
    if _is_commented(one, new.path, change):
        kind = "commented-out"
    elif _is_of_step(one, old, new) or _is_part_of(one, new):
        kind = "changed-expected"
    yield Weakened(new.path, new.line if new.name else one.line, kind, f"`{_first(one)}`")


STEP = regex(r"\berr\w*\s*:?=(?!=)")
UNHEARD = regex(r"(?<!\w)_\s*:?=(?!=)")
ROW_NAME = regex(r"\b[a-z_]\w*\b(?!\()")


def _is_of_step(one: Assertion, old: TestCase, new: TestCase) -> bool:
    """Return whether it only asserted the success of a step that no longer exists."""
    if one.expected != ("nil",) or "err" not in one.subject.rpartition(";")[2]:
        return False
    had, has = (len(STEP.findall(case.text)) for case in (old, new))
    asked = sum(bool(STEP.search(a.text)) or "err" in a.subject for a in new.assertions)
    ignored = len(UNHEARD.findall(new.text)) > len(UNHEARD.findall(old.text))
    return has < had and asked >= has and not ignored


def _is_part_of(one: Assertion, new: TestCase) -> bool:
    """Return whether its expected text is part of a longer one that the test now expects."""
    wanted = _texts_in(" ".join(one.expected) + (one.subject if one.op == "in" else ""))
    longer = [text for a in new.assertions if a.op in (one.op, "raises") for text in
              _texts_in(a.plain)]  # fmt: skip
    return bool(wanted) and all(any(text in other for other in longer) for text in wanted)


def _texts_in(code: str) -> list[str]:
    found = (value.strip("'\"`").strip() for value in values_of(code) if value[:1] in "'\"`")
    return [text for text in found if len(text) >= 4]


HELPER = regex(r"(?:run|test|validate|ensure)[A-Z_]\w*")


def _new_helper(new: TestCase, old: TestCase, change: Change) -> str | None:
    """Return a function that makes assertions and that only the new test calls."""
    came = new.calls - old.calls
    return min((n for n in came if n in change.helpers or HELPER.match(n)), default=None)


def _first(one: Assertion) -> str:
    return one.text.strip().split("\n")[0]


def _is_commented(one: Assertion, path: str, change: Change) -> bool:
    wanted = re.sub(r"\s+", "", _first(one))
    return any(line.startswith(wanted) for line in change.comments.get(path, ()))


BOUND = regex(r"(?P<name>[A-Za-z_]\w*)(?::[\w<>\[\]]+)?(?::=|:|=)(?![=>])(?P<value>[^;]+)")
WANTED = regex(r"(?:want|expected|exp)\w*", re.IGNORECASE)


def _wanted(old: TestCase, new: TestCase) -> Iterator[Weakened]:
    """Return exchanged values under a name that assertions compare with."""
    if not new.name and new.path.endswith(".py"):
        return
    kept = {a.key for a in old.assertions} & {a.key for a in new.assertions}
    used = {n for a in new.assertions if a.key in kept for n in WORD.findall(" ".join(a.expected))}
    had, has = _named(old, used), _named(new, used)
    lost = Counter(name for name, _ in (had - has).elements())
    for name, value in (has - had).elements():
        in_a_row = any(value in row for row in new.rows)
        if lost[name] > 0 and LITERAL.search(value) and not in_a_row:
            lost[name] -= 1
            yield Weakened(new.path, new.line, "changed-expected", f"{name} is {value} now")


def _returned(old: TestCase, new: TestCase, change: Change) -> Iterator[Weakened]:
    """Return values of a fixture that tests compare with."""
    if new.is_test or new.name not in change.wanted:
        return
    had, has = ([s for s in case.steps if GIVEN.match(s)] for case in (old, new))
    for was, now in zip(had, has, strict=False):
        if was != now and without_literals(was) == without_literals(now):
            detail = f"{new.name}: {was} became {now}"
            yield Weakened(new.path, new.line, "changed-expected", detail)


GIVEN = regex(r"return|yield")


def _named(case: TestCase, used: set[str]) -> Counter[tuple[str, str]]:
    found = (BOUND.search(step) for step in case.steps)
    return Counter(
        (m["name"], m["value"].rstrip(","))
        for m in found
        if m and (m["name"] in used or WANTED.fullmatch(m["name"]))
    )


def _other_constants(before: Sides, after: Sides) -> Iterator[Compared]:
    """Yield literals outside the tests of a file that its tests compare with."""
    for path in before.keys() & after.keys():
        used = {
            name
            for case in after[path]
            for one in case.assertions
            for name in WORD.findall(" ".join(one.expected))
        }
        was, now = (dict(_beside(side[path])) for side in (before, after))
        for name in sorted(used & was.keys() & now.keys()):
            if was[name] != now[name] and is_values(was[name]) and is_values(now[name]):
                detail = f"{name}: {was[name]} became {now[name]}"
                found = Weakened(path, 1, "changed-expected", detail)
                yield Compared(path, (name,), 1, was[name], now[name], (found,))


def _beside(cases: Sequence[TestCase]) -> Iterator[tuple[str, str]]:
    for case in cases:
        for step in case.steps if not case.name else ():
            if match := BOUND.search(step):
                yield match["name"], match["value"]


SPOKEN = regex(
    r"(?:\b[tbc]\.Logf?|\bconsole\.\w+|\be?println!?|\bfmt\.Print\w*|\bprintf?|\becho)\([^()]*\)"
)


def _not_understood(old: TestCase, new: TestCase, change: Change) -> Iterator[Weakened]:
    """Yield a loss in code without known assertions, rather than ignore it."""
    if old.assertions or old.rows or not old.is_test:
        return
    had, has = (
        Counter(
            without_names(SPOKEN.sub("", step))
            for step in case.steps
            if not _went_with_its_file(step, change)
        )
        for case in (old, new)
    )
    lost = list((had - has).elements())
    came = {without_literals(step) for step in has - had}
    literal = next((step for step in lost if without_literals(step) in came), None)
    if lost and (literal is not None or len(new.steps) < len(old.steps)):
        what = f"lost or changed `{(literal or lost[0])[:120]}`"
        detail = f"{new.name} {what}, and no known way to assert explains it"
        # What is asserted in a known way now is at least no less than what nobody knew.
        is_asked = any(a.strength >= PARTIAL for a in new.assertions if counts(a))
        kind = "changed-expected" if is_asked or is_support(new.path) else "not-understood"
        yield Weakened(new.path, new.line, kind, detail)


def _went_with_its_file(step: str, change: Change) -> bool:
    """Return whether a Rust module declaration was removed together with its file."""
    module = re.match(r"(?:pub )?mod (\w+)", step)
    ends = (f"/{module[1]}.rs", f"/{module[1]}/mod.rs") if module else ()
    return bool(ends) and any(path.endswith(ends) for path in change.gone)


def _other_input(old: TestCase, new: TestCase) -> str:
    """Return the first value outside the assertions that was exchanged for another."""
    if not (old.is_test and old.name):
        return ""
    had, has = (Counter(SPOKEN.sub("", step) for step in case.steps) for case in (old, new))
    came = {without_literals(step): step for step in has - had}
    for step in had - has:
        other = came.get(without_literals(step))
        if other is not None:
            return f"other input: `{step[:200]}` became `{other[:200]}`"
    return ""


def comment_lines(texts: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """Return the commented lines of each file, without layout."""
    return {path: frozenset(_commented(text)) for path, text in texts.items()}


def _commented(text: str) -> Iterable[str]:
    for line in text.split("\n"):
        said = line.strip()
        if said.startswith(("#", "//", "/*", "*", "--")):
            yield re.sub(r"\s+", "", said.lstrip("#/*- "))


__all__ = ["comment_lines", "compare_cases"]
