from typing import Annotated, Any, Literal

import msgspec
import pytest

from flyball.plan.template import Role, Text
from flyball.terms.shape import (
    dotted_path,
    faults,
    json_fault,
    one_line,
    read_loosely,
    suggest,
    value_words,
)


class Inner(msgspec.Struct):
    count: int


class Sample(msgspec.Struct):
    name: Text
    free: str = ""
    flag: bool = False
    ratio: float = 0.0
    limit: int | None = None
    role: Role = Role.EXECUTOR
    items: tuple[Inner, ...] = ()
    notes: dict[Text, Text] = {}
    open: Any = None
    raw: bytes = b""


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "null"),
        (True, "true"),
        (3, "the number 3"),
        ("abc", "the text 'abc'"),
        ("x" * 60, "the text '" + "x" * 39 + "…'"),
        (" ", "empty text"),
        ([], "an empty list"),
        ([1, 2], "a list of 2"),
        ({}, "a map"),
        (b"", "a bytes"),
    ],
)
def test_found_says_what_a_value_is(value, words):
    assert value_words(value) == words


@pytest.mark.parametrize(
    ("value", "path", "code", "message"),
    [
        ([], (), "wrong-type", "It must be a map, not an empty list."),
        ({}, (), "missing-field", "The template has no `name`."),
        ({"name": " "}, ("name",), "wrong-type", "must be text that is not empty, not empty text"),
        ({"name": "a", "free": 1}, ("free",), "wrong-type", "must be text, not the number 1"),
        ({"name": "a", "flag": 1}, ("flag",), "wrong-type", "must be true or false"),
        ({"name": "a", "ratio": "x"}, ("ratio",), "wrong-type", "must be a number, not"),
        (
            {"name": "a", "limit": True},
            ("limit",),
            "wrong-type",
            "a whole number or null, not true",
        ),
        ({"name": "a", "role": "king"}, ("role",), "wrong-type", "one of planner, researcher"),
        ({"name": "a", "role": 3}, ("role",), "wrong-type", "not the number 3"),
        ({"name": "a", "items": {}}, ("items",), "wrong-type", "a list, each a map, not a map"),
        ({"name": "a", "items": [3]}, ("items", 0), "wrong-type", "`items[0]` must be a map"),
        ({"name": "a", "items": [{}]}, ("items", 0), "missing-field", "`items[0]` has no `count`"),
        ({"name": "a", "notes": []}, ("notes",), "wrong-type", "must be a map"),
        ({"name": "a", "notes": {"k": 1}}, ("notes", "k"), "wrong-type", "`notes.k` must be text"),
        ({"name": "a", "notes": {1: "x"}}, ("notes", "1"), "wrong-type", "`notes.1` must be text"),
        ({"name": "a", "nam": 1}, ("nam",), "unknown-field", "`nam` is not a known field."),
    ],
)
def test_each_difference_is_named_with_its_path(value, path, code, message):
    (fault,) = faults(value, Sample)
    assert (fault.path, fault.code) == (path, code)
    assert message in fault.message
    assert fault.hint


def test_a_value_as_its_type_wants_it_has_no_faults():
    value = {
        "name": "a",
        "ratio": 1,
        "limit": None,
        "role": "verifier",
        "items": [{"count": 1}],
        "notes": {"a": "b"},
        "open": object(),
        "raw": "anything",
    }
    assert faults(value, Sample) == ()


def test_all_differences_are_reported_at_once():
    assert len(faults({"flag": 1, "ratio": "x", "zzz": 0}, Sample)) == 4


def test_suggest_names_the_closest_or_all_or_none():
    assert suggest("tests_pas", ["tests_pass", "b"]) == "Did you mean `tests_pass`?"
    assert suggest("qqq", ["b", "a"]) == "Known are: a, b."
    assert suggest("qqq", []) == "Leave it out."


def test_plain_keeps_one_line_and_cuts_the_middle():
    assert one_line("a\nb\x1b[31m\ud800") == "a\\nb\\x1b[31m\\ud800"
    cut = one_line("x" * 5000)
    assert len(cut) < 610
    assert " … " in cut


