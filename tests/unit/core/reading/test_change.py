import pytest

from flyball.core.reading.change import read_change
from flyball.core.reading.classifier import classify
from flyball.core.terms.intent import ChangeKind

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
