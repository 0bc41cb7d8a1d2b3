"""The repairer's messages: every sentence, and the explanation of a fault."""

from __future__ import annotations

import ast
import shlex
from collections.abc import Sequence
from typing import NamedTuple

from flyball.regex import regex
from flyball.repair.thread_facts import MadeCall
from flyball.terms.evidence import FailedTest, SuiteReport
from flyball.terms.finding import CandidateSearch, HoldingChange, Suspect

_FILE = regex(r'^(?:E\s+)?\s*File "(?P<path>[^"]+)", line (?P<line>\d+)(?:, in (?P<name>.+))?$')
_PLACE = regex(r"^(?P<path>[^\s:][^:]*\.py):(?P<line>\d+): (?:in (?P<name>.+)|\w*)$")
_ERROR = regex(r"^(?:E\s+)?(?P<kind>[A-Za-z_][\w.]*)(?:: (?P<text>.*))?$")
_RAISED = regex(r"(?:Error|Exception|Exit|Interrupt|Warning|Failed)$")
_BARE = regex(r"^E\s+assert ")
_SCRATCH = regex(r"^.*/runs/[^/]+/(?:.+?/)??tree/[^/]+/")
_IN_SCRATCH = regex(r"/\S*/runs/[^/\s]+/(?:\S+?/)??tree/[^/\s]+/")
_CARETS = regex(r"^(?:E\s+)?[\s~^]*$")
_FOREIGN = ("/site-packages/", "/dist-packages/", "/lib/python", "<")
_DIFFER = regex(
    r"^(?:[A-Z]\w+s differ: )?(?P<first>.+?) (?:!=|is not|not found in) (?P<second>.+)$"
)
LONGEST = 200
ENDLESS = "It did not end"
NO_REASON = "no reason was given"
TALK = 6
"""Lines that are quoted where a failure cannot be understood."""


class Frame(NamedTuple):
    """A step of a traceback, with its line of code."""

    path: str
    line: int
    name: str
    code: str

    @property
    def place(self) -> str:
        """Return `path:line`, as editors accept it."""
        return f"{self.path}:{self.line}"


class Trace(NamedTuple):
    """A failure according to its traceback."""

    frames: tuple[Frame, ...]
    kind: str
    text: str


def explain(failed: FailedTest) -> str:
    """Explain one failing test: the expected and the actual value, and the line."""
    trace = trace_of(failed.message)
    own = [frame for frame in trace.frames if not _is_foreign(frame.path)]
    if failed.message.startswith(ENDLESS):
        at = f" It was last seen at {own[-1].place}: `{own[-1].code}`." if own else ""
        return f"{failed.message.splitlines()[0]}{at}"
    if not trace.kind:
        return _quoted(failed.message)
    if trace.kind.endswith(("SyntaxError", "IndentationError", "TabError")) and own:
        at = own[-1]
        return f"{at.place} is not valid Python ({trace.text}): `{at.code}`."
    if trace.kind == "AssertionError" and own:
        return f"{own[-1].place} {_assertion(own[-1].code, trace.text)}"
    text = f"{trace.kind}: {_cut(trace.text)}" if trace.text else trace.kind
    if not own:
        return f"{text}."
    called = f", called from {own[0].place} (`{own[0].code}`)" if len(own) > 1 else ""
    return f"{text}, at {own[-1].place}: `{own[-1].code}`{called}."


def _quoted(why: str) -> str:
    """Return the output of a runner that is not Python's."""
    lines = [line.strip() for line in why.split("\n") if line.strip()]
    return _cut("; ".join(lines[:TALK]).replace(":; ", ": ")) or NO_REASON


def trace_of(why: str) -> Trace:
    """Parse a traceback as Python, unittest or pytest write it."""
    frames: list[Frame] = []
    kind, text = "", ""
    lines = why.split("\n")
    for i, line in enumerate(lines):
        if place := _FILE.match(line) or _PLACE.match(line):
            code = _code_below(lines, i) or _marked_above(lines, i)
            path = _SCRATCH.sub("", place["path"])
            frames.append(Frame(path, int(place["line"]), place["name"] or "", code))
        elif _BARE.match(line):
            kind, text = "AssertionError", line.removeprefix("E").strip()
        elif (error := _ERROR.match(line)) and _RAISED.search(error["kind"]):
            kind, text = error["kind"].rpartition(".")[2], (error["text"] or "").strip()
    return Trace(tuple(frames), kind, text)


def _code_below(lines: list[str], i: int) -> str:
    """Return the line of code that a traceback quotes below a place."""
    below = lines[i + 1] if i + 1 < len(lines) else ""
    is_code = below.startswith(("    ", "E    ")) and not _CARETS.match(below)
    return below.removeprefix("E").strip() if is_code else ""


def _marked_above(lines: list[str], i: int) -> str:
    """Return the line that pytest marks with `>` above a place."""
    above = [line[1:].strip() for line in lines[:i] if line.startswith(">")]
    return above[-1] if above else ""