def test_dotted_reads_as_people_write_it():
    assert dotted_path(("gates", 0, "type")) == "gates[0].type"
    assert dotted_path((2, "step_id")) == "[2].step_id"


def test_found_does_not_write_out_a_huge_number():
    assert value_words(10**5000) == "a huge number"


class Limited(msgspec.Struct, rename="camel"):
    keep_regions: bool = True
    size: Literal["small", "large"] = "small"
    share: Annotated[float, msgspec.Meta(gt=0, le=1)] = 1.0
    below: Annotated[int, msgspec.Meta(lt=9)] = 1
    words: tuple[str, ...] | str = ()


@pytest.mark.parametrize(
    ("value", "message", "mend"),
    [
        ({"keepRegions": 1}, "`keepRegions` must be true or false", "true or false"),
        ({"keep_regions": True}, "`keep_regions` is not a known field.", "`keepRegions`"),
        ({"size": "larg"}, "`size` must be one of large, small, not the text 'larg'", "`large`"),
        ({"size": 3}, "`size` must be one of large, small, not the number 3", "large, small"),
        ({"share": 0}, "`share` must be a number above 0 and of at most 1", "above 0"),
        ({"share": 1.5}, "`share` must be a number above 0 and of at most 1", "at most 1"),
        ({"below": 9}, "`below` must be a whole number below 9, not the number 9", "below 9"),
        ({"words": 3}, "`words` must be a list, each text or text, not the number 3", "text"),
    ],
)
def test_limits_choices_renames_and_unions_are_named(value, message, mend):
    (fault,) = faults(value, Limited)
    assert message in fault.message
    assert mend in fault.hint


def test_the_whole_is_called_as_the_caller_says():
    (fault,) = faults({}, Sample, whole="The call")
    assert fault.message == "The call has no `name`."
    assert faults({"size": "large", "share": 0.5, "words": ["a"]}, Limited) == ()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('{"a": 1,}', {"a": 1}),
        ('{"a": [1, 2, ], }', {"a": [1, 2]}),
        ('{"a": 1, // the first\n "b": 2 /* the second */,\n}', {"a": 1, "b": 2}),
        ('{"a": "x, ] // no comment"}', {"a": "x, ] // no comment"}),
        ('{"a": "x,] /* none */",}', {"a": "x,] /* none */"}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ('"plain"', "plain"),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}),
        ('{"a": 1, # the first\n "b": "#2"}', {"a": 1, "b": "#2"}),
        ("{'a': True, 'b': None, 'c': 'it\\'s \"so\"'}", {"a": True, "b": None, "c": 'it\'s "so"'}),
        ("{a: 1, b_c : [true]}", {"a": 1, "b_c": [True]}),
        ('{"q": "\\d+\\.py\\u0041\\n"}', {"q": "\\d+\\.pyA\n"}),
        ('{"a": {"b": 1}}}', {"a": {"b": 1}}),
        ("~~~\n[1]\n~~~", [1]),
    ],
)
def test_what_it_can_only_mean(text, value):
    assert read_loosely(text) == value


@pytest.mark.parametrize(
    "text",
    ["{a: b}", "{'a': }", '{"a": }', '{"a": 1} and more', "1 ]", "", '"{a"', '{"a": 1 "b": 2}'],
)
def test_what_means_nothing_is_refused_with_its_place(text):
    with pytest.raises(ValueError, match="line 1 column"):
        read_loosely(text)


@pytest.mark.parametrize("text", ["[" * 100_000, "[" * 100_000 + ",", '"' + "[" * 100_000 + '"'])
def test_depth_is_refused_in_words(text):
    with pytest.raises(ValueError, match="nested too deeply"):
        read_loosely(text)


def test_a_fault_is_reported_with_its_place_behind_comments():
    text = 'So:\n```json\n{"a": 1, // one\n /* two\n lines */ "b" 2}\n```'
    assert json_fault(text) == "line 3, column 15: Expecting ':' delimiter, at `lines */ \"b\" 2}`."
