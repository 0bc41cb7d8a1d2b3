"""Runs through the real command line: real processes, signals, leases, journals and git."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from tests.governed import (
    EDIT,
    FIX,
    GOOD,
    READ,
    REVIEW,
    SUITE,
    Shell,
    call,
    checkpoint,
    objects,
    read_until,
    rest_of,
    say,
    script,
    shop,
    types,
)
from tests.repos import git


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(shop(tmp_path / "shop"), tmp_path)


def fix(shell: Shell, tmp_path: Path, *lines: dict[str, object], args: tuple[str, ...] = ()) -> str:
    """Start a scripted fix and give its name."""
    driver = script(tmp_path / "s.jsonl", *(lines or GOOD))
    done = shell("run", "fix it", "--intent", "small_fix", "--driver", driver, "--json", *args)
    assert not done.stderr, done.stderr
    return objects(done.stdout)[0]["run"]


@pytest.mark.exhaustive
@pytest.mark.slow
def test_the_scripted_demo_shows_what_a_governor_does_and_can_be_taken_back(tmp_path: Path):
    shell = Shell(tmp_path, tmp_path, TMPDIR=str(tmp_path))
    done = shell("demo", "--scripted")
    assert done.returncode == 0, done.stdout + done.stderr
    for words in (
        "✗ refused edit_diff",
        "◆ checkpoint:",
        "✓ verdict: red → green (tests that were there)",
        "✓ succeeded, committed ",
    ):
        assert words in done.stdout, words
    (project,) = tmp_path.glob("flyball-demo-*/shop")
    merge, revert = [
        line.partition("#")[0].split()[1:]
        for line in done.stdout.splitlines()
        if line.strip().startswith("flyball ")
    ]
    assert shell(*merge).returncode == 0
    assert "price * quantity" in (project / "cart.py").read_text()
    assert shell(*revert).returncode == 0
    assert "price * quantity" not in (project / "cart.py").read_text()


@pytest.mark.slow
def test_a_question_is_answered_by_another_process(shell: Shell, tmp_path: Path):
    run = fix(shell, tmp_path, args=("--approve",))
    shown = shell("runs", "show", run)
    assert "Accept the checkpoint?" in shown.stdout
    assert f"flyball approve {run}" in shown.stdout
    done = shell("approve", "last", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert objects(done.stdout)[-1]["type"] == "final"
    again = shell("approve", run)
    assert again.returncode == 2
    assert "has ended; it asks nothing" in again.stderr


MISREMEMBERED = FIX.replace("price, quantity in", "price, count in")
LONG = say("The total counts every piece. " + "More of it. " * 1_000)


@pytest.mark.exhaustive
@pytest.mark.slow
def test_a_run_that_is_picked_up_again_says_which_it_is_and_why_an_edit_failed(
    shell: Shell, tmp_path: Path
):
    failing = call("edit_diff", diff=MISREMEMBERED)
    lines = (READ, checkpoint(), failing, EDIT, SUITE, LONG, REVIEW)
    run = fix(shell, tmp_path, *lines, args=("--approve",))
    told = shell("approve", run).stdout
    assert told.startswith(f"run {run}: fix it\n  driven by scripted:")
    followed, shown = shell("runs", "follow", run).stdout, shell("runs", "show", run).stdout
    assert followed.startswith(f"run {run}: fix it\n")
    for story in (told, followed, shown):
        assert "edit_diff" in story
        assert "Nothing was changed. cart.py hunk 1 [no_match]" in story
        assert story.count("More of it.") < 400
        assert "characters are left out here" in story


@pytest.mark.exhaustive
@pytest.mark.slow
def test_a_planned_run_that_is_picked_up_again_says_of_which_card_each_line_is(
    shell: Shell, tmp_path: Path
):
    steps = [{"id": f"s{n}", "title": f"Part {n}", "success_criteria": ["green"]} for n in (1, 2)]
    plan = {"goal": "a right total", "steps": [steps[0], {**steps[1], "depends_on": ["s1"]}]}
    work = [{**line, "card": "s1"} for line in (READ, checkpoint(), EDIT, SUITE)]
    driver = script(
        tmp_path / "s.jsonl",
        {"role": "planner", "text": f"```json\n{json.dumps(plan)}\n```"},
        *work,
        {"card": "s1", "text": "Done."},
    )
    wanted = ("--intent", "feature_build", "--approve", "--driver", driver)
    run = objects(shell("run", "build it", *wanted, "--json").stdout)[0]["run"]
    told = shell("approve", run).stdout
    assert told.startswith(f"run {run}: build it\n")
    assert "  card s1: Part 1\n" in told
    assert "  ± s1: edited cart.py (+1 −1)" in told
    assert "▸ s1: execute: Making Changes" in told


def test_errors_are_one_sentence_and_json_where_asked(shell: Shell):
    done = shell("runs", "show", "nothing", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout) == {
        "code": "not-found",
        "message": "There is no run 'nothing'.",
        "hint": "This project has no runs yet.",
    }
    said = shell("run", "fix", "--model", "openai:gpt-5")
    assert said.returncode == 2
    assert said.stderr.startswith("error[config]: The openai model needs a key")
    assert said.stderr.count("\n") == 1


def relayed(tmp_path: Path) -> tuple[str, ...]:
    """A run whose driver keeps it waiting."""
    driver = f"relay:{tmp_path / 'relay'}"
    return ("run", "fix it", "--intent", "small_fix", "--driver", driver, "--json")


@pytest.mark.slow
def test_ctrl_c_pauses_and_resume_goes_on(shell: Shell, tmp_path: Path):
    with shell.begin(*relayed(tmp_path)) as process:
        run = read_until(process, "phase")[0]["run"]
        process.send_signal(signal.SIGINT)
        out = rest_of(process)
    assert process.returncode == 130
    assert objects(out)[-1]["kind"] == "person"
    assert shell("runs", "list").stdout.count("paused") == 1
    done = shell("runs", "resume", run, "--driver", script(tmp_path / "s", *GOOD))
    assert done.returncode == 0, done.stdout + done.stderr


ENDLESS = """\
import threading
import unittest


