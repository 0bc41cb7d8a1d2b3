"""Every ending, on every surface that composes words from a run's state: they must agree."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec import to_builtins
from msgspec.structs import replace
from tests.governed import environment
from tests.repos import repository
from tests.simulation.verdicts import UNTESTED
from tests.unit.run.stories import Story, fixed

from flyball.acp.update import EditorUpdates, RunFiles
from flyball.app.archive import export_lines, import_run
from flyball.app.board.account import why_stopped
from flyball.app.board.watching import card_row
from flyball.app.project import Home, open_home
from flyball.app.runs.following import retold
from flyball.cli.acp import in_words
from flyball.cli.runs import runs
from flyball.cli.terminal import exits
from flyball.cli.terminal.story import Story as Terminal
from flyball.cli.terminal.story_words import ENDING_MARKS
from flyball.engine.telemetry import final
from flyball.hosts.hosted_run import stopped
from flyball.hosts.steps.view import standing_view
from flyball.hosts.words import ending_notice
from flyball.journal.protocol import JournalEntry
from flyball.plan.message import Status
from flyball.run.effect import CloseCard
from flyball.run.ending import ending_of, ending_of_card, status_of
from flyball.run.event import Cancelled, CardClosed, PauseAsked
from flyball.run.policy import Project
from flyball.run.state import Ending, RunState
from flyball.terms.intent import Intent
from flyball.verdict.formats import markdown


def succeeded() -> Story:
    return fixed().closes()


def answered() -> Story:
    return Story(Intent.DIAGNOSE).stops("Because of a.py.").closes()


def small_talk() -> Story:
    return Story(Intent.CONVERSATIONAL).stops("Hello.").closes()


def cut_short() -> Story:
    story = Story(Intent.STATUS_CHECK, budget=1).asks("read").returns()
    return story.asks("read").says(text="It is in a.py.").closes()


def nothing_changed() -> Story:
    story = Story().checkpoints()
    while not story.card.ending:
        story.stops("It is fixed, all tests pass.")
    return story.closes()


def unverified() -> Story:
    story = Story(project=Project(sandbox="kernel")).checkpoints().edits("t1").stops()
    return story.inspects(UNTESTED).closes()


def needs_you() -> Story:
    return Story().happens(PauseAsked(by="ann"))


def stopped_by_person() -> Story:
    return Story().checkpoints().edits("t1").happens(Cancelled(by="ann")).deliver()


def stopped_by_no() -> Story:
    return needs_you().refuses().says(text="I stop.").closes()


def failed() -> Story:
    return fixed().answers(CardClosed(card="step-1", error="git cannot write")).deliver()


def failed_as_a_whole() -> Story:
    """A plan whose step was shown, and that failed afterwards."""
    story = succeeded()
    response = story.state.response
    assert response is not None
    status = replace(response, status=Status.FAILED, goal_achieved=False, message="No goal.")
    story.state = replace(story.state, response=status)
    return story


STORIES = (
    (succeeded, Ending.SUCCEEDED),
    (answered, Ending.ANSWERED),
    (small_talk, Ending.ANSWERED),
    (cut_short, Ending.STOPPED),
    (nothing_changed, Ending.UNCHANGED),
    (unverified, Ending.UNVERIFIED),
    (needs_you, Ending.NEEDS_YOU),
    (stopped_by_person, Ending.STOPPED),
    (stopped_by_no, Ending.STOPPED),
    (failed, Ending.FAILED),
    (failed_as_a_whole, Ending.FAILED),
)


every_ending = pytest.mark.parametrize(
    ("tell", "ending"), STORIES, ids=[tell.__name__ for tell, _ in STORIES]
)


def lines_of(state: RunState) -> str:
    """Everything that the surfaces say of a run's end, as people and programs get it."""
    told: dict[str, Any] = {
        # A card that was shown says so, also in a run that failed as a whole.
        "row": [
            card_row(card, card.status)
            for card in state.cards
            if ending_of_card(card) is not Ending.SUCCEEDED
        ],
        "step": vars(standing_view(state, None)),
        "why": why_stopped(state, status_of(state)),
        "host": ending_notice(state, "govern"),
        "stop": to_builtins(stopped(state, "govern")),
        "comment": [
            markdown(card.verdict, "a → b")
            for card in state.cards
            if card.verdict and not card.verdict.is_shown
        ],
    }
    if state.response is not None:
        last = final(state, state.response)
        told |= {"final": last, "terminal": [line.plain for line in Terminal().tell(last)]}
    return json.dumps(told, default=str, ensure_ascii=False)


@pytest.mark.parametrize(
    ("tell", "ending"), STORIES, ids=lambda each: getattr(each, "__name__", "")
)
def test_every_surface_shows_the_one_ending(tell, ending):
    state = tell().state
    assert ending_of(state) is ending
    assert standing_view(state, None).ending == ending
    assert status_of(state) in exits.BY_STATUS
    if state.response is not None:
        line = final(state, state.response)
        assert (line["ending"], line["status"]) == (ending, status_of(state))
        last = next(said for said in Terminal().tell(line))
        assert last.mark == ENDING_MARKS[ending][1]


