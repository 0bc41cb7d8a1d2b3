"""Small sessions, told in a few words."""

from __future__ import annotations

from flyball.agents.entry import (
    Called,
    CallResult,
    Entry,
    FileEdit,
    Opened,
    Prompted,
    Spoke,
)
from flyball.audit.audited_call import CommandLook, Looks
from flyball.audit.finding import AuditFinding
from flyball.audit.judging import surely_weakened
from flyball.audit.rules import findings_in
from flyball.audit.trail import Trail, Turned

OPENED = Opened("s", "/home/dev/shop")
FIX = Prompted(1.0, "the total is wrong, fix it")
DONE = Spoke(9.0, "Done. All tests pass.")


def look(command: str, _root: str) -> CommandLook:
    """What the real judgement would say of the few commands that are told here."""
    return CommandLook(
        is_destructive="reset --hard" in command or "rm -rf" in command,
        is_outside="../" in command or "~/" in command,
        is_check="pytest" in command,
        cannot_fail="it always succeeds" if "|| true" in command else "",
        reason="it destroys something",
    )


LOOKS = Looks(look, lambda text: "SECRET" in text, surely_weakened)


class Teller:
    """Makes entries with names of their own."""

    def __init__(self) -> None:
        self.count = 0

    def call(self, tool: str, result: str = "ok", **more: object) -> list[Entry]:
        self.count += 1
        id, at = f"c{self.count}", 1.0 + self.count
        args = more.pop("args", {})
        assert isinstance(args, dict)
        return [
            Called(at, id, tool, args, f"r{self.count}"),
            CallResult(at, id, result, **more),  # pyright: ignore[reportArgumentType]
        ]

    def read(self, path: str = "cart.py", text: str = "x = 1\n") -> list[Entry]:
        return self.call("Read", text, args={"file_path": path}, seen=((path, text),))

    def edit(
        self, path: str = "cart.py", old: str = "x = 1\n", new: str = "x = 2\n"
    ) -> list[Entry]:
        made = (FileEdit(path, old, new),)
        return self.call("Edit", args={"file_path": path}, edits=made)

    def run(self, command: str, result: str = "ok", status: int | None = 0) -> list[Entry]:
        return self.call("Bash", result, args={"command": command}, status=status, ok=not status)


def turns_of(*entries: list[Entry] | Entry) -> list[Turned]:
    flat: list[Entry] = []
    for each in entries:
        flat += each if isinstance(each, list) else [each]
    return [told for told in Trail(LOOKS).follow(flat) if isinstance(told, Turned)]


def found_in(*entries: list[Entry] | Entry) -> list[AuditFinding]:
    return [found for turn in turns_of(*entries) for found in findings_in(turn, LOOKS)]


def rules_in(*entries: list[Entry] | Entry) -> list[str]:
    return [found.rule for found in found_in(*entries)]
