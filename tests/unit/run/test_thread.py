"""What each driver has said and heard."""

from __future__ import annotations

from msgspec.structs import replace
from tests.simulation.verdicts import REGRESSED
from tests.simulation.world import call
from tests.unit.run.stories import CARD, Story, stated

from flyball.run.effect import Think
from flyball.run.event import (
    Appealed,
    CallInterrupted,
    CallReturned,
    ConflictStated,
    DriverFailed,
    Noted,
    ThreadReset,
)
from flyball.run.policy import Policy, Project
from flyball.run.state import RunState
from flyball.run.thread import STANDING, Speaker, ThreadLine, thread_lines, trim_to
from flyball.terms.call import Outcome, WebLook
from flyball.terms.conflict import ConflictReport, Quote
from flyball.terms.evidence import CheckKind, CheckReport
from flyball.terms.finding import Match, TextMatches
from flyball.terms.intent import Intent
from flyball.terms.phase import Phase


class Told(Story):
    """A story that keeps what is heard, and apart from it where the card was said to stand."""

    def __init__(self, *args, **more) -> None:
        self.lines: list[ThreadLine] = []
        self.stands: list[ThreadLine] = []
        super().__init__(*args, **more)

    def happens(self, event):
        before = self.state if hasattr(self, "state") else RunState()
        super().happens(event)
        said = thread_lines(before, event, self.state)
        self.lines += [line for line in said if line.kind != STANDING]
        self.stands += [line for line in said if line.kind == STANDING]
        if said and any(isinstance(owed.effect, Think) for owed in self.state.owed):
            assert said[-1].speaker is not Speaker.DRIVER
        return self


def texts(story: Told) -> list[tuple[str, str, str]]:
    return [(line.role, line.speaker.value, line.text) for line in story.lines]


def where(story: Told) -> str:
    return story.stands[-1].text


def test_every_request_ends_with_where_the_card_stands():
    story = Told().says(call("1", "read")).returns()
    assert where(story) == (
        "[recon · 14 of 15 calls left] Missing: a `checkpoint`; nothing can be changed before it."
    )
    story.stops("I see")
    assert where(story).startswith("[checkpoint · 14 of 15 calls left] Missing: the `checkpoint`.")
    story.checkpoints()
    assert "[execute · 14 of 15 calls left] Missing: the change itself." in where(story)
    story.edits("t1")
    assert where(story).endswith("Missing: a passing `test` of the current tree; then stop.")
    story.tests()
    assert "Verified in its current state." in where(story)
    story.stops().inspects(REGRESSED)
    assert where(story).startswith("[execute · 12 of 15 calls left]")


def test_whoever_owes_one_thing_is_told_that_alone():
    review = Told(policy=Policy()).checkpoints().edits("t1").tests().stops().inspects()
    assert where(review).endswith("the risk of this change, in one `note` or one sentence.")
    assert review.stands[-1].role == "reviewer"
    planner = Told(Intent.FEATURE_BUILD, policy=Policy())
    assert where(planner) == "[recon · 40 of 40 calls left] Missing: the plan, in one JSON block."
    look = Told(Intent.DIAGNOSE)
    assert where(look).endswith("Missing: your written answer. Nothing is changed in this run.")
    assert where(Told(Intent.FEATURE_BUILD)).endswith("Missing: your written findings.")


def test_a_budget_is_reported_to_its_end():
    story = Told(budget=3).checkpoints().edits("t1")
    assert where(story).startswith("[execute · 2 of 3 calls left, for verification only]")
    story.tests(red=True).tests(red=True).asks("test")
    assert where(story).startswith("[execute · 0 of 3 calls left] The budget is used up.")
    talk = Told(Intent.CONVERSATIONAL)
    assert where(talk) == "[final] Missing: your written answer. No more calls are allowed."


def test_where_nothing_can_be_tested_a_check_is_asked_for():
    story = Told(project=Project(checks=("ruff",))).checkpoints().edits("t1")
    assert "a passing `check`" in where(story)


def test_a_driver_that_failed_has_its_place_before_it_already():
    story = Told()
    before = len(story.stands)
    story.answers(DriverFailed(card=CARD, error="busy"))
    assert len(story.stands) == before


def test_a_reply_without_end_is_cut_in_its_middle():
    story = Told().says(call("1", "read"), text="a" * 300_000 + "z")
    assert len(story.lines[0].text) < 17_000
    assert story.lines[0].text.endswith("z")
    assert "characters are left out here" in story.lines[0].text


def test_calls_are_answered_under_their_own_id():
    story = Told().says(call("1", "read"), call("2", "edit_diff"), text="look").returns()
    spoken, back, denied = story.lines
    assert [c.id for c in spoken.calls] == ["1", "2"]
    assert (back.speaker, back.call, back.tool, back.text) == (Speaker.TOOL, "1", "read", "text")
    assert (denied.speaker, denied.call) == (Speaker.TOOL, "2")
    assert "State a checkpoint" in denied.text


def test_what_was_understood_is_said_with_the_outcome():
    asked = replace(call("1", "read"), understood="`Read` as `read`")
    story = Told().says(asked).returns()
    assert story.lines[-1].text == "text\n(Understood: `Read` as `read`.)"


