"""The real programs, held by our hooks; only the model that drives them is scripted."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from tests.governed import CART, TESTS, Shell, objects, shop
from tests.hosts.hooking import HOOK, STATE
from tests.simulation.node import installed
from tests.toolchains import need

pytestmark = [pytest.mark.slow, pytest.mark.exhaustive]

HOSTS = ("claude", "codex", "gemini")
RIGHT = CART.replace("result += price", "result += price * quantity")
WRONG = CART.replace("result += price", "result += quantity")
ROOT = Path(__file__).parents[3]
SHELLS = {
    "claude": "Bash",
    "codex": "exec_command",
    "gemini": "run_shell_command",
    "opencode": "bash",
}

Turn = dict[str, Any]


class RealHost:
    """One project, in which a real host is asked for something."""

    def __init__(self, host: str, place: Path, sockets: str) -> None:
        self.host = host
        self.place = place
        self.home = place / "home"
        self.home.mkdir()
        self.repo = shop(
            place / "shop", {"cart.py": CART, "test_cart.py": TESTS, ".gitignore": "__pycache__/\n"}
        )
        self.shell = Shell(self.repo, self.home, XDG_RUNTIME_DIR=sockets)
        if host == "opencode":
            assert self.shell("init", "--host", host, "--yes").returncode == 0

    def asks(
        self,
        *turns: Turn,
        tracks: list[Turn] | None = None,
        prompt: str = "the total is wrong, fix it",
        **more: str,
    ) -> RealHost:
        """Let the host work through what its model says."""
        script = {"tracks": [*(tracks or []), {"turns": list(turns)}]}
        (self.place / "tmp").mkdir()
        env = {**self.shell.env, "TERM": "dumb", "USER": "dev", "SHELL": "/bin/bash"}
        case = {
            "host": self.host,
            "home": str(self.home),
            "project": str(self.repo),
            "modules": str(modules() / "node_modules"),
            "hook": str(HOOK),
            "prompt": prompt,
            "script": script,
            **more,
            "env": {**env, "TMPDIR": str(self.place / "tmp"), "GIT_CONFIG_NOSYSTEM": "1"},
        }
        file = self.place / "case.json"
        file.write_text(json.dumps(case).replace("@REPO@", str(self.repo)))
        alone = ["unshare", "-n" if os.geteuid() == 0 else "-rn"]
        done = subprocess.run(
            [*alone, sys.executable, "-m", "tests.hosts.real.lab", str(file)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return self

    @property
    def heard(self) -> str:
        """All that the model was told, in the last request of each thread."""
        lines = (self.place / "requests.jsonl").read_text().splitlines()
        return "\n".join(json.dumps(json.loads(line)["body"], ensure_ascii=False) for line in lines)

    @property
    def runs(self) -> list[dict[str, Any]]:
        return objects(self.shell("runs", "list", "--json").stdout)

    def write(self, text: str, before: str = CART) -> Turn:
        """A turn that puts a text into cart.py, with the host's own tool."""
        if self.host == "codex":
            old = next(line for line in before.splitlines() if "result +=" in line)
            new = next(line for line in text.splitlines() if "result +=" in line)
            patch = (
                f"*** Begin Patch\n*** Update File: cart.py\n@@\n-{old}\n+{new}\n*** End Patch\n"
            )
            return calls({"name": "apply_patch", "custom": True, "input": patch})
        if self.host == "opencode":
            given = {"filePath": "@REPO@/cart.py", "content": text}
            return calls({"name": "write", "input": given})
        name = "Write" if self.host == "claude" else "write_file"
        return calls({"name": name, "input": {"file_path": "@REPO@/cart.py", "content": text}})

    def look(self) -> Turn:
        if self.host == "codex":
            return self.shells("cat cart.py")
        if self.host == "opencode":
            return calls({"name": "read", "input": {"filePath": "@REPO@/cart.py"}})
        name = "Read" if self.host == "claude" else "read_file"
        return calls({"name": name, "input": {"file_path": "@REPO@/cart.py"}})

    def shells(self, command: str) -> Turn:
        """A turn that runs a command in the host's shell."""
        name = SHELLS[self.host]
        field = "cmd" if self.host == "codex" else "command"
        more = {} if self.host == "codex" else {"description": "x"}
        return calls({"name": name, "input": {field: command, **more}})

    def states(self) -> Turn:
        """A turn that states the checkpoint."""
        flyball = Path(sys.executable).with_name("flyball")
        words = " ".join(word if word.startswith("--") else f"'{word}'" for word in STATE[1:])
        return self.shells(f"{flyball} checkpoint {words} --file cart.py")


