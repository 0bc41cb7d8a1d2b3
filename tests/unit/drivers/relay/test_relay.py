from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.drivers.asking import TOOLS, line, request_for

from flyball.drivers.protocol import Reply, Request, ToolSpec
from flyball.drivers.relay.page import example
from flyball.drivers.relay.prose import read_prose, required
from flyball.drivers.relay.relay import RelayDriver, open_relay
from flyball.errors import ConfigError, DriverError
from flyball.run.event import Finish
from flyball.run.thread import Speaker, SpokenCall

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)


class Person:
    """Does one thing each time the driver waits; gives up when nothing is left to do."""

    def __init__(self, *steps: Callable[[], object]) -> None:
        self.steps = list(steps)
        self.idle = 0

    async def sleep(self, seconds: float) -> None:
        assert 0.1 <= seconds <= 0.5
        if self.steps:
            self.steps.pop(0)()
            return
        self.idle += 1
        if self.idle > 5:
            raise asyncio.CancelledError


def ask(folder: Path, *steps: Callable[[], object], request: Request | None = None) -> Reply:
    driver = RelayDriver(folder, Person(*steps).sleep)
    return asyncio.run(driver.think(request or request_for(), lambda _: None))


def abandon(folder: Path, *steps: Callable[[], object], request: Request | None = None) -> None:
    with pytest.raises(asyncio.CancelledError):
        ask(folder, *steps, request=request)


def writing(path: Path, text: str) -> Callable[[], object]:
    return lambda: path.write_text(text, encoding="utf-8")


def test_a_json_reply_has_the_shape_of_a_scripted_line(tmp_path: Path) -> None:
    text = '{"text": "Look.", "calls": [{"tool": "read", "args": {"path": "a"}}]}'
    reply = ask(tmp_path, writing(tmp_path / "0001.reply.json", text))

    assert reply.text == "Look."
    assert [(call.tool, call.args) for call in reply.calls] == [("read", {"path": "a"})]
    assert reply.finish is Finish.TOOL_CALLS


def test_a_reply_in_prose(tmp_path: Path) -> None:
    text = "Let me look.\n\n```call read path=a.py\n```\n"
    reply = ask(tmp_path, writing(tmp_path / "0001.reply.md", text))

    assert reply.text == "Let me look."
    assert reply.calls[0].args == {"path": "a.py"}


def test_the_request_holds_everything_a_program_needs(tmp_path: Path) -> None:
    lines = (
        line(Speaker.DRIVER, "Look.", calls=(SpokenCall("x", "read", {"path": "a"}),)),
        line(Speaker.TOOL, "1 | pass", call="x", tool="read"),
    )
    abandon(tmp_path, request=request_for(lines=lines, turn=1))
    request = json.loads((tmp_path / "0001.request.json").read_text())

    fields = "run card role phase system messages tools reply_schema"
    assert set(fields.split()) <= set(request)
    assert [m["role"] for m in request["messages"]] == ["user", "assistant", "tool"]
    assert request["messages"][1]["calls"][0]["args"] == {"path": "a"}
    assert [tool["name"] for tool in request["tools"]] == [tool.name for tool in TOOLS]
    assert "calls" in str(request["reply_schema"])


def test_the_page_explains_itself(tmp_path: Path) -> None:
    lines = (
        line(Speaker.DRIVER, "Look.", calls=(SpokenCall("x", "read", {"path": "a"}),)),
        line(Speaker.TOOL, "has ``` in it", call="x", tool="read"),
    )
    abandon(tmp_path, request=request_for(lines=lines))
    page = (tmp_path / "0001.request.md").read_text()

    for words in ("0001.reply.md", "```call", "You are governed.", "Mend the cart.", "has ``` in"):
        assert words in page
    for tool in TOOLS:
        assert f"### {tool.name}" in page
        assert example(tool) in page


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_example_on_the_page_can_be_read(tool: ToolSpec) -> None:
    (call,) = read_prose(example(tool), TOOLS).calls

    assert call.tool == tool.name
    assert set(required(tool.schema)) <= set(call.args)


