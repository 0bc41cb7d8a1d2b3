"""Each kind of fault has a template that proposes its mend."""

import textwrap

import pytest

from flyball.repair.inside.hot_swap import apply_edits
from flyball.repair.ranking import FAVOURED, MASS, chances
from flyball.repair.search import TEMPLATES, generate_candidates
from flyball.repair.source import Source
from flyball.repair.spectrum import SuspectLine, error_kinds


def proposals(text, line, clues=frozenset()):
    """Every text that a candidate at this line makes of the source, with its template."""
    source = Source("m.py", textwrap.dedent(text).encode())
    found = generate_candidates({"m.py": source}, [SuspectLine("m.py", line, 1.0)], clues)
    return {apply_edits(source.data, each.edits).decode(): each.template for each in found}


def mended(before, line, change, **more):
    """The template that makes the change, if any does."""
    before = textwrap.dedent(before)
    old, new = change
    assert before.count(old) == 1, "the test itself must be clear"
    return proposals(before, line, **more).get(before.replace(old, new))


LOOP = """\
def f(items, limit):
    total = 0
    for i, item in enumerate(items):
        if i < limit and item:
            total += item * 2
    return total
"""


@pytest.mark.parametrize(
    ("line", "old", "new", "template"),
    [
        (4, "i < limit", "i <= limit", "comparison"),
        (4, "i < limit and", "i < limit or", "boolean"),
        (4, " and item", "", "boolean"),
        (5, "item * 2", "item ** 2", "arithmetic"),
        (5, "+=", "-=", "augmented"),
        (5, "+=", "=", "augmented"),
        (5, "item * 2", "item * 3", "off by one"),
        (5, "item * 2", "item * limit", "variable for constant"),
        (5, "item * 2", "i * 2", "variable"),
        (5, "item * 2", "item", "operand dropped"),
        (3, "enumerate(items)", "enumerate(items, 1)", "argument count"),
        (3, "enumerate(items)", "enumerate(items[1:])", "slice"),
        (3, "enumerate(items)", "reversed(enumerate(items))", "iteration"),
        (2, "total = 0", "total = 1", "off by one"),
        (2, "total = 0", "total = []", "container"),
        (6, "return total", "return total + 1", "off by one"),
        (6, "return total", "return total * limit", "operand added"),
        (6, "return total", "return max(0, total)", "extreme"),
        (4, "i < limit and item", "i < limit and item and not total", "condition joined"),
    ],
)
def test_a_small_change_is_proposed(line, old, new, template):
    assert mended(LOOP, line, (old, new)) == template


CLASS = """\
class Box:
    def __init__(self, size=0, items=[]):
        self.size = size
        self.items = items

    def put(self, item, count):
        if self.size > count:
            self.items.append(item)
            return helper(item, count)
        self.size - count

    def take(self, key, table):
        size = 3
        return table[key] - size


def helper(a, b):
    return min(a, b)


def other(a, b):
    return a
"""


@pytest.mark.parametrize(
    ("line", "old", "new", "template"),
    [
        (8, ".append(", ".extend(", "attribute"),
        (9, "helper(item, count)", "helper(count, item)", "argument order"),
        (9, "helper(item, count)", "other(item, count)", "callee"),
        (9, "helper(item, count)", "item", "unwrap"),
        (9, "helper(item, count)", "str(helper(item, count))", "wrap"),
        (10, "        self.size - count", "        return self.size - count", "returned"),
        (14, "table[key]", "table.get(key)", "lookup"),
        (14, "table[key] - size", "size - table[key]", "operand order"),
        (14, "table[key] - size", "table[key] - self.size", "self"),
        (18, "min(a, b)", "max(a, b)", "callee"),
        (2, "size=0", "size=1", "constant"),
    ],
)
def test_calls_and_attributes_are_changed(line, old, new, template):
    assert mended(CLASS, line, (old, new)) == template


@pytest.mark.parametrize("value", ["0", "False", '"none"', "total"])
def test_a_value_that_got_lost_is_given_back(value):
    text = f"def f(total):\n    if not total:\n        total += 1\n        {value}\n    return 1\n"
    assert mended(text, 4, (f"        {value}\n", f"        return {value}\n")) == "returned"


@pytest.mark.parametrize("text", ['"""What it does."""', "..."])
def test_what_is_no_value_is_not_given_back(text):
    made = proposals(f"def f(total):\n    {text}\n    print(total)\n", 2)
    assert not any(f"return {text}" in each for each in made)


def test_shared_default_is_created_each_time():
    made = proposals("def f(x, seen=[]):\n    seen.append(x)\n    return seen\n", 2)
    wanted = (
        "def f(x, seen=None):\n    if seen is None:\n        seen = []\n"
        "    seen.append(x)\n    return seen\n"
    )
    assert made[wanted] == "mutable default"