def _is_foreign(path: str) -> bool:
    return any(part in path if part != "<" else path.startswith(part) for part in _FOREIGN)


def _assertion(code: str, text: str) -> str:
    """Return what an assertion expected, in the code's own words, and its operands."""
    shown = text.removeprefix("assert ")
    statement = _statement(code)
    if isinstance(statement, ast.Assert):
        wanted = ast.unparse(statement.test)
        got = _operands(statement.test, shown)
        return f"expects `{wanted}`{got or (f': {_cut(shown)}' if shown else '')}."
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return f"{_method(statement.value, text)}."
    return f"does not hold: `{code}`{f': {_cut(shown)}' if shown else ''}."


def _statement(code: str) -> ast.stmt | None:
    try:
        body = ast.parse(code).body
    except SyntaxError:
        return None
    return body[0] if len(body) == 1 else None


def _operands(test: ast.expr, text: str) -> str:
    """Return the values that pytest showed for both sides of a comparison."""
    values = _expression(text)
    if not isinstance(test, ast.Compare) or not isinstance(values, ast.Compare):
        return _not_so(test, text)
    wanted = [ast.unparse(each) for each in (test.left, *test.comparators)]
    seen = [ast.unparse(each) for each in (values.left, *values.comparators)]
    if len(wanted) != len(seen):
        return ""
    differ = [
        f"`{source}` is {_cut(value)}"
        for source, value in zip(wanted, seen, strict=True)
        if source != value and _is_value(value)
    ]
    return f", but {' and '.join(differ)}" if differ else ""


def _not_so(test: ast.expr, text: str) -> str:
    """Describe a failed condition that is not a comparison."""
    value = text.split("\n")[0]
    if _expression(value) is None or not _is_value(value):
        return ""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        shown = value.removeprefix("not ")
        return f", but `{ast.unparse(test.operand)}` is {_cut(shown)}"
    return f", but it is {_cut(value)}"


def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text.split("\n")[0], mode="eval").body
    except (SyntaxError, ValueError):
        return None


def _is_value(text: str) -> bool:
    """Return whether a text is a computed value rather than source code."""
    found = _expression(text)
    return found is not None and not any(
        isinstance(node, ast.Call | ast.Name | ast.Attribute) for node in ast.walk(found)
    )


def _method(call: ast.Call, text: str) -> str:
    """Return what a unittest method expected."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)
    args = [ast.unparse(each) for each in call.args]
    differ = _DIFFER.match(text.split("\n")[0])
    if name in ("assertEqual", "assertEquals") and len(args) > 1 and differ:
        first, second = args[:2]
        got = [
            f"`{source}` is {_cut(value)}"
            for source, value in ((first, differ["first"]), (second, differ["second"]))
            if source != value
        ]
        but = f", but {' and '.join(got)}" if got else ""
        return f"expects `{first} == {second}`{but}"
    return f"expects `{ast.unparse(call)}`{f': {_cut(text)}' if text else ''}"


def _cut(text: str) -> str:
    line = _IN_SCRATCH.sub("", " ".join(text.split()))
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


SHOWN = 5
LONGEST_REQUEST = 200
CONFIGURE = """\
  export ANTHROPIC_API_KEY=…
  flyball run --model anthropic:claude-sonnet-5 {request}
OpenAI is openai:MODEL with OPENAI_API_KEY, Z.ai is zai:MODEL with ZAI_API_KEY. Without an account:
  flyball run --model ollama:MODEL {request}      # a model on this machine
  flyball run --driver relay:talk {request}       # you, or any chat window, answer by files"""


class Words(NamedTuple):
    """A message, in one sentence and in full."""

    brief: str
    whole: str


def configure(request: str) -> str:
    """Return the lines to type so that a model does the work."""
    return CONFIGURE.format(request=_with_quotes(request))


def ask_model(request: str) -> str:
    """Return the command that lets a model do the work."""
    return (
        "Or let a model try, with ANTHROPIC_API_KEY set:\n"
        f"  flyball run --model anthropic:claude-sonnet-5 {_with_quotes(request)}"
    )


def _with_quotes(request: str) -> str:
    words = " ".join(request.split())
    return shlex.quote(words) if 0 < len(words) <= LONGEST_REQUEST else '"…"'


def needs_model(request: str) -> Words:
    """Explain that the request needs a model, and how to configure one."""
    brief = "This needs a model, and none is configured; nothing was changed."
    whole = (
        f"{brief} The built-in driver repairs what failing tests show, and answers from what it "
        f"can see. Type, for instance:\n{configure(request)}"
    )
    return Words(brief, whole)


def claim_for_change(
    run: str, after: SuiteReport, change: HoldingChange, found: CandidateSearch
) -> Words:
    """Return the claim that a working repair may make; earlier failures are for the verdict to
    report."""
    brief = "A plausible change: the tests pass."
    first = f"{brief} {change.path}:{change.line}, {change.template}: {change.label}."
    others = len(found.holding) - 1
    more = f"{others} other would" if others == 1 else f"{others} others would"
    also = f"; {more} pass too: `flyball runs show {run}`" if others > 0 else ""
    return Words(brief, f"{first}\nIt is only as good as {_tests(after)}{also}.")


