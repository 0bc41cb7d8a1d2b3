"""Who speaks for a host, and from where: no word about that leads out of its project."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.governed import CART, Shell, shop
from tests.hosts.hooking import HOOK, HostSession, kill_governor
from tests.tiers import named, sampled

ROOT = Path(__file__).parents[2]
WRONG = CART.replace("result += price", "result -= price")
RIGHT = CART.replace("result += price", "result += price * quantity")


def as_a_script(shell: Shell, code: str, *args: str) -> str:
    """What a program prints that the host has started, which has our tests' own words."""
    env = {**shell.env, "PYTHONPATH": str(ROOT), "CLAUDECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code, *args],
        cwd=shell.cwd,
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.exhaustive
@pytest.mark.parametrize("alone", named({"alone": True, "resident": False}, 2))
def test_no_word_about_where_a_host_is_leads_out_of_its_project(shell: Shell, alone: bool):
    if alone:
        shell.env["FLYBALL_HOOKS_ALONE"] = "true"
    host = HostSession(shell)
    host.prompt()
    host.checkpoint()
    assert host.write("cart.py", WRONG).is_allowed
    outside = Shell(host.repo.parent, Path(shell.env["HOME"]))
    outside.env.update(shell.env)
    said = {"/gone": shell, "": shell, "/tmp": outside, f"{host.repo}/cart.py\0": outside}
    for cwd, place in said.items():
        away = HostSession(place)
        away.repo = host.repo
        given = {"file_path": f"{host.repo}/flyball.toml", "content": cwd}
        asked = {"tool_name": "Write", "tool_input": given, "tool_use_id": f"w{cwd}"}
        assert away.hook("PreToolUse", cwd=cwd, **asked).is_refused, cwd
    stopped = HostSession(outside).hook("Stop", cwd="/tmp", last_assistant_message="It is done.")
    assert "test_three_pens" in stopped.err
    host.end()


def test_a_write_is_judged_in_the_project_that_its_file_is_in(shell: Shell):
    outside = Shell(shell.cwd.parent, Path(shell.env["HOME"]))
    outside.env.update(shell.env)
    away = HostSession(outside, session="s9")
    asked: dict[str, Any] = {"tool_use_id": "w1", "tool_name": "Write"}
    asked["tool_input"] = {"file_path": f"{shell.cwd}/cart.py", "content": WRONG}
    refused = away.hook("PreToolUse", cwd="/tmp", **asked)
    assert refused.is_refused
    assert "flyball checkpoint" in refused.err
    asked["tool_input"] = {"file_path": "/tmp/note.txt", "content": WRONG}
    elsewhere = HostSession(outside, session="s8")
    assert elsewhere.hook("PreToolUse", cwd="/tmp", **asked).is_allowed


@pytest.mark.exhaustive
def test_who_goes_into_a_repository_within_is_still_held_where_it_began(host: HostSession):
    inner = shop(host.repo / "inner")
    (host.repo / ".git/info/exclude").write_text("inner/\n")
    host.prompt()
    host.checkpoint()
    assert host.write("cart.py", WRONG).is_allowed
    args = {"command": "cd inner && python3 -m unittest"}
    assert host.before("Bash", "c1", **args).is_allowed
    (host.repo / "cart.py").write_text(CART)
    (host.repo / "note.txt").write_text("left by the command\n")
    given = {"tool_name": "Bash", "tool_input": args, "tool_use_id": "c1", "tool_response": "ok"}
    assert host.hook("PostToolUse", cwd=str(inner), **given).is_allowed
    refused = host.hook("Stop", cwd=str(inner), last_assistant_message="It is done.")
    assert "This is not done yet" in refused.err
    shown = host.shell("runs", "show", "last", "--json").stdout
    assert "note.txt" in shown, "what the call left counts where it was made"


@pytest.mark.exhaustive
def test_work_whose_repository_is_gone_is_not_let_go_without_a_word(host: HostSession):
    host.prompt()
    host.checkpoint()
    (host.repo / ".git").rename(host.repo / "git")
    refused = host.write("cart.py", WRONG)
    assert refused.is_refused
    assert "has no `.git` any more" in refused.err
    stopped = host.stop()
    assert stopped.code == 1
    assert "has no `.git` any more" in stopped.err
    (host.repo / "git").rename(host.repo / ".git")
    assert host.write("cart.py", WRONG).is_allowed
    assert "test_three_pens" in host.stop().err


@pytest.mark.exhaustive
def test_a_repository_within_that_is_none_any_more_is_told_once(host: HostSession):
    inner = shop(host.repo / "inner")
    (host.repo / ".git/info/exclude").write_text("inner/\n")
    host.prompt()
    host.checkpoint()
    given = {"tool_name": "Bash", "tool_input": {"command": "python3 -m unittest"}}
    assert host.hook("PreToolUse", cwd=str(inner), **given, tool_use_id="c1").is_allowed
    (inner / ".git").rename(inner / "git")
    assert host.write("cart.py", WRONG).is_allowed
    first, then = host.stop(), host.stop()
    for stopped in (first, then):
        assert stopped.is_refused
        assert "This is not done yet" in stopped.err
    assert f"{inner} has no `.git` any more" in first.err
    assert "any more" not in then.err


def test_a_hook_is_judged_by_the_settings_that_it_was_called_with(shell: Shell):
    loose = Shell(shell.cwd, Path(shell.env["HOME"]))
    loose.env.update(shell.env, FLYBALL_HOOKS_LEVEL="verdict")
    other = HostSession(loose, session="s2")
    other.prompt()
    assert other.before("Write", file_path="cart.py", content=WRONG).is_allowed
    host = HostSession(shell)
    host.prompt()
    assert host.write("cart.py", WRONG).is_refused
    for session in (host, other):
        session.end()


PRETEND = """
import json, os, subprocess, sys
hook, repo, event, is_left = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4] == "left"
payload = {"session_id": "s1", "cwd": repo, "hook_event_name": event, "prompt": "Go on.",
           "last_assistant_message": "Done.", "reason": "exit"}
hear, speak = os.pipe()
if is_left and os.fork():
    os.close(speak)
    print(os.read(hear, 100_000).decode())
    sys.exit()
if is_left:
    os.setsid()
    if os.fork():
        os._exit(0)
    while os.getppid() == os.getpgid(0):
        pass
done = subprocess.run([hook, "claude"], input=json.dumps(payload), capture_output=True, text=True)
told = f"{done.returncode} {done.stderr}"
if is_left:
    os.write(speak, told.encode())
    os._exit(0)
print(told)
"""


@pytest.mark.parametrize("how", ["below", "left"])
@pytest.mark.parametrize("event", ["UserPromptSubmit", "SessionEnd", "Stop"])
def test_what_a_host_has_started_does_not_speak_for_it(host: HostSession, event: str, how: str):
    host.prompt()
    host.checkpoint()
    assert host.write("cart.py", WRONG).is_allowed
    told = as_a_script(host.shell, PRETEND, str(HOOK), str(host.repo), event, how)
    assert told.startswith("2 This hook was called by a program"), told
    assert host.write("cart.py", WRONG.replace("-", "*")).is_allowed, "the run goes on as it was"


def test_what_a_host_has_started_governs_nobody(host: HostSession):
    host.prompt()
    kill_governor(host.shell)
    shell = Shell(host.repo, Path(host.shell.env["HOME"]))
    shell.env.update(host.shell.env, FLYBALL_HOOKS_LEVEL="verdict")
    told = as_a_script(shell, PRETEND, str(HOOK), str(host.repo), "Stop", "below")
    assert told.startswith("2 This hook was called by a program")
    with pytest.raises(ConnectionRefusedError):
        kill_governor(host.shell)


WORK_WITHIN = """
import sys
from pathlib import Path
from tests.governed import Shell
from tests.hosts.hooking import HostSession
import os
shell = Shell(Path(sys.argv[1]), Path(os.environ["HOME"]))
shell.env.update(os.environ)
inner = HostSession(shell, "codex", "s2")
inner.prompt()
inner.checkpoint()
assert inner.write("cart.py", sys.argv[2]).is_allowed
assert inner.end().code == 0
"""


def test_what_an_agent_does_through_another_one_is_its_own(host: HostSession):
    host.prompt()
    host.checkpoint()
    args = {"command": "codex exec 'make the total right'"}
    assert host.before("Bash", "c1", **args).is_allowed
    as_a_script(host.shell, WORK_WITHIN, str(host.repo), WRONG)
    assert (host.repo / "cart.py").read_text() == WRONG
    host.after("Bash", "c1", args, {"stdout": "done"})
    assert "test_three_pens" in host.stop().err


@pytest.mark.exhaustive
def test_who_only_looks_takes_nothing_back_from_whom_it_has_started(host: HostSession):
    host.prompt()
    as_a_script(host.shell, WORK_WITHIN, str(host.repo), RIGHT)
    assert host.run("git status").is_allowed
    assert (host.repo / "cart.py").read_text() == RIGHT


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", sampled([".gitignore", ".gitattributes", "sub/.gitignore"], 3))
def test_a_pipe_that_git_would_wait_for_keeps_nobody_waiting(shell: Shell, name: str):
    shell.env["FLYBALL_HOOKS_ALONE"] = "true"
    host = HostSession(shell)
    host.prompt()
    host.checkpoint()
    assert host.write("cart.py", WRONG).is_allowed
    place = host.repo / name
    place.parent.mkdir(exist_ok=True)
    os.mkfifo(place)
    assert host.before("Bash", command="python3 x.py").is_allowed
    assert not place.exists()
    os.mkfifo(place)
    assert "test_three_pens" in host.stop().err
    host.end()


def test_a_moment_that_is_not_known_allows_no_call(host: HostSession):
    host.prompt()
    given: dict[str, Any] = {"tool_name": "Write", "tool_use_id": "w1"}
    given["tool_input"] = {"file_path": str(host.repo / "cart.py"), "content": WRONG}
    refused = host.hook("PreToolUse2", **given)
    assert refused.is_refused
    assert "'PreToolUse2', which is not known" in refused.err
    assert host.hook("PermissionRequest", **given).is_allowed, "it is asked for by itself"
    assert host.hook("FileChanged", file_path="cart.py").is_allowed
