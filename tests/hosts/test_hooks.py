"""Sessions of hosts through the executable: what they may do, and how they end."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.governed import CART, Shell, objects
from tests.hosts.hooking import HOOK, PAYLOADS, HostSession, send

from flyball.hosts import client

RIGHT = CART.replace("result += price", "result += price * quantity")
WRONG = CART.replace("result += price", "result -= price")


def runs(shell: Shell) -> list[dict[str, object]]:
    return objects(shell("runs", "list", "--json").stdout)


def test_a_fix_is_held_to_a_checkpoint_and_to_the_verdict(host: HostSession):
    assert "flyball checkpoint" in host.prompt().told
    refused = host.write("cart.py", RIGHT)
    assert refused.is_refused
    assert "`Write` changes things" in refused.err
    assert "flyball checkpoint --goal" in refused.err
    assert (host.repo / "cart.py").read_text() == CART

    done = host.checkpoint()
    assert done.returncode == 0, done.stderr
    assert "Phase execute" in done.stdout
    assert host.write("cart.py", WRONG).is_allowed
    held = host.stop()
    assert held.is_refused
    assert "test_three_pens" in held.err

    assert host.write("cart.py", RIGHT).is_allowed
    ended = host.stop("The total counts every piece.", stop_hook_active=True)
    assert ended.is_allowed
    assert "red → green" in ended.notice
    (run,) = runs(host.shell)
    assert (run["status"], run["request"]) == ("success", "the total is wrong, fix it")
    shown = host.shell("runs", "show", "last").stdout
    assert "driven by" not in shown
    assert "✓ succeeded" in shown
    assert "The total counts every piece." in shown
    reverted = host.shell("card", "revert", str(run["run"]), "step-1", "--yes")
    assert reverted.returncode == 0, reverted.stderr
    assert (host.repo / "cart.py").read_text() == CART


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["codex", "gemini"])
def test_the_same_holds_around_other_hosts(name: str, shell: Shell):
    host = HostSession(shell, name)
    write = {"codex": "apply_patch", "gemini": "write_file"}[name]
    patch = "*** Begin Patch\n*** Update File: cart.py\n@@\n-a\n+b\n*** End Patch\n"
    args = {"command": patch} if name == "codex" else {"file_path": "cart.py", "content": RIGHT}
    host.prompt()
    assert host.before(write, **args).is_refused
    assert host.checkpoint().returncode == 0
    assert host.before(write, "w1", **args).is_allowed
    (host.repo / "cart.py").write_text(RIGHT)
    assert host.after(write, "w1", args, "ok").is_allowed
    assert "red → green" in host.stop().notice
    host.end()


@pytest.mark.exhaustive
def test_who_only_talked_may_stop_and_the_next_prompt_begins_anew(host: HostSession):
    host.prompt()
    assert host.stop("Which total do you mean?").is_allowed
    host.prompt("the one in cart.py, fix it")
    assert [run["status"] for run in runs(host.shell)] == ["running", "cancelled"]


@pytest.mark.exhaustive
def test_an_unfinished_change_is_gone_on_with_by_the_next_prompt(host: HostSession):
    host.prompt()
    host.checkpoint()
    host.write("cart.py", WRONG)
    host.prompt("no, the other way")
    assert host.write("cart.py", RIGHT).is_allowed
    assert "red → green" in host.stop().notice
    assert [run["status"] for run in runs(host.shell)] == ["success"]


@pytest.mark.exhaustive
def test_word_of_a_sub_agent_and_our_own_words_are_no_prompts(shell: Shell):
    host = HostSession(shell, "gemini")
    host.prompt()
    host.prompt("<task-notification>\n<task-id>a</task-id></task-notification>")
    host.checkpoint()
    host.before("write_file", "w", file_path="cart.py")
    (host.repo / "cart.py").write_text(WRONG)
    host.after("write_file", "w", {"file_path": "cart.py"}, "ok")
    held = host.stop()
    host.prompt(held.err)
    (run,) = runs(shell)
    assert (run["status"], run["limit"]) == ("running", 15)
    host.end()


@pytest.mark.exhaustive
def test_a_stop_beside_a_working_sub_agent_is_not_the_end(host: HostSession):
    host.prompt()
    host.checkpoint()
    host.write("cart.py", WRONG)
    working = [{"type": "subagent", "status": "running"}]
    assert host.stop(background_tasks=working).is_allowed
    assert runs(host.shell)[0]["status"] == "running"
    assert host.stop(background_tasks=[]).is_refused


def test_what_changes_without_a_call_while_only_looking_is_taken_back_and_told(host: HostSession):
    host.prompt()
    (host.repo / "cart.py").write_text(WRONG)
    found = host.stop("Looking.")
    assert "cart.py changed without an allowed call" in found.notice
    assert (host.repo / "cart.py").read_text() == CART
    snapshot = found.notice.partition("flyball undo ")[2].partition("`")[0]
    assert host.shell("undo", snapshot, "--force").returncode == 0
    assert (host.repo / "cart.py").read_text() == WRONG


@pytest.mark.exhaustive
def test_a_test_run_that_writes_while_only_looking_is_undone(host: HostSession):
    host.prompt()
    found = host.run("python -m unittest; echo x > cart.py")
    if found.is_refused:
        found = host.run("python -m unittest")
        assert found.is_allowed
    assert (host.repo / "cart.py").read_text() == CART


@pytest.mark.exhaustive
def test_what_a_slash_command_writes_on_its_way_to_a_prompt_is_taken_back(host: HostSession):
    host.hook("UserPromptExpansion", prompt="/mk", command_name="mk")
    (host.repo / "made.py").write_text("x = 1\n")
    found = host.prompt("/mk")
    assert "made.py changed without" in found.told
    assert not (host.repo / "made.py").exists()


@pytest.mark.exhaustive
def test_what_is_written_before_the_first_prompt_of_nobody_is_taken_back(shell: Shell):
    host = HostSession(shell, "gemini")
    host.hook("SessionStart", source="startup")
    (host.repo / "late.py").write_text("x = 1\n")
    heard = host.prompt()
    assert "late.py" in heard.notice
    assert "Phase recon" in heard.told
    assert not (host.repo / "late.py").exists()
    (run,) = runs(host.shell)
    assert run["request"] == "the total is wrong, fix it"
    host.end()


@pytest.mark.exhaustive
def test_a_shell_in_the_background_is_seen_at_the_next_call(host: HostSession):
    host.prompt()
    (host.repo / "late.py").write_text("x = 1\n")
    found = host.run("git status")
    assert "late.py changed without" in (found.told + found.err)
    assert not (host.repo / "late.py").exists()


@pytest.mark.exhaustive
def test_a_command_that_changes_things_waits_for_the_checkpoint(host: HostSession):
    host.prompt()
    assert "confined --read-only" in host.before("Bash", command="sed -i s/price/x/ cart.py").out
    assert host.before("Bash", command="git commit -qam x").is_refused
    assert host.before("Bash", command="git status && git diff").is_allowed
    assert host.before("Bash", command="python -m unittest").is_allowed
    assert "confined" in host.before("Bash", command="some-unknown-tool --go").out
    host.checkpoint()
    assert host.before("Bash", command="some-unknown-tool --go").is_allowed
    assert host.before("Bash", command="git push --force origin main").is_refused


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("some-unknown-tool; rm -rf /etc/x", "outside"),
        ("some-unknown-tool; cat ~/.ssh/id_rsa", "secret"),
        ("some-unknown-tool && git reset --hard HEAD~1", "Ask the person"),
        ("git push --force || some-unknown-tool", "Ask the person"),
    ],
)
def test_what_stands_beside_a_program_that_is_not_known_is_judged(
    host: HostSession, command: str, why: str
):
    host.prompt()
    host.checkpoint()
    refused = host.before("Bash", command=command)
    assert refused.is_refused
    assert why in refused.err


def test_another_shell_s_language_is_as_unknown_as_a_program(host: HostSession):
    command = "Get-ChildItem | ForEach-Object { if ($_.Length -gt 1) { $_.Name } } | % { ("
    host.prompt()
    host.checkpoint()
    assert host.before("PowerShell", command=command).is_allowed
    assert "confined --project" in host.before("Bash", command=command).out


def test_unclear_command_runs_confined_until_the_checkpoint(host: HostSession):
    host.prompt()
    held = host.before("Bash", command="cd src && ./run.sh 'a b'", timeout=5)
    own = json.loads(held.out)["hookSpecificOutput"]
    assert own["permissionDecision"] == "allow"
    assert own["updatedInput"]["timeout"] == 5
    way, _, rest = own["updatedInput"]["command"].partition(" && ")
    assert way == "cd src"
    assert shlex.split(rest)[1:] == [
        "confined",
        "--read-only",
        "--",
        "bash",
        "-c",
        "./run.sh 'a b'",
    ]
    told = host.before("Bash", command="export X=1 && X=2 ./run.sh > /tmp/out.txt")
    assert "confined --read-only" in told.out
    assert "confined" not in host.before("Bash", command="git diff > /tmp/d.patch").out
    host.checkpoint()
    assert host.before("Bash", command="./run.sh").out == ""


def test_rule_of_the_person_holds_for_a_command_that_is_rewritten(host: HostSession):
    settings = host.repo / ".claude" / "settings.local.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"permissions": {"deny": ["Bash(./run.sh:*)"]}}))
    host.prompt()
    refused = host.before("Bash", command="cd src && ./run.sh --all")
    assert refused.is_refused
    assert "Bash(./run.sh:*)" in refused.err


def test_destroying_only_what_a_snapshot_has_needs_no_question(host: HostSession):
    host.prompt()
    host.checkpoint()
    assert host.write("cart.py", WRONG).is_allowed
    for command in ("git restore cart.py", "git checkout -- cart.py", "rm -rf src", "kill %1"):
        assert host.before("Bash", command=command).is_allowed, command
    for command in ("git clean -fdx", "git reset --hard HEAD~1", "kill 1", "rm -rf ~/x"):
        assert host.before("Bash", command=command).is_refused, command


FOR_A_PERSON = (
    "flyball approve last",
    "flyball extend last 50 --why because",
    "flyball off --for 1h",
    "flyball trust --yes",
    "flyball init --host claude --remove --yes",
    "sh -c 'flyball approve last'",
    "cd /tmp; env FOO=1 /usr/local/bin/flyball off",
    "flyball checkpoint --goal x; flyball approve last",
    "echo '{}' | flyball-hook claude",
)


def test_an_agent_does_not_speak_for_its_person(host: HostSession):
    host.prompt()
    host.checkpoint()
    for command in FOR_A_PERSON:
        # Whoever is refused five times in a row is stopped for that.
        host.run("git status")
        refused = host.before("Bash", command=command)
        assert refused.is_refused, command
        assert "for the person" in refused.err, command


@pytest.mark.exhaustive
def test_a_command_from_inside_the_host_is_refused_by_where_it_comes_from(host: HostSession):
    host.prompt()
    # The test itself is the host here: it has started both the hook and this command.
    done = host.shell("off")
    assert done.returncode == 2
    assert "started by the agent" in done.stderr
    marked = subprocess.run(
        [sys.executable, "-c", "from flyball.cli import main; main()", "off"],
        cwd=host.repo,
        env={**host.shell.env, "CLAUDECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert marked.returncode == 2


LEFT_BEHIND = """
import os, pty, sys
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
status = pty.spawn(sys.argv[2:])
with open(sys.argv[1], "w") as file:
    print(os.waitstatus_to_exitcode(status), file=file)
