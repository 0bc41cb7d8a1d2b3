from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.drivers.asking import TOOLS

from flyball.drivers.form import ReplyError
from flyball.drivers.protocol import ToolSpec
from flyball.drivers.relay.prose import read_prose

DIFF = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"


def calls(text: str) -> list[tuple[str, dict[str, Any]]]:
    return [(call.tool, call.args) for call in read_prose(text, TOOLS).calls]


def test_words_alone_are_an_answer() -> None:
    form = read_prose("\nIt is done.\n\n\n\nSee the `diff`.\n", TOOLS)

    assert form.text == "It is done.\n\nSee the `diff`."
    assert form.calls == ()


def test_words_and_calls_are_distinguished() -> None:
    text = 'First.\n\n```call\n{"tool": "read", "args": {"path": "a"}}\n```\n\nThen.\n'
    form = read_prose(text, TOOLS)

    assert form.text == "First.\n\nThen."
    assert calls(text) == [("read", {"path": "a"})]


@pytest.mark.parametrize(
    ("block", "tool", "args"),
    [
        (f"```call edit_diff\n{DIFF}```", "edit_diff", {"diff": DIFF}),
        (
            f"```call edit_diff preview=true\n{DIFF}```",
            "edit_diff",
            {"diff": DIFF, "preview": True},
        ),
        (f"~~~ call EDIT_DIFF\n{DIFF}~~~", "EDIT_DIFF", {"diff": DIFF}),
        (
            '```call write_file path=package.json\n{"name": "x"}\n```',
            "write_file",
            {"path": "package.json", "content": '{"name": "x"}\n'},
        ),
        (
            "````call write_file path='a b.md'\n```py\nx\n```\n````",
            "write_file",
            {"path": "a b.md", "content": "```py\nx\n```\n"},
        ),
        ("```call write_file path=empty\n```", "write_file", {"path": "empty", "content": ""}),
        (
            '```call write_file\n{"path": "a", "content": "b"}\n```',
            "write_file",
            {"path": "a", "content": "b"},
        ),
        ("```call bash\nls -l\n```", "bash", {"cmd": "ls -l"}),
        ("```call bash cmd='ls -l'\n```", "bash", {"cmd": "ls -l"}),
        ("```call read path=src/a.py limit=40\n```", "read", {"path": "src/a.py", "limit": 40}),
        ("```call read\npath: src/a.py\nlimit: 40\n```", "read", {"path": "src/a.py", "limit": 40}),
        ('```call read\n{"path": "a"}\n```', "read", {"path": "a"}),
        ('```call read limit=2\n{"path": "a"}\n```', "read", {"path": "a", "limit": 2}),
        ("```call project\n```", "project", {}),
        (
            "```call grep q='a: b'\nglobs:\n- *.py\n- *.md\n```",
            "grep",
            {"q": "a: b", "globs": ["*.py", "*.md"]},
        ),
        ('```call grep q=x\nglobs: ["*.py"]\n```', "grep", {"q": "x", "globs": ["*.py"]}),
        ("```call grep q=x globs=*.py\n```", "grep", {"q": "x", "globs": ["*.py"]}),
        ("```call unheard_of\nsize: 3\nname: x\n```", "unheard_of", {"size": 3, "name": "x"}),
    ],
)
def test_blocks(block: str, tool: str, args: dict[str, Any]) -> None:
    assert calls(f"Words.\n\n{block}\n") == [(tool, args)]


def test_a_checkpoint_in_lines() -> None:
    text = """\
```call checkpoint
goal: The total is right.
findings: total() skips one item.
  Look at line 10: the slice.
note: this line goes on, because there is no such field.
proposed_action: Sum over all.
files:
- src/cart.py
- tests/test_cart.py
verify_with: pytest tests/test_cart.py
```
"""
    ((tool, args),) = calls(text)

    assert tool == "checkpoint"
    assert args["goal"] == "The total is right."
    assert args["findings"].count("\n") == 2
    assert args["files"] == ["src/cart.py", "tests/test_cart.py"]
    assert args["verify_with"] == ["pytest tests/test_cart.py"]


