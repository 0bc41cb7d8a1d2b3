"""JavaScript and TypeScript: what is seen of a run, and which small changes are proposed."""

import pytest

from flyball.repair.inside.hot_swap import apply_edits
from flyball.repair.localise import Memo, Once
from flyball.repair.script_changes import changes_at, clues_of
from flyball.repair.script_search import candidates, rank, suspects
from flyball.repair.script_source import ScriptSource
from flyball.repair.spectrum import Traced

SHOP = b"""\
import { tax } from "./tax.js";
const RATE = 2;
export const twice = (n) => n * RATE;
export function total(items, extra) {
  let sum = 0;
  for (const each of items) sum += each.price;
  if (!extra) return sum
  switch (extra) {
    case 1: sum += 1; break;
    default: sum = items.map((x) => (y) => x)
  }
  return sum;
}
"""
TESTS = b"""\
describe("shop", () => {
  it("adds up", () => expect(total([])).toBe(0));
  test.only(`takes
 all`, async function () { await total([]); });
});
"""


def test_every_statement_is_seen_and_nothing_else_changes():
    source = ScriptSource("shop.js", SHOP)
    text = source.watched(10, "trace")
    head, _, body = text.partition(b"\n")
    assert b"__fbHit" in head and b'"trace"' in head
    assert [body.count(b"__fbHit(%d)" % n) for n in range(10, 10 + len(source.steps))] == (
        [1] * len(source.steps)
    )
    assert b"(__fbHit(11),n * RATE)" in body
    assert b"{__fbHit(14);sum += each.price;}" in body
    assert b"{__fbHit(16);return sum}" in body
    again = ScriptSource("shop.js", body)
    assert not [node for node in again.root.walk() if node.kind == "ERROR"]


def test_each_test_says_when_it_begins():
    titles: dict[int, str] = {}
    text = ScriptSource("shop.test.js", TESTS).marked(titles, "trace").decode()
    assert titles == {1: "adds up", 2: "takes\n all"}
    assert "() => (__fbTest(1),expect(total([])).toBe(0))" in text
    assert "{__fbTest(2); await total([]); }" in text


def test_types_are_no_obstacle():
    source = ScriptSource("shop.ts", b"const half = (n: number): number => n / 2;\n")
    assert source.watched(0, "f").startswith(b"// @ts-nocheck\n")


def test_what_is_no_script_is_refused():
    with pytest.raises(ValueError, match=r"shop\.py"):
        ScriptSource("shop.py", b"x = 1\n")


def fixes(body: str, message: str = "", head: str = "function f(list, n) {") -> set[str]:
    """Return the bodies that a function may get by one small change to any of its statements."""
    source = ScriptSource("a.js", f"{head} {body} }}".encode())
    clues, wanted = clues_of([message]), [*message.split("'")[1::2]]
    found = [
        apply_edits(source.data, each.edits).decode()
        for step in source.steps
        for each in changes_at(source, step, 1.0, clues, wanted)
    ]
    return {text.removeprefix(f"{head} ").removesuffix(" }") for text in found}


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("return n < 3;", "return n <= 3;"),
        ("return n === 3 || list;", "return n === 3 && list;"),
        ("return n - 1;", "return n + 1;"),
        ("n -= 1;", "n += 1;"),
        ("return 10;", "return 9;"),
        ("return list[n];", "return list[n - 1];"),
        ("return list.length;", "return list.length - 1;"),
        ("return Math.ceil(n);", "return Math.floor(n);"),
        ("return list.sort();", "return list.sort((a, b) => a - b);"),
        ("return list.sort();", "return [...list].sort();"),
        ("g(n, list);", "g(list, n);"),
        ("if (n) return 1;", "if (!(n)) return 1;"),
        ("return n ? 1 : 2;", "return n ? 2 : 1;"),
        ("return list.a.b;", "return list.a?.b;"),
        ("return list[n];", "return (list[n] ?? 0);"),
        ("g(n);", "return g(n);"),
        ("for (const x in list) g(x);", "for (const x of list) g(x);"),
        ("return n.replace(/a/, '');", "return n.replace(/a/g, '');"),
        ("return /\\d+/.test(n);", "return /^\\d+$/.test(n);"),
        ("return a + b * n;", "return (a + b) * n;"),
        ("return n;", "return list;"),
        ("switch (n) { case 1: g(n); }", "switch (n) { case 1: g(n);\n  break; }"),
    ],
)
def test_common_faults_are_undone(wrong: str, right: str):
    assert right in fixes(wrong)


def test_an_expected_text_is_tried():
    assert "return 'Helo!';" in fixes("return 'Hello!';", "expected 'Hello!' to be 'Helo!'")


def test_waiting_is_proposed_where_one_can_wait():
    assert "return await g(n);" in fixes("return g(n);", head="async function f(list, n) {")
    assert "return await g(n);" not in fixes("return g(n);")


def test_lines_of_failing_tests_come_first_and_the_small_likely_change_wins():
    source = ScriptSource(
        "a.js", b"function f(n) {\n  g();\n  if (n < 3) return 1;\n  return 2;\n}\n"
    )
    known = Memo(
        "node",
        (
            Once("t > red", "fail", "AssertionError: 2 !== 1", 0.0),
            Once("t > green", "pass", "", 0.0),
        ),
        (
            Traced("t > red", "fail", (), {"a.js": (2, 3)}),
            Traced("t > green", "pass", (), {"a.js": (2, 4)}),
        ),
        2,
    )
    sources = {"a.js": source}
    assert [place.line for place in suspects(known, sources)] == [3, 2]
    found = candidates(known, sources)
    assert found[0].line == 3
    assert rank([found[5], found[0]], sources)[0].diff.count("\n") == 9