def test_every_request_gets_the_next_number(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        path = tmp_path / f"{number:04}.reply.md"
        reply = ask(tmp_path, writing(path, f"Answer {number}"), request=request_for(turn=number))
        assert reply.text == f"Answer {number}"


def test_an_open_request_is_found_again(tmp_path: Path) -> None:
    abandon(tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())
    reply = ask(tmp_path, writing(tmp_path / "0001.reply.md", "Here."))

    assert reply.text == "Here."
    assert before == ["0001.request.json", "0001.request.md"]


def test_a_reply_that_came_while_no_one_waited_is_taken(tmp_path: Path) -> None:
    abandon(tmp_path)
    (tmp_path / "0001.reply.md").write_text("Meanwhile.")

    assert ask(tmp_path).text == "Meanwhile."
    assert not (tmp_path / "0002.request.json").exists()


def test_the_same_words_in_a_later_turn_are_a_new_request(tmp_path: Path) -> None:
    ask(tmp_path, writing(tmp_path / "0001.reply.md", "One."))
    reply = ask(tmp_path, writing(tmp_path / "0002.reply.md", "Two."), request=request_for(turn=1))

    assert reply.text == "Two."


def test_a_missing_page_is_written_again(tmp_path: Path) -> None:
    abandon(tmp_path)
    (tmp_path / "0001.request.md").unlink()
    abandon(tmp_path)

    assert (tmp_path / "0001.request.md").exists()


def test_a_reply_that_is_still_being_written_is_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "0001.reply.md"
    text = "First I look.\n\n```call read path=a.py\n```\n\n```call read path=b.py\n```\n"
    growing = [writing(path, text[:end]) for end in (0, 5, 20, 45, 60, len(text))]
    reply = ask(tmp_path, *growing)

    assert len(reply.calls) == 2


@pytest.mark.parametrize(
    ("name", "bad", "good", "words"),
    [
        ("0001.reply.json", '{"calls": [', '{"text": "ok"}', "not JSON"),
        ("0001.reply.json", '{"role": "planner"}', '{"text": "ok"}', "planner"),
        ("0001.reply.json", '{"card": "c2"}', '{"card": "c1", "text": "ok"}', "card c1 was asked"),
        ("0001.reply.md", "```call edit_diff\n--- a", "ok", "never closed"),
    ],
)
def test_a_reply_that_stays_wrong_is_told_what_is_wrong(
    tmp_path: Path, name: str, bad: str, good: str, words: str
) -> None:
    complaint = tmp_path / "0001.error.md"
    complaints: list[str] = []

    def wait() -> None:
        pass

    reply = ask(
        tmp_path,
        writing(tmp_path / name, bad),
        wait,
        wait,
        lambda: complaints.append(complaint.read_text()),
        writing(tmp_path / name, good),
    )

    assert reply.text == "ok"
    assert name in complaints[0]
    assert words in complaints[0]
    assert not complaint.exists()


def test_images_lie_next_to_the_page(tmp_path: Path) -> None:
    url = "data:image/png;base64," + base64.b64encode(PNG).decode()
    abandon(tmp_path, request=request_for(images=(url, "https://example.com/a.png")))

    assert (tmp_path / "0001.image-1.png").read_bytes() == PNG
    page = (tmp_path / "0001.request.md").read_text()
    assert f"image/png, {len(PNG)} bytes" in page
    assert "https://example.com/a.png" in page
    assert url not in page


def test_a_request_stays_the_same_while_other_cards_reply(tmp_path: Path) -> None:
    abandon(tmp_path, request=request_for(turn=1, turns={"c1": 1}))
    abandon(tmp_path, request=request_for(turn=4, turns={"c1": 1, "c2": 3}))

    assert len(list(tmp_path.glob("*.request.json"))) == 1


def test_two_runs_can_share_a_folder(tmp_path: Path) -> None:
    abandon(tmp_path, request=request_for(run="r1"))
    abandon(tmp_path, request=request_for(run="r2"))

    requests = sorted(tmp_path.glob("*.request.json"))
    runs = [json.loads(path.read_text())["run"] for path in requests]
    assert runs == ["r1", "r2"]


def test_nothing_half_written_is_left(tmp_path: Path) -> None:
    abandon(tmp_path)

    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".part")]


def test_a_folder_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(ConfigError, match="is a file"):
        open_relay(file, Person().sleep)
    with pytest.raises(DriverError, match="cannot be used") as caught:
        ask(file / "below")
    assert not caught.value.retryable


def test_text_is_passed_on_and_nothing_is_held(tmp_path: Path) -> None:
    heard: list[str] = []
    driver = open_relay(
        tmp_path / "new", Person(writing(tmp_path / "new" / "0001.reply.md", "Hi.")).sleep
    )

    async def both() -> None:
        await driver.think(request_for(), heard.append)
        await driver.close()

    asyncio.run(both())
    assert heard == ["Hi."]


ACTIONS = ["COPY_TO_CLIPBOARD", "NEW_THREAD", "PASTE_PROMPT", "SEND_PROMPT"]


def test_where_a_thread_begins_the_request_says_what_to_do_with_a_chat_window(
    tmp_path: Path,
) -> None:
    reset = (line(Speaker.GOVERNOR, "# Hand-over\n\n## Goal\nMend the cart."),)
    abandon(tmp_path, request=request_for(lines=reset, turn=4))
    request = json.loads((tmp_path / "0001.request.json").read_text())
    page = (tmp_path / "0001.request.md").read_text()

    assert request["runner_actions"] == ACTIONS
    assert all(f"`{action}`" in page for action in ACTIONS)
    assert page.index("NEW_THREAD") < page.index("# Hand-over")
    first, *rest = request["messages"]
    assert "# Hand-over" in first["content"]
    assert rest == []


def test_a_thread_that_goes_on_stays_in_its_chat(tmp_path: Path) -> None:
    said = (line(Speaker.DRIVER, "Look."), line(Speaker.GOVERNOR, "Go on."))
    abandon(tmp_path, request=request_for(lines=said, turn=1))
    request = json.loads((tmp_path / "0001.request.json").read_text())

    assert request["runner_actions"] == []
    assert "NEW_THREAD" not in (tmp_path / "0001.request.md").read_text()
