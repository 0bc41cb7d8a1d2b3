"""What becomes of a host's commands before and after its checkpoint."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.tiers import NEEDS_SANDBOX
from tests.unit.hosts.alone import AloneHost, alone_in
from tests.unit.hosts.test_governor import POINT

from flyball.hosts.endings import ends_only_own_processes
from flyball.hosts.words import ALONE
from flyball.workspace.process.process_identity import this_process

UNKNOWN_FILES = 'for f in $(cat list.txt); do rm "$f"; done'
"""What it writes is only known when it runs."""


@pytest.fixture
def host(tmp_path: Path) -> AloneHost:
    return alone_in(tmp_path)


@pytest.fixture
def codex(tmp_path: Path) -> AloneHost:
    """A host that puts no question of its own, whoever runs these tests."""
    return alone_in(tmp_path, "codex")


def became(host: AloneHost, command: str) -> str:
    """How a command may run: not, plainly, or as `flyball confined` has it."""
    said = host.judged(host.look(command))
    if said.is_refused or said.asks:
        return "held"
    # What passes has been made by the time of the next one.
    host.judged(host.look(command, "PostToolUse", tool_response={"stdout": ""}))
    found = re.search(r" confined --(\S+)", str((said.args or {}).get("command", "")))
    return found[1] if found else "plain"


def prompted(host: AloneHost, text: str) -> None:
    host.judged(host.data("UserPromptSubmit", prompt=text))


@NEEDS_SANDBOX
def test_before_the_checkpoint_commands_run_confined_and_keep_nothing(host: AloneHost):
    for command, how in (
        ("sed -i s/a/b/ cart.py && python -m unittest", "read-only"),
        ("rm -rf build && mkdir build", "read-only"),
        ("find . -name '*.pyc' -delete", "read-only"),
        (UNKNOWN_FILES, "read-only"),
        ("python -m http.server 1 & sleep 0; kill $!", "read-only"),
        ("npm ci", "plain"),
        ("pip install -q requests && pytest", "plain"),
        ("npm install lodash", "read-only"),
        ("git fetch origin", "plain"),
        ("git commit -qm x", "held"),
        ("git push", "held"),
        ("rm -rf ~/x", "held"),
    ):
        assert became(host, command) == how, command


@NEEDS_SANDBOX
def test_what_may_show_a_secret_runs_where_secrets_are_invisible(host: AloneHost):
    beside = host.repo.parent
    (beside / ".env").write_text("TOKEN=1\n")
    (beside / "notes.txt").symlink_to(".env")
    (beside / "other.txt").symlink_to(host.repo / "cart.py")
    for command, how in (
        ("cat ../notes.txt", "read-only"),
        (f"head -3 {beside}/notes.txt | tail -1", "read-only"),
        ("cat ../other.txt", "plain"),
        ("cat ~nobody-here/notes.txt", "read-only"),
        ("env | sort", "read-only"),
        ("echo $GITHUB_TOKEN", "read-only"),
        ("echo $HOME", "plain"),
    ):
        assert became(host, command) == how, command


def test_packages_may_be_installed_but_the_host_asks_as_without_us(host: AloneHost):
    assert not host.judged(host.look("npm ci")).is_granted
    assert host.judged(host.look("git status")).is_granted


def test_approval_of_a_push_ignores_harmless_parts(codex: AloneHost):
    assert (
        "`git push origin main`"
        in codex.judged(codex.look("git status; git push origin main")).text
    )
    assert became(codex, "git push origin main") == "held", "nobody has said yes"
    for command in ("git push origin other", "cd .. && git push origin main"):
        assert became(codex, command) == "held", command
    codex.judged(codex.look("git log -1; git push origin main"))
    prompted(codex, "yes, push it")
    granted = codex.judged(codex.look("git push origin main"))
    assert not granted.is_refused
    assert not granted.is_granted, "the host's own question about what reaches outside stays"
    assert became(codex, "git push origin main") == "held", "it was granted once"


def test_yes_counts_in_a_session_that_was_resumed(codex: AloneHost):
    assert became(codex, "git push origin main") == "held"
    codex.judged(codex.data("SessionEnd"))
    prompted(codex, "yes, push it")
    assert became(codex, "git push origin main") == "plain"
    codex.judged(codex.data("SessionEnd"))
    prompted(codex, "yes, go ahead")
    assert became(codex, "git push origin main") == "held", "that session has ended"


@NEEDS_SANDBOX
def test_commit_that_the_person_orders_needs_no_checkpoint(codex: AloneHost):
    (codex.repo / "cart.py").write_text("VAT = 2\n")
    prompted(codex, "Commit that. Then tell me how the total is made.")
    assert became(codex, "git add -A && git commit -qm x") == "plain"
    assert became(codex, "git commit -q --amend -m x") == "held"
    prompted(codex, "do not commit anything, just look at the cart")
    assert became(codex, "git commit -qam x") == "held"


def test_approval_of_a_variable_covers_the_whole_command(codex: AloneHost):
    for first, then in (
        ("r=origin; git push $r main", "r=evil; git push $r main"),
        ("git push origin $(cat branch)", "git status; git push origin $(cat branch)"),
        ("git push origin main", "git() { evil; }; git push origin main"),
        ("git push origin dev", "GIT_DIR=x git push origin dev"),
    ):
        assert became(codex, first) == "held"
        prompted(codex, "yes, do that")
        assert became(codex, then) == "held", then


def test_host_refusal_does_not_approve_the_next_call(host: AloneHost):
    assert host.judged(host.look("git push")).asks
    again = host.judged(host.look("git push"))
    assert again.asks, "the first one never came back"


@NEEDS_SANDBOX
def test_after_the_checkpoint_what_the_text_hides_is_kept_to_the_project(host: AloneHost):
    assert not host.judged(host.look("flyball checkpoint --goal x")).is_refused
    asyncio.run(host.governor.checkpoint(POINT))
    for command, how in (
        (UNKNOWN_FILES, "project"),
        ("find . -name __pycache__ -exec rm -rf {} +", "project"),
        ("find . -name '*.orig' | xargs rm -f", "project"),
        ("cd src && touch a && cd .. && rm src/a", "project"),
        ("git rebase --abort", "plain"),
        ("git pull", "plain"),
        ("find ~ -name x -delete", "project"),
        ("firebase deploy", "held"),
        ("npx semantic-release", "held"),
        ("psql -h db.example.com -c 'drop table a'", "held"),
        ("psql postgres://db.example.com/a -c 'drop table a'", "held"),
        ("psql -h localhost -c 'drop table a'", "plain"),
    ):
        assert became(host, command) == how, command


@NEEDS_SANDBOX
def test_stash_and_pop_run_confined_before_the_checkpoint(host: AloneHost):
    for command, how in (
        ("git stash -u && pytest -q; git stash pop", "read-only"),
        ("git worktree add /tmp/base-x HEAD && ls; git worktree remove /tmp/base-x", "read-only"),
        ("git archive HEAD | tar -x -C /tmp/base-x", "read-only"),
        ("git stash && pytest -q", "held"),
        ("git worktree add /tmp/base-x HEAD", "held"),
        ("git stash; git commit -qam x; git stash pop", "held"),
        ("rm -rf /tmp/nobody-has-made-this", "plain"),
        ("curl -s -X POST localhost:8000/a -d x=1", "plain"),
    ):
        assert became(host, command) == how, command


@NEEDS_SANDBOX
def test_early_server_is_reported_as_unreachable(host: AloneHost):
    behind: dict[str, Any] = {
        "tool_input": {"command": "python -m shop", "run_in_background": True}
    }
    for event in (host.look("python -m shop &"), host.look("python -m shop", **behind)):
        assert host.judged(event).text == ALONE
    assert host.judged(host.look("python -m shop & sleep 1; kill %1")).text == ""


@NEEDS_SANDBOX
def test_after_the_checkpoint_the_agent_deletes_what_it_made(host: AloneHost):
    assert not host.judged(host.look("flyball checkpoint --goal x")).is_refused
    asyncio.run(host.governor.checkpoint(POINT))
    for command, how in (
        ("git checkout -qb try/a && git switch - && git branch -D try/a", "plain"),
        ("rm -rf x.zip /tmp/nobody-has-made-this", "plain"),
        ("python3 - <<'PY'\nprint(1)\nPY", "plain"),
        ("eval 'git push'", "held"),
        ("git branch -D main", "held"),
    ):
        assert became(host, command) == how, command


def test_uncommitted_work_of_the_agents_own_last_run_is_not_the_persons(host: AloneHost):
    notes = host.repo / "notes.md"
    for text, how in (("one", "plain"), ("two", "plain"), ("three", "held")):
        prompted(host, f"write {text} into notes.md")
        assert not host.judged(host.look("flyball checkpoint --goal x")).is_refused
        asyncio.run(host.governor.checkpoint(POINT))
        assert became(host, "git restore cart.py") == how, text
        writing: dict[str, object] = {"tool_name": "Write", "tool_use_id": text}
        writing["tool_input"] = {"file_path": "notes.md", "content": text}
        assert not host.judged(host.data("PreToolUse", **writing)).is_refused
        notes.write_text(text)
        host.judged(host.data("PostToolUse", **writing, tool_response="ok"))
        assert not host.judged(host.data("Stop")).is_refused
        if text == "two":
            notes.write_text("the person's own")


@pytest.mark.parametrize("options", ["-k9", "--kill", "-ks", "-k -s"])
def test_judging_fuser_ends_no_process(tmp_path: Path, options: str):
    file = tmp_path / "open"
    with file.open("w") as held, subprocess.Popen(["sleep", "60"], stdout=held) as user:
        command = f"fuser {options} {file}"
        assert not ends_only_own_processes(command, command, "", str(tmp_path))
        assert user.poll() is None
        user.kill()


def test_an_agent_ends_what_it_has_started_and_nothing_else(tmp_path: Path):
    mark = f"wait-{os.getpid()}"
    script = f"import time; '{mark}'; time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", script]) as own:
        # Until it runs its own program, it goes by ours.
        while mark not in Path(f"/proc/{own.pid}/cmdline").read_text():
            time.sleep(0.01)
        me, root = this_process(), str(tmp_path)
        for command, is_own in (
            (f"kill {own.pid}", True),
            (f"kill -s TERM {own.pid}", True),
            (f"pkill -f {mark}", True),
            (f"kill $(pgrep -f {mark})", True),
            ("kill %1", True),
            ("kill -9 $!", True),
            ("pkill -x nobody-is-called-so", True),
            (f"kill -0 {os.getppid()}", True),
            ('kill "$(cat none.pid)"', True),
            ("kill $$", True),
            ("pkill -P $$", True),
            (f"pkill -P {os.getppid()}", False),
            ("kill", False),
            ("kill $OTHER", False),
            ("kill $(rm x)", False),
            (f"kill {os.getppid()}", False),
            (f"kill -9 {os.getpid()}", False),
            ("kill 'x", False),
            # Whoever looks up must understand every word, and never do what is only judged.
            (f"pkill -e -f {mark}", False),
            ("pkill -s 1", False),
            ("pkill -f [", False),
            ("killall -r .*", False),
            ("killall a-name-longer-than-fifteen", False),
        ):
            assert ends_only_own_processes(command, command, me, root) is is_own, command
        assert ends_only_own_processes("kill $P", "a & P=$!; kill $P", me, root)
        piped = f"pgrep -f {mark} | xargs kill"
        assert ends_only_own_processes("kill …", piped, me, root)
        assert own.poll() is None
        assert not ends_only_own_processes(f"kill {own.pid}", "", "", root)
        own.kill()
