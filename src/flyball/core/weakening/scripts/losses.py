"""What became of the assertions, rows and skips of one test."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import islice

from flyball.core.terms.evidence import Weakened
from flyball.core.weakening.paths import is_support
from flyball.core.weakening.reach import LOWERED, Reach
from flyball.core.weakening.scripts.conditions import complement, is_usual
from flyball.core.weakening.scripts.gains import (
    NEAR,
    ScriptComparing,
    ValueIndex,
    counts,
    is_within,
)
from flyball.core.weakening.scripts.successor import became_rows, judge
from flyball.core.weakening.styles import Demand, Piece, Script
from flyball.core.weakening.styles.layers import LITERAL, values_of, without_literals, without_names
from flyball.core.weakening.styles.skips import Skipping
from flyball.core.weakening.styles.strength import PARTIAL
from flyball.regex import regex


def losses(
    old: Piece, new: Piece, scripts: tuple[Script, Script], change: ScriptComparing
) -> list[Weakened]:
    """Every place where a test got weaker; `scripts` are the files it stood and stands in."""
    was, now = scripts
    is_emptied = old.is_test and old.statements and not new.statements
    if is_emptied and not any(_is_commented(demand, now) for demand in old.demands):
        detail = f"{new.name} does nothing now"
        return [
            Weakened(new.path, new.line, "emptied-test", detail),
            *_skips(old, new, scripts, change),
        ]
    found = [
        *_skips(old, new, scripts, change),
        *_rows(old, new, now, change),
        *_assertions(old, new, now, change),
        *_wanted(old, new),
    ]
    return found or list(_not_understood(old, new, was))


def _skips(
    old: Piece, new: Piece, scripts: tuple[Script, Script], change: ScriptComparing
) -> Iterator[Weakened]:
    was, script = scripts
    had, has = (Counter(skip.text for skip in piece.skips) for piece in (old, new))
    # Whatever comes in place of a test that never ran runs it more often.
    ignored = sum(count for text, count in (had - has).items() if text.startswith("#[ignore"))
    for skip in new.skips:
        if had[skip.text]:
            had[skip.text] -= 1
        elif not _is_on_something_new(skip, was, script):
            kind = "focused-test" if skip.is_focus else "new-skip"
            if ignored or complement(skip.text) in has or is_usual(skip.text, change.features):
                ignored -= bool(ignored)
                kind = "changed-expected"
            yield Weakened(new.path, script.source.line(skip.offset), kind, skip.text)


ATTRIBUTED = regex(r"(?:\s*#!?\[[^\]]*\])*\s*(?P<item>(?:pub\s+)?mod\s+\w+\s*;)")
MODULE = regex(r"\bmod\s+\w+\s*;")


def _is_on_something_new(skip: Skipping, was: Script, now: Script) -> bool:
    """Whether a Rust attribute stands on a file of tests that was not there before."""
    item = ATTRIBUTED.match(now.source.code, skip.offset)
    had, has = (set(MODULE.findall(script.source.code)) for script in (was, now))
    return item is not None and item["item"] not in was.source.code and had <= has


def _rows(old: Piece, new: Piece, script: Script, change: ScriptComparing) -> Iterator[Weakened]:
    """Rows that are gone, or hold other values; one that only gained values is the same row."""
    earlier, later = (Counter(r.text for r in b.rows) for b in (old, new))
    left, gone = later - earlier, list((earlier - later).elements())
    fresh, asserted = ValueIndex(left), ValueIndex(d.plain for d in new.demands if gone)
    lost: list[str] = []
    for row in gone:
        near = [f for f in fresh.around(row) or islice(left, NEAR) if left[f] > 0]
        grown = next((f for f in near if is_within(row, f) or change.renames.explain(row, f)), None)
        if grown is not None:
            left[grown] -= 1
        elif change.rows[row] > 0:
            change.rows[row] -= 1
        elif not asserted.holds(row):
            lost.append(row)
    lines = {r.text: script.source.line(r.offset) for r in new.rows}
    others = list((+left).elements())
    # A helper that the test calls only now may make the rows, or run over others.
    is_left_to = lost and _new_helper(new, old, change)
    for row in lost:
        if others:
            other = max(others[:NEAR], key=lambda f: _likeness(row, f))
            others.remove(other)
            detail = f"case {row} became {other}"
            yield Weakened(new.path, lines[other], "changed-expected", detail)
        else:
            # A row that went over to another table now says something else.
            is_kept = is_left_to or change.moved.holds(row)
            kind = "changed-expected" if is_kept else "removed-case"
            yield Weakened(new.path, new.line, kind, f"{new.name}: case {row}".lstrip(": "))


def _likeness(one: str, other: str) -> int:
    return len({*values_of(one)} & {*values_of(other)})


def _assertions(
    old: Piece, new: Piece, script: Script, change: ScriptComparing
) -> Iterator[Weakened]:
    free: defaultdict[tuple[object, ...], list[Demand]] = defaultdict(list)
    for demand in sorted(new.demands, key=lambda c: c.reach):
        free[demand.key].append(demand)
    gone: list[Demand] = []
    for demand in sorted(old.demands, key=lambda c: -c.reach):
        if not free[demand.key]:
            gone.append(demand)
            continue
        best = free[demand.key].pop()
        if (old.path, old.place) != (new.path, new.place):
            change.demands[best.key] -= 1
        if best.reach < demand.reach:
            kind, says = LOWERED[best.reach]
            yield Weakened(new.path, best.line, kind, f"`{_first(best)}` {says}")
    fresh = sorted((d for left in free.values() for d in left), key=lambda d: d.offset)
    able = [d for d in fresh if d.reach >= Reach.CONDITIONAL]
    # Over a table an assertion stands for as many as there are rows.
    further = min(NEAR, len(new.rows) - len(old.rows) - 1)
    able += [d for d in able if NAMED_IN_ROW.search(d.plain) for _ in range(further)]
    known = {d.key for d in able}
    had = {row.text for row in old.rows}
    came = ValueIndex(row.text for row in new.rows if row.text not in had)
    # First those with a successor about the same thing, or another would take it from them.
    subjects = {d.subject for d in able}
    for demand in sorted(filter(counts, gone), key=lambda d: (d.subject not in subjects, d.offset)):
        if change.demands[demand.key] > 0 and demand.key not in known:
            change.demands[demand.key] -= 1
        elif not became_rows(demand, able, came):
            yield from _judged(demand, able, (old, new), script, change)


def _judged(
    old: Demand,
    fresh: list[Demand],
    pieces: tuple[Piece, Piece],
    script: Script,
    change: ScriptComparing,
) -> Iterator[Weakened]:
    was, new = pieces
    if without_names(old.plain) in change.helped:
        return
    near = [d for d in fresh if d.subject == old.subject][:NEAR] or fresh[:NEAR]
    successor, kind = judge(old, near, pieces, change.renames)
    if successor is not None:
        fresh.remove(successor)
        if kind:
            detail = f"`{_first(old)}` became `{_first(successor)}`"
            yield Weakened(new.path, successor.line, kind, detail)
        return
    if helper := _new_helper(new, was, change):
        detail = f"`{_first(old)}` is left to {helper}"
        yield Weakened(new.path, new.line, "changed-expected", detail)
        return
    kind = "removed-assertion"
    if _is_commented(old, script):
        kind = "commented-out"
    elif _is_of_step(old, was, new):
        kind = "changed-expected"
    yield Weakened(new.path, new.line if new.name else old.line, kind, f"`{_first(old)}`")


def _is_of_step(old: Demand, was: Piece, new: Piece) -> bool:
    """Whether it said that a step succeeds which is gone, and every step left is still asked."""
    if old.key[2] != ("nil",) or "err" not in old.subject.rpartition(";")[2]:
        return False
    had, has = (len(STEP.findall(piece.body)) for piece in (was, new))
    asked = sum(bool(STEP.search(d.text)) or "err" in d.subject for d in new.demands)
    ignored = len(UNHEARD.findall(new.body)) > len(UNHEARD.findall(was.body))
    return has < had and asked >= has and not ignored


STEP = regex(r"\berr\w*\s*:?=(?!=)")
UNHEARD = regex(r"(?<!\w)_\s*:?=(?!=)")
NAMED_IN_ROW = regex(r"\b[a-z]\w*\.\w+|\b[a-z]\w*\[|\b(?:want|expected|input|in|out)\b")


def _new_helper(new: Piece, old: Piece, change: ScriptComparing) -> str | None:
    """A function that asserts, and that the test calls only now."""
    came = new.calls - old.calls
    return min(
        (name for name in came if name in change.helpers or HELPER.match(name)), default=None
    )


HELPER = regex(r"(?:run|test|validate|ensure)[A-Z_]\w*")


def _first(demand: Demand) -> str:
    return demand.text.strip().split("\n")[0]


def _is_commented(demand: Demand, script: Script) -> bool:
    wanted = re.sub(r"\s+", "", _first(demand))
    return any(line.startswith(wanted) for line in script.comments)


WANTED = regex(
    r"\b(?P<name>(?:want|expected|exp)\w*)(?::=|:|=)(?!=)(?P<value>[^;]+)", re.IGNORECASE
)


def _wanted(old: Piece, new: Piece) -> Iterator[Weakened]:
    """Values under names like `want` and `expected` that were exchanged."""
    had, has = _named(old), _named(new)
    fresh = has - had
    lost = Counter(name for name, _ in (had - has).elements())
    for name, value in fresh.elements():
        in_a_row = any(value in row.text for row in new.rows)
        if lost[name] > 0 and LITERAL.search(value) and not in_a_row:
            lost[name] -= 1
            yield Weakened(new.path, new.line, "changed-expected", f"{name} is {value} now")


def _named(block: Piece) -> Counter[tuple[str, str]]:
    found = (WANTED.search(line) for line in block.statements)
    return Counter((m["name"], m["value"].rstrip(",")) for m in found if m)


def _not_understood(old: Piece, new: Piece, was: Script) -> Iterator[Weakened]:
    """Something was lost where nothing is known to assert: say so rather than be silent."""
    if old.demands or old.rows or old.is_suite:
        return
    if not old.is_test and was.is_understood:
        return
    had, has = (
        Counter(
            without_names(SPOKEN.sub("", line))
            for line in block.statements
            if not CONDITION.match(line)
        )
        for block in (old, new)
    )
    lost = list((had - has).elements())
    came = {without_literals(line) for line in has - had}
    literal = next((line for line in lost if without_literals(line) in came), None)
    if lost and (literal is not None or len(new.statements) < len(old.statements)):
        where = new.name or "the file"
        what = f"lost or changed `{(literal or lost[0])[:120]}`"
        detail = f"{where} {what}, and no known way to assert explains it"
        # What is asserted in a known way now is at least no less than what nobody knew.
        is_asked = any(d.strength >= PARTIAL for d in new.demands if counts(d))
        is_other = is_asked or is_support(new.path)
        kind = "changed-expected" if is_other else "not-understood"
        yield Weakened(new.path, new.line, kind, detail)


# Lifted, it lets more tests run; one that came is a skip and told as such.
CONDITION = regex(r"#!?\[cfg\(")

# What a test prints decides nothing.
SPOKEN = regex(
    r"(?:\b[tbc]\.Logf?|\bconsole\.\w+|\be?println!?|\bfmt\.Print\w*|\bprintf|\becho)\([^()]*\)"
)


def other_input(old: Piece, new: Piece) -> str:
    """The first value outside the assertions that was exchanged for another."""
    if not old.is_test:
        return ""
    had, has = (Counter(SPOKEN.sub("", text) for text in piece.inputs) for piece in (old, new))
    came = {without_literals(line): line for line in has - had}
    for line in had - has:
        other = came.get(without_literals(line))
        if other is not None:
            return f"other input: `{line[:200]}` became `{other[:200]}`"
    return ""
