"""`grep`: search the workspace with ripgrep."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Annotated, Any, NamedTuple

import msgspec

from flyball.errors import NotFound, ToolError
from flyball.terms.finding import Match, TextMatches
from flyball.tools.call.facts import path_fact, users_secrets_among
from flyball.tools.call.protocol import CallContext, CallFacts, Form, Result, Text, Tool, bounded
from flyball.tools.call.ripgrep import counts, files_below, lines, without
from flyball.tools.dependencies.find import Located, located
from flyball.workspace.files.path_rules import holds_secrets
from flyball.workspace.files.paths import PathKind

LONGEST_LINE = 400
MOST_SECRETS = 2_000
NAMED = 5
NARROW = "Narrow the search with `dir` or `globs`, or raise `max`."


MOST_CONTEXT = 20
"""Maximum context lines around a match; a larger request gets this many and a note."""


class GrepForm(Form, frozen=True, kw_only=True):
    """What to search for, and where."""

    q: Text
    dir: Text = "."
    globs: tuple[Text, ...] = ()
    max: Annotated[int, msgspec.Meta(ge=1, le=5_000)] = 100
    context: Annotated[int, msgspec.Meta(ge=0)] = 0
    literal: bool = False
    ignore_case: bool = False


def facts(form: GrepForm, context: CallContext) -> CallFacts:
    return CallFacts(paths=(path_fact(form.dir, context, write=False),))


async def perform(form: GrepForm, context: CallContext) -> Result:
    place = located(form.dir, context)
    where = place.root.resolve(place.path)
    if place.root.fact(place.path, write=False).kind is PathKind.MISSING:
        raise NotFound("directory", form.dir, "List `.` to see what is there.")
    left_out = _left_out(form, place, where, context)
    words = [*_words(form), *place.words, *map(without, left_out)]
    # A file that is named explicitly is searched whatever the patterns say.
    found, problem = ({}, "") if where in left_out else counts(place, words, where)
    if problem:
        return _refused(form, problem)
    total = sum(found.values())
    head = (
        f"{total} matches in {len(found)} files for {form.q}{place.note}{_omission_note(left_out)}"
    )
    if form.context > MOST_CONTEXT:
        head += f" (with {MOST_CONTEXT} lines of context, the most there is)"
    data: dict[str, object] = {"matches": total, "files": len(found)}
    if not total:
        return Result(True, head, data)
    shown = _shown(form, place, words, _first(found, form.max))
    text_shown = "\n".join(each.words for each in shown)
    text, cut = bounded(text_shown, context.settings.max_text, NARROW)
    more = f"\n[{total - form.max} more matches. {NARROW}]" if total > form.max else ""
    finding = TextMatches(shown=_within(shown, context.settings.max_text))
    return Result(True, f"{head}\n{text}{more}", data, cut=cut, finding=finding)


def _left_out(form: GrepForm, place: Located, where: str, context: CallContext) -> list[str]:
    """Return secret files to exclude: even a match count would reveal their content."""
    globs = [f"--glob={glob}" for glob in form.globs]
    paths = files_below(place, where, *globs, *place.words)
    named = [path for path in paths if holds_secrets(path, context.settings.secrets)]
    # No commits are known for installed dependencies.
    found = named if place.note else users_secrets_among(named, context)
    if len(found) > MOST_SECRETS:
        raise ToolError(f"{len(found)} files here may contain the user's secrets.", NARROW)
    return found


def _omission_note(left_out: Sequence[str]) -> str:
    if not left_out:
        return ""
    more = f" and {len(left_out) - NAMED} more" if len(left_out) > NAMED else ""
    names = f"{', '.join(left_out[:NAMED])}{more}"
    return f"\n[not searched, because they may contain the user's secrets: {names}]"


def _words(form: GrepForm) -> list[str]:
    words = [f"--regexp={form.q}", *(f"--glob={glob}" for glob in form.globs)]
    words += ["--fixed-strings"] if form.literal else []
    words += ["--ignore-case"] if form.ignore_case else []
    return words


def _refused(form: GrepForm, problem: str) -> Result:
    hint = "" if form.literal else " To search for plain text, pass `literal: true`."
    text = f"The search for {form.q!r} cannot be made: {problem}{hint}"
    return Result(False, text, error=problem, same=problem)


def _first(found: dict[str, int], limit: int) -> list[str]:
    """Return the files that contain the first matches, up to the display limit."""
    before = [0, *accumulate(found.values())]
    return [path for path, seen in zip(found, before, strict=False) if seen < limit]


class _ShownLine(NamedTuple):
    """A line of the answer: a match, or its context."""

    is_match: bool
    path: str
    line: int
    text: str

    @property
    def words(self) -> str:
        """Return `file:line: text` for a match, with dashes for a context line."""
        mark = ":" if self.is_match else "-"
        return f"{self.path}{mark}{self.line}{mark} {self.text}"


def _within(shown: Sequence[_ShownLine], limit: int) -> tuple[Match, ...]:
    """Return as many of the first matches as fit in this length."""
    ends = accumulate(len(each.words) + 1 for each in shown)
    return tuple(
        Match(each.path, each.line, each.text)
        for each, end in zip(shown, ends, strict=True)
        if each.is_match and end <= limit
    )


def _shown(
    form: GrepForm, place: Located, words: Sequence[str], files: Sequence[str]
) -> list[_ShownLine]:
    """Return the first matches with their context lines."""
    words = [*words, f"--max-count={form.max}"]
    words += [f"--context={min(form.context, MOST_CONTEXT)}"] if form.context else []
    shown: list[_ShownLine] = []
    matches = 0
    for kind, data in lines(place, words, files):
        matches += kind == "match"
        if matches > form.max:
            break
        path = place.prefix + _text(data["path"]).removeprefix("./")
        text = _text(data["lines"]).rstrip("\r\n")
        over = (
            f" [… {len(text) - LONGEST_LINE} more characters]" if len(text) > LONGEST_LINE else ""
        )
        text = f"{text[:LONGEST_LINE]}{over}"
        shown.append(_ShownLine(kind == "match", path, data["line_number"], text))
    return shown


def _text(value: Any) -> str:
    return value.get("text") or "(not text)"


GREP = Tool(
    "grep",
    "Search file contents by a regular expression (`literal`: plain text) below `dir`.",
    GrepForm,
    facts,
    perform,
    example={"q": "total", "globs": ["src/**"], "context": 2},
)
