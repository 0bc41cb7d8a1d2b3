"""How test files in languages without a parser of ours changed, test by test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

from flyball.core.terms.evidence import Weakened
from flyball.core.weakening.finding import Compared
from flyball.core.weakening.pairing import pair_up
from flyball.core.weakening.paths import is_support
from flyball.core.weakening.reach import Reach
from flyball.core.weakening.renames import STRING, WORD, Renames
from flyball.core.weakening.scripts.gains import (
    Pool,
    ScriptComparing,
    ValueIndex,
    counts,
    gained_demands,
    gained_helpers,
    gained_rows,
)
from flyball.core.weakening.scripts.losses import losses, other_input
from flyball.core.weakening.styles import Piece, Script
from flyball.core.weakening.styles.strength import EXACT
from flyball.regex import regex


def compare_scripts(
    before: Mapping[str, Script],
    after: Mapping[str, Script],
    renames: Renames,
    features: frozenset[str] = frozenset(),
) -> Iterator[Compared]:
    """Every test of both sides once, beside what became of it.

    `features` are those that the project can be built with or without.
    """
    demands, rows = gained_demands(before, after), gained_rows(before, after)
    helpers = frozenset(name for script in after.values() for name in script.helpers)
    helped = gained_helpers(before, after)
    change = ScriptComparing(renames, demands, rows, ValueIndex(rows), helped, helpers, features)
    old = [block for script in before.values() for block in script.blocks]
    new = [block for script in after.values() for block in script.blocks]
    pairs = _pairs(old, new)
    taken = {id(now) for _, now in pairs}
    added = [block for block in new if id(block) not in taken and block.is_test]
    # Those that kept their place take their assertions first, so that a copy of one cannot be
    # claimed by a test that vanished.
    for block, now in sorted(pairs, key=lambda pair: pair[1] is None):
        if now is None:
            yield from _vanished(block, before, after, change)
        else:
            yield _compared(block, now, (before[block.path], after[now.path]), change)
    for block in added:
        gain, calls = _weight(block, change), _calls(block)
        yield Compared(block.path, block.place, block.line, None, block.text, (), gain, calls)


def _pairs(old: Sequence[Piece], new: Sequence[Piece]) -> list[tuple[Piece, Piece | None]]:
    """Each block with its successor: by place, else by body, by name, by what it asserts."""
    keys: tuple[Callable[[Piece], Hashable], ...] = (
        lambda p: (p.path, p.place, p.is_suite),
        lambda p: p.body or None if p.is_test else None,
        lambda p: p.place[-1] if p.is_test else None,
    )
    pairs = pair_up(old, new, keys, _features, _alike)
    return [(one, new[pairs[n]] if n in pairs else None) for n, one in enumerate(old)]


def _features(piece: Piece) -> Counter[Hashable]:
    rows = [row.text for row in piece.rows]
    return Counter[Hashable]([*(d.key for d in piece.demands), *rows, *piece.statements])


def _alike(old: Piece, new: Piece) -> bool:
    """At least half of what it asserted, or of its rows, or most of what it did."""
    if not (old.is_test and new.is_test):
        return False
    wanted, given = Counter(c.key for c in old.demands), Counter(c.key for c in new.demands)
    if wanted and (wanted & given).total() * 2 >= wanted.total():
        return True
    rows = Counter(row.text for row in old.rows)
    if rows and (rows & Counter(row.text for row in new.rows)).total() * 2 >= rows.total():
        return True
    did, does = Counter(old.statements), Counter(new.statements)
    return bool(did) and (did & does).total() * 5 >= max(did.total(), does.total()) * 3


def _vanished(
    block: Piece,
    before: Mapping[str, Script],
    after: Mapping[str, Script],
    change: ScriptComparing,
) -> Iterator[Compared]:
    """A test that is nowhere any more, unless everything it asserted is asserted elsewhere."""
    wanted = Counter(c.key for c in block.demands if counts(c))
    if block.is_suite and not wanted:
        return
    is_kept = bool(wanted) and not wanted - change.demands
    if is_kept:
        change.demands.subtract(wanted)
    kind = _kind_of_loss(block, wanted, change)
    what = f"{block.name or 'what it held beside tests'} was removed"
    if not block.is_test and not wanted:
        is_kept = bool(_tests_of(before[block.path])) or not block.statements
        kind = "changed-expected" if is_support(block.path) else "not-understood"
        what = "the file was deleted"
    rest = after[block.path].blocks[-1] if block.path in after else None
    if block.is_test and rest and block.statements and set(block.statements) <= {*rest.statements}:
        is_kept, kind, what = False, "renamed-away", f"{block.name} is no longer collected"
    is_copy = not block.is_test and any(
        set(block.statements) <= set(_lines(script)) for script in after.values()
    )
    found = () if is_kept or is_copy else (Weakened(block.path, block.line, kind, what),)
    if block.is_test or found:
        loss, calls = -_weight(block, change), _calls(block)
        yield Compared(block.path, block.place, block.line, block.text, None, found, loss, calls)


def _kind_of_loss(block: Piece, wanted: Pool, change: ScriptComparing) -> str:
    """A test that is gone is another expectation where half of it is asserted elsewhere."""
    if not block.is_test:
        return "removed-assertion"
    parts = wanted.total() + len(block.rows)
    rows = sum(change.moved.holds(row.text) for row in block.rows)
    found = (wanted & change.demands).total() + rows
    return "changed-expected" if parts and found * 2 >= parts else "removed-test"


def _calls(block: Piece) -> frozenset[str]:
    """The functions it calls, those that every test calls left aside."""
    names = block.calls | _given(block)
    return frozenset(name for name in names if not TOOLS.match(name))


TOOLS = regex(
    r"(?:assert|expect|require|check|Equal|Error|Run|Assert|function|if|for|len|New|test|it)\w*"
)


def _weight(block: Piece, change: ScriptComparing) -> int:
    given = 0 if block.demands else EXACT * (not change.helpers.isdisjoint(_given(block)))
    return sum(d.strength for d in block.demands) + len(block.rows) + given


def _given(block: Piece) -> frozenset[str]:
    """The names that a test without a body of its own is made of: what asserts, and on what."""
    is_made = not block.demands and "{" not in block.text
    return frozenset(WORD.findall(STRING.sub("", block.text))) if is_made else frozenset()


def _lines(script: Script) -> Iterator[str]:
    return (line for block in script.blocks for line in block.statements)


def _tests_of(script: Script) -> list[Piece]:
    return [block for block in script.blocks if block.is_test]


def _compared(
    old: Piece, new: Piece, scripts: tuple[Script, Script], change: ScriptComparing
) -> Compared:
    moved = (old.path, old.place) != (new.path, new.place)
    if old.text == new.text and not moved and _surroundings(old) == _surroundings(new):
        return Compared(old.path, old.place, new.line, old.text, new.text)
    return Compared(
        old.path,
        old.place,
        new.line,
        old.text,
        new.text,
        tuple(losses(old, new, scripts, change)),
        gain=_weight(new, change) - _weight(old, change),
        calls=_calls(old) | _calls(new),
        moved_to=(new.path, *new.place) if moved else (),
        other_input=other_input(old, new),
        is_test=old.is_test,
    )


def _surroundings(block: Piece) -> tuple[list[str], list[Reach]]:
    """What decides about a test beside its own text."""
    return [skip.text for skip in block.skips], [demand.reach for demand in block.demands]
