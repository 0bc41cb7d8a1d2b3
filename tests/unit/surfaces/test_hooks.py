"""A hook that cannot govern yet says so and stands in nobody's way."""

from __future__ import annotations

import subprocess
import sys

RUN = "import sys; from flyball.surfaces.hooks import main; sys.exit(main())"


def test_it_says_that_it_is_not_there_yet_and_does_not_block_the_tool():
    call = '{"hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_input": {}}'
    done = subprocess.run(
        [sys.executable, "-c", RUN, "claude"], input=call, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "not supported in this release" in done.stderr
