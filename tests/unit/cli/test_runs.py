"""`flyball runs` as a user types it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.governed import (
    EDIT,
    GOOD,
    READ,
    SUITE,
    checkpoint,
    environment,
    objects,
    say,
    script,
    shop,
)

from flyball.cli.audit import audit
from flyball.cli.run import run
from flyball.cli.runs import ELSEWHERE, runs
from flyball.errors import Conflict, FlyballError, NotFound, UsageError


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with one finished run and one that waits."""
    place = tmp_path_factory.mktemp("runs")
    shop(place / "shop")
    driver = script(place / "s", READ, EDIT, checkpoint(), EDIT, say("Done."), SUITE)
    for args in (("fix the total",), ("fix it\nagain", "--approve")):
        start(place, *args, "--intent", "small_fix", "--driver", driver)
    return place


def start(place: Path, *args: str) -> Result:
    repo = ("--repo", str(place / "shop"))
    return CliRunner(env=environment(place)).invoke(run, [*args, *repo])


def invoke(place: Path, *args: str) -> Result:
    repo = ("--repo", str(place / "shop"))
    return CliRunner(env=environment(place)).invoke(runs, [*args, *repo])


def names(place: Path) -> list[str]:
    return [each["run"] for each in objects(invoke(place, "list", "--json").stdout)]


def test_the_list_is_a_table_with_the_newest_first(place: Path):
    lines = invoke(place, "list").stdout.splitlines()
    assert lines[0].split() == ["run", "status", "intent", "request", "age", "calls"]
    assert "paused" in lines[1] and "fix it again" in lines[1]
    assert "success" in lines[2] and "2/15" in lines[2]


def test_a_project_without_runs_says_so_and_makes_no_files(tmp_path: Path):
    shop(tmp_path / "shop")
    assert "no runs yet" in invoke(tmp_path, "list").output
    assert invoke(tmp_path, "list", "--json").stdout == ""
    assert not (tmp_path / "state").exists()


def test_show_tells_cards_evidence_decisions_and_what_to_type(place: Path):
    done = names(place)[1]
    told = invoke(place, "show", done).output
    for words in (
        f"run {done}: fix the total",
        "▸ card step-1 [done] fix the total",
        "◆ The total counts every piece.",
        "✗ refused edit_diff",
        "● gate keep_regions_intact:",
        f"flyball runs merge {done}",
        f"flyball card revert {done} step-1",
    ):
        assert words in told, words
    waiting = invoke(place, "show", "last").output
    assert "? Accept the checkpoint?" in waiting
    assert "flyball approve" in waiting


def test_show_has_the_log_the_threads_and_the_diff(place: Path):
    done = names(place)[1]
    told = json.loads(
        invoke(
            place, "show", done, "--json", "--threads", "--messages", "--events", "--diff"
        ).output
    )
    assert [line["seq"] for line in told["log"]] == list(range(1, told["events"] + 1))
    assert {"driver", "tool", "governor"} <= {line["speaker"] for line in told["threads"]}
    assert [each["type"] for each in told["messages"]] == [
        "execute_task",
        "execution_results",
        "user_response",
    ]
    assert "+        result += price * quantity" in told["diff"]
    read = invoke(place, "show", done, "--threads", "--messages", "--events", "--diff").output
    assert "run-started" in read
    assert "→ read" in read
    assert "execution_results: step-1 done" in read
    assert "+        result += price * quantity" in read


@pytest.mark.parametrize("part", [slice(None), slice(0, 11), slice(-4, None)])
def test_a_run_is_found_by_a_part_of_its_name(place: Path, part: slice):
    done = names(place)[1]
    result = invoke(place, "show", done[part])
    unsure = isinstance(result.exception, UsageError) and "may mean" in str(result.exception)
    assert unsure or f"run {done}:" in result.output


def test_an_unclear_or_unknown_name_is_refused(place: Path):
    shared = names(place)[0][:2]
    assert "may mean" in str(invoke(place, "show", shared).exception)
    assert isinstance(invoke(place, "show", "zzz").exception, NotFound)


def test_a_run_that_waits_for_an_answer_keeps_waiting(place: Path):
    result = invoke(place, "resume", "last", "--json")
    assert result.exit_code == 3
    stands, line = objects(result.stdout)
    assert (stands["type"], stands["run"]) == ("resumed", names(place)[0])
    assert (line["type"], line["kind"]) == ("approval", "checkpoint")


def test_a_run_that_has_ended_is_not_resumed_or_cancelled(place: Path):
    done = names(place)[1]
    for command in ("resume", "cancel"):
        error = invoke(place, command, done).exception
        assert isinstance(error, Conflict), error
        assert "has ended" in str(error)


def test_follow_tells_a_resting_run_and_what_it_waits_for(place: Path):
    result = invoke(place, "follow", "last")
    assert result.exit_code == 3
    assert "? Accept the checkpoint?" in result.output
    assert "flyball approve" in result.output


