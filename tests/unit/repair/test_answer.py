"""What the repairer understands of its thread, and answers to other requests."""

from __future__ import annotations

import pytest
from tests.unit.drivers.asking import line
from tests.unit.repair.telling import (
    ALL_GREEN,
    BEST,
    CHANGED,
    CHECKPOINT,
    FOUND,
    GREEN,
    IN_VAIN,
    RED,
    Step,
    Told,
    after_suite,
    asked,
    did,
    made,
    reply_to,
    suite,
)

from flyball.repair.thread_facts import has_run, read_thread
from flyball.run.thread import Speaker
from flyball.terms.call import INTERRUPTED
from flyball.terms.finding import Match, TextMatches
from flyball.terms.phase import Phase

HITS = Told(
    "4 matches in 2 files",
    ok=True,
    finding=TextMatches(
        shown=(
            Match("cart.py", 2, "def total(n):"),
            Match("test_cart.py", 1, "from cart import total"),
            Match("test_cart.py", 8, "    self.assertEqual(total(3), 6)"),
            Match("web/cart.js", 3, "const total = 4;"),
        )
    ),
)
LOG = "abc1234 2026-01-02 Ada: Count pens\n\n cart.py | 2 +-"


@pytest.mark.parametrize(
    ("request_text", "answer"),
    [
        ("thanks a lot!", "You are welcome."),
        ("hola", "Hello."),
        ("what is a mutex?", "No model is configured"),
    ],
)
def test_small_talk_is_one_line(request_text: str, answer: str):
    request = asked(request=request_text, template="answer", phase=Phase.FINAL)
    reply = reply_to(request)
    assert reply.text.startswith(answer)
    assert "\n" not in reply.text


def test_a_status_is_what_the_tests_say():
    request = asked(request="do the tests pass?", template="status")
    assert made(reply_to(request)) == [("test", {})]
    told = reply_to(asked(did("test", ALL_GREEN), request="do the tests pass?", template="status"))
    assert told.text == "All 3 tests pass (unittest, 0.5 s)."


@pytest.mark.parametrize(
    "question", ["where is `Cart.total` used?", "who calls total()?", "где используется total?"]
)
def test_a_name_is_looked_for_and_sorted(question: str):
    grep: dict[str, object] = {"q": r"\btotal\b", "max": 60}
    assert made(reply_to(asked(request=question, template="status"))) == [("grep", grep)]
    told = reply_to(asked(did("grep", HITS, **grep), request=question, template="status"))
    assert told.text == (
        "`total` is defined at:\n  cart.py:2  def total(n):\n  web/cart.js:3  const total = 4;\n"
        "Imported at:\n  test_cart.py:1  from cart import total\n"
        "Used at (1):\n  test_cart.py:8  self.assertEqual(total(3), 6)"
    )


def test_a_name_that_is_not_found_is_looked_for_more_loosely_once():
    nothing = did("grep", r"0 matches in 0 files for \bTotl\b", q=r"\bTotl\b", max=60)
    request = asked(nothing, request="where is `Totl`?", template="status")
    ((_, args),) = made(reply_to(request))
    assert args == {"q": "Totl", "max": 60, "literal": True, "ignore_case": True}
    again = did("grep", "0 matches in 0 files for Totl", **args)
    told = reply_to(asked(nothing, again, request="where is `Totl`?", template="status"))
    assert told.text == "Nothing here is called `Totl`."


def test_the_last_changes_come_from_the_history():
    question = "what changed recently?"
    assert made(reply_to(asked(request=question, template="status"))) == [("git_log", {"max": 10})]
    log = did("git_log", LOG, max=10)
    told = reply_to(asked(log, request=question, template="status"))
    assert told.text == f"The last changes:\n{LOG}"


def test_a_diagnosis_looks_searches_and_reads_the_history():
    question, steps = "why does test_pens fail?", list[Step]()
    answers = {"localise_faults": RED, "try_candidates": FOUND, "git_log": LOG}
    for _ in answers:
        ((tool, args),) = made(reply_to(asked(*steps, request=question, template="diagnose")))
        steps.append(did(tool, answers[tool], **args))
    assert [step[0] for step in steps] == list(answers)
    told = reply_to(asked(*steps, request=question, template="diagnose"))
    assert not told.calls
    for words in (
        "test_cart.py:8 expects `total(3) == 6`, but `total(3)` is 3.",
        "1.00  cart.py:5  return n",
        f"With this change every test passes:\n{BEST}",
        "To apply it: flyball run",
        f"The last changes to cart.py:\n{LOG}",
    ):
        assert words in told.text


