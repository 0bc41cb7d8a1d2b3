"""Every assertion of a file, in the styles that its language knows."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from flyball.core.weakening.styles.demand import Demand, comparison, demand_at
from flyball.core.weakening.styles.family import Family
from flyball.core.weakening.styles.headers import OUTPUT, extents_of
from flyball.core.weakening.styles.layers import Layers, is_literal, plain
from flyball.core.weakening.styles.strength import EXACT, HOLLOW, PARTIAL, TRUTH, strength_of
from flyball.core.weakening.styles.table import STYLES, Style
from flyball.regex import regex

LOOK_BACK = 600
CONDITION = regex(r"\bif\b(?P<condition>[^{}]*)\{\s*\Z")
DEFINITION = regex(
    r"(?:\bfunction\s+|\bfunc\s+|\bfn\s+|\bdef\s+|\bfun\s+)(?P<plain>\w+)\s*[(<]"
    r"|\b(?:const|let|var)\s+(?P<arrow>\w+)\s*=\s*(?:async\s*)?(?:function\b|\([^()]*\)\s*=>"
    r"|\w+\s*=>)"
    r"|^[ \t]*(?:static\s+|private\s+|public\s+|protected\s+|inline\s+)*(?:void|int|bool)\s+"
    r"(?P<typed>\w+)\s*\([^;{}()]*\)\s*\{",
    re.MULTILINE,
)
MAX_HELPERS = 60
NOT_HELPERS = frozenset({"main", "it", "test", "describe", "setUp", "tearDown", "beforeEach"})


def demands_of(source: Layers) -> list[Demand]:
    """The assertions in order; what stands inside another one is part of it."""
    own = [*_found(source, STYLES[source.family]), *_outputs(source)]
    known = "|".join(map(re.escape, helpers_of(source, own)))
    helper = Style("helper", "call", re.compile(rf"(?<![\w$.>:])(?P<name>{known})\s*\("))
    calls = list(_found(source, (helper,))) if known else []
    spans = [(demand.offset, demand.offset + len(demand.text)) for demand in own]
    return sorted(
        [*own, *(c for c in calls if not any(a <= c.offset < b for a, b in spans))],
        key=lambda demand: demand.offset,
    )


def _found(source: Layers, styles: tuple[Style, ...]) -> Iterator[Demand]:
    starts = sorted(
        (
            (match.start("name"), number, match)
            for number, style in enumerate(styles)
            for match in style.pattern.finditer(source.bare)
        ),
        key=lambda found: found[:2],
    )
    done = 0
    for start, number, match in starts:
        if start < done or _is_definition(source, start) or _is_handler(source, match):
            continue
        demands, end = EXTENTS[styles[number].extent](source, match)
        yield from demands
        # Only the call itself is passed over where a chain may hold further assertions.
        done = max(done, end)


def _is_handler(source: Layers, match: re.Match[str]) -> bool:
    """Whether it gives somebody else what to do, as routers do, under an assertion's name."""
    is_go = source.family is Family.GO and match["name"].startswith(("r.", "s.", "a."))
    return is_go and bool(HANDLER.match(source.bare, match.end()))


HANDLER = regex(r"\s*func\s*\(\w+ [\w.]+,")


def _outputs(source: Layers) -> Iterator[Demand]:
    """What Go's examples must print: of each, its last comment that says so."""
    examples = [e for e in extents_of(source) if e.name.startswith("Example") and not e.outer]
    for example in examples if source.family is Family.GO else ():
        *_, match = OUTPUT.finditer(source.code, example.body, example.end)
        marked = (line.strip().removeprefix("//").strip() for line in match[0].split("\n"))
        printed = tuple(filter(None, marked))
        start = match.start()
        yield Demand("output", "", printed, EXACT, start, source.line(start), match[0].rstrip())


def _is_definition(source: Layers, start: int) -> bool:
    line = source.bare[source.bare.rfind("\n", 0, start) + 1 : start]
    return bool(
        re.search(
            r"(?:\bfunction\s+|\bfunc\s+(?:\(.*\)\s*)?|\bfn\s+|\bdef\s+|\bfun\s+"
            r"|\b(?:void|int|static|require)\s+|#\s*define\s+|\bimport\b.*)\Z",
            line,
        )
    )


