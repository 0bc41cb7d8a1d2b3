"""What became of the assertions, rows and skips of one test."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from flyball.core.terms.evidence import Weakened
from flyball.core.weakening.reach import LOWERED, Reach
from flyball.core.weakening.scripts.gains import ScriptComparing, counts, is_within
from flyball.core.weakening.scripts.successor import became_rows, judge
from flyball.core.weakening.styles import Demand, Piece, Script
from flyball.core.weakening.styles.layers import LITERAL, without_literals, without_names

CALLED = re.compile(r"([A-Za-z_]\w*)(?=[(<\[])")


def losses(
    old: Piece, new: Piece, scripts: tuple[Script, Script], change: ScriptComparing
) -> list[Weakened]:
    """Every place where a test got weaker; `scripts` are the files it stood and stands in."""
    was, now = scripts
    is_emptied = old.is_test and old.statements and not new.statements
    if is_emptied and not any(_is_commented(demand, now.text) for demand in old.demands):
        detail = f"{new.name} does nothing now"
        return [Weakened(new.path, new.line, "emptied-test", detail), *_skips(old, new, now)]
    found = [
        *_skips(old, new, now),
        *_rows(old, new, now, change),
        *_assertions(old, new, now, change),
        *_wanted(old, new),
    ]
    return found or list(_not_understood(old, new, was))


def _skips(old: Piece, new: Piece, script: Script) -> Iterator[Weakened]:
    had = Counter(skip.text for skip in old.skips)
    for skip in new.skips:
        if had[skip.text]:
            had[skip.text] -= 1
        else:
            kind = "focused-test" if skip.is_focus else "new-skip"
            yield Weakened(new.path, script.source.line(skip.offset), kind, skip.text)


def _rows(old: Piece, new: Piece, script: Script, change: ScriptComparing) -> Iterator[Weakened]:
    """Rows that are gone, or hold other values; one that only gained values is the same row."""
    earlier, later = (Counter(r.text for r in b.rows) for b in (old, new))
    fresh = list((later - earlier).elements())
    gone: list[str] = []
    for row in (earlier - later).elements():
        grown = next(
            (f for f in fresh if is_within(row, f) or change.renames.explain(row, f)), None
        )
        if grown is not None:
            fresh.remove(grown)
        elif change.rows[row] > 0:
            change.rows[row] -= 1
        elif not any(is_within(row, demand.plain) for demand in new.demands):
            gone.append(row)
    lines = {r.text: script.source.line(r.offset) for r in new.rows}
    for row in gone:
        if fresh:
            other = max(fresh, key=lambda f: _likeness(row, f))
            fresh.remove(other)
            detail = f"case {row} became {other}"
            yield Weakened(new.path, lines[other], "changed-expected", detail)
        else:
            # A row that went over to another table now says something else.
            is_moved = any(is_within(row, other) for other in change.rows)
            kind = "changed-expected" if is_moved else "removed-case"
            yield Weakened(new.path, new.line, kind, f"{new.name}: case {row}".lstrip(": "))


def _likeness(one: str, other: str) -> int:
    return (Counter(LITERAL.findall(one)) & Counter(LITERAL.findall(other))).total()


def _assertions(
    old: Piece, new: Piece, script: Script, change: ScriptComparing
) -> Iterator[Weakened]:
    gone, fresh = list(old.demands), list(new.demands)
    for demand in sorted(old.demands, key=lambda c: -c.reach):
        same = [other for other in fresh if other.key == demand.key]
        if not same:
            continue
        best = max(same, key=lambda other: other.reach)
        gone.remove(demand)
        fresh.remove(best)
        if (old.path, old.place) != (new.path, new.place):
            change.demands[best.key] -= 1
        if best.reach < demand.reach:
            kind, says = LOWERED[best.reach]
            yield Weakened(new.path, best.line, kind, f"`{_first(best)}` {says}")
    able = [c for c in fresh if c.reach >= Reach.CONDITIONAL]
    for demand in filter(counts, gone):
        if change.demands[demand.key] > 0 and demand.key not in {c.key for c in able}:
            change.demands[demand.key] -= 1
        elif not became_rows(demand, able, new.rows, old.rows):
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
    successor, kind = judge(old, fresh, new, change.renames)
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
    kind = "commented-out" if _is_commented(old, script.text) else "removed-assertion"
    yield Weakened(new.path, new.line if new.name else old.line, kind, f"`{_first(old)}`")


def _new_helper(new: Piece, old: Piece, change: ScriptComparing) -> str | None:
    """A function that asserts, and that the test calls only now."""
    called, before = (set(CALLED.findall(piece.body)) for piece in (new, old))
    came = called - before
    return min(
        (name for name in came if name in change.helpers or HELPER.match(name)), default=None
    )


HELPER = re.compile(r"(?:run|test|validate|ensure)[A-Z_]\w*")


def _first(demand: Demand) -> str:
    return demand.text.strip().split("\n")[0]


def _is_commented(demand: Demand, text: str) -> bool:
    wanted = re.sub(r"\s+", "", _first(demand))
    return any(
        re.sub(r"\s+", "", line.lstrip(" \t/#*-")).startswith(wanted)
        for line in text.split("\n")
        if line.lstrip().startswith(("//", "#", "/*", "*", "--"))
    )


WANTED = re.compile(
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
    if not old.is_test and any(block.demands for block in was.blocks):
        return
    had, has = (Counter(map(without_names, block.statements)) for block in (old, new))
    lost = list((had - has).elements())
    came = [without_literals(line) for line in (has - had).elements()]
    literal = next((line for line in lost if without_literals(line) in came), None)
    if lost and (literal is not None or len(new.statements) < len(old.statements)):
        where = new.name or "the file"
        what = f"lost or changed `{(literal or lost[0])[:120]}`"
        detail = f"{where} {what}, and no known way to assert explains it"
        yield Weakened(new.path, new.line, "not-understood", detail)


# What a test prints decides nothing.
SPOKEN = re.compile(
    r"(?:\b[tbc]\.Logf?|\bconsole\.\w+|\be?println!?|\bfmt\.Print\w*|\bprintf|\becho)\([^()]*\)"
)


def other_input(old: Piece, new: Piece) -> str:
    """The first value outside the assertions that was exchanged for another."""
    if not old.is_test:
        return ""
    had, has = (Counter(SPOKEN.sub("", text) for text in piece.inputs) for piece in (old, new))
    came = list((has - had).elements())
    for line in (had - has).elements():
        other = next((c for c in came if without_literals(c) == without_literals(line)), None)
        if other is not None:
            return f"other input: `{line[:200]}` became `{other[:200]}`"
    return ""
