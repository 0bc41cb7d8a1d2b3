"""A run's card: one picture for the page and the terminal, whose words are the run's own."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace
from tests.contract.test_endings import STORIES, failed_as_a_whole
from tests.simulation.verdicts import QUESTIONED, verdict_of
from tests.unit.run.stories import Story
from tests.web.served import environment, make_shop, serving
from tests.web.test_endings_on_page import write_story

from flyball.app.project import open_home
from flyball.app.runs.summary import Summary, draw_card, summarise
from flyball.journal.sqlite import SqliteJournal
from flyball.run.ending import ending_of, status_of
from flyball.run.state import Ending

EVIL = "</text><script>alert(1)</script>\x00\x1b[31m &\ud800"


def shown(drawn: str) -> list[str]:
    """The words of a picture; it must be XML."""
    return ["".join(each.itertext()) for each in ElementTree.fromstring(drawn)]


def summary(story: Story) -> Summary:
    return summarise(story.state, status_of(story.state), "shop")


@pytest.mark.parametrize(("tell", "ending"), STORIES)
def test_a_card_says_the_one_ending(tell, ending):
    found = summary(tell())
    assert found.words == ending.words.capitalize()
    said = "\n".join(shown(draw_card(found)))
    assert found.words in said
    assert ("red → green" in said) == (ending is Ending.SUCCEEDED and bool(found.turned))


def test_nothing_is_shown_as_turned_in_a_run_that_failed():
    found = summary(failed_as_a_whole())
    assert (found.tone, found.turned, found.headline) == ("bad", (), "No goal.")


def test_what_stands_against_a_change_comes_with_both_texts():
    story = Story().checkpoints().edits("t1").stops().inspects(QUESTIONED)
    (question,) = summary(story).questions
    assert (question.before, question.after) == ("assert f() == 2", "assert f()")
    assert not question.is_blocking
    assert ending_of(story.state) is Ending.NEEDS_YOU
    assert summary(story).tone == "ask"


def test_what_was_taken_back_is_not_shown_as_turned():
    story = Story().checkpoints().edits("t1").stops().inspects(verdict_of()).closes()
    found = summarise(story.state, status_of(story.state), "shop", "reverted")
    assert (found.tone, found.why, found.turned) == ("plain", "Reverted.", ())
    assert "Reverted." in "\n".join(shown(draw_card(found)))


def test_words_of_others_stay_words():
    found = replace(summary(Story()), request=EVIL, turned=(EVIL * 9,) * 9, headline=EVIL)
    drawn = draw_card(found)
    root = ElementTree.fromstring(drawn.encode())
    assert {each.tag.rpartition("}")[2] for each in root.iter()} <= {
        "svg", "title", "style", "rect", "circle", "text"
    }  # fmt: skip
    assert "and 4 more" in drawn


def test_the_page_and_the_terminal_draw_the_same(tmp_path: Path):
    shop, _ = make_shop(tmp_path)
    environ = environment(tmp_path)
    journal = SqliteJournal(open_home(shop, environ, {}).journal_path)
    story = Story().checkpoints().edits("t1").stops().inspects(verdict_of()).closes()
    asyncio.run(write_story(journal, "run-1", story))
    asyncio.run(journal.close())
    argv = ["runs", "show", "run-1", "--card", "--repo", str(shop)]
    program = [sys.executable, "-c", "from flyball.cli import main; main()", *argv]
    printed = subprocess.run(program, env=environ, capture_output=True, text=True, check=True)
    with serving(environ, shop) as served:
        answer = served.ask("GET", "/run/run-1/card.svg")
        assert (answer.status, answer.headers["content-type"]) == (200, "image/svg+xml")
        assert answer.body.decode() == printed.stdout
        assert "test_a" in printed.stdout
        assert served.ask("GET", "/run/nothing/card.svg").status == 404
        assert served.ask("GET", "/run/run-1/card.svg", token="").status == 401