def _call(source: Layers, match: re.Match[str]) -> tuple[list[Demand], int]:
    name = match["name"]
    if source.family is Family.JS and name.startswith("expect."):
        end = source.closing(match.end() - 1) + 1
        return [_whole(source, match.start("name"), end, name, PARTIAL)], end
    demand, end = demand_at(source, match.start("name"), name, match.end() - 1)
    return [demand], end


def _link(source: Layers, match: re.Match[str]) -> tuple[list[Demand], int]:
    """One call in a chain of requests; a number alone is a status, which says little."""
    start, end = match.start("name"), source.closing(match.end() - 1) + 1
    spans = source.items(match.end(), end - 1)
    given = [plain(source.family, source.code[a:b]) for a, b in spans]
    wanted = tuple(g for g in given if g not in {"done", "next", "cb"})
    is_status = len(wanted) == 1 and bool(re.fullmatch(r"\d{3}", wanted[0]))
    strength = TRUTH if is_status or not wanted else EXACT
    text = source.code[start:end]
    subject = wanted[0] if len(wanted) > 1 else ""
    demand = Demand(
        match["name"], subject, wanted[bool(subject) :], strength, start, source.line(start), text
    )
    return [demand], end


def _condition(source: Layers, match: re.Match[str]) -> tuple[list[Demand], int]:
    """`if got != want { t.Errorf(…) }` demands the opposite of its condition, of each in turn."""
    start, end = match.start(), source.closing(match.end() - 1) + 1
    low = max(0, start - LOOK_BACK)
    under = CONDITION.search(source.bare, low, start)
    if under is None:
        return [_whole(source, start, end, match["name"], TRUTH)], end
    at, stop = under.span("condition")
    # What is computed in the condition's own statement belongs to the subject.
    setup, _, test = plain(source.family, source.code[at:stop]).rpartition(";")
    line, text = source.line(at + 1), f"if {source.code[at:stop].strip()}"
    parts = EITHER.split(test) if "&&" not in test else [test]
    found = [_opposite(setup, part) for part in parts]
    return [demand._replace(offset=start, line=line, text=text) for demand in found], end


# Only where no bracket is open between: one that fails by either part demands both opposites.
EITHER = regex(r"\|\|(?![^(]*\))")


# A condition that cannot hold never fails the test.
NEVER = regex(r"&&(?:false|0)\b|\b(?:false|0)&&")


def _opposite(setup: str, test: str) -> Demand:
    # Where conditions are typed, to be other than true and not to be true are the same.
    said = re.fullmatch(r"(?P<is>.+?)(?P<op>==|!=)(?P<what>true|false)", test)
    if said and "&&" not in test and "||" not in test:
        is_plain = (said["op"] == "==") == (said["what"] == "true")
        test = said["is"] if is_plain else f"!{said['is']}"
    demand = comparison(test, negate=True)
    if demand is None:
        op = "true" if test.startswith("!") else "false"
        strength = HOLLOW if NEVER.search(test) else PARTIAL
        demand = Demand(op, test.removeprefix("!"), (), strength, 0, 1, "")
    bound = re.fullmatch(r"(?:\w+,)*(\w+):?=(.+)", setup)
    if bound and bound[1] == demand.subject:
        return demand._replace(subject=bound[2])
    return demand._replace(subject=f"{setup};{demand.subject}") if setup else demand


