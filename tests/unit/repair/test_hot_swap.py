"""A changed text takes effect in what is already loaded, or is refused."""

import importlib.util
import sys
import textwrap

import pytest

from flyball.repair.inside.hot_swap import Edit, LiveFile, Unswappable, apply_edits, undo

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
def test_a_change_takes_effect_and_can_be_taken_back(loaded, old, new, ask, before, after):
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
