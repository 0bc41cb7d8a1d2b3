"""The sentences of the repairer: what it saw, and never more than that."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import NamedTuple

from flyball.core.terms.evidence import SuiteReport
from flyball.core.terms.finding import CandidateSearch, HoldingChange, Suspect
from flyball.drivers.repair.explain import explain
from flyball.drivers.repair.thread_facts import MadeCall

SHOWN = 5
LONGEST_REQUEST = 200
CONFIGURE = """\
  export ANTHROPIC_API_KEY=…
  flyball run --model anthropic:claude-sonnet-5 {request}
OpenAI is openai:MODEL with OPENAI_API_KEY, Z.ai is zai:MODEL with ZAI_API_KEY. Without an account:
  flyball run --model ollama:MODEL {request}      # a model on this machine
  flyball run --driver relay:talk {request}       # you, or any chat window, answer by files"""


class Words(NamedTuple):
    """Something to say: in one sentence, and whole."""

    brief: str
    whole: str


def configure(request: str) -> str:
    """Which lines to type to have a model do it."""
    return CONFIGURE.format(request=_quoted(request))


def ask_model(request: str) -> str:
    """The one line that has a model do it."""
    return (
        "Or let a model look, with ANTHROPIC_API_KEY set:\n"
        f"  flyball run --model anthropic:claude-sonnet-5 {_quoted(request)}"
    )


def _quoted(request: str) -> str:
    words = " ".join(request.split())
    return shlex.quote(words) if 0 < len(words) <= LONGEST_REQUEST else '"…"'


def needs_model(request: str) -> Words:
    """That the request needs a model, and how to configure one."""
    brief = "This needs a model, and none is configured; nothing was changed."
    whole = (
        f"{brief} The built-in driver repairs what failing tests show, and answers from what it "
        f"can see. Type, for instance:\n{configure(request)}"
    )
    return Words(brief, whole)


def claim_for_change(
    run: str, after: SuiteReport, change: HoldingChange, found: CandidateSearch
) -> Words:
    """What a repair that holds may claim; what failed before is for the verdict to say."""
    brief = "A plausible change: the tests pass."
    first = f"{brief} {change.path}:{change.line}, {change.template}: {change.label}."
    others = len(found.holding) - 1
    more = f"{others} other would" if others == 1 else f"{others} others would"
    also = f"; {more} pass too: `flyball runs show {run}`" if others > 0 else ""
    return Words(brief, f"{first}\nFound by search, it says no more than {_tests(after)}{also}.")


def _tests(report: SuiteReport) -> str:
    return "the one test" if report.passed == 1 else f"the {report.passed} tests"


def alternatives(change: HoldingChange, found: CandidateSearch) -> str:
    """The other changes that hold, by name, and then their diffs."""
    others = [each for each in found.holding if each != change]
    names = [f"  {_title(each)}" for each in others]
    head = "Other changes under which every test passes:"
    return "\n".join((head, *names, *(each.diff for each in others)))


def _title(change: HoldingChange) -> str:
    label = " ".join(change.label.split())
    return f"{change.path}:{change.line} {change.template}: {label}"


def search_in_vain(
    run: SuiteReport, lines: Sequence[Suspect], searched: MadeCall | None, request: str
) -> Words:
    """Why tests fail and what was tried, where no change was found."""
    if searched is None:
        brief = "No line was found at which changes could be tried; nothing was changed."
        return Words(brief, f"{brief}\n{diagnosis(run)}\n{ask_model(request)}")
    brief = "No change was found under which the tests pass; nothing was changed."
    parts = [brief, diagnosis(run), "The most suspicious lines:"]
    parts += [f"  {each.score:.2f}  {each.path}:{each.line}  {each.text}" for each in lines[:SHOWN]]
    parts += [search_summary(searched), ask_model(request)]
    return Words(brief, "\n".join(parts))


def refused_change(run: SuiteReport, best: HoldingChange, edit: MadeCall) -> Words:
    """A change that holds in the scratch copy, and that the workspace does not take."""
    brief = "A change was found under which the tests pass, but it could not be made."
    parts = [brief, edit.text.strip(), diagnosis(run), f"The change: {_title(best)}\n{best.diff}"]
    return Words(brief, "\n".join(parts))


def search_summary(deed: MadeCall) -> str:
    """How much a search in vain tried, and in which time."""
    found = deed.search
    if found is None:
        return f"The search could not be made: {deed.text.strip().partition(chr(10))[0]}"
    if not found.generated:
        return "None of the changes it knows applies to these lines."
    more = " Give it more time with --budget-seconds." if found.tried < found.generated else ""
    return (
        f"{found.tried} of {found.generated} small changes at these lines were tried in "
        f"{found.elapsed:.0f} s; none makes every test pass.{more}"
    )


def only_python(run: SuiteReport, request: str) -> Words:
    """That tests fail which are not Python, and why they fail."""
    brief = "Tests fail, but without a model only Python can be repaired; nothing was changed."
    whole = f"{brief}\n{diagnosis(run)}\n{ask_model(request)}"
    return Words(brief, whole)


def diagnosis(run: SuiteReport) -> str:
    """Which tests fail, and why, in a few lines."""
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
    """That no failing test was seen, or not all tests could be run."""
    if not run.is_green:
        brief = "No test was seen to fail, but not all could be run; nothing was changed."
        return Words(brief, f"{brief} Give it more time with --budget-seconds.")
    brief = "No test fails, so there is nothing to repair; nothing was changed."
    count = "The only test passes" if run.passed == 1 else f"All {run.passed} tests pass"
    whole = (
        f"{brief} {count} ({run.runner}), and the built-in repairer goes by "
        f"failing tests. Write a test that shows the fault and ask again.\n{ask_model(request)}"
    )
    return Words(brief, whole)


def only_together(run: SuiteReport) -> Words:
    """That the tests only fail together, which is beyond a search for small changes."""
    brief = "Each test passes by itself, but not all of them together; nothing was changed."
    whole = f"{brief} They depend on each other or on what others leave behind.\n{diagnosis(run)}"
    return Words(brief, whole)


def no_tests(text: str, checked: MadeCall | None) -> Words:
    """That no test could be run, and what was checked instead."""
    first = "\n".join(text.strip().split("\n")[:12])
    brief = "No test could be run, so there is nothing to go by; nothing was changed."
    looked = f"\nWhat can be checked without tests:\n{checked.text[:2000]}" if checked else ""
    whole = (
        f"{brief}\n{first}{looked}\n"
        "Write a test that shows the fault, as test_*.py with pytest or unittest, and ask again."
    )
    return Words(brief, whole)
