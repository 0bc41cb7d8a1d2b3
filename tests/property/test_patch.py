"""Promises of the patch engine, for any file and any edit."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from flyball.patch import apply_diff, merge3, touched_paths, unified_diff
from flyball.patch.compare import compare, keep_ends
from flyball.patch.keep import changed_regions, regions

words = st.sampled_from(
    [
        b"alpha",
        b"beta",
        b"gamma",
        b"",
        b"}",
        b"  x = 1",
        b"-- dash",
        b"++ plus",
        b"@@ at",
        b"\x0cff",
    ]
)
texts = st.builds(
    lambda lines, ended: b"\n".join(lines) + (b"\n" if lines and ended else b""),
    st.lists(words | st.binary(max_size=6).map(lambda b: b.replace(b"\0", b"")), max_size=30),
    st.booleans(),
)
LINES = """--- a/f|+++ b/f|@@ -1,2 +1,2 @@|@@| alpha|-beta|+gamma||```|\\ No newline
diff --git a/f b/f|new file mode 100644|--- /dev/null""".replace("\n", "|").split("|")
anything = st.text(max_size=200) | st.lists(st.sampled_from(LINES), max_size=30).map("\n".join)


@given(texts, texts)
def test_what_is_written_as_a_diff_applies_to_the_byte(before, after):
    if before == after:
        return
    result = apply_diff({"f": before}, unified_diff("f", before, after))
    assert result.ok, result.errors
    assert result.files == {"f": after}


@given(texts, texts)
def test_the_short_way_ends_where_the_long_one_does(before, after):
    if before == after:
        return
    marked = [text + b"\n\nVIBE-KEEP\n" for text in (before, after)]
    diff = unified_diff("f", *marked)
    assert apply_diff({"f": marked[0]}, diff).files == {"f": marked[1]}


@given(texts, texts)
def test_a_diff_and_its_inverse_are_nothing(before, after):
    if before == after:
        return
    there = apply_diff({"f": before}, unified_diff("f", before, after)).files["f"]
    assert there is not None
    back = apply_diff({"f": there}, unified_diff("f", after, before))
    assert back.files == {"f": before}


@given(texts, texts, st.randoms(use_true_random=False))
def test_the_order_of_hunks_does_not_matter(before, after, rng: random.Random):
    diff = unified_diff("f", before, after)
    head, *hunks = diff.split("\n@@ ")
    if len(hunks) < 2:
        return
    hunks[-1] = hunks[-1].removesuffix("\n")
    rng.shuffle(hunks)
    shuffled = "\n@@ ".join([head, *hunks]) + "\n"
    assert apply_diff({"f": before}, shuffled).files == {"f": after}


@given(anything, texts)
def test_nothing_crashes_it_and_a_refusal_leaves_every_byte(diff, text):
    result = apply_diff({"f": text}, diff, fuzz=2)
    assert touched_paths(diff) == touched_paths(diff)
    if not result.ok:
        assert result.files == {"f": text}
        assert result.errors
        assert all(error.message for error in result.errors)


@given(texts, texts, st.data())
def test_a_spoilt_diff_is_refused_or_does_what_it_says(before, after, data):
    diff = unified_diff("f", before, after)
    if not diff:
        return
    at = data.draw(st.integers(0, len(diff) - 1))
    spoilt = diff[:at] + data.draw(st.sampled_from(["", " ", "x", "\n", "@@\n"])) + diff[at + 1 :]
    result = apply_diff({"f": before}, spoilt)
    assert result.ok or result.files == {"f": before}


@given(texts, texts, texts)
def test_a_keep_region_never_changes(before, after, inside):
    kept = b"# VIBE-KEEP START it\n" + inside + b"\n# VIBE-KEEP END it\n"
    text = before + b"\n" + kept + b"end\n"
    diff = unified_diff("f", text, after)
    result = apply_diff({"f": text}, diff)
    now = result.files["f"]
    assert now is not None
    assert changed_regions(regions(text), regions(now)) == []


@given(texts, texts)
def test_comparing_accounts_for_every_line(old, new):
    a, b = keep_ends(old), keep_ends(new)
    built: list[bytes] = []
    at = 0
    for run in compare(a, b):
        assert run.old_at < run.old_end or run.new_at < run.new_end
        built += a[at : run.old_at] + b[run.new_at : run.new_end]
        at = run.old_end
    assert b"".join(built + a[at:]) == new


@given(texts, texts, texts)
@settings(max_examples=60)
def test_merging_is_even_handed(base, ours, theirs):
    one, other = merge3(base, ours, theirs), merge3(base, theirs, ours)
    assert one.ok == other.ok
    if one.ok:
        assert one.data == other.data


@given(texts, texts)
def test_merging_with_no_change_is_the_other_side(base, ours):
    assert merge3(base, ours, base).data == ours
    assert merge3(base, base, ours).data == ours
