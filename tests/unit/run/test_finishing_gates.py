"""What stands between a driver's "done" and a closed card."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.simulation.verdicts import REGRESSED, TOO_WEAK, UNTESTED
from tests.simulation.world import call, suite
from tests.unit.run.walking import Walk, form, look, step

from flyball.plan.template import Escalation, EvidenceSchema, GateUse, OnFail, Role
from flyball.plan.verdict import Missing, Passed
from flyball.run.event import EvidenceTaken
from flyball.run.policy import Policy, Project
from flyball.run.state import Asking, Ending
from flyball.terms.change_verdict import ChangeStrength
from flyball.terms.evidence import (
    CommandReport,
    ConsoleReport,
    FileReport,
    GateReport,
    HttpReport,
    Weakened,
    WeakeningReport,
)
from flyball.terms.phase import Phase

P = Phase
NOTES = EvidenceSchema(
    required=("notes",), optional=("risk",), criteria_checklist={"c1": "It is explained"}
)
CHECKLIST = GateUse("criteria_checklist_complete")
TESTS = GateUse("tests_pass")
FILE = GateUse("file_exists", {"path": "a.txt"})


def filled(*, c1: bool = True) -> str:
    return form(notes="n", criteria_checklist={"c1": c1})


def test_the_form_in_the_last_answer_becomes_claims():
    walk = Walk(look(evidence_schema=NOTES, gates=(CHECKLIST,))).stops(filled())
    assert walk.card.claims == {"notes": "n", "criteria_checklist": {"c1": True}}
    assert walk.card.answer == "So it is."
    assert walk.card.evidence == ()
    assert walk.card.verdicts[0].has_passed
    assert walk.owed == ["CloseCard"]


def test_an_answer_that_is_only_a_form_is_reported_in_words():
    walk = Walk(look(evidence_schema=EvidenceSchema(required=("notes",))))
    walk.stops('{"notes": "all is well"}')
    assert walk.card.answer == "notes: all is well"


def test_every_wrong_field_is_named_and_the_driver_asked_again():
    walk = Walk(look(evidence_schema=NOTES, gates=(CHECKLIST,)))
    walk.stops("done")
    assert "one fenced JSON block" in walk.said
    assert "`notes` is missing" in walk.said
    assert "`criteria_checklist` is missing" in walk.said
    walk.stops(form(notes=7, note="x", criteria_checklist={"c1": "yes"}))
    assert "`notes` must be text" in walk.said
    assert "did you mean `notes`?" in walk.said
    assert "`criteria_checklist.c1` must be true or false" in walk.said
    assert walk.card.claims == {}
    assert walk.stops(filled()).phase is P.FINAL


def test_a_form_that_is_never_filled_in_is_a_setback_in_the_end():
    rules = OnFail(max_retries=0, escalate_policy=Escalation.FAIL_JOB)
    walk = Walk(
        look(evidence_schema=NOTES, on_fail=rules),
        policy=Policy(max_rejections=1, strictness="strict", plan_big_requests=False),
    )
    walk.stops("no").stops("never")
    assert walk.card.ending is Ending.FAILED
    assert walk.card.escalation is Escalation.FAIL_JOB
    assert "`notes` is missing" in walk.card.ending_reason
    assert walk.card.form_slips == 0


def test_optional_fields_alone_need_no_form():
    walk = Walk(look(evidence_schema=EvidenceSchema(optional=("risk",)))).stops("seen")
    assert walk.owed == ["CloseCard"]


def test_a_step_of_words_alone_is_judged_too():
    walk = Walk(look(phases=(P.FINAL,), evidence_schema=NOTES, gates=(CHECKLIST,)))
    assert walk.stops("so").phase is P.FINAL
    assert "`notes` is missing" in walk.said
    walk.stops(filled(c1=False))
    assert "The gate criteria_checklist_complete did not pass: Not met: c1" in walk.said
    assert walk.state.owed[0].effect.text_only
    assert walk.stops(filled()).owed == ["CloseCard"]


def test_what_the_gates_need_is_looked_at_before_anyone_is_sent_away():
    walk = Walk(step(gates=(TESTS, FILE))).checkpoints().edits("t1").stops()
    assert walk.phase is P.VERIFY
    # The verdict runs the suite anyway, so it is not run for its gate as well.
    assert walk.inspect.gates == (FILE,)
    seen = FileReport(id="f", tree="t1", path="a.txt", exists=True)
    walk.sees(seen, undone=("x.log",))
    assert "Checking the gates changed x.log; that was undone." in walk.said
    assert walk.card.verified_at > walk.card.mutated_at
    assert [str(ruling) for ruling in walk.card.verdicts] == [
        "tests_pass: passed. 3 tests pass: red → green (tests that were there) (3 tests).",
        "file_exists: passed. a.txt exists.",
    ]
    assert walk.closes().phase is P.SUCCEEDED


def test_what_somebody_has_seen_already_is_not_looked_at_again():
    walk = Walk(step(gates=(FILE, GateUse("diff_within", {"paths": ["a.py"]}))))
    walk.checkpoints().edits("t1")
    walk.happens(
        EvidenceTaken(
            card="S1", evidence=(FileReport(id="f", tree="t1", path="a.txt", exists=True),)
        )
    )
    assert walk.stops().inspect.gates == ()


def test_gates_of_the_verdict_ask_nobody_else():
    walk = Walk(step(gates=(TESTS, GateUse("new_test_fails_before")))).fixes()
    assert walk.inspect.gates == ()
    assert walk.sees().owed == ["CloseCard"]
    assert [ruling.has_passed for ruling in walk.card.verdicts] == [True, True]


def test_gates_that_fail_send_the_driver_back_with_every_verdict():
    walk = Walk(step(gates=(TESTS, FILE))).checkpoints().edits("t1").stops()
    missing = FileReport(id="f", tree="t1", path="a.txt", exists=False)
    walk.sees(missing, verdict=REGRESSED)
    assert walk.phase is P.EXECUTE
    assert "The gate tests_pass did not pass: test_a fails" in walk.said
    assert "The gate file_exists did not pass: a.txt does not exist." in walk.said
    assert walk.card.failures_in_row == 1
    assert walk.card.answer == ""
    assert walk.stops().inspect.gates == (FILE,)


def test_own_gates_that_pass_do_not_replace_the_proof():
    walk = Walk(step(gates=(FILE,))).checkpoints().edits("t1").stops()
    walk.sees(FileReport(id="f", tree="t1", path="a.txt", exists=True), verdict=TOO_WEAK)
    assert walk.card.ending is Ending.UNVERIFIED
    assert walk.card.ending_reason == "What can be shown of it is too little: unverified."
    assert [ruling.has_passed for ruling in walk.card.verdicts] == [True]


def test_a_step_whose_gates_hold_may_change_nothing():
    walk = Walk(step(gates=(TESTS,))).checkpoints().stops()
    assert walk.phase is P.VERIFY
    walk.sees(walk.green()).closes()
    assert walk.phase is P.SUCCEEDED
    idle = Walk(step(gates=(TESTS,))).stops().stops().stops()
    assert idle.inspect.gates == (TESTS,)
    assert idle.sees(idle.green()).phase is P.FINAL


def test_a_step_without_such_gates_must_change_something():
    walk = Walk(step(gates=(GateUse("no_secrets_added"),))).checkpoints().stops()
    assert walk.inspect.gates == (TESTS,)
    walk.sees(suite("s", "t0", red=True))
    assert "Nothing was changed; 1 test still fails" in walk.said
    assert walk.stops().card.ending is Ending.UNCHANGED
    idle = Walk(step()).stops().stops().stops()
    assert idle.card.ending is Ending.UNCHANGED


def test_gates_of_a_card_that_only_looks_are_judged_at_its_end():
    command = GateUse("command_succeeds", {"command": "make check"})
    walk = Walk(look(gates=(command, GateUse("diff_within", {"paths": ["src"]})))).stops("seen")
    assert walk.phase is P.ANALYZE_CODE
    assert walk.inspect.gates == (command,)
    walk.sees(CommandReport(id="c", tree="t0", command="make check", exit_code=2))
    assert walk.phase is P.ANALYZE_CODE
    assert "`make check` ended with exit code 2" in walk.said
    walk.stops("now it works")
    walk.sees(CommandReport(id="c2", tree="t0", command="make check", exit_code=0))
    assert walk.closes().phase is P.SUCCEEDED


def test_what_is_seen_from_outside_moves_no_card():
    walk = Walk(look())
    seen = HttpReport(id="h", tree="t0", url="http://localhost/", status=200)
    walk.happens(EvidenceTaken(card="S1", evidence=(seen,)))
    assert walk.card.evidence == (seen,)
    assert walk.owed == ["Think"]
    working = Walk(step()).checkpoints()
    working.happens(EvidenceTaken(card="S1", evidence=(seen,)))
    assert working.card.evidence == (seen,)
    assert working.owed == ["Think"]


@pytest.mark.parametrize(
    ("report", "kind"),
    [
        (GateReport(id="g", tree="t0", gate="http_ok", why="Nobody knows where."), Missing),
        (GateReport(id="g", tree="t0", gate="visual_ok", why="another gate"), Missing),
    ],
)
def test_a_gate_that_nobody_can_look_at_is_missing(report: GateReport, kind: type):
    walk = Walk(look(gates=(GateUse("http_ok"),))).stops("seen").sees(report)
    assert isinstance(walk.card.verdicts[0].verdict, kind)
    assert walk.card.failures_in_row == 1


def test_a_gate_that_may_not_look_has_failed():
    command = GateUse("command_succeeds", {"command": "git push"})
    walk = Walk(look(gates=(command,))).stops("seen")
    why = "`git push` is not run: it can lose work."
    report = GateReport(
        id="g", tree="t0", gate=command.type, parameters=command.parameters, why=why, refused=True
    )
    walk.sees(report)
    assert f"The gate command_succeeds did not pass: {why}" in walk.said


def test_a_person_reviews_before_the_card_ends():
    walk = Walk(look(human_review=True)).stops("seen")
    assert walk.card.question.kind is Asking.REVIEW
    assert walk.phase is P.PAUSED
    walk.refuses("look closer")
    assert "A person reviewed the work and wants it changed." in walk.said
    assert "look closer" in walk.said
    assert walk.phase is P.ANALYZE_CODE
    walk.stops("closer").grants().closes()
    assert walk.phase is P.SUCCEEDED


def test_a_refused_review_of_a_change_opens_execute_again():
    walk = Walk(step(human_review=True)).fixes().sees()
    assert walk.card.question.text == "The work is verified and waits for your review."
    assert walk.refuses().phase is P.EXECUTE
    walk.edits("t2").tests().stops().sees()
    assert walk.grants().owed == ["CloseCard"]


def test_a_checkpoint_on_a_step_that_only_looks_pauses_once():
    walk = Walk(look(checkpoint=True)).stops("seen")
    assert walk.card.question.kind is Asking.REVIEW
    assert walk.grants().owed == ["CloseCard"]


def test_a_checkpoint_on_a_step_that_changes_pauses_when_it_is_stated():
    walk = Walk(step(checkpoint=True), policy=Policy(assume_yes=True, review=False)).checkpoints()
    assert walk.card.question.kind is Asking.CHECKPOINT
    assert walk.grants().edits("t1").tests().stops().sees().owed == ["CloseCard"]


def test_yes_to_everything_does_not_answer_an_authors_review():
    policy = Policy(assume_yes=True, plan_big_requests=False)
    walk = Walk(look(human_review=True), policy=policy).stops("seen")
    assert walk.card.question.kind is Asking.REVIEW


def test_a_persons_yes_satisfies_the_gate_that_asks_for_it():
    gates = (GateUse("human_approved", {"what": "the release"}), GateUse("human_approved"))
    walk = Walk(look(gates=gates)).stops("seen")
    assert walk.card.question.text == "Do S1: accept the release, the work?"
    assert isinstance(walk.card.verdicts[0].verdict, Missing)
    walk.grants()
    assert all(isinstance(ruling.verdict, Passed) for ruling in walk.card.verdicts)
    assert [item.what for item in walk.card.evidence] == ["review", "the release"]
    assert walk.card.evidence[0].by == "ann"
    assert walk.closes().phase is P.SUCCEEDED


def test_accepted_weaker_tests_are_evidence_for_their_gate():
    walk = Walk(step(gates=(GateUse("tests_not_weakened"),))).fixes()
    weak = WeakeningReport(id="w", tree="t1", base="t0", findings=(Weakened("t.py", 1, "skip"),))
    walk.answers(EvidenceTaken(card="S1", evidence=(weak,)))
    assert walk.card.question.kind is Asking.WEAKENED_TESTS
    walk.grants()
    assert walk.card.verdicts[0].has_passed
    assert walk.owed == ["CloseCard"]


def test_work_that_nothing_can_verify_is_called_so_in_a_flow_too():
    walk = Walk(step(), project=Project()).checkpoints().edits("t1").stops()
    walk.stops().stops().stops()
    assert walk.card.failures_in_row == 1
    assert walk.card.escalation is Escalation.DIAGNOSE
    lint = Walk(step(gates=(FILE,)), project=Project()).checkpoints().edits("t1").stops()
    lint.sees(FileReport(id="f", tree="t1", path="a.txt", exists=True), verdict=UNTESTED)
    assert lint.card.ending is Ending.UNVERIFIED
    assert lint.card.escalation is None


SEEN = Project(serves=True, means=("servers", "browser"))


def test_without_tests_flyball_opens_what_the_project_serves():
    for project, gate in ((SEEN, "console_clean"), (replace(SEEN, means=("servers",)), "http_ok")):
        walk = Walk(project=project).checkpoints().edits("t1").stops()
        assert [use.type for use in walk.inspect.gates] == [gate]
    tested = Walk(project=replace(SEEN, runners=("pytest",))).checkpoints().edits("t1").stops()
    assert tested.inspect.gates == ()


def test_an_error_of_a_page_goes_back_to_the_driver_in_its_own_words():
    walk = Walk(project=SEEN).checkpoints().edits("t1").stops()
    broken = ConsoleReport(id="c", tree="t1", url="u", errors=("TypeError: of null",), own=True)
    walk.sees(broken, verdict=UNTESTED)
    assert "TypeError: of null" in walk.said


def test_a_page_without_errors_is_enough_where_there_are_no_tests():
    walk = Walk(project=SEEN).checkpoints().edits("t1").stops()
    clean = ConsoleReport(id="d", tree="t1", url="u", own=True)
    walk.sees(clean, verdict=replace(UNTESTED, strength=ChangeStrength.SHOWN))
    assert walk.closes().phase is P.SUCCEEDED


def test_what_a_driver_opened_itself_is_not_opened_again():
    walk = Walk(project=SEEN).checkpoints().edits("t1").asks(call("b", "browser_console"))
    walk.returns("", ConsoleReport(id="c", tree="t1", url="u", own=True)).stops()
    assert walk.inspect.gates == ()


def test_a_step_that_only_looks_may_state_a_checkpoint():
    phases = (P.ANALYZE_CODE, P.CHECKPOINT, P.FINAL)
    walk = Walk(look(phases=phases, role=Role.EXECUTOR))
    walk.stops("seen")
    assert walk.phase is P.CHECKPOINT
    walk.checkpoints()
    assert "This step changes nothing." in walk.said
    assert walk.stops("that is all").owed == ["CloseCard"]
    unable = Walk(look(phases=phases)).stops("seen").stops("I may not").stops("still not")
    assert unable.owed == ["CloseCard"]
    early = Walk(look(role=Role.EXECUTOR)).checkpoints()
    assert early.phase is P.ANALYZE_CODE
    assert early.card.question is None
    early.asks(call("e", "edit_diff"))
    assert early.card.judged[0].answer == "deny"
