"""Hooks that are missing during the work: model and person hear of it, and nothing is verified."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.governed import CART
from tests.unit.hosts.alone import AloneHost, alone_in

from flyball.agents.event import HostAnswer
from flyball.app.runs.journals import opened
from flyball.hosts.armed import accept_hooks
from flyball.hosts.install.plan import carry_out, plan_install, plan_removal
from flyball.hosts.install.targets import HOSTS, HostPlaces, InstallScope, find_target
from flyball.run.ending import status_of
from flyball.run.state import Checkpoint
from flyball.workspace.process.process_identity import process_name, this_process

RIGHT = CART.replace("result += price", "result += price * quantity")
POINT = Checkpoint(
    goal="The total counts every piece.",
    findings="total() ignores the quantity.",
    proposed_action="Multiply by the quantity.",
    files=("cart.py",),
    verify_with=("python -m unittest",),
)
OFF = {
    "claude": ("settings.json", '{"disableAllHooks": true}'),
    "codex": ("config.toml", "[features]\nhooks = false\n"),
    "gemini": ("settings.json", '{"hooksConfig": {"disabled": ["flyball"]}}'),
}


class Armed(NamedTuple):
    """A host with our hooks, in which the cart is being mended."""

    host: AloneHost
    file: Path

    def stop(self) -> HostAnswer:
        return self.host.judged(self.host.data("Stop", last_assistant_message="It is done."))

    def prompt(self, text: str = "now the same for the invoice") -> HostAnswer:
        return self.host.judged(self.host.data("UserPromptSubmit", prompt=text))

    def status(self) -> str:
        async def loaded() -> str:
            async with opened(self.host.governor.home) as journal:
                return status_of(await journal.load(self.host.session().run))

        return asyncio.run(loaded())

    def mend(self) -> None:
        asyncio.run(self.host.governor.checkpoint(POINT))
        place = self.host.repo / "cart.py"
        call: dict[str, Any] = {"tool_name": "Write", "tool_use_id": "w1"}
        call["tool_input"] = {"file_path": str(place), "content": RIGHT}
        assert not self.host.judged(self.host.data("PreToolUse", **call)).is_refused
        place.write_text(RIGHT)
        self.host.judged(self.host.data("PostToolUse", **call, tool_response="ok"))

    def remove(self, scope: str = "user") -> None:
        """What `flyball init --remove` does for a person."""
        target = target_of(self.host, scope)
        carry_out(plan_removal(target, self.host.env))
        accept_hooks(self.host.env, target.path)


def target_of(host: AloneHost, scope: str) -> Any:
    return find_target(host.name, InstallScope(scope), HostPlaces(host.env, host.repo))


def armed_in(place: Path, name: str = "claude", scope: str = "user") -> Armed:
    host = alone_in(place, name)
    target = target_of(host, scope)
    carry_out(plan_install(target, "/usr/bin/flyball-hook", host.env))
    found = Armed(host, target.path)
    found.prompt("the total is wrong, fix it")
    return found


def write_more(file: Path) -> None:
    """Settings that are none of ours."""
    if file.suffix == ".json":
        found = json.loads(file.read_text())
        file.write_text(json.dumps({**found, "model": "opus", "hooksConfig": {"x": 1}}, indent=8))


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("name", HOSTS)
def test_work_without_hooks_is_unverified(name: str, scope: str, tmp_path: Path):
    it = armed_in(tmp_path, name, scope)
    it.mend()
    it.file.write_text("{}")
    notice = it.stop().notice
    assert str(it.file) in notice
    assert "success" not in notice
    assert it.status() == "unverified"
    assert str(it.file) in it.prompt().text, "the model could not hear it at the stop"


@pytest.mark.parametrize("name", HOSTS)
def test_hooks_beside_which_other_settings_change_are_there(name: str, tmp_path: Path):
    it = armed_in(tmp_path, name)
    it.mend()
    write_more(it.file)
    notice = it.stop().notice
    assert str(it.file) not in notice
    assert it.status() == "success"
    assert str(it.file) not in it.prompt().text


@pytest.mark.parametrize("name", OFF)
def test_hooks_that_were_turned_off_are_missing(name: str, tmp_path: Path):
    it = armed_in(tmp_path, name)
    file = it.file.with_name(OFF[name][0])
    more = json.loads(file.read_text()) if file == it.file else {}
    text = OFF[name][1]
    file.write_text(json.dumps({**more, **json.loads(text)}) if more else text)
    told = it.prompt()
    assert str(file) in told.text
    assert str(file) in told.notice


def test_another_program_in_the_place_of_the_hook_is_noticed(tmp_path: Path):
    it = armed_in(tmp_path)
    it.file.write_text(it.file.read_text().replace("/usr/bin/flyball-hook", "/tmp/flyball-hook"))
    assert str(it.file) in it.prompt().notice


def test_a_plugin_that_was_changed_is_not_ours(tmp_path: Path):
    it = armed_in(tmp_path, "opencode")
    it.file.write_text(it.file.read_text().replace("flyball-hook", "true"))
    assert str(it.file) in it.prompt().notice


def test_hooks_missing_for_a_while_leave_the_work_unverified(tmp_path: Path):
    it = armed_in(tmp_path)
    was = it.file.read_text()
    it.mend()
    it.file.unlink()
    assert str(it.file) in it.prompt("go on").text
    it.file.write_text(was)
    assert str(it.file) in it.stop().notice
    assert it.status() == "unverified"
    assert not it.prompt().notice, "they are there again, and the next work is judged by itself"


def test_missing_hooks_are_named_at_the_end_and_with_every_prompt(tmp_path: Path):
    it = armed_in(tmp_path)
    it.file.write_text("{")
    for _ in range(2):
        assert str(it.file) in it.prompt().notice
    assert str(it.file) in it.host.judged(it.host.data("SessionEnd")).notice


@pytest.mark.parametrize("scope", ["user", "project"])
def test_a_person_may_take_the_hooks_out(scope: str, tmp_path: Path):
    it = armed_in(tmp_path, scope=scope)
    it.mend()

    async def remove() -> None:
        await it.host.governor.let_person(lambda: it.remove(scope))

    asyncio.run(remove())
    assert str(it.file) not in it.stop().notice
    assert it.status() == "success"
    assert str(it.file) not in it.prompt().text


def test_a_person_may_take_the_hooks_out_before_a_session_is_resumed(tmp_path: Path):
    it = armed_in(tmp_path)
    prompt = it.host.data("UserPromptSubmit", prompt="the total is wrong, fix it")
    with subprocess.Popen(["sleep", "60"]) as first:
        it.host.judged(prompt, process=process_name(first.pid))
        first.kill()
    it.file.write_text("{}")
    told = it.host.judged(prompt, process=this_process())
    assert str(it.file) not in told.notice
    assert str(it.file) not in it.stop().notice


def test_a_person_may_take_the_hooks_out_while_flyball_is_off(tmp_path: Path):
    it = armed_in(tmp_path)
    it.mend()
    asyncio.run(it.host.governor.turn_off(60))
    it.file.write_text("{}")
    assert not it.stop().notice
    it.host.governor.switch.turn_on()
    assert str(it.file) not in it.stop().notice
    assert it.status() == "success"