MERGE = """\
def merge(left, right):
    out = []
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i] < right[j]:
            out.append(left[i])
            i += 1
        else:
            out.append(right[j])
            j += 1
    out.extend(left[i:])
    return out
"""


@pytest.mark.parametrize(
    ("line", "old", "new", "template"),
    [
        (11, "left[i:])\n", "left[i:])\n    out.extend(right[j:])\n", "statement added"),
        (10, "            j += 1\n", "            pass\n", "left out"),
        (6, "[j]:\n", "[j]:\n            if not i:\n                break\n", "guard"),
    ],
)
def test_statements_come_and_go(line, old, new, template):
    assert mended(MERGE, line, (old, new)) == template


MANY = """\
import re
from collections import deque

LOW = 1
HIGH = 9


class Base:
    def __init__(self, size):
        self.size = size


class Thing(Base):
    def __init__(self, size, name):
        self.name = name
        self.open = True

    def show(self, other):
        self.items.append(other)
        if other is None:
            return f"{self.name}: {other:d}"
        if self.name > LOW:
            yield other.items
        names = sorted(self.names)
        names = names.sort()
        return names + other * 2 // LOW


def grid(n, m):
    total = 0

    def more():
        total += 1

    rows = [[0] * n] * m
    text.strip()
    return {**n, **m}, rows[n:m + 2], math.pi, Countr
"""


@pytest.mark.parametrize(
    ("line", "old", "new", "template"),
    [
        (15, "        self.name = name", "        super().__init__(size)\n        self.name = name",
         "inherited"),
        (21, "{other:d}", "{other:02d}", "format"),
        (21, "{self.name}", "{self.open}", "attribute"),
        (20, "other is None", "other is None and other.open", "condition joined"),
        (22, "        if self.name", "        elif self.name", "keyword"),
        (22, "> LOW", "> HIGH", "global"),
        (23, "yield other", "yield from other", "given back"),
        (23, "other.items", "other.items()", "call"),
        (24, "sorted(self.names)", "sorted(self.names, key=len)", "order"),
        (25, "names = names.sort()", "names.sort()", "given back"),
        (26, "names + other * 2", "(names + other * 2)", "brackets"),
        (33, "        total += 1", "        nonlocal total\n        total += 1", "declared"),
        (35, "[[0] * n] * m", "[[0] * n for _ in range(m)]", "made anew"),
        (36, "text.strip()", "text = text.strip()", "given back"),
        (37, "{**n, **m}", "{**m, **n}", "argument order"),
        (37, "[n:m + 2]", "[n - 1:m + 1]", "slice"),
        (37, "import re\n", "import math\nimport re\n", "unknown name"),
    ],
)  # fmt: skip
def test_less_usual_changes_are_proposed(line, old, new, template):
    assert mended(MANY, line, (old, new)) == template


def test_a_division_by_nothing_is_avoided():
    made = proposals("def f(a, b):\n    return a / b\n", 2)
    assert made["def f(a, b):\n    return a / (b or 1)\n"] == "made anew"


def test_a_sign_is_turned():
    made = proposals("def f(d, a):\n    return sorted(d, key=lambda n: (d[n], n), default=a)\n", 2)
    assert any("(-d[n], n)" in text for text in made)
    assert any("default=-a" in text for text in made)


def test_a_quotient_is_rounded_up():
    made = proposals("def f(a, b):\n    return a // b\n", 2)
    assert made["def f(a, b):\n    return -(-a // b)\n"] == "adjustment"


def test_a_condition_that_saves_the_next_comes_first():
    text = (
        "def f(s):\n    i = j = 0\n    while i < len(s):\n        i += 1\n"
        "    while s[j]:\n        j += 1\n"
    )
    made = proposals(text, 5, clues=frozenset({"IndexError"}))
    assert text.replace("while s[j]", "while j < len(s) and s[j]") in made


def test_a_place_in_the_set_of_an_outer_function_is_filled():
    text = (
        "def f(graph):\n    seen = set()\n\n    def go(node):\n        return node in seen\n\n"
        "    return go(graph)\n"
    )
    wanted = text.replace("        return node", "        seen.add(node)\n        return node")
    assert proposals(text, 5)[wanted] == "statement added"


def test_statements_change_places():
    text = "def f(a):\n    for x in a:\n        b = x\n        c = b\n    return c\n"
    made = proposals(text, 3)
    assert (
        made["def f(a):\n    for x in a:\n        c = b\n        b = x\n    return c\n"] == "moved"
    )
    out = proposals(text, 4)
    assert "def f(a):\n    for x in a:\n        b = x\n    c = b\n    return c\n" in out


def test_two_loops_change_places():
    text = "def t(m, h, w):\n    return [[m[y][x] for x in range(w)] for y in range(h)]\n"
    made = proposals(text, 2)
    wanted = "def t(m, h, w):\n    return [[m[y][x] for y in range(h)] for x in range(w)]\n"
    assert made[wanted] == "exchanged loops"


