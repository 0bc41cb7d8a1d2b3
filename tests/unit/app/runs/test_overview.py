"""The list of runs, what each cost, and where it spent its time."""

from __future__ import annotations

import itertools
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.contract.test_endings import STORIES, failed_as_a_whole
from tests.repos import repository
from tests.simulation.verdicts import REGRESSED
from tests.unit.journal.runs import begin, story, take
from tests.unit.run.stories import Story, fixed
from tests.web.test_feed import simulated

from flyball.app.archive import read_export
from flyball.app.people.decisions import MERGED, NotedDecision, note_decision
from flyball.app.project import Home, load_extra, open_home
from flyball.app.runs.description import cost_rows
from flyball.app.runs.history import FAIR, MOST, OUTCOMES, Stretch, fold_history
from flyball.app.runs.journals import POSTGRES
from flyball.app.runs.overview import UNREADABLE, overviews
from flyball.cli.terminal.show import print_costs
from flyball.errors import MissingExtra
from flyball.journal.protocol import JournalEntry
from flyball.journal.sqlite import SqliteJournal
from flyball.record.costs import costs
from flyball.run.state import Ending


@pytest.fixture
def home(tmp_path: Path) -> Home:
    repo = repository(tmp_path / "shop", {"a.txt": "one\n"})
    environ = {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    return open_home(repo, environ, {})


async def write_runs(home: Home, *names: str) -> None:
    journal = SqliteJournal(home.journal_path)
    for name in names:
        await begin(journal, await take(journal, name))
    await journal.close()


def damage(home: Home, *statements: str) -> None:
    with sqlite3.connect(home.journal_path) as db:
        for statement in statements:
            db.execute(statement)
    db.close()


@story
async def test_an_unreadable_run_is_shown_with_its_name_and_the_others_are_listed(
    home: Home,
) -> None:
    await write_runs(home, "r1", "r2", "r3", "r4")
    damage(
        home,
        "UPDATE runs SET seq = 99 WHERE run = 'r2'",
        "DELETE FROM events WHERE run = 'r3'",
        "UPDATE runs SET state = X'00', codec = 1 WHERE run = 'r3'",
        "UPDATE events SET body = X'FF' WHERE run = 'r4'",
        "UPDATE runs SET state = X'FF' WHERE run = 'r4'",
    )
    found = {each.run: each for each in await overviews(home)}
    assert found.keys() == {"r1", "r2", "r3", "r4"}
    assert found["r1"].status != UNREADABLE
    unreadable = {name for name, each in found.items() if each.status == UNREADABLE}
    assert unreadable == {"r2", "r3", "r4"}
    for name in unreadable:
        assert name in found[name].problem


@story
async def test_the_list_says_which_runs_were_merged(home: Home) -> None:
    await write_runs(home, "one", "two")
    note_decision(home, NotedDecision("one", 1.0, "ann", MERGED))
    assert {each.run: each.is_merged for each in await overviews(home)} == {
        "one": True,
        "two": False,
    }


@story
async def test_a_journal_that_cannot_be_written_can_be_listed(home: Home) -> None:
    await write_runs(home, "r1", "r2")
    shown = {each.run for each in await overviews(home)}
    files = sorted(home.state.rglob("*"))
    command = (
        'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
        if os.geteuid() == 0
        else 'chmod -R a-w "$0"; "$@"; code=$?; chmod -R u+w "$0"; exit $code'
    )
    lister = [
        str(Path(sys.executable).with_name("flyball")),
        "runs",
        "list",
        "--json",
        "--repo",
        str(home.repo),
    ]
    shell = ["sh", "-c", command, str(home.state.parents[1]), *lister]
    if os.geteuid() == 0:
        shell = ["unshare", "--mount", *shell]
    env = {**os.environ, **home.environ}
    done = subprocess.run(shell, env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert all(f'"run": "{run}"' in done.stdout for run in shown)
    assert sorted(home.state.rglob("*")) == files


STORED = Path(__file__).parents[3] / "golden" / "stored" / "v2" / "planned.jsonl"


def test_the_cost_of_a_run_is_one_table(capsys: pytest.CaptureFixture[str]) -> None:
    events = read_export(STORED.read_bytes())
    rows = cost_rows(JournalEntry(n, event) for n, event in enumerate(events, 1))
    assert rows[-1]["card"] == "all"
    assert rows[-1]["turns"] == sum(row["turns"] for row in rows[:-1])
    print_costs(rows)
    header, *lines = capsys.readouterr().out.splitlines()
    assert header.split() == [
        "card", "phase", "role", "turns", "calls", "blocked", "in", "cached", "out", "money",
        "driver", "s", "flyball", "s",
    ]  # fmt: skip
    assert any(line.split()[:4] == ["plan.1", "recon", "planner", "1"] for line in lines)
    assert lines[-1].split()[0] == "all"


def test_a_history_has_the_costs_of_its_log() -> None:
    events = read_export(STORED.read_bytes())
    assert fold_history(events).costs.rows() == costs(events) != ()


def test_a_database_without_its_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (POSTGRES, "flyball.journal.workers", "flyball.journal.connection"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    # None in this table is how the interpreter is told that a module is not there.
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra) as raised:
        load_extra(POSTGRES)
    assert raised.value.package == "psycopg"
    assert "flyball[cluster]" in raised.value.hint


def stretches(story: Story) -> list[Stretch]:
    """The stretches of a story of which each event takes a second."""
    timed = [replace(event, at=100.0 + n) for n, event in enumerate(story.events)]
    return list(fold_history(timed).stretches.rows())


def outcomes(story: Story) -> list[tuple[str, str]]:
    return [(each.phase, each.outcome) for each in stretches(story)]


def test_a_verify_that_sends_back_is_bad_and_one_that_passes_is_good():
    story = Story().checkpoints().edits("t1").stops().inspects(REGRESSED)
    story = story.edits("t2").tests().stops().inspects().closes()
    found = [each for each in outcomes(story) if each[0] == "verify"]
    assert found == [("verify", "bad"), ("verify", "good")]


# A run that failed as a whole has a step that was shown.
ENDED = [each for each in STORIES if each[0] is not failed_as_a_whole]
ENDED = [each for each in ENDED if each[1] is not Ending.NEEDS_YOU]


@pytest.mark.parametrize(("tell", "ending"), ENDED)
def test_the_last_stretch_of_a_run_says_its_one_ending(tell, ending):
    """And a look that showed nothing did not pass, though the run went on to its end."""
    story = tell()
    found = outcomes(story)
    assert found[-1][1] == OUTCOMES.get(ending, FAIR)
    shown = any(card.verdict and card.verdict.is_shown for card in story.state.cards)
    assert shown or ("verify", "good") not in found


def test_a_decision_says_what_its_call_is_about():
    story = Story().checkpoints().edits("t1")
    assert [each.about for each in fold_history(story.events).decisions][-1] == "a.py"


def test_every_second_is_in_one_stretch():
    found = stretches(fixed().closes())
    for before, after in itertools.pairwise(found):
        assert before.begun + before.seconds == after.begun
    assert found[0].phase == "recon"


def test_a_refused_call_is_marked_in_the_phase_that_refused_it():
    story = Story().asks("edit_diff")
    (found,) = stretches(story)
    assert len(found.refused) == 1
    assert found.begun <= found.refused[0] <= found.begun + found.seconds


@pytest.mark.parametrize("seed", range(4))
def test_however_long_a_run_is_what_is_drawn_is_short_and_leaves_out_no_refusal(seed: int):
    steps, _ = simulated(seed, least=120)
    told = fold_history(replace(event, at=10.0 + n) for n, (event, _) in enumerate(steps))
    assert len(told.stretches.rows()) <= MOST
    denied = [each for each in told.decisions if each.judged.answer == "deny"]
    assert sum(len(each.refused) for each in told.stretches.rows()) == len(denied)
