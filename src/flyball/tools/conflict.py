"""`conflict`: report that the task cannot be done as asked, with two quotes that Flyball looks
up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from flyball.errors import FlyballError, ToolError
from flyball.run.event import ConflictStated
from flyball.shell import is_single, verification_kind
from flyball.terms.conflict import (
    REQUEST,
    ConflictReport,
    Place,
    Quote,
    Source,
    file_names,
    find_quote,
    names_conflict,
    read_places,
)
from flyball.terms.evidence import AnyEvidence, SuiteReport
from flyball.tools.call.facts import decoded, path_fact
from flyball.tools.call.protocol import CallContext, CallFacts, Form, Result, Text, Tool
from flyball.verdict.runners.launch import exit_code
from flyball.verdict.runners.layout import look
from flyball.verdict.runners.run_suite import run_command
from flyball.verdict.runners.tally import Tally
from flyball.workspace.files.path_rules import holds_secrets
from flyball.workspace.files.paths import Root
from flyball.workspace.run.clean import clean_checkout
from flyball.workspace.sandbox.confinement import SandboxLevel

LONGEST_OUTPUT = 2_000
WORD_FOR_WORD = "Quote it word for word, and name the line where it begins."
MOST_SHOWN = 3
"""How many places an error names."""


class ConflictForm(Form, frozen=True, kw_only=True):
    """Two quotes that contradict each other, and the location of the first (file:line or
    `request`).

    `where` may also name the location of the second quote, after a comma; otherwise it is searched
    in the request, in the output of the tests, and in the same file.
    """

    says: Text
    but: Text
    where: Text
    reproduce: str = ""
    """A command of the project's tests that fails because of it."""


class Surroundings(NamedTuple):
    """The texts besides the files against which a conflict is checked."""

    request: str
    base: str
    """The tree to read files from: what the driver wrote itself contradicts nobody."""
    evidence: Sequence[AnyEvidence] = ()


class Failure(NamedTuple):
    """How a reproduction failed."""

    exit_code: int = 0
    output: str = ""
    why: str = ""
    """What its failing tests say, or if that names no file of the project, its output."""


async def state_conflict(
    form: ConflictForm, context: CallContext, surroundings: Surroundings
) -> ConflictStated:
    """Return the event of a stated conflict, with what was found or why it is refused."""
    try:
        report = await look_up(form, context, surroundings)
    except FlyballError as error:
        fault = context.redactor.text(str(error))
        return ConflictStated(card=context.card, call=context.call, fault=fault)
    return ConflictStated(card=context.card, call=context.call, report=report)


async def look_up(
    form: ConflictForm, context: CallContext, surroundings: Surroundings
) -> ConflictReport:
    """Return both quotes as found; raise `ToolError` if one is missing or nothing fails."""
    places = read_places(form.where)
    if not places:
        raise ToolError("`where` names no place.", "Give it as file:line, or as `request`.")
    first = _source(places[0], context, surroundings)
    says = find_quote(form.says, [first])
    if says is None:
        raise _missing("says", form.says, [first])
    command = form.reproduce.strip()
    failure = await _reproduce(command, context) if command else Failure()
    others = [_source(place, context, surroundings) for place in places[1:]]
    if not others:
        others = [*_likely(first, command, failure, surroundings)]
    but = find_quote(form.but, [each for each in others if each.text])
    if but is None:
        raise _missing("but", form.but, others)
    if (says.place, says.text) == (but.place, but.text):
        raise ToolError(f"Both quotes are the same lines, {says.place}.", "Quote both sides.")
    if command and not names_conflict((says, but), failure.why, failure.output):
        raise ToolError(
            f"`{command}` fails, but says nothing of {says.place} or {but.place}.",
            "Name a command that fails because of the conflict, quote what it prints, or leave "
            "`reproduce` out.",
        )
    output = failure.output[-LONGEST_OUTPUT:]
    return _redacted(ConflictReport(says, but, command, failure.exit_code, output), context)


