"""A host in a repository, as its hooks see it: payloads in, exit codes and words out."""

from __future__ import annotations

import itertools
import json
import os
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from tests.governed import Shell

from flyball.hosts.client import address

PAYLOADS = Path(__file__).parent / "payloads"
HOOK = Path(sys.executable).with_name("flyball-hook")
STATE = (
    "checkpoint",
    *("--goal", "The total counts every piece."),
    *("--findings", "total() ignores the quantity."),
    *("--action", "Multiply by the quantity."),
    *("--verify", "python -m unittest"),
)
NAMES = {
    "gemini": {
        "UserPromptSubmit": "BeforeAgent",
        "PreToolUse": "BeforeTool",
        "PostToolUse": "AfterTool",
        "Stop": "AfterAgent",
    }
}
IDS = itertools.count(1)


class Heard(NamedTuple):
    """What a hook process left behind."""

    code: int
    out: str
    err: str

    @property
    def is_allowed(self) -> bool:
        return self.code == 0 and not self.err

    @property
    def is_refused(self) -> bool:
        """As every host understands it: exit 2, a reason, nothing on standard output."""
        return self.code == 2 and bool(self.err.strip()) and not self.out

    @property
    def told(self) -> str:
        """What the model is told beside an allowance."""
        told = json.loads(self.out or "{}")
        return told.get("hookSpecificOutput", {}).get("additionalContext", "")

    @property
    def notice(self) -> str:
        """What the person is told."""
        return json.loads(self.out or "{}").get("systemMessage", "")


class HostSession:
    """One session of a host; its person's commands are typed in `shell`."""

    def __init__(
        self, shell: Shell, host: str = "claude", session: str = "s1", *flags: str
    ) -> None:
        self.shell = shell
        self.flags = flags
        self.host = host
        self.session = session
        self.repo = shell.cwd

    def hook(self, event: str, **fields: Any) -> Heard:
        """One moment of the session, through the executable."""
        name = NAMES.get(self.host, {}).get(event, event)
        payload = {
            "session_id": self.session,
            "cwd": str(self.repo),
            "hook_event_name": name,
            **fields,
        }
        return send(self.shell, self.host, json.dumps(payload).encode(), *self.flags)

    def prompt(self, text: str = "the total is wrong, fix it") -> Heard:
        return self.hook("UserPromptSubmit", prompt=text)

    def before(self, tool: str, id: str = "", **args: object) -> Heard:
        return self.hook(
            "PreToolUse", tool_name=tool, tool_input=args, tool_use_id=id or f"c{next(IDS)}"
        )

    def write(self, path: str, text: str, *, tool: str = "Write") -> Heard:
        """A write that the host makes if it may; what comes back is the last word about it."""
        id = f"c{next(IDS)}"
        place = self.repo / path
        args = {"file_path": str(place), "content": text}
        found = self.before(tool, id, **args)
        if not found.is_allowed:
            return found
        place.write_text(text)
        return self.after(tool, id, args, {"filePath": str(place)})

    def after(self, tool: str, id: str, args: dict[str, Any], response: object) -> Heard:
        return self.hook(
            "PostToolUse", tool_name=tool, tool_input=args, tool_use_id=id, tool_response=response
        )

    def run(self, command: str, response: str = "") -> Heard:
        """A shell command that the host makes if it may."""
        id, args = f"c{next(IDS)}", {"command": command}
        found = self.before("Bash", id, **args)
        if not found.is_allowed:
            return found
        subprocess.run(command, shell=True, cwd=self.repo, env=self.shell.env, check=False)
        return self.after("Bash", id, args, {"stdout": response, "stderr": ""})

    def checkpoint(self, *files: str) -> subprocess.CompletedProcess[str]:
        """The call by which a host's model states a checkpoint from its shell."""
        named = [word for file in files or ("cart.py",) for word in ("--file", file)]
        id, command = f"c{next(IDS)}", "flyball checkpoint --goal x …"
        assert self.before("Bash", id, command=command).is_allowed
        done = self.shell(*STATE, *named)
        self.after("Bash", id, {"command": command}, {"stdout": done.stdout})
        return done

    def stop(self, text: str = "It is done.", **fields: object) -> Heard:
        return self.hook("Stop", last_assistant_message=text, prompt_response=text, **fields)

    def end(self) -> Heard:
        return self.hook("SessionEnd", reason="exit")


def send(shell: Shell, host: str, data: bytes, *flags: str) -> Heard:
    """What the executable makes of a payload."""
    done = subprocess.run(
        [HOOK, host, *flags],
        input=data,
        cwd=shell.cwd,
        env=shell.env,
        capture_output=True,
        check=False,
    )
    return Heard(done.returncode, done.stdout.decode(), done.stderr.decode())


def governor_of(shell: Shell) -> int:
    """Return the process of the governor, by what the kernel says of its socket."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(address(str(shell.cwd), shell.env))
        told = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return struct.unpack("3i", told)[0]


def kill_governor(shell: Shell) -> None:
    """End the governor as nobody expects it."""
    os.kill(governor_of(shell), signal.SIGKILL)
