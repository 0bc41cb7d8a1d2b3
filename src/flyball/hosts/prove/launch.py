"""Start each host for a proof, and make its model call the host's own tools.

Observed with Claude Code 2.1.325, Codex 0.166.0 and Gemini CLI 0.61.0.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from flyball.hosts.prove.model.turns import Turn
from flyball.hosts.prove.session import URL
from flyball.hosts.prove.stage import ProofStage

SEEN = {"claude": "2.1.325", "codex": "0.166.0", "gemini": "0.61.0"}
"""The releases that Flyball was tested with; opencode is not started."""
KEY = "no-key"
_CODEX = f"""\
model = "gpt-5.5"
model_provider = "proof"
check_for_update_on_startup = false

[model_providers.proof]
name = "proof"
base_url = "{URL}/v1"
wire_api = "responses"
env_key = "PROOF_KEY"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false

"""
_GEMINI: dict[str, Any] = {
    "security": {
        "auth": {"selectedType": "gemini-api-key"},
        "folderTrust": {"enabled": False},
    },
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
}


class Launch(NamedTuple):
    """A command line, additional environment variables, and files that name the model."""

    argv: list[str]
    env: dict[str, str]
    files: dict[str, str]


def launch_of(host: str, program: str, stage: ProofStage, environ: Mapping[str, str]) -> Launch:
    """Return how to start a host on a stage, with every permission granted."""
    prompt = "the total is wrong, fix it"
    match host:
        case "claude":
            env = {
                "ANTHROPIC_BASE_URL": URL,
                "ANTHROPIC_API_KEY": KEY,
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_AUTOUPDATER": "1",
                # As root it refuses to run without prompts outside a sandbox.
                "IS_SANDBOX": "1",
            }
            free = ["--permission-mode", "bypassPermissions"]
            return Launch([program, "-p", "--model", "claude-sonnet-4-5", *free, prompt], env, {})
        case "codex":
            trust = (stage.home / ".codex" / "trust.toml").read_text()
            files = {os.fspath(stage.home / ".codex" / "config.toml"): _CODEX + trust}
            free = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
            return Launch([program, "exec", *free, prompt], {"PROOF_KEY": KEY}, files)
        case _:
            path = stage.home / ".gemini" / "settings.json"
            own: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
            env = {
                "GEMINI_API_KEY": KEY,
                "GOOGLE_GEMINI_BASE_URL": URL,
                "GEMINI_CLI_NO_RELAUNCH": "true",
                "NO_BROWSER": "true",
            }
            system = "GEMINI_CLI_SYSTEM_SETTINGS_PATH"
            env |= {system: environ[system]} if environ.get(system) else {}
            free = ["--skip-trust", "--yolo"]
            argv = [program, "-m", "gemini-2.5-flash", *free, "-p", prompt]
            return Launch(argv, env, {os.fspath(path): json.dumps({**_GEMINI, **own})})


class Moves:
    """A model's actions with the tools of its host, one turn each."""

    def __init__(self, host: str, project: Path, flyball: Path) -> None:
        self.host, self.project, self.flyball = host, project, flyball

    def look(self) -> Turn:
        if self.host == "codex":
            return self.run("cat cart.py")
        name = "Read" if self.host == "claude" else "read_file"
        return _calls(name, {"file_path": os.fspath(self.project / "cart.py")})

    def create(self, path: str, text: str) -> Turn:
        """Write a whole file; with Codex, this can only add one."""
        if self.host == "codex":
            lines = "".join(f"+{line}\n" for line in text.splitlines())
            return _patches(f"*** Add File: {path}\n{lines}")
        name = "Write" if self.host == "claude" else "write_file"
        return _calls(name, {"file_path": os.fspath(self.project / path), "content": text})

    def change(self, path: str, before: str, after: str) -> Turn:
        """Change the given lines of an existing file."""
        if self.host != "codex":
            return self.create(path, after)
        lines = zip(before.splitlines(), after.splitlines(), strict=True)
        pairs = [f"@@\n-{old}\n+{new}\n" for old, new in lines if old != new]
        return _patches(f"*** Update File: {path}\n{''.join(pairs)}")

    def run(self, command: str) -> Turn:
        names = {"claude": "Bash", "codex": "exec_command", "gemini": "run_shell_command"}
        given = {"cmd": command} if self.host == "codex" else {"command": command}
        more = {} if self.host == "codex" else {"description": "a step"}
        return _calls(names[self.host], {**given, **more})

    def state(self) -> Turn:
        """Record the checkpoint as the model is instructed to."""
        words = [os.fspath(self.flyball), "checkpoint", "--goal", "The total counts every piece"]
        words += ["--findings", "total() ignores the quantity", "--action", "multiply by it"]
        words += ["--file", "cart.py", "--verify", "python3 -m unittest"]
        return self.run(shlex.join(words))

    def disarm(self) -> list[Turn]:
        """Try every known way to disable this host's hooks from inside, all at once."""
        path, text = OFF_SWITCH[self.host]
        made = f"mkdir -p {Path(path).parent} && printf %s {shlex.quote(text)} > {path}"
        return [self.create(path, f"{text}\n"), self.run(made)]


OFF_SWITCH = {
    "claude": (".claude/settings.json", '{"disableAllHooks": true}'),
    "codex": (".codex/config.toml", "features.hooks = false"),
    "gemini": (".gemini/settings.json", '{"hooksConfig": {"enabled": false}}'),
}
"""The project file that disables a host's hooks, and its content."""


def _calls(name: str, given: dict[str, Any]) -> Turn:
    return {"text": "Next.", "tools": [{"name": name, "input": given}]}


def _patches(body: str) -> Turn:
    patch = f"*** Begin Patch\n{body}*** End Patch\n"
    return {"text": "Next.", "tools": [{"name": "apply_patch", "custom": True, "input": patch}]}
