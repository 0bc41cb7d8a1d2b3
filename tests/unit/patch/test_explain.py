"""Sentences that tell the writer of a diff what to change."""

import pytest

from flyball.patch import Code, PatchResult, apply_diff
from flyball.patch.hunk import is_placeholder

FILE = """class Cart:
    def total(self):
        if self.items > 0:
            return "some"
        return 'none'

    def close(self):
        self.open = False
"""


TOTAL = "     def total(self):\n"
ITEMS = "         if self.items > 0:\n"
SOME = '             return "some"\n'


def _refusal(body: str, text: str = FILE, head: str = "@@"):
    result = apply_diff({"cart.py": text.encode()}, f"--- a/cart.py\n+++ b/cart.py\n{head}\n{body}")
    assert not result.ok
    return result.errors[0]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (" class Cart:\n     def total(self):\n-            return \"some\"\n+x\n", "line 3"),
        (" class Cart:\n-        self.open = False\n+x\n", "lines 2 to 7"),
        (TOTAL + "     limit = 3\n" + ITEMS + "+x\n", "put + in front"),
        ("     invented = 1\n" + TOTAL + "-        if self.items > 0:\n+x\n", "put + in front"),
        (" 1: class Cart:\n-2:     def total(self):\n+2:     def sum(self):\n", "line numbers"),
        ("         if self.items &gt; 0:\n+x\n", "HTML entities"),
        ("-        return &#39;none&#39;\n+x\n", "HTML entities"),
        ("-            return “some”\n+x\n", "typographic"),
        (" class Cart:\n-\tdef total(self):\n+\tdef sum(self):\n", "other indentation"),
        (" class Basket:\n     def total(self):\n-        return 'nothing'\n+x\n", "near line 1"),
        ("-entirely = unknown\n+x\n", "None of its"),
        ("-        return ‘nothing’\n+x\n", "None of its"),
        ("-nowhere\n+nowhere \n", "None of its"),
        ("+x\n", "without a location"),
    ],
)  # fmt: skip
def test_the_sentence_says_what_to_change(body, words):
    refusal = _refusal(body)
    assert words in refusal.message, refusal.message


def test_the_nearest_text_is_what_the_file_has_with_its_numbers():
    refusal = _refusal(" class Basket:\n     def total(self):\n-        if self.items < 0:\n+x\n")
    assert refusal.nearest.startswith("     1\tclass Cart:\n     2\t    def total(self):\n")


def _shop(diff: str, *, padding: int = 0, whole: bool = False) -> PatchResult:
    text = (
        "def total(items):\n    result = 0\n    for price, quantity in items:\n"
        "        result += price\n    return result\n\n\ndef other():\n    return result\n"
    )
    data = text.encode() + b"x = 1\n" * padding
    return apply_diff({"cart.py": data}, f"--- a/cart.py\n+++ b/cart.py\n{diff}", whole=whole)


LIKE = "@@\n     for price, qty in items:\n-        result = result + price\n+        x\n"


def test_the_place_is_the_one_that_is_most_alike():
    (refusal,) = _shop(f"{LIKE}     return result\n").errors
    assert refusal.lines == (3,)
    assert "     4\t        result += price\n" in refusal.nearest


def test_a_long_file_is_searched_for_whole_lines_only():
    (refusal,) = _shop(LIKE, padding=5_000).errors
    assert "None of its" in refusal.message


MISCOUNTED = (
    "@@ -1,{n} +1,{n} @@\n def total(items):\n     result = 0\n     for price, quantity in items:\n"
    "-        result += price\n+        result += price * quantity\n     return result"
)


@pytest.mark.parametrize("end", ["\n", ""])
@pytest.mark.parametrize("n", [3, 6, 9, 20])
def test_a_miscounted_header_of_a_whole_diff_is_no_truncation(n, end):
    found = _shop(MISCOUNTED.format(n=n) + end, whole=True)
    assert found.ok
    assert found.diff.count("\n+        result += price * quantity\n") == 1


def test_a_diff_that_may_have_been_cut_is_still_refused():
    (refusal,) = _shop(MISCOUNTED.format(n=9)).errors
    assert refusal.code is Code.TRUNCATED
    (empty,) = _shop("@@ -1,9 +1,9 @@\n def total(items):\n", whole=True).errors
    assert empty.code in (Code.TRUNCATED, Code.NOT_A_DIFF)


