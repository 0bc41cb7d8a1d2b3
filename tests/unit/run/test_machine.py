"""Stories of one card, and what becomes of it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.simulation.verdicts import REGRESSED
from tests.simulation.world import bash, call, suite
from tests.unit.run.stories import CARD, Story, fixed, stated

from flyball.errors import IllegalEvent
from flyball.guards.guard import GuardLimits
from flyball.plan.message import Status
from flyball.plan.template import EvidenceSchema
from flyball.run.effect import Inspect, Perform, Think
from flyball.run.event import (
    EVENTS,
    Answered,
    Appealed,
    CallInterrupted,
    CallReturned,
    Cancelled,
    CardClosed,
    CardEvent,
    DriverFailed,
    DriverReplied,
    EvidenceSubmitted,
    EvidenceTaken,
    Extended,
    Finish,
    IntentRead,
    Messaged,
    Noted,
    PauseAsked,
    Resumed,
    RunStarted,
    ThreadReset,
    Usage,
    WorkspaceFailed,
    WorkspaceReady,
    name_of,
)
from flyball.run.machine import advance, moves, phase_of
from flyball.run.policy import OnWeakened, Policy, Project
from flyball.run.state import Asking, Ending, RunStage, RunState
from flyball.run.table import MOVES, ROWS, RUN_MOVES, RUN_ROWS
from flyball.terms.call import Access, Call, Outcome, PathFact
from flyball.terms.evidence import CheckKind, CheckReport, HttpReport, Strength, Weakened
from flyball.terms.intent import Intent
from flyball.terms.phase import Phase

P = Phase


@pytest.mark.parametrize(
    ("told", "phase"),
    [
        (Story, P.ANALYZE_CODE),
        (lambda: Story().asks("read").returns(), P.ANALYZE_CODE),
        (lambda: Story().stops(), P.ANALYZE_CODE),
        (lambda: Story().stops().stops(), P.CHECKPOINT),
        (lambda: Story().asks("read").returns().stops(), P.CHECKPOINT),
        (lambda: Story().stops().checkpoints(), P.EXECUTE),
        (lambda: Story().checkpoints(), P.EXECUTE),
        (lambda: Story().checkpoints().edits("t1"), P.EXECUTE),
        (lambda: Story().checkpoints().edits("t1").stops(), P.VERIFY),
        (lambda: Story().checkpoints().edits("t1").stops().tests(red=True), P.EXECUTE),
        (lambda: Story().checkpoints().edits("t1").stops().tests(), P.VERIFY),
        (lambda: Story().checkpoints().edits("t1").stops().tests().inspects(), P.FINAL),
        (fixed, P.FINAL),
        (lambda: fixed().closes(), P.SUCCEEDED),
        (lambda: Story().happens(Cancelled(by="ann")), P.CANCELLED),
        (lambda: Story(Intent.CONVERSATIONAL), P.FINAL),
        (lambda: Story(Intent.FEATURE_BUILD).stops(), P.RESEARCH),
        (lambda: Story(Intent.FEATURE_BUILD).stops().stops(), P.DESIGN),
        (lambda: Story(Intent.FEATURE_BUILD).stops().stops().stops(), P.CHECKPOINT),
        (lambda: Story(Intent.DIAGNOSE).stops(), P.FINAL),
    ],
)
def test_story_ends_in_phase(told, phase):
    assert told().phase is phase


def test_a_whole_fix_succeeds_with_one_response():
    story = fixed().closes()
    assert story.card.strength is Strength.RED_GREEN
    assert story.card.status == "done"
    assert story.state.response is not None
    assert story.state.response.status is Status.SUCCESS
    assert story.state.response.message == "done"
    assert story.state.has_ended
    assert story.state.is_at_rest
    assert phase_of(story.state) is P.SUCCEEDED
    assert phase_of(story.state, "nobody") is None
    assert moves(story.state) == ()


def test_a_write_in_recon_is_blocked_and_a_checkpoint_demanded():
    story = Story().asks("edit_diff")
    assert story.phase is P.ANALYZE_CODE
    assert story.card.judged[0].code == "out_of_phase"
    assert "State a checkpoint first" in story.said
    assert story.state.spend.blocked == 1
    assert story.state.spend.calls == 0
    assert story.owed == ["Think"]


def test_done_without_proof_is_rejected_then_called_unverified():
    policy, bare = Policy(review=False, max_rejections=2), Project(sandbox="kernel")
    story = Story(policy=policy, project=bare).checkpoints().edits("t1").stops()
    assert "`check`" in story.said
    story.stops().stops()
    assert story.card.ending is Ending.UNVERIFIED
    assert story.owed == ["CloseCard"]
    story.closes()
    assert story.phase is P.FAILED
    assert story.card.status == "review"
    assert story.state.response is not None
    assert story.state.response.goal_achieved is False


def test_an_edit_after_the_verification_makes_it_stale():
    story = Story().checkpoints().edits("t1").tests().edits("t2").stops()
    assert (story.phase, story.owed) == (P.VERIFY, ["Inspect"])


def test_returning_to_a_verified_tree_does_not_revive_its_evidence():
    story = Story().checkpoints().edits("t1").tests().edits("t2").edits("t1").stops()
    assert story.owed == ["Inspect"]


def test_a_run_of_no_tests_is_no_pass():
    story = Story().checkpoints().edits("t1").tests(ran=False).stops()
    assert (story.phase, story.owed) == (P.VERIFY, ["Inspect"])


def test_without_tests_the_work_ends_unverified_after_a_syntax_check():
    story = Story(project=Project(sandbox="kernel")).checkpoints().edits("t1").stops()
    assert "`check`" in story.said
    story.asks("check").returns(
        "", CheckReport(id="c", tree="t1", kind=CheckKind.SYNTAX, command="c", exit_code=0)
    )
    story.stops()
    assert story.card.ending is Ending.UNVERIFIED
    assert "no tests" in story.card.ending_reason


def test_stopping_without_a_change_is_no_success():
    story = Story().checkpoints().stops("It is fixed, all tests pass.")
    assert story.owed == ["Inspect"]
    story.answers(EvidenceTaken(card=CARD, evidence=(suite("s", "t0", red=True),)))
    assert story.phase is P.EXECUTE
    assert "Nothing was changed; 1 test still fails: test_a. So this is not done." in story.said
    assert story.asks("read").returns().stops().card.ending is Ending.UNCHANGED
    assert story.card.ending_reason == "Nothing was changed; 1 test still fails: test_a."
    story = Story().stops().stops()
    assert "Nothing may be changed before a checkpoint" in story.said
    assert story.stops().card.ending is Ending.UNCHANGED


def test_edits_that_cancel_out_leave_nothing_to_prove():
    story = Story().checkpoints().edits("t1").edits("t0").stops()
    story.answers(EvidenceTaken(card=CARD, evidence=(suite("s", "t0", red=False),)))
    story.stops()
    assert story.card.ending is Ending.UNCHANGED


def test_calls_of_one_reply_are_judged_in_turn():
    story = Story().asks("read", "grep", "test", "edit_diff")
    assert [e.call.tool for e in story.effects if isinstance(e, Perform)] == ["read", "grep"]
    story.returns().returns()
    assert [c.tool for c in story.card.in_flight] == ["test"]
    story.returns()
    assert story.card.judged[-1].answer == "deny"
    assert story.owed == ["Think"]


def test_the_reserve_is_kept_for_verification():
    story = Story(budget=4).checkpoints().edits("t1").asks("read").returns().asks("edit_diff")
    assert story.card.judged[0].code == "reserve_only"
    story.tests().stops().inspects().closes()
    assert story.phase is P.SUCCEEDED
    assert story.state.spend.calls == 3


def test_a_spent_budget_gets_one_summary_and_an_offer_to_extend():
    story = Story(budget=1).asks("read").returns().asks("read", "grep")
    assert story.card.is_summing_up
    assert story.effects == (
        Think(card=CARD, role="executor", phase=P.ANALYZE_CODE, text_only=True),
    )
    story.stops("this is how far I got")
    assert story.card.question.kind is Asking.EXTENSION
    assert story.card.answer == "this is how far I got"
    with pytest.raises(IllegalEvent, match="how many calls"):
        story.grants()
    story.happens(Extended(by="ann", calls=2, why="nearly there"))
    assert story.phase is P.ANALYZE_CODE
    assert story.state.budget.limit == 3
    assert story.asks("read").owed == ["Perform"]


def test_a_refused_extension_ends_the_run():
    story = Story(budget=1).asks("read").returns().asks("read").stops("so far").refuses()
    assert story.card.ending is Ending.STOPPED
    changed = Story(budget=3).checkpoints().edits("t1").tests(red=True).tests(red=True)
    changed.asks("test").stops("so far").inspects(REGRESSED)
    assert changed.card.question.kind is Asking.EXTENSION
    assert changed.refuses("leave it").card.ending is Ending.STOPPED


def test_a_budget_that_is_spent_on_a_look_ends_with_its_answer():
    story = Story(Intent.DIAGNOSE, budget=1).asks("read").returns().asks("read")
    assert story.stops("it is the cache").closes().phase is P.SUCCEEDED
    assert story.state.response.message == "it is the cache"
    silent = Story(Intent.DIAGNOSE, budget=1).asks("read").returns().asks("read").stops("")
    assert silent.card.question.kind is Asking.EXTENSION


def test_work_that_is_done_when_the_budget_is_spent_is_a_success():
    story = Story(budget=3).checkpoints().edits("t1").tests().asks("test")
    assert (
        story.returns("", suite("e9", "t1", red=False)).asks("test").stops("it counts").inspects()
    )
    assert story.card.ending is Ending.SUCCEEDED
    assert story.card.answer == "it counts"


def test_work_left_at_a_spent_budget_is_reported_after_the_extension():
    story = Story(budget=3).checkpoints().edits("t1").tests(red=True).tests(red=True)
    story.asks("test").stops("so far").inspects(REGRESSED)
    assert "This is not done yet" in story.said
    story.happens(Extended(by="ann", calls=5, why="nearly there"))
    assert story.phase is P.EXECUTE
    assert story.owed == ["Think"]


def test_a_reviewer_whose_budget_is_spent_has_spoken():
    story = Story(policy=Policy(), budget=3).checkpoints().edits("t1").tests().tests()
    story.stops().inspects()
    story.asks("read").stops("no risk that I can see")
    assert story.card.review.risk == "no risk that I can see"
    assert story.phase is P.FINAL


def test_an_extension_during_work_is_reported_and_one_during_another_pause_is_kept():
    story = Story().happens(Extended(by="ann", calls=5, why="big one"))
    assert story.state.budget.limit == 20
    assert "added 5 calls" in story.said
    story.happens(PauseAsked(by="ann")).happens(Extended(by="ann", calls=1, why="more"))
    assert story.phase is P.PAUSED
    assert story.state.budget.limit == 21


def test_a_conversation_needs_no_tools():
    story = Story(Intent.CONVERSATIONAL).says(call("1", "read"), text="hello")
    assert story.state.spend.blocked == 1
    assert story.closes().phase is P.SUCCEEDED
    assert story.state.response.message == "hello"


def test_a_conversation_survives_a_failing_driver():
    story = Story(Intent.CONVERSATIONAL).answers(DriverFailed(card=CARD, error="x")).closes()
    assert story.phase is P.SUCCEEDED


def test_diagnose_may_not_write_but_may_propose():
    story = Story(Intent.DIAGNOSE).asks("edit_diff")
    assert "this run is read-only" in story.said
    story.checkpoints()
    assert "Saved as a proposal" in story.said
    story.stops("it is the cache")
    assert story.card.question.kind is Asking.PROMOTION
    assert story.card.question.text.startswith("it is the cache")
    story.grants()
    assert story.phase is P.EXECUTE
    assert story.state.intent is Intent.SMALL_FIX
    assert story.state.budget.limit == 15


def test_a_refused_promotion_goes_back_to_the_driver():
    story = Story(Intent.DIAGNOSE).checkpoints().stops("the cache?").refuses("which cache?")
    assert story.phase is P.ANALYZE_CODE
    assert "wants nothing changed" in story.said
    story.asks("read").returns()
    assert story.stops("the cache of pages").closes().phase is P.SUCCEEDED
    assert story.state.response.message == "the cache of pages"


def test_a_refused_promotion_ends_with_the_answer_where_nothing_is_left_to_spend():
    story = Story(Intent.DIAGNOSE, budget=1).checkpoints().asks("read").returns()
    story.stops("it is the cache").refuses()
    assert story.closes().phase is P.SUCCEEDED
    assert story.card.answer == "it is the cache"


def test_yes_grants_promotions_and_doubtful_calls():
    yes = Policy(review=False, assume_yes=True)
    assert Story(Intent.DIAGNOSE, yes).checkpoints().phase is P.EXECUTE
    doomed = call("d", "delete_file", destructive="deletes a.py", confirmed=True)
    assert Story(policy=yes).checkpoints().says(doomed).owed == ["Perform"]


def test_a_checkpoint_can_wait_for_a_person():
    story = Story(policy=Policy(review=False, approve_checkpoint=True)).checkpoints()
    assert story.card.question.kind is Asking.CHECKPOINT
    story.refuses("name the tests too")
    assert story.phase is P.CHECKPOINT
    assert story.card.checkpoint is None
    assert "name the tests too" in story.said
    assert story.checkpoints().grants().phase is P.EXECUTE


def test_a_doubtful_call_waits_for_a_person():
    doomed = call("d", "delete_file", destructive="deletes a.py", confirmed=True)
    story = Story().checkpoints().says(doomed)
    assert story.card.question.kind is Asking.CALL
    assert story.card.question.call == doomed
    story.grants()
    assert story.owed == ["Perform"]
    refused = Story().checkpoints().says(doomed).refuses()
    assert "A person refused" in refused.said
    assert refused.says(doomed).card.judged[0].code == "refused_by_a_person"


def test_a_doubtful_call_waits_until_nothing_is_in_flight():
    asked = bash("b", "read-only", "ask")
    story = Story(policy=Policy(review=False, bash=True)).says(call("1", "read"), asked)
    assert story.phase is P.ANALYZE_CODE
    assert story.returns().phase is P.PAUSED


def test_scope_drift_is_marked_then_sends_back_to_the_checkpoint():
    story = Story(policy=Policy(review=False, max_scope_drift=1)).checkpoints().edits("t1", "b.py")
    assert story.card.drift == ("b.py",)
    story.asks("edit_diff", path="c.py")
    assert story.phase is P.CHECKPOINT
    assert story.card.judged[0].code == "checkpoint_owed"
    assert story.checkpoints("c.py").card.drift == ()


def test_a_directory_in_the_checkpoint_names_what_lies_in_it():
    story = Story().checkpoints("src/").edits("t1", "src/deep/x.py")
    assert story.card.drift == ()


WEAK = Weakened("tests/test_a.py", 3, "new-skip", "test_a is skipped")


def compared(*findings: Weakened, policy: Policy | None = None) -> Story:
    """A fix in a log from before verdicts were taken: only texts were compared."""
    return Story(policy=policy).checkpoints().edits("t1").tests().stops().compares(*findings)


def test_without_a_verdict_weakened_tests_are_a_question():
    story = compared(WEAK)
    assert story.card.question.kind is Asking.WEAKENED_TESTS
    assert "tests/test_a.py:3" in story.card.question.text
    story.refuses()
    assert story.phase is P.EXECUTE
    assert "Restore them" in story.said


def test_without_a_verdict_accepted_weakening_goes_on_to_the_end():
    story = compared(WEAK).grants()
    assert story.phase is P.FINAL
    assert story.closes().phase is P.SUCCEEDED


def test_without_a_verdict_policy_may_allow_or_refuse_weakening():
    allow = Policy(review=False, weakened_tests=OnWeakened.ALLOW)
    assert compared(WEAK, policy=allow).phase is P.FINAL
    story = compared(WEAK, policy=Policy(review=False, weakened_tests=OnWeakened.REFUSE))
    assert story.phase is P.EXECUTE
    assert "weakened" in story.said


def test_without_a_verdict_the_proof_is_what_was_run():
    story = compared().closes()
    assert story.phase is P.SUCCEEDED
    assert story.card.label == "tests went from red to green"


def test_a_gate_of_the_template_sends_the_work_back_then_asks_a_person():
    story = Story().checkpoints()
    for n in (1, 2, 3):
        story.edits(f"t{n}").tests().stops().inspects(secrets_added=("a.py:1",))
        if n < 3:
            assert story.phase is P.EXECUTE
            assert "no_secrets_added" in story.said
    assert story.card.question.kind is Asking.FAILURE
    assert story.card.failures_in_row == 3


def test_a_reviewer_speaks_before_the_end():
    story = Story(policy=Policy()).checkpoints().edits("t1").tests().stops().inspects()
    assert story.card.role == "reviewer"
    assert story.phase is P.VERIFY
    story.asks("edit_diff")
    assert story.card.judged[0].code == "out_of_phase"
    story.asks("test")
    assert story.card.judged[0].code == "out_of_role"
    story.asks("note")
    story.answers(Noted(card=CARD, call="note-0", text="one caller"))
    assert story.owed == ["Think"]
    story.stops("looks fine")
    assert [remark.role for remark in story.card.remarks] == ["reviewer", "reviewer"]
    assert story.phase is P.FINAL
    assert story.card.answer == "done"


def test_a_reviewer_that_names_the_risk_is_not_asked_again():
    story = Story(policy=Policy()).checkpoints().edits("t1").tests().stops().inspects()
    story.says(call("n", "note"), text="as promised")
    story.answers(Noted(card=CARD, call="n", risk="low", assumptions=("none",)))
    assert story.phase is P.FINAL
    assert story.card.review.risk == "low"
    assert story.owed == ["CloseCard"]


def test_a_person_reviews_where_the_template_wants_it():
    story = Story()
    template = replace(story.card.template, human_review=True)
    card = replace(story.card, template=template)
    story.state = replace(story.state, cards=(card,))
    story.checkpoints().edits("t1").tests().stops().inspects()
    assert story.card.question.kind is Asking.REVIEW
    again = Story()
    again.state = story.state
    assert again.refuses("rename it").phase is P.EXECUTE
    assert story.grants().phase is P.FINAL


def test_a_final_answer_is_asked_for_when_the_first_was_rejected():
    story = Story().checkpoints().edits("t1").stops("fixed!").inspects(REGRESSED)
    story.edits("t2").stops("fixed!").inspects()
    assert story.effects == (Think(card=CARD, role="executor", phase=P.FINAL, text_only=True),)
    assert story.stops("now it is").closes().state.response.message == "now it is"


@pytest.mark.parametrize(
    ("finish", "kind"),
    [(Finish.CONTENT_FILTER, Asking.CONTENT_FILTER)],
)
def test_a_withheld_reply_rests(finish, kind):
    story = Story().says(finish=finish)
    assert story.card.question.kind is kind
    assert story.happens(Resumed(by="ann")).phase is P.ANALYZE_CODE


def test_a_cut_off_reply_is_continued_a_few_times():
    policy = Policy(
        review=False, max_continues=1, guards=GuardLimits(monologue_soft=0, monologue_hard=0)
    )
    story = Story(policy=policy).says(text="and", finish=Finish.LENGTH)
    assert "cut off" in story.said
    story.says(text="and", finish=Finish.LENGTH)
    assert story.card.question.kind is Asking.LIMIT
    assert "max_continues" in story.card.question.text
    assert story.grants().owed == ["Think"]


def test_talk_without_end_is_a_monologue():
    story = Story().says(finish=Finish.TOOL_CALLS).says(finish=Finish.TOOL_CALLS)
    assert "Careful" in story.said
    assert story.card.tripped[0].guard == "monologue"
    story.says(finish=Finish.TOOL_CALLS)
    assert "Make the next call now, or stop" in story.said
    for _ in range(6):
        story.says(finish=Finish.TOOL_CALLS)
    assert story.card.question.kind is Asking.LIMIT
    assert "max_continues" in story.card.question.text


def test_who_talks_after_a_change_has_it_looked_at():
    story = Story().checkpoints().edits("t1")
    for _ in range(3):
        story.says(finish=Finish.TOOL_CALLS)
    assert story.phase is P.VERIFY
    story.inspects()
    assert story.card.ending is Ending.SUCCEEDED
    assert story.owed == ["Think"]
    again = Story().checkpoints().edits("t1").tests().stops().inspects(REGRESSED)
    for _ in range(3):
        again.says(finish=Finish.TOOL_CALLS)
    assert again.owed == ["Think"]
    assert "This is not done yet" in again.said


def test_a_reply_that_is_cut_off_is_no_monologue():
    story = Story()
    for _ in range(8):
        story.says(text="and then", finish=Finish.LENGTH)
    assert story.card.memory.monologues == 0
    assert "cut off" in story.said
    assert story.says(text="…", finish=Finish.LENGTH).card.question.kind is Asking.LIMIT


def test_mistakes_made_at_once_are_one_mistake():
    story = Story().says(*(call(f"r{n}", "read", fault=f"no {n}") for n in range(9)))
    assert story.owed == ["Think"]
    assert story.card.memory.refused == 1


def test_what_follows_a_failure_in_the_same_reply_is_not_made():
    story = Story().checkpoints().asks("edit_diff", "read", "test").returns(ok=False)
    assert [each.tool for each in story.card.in_flight] == ["read"]
    assert "`test` was not made, and not counted: it depends on `edit_diff` of a.py" in story.said
    assert story.returns().owed == ["Think"]
    assert story.state.spend.calls == 2
    refused = Story().says(call("r", "read", fault="no"), call("t", "test"))
    assert refused.owed == ["Perform"]
    assert [each.code for each in refused.card.judged] == ["malformed", ""]
    red = Story().checkpoints().asks("test", "edit_diff")
    red.returns("", suite("e", "t0", red=True), ok=False)
    assert [each.tool for each in red.card.in_flight] == ["edit_diff"]


def test_a_thread_that_grows_unreported_is_noticed_by_estimate():
    story = Story(policy=Policy(review=False, context_tokens=1_000))
    story.says(call("a", "read"), estimate=100).returns()
    story.says(call("b", "read", "b.py"), estimate=900).returns()
    assert story.owed == ["ResetThread"]


def test_an_empty_reply_is_malformed():
    story = Story().says()
    assert "empty" in story.said
    assert story.card.memory.refused == 1


def test_a_driver_that_talks_too_often_is_stopped():
    story = Story(policy=Policy(review=False, max_turns=2)).asks("read").returns().asks("grep")
    assert story.card.question.kind is Asking.LIMIT
    assert "max_turns" in story.card.question.text


def test_a_failing_driver_is_asked_again_later_and_later():
    story = Story(policy=Policy(review=False, max_driver_errors=2))
    story.answers(DriverFailed(card=CARD, error="overloaded"))
    assert story.effects == (Think(card=CARD, role="executor", phase=P.ANALYZE_CODE, wait=1.0),)
    story.says(text="hm", finish=Finish.ERROR)
    assert story.effects[0].wait == 2.0
    story.answers(DriverFailed(card=CARD, error="overloaded"))
    assert story.card.question.kind is Asking.DRIVER
    assert story.refuses().card.ending is Ending.STOPPED


def test_a_failure_that_is_no_use_repeating_rests_at_once():
    story = Story().answers(DriverFailed(card=CARD, error="no key", retryable=False))
    assert story.card.question.kind is Asking.DRIVER


def test_malformed_calls_are_answered_and_guarded():
    broken = Call(id="x", tool="reed", digest="reed", fault="There is no tool `reed`.")
    story = Story()
    for _ in range(5):
        story.says(broken)
    assert story.card.question.kind is Asking.GUARD
    assert story.state.spend.calls == 0


def test_after_a_guard_the_card_goes_on_in_a_new_thread():
    story = Story()
    for _ in range(5):
        story.asks("read").returns()
    assert story.card.question.kind is Asking.GUARD
    assert "repetition" in story.card.question.text
    story.happens(Resumed(by="ann", tree="t0"))
    assert story.owed == ["ResetThread"]
    story.answers(ThreadReset(card=CARD, reason="r", text="go on"))
    assert story.card.attempt == 2
    assert story.owed == ["Think"]
    again = Story()
    for _ in range(5):
        again.asks("read").returns()
    assert again.refuses().card.ending is Ending.STOPPED


def test_granting_a_guard_resets_the_thread_too():
    story = Story()
    for _ in range(5):
        story.asks("read").returns()
    assert story.grants().owed == ["ResetThread"]


def test_notes_and_checkpoints_without_work_are_guarded():
    limits = GuardLimits(reading_on_soft=0, reading_on_hard=3)
    story = Story(policy=Policy(review=False, guards=limits))
    story.checkpoints().checkpoints().checkpoints()
    assert story.phase is P.EXECUTE
    assert story.checkpoints().card.question.kind is Asking.GUARD
    noter = Story(policy=Policy(review=False, guards=limits))
    for _ in range(3):
        noter.asks("note").answers(Noted(card=CARD, call="note-0", text="hm"))
    assert noter.card.question.kind is Asking.GUARD


def test_a_pause_keeps_what_is_owed_and_goes_on_there():
    story = Story().happens(PauseAsked(by="ann"))
    assert story.phase is P.PAUSED
    assert story.state.is_at_rest
    assert story.owed == ["Think"]
    story.happens(PauseAsked(by="ann"))
    story.happens(Resumed(by="ann"))
    assert story.owed == ["Think"]
    assert story.state.due == story.state.owed


def test_a_pause_can_be_ended_by_an_answer():
    story = Story().happens(PauseAsked(by="ann"))
    assert story.grants().owed == ["Think"]
    assert Story().happens(PauseAsked(by="ann")).refuses().card.ending is Ending.STOPPED


def test_resuming_does_not_answer_a_question():
    doomed = call("d", "delete_file", destructive="deletes a.py", confirmed=True)
    story = Story().checkpoints().says(doomed).happens(Resumed(by="ann"))
    assert story.phase is P.PAUSED


def test_a_tree_that_changed_during_a_pause_is_seen():
    story = Story().checkpoints().edits("t1").tests().happens(PauseAsked(by="ann"))
    story.happens(Resumed(by="ann", tree="t9"))
    assert story.card.tree == "t9"
    assert story.card.strength is Strength.NOTHING


def test_calls_that_come_back_during_a_pause_are_taken():
    limits = GuardLimits(reading_on_soft=0, reading_on_hard=1)
    story = Story(policy=Policy(review=False, guards=limits)).asks("read", "grep", "note", "appeal")
    story.returns()
    assert story.phase is P.PAUSED
    before = story.card.in_flight
    story.happens(
        CallReturned(
            card=CARD, call="grep-1", effect=story.state.owed[0].n, tree="t0",
            outcome=story_outcome(),
        )
    )  # fmt: skip
    story.answers(Noted(card=CARD, call="note-2", text="n"))
    story.answers(Appealed(card=CARD, call="appeal-3", about="x", reason="r"))
    assert len(before) == 3
    assert story.card.in_flight == ()
    assert story.phase is P.PAUSED
    interrupted = Story(policy=Policy(review=False, guards=limits)).asks("read", "grep").returns()
    interrupted.answers(CallInterrupted(card=CARD, call="grep-1", tree="t0"))
    assert interrupted.card.in_flight == ()


def story_outcome():
    return Outcome(ok=True, digest="o")


def test_an_interrupted_call_is_reported():
    story = Story().checkpoints().asks("edit_diff")
    story.answers(CallInterrupted(card=CARD, call="edit_diff-0", tree="t1", detail="half a file"))
    assert "may have done part" in story.said
    assert story.card.tree == "t1"
    assert story.owed == ["Think"]


def test_changes_that_were_undone_are_reported():
    story = Story().asks("test").returns(undone=("snapshots/x",))
    assert "snapshots/x" in story.said


def test_what_was_put_back_is_reported_also_after_an_interruption():
    story = Story().asks("test").returns(put_back=("notes.txt",))
    assert "`test` removed or overwrote notes.txt" in story.said
    story = Story().checkpoints().asks("test")
    cut = CallInterrupted(card=CARD, call="test-0", tree="t1", put_back=("notes.txt",))
    assert "It was put back" in story.answers(cut).said


def test_what_only_programs_made_is_left_behind_and_no_drift():
    story = Story().checkpoints().asks("test")
    story.returns(tree="t1", changed=("a.bin", "b.py"), created=("a.bin", "b.py"))
    assert story.card.made == story.state.left_behind() == ("a.bin", "b.py")
    assert story.card.drift == ()
    story.asks("test").returns(tree="t2", changed=("a.bin",))
    assert story.card.made == ("a.bin", "b.py")
    story.asks("write_file").returns(tree="t3", changed=("b.py",))
    assert story.card.made == ("a.bin",)
    story.asks("test").returns(tree="t4", changed=("b.py",), created=("b.py",))
    assert story.card.made == ("a.bin",), "what a tool wrote stays the tool's"
    story.asks("test").returns(tree=story.card.base, changed=("a.bin", "b.py"))
    assert story.card.made == ()


def test_a_command_that_makes_files_is_told_how_they_get_into_the_commit():
    story = Story(policy=Policy(review=False, bash=True)).checkpoints().says(bash("b", "mutating"))
    story.answers(CallInterrupted(card=CARD, call="b", tree="t1", created=("new.py",)))
    assert story.card.made == story.card.changed == ("new.py",)
    assert "`bash` made new.py. What only commands make is left behind" in story.said


def test_a_later_card_may_write_what_an_earlier_one_left():
    story = Story().checkpoints()
    one = replace(story.card, id="one", changed=("x", "y"), made=("x", "y"))
    two = replace(story.card, id="two", changed=("x", "z"), made=("z",))
    run = replace(story.state, cards=(one, two))
    assert run.left_behind("one") == ("x", "y")
    assert run.left_behind("two") == run.left_behind() == ("y", "z")


def test_an_appeal_is_for_a_person():
    released = call("k", "edit_diff", keeps_regions=False)
    story = Story().checkpoints().says(released)
    assert story.card.judged[0].code == "keep_region"
    story.says(call("p", "appeal"))
    story.answers(Appealed(card=CARD, call="p", about="k", reason="it is generated"))
    assert story.card.question.kind is Asking.APPEAL
    assert "it is generated" in story.card.question.text
    story.grants()
    assert story.says(released).owed == ["Perform"]


def test_a_refused_appeal_changes_nothing():
    released = call("k", "edit_diff", keeps_regions=False)
    story = Story().checkpoints().says(released).says(call("p", "appeal"))
    story.answers(Appealed(card=CARD, call="p", about="edit_diff", reason="please")).refuses()
    assert "refused" in story.said
    assert story.says(released).card.judged[0].code == "keep_region"


def test_promises_cannot_be_appealed_and_each_call_only_once():
    story = Story().asks("edit_diff").says(call("p", "appeal"))
    story.answers(Appealed(card=CARD, call="p", about="edit_diff-0", reason="please"))
    assert "no exception" in story.said
    story.says(call("q", "appeal"))
    story.answers(Appealed(card=CARD, call="q", about="edit_diff-0", reason="please"))
    assert "no denied call" in story.said


def test_claims_are_kept_apart_from_evidence():
    story = Story()
    form = EvidenceSchema(required=("notes",))
    card = replace(story.card, template=replace(story.card.template, evidence_schema=form))
    story.state = replace(story.state, cards=(card,))
    story.happens(EvidenceSubmitted(card=CARD, fields={"notes": "all tests pass"}))
    assert story.card.claims == {"notes": "all tests pass"}
    assert story.card.evidence == ()
    story.happens(EvidenceSubmitted(card=CARD, fields={"notes": 7, "note": "x"}))
    assert story.card.claims == {"notes": "all tests pass"}
    assert "`notes` must be text that is not empty, not the number 7" in story.said
    assert "did you mean `notes`?" in story.said


def test_evidence_from_outside_is_taken_without_moving():
    seen = HttpReport(id="h", tree="t0", url="u", status=200)
    story = Story().happens(EvidenceTaken(card=CARD, evidence=(seen,)))
    assert story.card.evidence == (seen,)
    assert story.phase is P.ANALYZE_CODE


def test_what_a_driver_looked_at_brings_it_to_the_verdict():
    story = Story().checkpoints().edits("t1").asks("http_probe")
    story.returns("", HttpReport(id="h", tree="t1", url="u", status=200)).stops()
    assert isinstance(story.effects[0], Inspect)
    assert story.effects[0].wants_red


def test_a_thread_that_grew_too_long_is_handed_over_once_its_calls_are_back():
    story = Story(policy=Policy(review=False, context_tokens=100))
    story.says(call("1", "read"), usage=Usage(input_tokens=30)).returns()
    story.says(call("2", "read", "b.py"), usage=Usage(input_tokens=80, output_tokens=5, money=0.5))
    assert story.owed == ["Perform"]
    story.returns()
    assert story.owed == ["ResetThread"]
    assert "fills 80 of 100 tokens" in story.state.owed[0].effect.reason
    assert story.state.spend.tokens == 115
    assert story.state.spend.money == 0.5
    story.answers(ThreadReset(card=CARD, reason="r", text="t"))
    assert (story.card.attempt, story.card.thread_tokens) == (2, 0)
    assert story.owed == ["Think"]


def test_a_thread_is_not_reset_when_a_new_one_would_be_hardly_shorter():
    story = Story(policy=Policy(review=False, context_tokens=10))
    story.says(call("1", "read"), usage=Usage(input_tokens=50)).returns()
    story.says(call("2", "read", "b.py"), usage=Usage(input_tokens=99)).returns()
    assert story.owed == ["Think"]
    story.says(call("3", "read", "c.py"), usage=Usage(input_tokens=100)).returns()
    assert story.owed == ["ResetThread"]


def test_time_nudges_then_rests():
    limits = GuardLimits(plan_seconds=10, build_seconds=5)
    story = Story(policy=Policy(review=False, guards=limits), at=100.0)
    story.says(call("1", "read"), at=101.0)
    story.answers(replace(returned("1"), at=109.0))
    assert story.card.tripped[0].guard == "time"
    story.says(call("2", "read", "b.py"), at=109.5)
    assert story.card.tripped == ()
    story.answers(replace(returned("2"), at=111.0))
    assert story.card.question.kind is Asking.GUARD
    story.happens(Resumed(by="ann", at=500.0))
    story.answers(ThreadReset(card=CARD, reason="r", text="t", at=501.0))
    assert story.phase is P.ANALYZE_CODE
    story.says(call("3", "checkpoint"), at=502.0)
    story.answers(replace(stated(call="3"), at=503.0))
    assert story.card.clock.build == 0.0
    story.says(call("4", "edit_diff"), at=504.0)
    assert story.card.clock.build == 1.0


def returned(id: str) -> CallReturned:
    return CallReturned(card=CARD, call=id, outcome=story_outcome(), tree="t0")


def test_a_researcher_looks_first_in_a_feature():
    story = Story(Intent.FEATURE_BUILD)
    assert story.card.role == "researcher"
    story.asks("test")
    assert story.card.judged[0].code == "out_of_role"
    story.stops("the page lives in src/pages")
    assert story.card.role == "executor"
    assert "src/pages" in story.said
    assert story.asks("test").owed == ["Perform"]


def test_a_run_is_read_then_opened():
    state, effects = advance(RunState(), RunStarted(run="r", request="x", budget=7))
    assert type(effects[0]).__name__ == "Classify"
    read = IntentRead(intent=Intent.SMALL_FIX, budget=15, effect=1)
    state, effects = advance(state, read)
    assert state.budget.limit == 7
    assert type(effects[0]).__name__ == "OpenWorkspace"
    with pytest.raises(IllegalEvent, match="intent-read: the run has no workspace yet"):
        advance(state, IntentRead(intent=Intent.SMALL_FIX, budget=15))
    state, _ = advance(state, WorkspaceFailed(error="no room", effect=2))
    assert state.response is not None
    assert state.response.message == "no room"


def test_cancelling_before_there_is_a_card_still_gives_one_response():
    state = advance(RunState(), RunStarted(run="r", request="x")).state
    state = advance(state, Cancelled(by="ann")).state
    assert state.response is not None
    assert state.response.status is Status.CANCELLED


def test_a_cancelled_run_owes_its_response():
    story = Story().happens(Cancelled(by="ann", why="enough")).deliver()
    assert story.state.response is not None
    assert "enough" in story.state.response.message
    assert story.card.status == "failed"


def test_a_card_that_cannot_be_closed_has_failed():
    story = fixed().answers(CardClosed(card=CARD, error="the disk is full")).deliver()
    assert story.phase is P.FAILED
    assert story.card.status == "failed"
    assert "disk" in story.state.response.message


@pytest.mark.parametrize(
    "event",
    [
        WorkspaceReady(tree="t"),
        WorkspaceFailed(error="e"),
        Cancelled(by="ann"),
        DriverReplied(card=CARD),
        Answered(question="q", granted=True, by="ann"),
    ],
)
def test_nothing_is_legal_before_the_start(event):
    with pytest.raises(IllegalEvent):
        advance(RunState(), event)


def test_illegal_events_say_why():
    story = Story()
    with pytest.raises(IllegalEvent, match="not legal in"):
        story.happens(CardClosed(card=CARD))
    with pytest.raises(IllegalEvent, match="not owed"):
        story.happens(DriverReplied(card=CARD, effect=99))
    with pytest.raises(IllegalEvent, match="no card"):
        story.happens(DriverReplied(card="nobody"))
    with pytest.raises(IllegalEvent, match="no call"):
        story.happens(returned("nothing"))
    with pytest.raises(IllegalEvent, match="waits for it"):
        story.happens(Answered(question="q0", granted=True, by="ann"))
    with pytest.raises(IllegalEvent, match="run-started: the run is under way"):
        story.happens(RunStarted(run="r", request="x"))
    ended = fixed().closes()
    with pytest.raises(IllegalEvent, match="has ended"):
        ended.happens(DriverReplied(card=CARD))
    with pytest.raises(IllegalEvent, match="has ended"):
        ended.happens(Resumed(by="ann"))


def test_a_rule_may_not_go_where_its_row_does_not_lead(monkeypatch):
    from flyball.run import machine, on_driver, table

    row = table.on(P.ANALYZE_CODE, DriverReplied, on_driver.reply, P.PAUSED)
    monkeypatch.setitem(machine.MOVES, (P.ANALYZE_CODE, DriverReplied), row)
    with pytest.raises(IllegalEvent, match="does not allow"):
        Story().stops()


def test_messages_to_an_uncoordinated_run_are_refused():
    story = Story()
    message = story.state.coordinator
    assert message is not None
    state = advance(RunState(), RunStarted(run="r", request="x")).state
    with pytest.raises(IllegalEvent, match="messaged: the intent is not known yet"):
        advance(state, Messaged(message=_results()))


def test_a_repeated_task_and_a_strange_response_change_nothing():
    from flyball.plan.message import ExecuteTask, Step, UserResponse

    story = Story()
    step = Step(id=CARD, title="again")
    story.happens(Messaged(message=ExecuteTask(request_id="r", plan_id="p", step=step)))
    assert len(story.state.cards) == 1
    strange = UserResponse(
        request_id="r", status=Status.SUCCESS, iterations=1, goal_achieved=True, message="ha"
    )
    story.happens(Messaged(message=strange))
    assert story.state.response is None


def _results():
    from flyball.plan.message import ExecutionResults

    return ExecutionResults(request_id="r", plan_id="p", step_results=(), all_success=True)


def test_planned_runs_open_planner_and_verifier_cards():
    from flyball.plan.message import ExecuteTask, Step, VerifyRequest

    story = Story(Intent.FEATURE_BUILD, Policy(review=False, plan_big_requests=True))
    assert story.card.id == "plan.1"
    assert story.card.role == "planner"
    step = Step(id="s1", title="one", template="refactor")
    story.happens(Messaged(message=ExecuteTask(request_id="r", plan_id="p", step=step)))
    assert story.state.cards[1].template.step_id == "refactor"
    story.happens(
        Messaged(message=VerifyRequest(request_id="r", plan_id="p", goal="g", results=()))
    )
    assert story.state.cards[2].role == "verifier"
    assert story.state.card("verify.1") is story.state.cards[2]


def test_commands_that_fail_are_not_failed_edits():
    story = Story(policy=Policy(review=False, bash=True)).checkpoints()
    for n in range(4):
        story.says(replace(bash(f"b{n}", "mutating"), digest=f"bash {n}")).returns(ok=False)
    assert story.card.memory.failed_edits == 0
    assert Access.MUTATE in {call.access for call in (bash("b", "mutating"),)}


def test_failed_edits_and_repeated_errors_are_seen():
    story = Story().checkpoints()
    for n in range(3):
        story.says(call(f"e{n}", "edit_diff", f"{n}.py", paths=(PathFact("a.py", write=True),)))
        story.returns(ok=False)
    assert story.card.memory.failed_edits == 3
    assert "could not be applied" in story.said


def test_a_failed_write_drops_only_what_depends_on_it():
    story = Story().checkpoints("a.py", "b.py")
    wanted = (
        call("1", "edit_diff", "a.py", fault="no"),
        call("2", "edit_diff", "b.py"),
        call("3", "write_file", "a.py"),
    )
    story.says(*wanted, call("4", "read"), call("5", "test"))
    dropped = [each.call for each in story.card.judged if each.code == "after_failure"]
    assert dropped == ["3", "5"]
    assert [each.id for each in (*story.card.in_flight, *story.card.queue)] == ["2", "4"]
    assert (story.state.spend.calls, story.state.spend.blocked) == (1, 1)


def test_a_red_check_is_remembered_by_its_failures():
    story = Story().asks("test").returns("", suite("e", "t0", red=True), ok=False)
    assert story.card.memory.check.endswith("t0")


def test_a_change_that_vanished_during_a_pause_leaves_nothing_to_prove():
    story = Story().checkpoints().edits("t1").stops().happens(PauseAsked(by="ann"))
    story.happens(Resumed(by="ann", tree="t0")).stops()
    assert story.card.ending is Ending.UNCHANGED
    assert story.card.ending_reason == "Nothing was changed."
    assert story.closes().state.response.goal_achieved is False


def test_resuming_a_run_that_works_changes_nothing():
    story = Story().happens(Resumed(by="ann", tree="t0"))
    assert story.phase is P.ANALYZE_CODE
    assert story.owed == ["Think"]


def test_calls_may_come_back_in_any_order():
    story = Story().asks("read", "grep")
    first, second = story.state.owed
    story.happens(replace(returned("grep-1"), effect=second.n))
    assert [call.id for call in story.card.in_flight] == ["read-0"]
    story.happens(replace(returned("read-0"), effect=first.n))
    assert story.owed == ["Think"]


def test_a_limit_on_planning_does_not_bind_building():
    limits = GuardLimits(plan_seconds=10)
    story = Story(policy=Policy(review=False, guards=limits), at=1.0).checkpoints()
    story.says(call("1", "edit_diff"), at=5_000.0)
    assert story.phase is P.EXECUTE


@pytest.mark.parametrize(
    ("told", "status"),
    [
        (Story, "doing"),
        (lambda: Story().checkpoints().edits("t1").stops(), "verifying"),
        (lambda: Story().happens(PauseAsked(by="ann")), "paused"),
        (fixed, "review"),
        (lambda: fixed().closes(), "done"),
    ],
)
def test_a_card_stands_in_one_column_of_the_board(told, status):
    assert told().card.status == status


def test_the_workspace_is_opened_after_the_intent_is_known():
    state = advance(RunState(), RunStarted(run="r", request="x")).state
    with pytest.raises(IllegalEvent, match="not known yet"):
        advance(state, WorkspaceReady(tree="t"))


def test_only_the_touched_card_is_heard():
    from flyball.plan.message import ExecuteTask, Step
    from flyball.run.thread import thread_lines

    story = Story()
    step = Step(id="two", title="two")
    story.happens(Messaged(message=ExecuteTask(request_id="r", plan_id="p", step=step)))
    before = story.state
    story.asks("read")
    event = DriverReplied(card=CARD, text="look")
    assert [line.card for line in thread_lines(before, event, story.state)] == [CARD]


def test_every_event_of_a_run_has_its_row_and_every_stage_its_words():
    own = {kind for kind in EVENTS if not issubclass(kind, CardEvent)}
    assert {row.event for row in RUN_ROWS} == own
    for stage in RunStage:
        assert stage.words
        for kind in own:
            row = RUN_MOVES.get((stage, kind))
            assert row is None or stage in row.stages


def test_what_spreads_to_the_cards_has_rows_there():
    spread = {row.event for row in RUN_ROWS if row.listens is not None}
    assert spread == {row.event for row in ROWS if not issubclass(row.event, CardEvent)}


def test_a_rule_of_a_run_may_not_end_where_its_row_does_not_lead(monkeypatch):
    row = RUN_MOVES[RunStage.NEW, RunStarted]._replace(targets=(RunStage.ENDED,))
    monkeypatch.setitem(RUN_MOVES, (RunStage.NEW, RunStarted), row)
    with pytest.raises(IllegalEvent, match="start ended in reading"):
        advance(RunState(), RunStarted(run="r", request="x"))


def test_the_stage_follows_from_what_is_known():
    state = RunState()
    assert state.stage is RunStage.NEW
    assert [move.event for move in moves(state)] == ["run-started"]
    state = advance(state, RunStarted(run="r", request="x")).state
    assert state.stage is RunStage.READING
    assert moves(state)[0].event == "intent-read"
    state = advance(state, IntentRead(intent=Intent.SMALL_FIX, budget=15, effect=1)).state
    assert state.stage is RunStage.OPENING
    assert [move.event for move in moves(state)][:2] == ["workspace-ready", "workspace-failed"]
    assert Story().state.stage is RunStage.WORKING


def test_legal_are_the_runs_own_moves_and_those_of_each_card_in_its_phase():
    story = Story().checkpoints()
    found = moves(story.state)
    assert [move.card for move in found] == sorted(move.card for move in found)
    assert {move.event for move in found if move.card == CARD} == {
        name_of(event)
        for phase, event in MOVES
        if phase is story.phase and issubclass(event, CardEvent)
    }


def test_what_a_driver_wants_its_commit_to_say_is_kept_with_the_card():
    story = Story().checkpoints().asks("git")
    id = story.card.in_flight[0].id
    outcome = Outcome(ok=True, text="Noted.", data={"message": "Count every piece"}, digest="d")
    story.answers(CallReturned(card="step-1", call=id, outcome=outcome, tree=story.card.tree))
    assert story.card.commit_message == story.card.subject == "Count every piece"
    assert Story().checkpoints().asks("git").returns().card.subject == "mend it"