def _source(place: Place, context: CallContext, surroundings: Surroundings) -> Source:
    if place.is_request:
        return Source(place, surroundings.request)
    fact = context.root.fact(place.path, write=False)
    if not fact.inside:
        raise ToolError(f"{place.path} is outside the workspace.", "Quote a file of the project.")
    if holds_secrets(fact.path, context.settings.secrets):
        raise ToolError(f"{place.path} may hold secrets, so it is not quoted.", "Quote another.")
    data = context.workspace.file_at(surroundings.base, fact.path)
    text = decoded(data) if data is not None else None
    if text is None:
        is_new = data is None and fact.exists
        raise ToolError(
            f"{place.path} {'is of your own making' if is_new else 'is no text file here'}.",
            "Quote what was there before the work began: a test, a document, the request.",
        )
    return Source(Place(fact.path, place.line), text)


def _likely(
    first: Source, command: str, failure: Failure, surroundings: Surroundings
) -> Sequence[Source]:
    """Return possible locations of the second quote if none is named."""
    found = [] if first.place.is_request else [Source(Place(REQUEST), surroundings.request)]
    if failure.output:
        text = f"{failure.why}\n{failure.output}"
        found.append(Source(Place(f"`{command}`"), text, is_observed=True))
    for item in surroundings.evidence:
        if isinstance(item, SuiteReport) and item.failures:
            text = "\n".join(f"{each.name}\n{each.message}" for each in item.failures)
            found.append(Source(Place(f"`{item.command}`"), text, is_observed=True))
    return [*found, first]


async def _reproduce(command: str, context: CallContext) -> Failure:
    """Run a command on a copy of the tree, in the sandbox, and return how it fails.

    It must fail by a test that ran, or without counting tests at all, as an import does.
    """
    kind = verification_kind(command)
    if kind is None or not is_single(command):
        raise ToolError(
            f"`{command}` is not run: it is no test, check or import by itself.",
            "Name one command of the project's tests and nothing else, or leave `reproduce` out.",
        )
    if context.sandbox.level is SandboxLevel.NONE:
        raise ToolError("`reproduce` needs a sandbox.", "Leave it out on this machine.")
    with clean_checkout(context.workspace, context.tree) as place:
        there = context.on_tree(Root(place, protected=()), context.tree)
        there = there._replace(
            is_shown=False, is_logged=False, limits=context.settings.suite_limits
        )
        finished, tally = await run_command(command, there)
        files = look(place).files
    code, again = exit_code(finished), "Name the command that fails, or leave `reproduce` out."
    if finished.ok:
        raise ToolError(f"`{command}` ended with exit 0, so it shows no conflict.", again)
    if finished.over_limit:
        raise ToolError(f"`{command}` shows no conflict: {finished.cut_off}.", again)
    if tally is not None and not tally.failed:
        raise ToolError(f"`{command}` ended with exit {code}, but no test failed.", again)
    failed = "\n".join(f"{each.name}\n{each.message}" for each in (tally or Tally()).failures)
    is_located = file_names([failed]) & file_names(files)
    return Failure(code, finished.output, failed if is_located else finished.output)


def _missing(field: str, quote: str, sources: Sequence[Source]) -> ToolError:
    named = [each.place.words for each in sources if each.text][:MOST_SHOWN]
    hint = WORD_FOR_WORD
    if field == "but" and len(sources) > 1:
        hint += " For a quote from another file, name both places: a.py:3, b.md:7."
    where = " or ".join(named) or "any text"
    return ToolError(f"`{field}` was not found in {where}: {quote.strip()[:200]!r}.", hint)


def _redacted(report: ConflictReport, context: CallContext) -> ConflictReport:
    clean = context.redactor.text

    def quote(each: Quote) -> Quote:
        return Quote(each.place, clean(each.text), clean(each.said), each.is_observed)

    return ConflictReport(
        quote(report.says),
        quote(report.but),
        clean(report.reproduce),
        report.exit_code,
        clean(report.output),
    )


def facts(form: ConflictForm, context: CallContext) -> CallFacts:
    files = [each.path for each in read_places(form.where) if not each.is_request]
    return CallFacts(paths=tuple(path_fact(each, context, write=False) for each in files))


async def perform(_form: Form, _context: CallContext) -> Result:
    """Raise: the engine answers this call with an event of its own."""
    raise ToolError("This call is recorded, not performed.")


CONFLICT = Tool(
    "conflict",
    "Say why the task cannot be done as asked: quote both sides; a person decides.",
    ConflictForm,
    facts,
    perform,
    example={
        "says": "an empty cart costs 1",
        "but": "an empty cart costs nothing",
        "where": "tests/cart:12",
    },
)
