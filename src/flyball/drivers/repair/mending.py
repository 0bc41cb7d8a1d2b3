"""Repairing: run, localise, promise, search, apply, verify; and say no more than was seen."""

from __future__ import annotations

import re
from collections.abc import Sequence

from flyball.core.phase import RECON, Phase
from flyball.core.thread import SpokenCall
from flyball.drivers.protocol import Reply
from flyball.drivers.repair.saying import (
    could_not,
    diagnosis,
    nothing_red,
    only_together,
    plausible,
    reverse,
    suite_trouble,
)
from flyball.drivers.repair.story import (
    Deed,
    Ran,
    Search,
    Story,
    Survivor,
    ran,
    search_of,
    suspects,
)

MOST_SELECTED = 20
SHOWN_SUSPECTS = 10
LEAST_SECONDS = 5.0
LOOKING = 0.35
"""The part of the time that finding out what fails may take."""
PROVING = 0.2
"""The part that is kept for proving the change."""


def call(tool: str, **args: object) -> SpokenCall:
    return SpokenCall("", tool, args)


def mend(story: Story, phase: Phase, seconds: float) -> Reply:
    """The next move of a repair."""
    if phase.is_in(RECON):
        return _look(story, seconds)
    if phase is Phase.CHECKPOINT:
        return _promise(story, seconds)
    if phase is Phase.EXECUTE:
        return _work(story, seconds)
    if phase is Phase.VERIFY:
        return _prove(story)
    return Reply(text=_last_words(story))


def _look(story: Story, seconds: float) -> Reply:
    """Test by test first, so that one without end cannot stop the rest; then, if need be, all."""
    looked = story.last("localise_faults")
    if looked is None:
        limit = round(max(LEAST_SECONDS, seconds * LOOKING), 1)
        return Reply(calls=(call("localise_faults", seconds=limit),))
    run = ran(looked)
    if (run is None or run.is_green) and story.last("test") is None:
        return Reply(calls=(call("test"),))
    return _promise(story, seconds)


def _promise(story: Story, seconds: float) -> Reply:
    looked, run = story.last("localise_faults"), story.first_run
    if run is None or looked is None or not suspects(looked) or story.count("checkpoint"):
        return Reply(text=_last_words(story))
    return Reply(calls=(_checkpoint(run, looked, _left(story, seconds)),))


def _checkpoint(run: Ran, looked: Deed, left: float) -> SpokenCall:
    lines = suspects(looked)[:SHOWN_SUSPECTS]
    names = ", ".join(each.name for each in run.failures[:5])
    more = f" and {run.failed - 5} more" if run.failed > 5 else ""
    where = "\n".join(f"{each.score}  {each.path}:{each.line}  {each.text}" for each in lines)
    return call(
        "checkpoint",
        goal=f"Every test passes, {names}{more} among them.",
        findings=f"{diagnosis(run)}\nSuspicious lines:\n{where}",
        proposed_action=(
            f"Try small changes at these lines for up to {left:.0f} s, each in a scratch copy, "
            "the failing tests first; apply the best one under which every test passes."
        ),
        files=list(dict.fromkeys(each.path for each in suspects(looked))),
        verify_with=[run.runner],
    )


def _left(story: Story, seconds: float) -> float:
    """What is left of the time, less what proving the change will take."""
    run = story.first_run
    spent = run.elapsed if run else 0.0
    return max(LEAST_SECONDS, seconds - spent - min(spent, seconds * PROVING))


def _work(story: Story, seconds: float) -> Reply:
    searched = story.last("try_candidates")
    if searched is None:
        return Reply(calls=(call("try_candidates", seconds=round(_left(story, seconds), 1)),))
    found = search_of(searched)
    if not found.survivors:
        return Reply(text=_last_words(story))
    if not story.count("edit_diff"):
        calls = [call("edit_diff", diff=found.survivors[0].diff)]
        if len(found.survivors) > 1:
            calls.append(call("note", text=_alternatives(found)))
        return Reply(calls=tuple(calls))
    return _after_edit(story, found)


def _alternatives(found: Search) -> str:
    parts = [
        f"{each.path}:{each.line} {each.template}: {each.label}\n{each.diff}"
        for each in found.survivors[1:]
    ]
    return "Other changes under which every test passes:\n\n" + "\n".join(parts)


def _after_edit(story: Story, found: Search) -> Reply:
    edit = story.last("edit_diff")
    assert edit is not None
    if not edit.text.startswith("Changed"):
        return Reply(text=_last_words(story))
    runs = [deed for deed in story.since("edit_diff") if deed.tool == "test"]
    if not runs:
        return Reply(calls=_tests(story))
    last = ran(runs[-1])
    if last is not None and last.is_green:
        return Reply(text=_last_words(story))
    return _take_back(story, found, edit)


def _tests(story: Story) -> tuple[SpokenCall, ...]:
    """The failing tests first, then all."""
    run = story.first_run
    names = [each.name for each in run.failures] if run else []
    if 0 < len(names) <= MOST_SELECTED and all(_is_name(name) for name in names):
        return call("test", args=names), call("test")
    return (call("test"),)


def _is_name(name: str) -> bool:
    return not name.startswith("-") and bool(re.fullmatch(r"[^\x00-\x1f]+", name))


def _take_back(story: Story, found: Search, edit: Deed) -> Reply:
    """The whole suite does not agree: back, and once more with the next candidate."""
    diff = str(edit.args.get("diff", ""))
    applied = [deed.args.get("diff") for deed in story.deeds if deed.tool == "edit_diff"]
    following = [each for each in found.survivors if each.diff not in applied]
    calls = [call("edit_diff", diff=reverse(diff))]
    if len(applied) == 1 and following:
        calls.append(call("edit_diff", diff=following[0].diff))
    elif len(applied) > 1 and diff not in [each.diff for each in found.survivors]:
        return Reply(text=_last_words(story))
    return Reply(calls=tuple(calls))


def _prove(story: Story) -> Reply:
    last = next((deed for deed in reversed(story.deeds) if deed.tool == "test"), None)
    rejected = story.words and story.words[-1].startswith("This is not done yet")
    if rejected and (last is None or last.args):
        return Reply(calls=(call("test"),))
    return Reply(text=_last_words(story))


def _last_words(story: Story) -> str:
    """What can be said, from what was seen."""
    run, tested = story.first_run, story.last("test")
    if run is None or not (run.passed or run.failed):
        seen = tested or story.last("localise_faults")
        return suite_trouble(seen.text) if seen else "Nothing was looked at yet."
    last = ran(tested) if tested else None
    if run.is_green:
        return nothing_red(run) if last is None or last.is_green else only_together(last)
    looked, searched = story.last("localise_faults"), story.last("try_candidates")
    found = search_of(searched) if searched else None
    applied = _standing(story, found.survivors if found else ())
    if found and applied and last and last.is_green:
        return plausible(run, last, applied, len(found.survivors) - 1)
    return could_not(run, suspects(looked) if looked else (), found)


def _standing(story: Story, survivors: Sequence[Survivor]) -> Survivor | None:
    """The change that is in the tree now."""
    edits = [deed for deed in story.deeds if deed.tool == "edit_diff"]
    if not edits or not edits[-1].text.startswith("Changed"):
        return None
    return next((each for each in survivors if each.diff == edits[-1].args.get("diff")), None)