def test_line_numbers_are_separated_from_text():
    body = " 1: class Cart:\n+2: import os\n 3:     def total(self):\n"
    assert "line numbers" in _refusal(body).message


def test_empty_lines_are_named_as_such():
    body = "         return 'none'\n \n         self.open = False\n+x\n"
    assert "between an empty line and `self.open" in _refusal(body).message


def test_long_lines_are_quoted_short():
    text = "start here\n" + "word " * 40 + "\nand so on\n"
    body = " start here\n-and so on\n+x\n"
    assert len(_refusal(body, text + "more\n").message) < 300


def test_many_places_are_not_all_listed():
    refusal = _refusal("-same line\n+x\n", "same line\n" * 9)
    assert "1, 2, 3, 4, 5 and 4 more" in refusal.message
    assert len(refusal.lines) == 9


REINDENTED = """--- a/cart.py
+++ b/cart.py
@@ -1,4 +1,6 @@
 class Cart:
     def total(self):
-        if self.items > 0:
+        if self.items >= 0:
+            log()
+
             return "some"
"""


@pytest.mark.parametrize("indent", ["", "\t", "  "])
def test_lost_indentation_is_proposed_back(indent):
    def line(mark: str, depth: int, text: str) -> str:
        return f"{mark}{indent * depth}{text}\n"

    body = line(" ", 0, "class Cart:") + line(" ", 1, "def total(self):")
    body += line("-", 2, "if self.items > 0:") + line("+", 2, "if self.items >= 0:")
    body += line("+", 3, "log()") + "+\n" + line(" ", 3, 'return "some"')
    refusal = _refusal(body)
    wanted = REINDENTED if indent else REINDENTED.replace("            log()", "        log()")
    assert refusal.proposal == wanted
    assert apply_diff({"cart.py": FILE.encode()}, refusal.proposal).ok


def test_a_diff_that_ends_inside_a_context_line():
    refusal = _refusal("-class Cart:\n+class Basket:\n     def tot", head="@@ -1,2 +1,2 @@")
    assert (refusal.code, refusal.lines) == ("truncated", (2,))
    refusal = _refusal("-class Cart:\n+class Basket:\n     def nothing", head="@@ -1,2 +1,2 @@")
    assert refusal.code == "no_match"
    refusal = _refusal("-        self.open = False\n+x\n     def tot", head="@@ -8,2 +8,2 @@")
    assert refusal.code == "no_match"


def test_foreign_formats_are_named_with_an_example():
    (refusal,) = apply_diff({}, "*** Begin Patch\n").errors
    assert "*** Begin Patch" in refusal.message
    assert "--- a/src/app.py\n+++ b/src/app.py\n@@ -1,3 +1,3 @@" in refusal.message


def test_a_file_of_the_same_name_elsewhere_is_mentioned():
    diff = "--- a/cart.py\n+++ b/cart.py\n@@ -1 +1 @@\n-a\n+b\n"
    (refusal,) = apply_diff({"src/cart.py": b"a\n"}, diff).errors
    assert "src/cart.py" in refusal.message
    (refusal,) = apply_diff({"src/cart.py": b"a\n", "lib/cart.py": b"a\n"}, diff).errors
    assert "/dev/null" in refusal.message


@pytest.mark.parametrize(
    ("header", "body", "code"),
    [
        ("@@ -6,9 +6,12 @@", "     def close(self):\n         self.open = False\n+x\n", ""),
        ("@@ -7,2 +7,5 @@", "     def close(self):\n         self.open = False\n+x\n", ""),
        ("@@ -7,2 +7,4 @@", "     def close(self):\n         self.open = False\n+x\n", ""),
        ("@@ -7,2 +7,9 @@", "     def close(self):\n         self.open = False\n+x\n", "truncated"),
        ("@@ -7,2 +7,4 @@", "     def close(self):\n         self.open = False\n+x", "truncated"),
        ("@@ -1,9 +1,9 @@", " class Cart:\n-    def total(self):\n+    x\n", "truncated"),
        ("@@ -2,6 +2,7 @@", TOTAL + ITEMS + "+x\n" + SOME, "truncated"),
        ("@@ -2,5 +2,6 @@", TOTAL + ITEMS + "+x\n" + SOME, ""),
        ("@@ -2,6 +2,7 @@", ITEMS + "+x\n" + SOME, ""),
        ("@@ -8,3 +8,2 @@", "-        self.open = False\n+x\n\\ No newline at end of file\n", ""),
        ("@@ -1,3 +1,4 @@", " class Cart:\n", "truncated"),
    ],
)  # fmt: skip
def test_cut_short_or_miscounted(header, body, code):
    diff = f"--- a/cart.py\n+++ b/cart.py\n{header}\n{body}"
    result = apply_diff({"cart.py": FILE.encode()}, diff)
    assert [error.code.value for error in result.errors] == ([code] if code else [])


