"""`flyball run` as a user runs it: what it prints, how it ends, what it refuses."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.governed import (
    DROP,
    EDIT,
    GOOD,
    READ,
    REVIEW,
    SUITE,
    WEAKEN,
    call,
    checkpoint,
    environment,
    objects,
    say,
    script,
    shop,
    types,
)

from flyball.cli.run import INTENTS, run
from flyball.errors import ConfigError, FlyballError, NotFound, UsageError
from flyball.terms.intent import Intent

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    shop(tmp_path / "shop")
    return tmp_path


def invoke(place: Path, *args: str, env: dict[str, str] | None = None) -> Result:
    runner = CliRunner(env={**environment(place), **(env or {})})
    repo = () if "--repo" in args else ("--repo", str(place / "shop"))
    return runner.invoke(run, [*args, *repo])


def fails(place: Path, *args: str, env: dict[str, str] | None = None) -> FlyballError:
    error = invoke(place, *args, env=env).exception
    assert isinstance(error, FlyballError), error
    return error


def started(place: Path) -> bool:
    return any((place / "state").rglob("journal.sqlite"))


def test_the_intents_offered_are_the_intents_there_are():
    assert tuple(intent.value for intent in Intent) == INTENTS


@pytest.mark.slow
def test_a_fix_is_reported_line_by_line_and_ends_with_what_to_type(place: Path):
    driver = script(place / "s", READ, EDIT, checkpoint(), EDIT, say("Done."), REVIEW)
    result = invoke(place, "fix", "the", "total", "--intent", "small_fix", "--driver", driver)
    assert result.exit_code == 0, result.output
    told = result.output
    for words in (
        ": fix the total",
        "▸ recon: Investigating Codebase",
        "✗ refused edit_diff: `edit_diff` changes things",
        "◆ checkpoint: The total counts every piece.",
        "± edited cart.py (+1 −1)",
        "✓ verdict: red → green (tests that were there) (2 tests)",
        "ran before: unittest: 1 passed, 1 failed",
        "ran now: unittest: 2 passed, 0 failed",
        "red → green: test_cart.py::CartTest::test_three_pens",
        "✓ succeeded, committed ",
        "+        result += price * quantity",
        "2 of 15 calls used, 1 blocked",
        "flyball runs merge ",
        "flyball card revert ",
    ):
        assert words in told, words
    assert "\x1b" not in told


def test_json_is_telemetry_and_nothing_else(place: Path):
    driver = script(place / "s", *GOOD)
    result = invoke(place, "fix it", "--intent", "small_fix", "--driver", driver, "--json")
    lines = objects(result.stdout)
    assert result.exit_code == 0
    assert types(lines)[0] == "run"
    assert types(lines)[-1] == "final"
    assert {"phase", "budget", "call", "decision", "evidence", "checkpoint", "patch", "card"} <= {
        *types(lines)
    }
    numbers = [line["seq"] for line in lines if "seq" in line]
    assert numbers == sorted(numbers)
    spoken = "".join(line["delta"] for line in lines if "delta" in line)
    assert "The total counts every piece." in spoken


def test_a_checkpoint_waits_for_a_person(place: Path):
    driver = script(place / "s", *GOOD)
    args = ("fix it", "--intent", "small_fix", "--driver", driver, "--approve")
    result = invoke(place, *args, "--json")
    assert result.exit_code == 3
    last = objects(result.stdout)[-1]
    assert (last["type"], last["kind"]) == ("approval", "checkpoint")


@pytest.mark.slow
def test_yes_lets_a_diagnosis_make_its_fix(place: Path):
    driver = script(place / "s", *GOOD)
    result = invoke(place, "why?", "--intent", "diagnose", "--driver", driver, "--yes")
    assert result.exit_code == 0, result.output
    assert "succeeded" in result.output


@pytest.mark.slow
def test_yes_never_covers_tests_that_are_gone(place: Path):
    gone = call("edit_diff", diff=DROP)
    files = ("test_cart.py", "cart.py")
    driver = script(place / "s", READ, checkpoint(*files), EDIT, gone, SUITE, say("Done."))
    args = ("fix it", "--intent", "small_fix", "--driver", driver, "--yes")
    result = invoke(place, *args)
    assert result.exit_code == 3, result.output
    assert "test_nothing" in result.output
    assert "Accept that?" in result.output
    assert "flyball approve" in result.output


@pytest.mark.slow
def test_a_failing_test_that_is_made_to_agree_is_no_repair(place: Path):
    weaken = call("edit_diff", diff=WEAKEN)
    lines = (READ, checkpoint("test_cart.py"), weaken, SUITE, *[say("Done.")] * 4)
    args = ("fix it", "--intent", "small_fix", "--driver", script(place / "s", *lines), "--yes")
    result = invoke(place, *args)
    assert result.exit_code == 4, result.output
    assert "test_three_pens still fails with the tests as they were before" in result.output
    assert "flyball approve" not in result.output


def test_preview_shows_each_edit_and_waits(place: Path):
    driver = script(place / "s", *GOOD)
    result = invoke(place, "fix it", "--intent", "small_fix", "--driver", driver, "--preview")
    assert result.exit_code == 3
    assert "+        result += price * quantity" in result.output
    assert "flyball approve" in result.output


BARE = (
    "--- a/cart.py\n+++ b/cart.py\n@@\n"
    "-        result += price\n+        result += price * quantity\n"
)


def test_preview_shows_what_an_edit_would_make_of_the_file_not_what_was_written(place: Path):
    steps = READ, checkpoint(), call("edit_diff", diff=BARE)
    args = ("fix it", "--intent", "small_fix", "--driver", script(place / "s", *steps))
    shown = invoke(place, *args, "--preview").output
    assert "@@ -1,5 +1,5 @@" in shown
    assert "     for price, quantity in items:\n" in shown
    assert "-        result += price\n" in shown


def test_preview_refuses_what_cannot_be_applied_and_asks_no_person(place: Path):
    wrong = call(
        "edit_diff", diff=BARE.replace("-        result += price", "-        sum += price")
    )
    lines = READ, checkpoint(), wrong, call("edit_diff", diff=BARE)
    args = ("fix it", "--intent", "small_fix", "--driver", script(place / "s", *lines), "--json")
    told = objects(invoke(place, *args, "--preview").stdout)
    denied = [line for line in told if line["type"] == "decision" and line["decision"] == "deny"]
    assert ["Nothing was changed." in line["reason"] for line in denied] == [True]
    asked = [line for line in told if line["type"] == "approval"]
    assert len(asked) == 1
    assert "+        result += price * quantity" in asked[0]["call"]["preview"]


def test_edits_of_one_reply_are_previewed_one_upon_the_other(place: Path):
    again = BARE.replace(
        "+        result += price * quantity", "+        result += quantity * price"
    )
    second = again.replace("-        result += price\n", "-        result += price * quantity\n")
    both = {
        "calls": [*call("edit_diff", diff=BARE)["calls"], *call("edit_diff", diff=second)["calls"]]
    }
    lines = READ, checkpoint(), both
    args = ("fix it", "--intent", "small_fix", "--driver", script(place / "s", *lines), "--json")
    told = objects(invoke(place, *args, "--preview").stdout)
    assert not [line for line in told if line.get("decision") == "deny"]
    assert [line for line in told if line["type"] == "approval"]


def test_a_project_without_tests_ends_unverified(tmp_path: Path):
    shop(tmp_path / "shop", {"notes.txt": "one\n"})
    edit = call("edit_diff", diff="--- a/notes.txt\n+++ b/notes.txt\n@@ -1 +1 @@\n-one\n+two\n")
    driver = script(tmp_path / "s", READ, checkpoint("notes.txt"), edit, *[say("Done.")] * 5)
    result = invoke(tmp_path, "change it", "--intent", "small_fix", "--driver", driver)
    assert result.exit_code == 4, result.output
    assert "unverified" in result.output
    assert "although it is unproven" in result.output


def test_talk_needs_no_tools(place: Path):
    driver = script(place / "s", say("You are welcome."))
    result = invoke(place, "thanks!", "--driver", driver, "--json")
    lines = objects(result.stdout)
    assert result.exit_code == 0
    assert lines[-1]["ending"] == lines[-1]["status"] == "answered"
    assert "call" not in types(lines)


@pytest.mark.slow
def test_history_says_what_yes_means(place: Path):
    talk = place / "talk.json"
    proposal = "The total ignores quantities. Shall I fix the typo in cart.py?"
    talk.write_text(json.dumps([{"role": "assistant", "text": proposal}]))
    driver = script(place / "s", *GOOD)
    args = ("yes, do it", "--history", str(talk), "--driver", driver, "--json")
    intents = [line for line in objects(invoke(place, *args).stdout) if line["type"] == "intent"]
    assert intents[0]["intent"] != "conversational"


def test_an_image_goes_with_the_request(place: Path):
    (place / "page.png").write_bytes(PNG)
    driver = script(place / "s", say("I see one point."))
    args = ("what is this?", "--intent", "diagnose", "--image", str(place / "page.png"))
    assert invoke(place, *args, "--driver", driver).exit_code == 0


@pytest.mark.parametrize(
    ("args", "kind", "words"),
    [
        (("",), UsageError, "The request is empty"),
        (("fix", "--driver", "oracle:7"), UsageError, "no driver 'oracle:7'"),
        (("fix", "--driver", "scripted:missing.jsonl"), ConfigError, "missing.jsonl"),
        (("fix", "--driver", "relay:clipboard"), ConfigError, "clipboard program"),
        (("fix", "--driver", "model"), ConfigError, "No model is configured"),
        (("fix", "--model", "gpt-5"), ConfigError, "'gpt-5' names no model"),
        (("fix", "--model", "openai:gpt-5"), ConfigError, "OPENAI_API_KEY is not set"),
        (("fix", "--model", "anthropic:claude"), ConfigError, "ANTHROPIC_API_KEY is not set"),
        (("fix", "--model", "zai:glm"), ConfigError, "ZAI_API_KEY is not set"),
        (("fix", "--model", "a:b", "--driver", "relay:x"), UsageError, "cannot be combined"),
        (("fix", "--image", "none.png"), NotFound, "none.png"),
        (("fix", "--repo", "nowhere"), NotFound, "nowhere"),
        (("fix", "--history", "none.json"), NotFound, "none.json"),
    ],
)
def test_what_cannot_start_does_not_start(
    place: Path, args: tuple[str, ...], kind: type[FlyballError], words: str
):
    error = fails(place, *args)
    assert isinstance(error, kind)
    assert words in str(error)
    assert not started(place)


def test_a_picture_that_is_none_is_refused(place: Path):
    (place / "page.png").write_text("not a picture")
    error = fails(place, "fix", "--image", str(place / "page.png"))
    assert "not a PNG" in str(error)


@pytest.mark.slow
def test_a_driver_may_be_settled_for_good(place: Path):
    driver = script(place / "s", *GOOD)
    args = ("fix it", "--intent", "small_fix")
    assert invoke(place, *args, env={"FLYBALL_DRIVER_USE": driver}).exit_code == 0


@pytest.mark.slow
def test_in_place_works_in_the_checkout(place: Path):
    driver = script(place / "s", *GOOD)
    args = ("fix it", "--intent", "small_fix", "--driver", driver, "--in-place")
    result = invoke(place, *args)
    assert result.exit_code == 0, result.output
    assert "price * quantity" in (place / "shop" / "cart.py").read_text()
    assert "runs merge" not in result.output


def test_a_worktree_leaves_the_checkout_alone(place: Path):
    driver = script(place / "s", *GOOD)
    assert invoke(place, "fix", "--intent", "small_fix", "--driver", driver).exit_code == 0
    assert "price * quantity" not in (place / "shop" / "cart.py").read_text()


def test_what_a_driver_says_cannot_move_the_cursor(place: Path):
    driver = script(place / "s", say("\x1b[2Jhello\x07 \x9b31mthere"))
    result = invoke(place, "hello", "--intent", "conversational", "--driver", driver)
    assert "hello" in result.output
    assert not {"\x1b", "\x07", "\x9b"} & set(result.output)


def test_secrets_of_the_environment_are_not_streamed(place: Path):
    key = "sk-proj-Zp4fQ8vT2mXc7LwR9yNb5KdJ"
    driver = script(place / "s", say(f"the key is {key} indeed"))
    args = ("hello", "--intent", "conversational", "--driver", driver, "--json")
    result = invoke(place, *args, env={"OPENAI_API_KEY": key})
    assert "indeed" in result.output
    assert key not in result.output


def test_secrets_in_the_request_are_not_journaled(place: Path):
    key = "sk-proj-Zp4fQ8vT2mXc7LwR9yNb5KdJ"
    driver = script(place / "s", say("Hello."))
    args = (f"is {key} right?", "--intent", "conversational", "--driver", driver, "--json")
    result = invoke(place, *args, env={"OPENAI_API_KEY": key})
    assert result.exit_code == 0
    assert key not in result.output
    (journal,) = (place / "state").rglob("journal.sqlite")
    assert key.encode() not in journal.read_bytes()