def _line(source: Layers, match: re.Match[str]) -> tuple[list[Demand], int]:
    """An assertion without brackets, up to the end of its statement."""
    start = match.start("name")
    if source.family is Family.SHELL:
        start = source.bare.rfind("\n", 0, start) + 1
        end = source.bare.find("\n", start)
        end = len(source.bare) if end < 0 else end
        return [_shell(source, start, end, match["name"])], end
    end = source.statement_end(match.end())
    body = source.code[match.end("name") : end].strip()
    text = plain(source.family, body)
    # A bracket around everything makes it the same call as one without.
    inner = text[1:-1] if text.startswith("(") and text.endswith(")") else text
    demand = comparison(inner) if strength_of(match["name"]) == TRUTH else None
    if demand is None:
        spans = [s.strip() for s in re.split(r",(?![^(\[{]*[)\]}])", inner)]
        demand = _operands(match["name"], spans)
    whole = source.code[start:end].strip()
    return [demand._replace(offset=start, line=source.line(start), text=whole)], end


def _operands(name: str, given: list[str]) -> Demand:
    strength = strength_of(name)
    if len(given) > 1 and is_literal(given[0]):
        given = [given[1], given[0], *given[2:]]
    kept = given[:1] if strength == TRUTH else given[:2] if strength == EXACT else given
    hollow = all(map(is_literal, kept)) if kept != [""] else False
    return Demand(name, kept[0], tuple(kept[1:]), 0 if hollow else strength, 0, 1, "")


def _shell(source: Layers, start: int, end: int, name: str) -> Demand:
    """A line of a shell test: it fails by its exit status, unless that is thrown away."""
    text = source.code[start:end].strip()
    compared = re.search(r"\s(?:==?|-eq)\s", text)
    strength = EXACT if compared or name in {"diff", "cmp"} else PARTIAL
    if re.search(r"\s(?:!=|-ne|-n|-z)\s", text) or re.match(r"\[\[?\s+-[nefdz]\s", text):
        strength = TRUTH
    if re.search(r"\|\|\s*(?:true|:)\s*$|;\s*true\s*$", text) or text in {"true", ":"}:
        strength = 0
    squeezed = re.sub(r"\s+", " ", text)
    subject, _, wanted = (
        squeezed.partition(" = ") if " = " in squeezed else squeezed.partition(" -eq ")
    )
    expected = (wanted,) if wanted else ()
    return Demand(name, subject, expected, strength, start, source.line(start), text)


def _infix(source: Layers, match: re.Match[str]) -> tuple[list[Demand], int]:
    """`subject.should.equal(value)`: the subject stands before, on the same line."""
    start = source.bare.rfind("\n", 0, match.start()) + 1
    end = source.statement_end(match.start("name"))
    subject = plain(source.family, source.code[start : match.start("name")]).rstrip(".")
    rest = plain(source.family, source.code[match.start("name") : end])
    op = re.sub(r"\(.*", "", rest, flags=re.DOTALL)
    word = re.split(r"[.\s]", op)[-1] if match["name"].lower() == "should" else match["name"]
    if word.lower() == "should":
        word = (re.findall(r"\.(\w+)\(", rest) or [word])[-1]
    negated = bool(re.search(r"\bnot\b|Not|not_", rest))
    wanted = (rest[len(op) :] or rest[len(match["name"]) :],)
    strength = strength_of(f"not.{word}" if negated else word)
    text = source.code[start:end].strip()
    demand = Demand(op, subject, wanted, strength, match.start(), source.line(match.start()), text)
    return [demand], end


def _whole(source: Layers, start: int, end: int, name: str, strength: int) -> Demand:
    text = source.code[start:end]
    return Demand(name, plain(source.family, text), (), strength, start, source.line(start), text)


EXTENTS = {"call": _call, "link": _link, "condition": _condition, "line": _line, "infix": _infix}


def helpers_of(source: Layers, own: Sequence[Demand]) -> list[str]:
    """Functions of this very file that assert on behalf of tests."""
    offsets = [demand.offset for demand in own]
    tests = {extent.name for extent in extents_of(source)}
    names: list[str] = []
    for match in DEFINITION.finditer(source.bare):
        name = match["plain"] or match["arrow"] or match["typed"]
        opening = source.bare.find("{", match.end() - 1)
        if opening < 0 or name in tests or name in NOT_HELPERS:
            continue
        if bisect_right(offsets, opening) < bisect_right(offsets, source.closing(opening)):
            names.append(name)
    return names[:MAX_HELPERS]
