"""Whole governed runs with the real SDK clients, against a provider on loopback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.wire_server import Refuse, Say, WireServer
from tests.governed import Shell, objects
from tests.repos import repository
from tests.tiers import sampled

FLYBALL = str(Path(sys.executable).with_name("flyball"))
BROKEN = "def double(n):\n    return n + 1\n"
CASES = """import unittest
from code_ import double


class DoubleTest(unittest.TestCase):
    def test_five(self):
        self.assertEqual(double(5), 10)
"""
DIFF = """--- a/code_.py
+++ b/code_.py
@@ -1,2 +1,2 @@
 def double(n):
-    return n + 1
+    return n * 2
"""
WRONG = DIFF.replace("n * 2", "n + 3")
RIGHT = DIFF.replace("n + 1", "n + 3")
CHECKPOINT = {
    "goal": "double doubles",
    "findings": "it adds one",
    "proposed_action": "multiply",
    "files": ["code_.py"],
    "verify_with": ["unittest"],
}
ACTS = (
    Say("Look.", (("read", {"path": "code_.py"}), ("edit_diff", {"diff": DIFF}))),
    Refuse(429),
    Say("", (("checkpoint", CHECKPOINT),)),
    Say("", (("edit_diff", {"diff": WRONG}),)),
    Say("Done."),
    Say("", (("edit_diff", {"diff": RIGHT}),)),
    Say("Done."),
)


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize("model", sampled(["openai:gpt-4o", "anthropic:claude-sonnet-5"], 2))
def test_a_model_is_governed_from_recon_to_commit(model: str, tmp_path: Path):
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "code_.py").write_text(BROKEN)
    (repo / "test_code.py").write_text(CASES)
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "first")):
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", *identity, *words], cwd=repo, check=True)
    kept = {k: v for k, v in os.environ.items() if not k.startswith("FLYBALL_")}
    with WireServer(ACTS) as server:
        url = server.root if model.startswith("anthropic") else server.url
        more = {
            "FLYBALL_STATE_DIR": str(tmp_path / "state"),
            "FLYBALL_MODEL_BASE_URL": url,
            "OPENAI_API_KEY": "a-key",
            "ANTHROPIC_API_KEY": "a-key",
            "NO_PROXY": "127.0.0.1",
        }
        done = subprocess.run(
            [
                FLYBALL,
                "run",
                "--json",
                "--intent",
                "small_fix",
                "--model",
                model,
                "double is wrong",
            ],
            cwd=repo,
            env={**kept, **more},
            capture_output=True,
            text=True,
            check=False,
        )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr
    denied = [line["tool"] for line in lines if line.get("decision") == "deny"]
    assert denied[0] == "edit_diff"
    assert any(line["type"] == "governor" and line["kind"] == "rejection" for line in lines)
    assert lines[-1]["proof"].startswith("red → green (tests that were there)")


@pytest.mark.exhaustive
def test_what_a_provider_looks_up_is_counted_and_journaled(tmp_path: Path):
    found = [{"type": "web_search_result", "title": "Carts", "url": "https://example.org/carts",
              "encrypted_content": "x", "page_age": None}]  # fmt: skip
    looks = (("web_search", {"query": "what is an empty cart"}, found),) * 2
    acts = [
        Say("", (("read", {"path": "code_.py"}),), looks=looks),
        Say("An empty cart is worth nothing."),
    ]
    repo = repository(tmp_path / "repo", {"code_.py": BROKEN, "test_code.py": CASES})
    home = tmp_path / "home"
    home.mkdir()
    with WireServer(acts) as server:
        shell = Shell(
            repo,
            home,
            FLYBALL_MODEL_BASE_URL=server.root,
            FLYBALL_MODEL_WEB="true",
            ANTHROPIC_API_KEY="a-key",
            NO_PROXY="127.0.0.1",
        )
        model = ("--model", "anthropic:claude-sonnet-5")
        done = shell("run", "--json", "--intent", "diagnose", *model, "why is the total empty?")
    lines = objects(done.stdout)
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr
    made = [(line["tool"], line["about"]) for line in lines if line.get("state") == "returned"]
    assert made[:2] == [("web_search", "what is an empty cart")] * 2
    assert [line["used"] for line in lines if line["type"] == "budget"][-1] == 3
    named = [tool.get("max_uses") for tool in server.requests[0]["tools"]]
    assert [each for each in named if each] == [4, 4]
    heard = str(server.requests[1]["messages"])
    assert "Outcome of web_search" in heard and "> Carts: https://example.org/carts" in heard
    run = next(line["run"] for line in lines if line["type"] == "run")
    shown = json.loads(shell("runs", "show", run, "--json", "--threads").stdout)
    assert shown["spend"]["calls"] == 3
    told = [line for line in shown["threads"] if line.get("tool") == "web_search"]
    assert len(told) == 2 and "https://example.org/carts" in told[0]["text"]
    words = shell("runs", "show", run).stdout
    assert words.count("web_search by the model's provider: what is an empty cart") == 2, words