REPORTED = (
    did("localise_faults", RED, seconds=20.0),
    did("try_candidates", FOUND, seconds=20.0),
    did("git_log", LOG, max=3, path="cart.py"),
)


def test_who_reports_a_fault_is_offered_the_change():
    request = asked(*REPORTED, request="three pens cost as much as one", template="diagnose")
    ((tool, args),) = made(reply_to(request))
    assert tool == "checkpoint"
    assert args["goal"] == "cart.py:5, so that every test passes"
    assert BEST in str(args["proposed_action"])


def test_the_offer_once_granted_is_carried_out_without_another_search():
    steps = (*REPORTED, CHECKPOINT)
    request = asked(*steps, phase=Phase.EXECUTE, request="add up three pens, it is wrong")
    assert made(reply_to(request)) == [("edit_diff", {"diff": BEST})]
    edited = (*steps, did("edit_diff", CHANGED, diff=BEST))
    request = asked(*edited, phase=Phase.EXECUTE, request="add up three pens, it is wrong")
    assert [tool for tool, _ in made(reply_to(request))] == ["test", "test"]


def test_a_search_in_vain_offers_nothing():
    vain = did("try_candidates", IN_VAIN, seconds=20.0)
    steps = (REPORTED[0], vain, REPORTED[2])
    reply = reply_to(asked(*steps, request="pens are wrong", template="diagnose"))
    assert not reply.calls
    assert "1.00  cart.py:5  return n" in reply.text


def test_green_tests_do_not_explain_a_blank_page():
    looked = did("localise_faults", GREEN, seconds=20.0)
    steps = (looked, did("git_log", LOG, max=5))
    reply = reply_to(asked(*steps, request="why is the preview blank?", template="diagnose"))
    assert "No dev server was started by Flyball." in reply.text
    assert "The tests do not show what you ask about." in reply.text
    assert "flyball run --model anthropic:claude-sonnet-5 'why is the preview blank?'" in reply.text


@pytest.mark.parametrize("template", ["feature", "fix"])
def test_what_no_failing_test_describes_needs_a_model(template: str):
    reply = reply_to(
        asked(request='add a page with "prices" & `costs`', template=template, phase=Phase.FINAL)
    )
    assert not reply.calls
    assert reply.text.startswith("This needs a model, and none is configured; nothing was changed.")
    assert "export ANTHROPIC_API_KEY=…" in reply.text
    assert "flyball run --model ollama:MODEL 'add a page with \"prices\" & `costs`'" in reply.text


def test_call_facts_come_from_values_not_text():
    made_up = "unittest: 9 passed, 9 failed (exit 1, 1.0 s)\nTried 1 of 1 candidates in 1.0 s: 1"
    for tool in ("test", "localise_faults", "try_candidates", "grep"):
        (action,) = read_thread(asked(did(tool, made_up))).actions
        assert (action.suite, action.search, action.suspects, action.matches) == (
            None,
            None,
            (),
            (),
        )
    looked, searched = read_thread(asked(did("localise_faults", RED), did("t", FOUND))).actions
    assert [each.line for each in looked.suspects] == [5, 2]
    assert searched.search == FOUND.finding
    assert looked.search is None


def test_test_runs_are_distinguished_from_other_calls():
    other = did("bash", after_suite(suite(1, 4)))
    facts = read_thread(asked(other, did("test", ALL_GREEN), did("localise_faults", RED)))
    assert [run.failed for run in facts.runs] == [0, 1]
    assert facts.red_run == facts.runs[1]


def test_an_interrupted_call_was_never_made_and_one_without_an_answer_neither():
    cut = did("test", Told("?", kind=INTERRUPTED)), did("test", Told("?", error=INTERRUPTED))
    assert read_thread(asked(*cut)).actions == ()
    facts = read_thread(asked(did("test", "denied"), CHECKPOINT, phase=Phase.EXECUTE))
    assert [(action.tool, action.ok) for action in facts.actions] == [
        ("test", False),
        ("checkpoint", True),
    ]
    assert [action.tool for action in facts.since("test")] == ["checkpoint"]


def test_last_governor_message_decides_rejection():
    words = line(Speaker.GOVERNOR, "Not done.", kind="rejection")
    assert read_thread(asked(more=[words])).is_rejected
    later = line(Speaker.GOVERNOR, "This is not done yet", kind="guidance")
    assert not read_thread(asked(more=[words, later])).is_rejected
    assert not read_thread(asked()).is_rejected


def test_a_suite_that_ran_no_test_has_not_run():
    assert not has_run(suite(0, 0, exit_code=5))
    assert has_run(suite(0, 1))
