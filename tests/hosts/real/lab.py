"""One session of a real host against a scripted model, where only loopback can be reached.

Run as `unshare -n python -m tests.hosts.real.lab CASE.json`: the host has a home of its own, an
environment made from nothing, and no network; what it did is left in the case's directory.
"""

from __future__ import annotations

import fcntl
import json
import os
import platform
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.simulation.node import node

from flyball.hosts.prove.model.server import LoopbackModel

CPU = {"x86_64": "x64", "aarch64": "arm64"}
EVENTS = {
    "claude": (
        "SessionStart UserPromptSubmit UserPromptExpansion PreToolUse PermissionRequest "
        "PostToolUse PostToolUseFailure PostToolBatch Stop SubagentStart SubagentStop PreCompact "
        "ConfigChange SessionEnd"
    ),
    "codex": (
        "SessionStart UserPromptSubmit PreToolUse PermissionRequest PostToolUse PreCompact "
        "SubagentStart SubagentStop Stop Interrupt SessionEnd"
    ),
    "gemini": "SessionStart BeforeAgent BeforeTool AfterTool AfterAgent PreCompress SessionEnd",
}
SECONDS = 600
"""How long a session may take before it is ended; the machine may be busy."""


def program(host: str, modules: Path) -> list[str]:
    """The command of a host as npm installed it."""
    machine = platform.machine()
    cpu = CPU[machine]
    match host:
        case "claude":
            return [str(modules / f"@anthropic-ai/claude-code-linux-{cpu}/claude")]
        case "codex":
            inner = f"@openai/codex-linux-{cpu}/vendor/{machine}-unknown-linux-musl/bin/codex"
            return [str(modules / inner)]
        case "opencode":
            return [str(modules / f"opencode-linux-{cpu}/bin/opencode")]
        case _:
            return [node(), str(modules / "@google/gemini-cli/bundle/gemini.js")]


def hooks(host: str, command: str) -> dict[str, Any]:
    """Every event of a host, to our executable."""
    seconds = 120_000 if host == "gemini" else 120
    return {
        event: [{"hooks": [{"type": "command", "command": command, "timeout": seconds}]}]
        for event in EVENTS[host].split()
    }


def set_up(case: dict[str, Any], url: str) -> tuple[list[str], dict[str, str]]:
    """Write the host's settings; its command line and its environment come back."""
    host, home = case["host"], Path(case["home"])
    argv = program(host, Path(case["modules"]))
    if host == "opencode":
        return _set_up_opencode(case, home / ".config/opencode", argv, url)
    wanted = hooks(host, f"{case['hook']} {host}")
    match host:
        case "claude":
            if not (home / ".claude/settings.json").exists():
                _write(home / ".claude/settings.json", {"hooks": wanted})
            env = {
                "ANTHROPIC_BASE_URL": url,
                "ANTHROPIC_API_KEY": "sk-ant-dummy",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_AUTOUPDATER": "1",
                "IS_SANDBOX": "1",
            }
            mode = ["--permission-mode", "bypassPermissions"]
            if server := case.get("server"):
                servers = {case.get("server_name", "lab"): command(server)}
                _write(home / "mcp.json", {"mcpServers": servers})
                # Its value is a list, which would take the prompt for another file.
                mode += ["--mcp-config", str(home / "mcp.json"), "--strict-mcp-config"]
            return [*argv, "-p", "--model", "claude-sonnet-4-5", *mode, case["prompt"]], env
        case "codex":
            _write(home / ".codex/hooks.json", {"hooks": wanted})
            settings = CODEX.format(url=url)
            if server := case.get("server"):
                name, python = case.get("server_name", "lab"), json.dumps(sys.executable)
                settings += CODEX_SERVER.format(name=name, python=python, file=server)
            (home / ".codex/config.toml").write_text(settings)
            env = {"LAB_KEY": "dummy", "CODEX_HOME": str(home / ".codex")}
            free = ["--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox"]
            return [*argv, "exec", "--skip-git-repo-check", *free, case["prompt"]], env
        case _:
            name = case.get("server_name", "lab")
            servers = {name: command(case["server"])} if "server" in case else {}
            settings = {**GEMINI, "hooks": wanted, "mcpServers": servers}
            _write(home / ".gemini/settings.json", settings)
            env = {
                "GEMINI_API_KEY": "dummy",
                "GOOGLE_GEMINI_BASE_URL": url,
                "GEMINI_CLI_NO_RELAUNCH": "true",
                "NO_BROWSER": "true",
            }
            model = ["-m", "gemini-2.5-flash", "--skip-trust", "--yolo"]
            return [*argv, *model, "-p", case["prompt"]], env


def _set_up_opencode(
    case: dict[str, Any], place: Path, argv: list[str], url: str
) -> tuple[list[str], dict[str, str]]:
    """As above; its plugin is there already, put there by `flyball init`."""
    model = {"name": "fake", "tool_call": True, "limit": {"context": 100_000, "output": 8_000}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "lab",
        "options": {"baseURL": f"{url}/v1", "apiKey": "dummy"},
        "models": {"fake": model},
    }
    server = case.get("server")
    lab = {"type": "local", "command": [sys.executable, server], "enabled": True}
    settings = {
        "autoupdate": False,
        "share": "disabled",
        "model": "lab/fake",
        "small_model": "lab/fake",
        "enabled_providers": ["lab"],
        "provider": {"lab": provider},
        "mcp": {"lab": lab} if server else {},
    }
    _write(place / "opencode.json", settings)
    # Without these it installs the types of plugins first, and waits a minute for a network.
    (place / "node_modules").mkdir(exist_ok=True)
    locked = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
    _write(place / "package-lock.json", {"lockfileVersion": 3, **locked})
    quiet = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
    env = {"npm_config_offline": "true", **{f"OPENCODE_DISABLE_{name}": "1" for name in quiet}}
    return [*argv, "run", "--model", "lab/fake", case["prompt"]], env


def command(server: str) -> dict[str, Any]:
    """How a host starts a server for MCP."""
    return {"command": sys.executable, "args": [server]}


CODEX_SERVER = """\

[mcp_servers.{name}]
command = {python}
args = ["{file}"]
startup_timeout_sec = 120
tool_timeout_sec = 300
"""
CODEX = """\
model = "gpt-5.5"
model_provider = "lab"
check_for_update_on_startup = false

[model_providers.lab]
name = "lab"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "LAB_KEY"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false

[features]
plugins = false
"""
GEMINI = {
    "security": {
        "auth": {"selectedType": "gemini-api-key"},
        "folderTrust": {"enabled": False},
    },
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
}


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1))


def raise_loopback() -> None:
    """Bring up loopback, and make sure that there is nothing else."""
    with socket.socket() as line:
        up_and_running = 0x41
        fcntl.ioctl(line, 0x8914, struct.pack("16sh14x", b"lo", up_and_running))
    try:
        socket.create_connection(("192.0.2.1", 80), timeout=1)
    except OSError:
        return
    raise SystemExit("this namespace reaches outside")


def play(place: Path) -> None:
    """Let the session of a case happen; it is ended if it takes too long."""
    case = json.loads(place.read_text())
    raise_loopback()
    with LoopbackModel(case["script"], place.with_name("requests.jsonl")) as server:
        argv, env = set_up(case, server.url)
        with subprocess.Popen(
            argv,
            cwd=case["project"],
            env={**case["env"], **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            try:
                out, err = process.communicate(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                out, err = process.communicate()
    place.with_name("out.txt").write_bytes(out)
    place.with_name("err.txt").write_bytes(err)


if __name__ == "__main__":
    play(Path(sys.argv[1]))
