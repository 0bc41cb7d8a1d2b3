"""Repairing: run, localise, promise, search, apply, verify; and say no more than was seen."""

from __future__ import annotations

import re

from flyball.core.run.thread import SpokenCall
from flyball.core.terms.evidence import SuiteReport
from flyball.core.terms.finding import CandidateSearch, HoldingChange
from flyball.core.terms.phase import RECON, Phase
from flyball.drivers.protocol import Reply
from flyball.drivers.repair import sentences
from flyball.drivers.repair.sentences import Words, diagnosis
from flyball.drivers.repair.stopping import last_reply
from flyball.drivers.repair.thread_facts import MadeCall, ThreadFacts, has_run
from flyball.regex import regex

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
"""The same where the first look saw too little."""
PROVING = 0.2
"""The part that is kept for proving the change."""
PROMISE = (
    "Try small changes at these lines for up to {left:.0f} s, each in a scratch copy, the failing "
    "tests first; apply the best one under which every test passes."
)
_PROMISED = regex(r"for up to (\d+) s")


def ask_for(tool: str, **args: object) -> SpokenCall:
    """A call of a tool; the engine gives it an id."""
    return SpokenCall("", tool, args)


def next_move(story: ThreadFacts, phase: Phase, seconds: float) -> Reply:
    """What a repair does next in this phase: calls, or its last words."""
    if phase.is_in(RECON):
        return _look(story, phase, seconds)
    if phase is Phase.CHECKPOINT:
        return _promise(story, phase, seconds)
    if phase is Phase.EXECUTE:
        return _work(story, phase, seconds)
    if phase is Phase.VERIFY:
        return _prove(story, phase)
    return last_reply(story, phase, _last_words(story))


def _look(story: ThreadFacts, phase: Phase, seconds: float) -> Reply:
    """Test by test first, so that one without end cannot stop the rest; then, if need be, all."""
    looks = [deed.suite for deed in story.deeds if deed.tool == "localise_faults"]
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
    """Whether some tests were not run, and those that were say nothing."""
    return run is not None and not run.failed and not run.is_green


def _promise(story: ThreadFacts, phase: Phase, seconds: float) -> Reply:
    looked, run = story.last("localise_faults"), story.red_run
    if run is None or looked is None or not looked.suspects or story.count("checkpoint"):
        return last_reply(story, phase, _last_words(story))
    names = ", ".join(each.name for each in run.failures[:SHOWN_NAMES])
    more = f" and {run.failed - SHOWN_NAMES} more" if run.failed > SHOWN_NAMES else ""
    goal = f"Every test passes, {names}{more} among them."
    action = PROMISE.format(left=_left(story, seconds))
    return Reply(calls=(_checkpoint(goal, action, run, looked),))


def checkpoint_for(run: SuiteReport, looked: MadeCall, best: HoldingChange) -> SpokenCall:
    """A checkpoint about a change that is known to hold, for who did not ask for one yet."""
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
    """What is left of the time, less what proving the change will take."""
    spent = sum(run.elapsed for run in story.runs)
    left = seconds - spent - min(spent, seconds * PROVING)
    return min(max(LEAST_SECONDS, left), MOST_SEARCHING)


def _promised(story: ThreadFacts, seconds: float) -> float:
    """The time that the checkpoint named, whatever the settings say by now."""
    stated = story.last("checkpoint")
    found = _PROMISED.search(str(stated.args.get("proposed_action", ""))) if stated else None
    return float(found[1]) if found else round(_left(story, seconds), 1)


def _work(story: ThreadFacts, phase: Phase, seconds: float) -> Reply:
    searched = story.last("try_candidates")
    found = searched.search if searched else None
    if searched is None or (found is None and story.has_rested):
        return Reply(calls=(ask_for("try_candidates", seconds=_promised(story, seconds)),))
    if found is None or not found.holding:
        return last_reply(story, phase, _last_words(story))
    edits = [deed for deed in story.deeds if deed.tool == "edit_diff"]
    if not edits or (story.has_rested and not edits[-1].ok):
        return Reply(calls=(ask_for("edit_diff", diff=found.holding[0].diff),))
    change = _standing(story, found)
    if change is None:
        return last_reply(story, phase, _last_words(story))
    runs = [deed.suite for deed in story.since("edit_diff") if deed.tool == "test"]
    if not runs:
        return Reply(calls=_tests(story))
    if runs[-1] is None or not runs[-1].is_green:
        return Reply(calls=_take_back(found, change, edits))
    if len(found.holding) > 1 and not story.count("note"):
        return Reply(calls=(ask_for("note", text=sentences.alternatives(change, found)),))
    return last_reply(story, phase, _last_words(story))


def _tests(story: ThreadFacts) -> tuple[SpokenCall, ...]:
    """The failing tests first, then all."""
    run = story.red_run
    names = [each.name for each in run.failures] if run else []
    if 0 < len(names) <= MOST_SELECTED and all(_is_name(name) for name in names):
        return ask_for("test", args=names), ask_for("test")
    return (ask_for("test"),)


def _is_name(name: str) -> bool:
    return not name.startswith("-") and bool(re.fullmatch(r"[^\x00-\x1f]+", name))


def _take_back(
    found: CandidateSearch, change: HoldingChange, edits: list[MadeCall]
) -> tuple[SpokenCall, ...]:
    """The whole suite does not agree: back, and once more with the next candidate."""
    applied = [deed.args.get("diff") for deed in edits]
    tried = [each for each in found.holding if each.diff in applied]
    following = [each for each in found.holding if each.diff not in applied]
    calls = [ask_for("edit_diff", diff=reverse_diff(change.diff))]
    if following and len(tried) < MOST_APPLIED:
        calls.append(ask_for("edit_diff", diff=following[0].diff))
    return tuple(calls)


def reverse_diff(diff: str) -> str:
    """The diff that takes this one back."""
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
    """Run everything once more where the governor was not content; then leave it at that."""
    last = story.last("test")
    if story.is_rejected and (last is None or last.args):
        return Reply(calls=(ask_for("test"),))
    return last_reply(story, phase, _last_words(story))


def _last_words(story: ThreadFacts) -> Words:
    """What can be said, from what was seen."""
    searched, tested = story.last("try_candidates"), story.last("test")
    found = searched.search if searched else None
    change = _standing(story, found) if found else None
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


def _standing(story: ThreadFacts, found: CandidateSearch) -> HoldingChange | None:
    """The change that is in the tree now."""
    edits = [deed for deed in story.deeds if deed.tool == "edit_diff"]
    if not edits or not edits[-1].ok:
        return None
    return next((each for each in found.holding if each.diff == edits[-1].args.get("diff")), None)
