"""A conversation in an editor, by the protocol's own client and the process that editors start."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from acp import RequestError
from tests.editors.editing import Editor, at_work, play
from tests.governed import (
    CART,
    EDIT,
    GOOD,
    READ,
    SUITE,
    Shell,
    call,
    checkpoint,
    objects,
    script,
    shop,
)

pytestmark = pytest.mark.slow

REQUEST = "fix the failing test"
FIXED = CART.replace("+= price", "+= price * quantity")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    (tmp_path / "home").mkdir()
    return Shell(shop(tmp_path / "shop"), tmp_path / "home")


@pytest.mark.exhaustive
def test_an_editor_sees_a_plan_a_question_and_a_diff(shell: Shell, tmp_path: Path):
    shell.env["FLYBALL_POLICY_APPROVE_CHECKPOINT"] = "yes"
    driver = script(tmp_path / "good.jsonl", *GOOD)
    editor = Editor("approve")

    async def story() -> None:
        async with at_work(editor, shell, "--driver", driver):
            assert await editor.say(REQUEST) == "end_turn"

    play(story)
    assert editor.plan == [(REQUEST, "completed")]
    assert editor.of("plan")[0].entries[0].status == "in_progress"
    (asked,), (offered,) = editor.asked, editor.offered
    assert [each.kind for each in offered] == ["allow_once", "reject_once"]
    assert asked.title and "checkpoint" in asked.title.lower()
    (diff,) = editor.diffs
    assert (diff.old_text, diff.new_text) == (CART, FIXED)
    assert Path(diff.path).name == "cart.py" and Path(diff.path).is_absolute()
    assert Path(diff.path).read_text() == FIXED
    assert (shell.cwd / "cart.py").read_text() == CART, "the checkout is untouched"
    assert list(dict.fromkeys(editor.modes)) == ["recon", "paused", "execute", "verify", "final"]
    starts = {each.tool_call_id: each for each in editor.of("tool_call")}
    ends = {each.tool_call_id: each.status for each in editor.of("tool_call_update")}
    assert starts.keys() == ends.keys() and set(ends.values()) == {"completed"}
    kinds = [each.kind for each in starts.values()]
    assert kinds == ["read", "think", "edit", "execute"]
    assert [Path(p.path).name for p in list(starts.values())[2].locations] == ["cart.py"]
    assert "The total counts every piece." in editor.message
    assert "red → green" in editor.message and "flyball runs merge" in editor.message


@pytest.mark.exhaustive
def test_a_no_and_words_reach_the_driver_as_they_do_from_a_terminal(shell: Shell, tmp_path: Path):
    shell.env["FLYBALL_POLICY_APPROVE_CHECKPOINT"] = "yes"
    lines = (READ, checkpoint("test_cart.py"), checkpoint(), checkpoint(), *GOOD[2:])
    driver = script(tmp_path / "again.jsonl", *lines)
    editor = Editor("deny", "", "approve")

    async def story() -> None:
        async with at_work(editor, shell, "--driver", driver):
            # The second question is left open: nobody has decided it.
            assert await editor.say(REQUEST) == "cancelled"
            assert editor.plan[0][1] == "in_progress"
            assert await editor.say("not so, mend the code alone") == "end_turn"

    play(story)
    assert len(editor.asked) == 3
    assert editor.plan == [(REQUEST, "completed")]
    (run,) = objects(shell("runs", "list", "--json").stdout)
    assert run["status"] == "success"
    decided = json.loads(shell("runs", "show", run["run"], "--json").stdout)["decided"]
    said = [each["what"] for each in decided]
    assert said == ["started it", "said no", "said no", "said yes"]


def slow_suite(shell: Shell, place: Path) -> str:
    """A driver that edits and then runs a suite which takes a minute."""
    (shell.cwd / "test_slow.py").write_text("import time\n\ntime.sleep(60)\n")
    return script(place / "slow.jsonl", READ, checkpoint(), EDIT, SUITE)


@pytest.mark.exhaustive
def test_a_cancelled_prompt_ends_its_run_at_once(shell: Shell, tmp_path: Path):
    driver = slow_suite(shell, tmp_path)
    editor = Editor()

    async def story() -> None:
        async with at_work(editor, shell, "--driver", driver):
            turn = asyncio.create_task(editor.say(REQUEST))
            await editor.until("tool_call", lambda each: each.title == "test")
            assert editor.agent is not None
            with pytest.raises(RequestError, match="still in progress"):
                await editor.say("another one")
            await editor.agent.cancel(session_id=editor.session)
            assert await turn == "cancelled"

    play(story)
    (run,) = objects(shell("runs", "list", "--json").stdout)
    assert run["status"] == "cancelled"


@pytest.mark.exhaustive
def test_an_editor_that_goes_away_loses_nothing(shell: Shell, tmp_path: Path):
    driver = slow_suite(shell, tmp_path)
    editor = Editor()

    async def story() -> None:
        async with at_work(editor, shell, "--driver", driver):
            turn = asyncio.create_task(editor.say(REQUEST))
            await editor.until("tool_call", lambda each: each.title == "test")
        await asyncio.gather(turn, return_exceptions=True)

    play(story)
    (run,) = objects(shell("runs", "list", "--json").stdout)
    assert run["status"] == "interrupted"
    assert "price * quantity" in shell("runs", "show", run["run"], "--diff").stdout


@pytest.mark.exhaustive
def test_an_editor_offers_the_sides_of_a_conflict(shell: Shell, tmp_path: Path):
    quotes = {"says": "assertEqual(total([(2, 3)]), 6)", "where": "test_cart.py:11"}
    stated = call("conflict", but="must be 7", **quotes)
    driver = script(tmp_path / "s.jsonl", READ, stated, checkpoint(), EDIT, SUITE, *GOOD[4:])
    editor = Editor("says")

    async def story() -> None:
        async with at_work(editor, shell, "--driver", driver):
            assert await editor.say("Fix cart.py: total([(2, 3)]) must be 7.") == "end_turn"

    play(story)
    (offered,) = editor.offered
    assert [each.name for each in offered] == ["follow the test", "follow the request"]
    assert "red → green" in editor.message
