"""A changed text takes effect in what is already loaded, or is refused."""

import ast
import functools
import importlib.util
import sys
import textwrap
import types

import pytest

from flyball.repair.inside.hot_swap import Edit, LiveFile, Unswappable, apply_edits, undo
from flyball.repair.inside.trials import measure_state
from flyball.repair.source import Source, expressions, fields_of

TEXT = textwrap.dedent(
    """\
    LIMIT = 3


    def outer(n, by=2, *, plus=0):
        def inner(m):
            return m * by + plus

        return inner(n)


    class Box:
        size = 5

        def big(self):
            return self.size > LIMIT

        @property
        def half(self):
            return self.size / 2


    def twice(function):
        return lambda n: function(function(n))


    @twice
    def next_one(n):
        return n + 1
    """
)


@pytest.fixture
def loaded(tmp_path):
    """A module, and a way to change it."""
    file = tmp_path / "swapped.py"
    file.write_text(TEXT)
    spec = importlib.util.spec_from_file_location("swapped", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules["swapped"] = module
    spec.loader.exec_module(module)
    living = LiveFile(str(file))

    def swap(old, new):
        start = TEXT.index(old)
        return living.swap([Edit(start, start + len(old), new)])

    yield module, swap
    del sys.modules["swapped"]


@pytest.mark.parametrize(
    ("old", "new", "ask", "before", "after"),
    [
        ("m * by", "m - by", lambda m: m.outer(7), 14, 5),
        ("by=2", "by=3", lambda m: m.outer(7), 14, 21),
        ("plus=0", "plus=1", lambda m: m.outer(7), 14, 15),
        ("LIMIT = 3", "LIMIT = 9", lambda m: m.Box().big(), True, False),
        ("size = 5", "size = 2", lambda m: m.Box().big(), True, False),
        ("> LIMIT", "< LIMIT", lambda m: m.Box().big(), True, False),
        ("n + 1", "n + 2", lambda m: m.next_one(0), 2, 4),
    ],
    ids=["closure", "default", "keyword", "constant", "attribute", "method", "decorated"],
)
def test_hot_swap_applies_and_reverts(loaded, old, new, ask, before, after):
    module, swap = loaded
    assert ask(module) == before
    steps = swap(old, new)
    assert ask(module) == after
    undo(steps)
    assert ask(module) == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("class Box:", "class Box(dict):"),
        ("@twice\n", ""),
        ("LIMIT = 3", "LIMIT = 3\nOTHER = 4"),
        ("    size = 5\n", "    size = 5\n    more = 1\n"),
    ],
)
def test_what_cannot_be_done_is_refused_and_nothing_changes(loaded, old, new):
    module, swap = loaded
    with pytest.raises(Unswappable):
        swap(old, new)
    assert (module.LIMIT, module.outer(7), module.Box().big()) == (3, 14, True)


def test_a_text_that_is_no_python_is_a_syntax_error(loaded):
    with pytest.raises(SyntaxError):
        loaded[1]("n + 1", "n +")


def test_edits_do_not_disturb_each_other():
    assert apply_edits(b"abcdef", [Edit(1, 2, "BBB"), Edit(4, 5, "")]) == b"aBBBcdf"
    assert apply_edits("äb".encode(), [Edit(2, 3, "c")]) == "äc".encode()


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


@pytest.fixture
def module():
    made = types.ModuleType("made")
    text = (
        "import functools\nSEEN = {}\nCOUNT = 0\n\n\ndef put(x, into=[]):\n    into.append(x)\n\n\n"
        "@functools.lru_cache\ndef cached(x):\n    return x\n\n\n"
        "class Box:\n    shared = []\n\n    def __init__(self):\n        self.held = []\n\n\n"
        "BOX = Box()\n"
    )
    exec(text, vars(made))
    return made


def bump(module):
    module.COUNT += 1


@pytest.mark.parametrize(
    "leave",
    [
        lambda m: m.SEEN.update(a=1),
        bump,
        lambda m: m.put(1),
        lambda m: m.cached(1),
        lambda m: m.Box.shared.append(1),
        lambda m: m.BOX.held.append(1),
    ],
    ids=["dictionary", "number", "default", "cache", "class", "object"],
)
def test_a_stain_is_seen(module, leave):
    clean = measure_state([module])
    assert measure_state([module]) == clean
    leave(module)
    assert measure_state([module]) != clean


def test_what_leaves_nothing_is_clean(module):
    clean = measure_state([module])
    module.Box().held.append(1)
    functools.reduce(max, [1, 2])
    assert measure_state([module]) == clean