"""


@pytest.mark.exhaustive
def test_a_process_left_behind_with_a_terminal_of_its_own_is_not_a_person(
    host: HostSession, tmp_path: Path
):
    host.prompt()
    told, code = tmp_path / "told", tmp_path / "code"
    off = (sys.executable, "-c", "from flyball.cli import main; main()", "off")
    with told.open("wb") as stream:
        argv = [sys.executable, "-c", LEFT_BEHIND, str(code), *off]
        subprocess.run(
            argv, cwd=host.repo, env=host.shell.env, stdin=subprocess.DEVNULL, stdout=stream
        )
    wait_until(lambda: code.exists() and bool(code.read_text().strip()))
    assert code.read_text().strip() == "2", told.read_text()
    words = " ".join(told.read_text().split())
    assert "An agent is governed here" in words
    assert not [*Path(host.shell.env["FLYBALL_STATE_DIR"]).rglob("off.json")]


def test_nobody_disarms_the_hooks(host: HostSession):
    host.prompt()
    changed = host.hook(
        "ConfigChange", source="project_settings", file_path=".claude/settings.json"
    )
    assert changed.is_refused
    host.checkpoint(".claude/settings.json")
    refused = host.before("Write", file_path=".claude/settings.json", content="{}")
    assert refused.is_refused
    assert "protected" in refused.err
    told = host.run("mkdir -p .gemini && echo x | tee .gemini/settings.json new.txt").told
    assert ".gemini/settings.json; that was undone" in told
    assert not (host.repo / ".gemini/settings.json").exists()
    assert (host.repo / "new.txt").exists()


@pytest.mark.exhaustive
def test_our_own_journal_and_switches_are_no_agents_business(host: HostSession):
    host.prompt()
    host.checkpoint()
    journal = next(Path(host.shell.env["HOME"]).rglob("journal.sqlite"))
    for command in (
        f"python3 -c \"open('{journal.with_name('off.json')}', 'w').write('9999999999.0')\"",
        f"sqlite3 {journal} 'delete from events'",
        f"sqlite3 ~/{journal.relative_to(host.shell.env['HOME'])} .dump",
    ):
        assert "Flyball's own journal" in host.before("Bash", command=command).err
    outside = host.before("Write", file_path="/etc/hosts", content="x")
    assert "is outside the workspace" in outside.err


@pytest.mark.exhaustive
def test_what_a_shell_left_behind_disarms_no_hooks_either(host: HostSession):
    host.prompt()
    host.checkpoint()
    settings = host.repo / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text('{"disableAllHooks": true}')
    (host.repo / "notes.txt").write_text("x")
    assert ".claude/settings.json changed" in host.before("Bash", command="git status").notice
    assert not settings.exists()
    assert (host.repo / "notes.txt").exists()


@pytest.mark.exhaustive
def test_repeated_calls_are_nudged_and_then_stopped(host: HostSession):
    host.prompt()
    heard = [host.run("git log -1", "the same") for _ in range(6)]
    told = "\n".join(each.told for each in heard)
    assert "Careful" in told
    assert "A person must decide" in told + heard[-1].err
    assert host.before("Read", file_path="cart.py").is_refused
    # A person is needed now, and their next prompt lets it go on.
    assert "A person must decide" in host.stop().notice
    host.prompt("go on")


@pytest.mark.exhaustive
def test_a_plan_that_its_person_said_yes_to_is_a_checkpoint(host: HostSession):
    host.prompt()
    plan = "# Count every piece\n\nChange cart.py so that total multiplies.\n"
    assert host.before("ExitPlanMode", "p1", plan=plan).is_allowed
    host.after("ExitPlanMode", "p1", {"plan": plan}, {"plan": plan})
    assert host.write("cart.py", RIGHT).is_allowed


@pytest.mark.exhaustive
def test_a_session_that_begins_anew_is_told_where_it_stands(host: HostSession):
    host.prompt()
    host.checkpoint()
    told = host.hook("SessionStart", source="compact").told
    assert "The total counts every piece." in told


@pytest.mark.exhaustive
def test_a_host_that_died_drives_nothing_any_more(shell: Shell):
    payload = {"session_id": "s", "cwd": str(shell.cwd), "hook_event_name": "UserPromptSubmit"}
    said = json.dumps({**payload, "prompt": "the total is wrong, fix it"})
    # A program of its own starts the hook, and ends without a word.
    inner = f"import subprocess; subprocess.run([{str(HOOK)!r}, 'claude'], input={said.encode()!r})"
    subprocess.run([sys.executable, "-c", inner], cwd=shell.cwd, env=shell.env, check=True)
    (run,) = runs(shell)
    assert run["status"] == "interrupted"
    wait_until(lambda: not Path(client.address(str(shell.cwd), shell.env)).exists())


@pytest.mark.exhaustive
def test_where_there_is_no_git_nothing_is_governed(tmp_path: Path, shell: Shell):
    bare = Shell(tmp_path, tmp_path / "home")
    host = HostSession(bare)
    host.prompt()
    assert host.before("Write", file_path="x", content="y").is_allowed


@pytest.mark.exhaustive
def test_two_hosts_in_one_checkout_are_told_apart(shell: Shell):
    one, two = HostSession(shell, "claude", "one"), HostSession(shell, "codex", "two")
    one.prompt()
    two.prompt("explain how the total is counted")
    one.checkpoint()
    one.write("cart.py", RIGHT)
    # The second one only looks, and what the first one changed is not its doing.
    assert two.run("git status").is_allowed
    assert two.stop("It sums up.").is_allowed
    assert (shell.cwd / "cart.py").read_text() == RIGHT
    assert "red → green" in one.stop().notice
    one.end()
    two.end()


def test_fifty_hooks_at_once_lose_nothing_and_count_nothing_twice(host: HostSession):
    host.shell.env["FLYBALL_HOOKS_BUDGET"] = "strict"
    host.prompt()
    with ThreadPoolExecutor(12) as pool:
        heard = list(pool.map(lambda n: host.before("Read", f"r{n}", file_path=f"{n}"), range(50)))
    refused = [each for each in heard if each.is_refused]
    assert len(refused) == 35, "a small fix has fifteen calls"
    assert all("15 tool calls are spent" in each.err for each in refused)
    (run,) = runs(host.shell)
    assert run["used"] == 15


@pytest.mark.exhaustive
def test_hooks_without_a_governor_at_once_lose_nothing_and_count_nothing_twice(
    tmp_path: Path, shell: Shell
):
    alone = {"FLYBALL_HOOKS_ALONE": "true", "FLYBALL_HOOKS_BUDGET": "strict"}
    host = HostSession(Shell(shell.cwd, tmp_path / "home", **alone))
    host.prompt()
    with ThreadPoolExecutor(8) as pool:
        heard = list(pool.map(lambda n: host.before("LSP", f"r{n}", file_path=f"{n}"), range(24)))
    assert sum(each.is_allowed for each in heard) == 15, "a small fix has fifteen calls"
    assert all(each.is_refused for each in heard if not each.is_allowed)
    host.end()
    (run,) = runs(host.shell)
    assert run["used"] == 15


BEFORE = [p for p in sorted(PAYLOADS.rglob("*.json")) if p.name.startswith(("PreTool", "BeforeT"))]
LOOKS = {"Read", "ToolSearch", "TaskCreate", "TaskUpdate", "Agent", "Skill", "read_file"}
LOOKS |= {"spawn_agent", "collaborationspawn_agent", "invoke_agent"}


def test_no_recorded_write_is_kept_before_a_checkpoint(shell: Shell):
    for path in BEFORE:
        host = path.parent.name
        payload = {**json.loads(path.read_text()), "cwd": str(shell.cwd)}
        heard = send(shell, host, json.dumps(payload).encode())
        where = f"{host}/{path.stem}: {heard}"
        only_looks = payload["tool_input"].get("command") in ("echo one", "cat cart.py")
        if payload["tool_name"] in LOOKS or only_looks:
            assert heard.is_allowed, where
        else:
            assert heard.is_refused or "confined --read-only" in heard.out, where


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\x00\xff", b'{"hook_event_name": 7}'])
def test_what_cannot_be_read_is_never_a_silent_yes_to_a_write(data: bytes, shell: Shell):
    heard = send(shell, "claude", data)
    assert heard.is_refused or b"hook_event_name" in data
    assert not heard.out


@pytest.mark.exhaustive
def test_six_megabytes_are_judged_like_anything_else(host: HostSession):
    host.prompt()
    heard = host.before("Write", file_path="big.txt", content="x" * (6 << 20))
    assert heard.is_refused
    assert host.before("Read", file_path="cart.py", junk="x" * (6 << 20)).is_allowed


def test_a_damaged_journal_closes_writes_and_says_so(host: HostSession):
    host.prompt()
    host.checkpoint()
    (journal,) = Path(host.shell.env["FLYBALL_STATE_DIR"]).rglob("journal.sqlite")
    for file in journal.parent.glob("journal.sqlite*"):
        file.write_bytes(b"not a database" * 100)
    refused = host.before("Write", file_path="cart.py", content=RIGHT)
    assert refused.is_refused
    assert "could not judge" in refused.err
    read = host.before("Read", file_path="cart.py")
    assert (read.code, read.out) == (1, "")
    assert "could not judge" in read.err


def test_every_hook_can_decide_by_itself(tmp_path: Path, shell: Shell):
    alone = Shell(shell.cwd, tmp_path / "home", FLYBALL_HOOKS_ALONE="true")
    host = HostSession(alone)
    assert "flyball checkpoint" in host.prompt().told
    assert "recon does not allow" in host.write("cart.py", RIGHT).err
    assert not [*Path(shell.env["XDG_RUNTIME_DIR"]).rglob("*")]


def test_question_holds_one_call_and_the_next_prompt_answers_it(host: HostSession):
    host.prompt()
    host.checkpoint()
    assert host.write("cart.py", WRONG).is_allowed
    assert "Ask the person" in host.before("Bash", command="git push origin main").err
    assert host.write("cart.py", RIGHT).is_allowed, "everything else goes on"
    host.prompt("why would you push?")
    assert host.before("Bash", command="git push origin main").is_refused
    assert "approved" in host.prompt("Yes, push it.").told
    assert host.before("Bash", command="git push --force").is_refused, "it was another call"
    assert "Ask the person" in host.before("Bash", command="git push --force").err


def test_yes_of_the_person_grants_the_call_once(host: HostSession):
    host.prompt()
    asked = {"command": "git push origin main", "description": "Push"}
    assert host.before("Bash", **asked).is_refused, "it reaches out, in whatever phase"
    host.prompt("yes")
    assert host.before("Bash", "push", **asked | {"description": "Again"}).is_allowed
    host.after("Bash", "push", asked, {"stdout": "done"})
    assert host.before("Bash", **asked).is_refused


def test_claim_without_any_change_is_answered_by_the_fact(host: HostSession):
    host.prompt()
    assert host.stop("The total ignores the quantity. Shall I fix it?").out == ""
    host.prompt("yes")
    assert "nothing was changed" in host.stop("Fixed: all tests pass.").out


def test_yes_grants_a_call_that_a_finished_run_was_denied(host: HostSession):
    host.prompt()
    host.checkpoint()
    assert host.write("cart.py", RIGHT).is_allowed
    assert host.before("Bash", command="git commit -qam Fix && git push").is_refused
    assert "`git push` waits for your approval" in host.stop().out
    assert "approved" in host.prompt("Yes, push it.").told
    assert host.before("Bash", command="git push").is_allowed


@pytest.mark.parametrize("request_", ["Great. Now commit it and push.", "push it please"])
def test_prompt_that_orders_a_push_is_its_approval(host: HostSession, request_: str):
    host.prompt(request_)
    assert host.before("Bash", command="git push --force").is_refused
    assert host.before("Bash", command="git push origin :main").is_refused
    assert host.before("Bash", command="git push elsewhere main").is_refused
    assert host.before("Bash", command="git push -u origin main").is_allowed
    host.prompt("why is the total wrong?")
    assert host.before("Bash", "later", command="git push").is_refused


def socket_of(shell: Shell) -> Path:
    """Where the governor of the shell's project listens, once it does."""
    place = Path(client.address(str(shell.cwd), shell.env))
    wait_until(place.is_socket)
    return place


