"""What a driver may try, and how each attempt ends: through the command, on a real repository."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.e2e.scenario import BROKEN, FILES, MENDED, Stage, Told
from tests.repos import git

from flyball.run.event import CallReturned, DriverReplied, RunStarted, ThreadReset
from flyball.run.state import Ending

pytestmark = pytest.mark.slow


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def assert_mended(stage: Stage, told: Told) -> None:
    """The fix is committed and proven, one card, and the user's checkout is as it was."""
    assert told.exit == 0, told
    assert told.final["status"] == "success"
    assert told.final["proof"] == "red → green (tests that were there) (2 tests)"
    assert stage.committed("cart.py") == MENDED
    assert (stage.repo / "cart.py").read_text() == BROKEN
    assert git(stage.repo, "status", "--porcelain") == ""
    log = git(stage.repo, "log", "--format=%B", f"main..flyball/{stage.run}")
    assert log.count("Flyball-Card: step-1") == 1
    assert "Flyball-Evidence: " in log
    assert "\n\nred → green (tests that were there) (2 tests)\nchanged: " in log
    state = stage.state()
    assert state.response is not None
    assert state.cards[-1].ending is Ending.SUCCEEDED
    assert state.spend.calls <= state.budget.limit


def assert_rests(told: Told, kind: str) -> None:
    assert told.exit == 3, told
    assert told.question == kind
    assert told.of("final") == []


def test_a_plain_fix(stage: Stage) -> None:
    told = stage.start("fix")
    assert_mended(stage, told)
    assert told.phases == ["recon", "execute", "verify", "final", "succeeded"]
    assert told.denied == []
    assert [line["used"] for line in told.of("budget")][-1] == 3


def test_writing_in_recon_is_blocked_until_a_checkpoint(stage: Stage) -> None:
    told = stage.start("writes_in_recon")
    assert_mended(stage, told)
    assert told.denied == [("edit_diff", "out_of_phase"), ("write_file", "out_of_phase")]
    assert "State a checkpoint first" in told.of("decision")[0]["reason"]
    assert stage.committed("new.py") is None
    assert stage.state().spend.blocked == 2


def test_driver_that_only_edits_and_stops_gets_flyballs_own_verdict(stage: Stage) -> None:
    told = stage.start("done_unverified")
    assert told.exit == 0
    assert told.final["ending"] == "succeeded"
    assert told.final["goal_achieved"]
    assert stage.committed("cart.py") == MENDED


@pytest.mark.exhaustive
def test_an_edit_after_the_verification_must_be_verified(stage: Stage) -> None:
    told = stage.start("edits_after_verifying")
    assert_mended(stage, told)
    verdicts = [line for line in told.of("evidence") if line["kind"] == "verdict-report"]
    assert verdicts[-1]["passing"]


def test_proof_is_flyballs_own_where_the_driver_ran_what_cannot_fail(stage: Stage) -> None:
    stage.env["FLYBALL_ENABLE_BASH"] = "1"
    told = stage.start("cannot_fail")
    assert told.exit == 0
    assert told.final["proof"] == "red → green (tests that were there) (2 tests)"


def test_weakened_tests_are_a_question_and_a_no_has_them_restored(stage: Stage) -> None:
    told = stage.start("weakens_test")
    assert_rests(told, "weakened-tests")
    assert "test_none" in told.of("approval")[0]["text"]
    told = stage.then("deny")
    assert "were not accepted" in told.said
    assert_mended(stage, told)
    assert stage.committed("test_cart.py") == FILES["test_cart.py"]


@pytest.mark.exhaustive
def test_a_yes_to_weakened_tests_is_taken_and_told_with_the_verdict(stage: Stage) -> None:
    stage.start("weakens_test")
    told = stage.then("approve")
    assert told.exit == 0
    assert told.final["proof"] == "red → green (tests that were there) (1 test)"
    assert told.final["verdict"][-1].startswith("changed expectations accepted by ")
    assert "test_none" not in (stage.committed("test_cart.py") or "test_none")


