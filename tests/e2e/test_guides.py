"""The commands of the guides and of the README are typed, and say what the pages say.

A command is only read, not run, where it needs what a test cannot have: `NEEDS` says what.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.e2e.printed import Printed
from tests.e2e.test_tutorial import WHO, commands
from tests.governed import GOOD, script, shop
from tests.repos import git
from tests.small_python import small_path

ROOT = Path(__file__).parents[2]
PAGES = {page.stem: page for page in (ROOT / "README.md", *(ROOT / "docs/guides").glob("*.md"))}
BLOCK = re.compile(r"^(`{3,})(sh|console)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)

NEEDS = {
    r"--model ": "a key for a model",
    r"relay:": "somebody who answers",
    r"^(claude|codex)\b|doctor --host": "the agent itself",
    r"^make |^cd ": "the clone, or another folder",
    r"^(secret-tool|security|curl|pip|apt-get|docker|systemctl) ": "another program",
    r"^flyball (serve|mcp|acp)\b": "a client; other tests talk to it",
    r"runs import ": "a project of its own: what is imported is the last run there",
    r"runs resume ": "a run that rests, or that another process holds",
    r"^flyball approve last$": "a run that asks",
    r"ledger (show|forget) ": "a mistake of that name",
    r"^flyball trust$": "a person who says yes",
    r"add coupons|--flow ": "a planner, or somebody who answers",
    r"^(uv|uvx|pipx) ": "another program, and a clone",
    r"--identity |^workflow=|--key sigstore": "a job of a CI service, and its network",
    r"--allowed-signers": "a key, and a branch of somebody else's",
    r"--database|FLYBALL_DATABASE|^flyball worker|--submit": "a Postgres",
    r"^flyball bench": "minutes; tests of its own try it",
}
SAID = {
    "type": "user",
    "sessionId": "1",
    "timestamp": "2026-01-01T00:00:00Z",
    "cwd": "/shop",
    "message": {"role": "user", "content": "hello"},
}
FINE = {0, 3, 4}
"""Done, waits for a person, not shown: answers, all of them. 1 and 2 are trouble."""


def _recording(actions: Sequence[str]) -> str:
    """A trajectory of SWE-agent in which each action is answered by itself."""
    steps = [
        {"action": each, "observation": each, "thought": "", "response": ""} for each in actions
    ]
    return json.dumps({"trajectory": steps, "info": {}, "history": []})


def needs(command: str) -> str:
    """What a command needs that is not here; nothing where it can be run."""
    return next((why for sign, why in NEEDS.items() if re.search(sign, command)), "")


def lines_of(kind: str, body: str) -> list[tuple[str, list[str]]]:
    """The commands of a block, each with what the page says it prints."""
    if kind == "console":
        return [(re.sub(r"\s+# .*", "", command), said) for command, said in commands(body)]
    lines = re.sub(r"\\\n\s*", " ", body).split("\n")
    return [(re.sub(r"\s+# .*", "", line), []) for line in lines if line.strip()]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shop with one run behind it, a branch with work on it, and the files that pages name."""
    home = tmp_path_factory.mktemp("guides").resolve()
    repo = shop(home / "shop")
    driver = script(home / "s.jsonl", *GOOD)
    done = _type(home, repo, f'flyball run --driver {driver} --intent small_fix "the total"')
    assert done.returncode == 0, done.stdout + done.stderr
    git(repo, "branch", "-q", "topic", "HEAD")
    (home / ".claude" / "projects" / "shop").mkdir(parents=True)
    session = home / ".claude" / "projects" / "shop" / "1.jsonl"
    session.write_text(json.dumps(SAID) + "\n")
    for name, text in {
        "conversation.json": json.dumps(["user: is it red?", "assistant: Shall I fix it?"]),
        "requests.jsonl": '{"text": "fix the typo"}\n',
        "release.yaml": (ROOT / "examples/flows/careful-fix.yaml").read_text(),
        "names.txt": "b\na\n",
        "loop.traj": _recording(["ls"] * 6),
        "calm.traj": _recording([f"cat {n}" for n in range(11)]),
        "runs/loop.traj": _recording(["ls"] * 6),
    }.items():
        (repo / name).parent.mkdir(exist_ok=True)
        (repo / name).write_text(text)
    return repo


def _type(home: Path, repo: Path, command: str) -> subprocess.CompletedProcess[str]:
    env = {
        "PATH": small_path(),
        "HOME": str(home),
        "TMPDIR": str(home),
        "LANG": "C.UTF-8",
        **{f"GIT_{who}_{what}": "ada@example.org" for who, what in WHO},
    }
    return subprocess.run(
        ["bash", "-c", command],
        cwd=repo,
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "name", [name for name in sorted(PAGES) if BLOCK.search(PAGES[name].read_text())]
)
def test_the_commands_of_a_page_can_be_typed(name: str, place: Path):
    printed = Printed(place.parent)
    for _, kind, body in BLOCK.findall(PAGES[name].read_text()):
        for command, said in lines_of(kind, body):
            if not needs(command):
                done = _type(place.parent, place, command)
                fine = FINE | {1} if command.startswith("flyball command ") else FINE
                # Two pages may merge the one run of the shop.
                is_fine = done.returncode in fine or "error[already-merged]" in done.stderr
                assert is_fine, f"{command}\n{done.stdout}{done.stderr}"
                if said and name in EXACT:
                    printed.compare([each for each in said if each], done.stdout)


EXACT = {"commands"}
"""Pages whose printed answers depend on nothing but the command."""


def test_few_commands_are_only_read():
    every = [
        command
        for page in PAGES.values()
        for _, kind, body in BLOCK.findall(page.read_text())
        for command, _ in lines_of(kind, body)
    ]
    left = [command for command in every if needs(command)]
    assert len(every) > 40
    assert len(left) < len(every) / 2, left
