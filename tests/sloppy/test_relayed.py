"""A careful driver behind the relay, writing its replies as the relay's page says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.sloppy.careful import FIX_REQUEST, Careful, Move, call, calls, drive

from flyball.drivers.protocol import Reply, Request
from flyball.drivers.relay.relay import RelayDriver
from flyball.plan.template import Role
from flyball.terms.intent import Intent


def written(reply: Reply) -> str:
    """A reply in prose and call blocks: a diff as it is, lists on lines that begin with a dash."""
    blocks = [f"```call {each.tool}\n{_arguments(each.args)}```" for each in reply.calls]
    return "\n\n".join([reply.text or "Now:", *blocks])


def _arguments(args: dict[str, Any]) -> str:
    if "diff" in args:
        return args["diff"]
    lines: list[str] = []
    for name, value in args.items():
        listed = [f"- {item}" for item in value] if isinstance(value, list) else []
        lines += [f"{name}:", *listed] if listed else [f"{name}: {value}"]
    return "".join(f"{line}\n" for line in lines)


class Relayed(Careful):
    """Answers every request by the file that the relay waits for."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    async def think(self, request: Request, on_text: Callable[[str], None]) -> Reply:
        self.requests.append(request)
        move = self.next_move(request)
        self.moves.append(move.name)

        async def answer(_seconds: float) -> None:
            for asked in self._folder.glob("*.request.md"):
                reply = asked.with_name(f"{asked.name[:4]}.reply.md")
                # Asked again while a reply lies there: the relay waits until it is whole.
                if not reply.exists():
                    reply.write_text(written(move.reply))

        return await RelayDriver(self._folder, answer).think(request, on_text)

    def next_move(self, request: Request) -> Move:
        """The careful moves, with a list wherever one can be given."""
        move = super().next_move(request)
        if request.role == Role.REVIEWER:
            assumed = ["the tests are right", "nobody else adds prices"]
            return Move(
                "review", calls(("note", {"risk": "low: one line", "assumptions": assumed}))
            )
        if move.name == "test":
            return Move("test", call("test", args=["test_cart.py"]))
        return move


def test_lists_that_are_written_line_by_line_arrive_as_lists(tmp_path: Path) -> None:
    driver = Relayed(tmp_path / "relay")
    ended = drive(tmp_path, driver, FIX_REQUEST, Intent.SMALL_FIX)
    assert ended.came_to[0] == "success", ended.question
    assert driver.moves == ["read", "checkpoint", "edit", "test", "stop", "review"]
    (card,) = ended.state.cards
    assert card.review.assumptions == ("the tests are right", "nobody else adds prices")
    assert card.checkpoint is not None
    assert card.checkpoint.verify_with == ("python -m unittest",)
    said = [each.args for line in driver.requests[4].lines for each in line.calls]
    assert {"args": ["test_cart.py"]} in said