def test_words_are_acknowledged():
    story = Told().says(call("1", "checkpoint")).answers(stated(call="1"))
    assert story.lines[-1].text == "The checkpoint is recorded."
    story.says(call("2", "note")).answers(Noted(card=CARD, call="2", text="n"))
    assert story.lines[-1].text == "Noted."
    story.says(call("3", "appeal")).answers(Appealed(card=CARD, call="3", about="x", reason="r"))
    assert [line.call for line in story.lines[-2:]] == ["3", "3"]
    assert Told().happens(Noted(card=CARD, text="from outside")).lines == []
    assert Told().happens(stated()).lines == []


def test_the_governors_words_go_to_the_next_driver():
    story = Told(Intent.FEATURE_BUILD).stops("it lives in src")
    assert texts(story) == [
        ("researcher", "driver", "it lives in src"),
        ("executor", "governor", "The researcher found: it lives in src"),
    ]


def test_a_recorded_conflict_is_answered_to_the_driver():
    story = Told().checkpoints().asks("conflict")
    quotes = Quote("tests/test_x.py:3", "half(3) == 5"), Quote("request", "half(3) is 6")
    call = story.card.in_flight[0].id
    story.answers(ConflictStated(card=CARD, call=call, report=ConflictReport(*quotes)))
    assert any(each.speaker is Speaker.TOOL and "recorded" in each.text for each in story.lines)


def test_a_new_thread_starts_from_the_hand_over():
    story = Told(policy=Policy(review=False, context_tokens=1))
    for _ in range(5):
        story.asks("read").returns()
    story.grants().answers(ThreadReset(card=CARD, reason="r", text="# Hand-over"))
    last = story.lines[-1]
    assert (last.attempt, last.speaker, last.text) == (2, Speaker.GOVERNOR, "# Hand-over")


def line(speaker: Speaker, size: int, artifact: str = "") -> ThreadLine:
    return ThreadLine(CARD, 1, "executor", speaker, "x" * size, artifact=artifact)


def test_old_output_becomes_a_pointer_and_new_output_stays():
    old = line(Speaker.TOOL, 5_000, "logs/1.log")
    lines = [line(Speaker.DRIVER, 900), old, line(Speaker.TOOL, 100), line(Speaker.TOOL, 4_000)]
    kept = trim_to([*lines, line(Speaker.DRIVER, 10)], 5_500)
    assert kept[1].text == (
        "(older output of 5000 characters left out. The whole of it is in logs/1.log.)"
    )
    assert [len(each.text) for each in kept][2:] == [100, 4_000, 10]
    assert kept[0].text == "x" * 900
    assert trim_to(lines, 100_000) == tuple(lines)


def test_short_and_spoken_lines_are_never_cut():
    lines = [line(Speaker.DRIVER, 5_000), line(Speaker.TOOL, 50), line(Speaker.TOOL, 300)]
    lines += [line(Speaker.DRIVER, 1), line(Speaker.DRIVER, 1)]
    kept = trim_to(lines, 10)
    assert [each.text.startswith("(older") for each in kept] == [False, False, True, False, False]
    assert replace(kept[2], text="") == replace(lines[2], text="")


def test_a_line_has_what_a_tool_found_as_values():
    found = TextMatches(shown=(Match("a.py", 1, "x"),))
    report = CheckReport(id="e", tree="t0", kind=CheckKind.LINT, command="ruff", exit_code=1)
    outcome = Outcome(ok=False, text="bad", error="1 problem", finding=found)
    event = CallReturned(card=CARD, call="1", outcome=outcome, tree="t0", evidence=(report,))
    back = Told().says(call("1", "grep")).answers(event).lines[-1]
    assert (back.ok, back.error, back.evidence, back.finding) == (
        False,
        "1 problem",
        (report,),
        found,
    )
    assert not back.is_interrupted


def test_a_call_that_was_cut_off_says_so_in_a_field():
    story = Told().says(call("1", "test"))
    story.answers(CallInterrupted(card=CARD, call="1", tree="t0"))
    assert [(each.call, each.is_interrupted) for each in story.lines[1:]] == [("1", True)]


def test_a_guard_that_speaks_or_asks_is_named_in_a_field():
    story = Told()
    while story.phase is not Phase.PAUSED:
        story.asks("read").returns()
    nudge = next(line for line in story.lines if line.kind == "nudge")
    assert nudge.guard == "repetition"
    assert story.card.question is not None
    assert story.card.question.guard == "repetition"
    assert nudge.guard not in nudge.text


def test_what_a_provider_looked_up_stays_in_the_thread():
    look = WebLook("w1", "web_search", "empty cart", text="Carts: https://example.org")
    story = Told(policy=Policy(web=True, review=False)).says(call("1", "read"), looks=(look,))
    said, found = story.lines
    assert said.speaker is Speaker.DRIVER
    assert (found.speaker, found.tool, found.call, found.ok) == (
        Speaker.TOOL,
        "web_search",
        "w1",
        True,
    )
    assert found.text == "empty cart\nCarts: https://example.org"
