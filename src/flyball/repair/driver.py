"""The built-in driver: no key, no network, no model. It searches, and reports what it found."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from flyball.drivers.protocol import Reply, Request
from flyball.plan.library import LIBRARY
from flyball.regex import regex
from flyball.repair import sentences
from flyball.repair.sentences import Words, diagnosis
from flyball.repair.thread_facts import (
    CHANGES,
    GREETING,
    SERVERS,
    THANKS,
    MadeCall,
    ThreadFacts,
    clearly_asks_for_repair,
    has_run,
    is_about_failure,
    is_mere_question,
    may_ask_for_repair,
    name_asked_about,
    read_thread,
)
from flyball.repair.trial import PYTHON
from flyball.run.on_driver import STATE_IT
from flyball.run.thread import SpokenCall
from flyball.terms.evidence import SuiteReport
from flyball.terms.finding import CandidateSearch, HoldingChange, Match
from flyball.terms.phase import RECON, Phase

ASKED = 2
"""How often the governor asks for a checkpoint before it takes silence for the end."""


def last_reply(story: ThreadFacts, phase: Phase, words: Words) -> Reply:
    """Return the last message: in full if it ends the card, otherwise one sentence."""
    template = LIBRARY.get(story.template)
    is_planning = phase.is_in(RECON) or phase is Phase.CHECKPOINT
    may_build = template is not None and Phase.CHECKPOINT in template.phases
    if is_planning and may_build and [line.text for line in story.heard].count(STATE_IT) < ASKED:
        return Reply(text=words.brief)
    return Reply(text=words.whole)


_IMPORT = regex(r"^\s*(?:import|from|use|using|require|#include|export \{)\b")
_DEFINES = (
    r"\b(?:def|class|function|func|fn|type|struct|interface|trait|enum|module|const|let|var|val|"
    r"macro_rules!)\s+(?:\([^)]*\)\s*)?{name}\b"
    r"|^\s*(?:export\s+)?{name}\s*(?::[^=]+)?=(?!=)"
    r"|^\s*(?:export\s+)?(?:async\s+)?{name}\s*\([^)]*\)\s*\{{"
)
SHOWN = 12


def whereabouts(name: str, hits: Sequence[Match]) -> str:
    """Answer where a name is defined and used, from the lines that contain it."""
    if not hits:
        return f"Nothing here is called `{name}`."
    pattern = re.compile(_DEFINES.format(name=re.escape(name)))
    defined = [hit for hit in hits if pattern.search(hit.text)]
    imported = [hit for hit in hits if hit not in defined and _IMPORT.match(hit.text)]
    used = [hit for hit in hits if hit not in defined and hit not in imported]
    parts = _part(f"`{name}` is defined at:", defined)
    parts = parts or [f"`{name}` is not defined here, as far as a search can tell."]
    parts += _part("Imported at:", imported)
    parts += _part(f"Used at ({len(used)}):", used)
    return "\n".join(parts)


def _part(title: str, hits: list[Match]) -> list[str]:
    if not hits:
        return []
    more = [f"  … and {len(hits) - SHOWN} more."] if len(hits) > SHOWN else []
    return [title, *map(_words, hits[:SHOWN]), *more]


def _words(hit: Match) -> str:
    return f"  {hit.path}:{hit.line}  {hit.text.strip()}"


MOST_SELECTED = 20
MOST_APPLIED = 2
MOST_LOOKS = 2
SHOWN_SUSPECTS = 10
SHOWN_NAMES = 5
LEAST_SECONDS = 5.0
MOST_LOOKING = 600.0
MOST_SEARCHING = 3600.0
LOOKING = 0.35
"""The part of the time that finding out what fails may take."""
LOOKING_AGAIN = 0.45
"""The same for a second look, if the first saw too little."""
PROVING = 0.2
"""The part that is kept for proving the change."""
PROMISE = (
    "Try small changes at these lines for up to {left:.0f} s, each in a scratch copy, the failing "
    "tests first; apply the best one under which every test passes."
)
_PROMISED = regex(r"for up to (\d+) s")


def ask_for(tool: str, **args: object) -> SpokenCall:
    """Build a call of a tool; the engine gives it an id."""
    return SpokenCall("", tool, args)


def next_move(story: ThreadFacts, phase: Phase, seconds: float) -> Reply:
    """Return the next step of a repair in this phase: calls, or its last words."""
    if phase.is_in(RECON):
        return _run_tests(story, phase, seconds)
    if phase is Phase.CHECKPOINT:
        return _promise(story, phase, seconds)
    if phase is Phase.EXECUTE:
        return _work(story, phase, seconds)
    if phase is Phase.VERIFY:
        return _prove(story, phase)
    return last_reply(story, phase, _final_answer(story))


def _run_tests(story: ThreadFacts, phase: Phase, seconds: float) -> Reply:
    """Run tests one by one first, so that an endless one cannot block the rest; then all, if
    needed."""
    looks = [made.suite for made in story.actions if made.tool == "localise_faults"]
    if not looks or (_was_cut_short(looks[-1]) and len(looks) < MOST_LOOKS):
        limit = max(LEAST_SECONDS, seconds * (LOOKING_AGAIN if looks else LOOKING))
        return Reply(
            calls=(ask_for("localise_faults", seconds=round(min(limit, MOST_LOOKING), 1)),)
        )
    tested = story.last("test")
    if story.red_run is None and tested is None:
        return Reply(calls=(ask_for("test"),))
    if tested and tested.suite is None and story.last("check") is None:
        return Reply(calls=(ask_for("check"),))
    return _promise(story, phase, seconds)


def _was_cut_short(run: SuiteReport | None) -> bool:
    """Return whether some tests were not run, and the others do not decide."""
    return run is not None and not run.failed and not run.is_green


def _promise(story: ThreadFacts, phase: Phase, seconds: float) -> Reply:
    looked, run = story.last("localise_faults"), story.red_run
    if run is None or looked is None or not looked.suspects or story.count("checkpoint"):
        return last_reply(story, phase, _final_answer(story))
    names = ", ".join(each.name for each in run.failures[:SHOWN_NAMES])
    more = f" and {run.failed - SHOWN_NAMES} more" if run.failed > SHOWN_NAMES else ""
    goal = f"Make {names}{more} pass, and every other test."
    action = PROMISE.format(left=_left(story, seconds))
    return Reply(calls=(_checkpoint(goal, action, run, looked),))


def checkpoint_for(run: SuiteReport, looked: MadeCall, best: HoldingChange) -> SpokenCall:
    """Return a checkpoint about a change that is known to work, for drivers that state none."""
    goal = f"{best.path}:{best.line}, so that every test passes"
    action = f"{best.template}, {best.label}:\n{best.diff}"
    return _checkpoint(goal, action, run, looked)


def _checkpoint(goal: str, action: str, run: SuiteReport, looked: MadeCall) -> SpokenCall:
    lines = looked.suspects[:SHOWN_SUSPECTS]
    where = "\n".join(f"  {each.score:.2f}  {each.path}:{each.line}  {each.text}" for each in lines)
    return ask_for(
        "checkpoint",
        goal=goal,
        findings=f"{diagnosis(run)}\nSuspicious lines:\n{where}",
        proposed_action=action,
        files=list(dict.fromkeys(each.path for each in looked.suspects)),
        verify_with=[run.runner],
    )


def _left(story: ThreadFacts, seconds: float) -> float:
    """Return the remaining time, less the time that proving the change will take."""
    spent = sum(run.elapsed for run in story.runs)
    left = seconds - spent - min(spent, seconds * PROVING)
    return min(max(LEAST_SECONDS, left), MOST_SEARCHING)


def _promised(story: ThreadFacts, seconds: float) -> float:
    """Return the time stated in the checkpoint, even if the settings have changed."""
    stated = story.last("checkpoint")
    found = _PROMISED.search(str(stated.args.get("proposed_action", ""))) if stated else None
    return float(found[1]) if found else round(_left(story, seconds), 1)


def _work(story: ThreadFacts, phase: Phase, seconds: float) -> Reply:
    searched = story.last("try_candidates")
    found = searched.search if searched else None
    if searched is None or (found is None and story.has_rested):
        return Reply(calls=(ask_for("try_candidates", seconds=_promised(story, seconds)),))
    if found is None or not found.holding:
        return last_reply(story, phase, _final_answer(story))
    edits = [made for made in story.actions if made.tool == "edit_diff"]
    if not edits or (story.has_rested and not edits[-1].ok):
        return Reply(calls=(ask_for("edit_diff", diff=found.holding[0].diff),))
    change = _change_in_tree(story, found)
    if change is None:
        return last_reply(story, phase, _final_answer(story))
    runs = [made.suite for made in story.since("edit_diff") if made.tool == "test"]
    if not runs:
        return Reply(calls=_tests(story))
    if runs[-1] is None or not runs[-1].is_green:
        return Reply(calls=_revert_edits(found, change, edits))
    if len(found.holding) > 1 and not story.count("note"):
        return Reply(calls=(ask_for("note", text=sentences.alternatives(change, found)),))
    return last_reply(story, phase, _final_answer(story))


def _tests(story: ThreadFacts) -> tuple[SpokenCall, ...]:
    """Run the failing tests first, then all."""
    run = story.red_run
    names = [each.name for each in run.failures] if run and run.runner in PYTHON else []
    if 0 < len(names) <= MOST_SELECTED and all(_is_name(name) for name in names):
        return ask_for("test", args=names), ask_for("test")
    return (ask_for("test"),)


def _is_name(name: str) -> bool:
    return not name.startswith("-") and bool(re.fullmatch(r"[^\x00-\x1f]+", name))


def _revert_edits(
    found: CandidateSearch, change: HoldingChange, edits: list[MadeCall]
) -> tuple[SpokenCall, ...]:
    """Undo a candidate that the whole suite rejects, and try the next one."""
    applied = [made.args.get("diff") for made in edits]
    tried = [each for each in found.holding if each.diff in applied]
    following = [each for each in found.holding if each.diff not in applied]
    calls = [ask_for("edit_diff", diff=reverse_diff(change.diff))]
    if following and len(tried) < MOST_APPLIED:
        calls.append(ask_for("edit_diff", diff=following[0].diff))
    return tuple(calls)


def reverse_diff(diff: str) -> str:
    """Return the diff that takes this one back."""
    lines: list[str] = []
    for line in diff.split("\n"):
        if line.startswith(("--- a/", "+++ b/")):
            lines.append(line)
        elif head := re.match(r"@@ -(\S+) \+(\S+) @@(.*)", line):
            lines.append(f"@@ -{head[2]} +{head[1]} @@{head[3]}")
        elif line.startswith("-"):
            lines.append("+" + line[1:])
        elif line.startswith("+"):
            lines.append("-" + line[1:])
        else:
            lines.append(line)
    return "\n".join(lines)


def _prove(story: ThreadFacts, phase: Phase) -> Reply:
    """Run everything again if the governor was not satisfied; then stop."""
    last = story.last("test")
    if story.is_rejected and (last is None or last.args):
        return Reply(calls=(ask_for("test"),))
    return last_reply(story, phase, _final_answer(story))


def _final_answer(story: ThreadFacts) -> Words:
    """Return an answer from the observations so far."""
    searched, tested = story.last("try_candidates"), story.last("test")
    found = searched.search if searched else None
    change = _change_in_tree(story, found) if found else None
    last = tested.suite if tested else None
    if found and change and last and last.is_green:
        return sentences.claim_for_change(story.run, last, change, found)
    looked = story.last("localise_faults")
    run = story.red_run or next((run for run in reversed(story.runs) if has_run(run)), None)
    if run is None:
        seen = tested or looked
        return sentences.no_tests(seen.text if seen else "", story.last("check"))
    if not run.failed:
        return sentences.nothing_red(run, story.request)
    by_itself = looked.suite if looked else None
    if looked is None or by_itself is None:
        return sentences.only_python(run, story.request)
    if by_itself.is_green:
        return sentences.only_together(run)
    edited = story.last("edit_diff")
    if found and found.holding and edited and not edited.ok:
        return sentences.refused_change(run, found.holding[0], edited)
    return sentences.search_in_vain(run, looked.suspects, searched, story.request)


def _change_in_tree(story: ThreadFacts, found: CandidateSearch) -> HoldingChange | None:
    """Return the change that is currently in the tree."""
    edits = [made for made in story.actions if made.tool == "edit_diff"]
    if not edits or not edits[-1].ok:
        return None
    return next((each for each in found.holding if each.diff == edits[-1].args.get("diff")), None)


SECONDS = 20.0
LONGEST = 3000
Wanted = tuple[str, dict[str, object]]


def answer(story: ThreadFacts, request: Request, seconds: float) -> Reply:
    """Return a status, diagnosis or explanation based on observations."""
    if story.template == "answer":
        return Reply(text=_small_talk(story.request))
    if story.template not in ("status", "diagnose"):
        return last_reply(story, request.phase, sentences.needs_model(story.request))
    shown = {tool.name for tool in request.offered}
    if request.phase is not Phase.FINAL:
        for tool, args in _wanted(story, seconds):
            if tool in shown and not any(_same(made, tool, args) for made in story.actions):
                return Reply(calls=(ask_for(tool, **args),))
        if offered := _offer(story):
            return Reply(calls=(offered,))
    return Reply(text=_findings(story))


def _offer(story: ThreadFacts) -> SpokenCall | None:
    """Offer the change that was found to a person who reported a fault rather than only asked."""
    run, looked = story.red_run, story.last("localise_faults")
    best = _best(story)
    if best is None or run is None or looked is None or story.count("checkpoint"):
        return None
    return None if is_mere_question(story.request) else checkpoint_for(run, looked, best)


def _best(story: ThreadFacts) -> HoldingChange | None:
    searched = story.last("try_candidates")
    found = searched.search if searched else None
    return found.holding[0] if found and found.holding else None


def _same(made: MadeCall, tool: str, args: dict[str, object]) -> bool:
    return made.tool == tool and made.args == args


def _wanted(story: ThreadFacts, seconds: float) -> list[Wanted]:
    """Return what to inspect, in this order."""
    text = story.request
    is_status = story.template == "status"
    if name := name_asked_about(text):
        exactly: dict[str, object] = {"q": rf"\b{re.escape(name)}\b", "max": 60}
        found = [made for made in story.actions if made.tool == "grep" and made.matches]
        loosely: dict[str, object] = {"q": name, "max": 60, "literal": True, "ignore_case": True}
        return [("grep", exactly)] if found or not story.count("grep") else [("grep", loosely)]
    if CHANGES.search(text) and not is_about_failure(text):
        return [("git_log", {"max": 10})]
    return [("test", {})] if is_status else _causes(story, seconds)


def _causes(story: ThreadFacts, seconds: float) -> list[Wanted]:
    """Return what a diagnosis inspects: single tests, a change that would help, recent commits."""
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
    parts = [_servers(story), _tests_reply(story), _place(story), *_plain(story)]
    text = "\n\n".join(filter(None, parts))
    if not text:
        return sentences.needs_model(story.request).whole
    if story.template == "diagnose" and story.runs and story.red_run is None:
        text += (
            "\n\nThe tests do not show what you ask about. Write one that does.\n"
            f"{sentences.ask_model(story.request)}"
        )
    return text


def _tests_reply(story: ThreadFacts) -> str:
    made = story.last("test") or story.last("localise_faults")
    if made is None:
        return ""
    run = made.suite
    if run is None or not has_run(run):
        return f"No test could be run.\n{made.text.strip()[:LONGEST]}"
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
            lines.append('To apply it: flyball run "the tests fail, fix it"')
    return "\n".join(lines)


def _plain(story: ThreadFacts) -> list[str]:
    """Return answers that need little explanation."""
    found: list[str] = []
    if made := story.last("grep"):
        found.append(whereabouts(name_asked_about(story.request), made.matches))
    if made := story.last("git_log"):
        of = f" to {made.args['path']}" if "path" in made.args else ""
        found.append(f"The last changes{of}:\n{made.text.strip()[:LONGEST]}")
    if made := story.last("check"):
        found.append(f"What can be checked without tests:\n{made.text.strip()[:LONGEST]}")
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


MODEL = "repair"
NO_RESEARCH = "There is nothing to research without a model: the tests will show what fails."
RISK = "medium: found by search; it is only as good as the tests"
ASSUMPTIONS = (
    "the tests describe what is wanted",
    "the fault is in one place",
)
NOBODY = (
    "Nobody has reviewed this change yet: read its diff, and the alternatives that would also pass."
)


class RepairDriver:
    """Fixes what failing tests show, answers from evidence, and says when it cannot."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    async def think(self, request: Request, on_text: Callable[[str], None]) -> Reply:
        """Return the next move, from the thread alone: a run can resume in any process."""
        reply = self._reply(request)
        if reply.text:
            on_text(reply.text)
        return Reply(text=reply.text, calls=reply.calls, finish=reply.finish, model=MODEL)

    def _reply(self, request: Request) -> Reply:
        story = read_thread(request)
        if request.role == "reviewer":
            return review(story)
        if is_repair(story):
            if request.role == "researcher":
                return Reply(text=NO_RESEARCH)
            return next_move(story, request.phase, self._seconds)
        return answer(story, request, self._seconds)

    async def close(self) -> None:
        """Do nothing: no resource is held."""


def is_repair(story: ThreadFacts) -> bool:
    """Return whether failing tests may describe a request."""
    match story.template:
        case "fix":
            return may_ask_for_repair(story.request) or story.count("checkpoint") > 0
        case "feature" | "refactor" | "test-first":
            return clearly_asks_for_repair(story.request)
        case _:
            return False


def review(story: ThreadFacts) -> Reply:
    """Return the risk and assumptions of any change that was found by search."""
    if story.count("note"):
        return Reply(text=NOBODY)
    return Reply(calls=(ask_for("note", risk=RISK, assumptions=list(ASSUMPTIONS)),))
