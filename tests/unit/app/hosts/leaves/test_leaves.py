"""Whatever a host does, under leaves it comes to the same as if the judge were asked each time."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
from tests.unit.app.hosts.alone import AloneHost, alone_in, top_of
from tests.unit.workspace.trees.test_footprint import settle

from flyball.app.hosts.leaves import leave
from flyball.core.run.event import CallReturned, DriverReplied, RunStarted
from flyball.core.run.state import Checkpoint
from flyball.errors import FlyballError
from flyball.surfaces.hooks.client import HookEyes

FILES = ("cart.py", "cart.py", "cart.py", "test_cart.py", "made.py", "new.py", "sub/deep.py")
FORBIDDEN = (".git/config", "flyball.toml", "../outside.py")
LOOKS = ("git log -1", "git status", "ls", "git diff")
RUNS = ("python -m unittest", "python -m unittest", "make")
KINDS = {"write": 6, "read": 4, "look": 3, "run": 3, "say": 1, "stop": 1, "state": 2}
ENDS = (*["PostToolUse"] * 8, "PostToolUseFailure", "")


class Step(NamedTuple):
    """One thing that a host does: a prompt, a checkpoint, a sub-agent's stop, or a call."""

    prompt: str = ""
    files: tuple[str, ...] = ()
    tool: str = ""
    given: Mapping[str, str] = MappingProxyType({})
    call: str = ""
    written: tuple[tuple[str, str], ...] = ()
    """What is written meanwhile, whoever does it."""
    end: str = ""


def story(rng: random.Random) -> list[Step]:
    begins = [Step(files=("cart.py", "made.py"))] if rng.random() < 0.7 else []
    return [*begins, *(_step(rng, f"c{n}") for n in range(rng.randrange(6, 18)))]


def _step(rng: random.Random, id: str) -> Step:
    kind = rng.choices(
        ("write", "read", "look", "run", "say", "stop", "state"), (6, 4, 3, 3, 1, 1, 2)
    )
    end, is_odd = rng.choice(ENDS), rng.random() < 0.15
    text = f"x = {rng.randrange(4)}\n"
    match kind[0]:
        case "write":
            path = rng.choice(FORBIDDEN if is_odd else FILES)
            written = () if is_odd else ((path, text),)
            written += (("extra.py", text),) if rng.random() < 0.1 else ()
            return Step("", (), "Write", {"file_path": path, "content": text}, id, written, end)
        case "read":
            given = {"file_path": f"{rng.randrange(6)}.py"}
            return Step(tool="Read", given=given, call=id, end=end)
        case "look":
            written = (("late.py", text),) if is_odd else ()
            return Step("", (), "Bash", {"command": rng.choice(LOOKS)}, id, written, end)
        case "run":
            written = ((rng.choice(("built.py", "cart.py")), text),) if is_odd else ()
            return Step("", (), "Bash", {"command": rng.choice(RUNS)}, id, written, end)
        case "say":
            return Step(prompt=rng.choice(("go on", "implement the rest", "fix the other test")))
        case "state":
            return Step(files=("cart.py",))
        case _:
            return Step()


class Teller(NamedTuple):
    """Takes a host through a story; what comes of each step is whether it is refused."""

    host: AloneHost
    rng: random.Random | None
    """By which somebody takes up at once what waits, or not; None where the judge is asked."""
    passed: list[str]

    def tell(self, step: Step) -> object:
        host = self.host
        if step.prompt:
            return self._refuses(host.data("UserPromptSubmit", prompt=step.prompt))
        if step.files:
            point = Checkpoint("g", "f", "a", step.files, ("python -m unittest",))
            try:
                asyncio.run(host.governor.checkpoint(point))
            except FlyballError as error:
                return error.code
            return False
        if not step.tool:
            return self._refuses(host.data("SubagentStop", agent_id="a1"))
        asked: dict[str, Any] = {"tool_name": step.tool, "tool_input": step.given}
        if self._refuses(host.data("PreToolUse", **asked, tool_use_id=step.call)):
            return True
        for path, text in step.written:
            (host.repo / path).parent.mkdir(exist_ok=True)
            (host.repo / path).write_text(text)
        if not step.end:
            return False
        outcome = {"tool_use_id": step.call, "tool_response": {"stdout": step.call[-1]}}
        return False, self._refuses(host.data(step.end, **asked, **outcome))

    def _refuses(self, data: bytes) -> bool:
        if self.rng is None:
            return self.host.judged(data, gives_leave=False).is_refused
        files = self.host.repo.rglob("*")
        settle(*(each for each in files if ".git" not in each.parts))
        try:
            found = leave.let_pass("claude", data, top_of, self.host.env, HookEyes())
        except (OSError, LookupError):
            found = None
        if found is None:
            return self.host.judged(data).is_refused
        self.passed.append(json.loads(data)["hook_event_name"])
        if found[1] and self.rng.random() < 0.8:
            asyncio.run(self.host.governor.catch_up())
        return bool(found[0])

    def came_to(self) -> dict[str, object]:
        """What is in the journal and on disk in the end."""
        asyncio.run(self.host.governor.catch_up())
        events, repo = self.host.events(), self.host.repo
        calls = [c for e in events if isinstance(e, DriverReplied) for c in e.calls]
        returned = [e for e in events if isinstance(e, CallReturned)]
        files = [each for each in repo.rglob("*") if each.is_file() and ".git" not in each.parts]
        return {
            "runs": sum(isinstance(each, RunStarted) for each in events),
            "calls": [(_name(c.id), c.tool, c.access) for c in calls],
            "returned": [(_name(e.call), e.changed, e.undone, e.outcome.ok) for e in returned],
            "snapshots": [bool(e.snapshot) for e in returned if e.changed],
            "files": {str(each.relative_to(repo)): each.read_text() for each in files},
        }


def _name(call: str) -> str:
    """What was seen between calls is named by its place in the journal."""
    return call.partition("-")[0]


def _both(tmp_path: Path, seed: int) -> None:
    told = story(random.Random(seed))
    found: list[object] = []
    for name, rng in ("asked", None), ("alone", random.Random(seed)):
        (tmp_path / name).mkdir()
        teller = Teller(alone_in(tmp_path / name), rng, [])
        said = [teller.tell(step) for step in told]
        found.append((said, teller.came_to()))
        assert rng is None or teller.passed, "something passed under a leave"
    assert found[0] == found[1], told


def test_under_leaves_all_comes_to_the_same(tmp_path: Path):
    _both(tmp_path, 0)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(1, 9))
def test_under_leaves_all_comes_to_the_same_in_more_stories(tmp_path: Path, seed: int):
    _both(tmp_path, seed)