def governor_at(place: Path) -> int:
    """The process that serves a socket, by the kernel's word; it may still be on its way there."""
    found: list[int] = []

    def is_there() -> bool:
        line = socket.socket(socket.AF_UNIX)
        with line, contextlib.suppress(OSError):
            line.connect(str(place))
            told = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            found.append(struct.unpack("3i", told)[0])
        return bool(found)

    wait_until(is_there)
    return found[0]


def wait_until(holds: Callable[[], bool]) -> None:
    """Come back when it holds; long before any of this takes so long, it is broken."""
    for _ in range(2400):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError("it has not come to that in two minutes")


@pytest.mark.exhaustive
def test_the_governor_ends_with_the_last_session_and_dies_without_harm(shell: Shell):
    host = HostSession(shell)
    host.prompt()
    place = socket_of(shell)
    assert place.parent.stat().st_mode & 0o077 == 0
    os.kill(governor_at(place), signal.SIGKILL)
    with ThreadPoolExecutor(4) as pool:
        heard = list(pool.map(lambda n: host.write(f"{n}.py", RIGHT), range(4)))
    assert all("recon does not allow" in each.err for each in heard), "the next one takes over"
    assert Path(f"{place}.start").read_bytes() == b"", "and it could be asked"
    assert governor_at(place)
    host.end()
    wait_until(lambda: not place.exists())