def test_other_fences_are_prose_with_whatever_they_hold() -> None:
    text = "Like this:\n\n````md\n```call read path=a\n```\n````\n\n```py\nx = {}\n"
    form = read_prose(text, TOOLS)

    assert form.calls == ()
    assert form.text == text.strip()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("  \n", "empty"),
        ("Hello.\n\n```call edit_diff\n--- a\n", "Line 3: this call block is never closed"),
        ("```call\n{oops}\n```", "Line 1: This is not JSON"),
        ("```call\n```", "Line 1:"),
        ('```call\n{"tol": "read"}\n```', "`tool`"),
        ('```call\n{"tool": "read", "args": 3}\n```', "`args`"),
        ("```call read path='a\n```", "quote"),
        ("```call read src/a.py\n```", "name=value"),
        ("```call read limit=many\n```", "`limit` must be a JSON integer"),
        ("```call read\nwhatever\n```", "not name: value"),
        ("```call grep q=x\nglobs: a, b\n```", "items of `globs`"),
        ("```call grep q=x\nglobs: [a\n```", "not a JSON list"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, words: str) -> None:
    with pytest.raises(ReplyError) as caught:
        read_prose(text, TOOLS)
    assert words in str(caught.value)


def test_windows_lines_change_nothing() -> None:
    text = f"Words.\n\n```call edit_diff\n{DIFF}```\n"

    assert calls(text.replace("\n", "\r\n")) == calls(text)


@given(st.text(alphabet='ab`~ \n{}":-', max_size=80))
def test_a_file_goes_through_to_the_byte(content: str) -> None:
    body = content if content.endswith("\n") or not content else f"{content}\n"
    text = f"```````call write_file path=a\n{body}```````\n"
    if "```````" in body:
        return
    assert calls(text) == [("write_file", {"path": "a", "content": body})]


@given(st.text(max_size=200))
def test_any_text_is_a_reply_or_says_why_not(text: str) -> None:
    try:
        form = read_prose(text, TOOLS)
    except ReplyError as error:
        assert str(error)
    else:
        assert form.text or form.calls


@pytest.mark.parametrize(
    "text",
    [
        '```call\n{"tool": "read", "args": {"path": "a.py"}}\n```',
        '```call\n{"tool": "read", "args": {"path": "a.py"},}\n```',
        '```call\n{"name": "read", "arguments": {"path": "a.py"}}\n```',
        '```call\n{"name": "read", "arguments": "{\\"path\\": \\"a.py\\"}"}\n```',
        '```call\n{"function": {"name": "read", "arguments": {"path": "a.py"}}}\n```',
        '```tool_call\n{"tool": "read", "input": {"path": "a.py"}}\n```',
        '```json\n{"tool": "read", "args": {"path": "a.py"}}\n```',
        "```call read\nfile_path: a.py\n```",
        "```call read path=a.py\n```",
    ],
)
def test_a_call_in_another_dialect_is_a_call(text: str) -> None:
    (call,) = read_prose(f"Look:\n\n{text}\n", TOOLS).calls
    assert (call.tool, call.args) == ("read", {"path": "a.py"})


def test_a_list_may_be_written_line_by_line_wherever_a_list_is_taken() -> None:
    schema: dict[str, object] = {
        "properties": {"args": {"anyOf": [{"type": "array"}, {"type": "string"}]}}
    }
    tools = (ToolSpec("test", "", schema),)
    (call,) = read_prose("```call test\nargs:\n- tests/a.py\n- -x\n```", tools).calls
    assert call.args == {"args": ["tests/a.py", "-x"]}
    (call,) = read_prose("```call test\nargs: tests/a.py -x\n```", tools).calls
    assert call.args == {"args": "tests/a.py -x"}


def test_json_that_is_no_call_stays_prose() -> None:
    text = '```json\n{"name": "flyball", "version": 1}\n```'
    assert read_prose(text, TOOLS).calls == ()
    assert read_prose('```json\n{"name": "read"}\n```', TOOLS).calls == ()


def test_rare_field_that_drivers_are_not_shown_is_a_field_in_lines() -> None:
    told = {name: {"type": "string"} for name in ("says", "but", "where")}
    shown = ToolSpec("conflict", "", {"properties": told})
    text = "```call conflict\nsays: a is 1\nbut: a is 2\nwhere: x.py:3\nreproduce: pytest x.py\n```"
    (found,) = read_prose(text, [shown]).calls
    assert found.args == {
        "says": "a is 1", "but": "a is 2", "where": "x.py:3", "reproduce": "pytest x.py"
    }  # fmt: skip