def test_cancel_ends_a_resting_run(tmp_path: Path):
    shop(tmp_path / "shop")
    driver = script(tmp_path / "s", *GOOD)
    start(tmp_path, "fix", "--intent", "small_fix", "--driver", driver, "--approve")
    result = invoke(tmp_path, "cancel", "last", "--why", "not today", "--json")
    assert result.exit_code == 0, result.output
    assert objects(result.stdout)[-1]["status"] == "cancelled"
    told = json.loads(invoke(tmp_path, "show", "last", "--json").stdout)
    assert told["status"] == "cancelled"
    assert "not today" in told["response"]["message"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda lines: lines[1:], "neither an exported run nor a recording"),
        (lambda lines: [lines[0], *lines[2:]], "and 1 was expected"),
        (lambda lines: [*lines[:3], "{}", *lines[3:]], "Line 4 is not an event"),
        (lambda lines: [lines[0].replace('"version":', '"version":9'), *lines[1:]], "later"),
        (lambda lines: [lines[0].replace("journal", "recipe"), *lines[1:]], "not an exported run"),
        (lambda lines: lines[:1], "does not contain the start"),
        (lambda lines: [*lines[:3], lines[-1].replace('"seq":', '"seq":3,"x":')], "Event 3 does"),
    ],
)
def test_a_damaged_export_is_refused_with_its_line(place: Path, tmp_path: Path, change, words):
    exported = invoke(place, "export", names(place)[1]).stdout.splitlines()
    file = tmp_path / "run.jsonl"
    file.write_text("\n".join(change(exported)) + "\n")
    shop(tmp_path / "shop")
    error = invoke(tmp_path, "import", str(file)).exception
    assert isinstance(error, FlyballError), error
    assert words in str(error)
    assert invoke(tmp_path, "list", "--json").stdout == ""


def test_a_recording_is_imported_once_shown_and_never_believed(tmp_path: Path):
    edit = 'str_replace_editor create {"path": "/testbed/a.py", "file_text": "x"}'
    steps = [
        {"action": action, "observation": "ok", "thought": "", "response": ""}
        for action in ("ls", edit, "pytest")
    ]
    talk = [{"role": "user", "content": "Mend the total."}]
    shop(tmp_path / "shop")
    file = tmp_path / "a.traj"
    file.write_text(json.dumps({"trajectory": steps, "history": talk, "info": {}}))
    imported = json.loads(invoke(tmp_path, "import", str(file), "--json").stdout)
    assert imported["run"].startswith("recorded-")
    assert isinstance(invoke(tmp_path, "import", str(file)).exception, Conflict)
    shown = json.loads(invoke(tmp_path, "show", imported["run"], "--json").stdout)
    assert (shown["status"], shown["request"]) == ("cancelled", "Mend the total.")
    (card,) = shown["cards"]
    assert (card["proof"], card["evidence"]) == ("unverified", [])
    assert "deny" in [each["answer"] for each in card["decisions"]]
    assert isinstance(invoke(tmp_path, "resume", imported["run"]).exception, Conflict)


def test_an_imported_run_cannot_be_driven_on(place: Path, tmp_path: Path):
    file = tmp_path / "run.jsonl"
    assert invoke(place, "export", "last", "-o", str(file)).exit_code == 0
    shop(tmp_path / "shop")
    assert invoke(tmp_path, "import", str(file)).exit_code == 0
    error = invoke(tmp_path, "resume", "last").exception
    assert isinstance(error, Conflict)
    assert "is not here" in str(error)


def test_files_that_are_not_there_are_named(place: Path):
    assert isinstance(invoke(place, "import", "none.jsonl").exception, NotFound)
    error = invoke(place, "export", "last", "-o", "/nowhere/x").exception
    assert isinstance(error, UsageError)


def test_the_commands_about_trees_are_there():
    result = CliRunner().invoke(runs, ["--help"])
    assert set(ELSEWHERE) < set(result.output.split())
    for name in ELSEWHERE:
        assert CliRunner().invoke(runs, [name, "--help"]).exit_code == 0


def test_a_run_is_exported_as_a_trajectory(place: Path, tmp_path: Path):
    file = tmp_path / "trajectory.json"
    assert invoke(place, "export", "last", "--atif", "-o", str(file)).exit_code == 0
    told = json.loads(file.read_text())
    assert told["schema_version"].startswith("ATIF-v1.")
    assert told["steps"][0]["source"] == "user"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", told["steps"][0]["timestamp"])
    assert told["final_metrics"]["total_steps"] == len(told["steps"])


def test_a_run_is_exported_with_the_lines_that_it_wrote(place: Path):
    finished = names(place)[1]
    (told,) = objects(invoke(place, "export", finished, "--agent-trace").stdout)
    assert told["version"] == "0.1.0" and told["vcs"]["type"] == "git"
    (file,) = told["files"]
    (talk,) = file["conversations"]
    assert file["path"] == "cart.py" and talk["contributor"]["type"] == "ai"
    text = (place / "shop" / "cart.py").read_text().split("\n")
    wrong = next(n for n, line in enumerate(text, 1) if line.endswith("result += price"))
    assert talk["ranges"] == [{"start_line": wrong, "end_line": wrong}]


def test_an_audit_reads_who_wrote_the_lines(place: Path, tmp_path: Path):
    own, foreign = tmp_path / "own.jsonl", tmp_path / "foreign.json"
    invoke(place, "export", names(place)[1], "--agent-trace", "-o", str(own))
    by = {"type": "human"}
    ranges = [{"start_line": 1, "end_line": 3}, {"start_line": 9, "end_line": 9, "contributor": by}]
    talk = {"url": "https://x.example/1", "contributor": {"model_id": "a/b"}, "ranges": ranges}
    files = [{"path": "a.py", "conversations": [talk]}]
    record = {"version": "1.0", "id": "1", "timestamp": "2026-01-23T14:30:00Z", "files": files}
    foreign.write_text(json.dumps(record))
    given = [str(own), str(foreign), "--json"]
    done = CliRunner(env={"HOME": str(tmp_path / "home")}).invoke(audit, given)
    told = json.loads(done.stdout)
    assert {row["name"]: row["lines"] for row in told["models"]} == {
        "scripted": 1, "a/b": 3, "human": 1,
    }  # fmt: skip
    assert (told["notes"], told["findings"]) == ([], [])