@pytest.mark.exhaustive
def test_level_verdict_holds_the_stop_and_nothing_else(shell: Shell):
    host = HostSession(shell, "claude", "s1", "verdict")
    greeting = host.prompt().told
    assert "level verdict" in greeting
    assert "checkpoint" not in greeting
    assert host.before("Bash", command="git push --force").is_allowed
    written = host.write("cart.py", WRONG)
    assert written.is_allowed
    assert not written.notice
    held = host.stop()
    assert held.is_refused
    assert "test_three_pens" in held.err
    assert host.write("cart.py", RIGHT).is_allowed
    assert "red → green" in host.stop(stop_hook_active=True).notice
    host.end()


@pytest.mark.exhaustive
def test_a_place_for_scratch_is_open_at_any_time(tmp_path: Path, shell: Shell):
    place = tmp_path / "scratch"
    more = {**shell.env, "FLYBALL_HOOKS_SCRATCH": json.dumps([str(place)])}
    host = HostSession(Shell(shell.cwd, tmp_path / "home", **more))
    host.prompt()
    assert host.before("Write", file_path=str(place / "plan.md"), content="x").is_allowed
    assert host.before("Write", file_path=str(tmp_path / "elsewhere"), content="x").is_refused
    host.end()


def test_an_argument_beside_another_is_judged_as_well(shell: Shell):
    host = HostSession(shell, "opencode")
    host.prompt()
    host.checkpoint()
    ours, patch = str(host.repo / "cart.py"), "*** Begin Patch\n*** Add File: {}\n+x\n"
    assert host.before("write", filePath=ours, file_path=ours, content="x").is_allowed
    assert host.before("write", filePath="/etc/x", file_path=ours, content="x").is_refused
    args = {"patchText": patch.format("/etc/x"), "command": patch.format("cart.py")}
    assert host.before("apply_patch", **args).is_refused
    args = {"command": "ls '", "cmd": "flyball off; echo '"}
    assert host.before("bash", **args).is_refused
    assert host.before("bash", command="ls", cmd="git reset --hard; rm -rf /").is_refused
    host.end()


def test_only_our_own_program_is_ours(host: HostSession):
    host.prompt()
    assert host.run("flyball --help").is_allowed
    assert host.run("flyball ledger list").is_allowed
    assert host.before("Bash", command="flyball ledger forget --all --yes").is_refused
    for command in ("./flyball checkpoint x", f"{host.repo}/flyball verify"):
        assert "confined --read-only" in host.before("Bash", command=command).out
    ours = HOOK.with_name("flyball")
    assert host.before("Bash", command=f"{ours} checkpoint --goal x").is_allowed


def test_a_plan_for_the_person_is_no_change(host: HostSession):
    plans = Path(host.shell.env["HOME"]) / ".claude" / "plans"
    plans.mkdir(parents=True)
    host.prompt()
    assert host.before("Write", file_path=str(plans / "a.md"), content="x").is_allowed
    (plans / "b.md").symlink_to("/etc/hosts")
    assert host.before("Write", file_path=str(plans / "b.md"), content="x").is_refused
    assert host.before("Write", file_path=str(plans.parent / "a.md"), content="x").is_refused