@pytest.mark.parametrize(
    ("count", "codes"), [("5,3 +5,4", []), ("5,4 +5,5", []), ("5,9 +5,9", ["truncated"])]
)
def test_a_header_far_off_among_right_ones_means_the_diff_was_cut(count, codes):
    text = "".join(f"line {n}\n" for n in range(1, 30))
    first = "--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n-line 1\n+one\n"
    last = f"@@ -{count} @@\n line 5\n+new\n line 6\n line 7\n"
    found = apply_diff({"f": text.encode()}, first + last)
    assert [error.code.value for error in found.errors] == codes
    assert apply_diff({"f": text.encode()}, first.replace("-1,1", "-1,9") + last).ok


def test_a_phrase_that_the_file_has_itself_is_no_placeholder():
    text = "first line\n# ... existing code ...\nlast line\n"
    assert apply_diff(
        {"f": text.encode()}, "--- a/f\n+++ b/f\n@@\n # ... existing code ...\n-last line\n+end\n"
    ).ok
    phrase = "# ... existing code ...\n"
    moved = f"@@\n-first line\n-{phrase}+{phrase}+first line\n last line\n"
    assert apply_diff({"f": text.encode()}, "--- a/f\n+++ b/f\n" + moved).ok


@pytest.mark.parametrize(
    "line",
    [
        "...",
        "    ...",
        "x = [...]",
        "print('loading...')",
        "# wait for it...",
        "see the rest of us",
    ],
)
def test_honest_dots_may_be_added(line):
    diff = f"--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n first line\n+{line}\n"
    assert apply_diff({"f": b"first line\n"}, diff).ok


@pytest.mark.parametrize(
    "line",
    [
        "# ... existing code ...",
        "// ... rest of the function remains unchanged ...",
        "/* ... other methods ... */",
        "<!-- ... same as before ... -->",
        "# … unchanged …",
        "# rest of the code stays the same",
        "(remainder of file unchanged)",
    ],
)
def test_placeholders_may_not_be_added(line):
    diff = f"--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n first line\n+{line}\n"
    (refusal,) = apply_diff({"f": b"first line\n"}, diff).errors
    assert refusal.code == "placeholder"


def test_a_repeated_hunk_is_called_one():
    hunk = "@@ -1,2 +1,2 @@\n alpha one\n-beta two\n+BETA\n"
    result = apply_diff({"f": b"alpha one\nbeta two\n"}, "--- a/f\n+++ b/f\n" + hunk + hunk)
    assert [error.message for error in result.errors] == [
        "It says the same as hunk 1. Use only one of them."
    ]


def test_a_diff_that_stops_inside_a_line_is_cut_even_with_a_newline_behind_it():
    diff = "--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n alpha one\n-beta two\n+BETA\n gam\n"
    result = apply_diff({"f": b"alpha one\nbeta two\ngamma three\ndelta\n"}, diff)
    assert [error.code for error in result.errors] == ["truncated"]
    assert "`gamma three` (line 3)" in result.errors[0].message


@pytest.mark.parametrize(
    ("line", "is_more"),
    [
        (b"# ... existing code ...", True),
        (b"    // ... other methods", True),
        (b"... rest unchanged ...", True),
        (b"/* existing methods... */", True),
        (b"# rest of the function unchanged...", True),
        ("    # \u2026 same as before \u2026".encode(), True),
        (b"# do the other thing...", False),
        (b"A couple of other sketches of how you might take advantage of this...", False),
        (b"Leave the existing code as it is wherever that is possible at all...", False),
        (b"print('...', rest)", False),
        (b'    "# ... (rest of the function remains the same)",', False),
    ],
)
def test_ellipsis_phrases_are_recognized(line, is_more):
    assert is_placeholder(line) is is_more
