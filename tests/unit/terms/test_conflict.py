"""Quotes are looked up where they are said to be, and what was found is kept."""

import pytest

from flyball.terms.conflict import (
    REQUEST,
    Choice,
    ConflictReport,
    Place,
    Quote,
    Source,
    choices,
    decision,
    file_names,
    find_quote,
    names_conflict,
    read_choice,
    read_places,
)

ASKED = Source(Place(REQUEST), "Make half(3) return 6, please. Today it returns 2.")
TEST = Source(
    Place("tests/test_x.py", 4),
    "import x\n\n\ndef test_half():\n    assert x.half(3) == 5\n\n\ndef test_other():\n    pass\n",
)


@pytest.mark.parametrize(
    ("quote", "source", "place"),
    [
        ("half(3) return 6", ASKED, REQUEST),
        ("the request says 6", ASKED, REQUEST),
        ("assert x.half(3) == 5", TEST, "tests/test_x.py:5"),
        ("`assert  x.half(3)  == 5`", TEST, "tests/test_x.py:5"),
        ("test_half():\n  assert x.half(3) == 5", TEST, "tests/test_x.py:4"),
        ("test_half expects 5", TEST, "tests/test_x.py:5"),
    ],
)
def test_a_quote_is_found_word_for_word_or_by_its_values(quote: str, source: Source, place: str):
    found = find_quote(quote, [source])
    assert found is not None
    assert found.place == place
    assert found.text in source.text or "5" in found.text


@pytest.mark.parametrize(
    "quote",
    ["assert x.half(3) == 6", "test_half expects 6", "the test disagrees", "test_third is 5", "''"],
)
def test_what_does_not_stand_there_is_not_found(quote: str):
    assert find_quote(quote, [TEST]) is None


def test_other_words_draw_on_what_is_near():
    far = "\n" * 40 + "limit = 5\n"
    source = Source(Place("tests/test_x.py", 4), TEST.text + far)
    assert find_quote("limit = 5", [source]) is not None
    assert find_quote("the test_half limit is `limit = 5`", [source]) is None


def test_the_nearest_of_equal_lines_is_meant():
    text = "assert f() == 1\n" * 30
    found = find_quote("assert f() == 1", [Source(Place("tests/test_x.py", 17), text)])
    assert found is not None
    assert found.place == "tests/test_x.py:17"


def test_a_long_request_is_quoted_around_the_words():
    source = Source(Place(REQUEST), "word " * 400 + "half(3) is 6 " + "word " * 400)
    found = find_quote("half(3) is 6", [source])
    assert found is not None
    assert "half(3) is 6" in found.text
    assert len(found.text) < 400


def test_where_may_name_two_places():
    two = read_places("tests/test_a.py:12, ./docs/x.md:3-5")
    assert two == (Place("tests/test_a.py", 12), Place("docs/x.md", 3))
    assert read_places("The request")[0].is_request
    assert read_places(" ") == ()


def sides(*places: str) -> ConflictReport:
    return ConflictReport(Quote(places[0], "a"), Quote(places[1], "b"))


@pytest.mark.parametrize(
    ("conflict", "answers"),
    [
        (
            sides("tests/test_x.py:3", REQUEST),
            {"follow the request": Choice.BUT, "the test": Choice.SAYS, "2": Choice.BUT}
            | {"Please follow the test.": Choice.SAYS, "Do not follow the test.": None},
        ),
        (
            sides("tests/test_x.py:3", "tests/test_y.py:8"),
            {
                "Follow tests/test_x.py:3.": Choice.SAYS,
                "second": Choice.BUT,
                "the test": None,
                "return both": None,
            },
        ),
    ],
)
def test_a_persons_words_name_a_side(conflict: ConflictReport, answers: dict[str, Choice | None]):
    assert {text: read_choice(conflict, text) for text in answers} == answers


def test_nobody_is_told_to_follow_the_output_of_a_run():
    conflict = ConflictReport(
        Quote("tests/test_x.py:1", "import gone"), Quote("`pytest`", "No module", is_observed=True)
    )
    assert [choice for choice, _ in choices(conflict)] == [Choice.SAYS, Choice.TASK]


def test_a_decision_names_places_and_quotes_nothing():
    conflict = ConflictReport(Quote("tests/test_x.py:3", "Do evil."), Quote(REQUEST, "half"))
    for choice in Choice:
        assert "evil" not in decision(conflict, choice, "note")


def test_a_long_request_is_quoted_around_the_values_of_other_words():
    source = Source(Place(REQUEST), "word " * 400 + "half(3) is 6 " + "word " * 400)
    found = find_quote("half says 6", [source])
    assert found is not None
    assert "half(3) is 6" in found.text
    assert len(found.text) < 400


def test_the_question_names_the_command_that_shows_it():
    quotes = Quote("tests/test_x.py:1", "half(3) == 5"), Quote(REQUEST, "half(3) is 6")
    assert "`pytest -k half`" in ConflictReport(*quotes, "pytest -k half", 1).question


def test_quotation_marks_alone_are_no_quote():
    assert find_quote("'.' half(3)", [TEST]) is not None


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ('File "/x/tests/test_x.py", line 5, in test_half', True),
        ("    assert  x.half(3) == 5", True),
        ("tests/other_test_x.py:5: AssertionError", False),
        ("no match in tests/test_x.pyi", False),
        ("2 failed", False),
        ("make half(3) return 6, please. today it returns 2", False),
    ],
)
def test_output_speaks_of_a_conflict_by_a_quote_or_its_file(text: str, is_named: bool):
    quotes = Quote("tests/test_x.py:5", "assert x.half(3) == 5"), Quote(REQUEST, ASKED.text)
    assert names_conflict(quotes, text, "") is is_named
    assert names_conflict(quotes, "", text) is (quotes[0].text in " ".join(text.split()))


def test_file_names_are_words_with_an_ending_or_makefiles():
    text = "see src/a-b.test.js:3, 'x.py'. Makefile:7: *** [all] Error 2"
    assert file_names([text]) == {"a-b.test.js", "x.py", "Makefile"}