@pytest.mark.parametrize(
    ("tell", "ending"), STORIES, ids=lambda each: getattr(each, "__name__", "")
)
def test_success_is_said_of_nothing_that_was_not_shown(tell, ending):
    state = tell().state
    if ending is not Ending.SUCCEEDED:
        told = lines_of(state)
        assert "success" not in told.lower()
        assert "succeeded" not in told.lower()
        assert "✓" not in told


PRINTING = (
    ("show",),
    ("show", "--json"),
    ("show", "--card"),
    ("show", "--messages"),
    ("show", "--cost"),
    ("follow",),
    ("follow", "--json"),
    ("export", "--html"),
)
"""The commands of `flyball runs` that tell of one run, as people, editors and programs see it."""


@every_ending
def test_no_command_says_success_of_what_was_not_shown(tmp_path, tell, ending):
    story = tell()
    home = write_run(tmp_path, story)
    told = {words: printed(tmp_path, *words) for words in PRINTING}
    told["list",] = printed(tmp_path, "list", run="")
    told["editor",] = in_an_editor(home, story)
    assert all(told.values())
    claims = {words: sorted({*CLAIM.findall(said)}) for words, said in told.items()}
    # A step whose change was shown says so, also where it could not be committed.
    if not any(card.verdict and card.verdict.is_shown for card in story.state.cards):
        assert not {words: found for words, found in claims.items() if found}
    if ending is Ending.SUCCEEDED:
        assert claims["show",] and claims["show", "--json"] and claims["editor",]


@every_ending
def test_every_command_counts_the_same_calls(tmp_path, tell, ending):
    story = tell()
    write_run(tmp_path, story)
    shown = json.loads(printed(tmp_path, "show", "--json"))
    row = json.loads(printed(tmp_path, "list", "--json", run=""))
    # The last row sums up all cards: its name, then turns and calls.
    told = printed(tmp_path, "show", "--cost").splitlines()
    (total,) = [line.split() for line in told if line.split()[:1] == ["all"]]
    by_card = sum(card["calls"] for card in shown["cards"])
    counts = {shown["budget"]["used"], by_card, row["used"], int(total[2])}
    assert counts == {story.state.spend.calls}


def test_people_are_not_told_by_which_tool_a_model_changes_files(tmp_path):
    story = nothing_changed()
    told = in_an_editor(open_home(tmp_path, environment(tmp_path), {}), story)
    assert "not accepted" in told and "edit_diff" not in told


CLAIM = re.compile(r"(?i)\bsuccess(?:ful(?:ly)?)?\b|\bsucceed(?:s|ed)\b|✓")
PAGE_DATA = re.compile(r'id="exported">(.*?)</script>', re.DOTALL)


def write_run(place: Path, story: Story) -> Home:
    """Store a story as the run `r` of a new project, and return that project."""
    home = open_home(repository(place / "shop", {"a.py": ""}), environment(place), {})
    lines = export_lines("r", [JournalEntry(n, each) for n, each in enumerate(story.events, 1)])
    asyncio.run(import_run(home, b"\n".join(lines)))
    return home


def printed(place: Path, verb: str, *options: str, run: str = "r") -> str:
    """What `flyball runs` prints; of a page only what it tells, not how it is drawn."""
    file = place / "run.html"
    where = [run] if run else []
    is_page = "--html" in options
    argv = [verb, *where, *options, *([str(file)] if is_page else []), "--repo"]
    argv.append(str(place / "shop"))
    done = CliRunner(env=environment(place)).invoke(runs, argv)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    if not is_page:
        return done.output
    found = PAGE_DATA.search(file.read_text())
    assert found is not None
    return found[1]


def in_an_editor(home: Home, story: Story) -> str:
    """Everything that an editor is told of a run over ACP."""
    told = EditorUpdates(RunFiles(home, is_live=False), in_words())
    lines = retold([JournalEntry(n, each) for n, each in enumerate(story.events, 1)])
    updates = [update for line in lines for update in told.tell(line)]
    return "\n".join(update.model_dump_json() for update in updates)


@pytest.mark.parametrize(
    ("tell", "ending"), STORIES, ids=lambda each: getattr(each, "__name__", "")
)
def test_the_exit_code_is_zero_only_for_shown_and_answered(tell, ending):
    code = exits.BY_STATUS[status_of(tell().state)]
    assert (code == 0) == (ending in (Ending.SUCCEEDED, Ending.ANSWERED))


def test_a_closed_card_carries_the_ending_into_its_artifact():
    story = Story(Intent.DIAGNOSE).stops("Because of a.py.")
    (close,) = [owed.effect for owed in story.state.owed if isinstance(owed.effect, CloseCard)]
    assert close.ending == ending_of_card(story.card) == Ending.ANSWERED


def test_a_running_run_has_no_ending():
    state = Story().state
    assert ending_of(state) is None
    assert status_of(state) == "running"
