"""Calls and diffs in words, several in one, and those that mean the end."""

from __future__ import annotations

import pytest

from flyball.run.thread import SpokenCall
from flyball.tools.call.inline_calls import (
    SIGNS,
    calls_at_the_end,
    emitted_plan,
    fenced_diffs,
    unpacked,
    without_ends,
)

READ = SpokenCall("", "read", {"path": "a.py"})


CALLS = (
    '<tool_call>{"name": "read", "arguments": {"path": "a.py"}}</tool_call>',
    '<tool_call>\n{"name": "read", "arguments": {"path": "a.py"},}\n</tool_call>\n',
    "<function=read><parameter=path>a.py</parameter></function>",
    "<tool_call>\n<function=read>\n<parameter=path>\na.py\n</parameter>\n</function>\n</tool_call>",
    '<tool_calls><invoke name="read"><parameter name="path">a.py</parameter></invoke>',
)


@pytest.mark.parametrize("text", CALLS)
def test_a_reply_that_ends_with_a_call_makes_it(text):
    assert calls_at_the_end(f"I look.\n\n{text}") == ("I look.", (READ,))


def test_every_inline_call_has_a_sign():
    """Replies without any are not searched for calls."""
    plan = 'EMIT_PLAN {"goal": "a"}'
    assert emitted_plan(plan)
    edits = ("*** Begin Patch\n*** Add File: a\n*** End Patch", "```\n--- a\n+++ a\n```")
    assert all(map(fenced_diffs, edits))
    for text in (*CALLS, *edits, plan):
        assert any(sign in text for sign in SIGNS)


def test_several_are_made_in_their_order():
    one, two = (
        f'<tool_call>{{"name": "read", "arguments": {{"path": "{p}"}}}}</tool_call>' for p in "ab"
    )
    calls = calls_at_the_end(f"{one}\n{two}").calls
    assert [call.args["path"] for call in calls] == ["a", "b"]


@pytest.mark.parametrize(
    "text",
    [
        "Done.",
        '<tool_call>{"name": "read", "arguments": {"path": "a"}}</tool_call> it says.',
        '<tool_call>{"name": "frobnicate", "arguments": {}}</tool_call>',
        '<tool_call>{"name": "read", "arguments": 3}</tool_call>',
        "<tool_call>{nonsense}</tool_call>",
        "<function=frobnicate></function>",
    ],
)
def test_what_is_quoted_or_unknown_is_left_alone(text):
    assert calls_at_the_end(text) == (text, ())


def test_several_in_one_are_taken_apart():
    uses = [
        {"recipient_name": "functions.read", "parameters": {"path": "a.py"}},
        {"recipient_name": "functions.grep", "parameters": {"q": "x"}},
    ]
    calls = unpacked([SpokenCall("c1", "multi_tool_use.parallel", {"tool_uses": uses}), READ])
    assert [(call.id, call.tool) for call in calls] == [
        ("c1-1", "functions.read"),
        ("c1-2", "functions.grep"),
        ("", "read"),
    ]
    odd = SpokenCall("c1", "batch", {"tool_uses": [3]})
    assert unpacked([odd]) == (odd,)


def test_a_call_that_says_done_is_the_end():
    done = SpokenCall("c1", "attempt_completion", {"result": "All green."})
    assert without_ends("", [done]) == ("All green.", ())
    assert without_ends("Mended.", [done]) == ("Mended.\n\nAll green.", ())
    assert without_ends("", [READ, done]) == ("", (READ,))
    assert without_ends("x", [READ]) == ("x", (READ,))
    assert without_ends("x", []) == ("x", ())


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
    (call,) = fenced_diffs(text)
    assert (call.tool, call.args) == ("edit_diff", {"diff": DIFF})


def test_several_files_are_one_edit() -> None:
    other = DIFF.replace("x.py", "y.py")
    (call,) = fenced_diffs(f"```diff\n{DIFF}```\nand\n```diff\n{other}```")
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
def test_unclear_edit_stays_text(text: str) -> None:
    assert fenced_diffs(text) == ()
