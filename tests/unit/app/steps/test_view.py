"""What an agent in another program is told names only tools that it has."""

from __future__ import annotations

import pytest

from flyball.app.steps.view import in_served_tools
from flyball.core.machine.on_driver import CHANGE_IT


@pytest.mark.parametrize(
    "text",
    [
        "Missing: the change itself. Call `edit_diff` or `write_file`; prose changes nothing.",
        "If it belongs to the work, write it with `write_file` or `edit_diff`.",
        "If it must change, name the file in `edit_diff`, `write_file` or `delete_file`.",
        "Prefer minimal diffs, by `edit_diff`; `write_file` is for new files.",
        CHANGE_IT,
    ],
)
def test_only_the_tool_that_is_served_is_named(text: str):
    told = in_served_tools(text)
    assert told.count("`edit_diff`") == 1
    assert "_file`" not in told


def test_other_words_stay():
    text = "Missing: a `checkpoint`; nothing can be changed before it."
    assert in_served_tools(text) == text