@pytest.mark.exhaustive
def test_a_failing_test_that_is_made_to_agree_goes_back_and_nobody_is_asked(stage: Stage) -> None:
    told = stage.start("makes_the_test_agree")
    assert told.of("approval") == []
    assert "test_total still fails with the tests as they were before" in told.said
    assert_mended(stage, told)
    assert stage.committed("test_cart.py") == FILES["test_cart.py"]


@pytest.mark.exhaustive
def test_yes_to_everything_is_not_yes_to_weaker_tests(stage: Stage) -> None:
    told = stage.start("weakens_test", "the total is wrong", "--yes")
    assert_rests(told, "weakened-tests")


@pytest.mark.parametrize(
    ("script", "guard", "flags"),
    [
        ("repeats_itself", "repetition", ()),
        pytest.param("goes_in_circles", "cycle", (), marks=pytest.mark.exhaustive),
        ("revisits_trees", "revisited-tree", ()),
        pytest.param("no_progress", "no-progress", (), marks=pytest.mark.exhaustive),
        pytest.param("same_error", "error-stagnation", (), marks=pytest.mark.exhaustive),
        ("reads_on", "reading-on", ("--intent", "feature_build", "--no-plan")),
        pytest.param("failed_edits", "failed-edits", (), marks=pytest.mark.exhaustive),
        ("malformed_on", "refused", ()),
    ],
)
def test_each_guard_nudges_and_then_stops_the_run(
    stage: Stage, script: str, guard: str, flags: tuple[str, ...]
) -> None:
    told = stage.start(script, "the total is wrong", *flags)
    assert_rests(told, "guard")
    levels = [level for name, level in told.guards if name == guard]
    assert levels == ["soft", "hard"]
    assert guard in told.of("approval")[-1]["text"]
    assert stage.committed("cart.py") == BROKEN


def test_talk_without_a_call_is_nudged_and_bounded_but_no_guard_stops_it(stage: Stage) -> None:
    told = stage.start("monologue")
    assert_rests(told, "limit")
    assert told.guards == [("monologue", "soft")]
    assert "Make the next call now, or stop" in told.said


@pytest.mark.exhaustive
def test_the_time_of_a_phase_is_limited(stage: Stage) -> None:
    config = stage.place / "config.toml"
    config.write_text("[guards]\nbuild_seconds = 1.5\n")
    stage.env |= {"FLYBALL_CONFIG": str(config), "FLYBALL_ENABLE_BASH": "1"}
    told = stage.start("takes_too_long")
    assert_rests(told, "guard")
    assert ("time", "hard") in told.guards


@pytest.mark.exhaustive
def test_after_a_guard_a_new_thread_begins_from_a_hand_over(stage: Stage) -> None:
    assert_rests(stage.start("repeats_itself"), "guard")
    told = stage.then("runs", "resume")
    assert_mended(stage, told)
    assert [line["reason"] for line in told.of("thread")] == [
        "the repetition guard stopped this thread"
    ]
    (reset,) = [event for event in stage.events() if isinstance(event, ThreadReset)]
    assert "the total is wrong" in reset.text
    assert stage.state().cards[0].attempt == 2


@pytest.mark.exhaustive
def test_a_no_after_a_guard_ends_the_run(stage: Stage) -> None:
    stage.start("repeats_itself")
    told = stage.then("deny")
    assert told.exit == 1
    assert told.final["status"] == "stopped"


@pytest.mark.exhaustive
def test_malformed_calls_are_answered_by_name_and_may_be_mended(stage: Stage) -> None:
    told = stage.start("malformed")
    assert_mended(stage, told)
    assert [code for _, code in told.denied] == ["malformed"] * 4
    reasons = [d["reason"] for d in told.of("decision") if d["decision"] == "deny"]
    for reason, name in zip(reasons, ("no_such_tool", "`which`", "`path`", "`diff`"), strict=True):
        assert name in reason
    assert stage.state().spend.blocked == 4


@pytest.mark.exhaustive
def test_the_reserve_verifies_what_the_last_edit_changed(stage: Stage) -> None:
    told = stage.start("spends_it_all_on_edits", "the total is wrong", "--budget", "4")
    assert_mended(stage, told)
    assert told.denied == [("edit_diff", "reserve_only")]
    assert stage.state().spend.calls == 3