def calls(*tools: Turn) -> Turn:
    return {"text": "Next.", "tools": list(tools)}


def says(text: str) -> Turn:
    return {"text": text}


def modules() -> Path:
    """The hosts, from npm, in their pinned versions."""
    return installed(Path(__file__).parent, Path(sys.prefix) / "hosts")


@pytest.fixture
def place(tmp_path: Path) -> Generator[tuple[Path, str]]:
    need("node", "npm", "unshare")
    sockets = tempfile.mkdtemp(prefix="fb")
    yield tmp_path, sockets
    shutil.rmtree(sockets, ignore_errors=True)


def test_hooks_over_http_hold_a_real_host_as_well(place: tuple[Path, str]):
    real = RealHost("claude", *place)
    real.shell("init", "--host", "claude", "--http", "--yes")
    assert '"type": "http"' in (real.home / ".claude/settings.json").read_text()
    real.asks(real.look(), real.write(WRONG), says("It could not."))
    assert "recon does not allow that" in real.heard
    assert (real.repo / "cart.py").read_text() == CART
    (run,) = real.runs
    assert run["used"] == 0


@pytest.mark.parametrize("host", HOSTS)
def test_a_fix_by_a_real_host_is_held_to_checkpoint_and_verdict(host: str, place: tuple[Path, str]):
    real = RealHost(host, *place)
    real.asks(
        real.look(),
        real.write(WRONG),
        real.states(),
        real.write(WRONG),
        says("Finished."),
        real.write(RIGHT, WRONG),
        says("Finished now."),
    )
    assert "changes things, and recon does not allow that" in real.heard
    assert "The checkpoint is accepted" in real.heard
    assert "This is not done yet" in real.heard
    assert (real.repo / "cart.py").read_text() == RIGHT
    (run,) = real.runs
    assert (run["status"], run["used"], run["limit"]) == ("success", 2, 15)


@pytest.mark.parametrize("host", HOSTS)
def test_a_feature_is_built_by_a_real_host_where_no_governor_may_stay(
    host: str, place: tuple[Path, str]
):
    real = RealHost(host, *place)
    real.shell.env["FLYBALL_HOOKS_ALONE"] = "true"
    real.asks(
        real.look(),
        real.write(WRONG),
        real.states(),
        real.write(WRONG),
        real.shells("python3 -m unittest"),
        says("Finished."),
        real.write(RIGHT, WRONG),
        real.shells("python3 -m unittest"),
        says("Finished now."),
        prompt="please implement a total that counts every piece, and refactor what is in its way",
    )
    assert "changes things, and recon does not allow that" in real.heard
    assert "This is not done yet" in real.heard
    assert (real.repo / "cart.py").read_text() == RIGHT
    (run,) = real.runs
    assert (run["status"], run["used"]) == ("success", 4)
    reverted = real.shell("card", "revert", run["run"], "step-1", "--yes")
    assert reverted.returncode == 0, reverted.stderr
    assert (real.repo / "cart.py").read_text() == CART


@pytest.mark.parametrize("host", HOSTS)
def test_a_real_host_that_does_not_mend_it_is_let_go_and_called_unverified(
    host: str, place: tuple[Path, str]
):
    real = RealHost(host, *place)
    ends = [says(f"Finished, {word}.") for word in ("surely", "really", "truly", "at last", "so")]
    real.asks(real.look(), real.states(), real.write(WRONG), *ends)
    (run,) = real.runs
    assert run["status"] == "unverified"
    assert real.heard.count("This is not done yet") >= 1