def _tests(report: SuiteReport) -> str:
    return "the one test" if report.passed == 1 else f"the {report.passed} tests"


def alternatives(change: HoldingChange, found: CandidateSearch) -> str:
    """Return the other changes that work, first by name, then as diffs."""
    others = [each for each in found.holding if each != change]
    names = [f"  {_title(each)}" for each in others]
    head = "Other changes that make every test pass:"
    return "\n".join((head, *names, *(each.diff for each in others)))


def _title(change: HoldingChange) -> str:
    label = " ".join(change.label.split())
    return f"{change.path}:{change.line} {change.template}: {label}"


def search_in_vain(
    run: SuiteReport, lines: Sequence[Suspect], searched: MadeCall | None, request: str
) -> Words:
    """Explain why tests fail and what was tried, if no change was found."""
    if searched is None:
        brief = "No line was found at which changes could be tried; nothing was changed."
        return Words(brief, f"{brief}\n{diagnosis(run)}\n{ask_model(request)}")
    brief = "No change was found that makes the tests pass; nothing was changed."
    parts = [brief, diagnosis(run), "The most suspicious lines:"]
    parts += [f"  {each.score:.2f}  {each.path}:{each.line}  {each.text}" for each in lines[:SHOWN]]
    parts += [search_summary(searched), ask_model(request)]
    return Words(brief, "\n".join(parts))


def refused_change(run: SuiteReport, best: HoldingChange, edit: MadeCall) -> Words:
    """Describe a change that works in the scratch copy, but that the workspace refuses."""
    brief = "A change was found that makes the tests pass, but it could not be applied."
    parts = [brief, edit.text.strip(), diagnosis(run), f"The change: {_title(best)}\n{best.diff}"]
    return Words(brief, "\n".join(parts))


def search_summary(action: MadeCall) -> str:
    """Return how much an unsuccessful search tried, and how long it took."""
    found = action.search
    if found is None:
        return f"The search failed: {action.text.strip().partition(chr(10))[0]}"
    if not found.generated:
        return "None of the changes it knows applies to these lines."
    more = " Give it more time with --budget-seconds." if found.tried < found.generated else ""
    most = ", the most that are made," if found.is_limited else ""
    return (
        f"{found.tried} of {found.generated} small changes at these lines{most} were tried in "
        f"{found.elapsed:.0f} s; none makes every test pass.{more}"
    )


def only_python(run: SuiteReport, request: str) -> Words:
    """Explain that the failing tests are not Python, and why they fail."""
    brief = (
        "Tests fail, but without a model only Python and JavaScript can be repaired; nothing was "
        "changed."
    )
    whole = f"{brief}\n{diagnosis(run)}\n{ask_model(request)}"
    return Words(brief, whole)


def diagnosis(run: SuiteReport) -> str:
    """Explain in a few lines which tests fail, and why."""
    verb = "fails" if run.failed == 1 else "fail"
    lines = [f"{_count(run.failed)} of {run.failed + run.passed} {verb}:"]
    for each in run.failures[:SHOWN]:
        lines += [f"  {each.name}", f"    {explain(each)}"]
    if len(run.failures) > SHOWN:
        lines.append(f"  … and {len(run.failures) - SHOWN} more.")
    return "\n".join(lines)


def _count(number: int) -> str:
    return f"{number} test{'s' if number != 1 else ''}"


def nothing_red(run: SuiteReport, request: str) -> Words:
    """Explain that no failing test was seen, or that not all tests could be run."""
    if not run.is_green:
        brief = "No test failed, but not all could be run; nothing was changed."
        return Words(brief, f"{brief} Give it more time with --budget-seconds.")
    brief = "No test fails, so there is nothing to repair; nothing was changed."
    count = "The only test passes" if run.passed == 1 else f"All {run.passed} tests pass"
    whole = (
        f"{brief} {count} ({run.runner}), and the built-in repairer goes by "
        f"failing tests. Write a test that shows the fault and ask again.\n{ask_model(request)}"
    )
    return Words(brief, whole)


def only_together(run: SuiteReport) -> Words:
    """Explain that the tests only fail together, which a search for small changes cannot handle."""
    brief = "Each test passes by itself, but not all of them together; nothing was changed."
    whole = (
        f"{brief} They depend on each other or on state that others leave behind.\n{diagnosis(run)}"
    )
    return Words(brief, whole)


def no_tests(text: str, checked: MadeCall | None) -> Words:
    """Explain that no test could be run, and what was checked instead."""
    first = "\n".join(text.strip().split("\n")[:12])
    brief = "No test could be run, so there is no evidence to work from; nothing was changed."
    looked = f"\nWhat can be checked without tests:\n{checked.text[:2000]}" if checked else ""
    whole = (
        f"{brief}\n{first}{looked}\n"
        "Write a test that shows the fault, as test_*.py with pytest or unittest, and ask again."
    )
    return Words(brief, whole)
