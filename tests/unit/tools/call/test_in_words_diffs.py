"""A diff in a driver's words is the edit that it means, where it names its file."""

from __future__ import annotations

import pytest

from flyball.tools.call.inline_calls import diffs_in_words

DIFF = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"


@pytest.mark.parametrize(
    "text",
    [
        f"Here it is:\n\n```diff\n{DIFF}```\nThat is all.",
        f"```patch\n{DIFF}```",
        f"~~~\n{DIFF}~~~",
        f"  ```DIFF\n{DIFF}  ```",
    ],
)
def test_a_fenced_diff_is_an_edit(text: str) -> None:
    (call,) = diffs_in_words(text)
    assert (call.tool, call.args) == ("edit_diff", {"diff": DIFF})


def test_several_are_one_edit() -> None:
    other = DIFF.replace("x.py", "y.py")
    (call,) = diffs_in_words(f"```diff\n{DIFF}```\nand\n```diff\n{other}```")
    assert call.args == {"diff": DIFF + other}


@pytest.mark.parametrize(
    "text",
    [
        "I would change x.py.",
        "```diff\n-a\n+b\n```",
        f"```python\n{DIFF}```",
        DIFF,
    ],
)
def test_what_is_not_plainly_an_edit_is_left_in_words(text: str) -> None:
    assert diffs_in_words(text) == ()
