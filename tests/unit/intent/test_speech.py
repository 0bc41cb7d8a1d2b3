import pytest

from flyball.intent.act import Act
from flyball.intent.change import read_change
from flyball.intent.classifier import classify
from flyball.intent.speech import hear
from flyball.terms.intent import ChangeKind


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("how about painting something", Act.ASIDE),
        ("any weird hiccups?", Act.INQUIRE),
        ("give me a joke", Act.SOCIAL),
        ("tell me how the cache is filled", Act.INQUIRE),
        ("write me a haiku", Act.SOCIAL),
        ("we would like to know the cause", Act.INQUIRE),
        ("I just pushed my part", Act.ASIDE),
        ("the first version is fine", Act.ASIDE),
        ("a most cool thing you have there my friend", Act.SOCIAL),
        ("the button must be blue", Act.FIX),
        ("we want a forum", Act.BUILD),
        ("we want a bigger logo", Act.FIX),
        ("we want the whole app", Act.WHOLE),
        ("everything", Act.WHOLE),
        ("the form submits nothing at all", Act.REPORT),
        ("my sister paints the blue boats daily", Act.REPORT),
        ("current branch", Act.LOOK),
        ("email notifications", Act.BUILD),
        ("typo line 5", Act.FIX),
        ("explain recursion", Act.SOCIAL),
        ("explain our retry code", Act.INQUIRE),
        ("don't stop until it's done", Act.WHOLE),
        ("don't log passwords", Act.FORBID),
        ("könntest du das korrigieren", Act.FIX),
        ("könntest du bitte", Act.ASIDE),
        ("I need to know more", Act.INQUIRE),
        ("make me a forum", Act.BUILD),
        ("make the header blue", Act.FIX),
        ("add a comma", Act.FIX),
        ("build is broken", Act.REPORT),
        ("build errors again", Act.REPORT),
        ("何も出てきません", Act.REPORT),
        ("could the text be a bit larger?", Act.FIX),
        ("reconciliation screen where people match payments", Act.BUILD),
        ("frobnicate the boat", Act.FIX),
        ("frobnicated the boat", Act.ASIDE),
        ("imagine the boat", Act.ASIDE),
        ("do it", Act.ASSENT),
        ("let me filter the table by date", Act.BUILD),
        ("delay 300ms instead of 1s", Act.FIX),
        ("search results are sorted by nobody", Act.REPORT),
        ("könntest du das kalibrieren", Act.FIX),
        ("tell me about monads", Act.SOCIAL),
        ("please keep it short", Act.ASIDE),
        ("great job on the export page", Act.SOCIAL),
        ("start building the parser", Act.BUILD),
        ("are you able to open files and edit them?", Act.LOOK),
        ("can we drop python 3.9 already?", Act.INQUIRE),
        ("tu peux la corriger ?", Act.FIX),
        ("updates arrive out of order", Act.REPORT),
        ("delete returns a 405", Act.REPORT),
        ("should a junior learn vim", Act.SOCIAL),
        ("we want to start and stop it from the menu", Act.BUILD),
    ],
)
def test_a_clause_performs_one_act(text, act):
    assert hear(text).acts == (act,)


@pytest.mark.parametrize(
    ("text", "acts"),
    [
        ("hi, fix the typo", (Act.SOCIAL, Act.FIX)),
        ("why is it red? make it blue", (Act.INQUIRE, Act.FIX)),
        ("look into the leak and fix it", (Act.INQUIRE, Act.FIX)),
        ("no, just rename it", (Act.REFUSAL, Act.FIX)),
        ("live cursors would be great. let's do it", (Act.BUILD, Act.FIX)),
        ("yes, do it", (Act.ASSENT, Act.ASSENT)),
        ("explain the lock and rename it", (Act.INQUIRE, Act.FIX)),
        ("add a page with search and export", (Act.BUILD,)),
        ("the lock is never released, right?", (Act.INQUIRE, Act.ASIDE)),
        ("rename it to fetch, ok?", (Act.FIX, Act.ASIDE)),
        ("we should drop redis?", (Act.INQUIRE,)),
        ("have a look at the shop and build the same for us", (Act.INQUIRE, Act.BUILD)),
    ],
)
def test_clauses_are_heard_in_order(text, acts):
    assert hear(text).acts == acts


def test_an_act_comes_with_the_words_that_gave_it_away():
    (clause,) = hear("please rename foo to bar").clauses
    assert clause.text == "please rename foo to bar"
    assert clause.heard.cue == "tells to rename"
    assert not clause.heard.is_question


def test_what_is_set_aside_is_marked():
    heard = hear("budget=150. read only: what is up?\nValueError: no")
    assert heard.was_talked_up
    assert heard.is_read_only
    assert heard.has_trouble_paste


FIX, FEATURE, REFACTORING, DOCUMENTS, UNKNOWN = ChangeKind


@pytest.mark.parametrize(
    ("request_text", "kind"),
    [
        (
            "Refactor: move the price rules out of cart.py into pricing.py. No behaviour change.",
            REFACTORING,
        ),
        ("rename Basket to Cart", REFACTORING),
        ("Extract the tax code into its own function", REFACTORING),
        ("clean up the imports", REFACTORING),
        ("Please split the module shop/cart.py into two", REFACTORING),
        ("refactor the error handling in api.py", REFACTORING),
        ("Rewrite total() without changing behaviour", REFACTORING),
        ("use pathlib instead of os.path, behaviour unchanged", REFACTORING),
        ("Remove dead code", REFACTORING),
        ("refactor(cart): simplify totals", REFACTORING),
        ("Benenne die Klasse Basket in Cart um", REFACTORING),
        ("Fix the rounding bug and rename the helper", FIX),
        ("Fix the crash. No behaviour change elsewhere.", FIX),
        ("the total is wrong when the cart is empty", FIX),
        ("test_three_pens fails", FIX),
        ("make test_total pass", FIX),
        ("fix the bug in the comments endpoint", FIX),
        ("remove the broken link", FIX),
        ("add a pricing page", FEATURE),
        ("Refactor the checkout so that discounts apply before tax", FEATURE),
        ("add a comments feature", FEATURE),
        ("Fix the typo in the README", DOCUMENTS),
        ("docs: say how to install", DOCUMENTS),
        ("Document the public API", DOCUMENTS),
        ("Add docstrings to every function", DOCUMENTS),
        ("Rename the 'Buy' button to 'Order'", UNKNOWN),
        ("Sort users by name", UNKNOWN),
        ("change the header colour", UNKNOWN),
        ("thanks", UNKNOWN),
        ("why is the preview blank?", UNKNOWN),
        ("", UNKNOWN),
    ],
)
def test_kind_of_change_follows_from_the_request(request_text, kind):
    assert read_change(request_text).kind is kind


def test_reading_carries_the_kind_and_the_words_that_say_so():
    change = classify("rename Basket to Cart").change
    assert change.kind is REFACTORING
    assert "rename basket to cart" in change.reason