@pytest.mark.exhaustive
def test_a_spent_budget_is_summed_up_and_can_be_extended(stage: Stage) -> None:
    told = stage.start("spends_the_budget", "the total is wrong", "--budget", "2")
    assert_rests(told, "extension")
    assert told.denied == [("read", "budget_spent")]
    assert "two calls were not enough" in stage.state().cards[0].answer
    told = stage.then("extend", "5", "--why", "it is nearly there")
    assert_mended(stage, told)
    (extension,) = stage.state().budget.extensions
    assert (extension.calls, extension.why) == (5, "it is nearly there")


@pytest.mark.exhaustive
def test_a_spent_budget_that_is_not_extended_ends_the_run(stage: Stage) -> None:
    stage.start("spends_the_budget", "the total is wrong", "--budget", "2")
    told = stage.then("deny")
    assert told.exit == 1
    assert told.final["status"] == "stopped"


def test_a_greeting_needs_no_tools(stage: Stage) -> None:
    told = stage.flyball("run", "hello there", *stage.driven_by("greeting"))
    stage.run = told.of("run")[0]["run"]
    assert told.exit == 0
    assert told.of("intent")[0]["intent"] == "conversational"
    assert [d["decision"] for d in told.of("decision")] == ["deny"]
    assert told.final["message"] == "Hello! What shall we do?"
    assert not any(isinstance(event, CallReturned) for event in stage.events())
    assert stage.state().spend.calls == 0


def test_a_diagnosis_cannot_write(stage: Stage) -> None:
    told = stage.start("diagnose", "why is the total wrong?", "--intent", "diagnose")
    assert told.exit == 0
    assert told.denied == [("edit_diff", "out_of_phase"), ("write_file", "out_of_phase")]
    assert told.final["message"] == "The slice drops the first price."
    assert stage.worked("cart.py") == BROKEN


@pytest.mark.exhaustive
def test_a_diagnosis_that_finds_the_fix_asks_to_make_it(stage: Stage) -> None:
    told = stage.start("proposes_a_fix", "why is it wrong?", "--intent", "diagnose")
    assert_rests(told, "promotion")
    assert told.of("approval")[-1]["text"].startswith("The slice drops the first price.")
    assert stage.worked("cart.py") == BROKEN
    assert_mended(stage, stage.then("approve"))


@pytest.mark.exhaustive
def test_a_promotion_that_is_not_granted_changes_nothing(stage: Stage) -> None:
    stage.start("proposes_a_fix", "why is it wrong?", "--intent", "diagnose")
    told = stage.then("deny")
    assert told.exit == 0
    assert stage.worked("cart.py") == BROKEN


@pytest.mark.exhaustive
def test_yes_grants_the_promotion(stage: Stage) -> None:
    flags = ("--intent", "diagnose", "--yes")
    assert_mended(stage, stage.start("proposes_and_fixes", "why is it wrong?", *flags))


@pytest.mark.exhaustive
def test_a_destructive_call_needs_confirmation_and_a_person(stage: Stage) -> None:
    told = stage.start("destroys")
    assert_rests(told, "call")
    assert told.denied == [("git", "confirmation_missing")]
    assert told.of("approval")[0]["call"]["args"]["paths"] == ["cart.py"]
    assert stage.worked("cart.py") == MENDED
    told = stage.then("approve")
    assert any("Restored" in line.get("summary", "") for line in told.of("call"))
    assert_mended(stage, told)


@pytest.mark.exhaustive
def test_a_refused_destructive_call_is_not_made(stage: Stage) -> None:
    stage.start("destroys")
    told = stage.then("deny", "--why", "keep it")
    assert not any("Restored" in line.get("summary", "") for line in told.of("call"))
    assert_mended(stage, told)
    assert len(stage.state().cards[0].refused) == 1


@pytest.mark.exhaustive
def test_a_withheld_reply_waits_for_a_person(stage: Stage) -> None:
    assert_rests(stage.start("filtered"), "content-filter")
    assert_mended(stage, stage.then("runs", "resume"))


