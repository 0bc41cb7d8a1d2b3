"""JSON as models write it: what can only mean one thing is read, the rest is named by its place."""

import pytest

from flyball.core.terms.shape import json_fault, read_loosely


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


def test_a_fault_is_told_where_it_stands_behind_comments():
    text = 'So:\n```json\n{"a": 1, // one\n /* two\n lines */ "b" 2}\n```'
    assert json_fault(text) == "line 3, column 15: Expecting ':' delimiter, at `lines */ \"b\" 2}`."
