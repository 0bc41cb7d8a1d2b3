"""One assertion, taken apart: what is looked at, how, and what it should be."""

from __future__ import annotations

import re
from typing import NamedTuple

from flyball.core.weakening.reach import Reach
from flyball.core.weakening.styles.family import Family
from flyball.core.weakening.styles.layers import Layers, is_literal, plain
from flyball.core.weakening.styles.strength import (
    CLOSE,
    COMPARISONS,
    EXACT,
    FLIPPED,
    HOLLOW,
    PARTIAL,
    TRUTH,
    canonical,
    is_known,
    strength_of,
)
from flyball.regex import regex


class Demand(NamedTuple):
    """An assertion in the form in which two of them are compared."""

    op: str
    subject: str
    expected: tuple[str, ...]
    strength: int
    offset: int
    line: int
    text: str
    reach: Reach = Reach.LIVE

    @property
    def key(self) -> tuple[object, ...]:
        """What makes two assertions the same one."""
        return (self.op, self.subject, self.expected)

    @property
    def plain(self) -> str:
        """All of it in one line, for comparing shapes."""
        return f"{self.op}({','.join((self.subject, *self.expected))})"


CONTEXT = frozenset({"t", "c", "tb", "b", "self", "this", "assert", "is"})
# Where the expected value comes first by custom.
EXPECTED_FIRST = frozenset({Family.JAVA, Family.PHP, Family.DOTNET, Family.GO, Family.RUBY})
FILLERS = frozenset(
    [
        "to",
        "be",
        "been",
        "is",
        "that",
        "which",
        "and",
        "has",
        "have",
        "with",
        "at",
        "of",
        "same",
        "but",
        "does",
        "still",
        "also",
        "a",
        "an",
    ]
)
NEGATIONS = frozenset({"not", "never", "not_to", "to_not", "toNot", "ToNot", "NotTo", "ShouldNot"})
MANNERS = frozenset({"deep", "nested", "own", "ordered", "any", "all", "deeply", "resolves"})
CHAIN = regex(r"\s*(?:\?\.|\.|->|::)\s*(?P<name>\w+[!?]?)\s*(?:<[\w\s,.?\[\]]*>)?\s*(?P<open>\()?")


def demand_at(source: Layers, start: int, name: str, opening: int) -> tuple[Demand, int]:
    """The assertion whose first call opens at an offset, and where its chain of calls ends."""
    end = source.closing(opening) + 1
    first = _arguments(source, opening)
    links: list[tuple[str, list[str]]] = []
    while chain := CHAIN.match(source.bare, end):
        if chain["open"]:
            links.append((chain["name"], _arguments(source, chain.end() - 1)))
            end = source.closing(chain.end() - 1) + 1
        else:
            links.append((chain["name"], []))
            end = chain.end()
    if source.family is Family.RUBY and links:
        stop = source.statement_end(end)
        links.append(("", [plain(source.family, source.code[end:stop])]))
        end = stop
    text = source.code[start:end]
    made = _chained(first, links) if links else _called(source.family, name, first)
    return made._replace(offset=start, line=source.line(start), text=text), end


def _arguments(source: Layers, opening: int) -> list[str]:
    spans = source.items(opening + 1, source.closing(opening))
    return [plain(source.family, source.code[a:b]) for a, b in spans]


def _chained(first: list[str], links: list[tuple[str, list[str]]]) -> Demand:
    """`expect(subject).not.toBe(value)` and its kin."""
    negated = sum(word in NEGATIONS for word, _ in links) % 2
    links = [("instance" if w in {"a", "an"} and given else w, given) for w, given in links]
    words = [w for w, _ in links if w not in FILLERS and w not in NEGATIONS and w not in MANNERS]
    expected = tuple(argument for _, given in links for argument in given)
    name = words[-1] if words and words[-1] else "".join(words[-2:-1])
    if not name and expected:
        # RSpec and its kin write the operator as the first word of what is left.
        name, _, rest = expected[-1].partition(" ")
        name, paren, tail = name.partition("(")
        expected = (*expected[:-1], rest or tail.removesuffix(")") if paren else rest)
    elif (
        len(expected) == 1
        and (inner := re.fullmatch(r"(\w+)\((.*)\)", expected[0]))
        and (name in {"To", "Should", "that", "satisfies", ""})
    ):
        name, expected = inner[1], (inner[2],)
    op = f"not.{name}" if negated else name
    return _made(op, ",".join(first), expected)