@pytest.mark.exhaustive
def test_a_reply_that_was_cut_off_is_continued(stage: Stage) -> None:
    told = stage.start("cut_off")
    assert "cut off" in told.said
    assert_mended(stage, told)


def test_a_driver_that_is_cut_off_for_ever_is_stopped(stage: Stage) -> None:
    told = stage.start("always_cut_off")
    assert told.exit == 3
    assert told.question == "limit"


@pytest.mark.exhaustive
def test_a_provider_that_fails_twice_and_then_works(stage: Stage) -> None:
    told = stage.start("fails_twice")
    assert_mended(stage, told)
    failed = [e for e in stage.events() if isinstance(e, DriverReplied) and e.finish == "error"]
    assert len(failed) == 2
    assert [line["message"] for line in told.of("error")] == ["overloaded", "overloaded"]


def test_without_tests_a_run_ends_unverified_and_says_what_would_verify_it(tmp_path: Path) -> None:
    stage = Stage(tmp_path, {"notes.md": "notes\n"})
    told = stage.start("nothing_to_verify_with", "write a note")
    assert told.exit == 4
    assert told.final["ending"] == "unverified"
    assert "the project has no tests" in told.final["message"]
    assert "`check`" in " ".join(told.final["issues"])
    assert stage.worked("notes.txt") == "a note\n"


@pytest.mark.exhaustive
def test_drifting_beyond_the_checkpoint_leads_back_to_it(stage: Stage) -> None:
    told = stage.start("drifts")
    assert_mended(stage, told)
    assert told.denied == [("write_file", "checkpoint_owed"), ("write_file", "out_of_phase")]
    assert told.phases[:5] == ["recon", "execute", "checkpoint", "execute", "verify"]
    assert stage.committed("extra4.py") is None
    assert stage.committed("extra3.py") == "N = 3\n"


@pytest.mark.exhaustive
def test_a_keep_region_stays(stage: Stage) -> None:
    told = stage.start("breaks_a_keep_region")
    assert_mended(stage, told)
    failed = [line["summary"] for line in told.of("call") if line.get("ok") is False]
    assert len(failed) == 2
    assert stage.committed("kept.py") == FILES["kept.py"]


@pytest.mark.exhaustive
def test_an_appeal_is_shown_to_a_person_who_may_grant_it(stage: Stage) -> None:
    told = stage.start("appeals")
    assert_rests(told, "appeal")
    assert "the rate has changed by law" in told.of("approval")[0]["text"]
    told = stage.then("approve")
    assert_mended(stage, told)
    assert "RATE = 8" in (stage.committed("kept.py") or "")


@pytest.mark.exhaustive
def test_an_appeal_that_is_refused_leaves_the_rule(stage: Stage) -> None:
    stage.start("appeals")
    told = stage.then("deny")
    assert told.denied == [("edit_diff", "keep_region")]
    assert_mended(stage, told)
    assert stage.committed("kept.py") == FILES["kept.py"]


@pytest.mark.exhaustive
def test_a_checkpoint_can_be_left_to_a_person(stage: Stage) -> None:
    assert_rests(stage.start("fix", "the total is wrong", "--approve"), "checkpoint")
    assert_mended(stage, stage.then("approve"))


@pytest.mark.exhaustive
def test_what_a_person_changed_while_the_run_rested_is_verified_again(stage: Stage) -> None:
    assert_rests(stage.start("weakens_test"), "weakened-tests")
    (tree,) = stage.place.glob("state/projects/*/runs/*/tree/cart")
    (tree / "cart.py").write_text("def total(prices):\n    return 1\n")
    told = stage.then("approve")
    assert told.final["ending"] == "unverified"


@pytest.mark.exhaustive
def test_the_log_says_how_the_run_was_begun(stage: Stage) -> None:
    stage.start("fix")
    first = stage.events()[0]
    assert isinstance(first, RunStarted)
    assert first.request == "the total is wrong"
    assert first.shell["driver"].startswith("scripted:")
