"""The expressions in formatted strings have places like any other."""

import ast

import pytest

from flyball.repair.source import Source, expressions, fields_of


def texts(line):
    """Every expression of a line that stands in a formatted string, as it is written."""
    source = Source("m.py", line.encode())
    (statement,) = source.tree.body
    found = [node for node in expressions(statement) if not isinstance(node, ast.Constant)]
    return [source.text(node) for node in found]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ('x = f"{a}-{b + 1}"', ["x", "a", "b + 1", "b"]),
        ("x = f'ä{a!r:>10}{{no}}{b:02d}'", ["x", "a", "b"]),
        ('x = f"{a[1] != b}"', ["x", "a[1] != b", "a[1]", "a", "b"]),
        ("x = f\"{d['k']:,}\"", ["x", "d['k']", "d"]),
        ("x = f'{a=}'", ["x", "a"]),
        ('x = "ä" + f"{a}"', ["x", '"ä" + f"{a}"', "a"]),
    ],
)
def test_expressions_are_found_where_they_stand(line, wanted):
    assert texts(line) == wanted


def test_what_is_too_intricate_is_left_alone():
    assert texts('x = f"{a}" f"{b}"') == ["x"]
    assert texts('x = f"""{a}\n{b}"""') == ["x"]


def test_the_form_of_a_field_is_found():
    text = 'f"{a:>{width}} {b!r:5}"'
    fields = fields_of(text)
    assert [text[each.start : each.end] for each in fields] == ["a", "b"]
    assert [text[slice(*each.form)] for each in fields] == [">{width}", "5"]


@pytest.mark.parametrize("text", ['"{a}"', 'f"{a', "f'{'", 'f"""a"""b"'])
def test_no_formatted_string_has_no_fields(text):
    assert not fields_of(text)
