"""Answers without a model: from what the tools show, and otherwise how to get one."""

from __future__ import annotations

import re

from flyball.core.phase import Phase
from flyball.drivers.protocol import Reply, Request
from flyball.drivers.repair.mending import call
from flyball.drivers.repair.saying import configure, diagnosis, suite_trouble
from flyball.drivers.repair.story import Story, ran, search_of, suspects

FAILURE = re.compile(
    r"\b(?:fail\w*|fix\w*|bug\w*|broken?|breaks?|wrong|error\w*|red|repair\w*|crash\w*|pass(?:es)?|"
    r"exception\w*|traceback|regress\w*|green)\b",
    re.I,
)
CHANGES = re.compile(r"\b(?:changed?|changes|commits?|history|lately|recent\w*|log)\b", re.I)
SYMBOL = re.compile(r"`([A-Za-z_][\w.]*)`|\b([a-z]+_\w+|[A-Z][a-z]+[A-Z]\w*|\w+(?=\(\)))")
WHERE = re.compile(r"\b(?:where|who|which|find|defined?|used?|uses|called?|calls)\b", re.I)
SERVERS = re.compile(r"\b(?:running|servers?|preview|ports?|logs?)\b", re.I)
SECONDS = 20.0


def is_about_failure(request: str) -> bool:
    """Whether a request speaks of something that does not work."""
    return bool(FAILURE.search(request))


def answer(story: Story, request: Request) -> Reply:
    """Status, diagnosis or a word, from what can be seen."""
    if request.phase is Phase.FINAL and not story.deeds:
        return Reply(text=_small_talk(story))
    if story.template in ("status", "diagnose"):
        return _look(story, request)
    return Reply(text=_needs_model(story))


def _look(story: Story, request: Request) -> Reply:
    shown = {tool.name for tool in request.tools}
    for tool, args in _wanted(story):
        if tool in shown and story.last(tool) is None:
            return Reply(calls=(call(tool, **args),))
    return Reply(text=_findings(story))


def _wanted(story: Story) -> list[tuple[str, dict[str, object]]]:
    """What to look at, in this order."""
    text = story.request
    symbol = SYMBOL.search(text)
    if symbol and WHERE.search(text) and not FAILURE.search(text):
        name = (symbol[1] or symbol[2]).rpartition(".")[2]
        return [("grep", {"q": rf"\b{re.escape(name)}\b", "max": 60})]
    if CHANGES.search(text) and not FAILURE.search(text):
        return [("git_log", {"max": 10})]
    if story.template == "status":
        servers: list[tuple[str, dict[str, object]]] = []
        if SERVERS.search(text):
            servers.append(("dev_server_list", {}))
        return [*servers, ("test", {})]
    looked = story.last("localise_faults")
    if looked is None:
        return [("localise_faults", {"seconds": SECONDS})]
    run = ran(looked)
    if run is None:
        return [("test", {})]
    return [("try_candidates", {"seconds": SECONDS})] if run.failed else [("git_log", {"max": 5})]


def _findings(story: Story) -> str:
    parts = [part for part in (_tests(story), _search(story), *_plain(story)) if part]
    if not parts:
        return _needs_model(story)
    return "\n\n".join(parts)


def _tests(story: Story) -> str:
    deed = story.last("test") or story.last("localise_faults")
    if deed is None:
        return ""
    run = ran(deed)
    if run is None or not (run.passed or run.failed):
        return suite_trouble(deed.text)
    if run.is_green:
        return f"All {run.passed} tests pass ({run.runner}, {run.elapsed:.1f} s)."
    return diagnosis(run)


def _search(story: Story) -> str:
    looked, searched = story.last("localise_faults"), story.last("try_candidates")
    lines: list[str] = []
    if looked and (found := suspects(looked)):
        lines.append("The fault is most likely at one of these lines:")
        lines += [f"  {each.score}  {each.path}:{each.line}  {each.text}" for each in found[:5]]
    if searched and (survivors := search_of(searched).survivors):
        best = survivors[0]
        lines.append(f"\nWith this change every test passes:\n{best.diff}")
        lines.append(f'To have it made: flyball run --intent small_fix "{_short(story)}"')
    return "\n".join(lines)


def _short(story: Story) -> str:
    return re.sub(r'["`$\\]', "'", " ".join(story.request.split()))[:60]


def _plain(story: Story) -> list[str]:
    """What needs no words of ours."""
    found: list[str] = []
    for tool, title in (
        ("grep", "Where it stands:"),
        ("git_log", "What changed lately:"),
        ("dev_server_list", "What runs:"),
    ):
        if deed := story.last(tool):
            found.append(f"{title}\n{deed.text.strip()[:3000]}")
    return found


def _small_talk(story: Story) -> str:
    if re.search(r"\b(?:thanks?|thank you|thx|danke|merci|gracias)\b", story.request, re.I):
        return "You are welcome."
    return "Hello. Ask me why a test fails, or to repair it; I work without a model here."


def _needs_model(story: Story) -> str:
    return (
        "This needs a model, and none is configured: the built-in driver repairs what failing "
        f"tests show and answers from what it can see.\n{configure(story.request)}"
    )