def _called(family: Family, name: str, arguments: list[str]) -> Demand:
    """`assertEquals(expected, actual)` and its kin."""
    given = [a for n, a in enumerate(arguments) if n or a not in CONTEXT]
    given = [a for a in given if not a.startswith(("qt.Commentf(", "Commentf("))]
    if (
        len(given) > 1
        and re.match(r"(?:qt|check|checkers|gc|\w*)\.?\w+\Z", given[1])
        and (name.endswith((".Assert", ".Check")))
    ):
        return _made(given[1].rpartition(".")[2], given[0], tuple(given[2:]))
    op = name.rpartition(".")[2].rpartition("::")[2].rpartition(">")[2]
    if op == "plan":
        return Demand(op, op, tuple(given), PARTIAL, 0, 1, "")
    strength = strength_of(op)
    if given and strength == TRUTH and (compared := comparison(given[0])):
        return compared
    if len(given) > 1 and strength >= CLOSE:
        left, right = given[:2]
        turned = (is_literal(left) and not is_literal(right)) or (
            family in EXPECTED_FIRST and is_literal(left) == is_literal(right)
        )
        subject, wanted = (right, left) if turned else (left, right)
        # What follows the two operands of an equality is a message, which may be reworded.
        more = () if strength == EXACT else tuple(given[2:])
        return _made(op, subject, (wanted, *more))
    is_single = strength == TRUTH or (family is Family.GO and NOTHING.fullmatch(op.lower()))
    kept = given[:1] if is_single else given
    made = _made(op, "".join(kept[:1]), tuple(kept[1:]))
    # A helper is told in plain values what to look at: that says nothing about what it finds.
    is_told = made.strength == HOLLOW and len(kept) == 1 and not is_known(op)
    return made._replace(strength=strength) if is_told else made


# An error that is asked for is a value that is not nothing, in whatever words.
NOTHING = regex(
    r"(?:(?:assert|require|expect|check|must)_?)?(?:(?P<some>is_?not_?nil|not_?nil|error"
    r"|is_?not_?null)f?|(?:is_?)?nil|no_?error|noerr|is_?null)"
)


def _made(op: str, subject: str, expected: tuple[str, ...]) -> Demand:
    wanted = tuple(e for e in expected if e)
    if not wanted and (nothing := NOTHING.fullmatch(op.lower())):
        op, wanted = ("!=" if nothing["some"] else "=="), ("nil",)
    hollow = (is_literal(subject) and all(map(is_literal, wanted))) or wanted == (subject,)
    strength = HOLLOW if hollow and subject else strength_of(op)
    return Demand(canonical(op), subject, wanted, strength, 0, 1, "")


OPERATOR = regex(r"(?<![=!<>-])(===|!==|==|!=|<=|>=|<|>)(?![=<>])")


def comparison(text: str, negate: bool = False) -> Demand | None:
    """A comparison that stands alone in some plain code, with its literal on the right."""
    depth, found = 0, list(OPERATOR.finditer(text))
    outer: list[re.Match[str]] = []
    for match in found:
        depth = _depth(text[: match.start()])
        if depth == 0:
            outer.append(match)
    if len(outer) != 1 or re.search(r"&&|\|\|", text):
        return None
    op, left, right = outer[0][1], text[: outer[0].start()], text[outer[0].end() :]
    if is_literal(left) and not is_literal(right):
        left, right = right, left
        op = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(op, op)
    op = FLIPPED[op] if negate else op
    made = _made(op, left, (right,))
    return made._replace(strength=min(made.strength, COMPARISONS[op]))


def _depth(text: str) -> int:
    bare = re.sub(r"\"(?:\\.|[^\"\\])*\"", "", text)
    return sum(bare.count(c) for c in "([{") - sum(bare.count(c) for c in ")]}")