def test_what_is_not_changed_keeps_its_form():
    text = "def f( a,b ):  # why\n    return   a<b   # 'quoted'\n"
    assert "def f( a,b ):  # why\n    return   a<=b   # 'quoted'\n" in proposals(text, 2)


def test_carriage_returns_survive():
    text = "def f(a):\r\n    b = a\r\n    return b\r\n"
    source = Source("m.py", text.encode())
    found = generate_candidates({"m.py": source}, [SuspectLine("m.py", 2, 1.0)])
    made = [
        apply_edits(source.data, each.edits) for each in found if each.template == "statement added"
    ]
    assert made
    assert all(b"\n" not in each.replace(b"\r\n", b"") for each in made)


def test_brackets_are_set_where_they_are_needed():
    made = proposals("def f(a, b, c):\n    return a * b\n", 2)
    assert "def f(a, b, c):\n    return a * (b + c)\n" in made
    assert "def f(a, b, c):\n    return a * b + c\n" in made


@pytest.mark.slow
def test_every_proposal_can_at_least_be_written_down():
    for text, lines in ((LOOP, 6), (CLASS, 22), (MERGE, 12)):
        for line in range(1, lines + 1):
            for made in proposals(text, line):
                made.encode()


def test_no_candidate_comes_twice_or_changes_nothing():
    source = Source("m.py", LOOP.encode())
    places = [SuspectLine("m.py", line, 1.0) for line in range(1, 7)]
    found = generate_candidates({"m.py": source}, places)
    texts = [apply_edits(source.data, each.edits) for each in found]
    assert len(texts) == len(set(texts))
    assert source.data not in texts


def test_the_likeliest_comes_first():
    source = Source("m.py", LOOP.encode())
    places = [SuspectLine("m.py", line, 0.2 if line == 4 else 1.0) for line in range(1, 7)]
    found = generate_candidates({"m.py": source}, places)
    assert [each.chance for each in found] == sorted((e.chance for e in found), reverse=True)
    assert found[0].line != 4


def test_how_a_test_fails_is_a_clue():
    none = error_kinds(["Traceback\nAttributeError: 'NoneType' object has no attribute 'next'\n"])
    assert none == {"none"}
    assert error_kinds(["time"]) == {"endless"}
    assert error_kinds(["E   KeyError: 'a'"]) == {"KeyError"}
    assert chances("condition joined", [1.0], 1.0, none) > chances(
        "condition joined", [1.0], 1.0, ()
    )
    assert chances("comparison", [1.0], 1.0, none) == [MASS["comparison"]]


def test_a_clue_about_none_brings_guards_forward():
    text = (
        "def f(node):\n    while True:\n        if node.next is None:\n            return False\n"
    )
    source = Source("m.py", text.encode())
    place = [SuspectLine("m.py", 3, 1.0)]

    def rank(clues):
        wanted = b"if node is None or node.next is None:"
        found = generate_candidates({"m.py": source}, place, clues)
        texts = [apply_edits(source.data, each.edits) for each in found]
        return next(i for i, each in enumerate(texts) if wanted in each)

    assert rank(frozenset({"none"})) < rank(frozenset())


def test_template_names_are_one_of_a_kind():
    names = [template.name for template in TEMPLATES]
    assert len(names) == len(set(names))
    assert set(names) == set(MASS)
    assert {name for favoured in FAVOURED.values() for name in favoured} <= set(names)


IMPORTS = """\
import colections
from itertools import chian
from maths import sqrt
from shop.cart import totle


def f(prices):
    return collections.Counter(chain(prices)), sqrt(total(prices))
"""


@pytest.mark.parametrize(
    ("line", "old", "new"),
    [
        (1, "import colections", "import collections"),
        (2, "import chian", "import chain"),
        (3, "from maths", "from math"),
        (4, "import totle", "import total"),
    ],
)
def test_an_imported_name_is_spelt_right(line, old, new):
    assert mended(IMPORTS, line, (old, new)) == "imported name"


SHELF = """\
UNITS = {"s": 1, "h": 360}


class Shelf:
    def __init__(self, size):
        self.slots = [None] * size
        self.at = 0
        self.is_full = False
        self.counts = {}

    def root(self, item):
        return item

    def put(self, item, by):
        top = 0
        self.counts[item] = by
        self.slots[self.at] = item
        self.at = self.at + 1
        for each in self.slots:
            if each > top:
                top = each[0]
        return top + self.slots[by]

    def see(self, mail, by):
        mail["seen"]
        opened = True
        low, high = [], []
        if mail == by:
            low.append(by)
        return mail + [by]
"""