def test_what_a_background_shell_writes_while_only_looking_is_taken_back(place: tuple[Path, str]):
    real = RealHost("claude", *place)
    late = "python3 -c 'print(1)'"
    sneaky = "(sleep 1; echo 'x = 1' > late.py) >/dev/null 2>&1 & echo started"
    real.asks(real.shells(sneaky), real.shells(late), says("I looked."))
    assert not (real.repo / "late.py").exists()


def test_a_sub_agent_of_a_real_host_is_held_to_the_same_checkpoint(place: tuple[Path, str]):
    real = RealHost("claude", *place)
    agent = {
        "name": "Agent",
        "input": {
            "description": "sub work",
            "prompt": "SUBTASK write the file",
            "subagent_type": "general-purpose",
            "run_in_background": False,
        },
    }
    write = {"name": "Write", "input": {"file_path": "@REPO@/new.py", "content": "x = 1\n"}}
    sub = {"when": "SUBTASK", "turns": [calls(write), says("SUBDONE")]}
    real.asks(calls(agent), says("It could not."), tracks=[sub])
    assert "changes things, and recon does not allow that" in real.heard
    assert not (real.repo / "new.py").exists()


def test_a_real_host_does_not_switch_its_own_hooks_off(place: tuple[Path, str]):
    real = RealHost("claude", *place)
    disarm = "mkdir -p .claude && echo '{\"disableAllHooks\": true}' > .claude/settings.json"
    real.asks(
        real.states(), real.shells(disarm), real.write(WRONG), says("Done."), says("Done, I say.")
    )
    assert "not done yet" in real.heard or "not allowed" in real.heard
    assert not (real.repo / ".claude/settings.json").exists()
    assert real.runs[0]["status"] != "success"


def test_a_real_host_that_is_observed_meets_nobody_and_the_audit_names_what_would_have_been(
    place: tuple[Path, str],
):
    real = RealHost("claude", *place)
    assert real.shell("init", "--host", "claude", "--level", "observe", "--yes").returncode == 0
    real.asks(real.look(), real.write(WRONG), real.shells("git stash list"), says("Finished."))
    assert (real.repo / "cart.py").read_text() == WRONG
    for word in ("Flyball", "checkpoint", "recon", "not done yet"):
        assert word not in real.heard
    report = json.loads(real.shell("audit", "--host", "flyball", "--json").stdout)
    found = {each["rule"]: each for each in report["findings"]}
    assert found.keys() == {"would-block", "would-hold"}
    assert "cart.py" in found["would-block"]["quote"]
    assert all("(tree " in each["detail"] for each in found.values())
    assert real.shell("init", "--host", "claude", "--yes").returncode == 0
    assert "claude observe" not in (real.home / ".claude/settings.json").read_text()


@pytest.mark.parametrize("host", [*HOSTS, "opencode"])
def test_a_real_host_states_a_conflict_and_its_person_is_asked(host: str, place: tuple[Path, str]):
    real = RealHost(host, *place)
    flyball = Path(sys.executable).with_name("flyball")
    says_so = (
        f"{flyball} conflict --says 'assertEqual(total([(2, 3)]), 6)' --but 'must be 7' "
        "--where test_cart.py:11"
    )
    real.asks(
        real.look(),
        real.shells(says_so),
        real.write(WRONG),
        says("Your request and the test contradict each other."),
        prompt="fix cart.py: total([(2, 3)]) must be 7",
    )
    assert "The task cannot be done as asked" in real.heard
    assert (real.repo / "cart.py").read_text() == CART
    (run,) = real.runs
    assert run["status"] == "paused"
    (told,) = objects(real.shell("runs", "show", "last", "--json").stdout)
    assert [each["kind"] for each in told["questions"]] == ["conflict"]