class Endless(unittest.TestCase):
    def test_for_ever(self):
        threading.Event().wait()
"""


@pytest.mark.exhaustive
@pytest.mark.slow
def test_a_second_ctrl_c_stops_at_once_and_nothing_is_lost(tmp_path: Path):
    shell = Shell(shop(tmp_path / "shop", {"test_endless.py": ENDLESS}), tmp_path)
    driver = script(tmp_path / "s", say("I will test.", **SUITE), say("It hangs."))
    args = ("run", "why", "--intent", "diagnose", "--driver", driver)
    with shell.begin(*args) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "I will test." in line:
                process.send_signal(signal.SIGINT)
            if "Ctrl-C again" in line:
                process.send_signal(signal.SIGINT)
                break
        out = rest_of(process)
    assert process.returncode == 130
    assert "Stopped at once; nothing is lost." in out
    resume = next(line.split()[1:4] for line in out.splitlines() if "flyball runs resume" in line)
    done = shell(*resume)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "✗ test was interrupted" in done.stdout


@pytest.mark.slow
def test_the_second_process_is_told_who_holds_the_run(shell: Shell, tmp_path: Path):
    with shell.begin(*relayed(tmp_path)) as process:
        run = read_until(process, "phase")[0]["run"]
        held = shell("runs", "resume", run)
        assert held.returncode == 1
        assert f"Run {run} is held by process {process.pid}" in held.stderr


@pytest.mark.exhaustive
def test_words_from_outside_reach_the_process_that_drives(shell: Shell, tmp_path: Path):
    with shell.begin(*relayed(tmp_path)) as process:
        run = read_until(process, "phase")[0]["run"]
        more = shell("extend", run, "5", "--why", "it is worth it")
        assert more.returncode == 0, more.stdout + more.stderr
        with shell.begin("runs", "follow", run, "--json") as follower:
            told = read_until(follower, "phase")
            cancelled = shell("runs", "cancel", run, "--why", "enough")
            assert cancelled.returncode == 0, cancelled.stderr
            out = rest_of(process)
            rest = rest_of(follower)
    assert process.returncode == 1
    ending = objects(out)
    assert ending[-1]["status"] == "cancelled"
    followed = [*told, *objects(rest)]
    assert follower.returncode == 1
    assert followed[-1] == ending[-1]
    assert "extension" in types(followed)


@pytest.mark.exhaustive
def test_following_tells_what_the_run_told(shell: Shell, tmp_path: Path):
    driver = script(tmp_path / "s", *GOOD)
    ran = shell("run", "fix it", "--intent", "small_fix", "--driver", driver, "--json")
    # Parts of sentences and progress are about the moment, and told to nobody later.
    told = objects(ran.stdout)
    lines = [line for line in told if "delta" not in line and line["type"] != "progress"]
    followed = shell("runs", "follow", "last", "--json")
    assert followed.returncode == 0
    assert objects(followed.stdout) == lines


@pytest.mark.slow
def test_a_killed_run_is_seen_and_resumed(shell: Shell, tmp_path: Path):
    with shell.begin(*relayed(tmp_path)) as process:
        run = read_until(process, "phase")[0]["run"]
    assert "interrupted" in shell("runs", "list").stdout
    followed = shell("runs", "follow", run)
    assert followed.returncode == 1
    assert "Nothing drives this run any more." in followed.stdout
    done = shell("runs", "resume", run, "--driver", script(tmp_path / "s", *GOOD))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.exhaustive
def test_an_exported_run_can_be_imported_shown_and_judged_elsewhere(shell: Shell, tmp_path: Path):
    run = fix(shell, tmp_path, READ, EDIT, checkpoint(), EDIT, say("Done."), SUITE, REVIEW)
    file = tmp_path / "run.jsonl"
    assert shell("runs", "export", run, "-o", str(file)).returncode == 0
    assert shell("runs", "export", run).stdout == file.read_text()
    assert shell("guards", str(file)).returncode == 0
    other = Shell(shop(tmp_path / "other"), tmp_path)
    assert f"Imported run {run}" in other("runs", "import", str(file)).stdout
    mine, theirs = (json.loads(s("runs", "show", run, "--json").stdout) for s in (shell, other))
    assert mine["cards"] == theirs["cards"]
    assert other("runs", "import", str(file)).returncode == 2
    strict = tmp_path / "strict.toml"
    strict.write_text("[budget]\nmax_tool_rounds = 1\n")
    judged = other("judge", str(file), "--policy", str(strict))
    assert "would be blocked (budget_spent)" in judged.stdout
    assert "0 of 4 calls would have been answered differently." in shell("judge", run).stdout


@pytest.mark.exhaustive
@pytest.mark.slow
def test_a_spent_budget_is_extended_and_the_run_goes_on(shell: Shell, tmp_path: Path):
    reads = [call("grep", q=word) for word in ("total", "price", "items", "result")]
    lines = [*reads, say("I need more calls."), checkpoint(), EDIT, SUITE, say("Right."), REVIEW]
    run = fix(shell, tmp_path, *lines, args=("--budget", "3"))
    asked = json.loads(shell("runs", "show", run, "--json").stdout)["questions"]
    assert asked[0]["kind"] == "extension"
    done = shell("extend", run, "6", "--why", "the fix is known")
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(shell("runs", "show", run, "--json").stdout)
    assert told["extensions"][0]["why"] == "the fix is known"
    assert told["budget"]["limit"] == 9


@pytest.mark.exhaustive
@pytest.mark.slow
def test_merging_and_pruning_are_commands_of_runs(shell: Shell, tmp_path: Path):
    run = fix(shell, tmp_path)
    merged = shell("runs", "merge", run)
    assert merged.returncode == 0, merged.stderr
    assert "price * quantity" in (shell.cwd / "cart.py").read_text()
    assert f"Flyball-Run: {run}" in git(shell.cwd, "log", "-1", "--format=%B")
    assert "success, merged " in shell("runs", "list").stdout

    def offered() -> list[str]:
        """What is offered after the merge, by the words that are typed."""
        (shown,) = objects(shell("runs", "show", run, "--json").stdout)
        return [" ".join(each["command"].split()[1:3]) for each in shown["next"]]

    assert offered() == ["card revert", "runs prune"]
    assert shell("card", "revert", run, "step-1").returncode == 0
    assert offered() == ["card apply", "runs prune"]
    assert shell("runs", "prune", run, "--abandon", "--yes").returncode == 0


@pytest.mark.exhaustive
def test_a_commit_is_called_after_what_it_does(shell: Shell, tmp_path: Path):
    noted = call("git", action="commit", message="Count every piece\n\nNot only the kinds.")
    for lines, subject in (
        (GOOD, "The total counts every piece"),
        ((*GOOD[:3], noted, *GOOD[3:]), "Count every piece"),
    ):
        run = fix(shell, tmp_path, *lines)
        said = git(shell.cwd, "log", "-1", "--format=%s", f"flyball/{run}").strip()
        assert said == subject


@pytest.mark.exhaustive
def test_a_card_that_was_taken_back_says_so_everywhere(shell: Shell, tmp_path: Path):
    run = fix(shell, tmp_path)
    account = shell.cwd / ".flyball" / "artifacts" / run / "step-1.json"
    told = json.loads(account.read_text())
    assert told["calls"] == {"read": 1, "checkpoint": 1, "edit_diff": 1, "test": 1}
    assert told["started_at"] <= told["ended_at"]
    assert told["steps"] == ["Multiply by the quantity.", "verify with python -m unittest"]
    suite = told["commands"][0]
    assert "OK" in suite["log"]
    assert (shell.cwd / suite["log_file"]).is_file()

    def seen() -> list[str]:
        """Where the card stands, as every way to look at it has it."""
        (shown,) = objects(shell("runs", "show", run, "--json").stdout)
        (listed,) = objects(shell("runs", "list", "--json").stdout)
        card = json.loads(shell("card", "show", run, "step-1", "--json").stdout)
        page = account.with_suffix(".md").read_text()
        words = shell("runs", "show", run).stdout + shell("runs", "list").stdout
        return [
            shown["cards"][0]["status"],
            listed["reverted"],
            card["status"],
            json.loads(account.read_text())["status"].partition(" ")[0],
            str("Status: reverted" in page),
            str("[reverted]" in words and "success, reverted" in words),
        ]

    kept = ["done", "", "kept", "succeeded", "False", "False"]
    assert seen() == kept
    assert shell("card", "revert", run, "step-1").returncode == 0
    assert seen() == ["reverted", "reverted", "reverted", "reverted", "True", "True"]
    assert shell("card", "apply", run, "step-1").returncode == 0
    assert seen() == kept


@pytest.mark.exhaustive
@pytest.mark.slow
def test_an_emitted_plan_is_a_checkpoint_and_a_go_ahead_is_noted(shell: Shell, tmp_path: Path):
    plan = {
        "goal": "The total counts every piece.",
        "findings": "total() ignores the quantity.",
        "tasks": [{"title": "Multiply by the quantity.", "files": ["cart.py"]}],
        "verify_with": ["python -m unittest"],
    }
    emitted = say(f"EMIT_PLAN {json.dumps(plan)}\nPROCEED")
    run = fix(shell, tmp_path, READ, emitted, call("PROCEED"), EDIT, SUITE, *GOOD[-2:])
    (shown,) = objects(shell("runs", "show", run, "--json").stdout)
    assert shown["status"] == "success"
    assert shown["cards"][0]["checkpoint"]["proposed_action"] == "Multiply by the quantity."
    assert shown["cards"][0]["checkpoint"]["files"] == ["cart.py"]
    assert "Go ahead." in [note["text"] for note in shown["cards"][0]["notes"] if "text" in note]


def test_an_image_that_was_pasted_travels_with_the_request(shell: Shell, tmp_path: Path):
    url = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
    driver = script(tmp_path / "s", say("I see."))
    done = shell("run", f"hello {url} you", "--intent", "conversational", "--driver", driver)
    assert done.returncode == 0, done.stderr
    (first, *_) = objects(shell("runs", "export", "last").stdout)
    text = json.dumps(objects(shell("runs", "export", "last").stdout)[:2])
    assert "hello (image 1) you" in text
    assert url in text
    assert first