@pytest.mark.parametrize(
    ("line", "old", "new", "template"),
    [
        (1, "360", "3600", "constant"),
        (15, "top = 0", 'top = float("-inf")', "constant"),
        (16, "= by", "= self.counts.get(item, 0) + by", "extreme"),
        (16, "counts[item]", "counts[self.root(item)]", "wrap"),
        (18, "self.at + 1", "(self.at + 1) % len(self.slots)", "operand added"),
        (18, "+ 1\n", "+ 1\n        self.is_full = True\n", "statement added"),
        (21, "each[0]", "each[:top]", "slice"),
        (22, "self.slots[by]", "top", "donor"),
        (25, '["seen"]\n', '["seen"]\n        mail["seen"] = True\n', "statement added"),
        (26, "opened = True", "opened = not mail", "condition replaced"),
        (28, "mail == by", 'mail == by and mail != "s"', "condition joined"),
        (
            29,
            "low.append(by)\n",
            "low.append(by)\n            high.append(by)\n",
            "statement added",
        ),
        (30, "[by]", "low", "donor"),
    ],
)
def test_what_everyday_classes_forget_is_proposed(line, old, new, template):
    before = textwrap.dedent(SHELF)
    at = sum(map(len, before.splitlines(keepends=True)[: line - 1]))
    after = before[:at] + before[at:].replace(old, new, 1)
    assert proposals(before, line).get(after) == template


def test_a_value_is_brought_into_form_and_a_table_begun():
    text = "def f(items, by):\n    table = [0] * by\n    return items[by:] + table\n"
    made = proposals(text, 3)
    lines = text.splitlines(keepends=True)
    for wanted in ("by %= len(items)", "table[0] = 1"):
        assert made["".join([*lines[:2], f"    {wanted}\n", lines[2]])] == "statement added"


def test_a_lone_proposal_of_little_weight_does_not_get_the_whole_mass():
    source = Source("m.py", b"def f(pairs):\n    return [a for a, b in pairs]\n")
    found = generate_candidates({"m.py": source}, [SuspectLine("m.py", 2, 1.0)])
    (exchanged,) = [each for each in found if each.template == "argument order"]
    assert exchanged.chance < MASS["argument order"] / 2


def test_what_looks_into_something_absent_is_asked_first():
    text = "def f(slow, fast):\n    while fast.to:\n        fast = fast.to.to\n"
    source = Source("m.py", text.encode())
    clues = error_kinds(["AttributeError: 'NoneType' object has no attribute 'to'"])
    found = generate_candidates({"m.py": source}, [SuspectLine("m.py", 2, 1.0)], clues)
    joined = [each.label for each in found if each.template == "condition joined"]
    assert joined[0] == "`fast.to` → `fast is not None and fast.to`"


LOOPS = """\
def merge(a, b, text):
    out = []
    i = j = at = 0
    while a[i:] and b[j:]:
        i += a[i] < 3
        j += b[j] < 3
    for ch in text:
        if ch.isalpha():
            out.append(ch)
        at += 1
    text.strip()
    return out + a[i:]
"""


@pytest.mark.parametrize(
    ("line", "old", "new", "template"),
    [
        (10, "        at += 1", "        if ch.isalpha():\n            at += 1", "only if"),
        (11, "    text.strip()", "    out = text.strip()", "given back"),
        (12, "out + a[i:]", "out + a[i:] + b[j:]", "parallel"),
    ],
)
def test_what_is_half_there_is_completed(line, old, new, template):
    assert mended(LOOPS, line, (old, new)) == template


def test_a_function_that_gives_nothing_back_may_end_early():
    text = "def put(items, one):\n    for each in items:\n        each.add(one)\n    items.sort()\n"
    wanted = text.replace("add(one)\n", "add(one)\n        return\n")
    assert proposals(text, 3)[wanted] == "statement added"


def test_brackets_and_parts_of_conditions_are_reached():
    text = "def f(a, tag, done):\n    if not done and tag in a:\n        return a - 32 * 5 / 9\n"
    made = proposals(text, 3)
    assert made[text.replace("a - 32 * 5", "(a - 32) * 5")] == "brackets"
    within = text.replace("tag in a", "(tag is None or tag in a)")
    assert proposals(text, 2)[within] == "condition joined"


def test_texts_are_joined_and_not_taken_from_each_other():
    text = "def f(parts):\n    return '(' - ', '.join(parts)\n"
    assert mended(text, 2, ("'(' -", "'(' +")) == "arithmetic"


def test_a_flag_is_rather_turned_than_made_of_something_else():
    source = Source("m.py", b"def f(ch, cell):\n    quoted = False\n    quoted = True\n")
    found = generate_candidates({"m.py": source}, [SuspectLine("m.py", 3, 1.0)])
    first = next(each.label for each in found if each.template == "condition replaced")
    assert first == "`True` → `not quoted`"
