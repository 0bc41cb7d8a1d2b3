"""Changes that pass under the judge's leave, and what becomes of them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.governed import CART
from tests.unit.app.hosts.alone import AloneHost, alone_in, journaled
from tests.unit.workspace.trees.test_footprint import settle

from flyball.core.run.event import CallReturned
from flyball.core.run.state import Checkpoint
from flyball.core.terms.call import Access

TEST = "python -m unittest"
OWN = ".flyball/mine.toml"
FIXED = CART.replace("result += price", "result += price * quantity")


@pytest.fixture
def host(tmp_path: Path) -> AloneHost:
    """A host that has stated a checkpoint, whose judge has just been asked."""
    found = alone_in(tmp_path)
    point = Checkpoint("g", "f", "a", ("cart.py", "made.py"), (TEST,))
    asyncio.run(found.governor.checkpoint(point))
    found.judged(found.before("a.py"))
    found.judged(found.after("a.py"))
    return found


def write(host: AloneHost, path: str, text: str, id: str = "w1", **more: Any) -> bytes:
    given = {"file_path": path, "content": text}
    args = {"tool_name": "Write", "tool_input": given, "tool_use_id": id}
    return host.data("PreToolUse", **(args | more))


def end(data: bytes, **more: Any) -> bytes:
    """The end of the call that a payload begins."""
    return json.dumps(
        json.loads(data) | {"hook_event_name": "PostToolUse", "tool_response": "done"} | more
    ).encode()


def waits(host: AloneHost) -> bool:
    """Whether the last line of the leave is to be taken up at once."""
    return json.loads(host.file.read_bytes().splitlines()[-1])["waits"]


def catch_up(host: AloneHost) -> None:
    settle(*host.repo.rglob("*"))
    asyncio.run(host.governor.catch_up())


def made(host: AloneHost, data: bytes, path: str, text: str) -> None:
    """A write that passes and is made, and whose end passes and is taken up."""
    assert host.passes(data)
    (host.repo / path).write_text(text)
    assert host.passes(end(data))
    catch_up(host)


def forbidden(host: AloneHost) -> None:
    """Write what nobody may write."""
    (host.repo / OWN).parent.mkdir()
    (host.repo / OWN).write_text("x = 1\n")


def returned(host: AloneHost) -> list[CallReturned]:
    return [each for each in host.events() if isinstance(each, CallReturned)]


def test_a_write_to_a_file_of_the_checkpoint_passes_and_can_be_taken_back(host: AloneHost):
    before = host.state().cards[-1].tree
    data = write(host, str(host.repo / "cart.py"), FIXED)
    assert host.passes(data)
    assert not waits(host)
    (host.repo / "cart.py").write_text(FIXED)
    assert host.passes(end(data))
    assert waits(host)
    catch_up(host)
    (last,) = [each for each in returned(host) if each.call == "w1"]
    assert (last.changed, last.snapshot) == (("cart.py",), before)
    assert last.tree == host.state().cards[-1].tree != before
    assert [call.id for call in journaled(host)][-1] == "w1", "and nothing between calls"


def test_one_write_after_the_other_passes_as_long_as_each_is_taken_up(host: AloneHost):
    for n in range(3):
        made(host, write(host, "cart.py", f"x = {n}\n", f"w{n}"), "cart.py", f"x = {n}\n")
    assert [each.changed for each in returned(host)][-3:] == [("cart.py",)] * 3
    assert host.state().spend.calls == 4


def test_nothing_but_a_prompt_passes_until_a_change_was_taken_up(host: AloneHost):
    data = write(host, "cart.py", FIXED)
    assert host.passes(data)
    for other in (
        write(host, "cart.py", CART, "w2"),
        host.before("b.py"),
        host.look("git log"),
        host.data("Stop"),
    ):
        assert host.said(other) is None
    (host.repo / "cart.py").write_text(FIXED)
    assert host.passes(end(data))
    assert host.said(end(data)) is None
    assert host.said(host.before("b.py")) is None
    assert host.said(host.data("Stop")) is None


UNSPOKEN = (
    "test_cart.py",
    "made.py",
    "new.py",
    "../outside.py",
    "/etc/passwd",
    "~/x.py",
    ".git/config",
    "flyball.toml",
    "sub/../test_cart.py",
    "",
)


def test_a_file_that_the_judge_did_not_speak_of_is_left_to_it(host: AloneHost):
    assert [path for path in UNSPOKEN if host.said(write(host, path, "x = 1\n")) is not None] == []


def test_a_file_may_be_named_in_any_way_that_leads_to_it(host: AloneHost):
    (host.repo / "sub").mkdir()
    host.judged(host.look(TEST))
    host.judged(end(host.look(TEST)))
    catch_up(host)
    named = write(host, "../cart.py", "x = 1\n", cwd=str(host.repo / "sub"))
    assert host.said(named.replace(b"../cart.py", b"../../cart.py")) is None
    assert host.passes(named)


def test_a_write_waits_for_the_judge_where_the_tree_is_not_as_it_was(host: AloneHost):
    (host.repo / "test_cart.py").write_text("changed behind the governor's back\n")
    assert host.said(write(host, "cart.py", FIXED)) is None


def test_a_link_in_the_place_of_a_file_is_left_to_the_judge(host: AloneHost, tmp_path: Path):
    (host.repo / "cart.py").unlink()
    (host.repo / "cart.py").symlink_to(tmp_path / "elsewhere.py")
    assert host.said(write(host, "cart.py", FIXED)) is None


def test_a_write_before_the_checkpoint_is_refused(tmp_path: Path):
    host = alone_in(tmp_path)
    assert "checkpoint" in (host.said(write(host, "cart.py", FIXED)) or "")


def test_the_very_same_write_once_more_is_for_a_guard_to_see(host: AloneHost):
    data = write(host, "cart.py", FIXED)
    made(host, data, "cart.py", FIXED)
    assert host.said(data) is None


def test_a_write_that_writes_something_else_as_well_is_seen_through(host: AloneHost):
    data = write(host, "cart.py", FIXED)
    assert host.passes(data)
    (host.repo / "cart.py").write_text(FIXED)
    forbidden(host)
    assert host.passes(end(data))
    catch_up(host)
    assert not (host.repo / OWN).exists()
    assert OWN in host.session().untold, "the model hears of it with its next call"
    assert OWN in host.session().unshown
    host.judged(host.before("b.py"))
    told = host.judged(host.after("b.py"))
    assert OWN in told.text
    assert OWN in told.notice
    assert not host.session().unshown


def test_what_was_undone_is_shown_to_the_person_at_a_stop_that_is_let_go(host: AloneHost):
    data = write(host, "cart.py", FIXED)
    assert host.passes(data)
    forbidden(host)
    assert host.passes(end(data))
    assert OWN in host.judged(host.data("Stop")).notice


def test_a_command_passes_again_and_what_it_comes_to_is_judged_behind_it(host: AloneHost):
    assert host.said(host.look(TEST)) is None, "nobody has judged it yet"
    host.judged(host.look(TEST))
    assert host.passes(host.look(TEST, "PostToolUse", tool_response={"stdout": "one"}))
    assert waits(host)
    catch_up(host)
    assert host.passes(host.look(TEST, tool_use_id="again"))
    forbidden(host)
    failed = host.look(TEST, "PostToolUseFailure", tool_use_id="again", error="exit 1")
    assert host.passes(failed)
    catch_up(host)
    last = returned(host)[-1]
    assert (last.call, last.outcome.ok, last.undone) == ("again", False, (OWN,))
    assert host.said(host.look(f"{TEST} -v")) is None, "that is another one"


def test_a_command_that_goes_in_circles_is_left_to_the_judge(host: AloneHost):
    """The third time the same comes of it a guard speaks, and the fifth time it is stopped."""
    told: list[str] = []
    for n in range(6):
        begins = host.look(TEST, tool_use_id=f"t{n}")
        if host.said(begins) is None and host.judged(begins).is_refused:
            break
        ends = host.look(TEST, "PostToolUse", tool_use_id=f"t{n}", tool_response={"stdout": "x"})
        if host.said(ends) is None:
            told.append(host.judged(ends).text)
        else:
            catch_up(host)
    else:
        pytest.fail("nobody stopped it")
    assert "repetition" in "".join(told) or "same" in "".join(told)


def test_what_came_before_a_change_is_journaled_as_if_it_were_not_there(host: AloneHost):
    before = host.state().cards[-1].tree
    assert host.passes(host.look("git log"))
    assert host.passes(host.look("git log", "PostToolUse", tool_response={"stdout": "x"}))
    assert host.passes(host.before("b.py"))
    data = write(host, "cart.py", FIXED)
    assert host.passes(data)
    (host.repo / "cart.py").write_text(FIXED)
    assert host.passes(host.after("b.py")) is False, "its end is left to the judge"
    assert host.passes(end(data))
    catch_up(host)
    found = {each.call: each for each in returned(host)}
    assert (found["git log"].tree, found["git log"].changed) == (before, ())
    assert (found["w1"].snapshot, found["w1"].changed) == (before, ("cart.py",))
    calls = [(call.tool, call.access) for call in journaled(host)]
    assert calls[-3:] == [
        ("bash", Access.READ),
        ("read", Access.READ),
        ("write_file", Access.MUTATE),
    ]


def test_a_change_whose_judge_died_over_it_can_still_be_taken_back(host: AloneHost):
    before = host.state().cards[-1].tree
    data = write(host, "cart.py", FIXED)
    assert host.passes(data)
    (host.repo / "cart.py").write_text(FIXED)
    assert host.passes(end(data))
    lines = host.file.read_bytes()
    catch_up(host)
    host.file.write_bytes(lines)
    catch_up(host)
    (last,) = [each for each in returned(host) if each.call == "w1"]
    assert last.snapshot == before, "it is journaled once"


def test_what_an_agent_has_started_cannot_speak_for_its_host(host: AloneHost):
    host.judged(host.before("b.py"), process="1@2")
    host.judged(host.after("b.py"), process="1@2")
    data = write(host, "cart.py", FIXED)
    assert host.said(data) is None
    host.judged(data, process="1@2")
    assert host.said(end(data)) is None
    assert host.passes(host.before("c.py")), "a read opens nothing"


def test_what_touches_the_hooks_is_put_back_behind_them_and_told_later(host: AloneHost):
    settings = host.repo / ".claude/settings.local.json"
    data = write(host, "cart.py", FIXED)
    assert host.passes(data)
    settings.parent.mkdir()
    settings.write_text('{"disableAllHooks": true}\n')
    assert host.passes(end(data))
    catch_up(host)
    assert not settings.exists() or "disableAllHooks" not in settings.read_text()
    assert ".claude/settings.local.json" in host.session().untold


PATCH = "*** Begin Patch\n*** Update File: {}\n@@\n-a\n+b\n*** End Patch\n"


def test_a_patch_passes_if_the_judge_spoke_of_all_its_files(host: AloneHost):
    def patch(*files: str) -> bytes:
        given = {"command": "".join(map(PATCH.format, files))}
        return host.data("PreToolUse", tool_name="apply_patch", tool_input=given, tool_use_id="p1")

    assert host.said(patch("cart.py", "test_cart.py")) is None
    assert host.said(patch()) is None
    beside = json.dumps(PATCH.format("test_cart.py")).encode()
    both = patch("cart.py").replace(b'"command"', b'"patch": ' + beside + b', "command"')
    assert host.said(both) is None, "nobody knows which of them the host goes by"
    assert host.passes(patch("cart.py"))


def test_a_leave_that_somebody_has_forged_opens_nothing(tmp_path: Path):
    host = alone_in(tmp_path)
    terms = json.loads(host.file.read_bytes().splitlines()[0])
    forged = terms | {
        "writable": ["cart.py"],
        "changes_after": 5,
        "writers": ["Write"],
        "refused": {},
    }
    host.file.write_text(f"{json.dumps(forged)}\n")
    data = write(host, "cart.py", FIXED)
    assert host.passes(data), "a hook believes what is in its own place"
    (host.repo / "cart.py").write_text(FIXED)
    host.judged(end(data))
    assert (host.repo / "cart.py").read_text() == CART, "and the judge looks at what was done"
