"""Answers without a model: from what the tools show, and otherwise how to get one."""

from __future__ import annotations

import re

from flyball.core.run.thread import SpokenCall
from flyball.core.terms.evidence import SuiteReport
from flyball.core.terms.finding import HoldingChange
from flyball.core.terms.phase import Phase
from flyball.drivers.protocol import Reply, Request
from flyball.drivers.repair import sentences
from flyball.drivers.repair.repairing import ask_for, checkpoint_for
from flyball.drivers.repair.request_words import (
    CHANGES,
    GREETING,
    SERVERS,
    THANKS,
    is_about_failure,
    is_mere_question,
    name_asked_about,
)
from flyball.drivers.repair.stopping import last_reply
from flyball.drivers.repair.symbols import whereabouts
from flyball.drivers.repair.thread_facts import MadeCall, ThreadFacts, has_run

SECONDS = 20.0
LONGEST = 3000
Wanted = tuple[str, dict[str, object]]


def answer(story: ThreadFacts, request: Request, seconds: float) -> Reply:
    """Status, diagnosis or a word, from what can be seen."""
    if story.template == "answer":
        return Reply(text=_small_talk(story.request))
    if story.template not in ("status", "diagnose"):
        return last_reply(story, request.phase, sentences.needs_model(story.request))
    shown = {tool.name for tool in request.offered}
    if request.phase is not Phase.FINAL:
        for tool, args in _wanted(story, seconds):
            if tool in shown and not any(_same(deed, tool, args) for deed in story.deeds):
                return Reply(calls=(ask_for(tool, **args),))
        if offered := _offer(story):
            return Reply(calls=(offered,))
    return Reply(text=_findings(story))


def _offer(story: ThreadFacts) -> SpokenCall | None:
    """Who reports a fault, and did not only ask, is offered the change that was found."""
    run, looked = story.red_run, story.last("localise_faults")
    best = _best(story)
    if best is None or run is None or looked is None or story.count("checkpoint"):
        return None
    return None if is_mere_question(story.request) else checkpoint_for(run, looked, best)


def _best(story: ThreadFacts) -> HoldingChange | None:
    searched = story.last("try_candidates")
    found = searched.search if searched else None
    return found.holding[0] if found and found.holding else None


def _same(deed: MadeCall, tool: str, args: dict[str, object]) -> bool:
    return deed.tool == tool and deed.args == args


def _wanted(story: ThreadFacts, seconds: float) -> list[Wanted]:
    """What to look at, in this order."""
    text = story.request
    is_status = story.template == "status"
    if name := name_asked_about(text):
        exactly: dict[str, object] = {"q": rf"\b{re.escape(name)}\b", "max": 60}
        found = [deed for deed in story.deeds if deed.tool == "grep" and deed.matches]
        loosely: dict[str, object] = {"q": name, "max": 60, "literal": True, "ignore_case": True}
        return [("grep", exactly)] if found or not story.count("grep") else [("grep", loosely)]
    if CHANGES.search(text) and not is_about_failure(text):
        return [("git_log", {"max": 10})]
    return [("test", {})] if is_status else _causes(story, seconds)


def _causes(story: ThreadFacts, seconds: float) -> list[Wanted]:
    """What a diagnosis looks at: the tests one by one, a change that would do, the last commits."""
    limit = min(SECONDS, seconds)
    looking: Wanted = ("localise_faults", {"seconds": limit})
    looked = story.last("localise_faults")
    if looked is None:
        return [looking]
    run = looked.suite
    if run is None or not (run.failed or run.is_green):
        tested = story.last("test")
        nothing = tested is not None and tested.suite is None
        return [looking, ("test", {}), *([("check", {})] if nothing else [])]
    if not run.failed:
        return [looking, ("git_log", {"max": 5})]
    places = looked.suspects
    trying: list[Wanted] = [("try_candidates", {"seconds": limit})] if places else []
    lately: list[Wanted] = [("git_log", {"max": 3, "path": places[0].path})] if places else []
    return [looking, *trying, *lately]


def _findings(story: ThreadFacts) -> str:
    parts = [_servers(story), _tests(story), _place(story), *_plain(story)]
    said = "\n\n".join(filter(None, parts))
    if not said:
        return sentences.needs_model(story.request).whole
    if story.template == "diagnose" and story.runs and story.red_run is None:
        said += (
            "\n\nThe tests do not show what you ask about. Write one that does.\n"
            f"{sentences.ask_model(story.request)}"
        )
    return said


def _tests(story: ThreadFacts) -> str:
    deed = story.last("test") or story.last("localise_faults")
    if deed is None:
        return ""
    run = deed.suite
    if run is None or not has_run(run):
        return f"No test could be run.\n{deed.text.strip()[:LONGEST]}"
    return _green(run) if run.is_green else sentences.diagnosis(run)


def _green(run: SuiteReport) -> str:
    one = run.passed == 1
    count = "The only test passes" if one else f"All {run.passed} tests pass"
    return f"{count} ({run.runner}, {run.elapsed:.1f} s)."


def _place(story: ThreadFacts) -> str:
    looked = story.last("localise_faults")
    lines: list[str] = []
    if looked and (found := looked.suspects):
        lines.append("The fault is most likely at one of these lines:")
        lines += [f"  {each.score:.2f}  {each.path}:{each.line}  {each.text}" for each in found[:5]]
    if best := _best(story):
        lines.append(f"\nWith this change every test passes:\n{best.diff}")
        if is_mere_question(story.request):
            lines.append('To have it made: flyball run "the tests fail, fix it"')
    return "\n".join(lines)


def _plain(story: ThreadFacts) -> list[str]:
    """What needs few words of ours."""
    found: list[str] = []
    if deed := story.last("grep"):
        found.append(whereabouts(name_asked_about(story.request), deed.matches))
    if deed := story.last("git_log"):
        of = f" to {deed.args['path']}" if "path" in deed.args else ""
        found.append(f"The last changes{of}:\n{deed.text.strip()[:LONGEST]}")
    if deed := story.last("check"):
        found.append(f"What can be checked without tests:\n{deed.text.strip()[:LONGEST]}")
    return found


def _servers(story: ThreadFacts) -> str:
    return "No dev server was started by Flyball." if SERVERS.search(story.request) else ""


def _small_talk(request: str) -> str:
    if THANKS.search(request):
        return "You are welcome."
    if GREETING.search(request):
        return "Hello. Ask me why a test fails, where a name is used, or to repair what fails."
    return (
        "No model is configured, so I can only look at this project: ask why a test fails, where a "
        "name is used, or to repair what fails."
    )
