"""Conversations without an editor's process: prompts read, sessions found, modes refused."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path
from typing import Any

import pytest
from acp import (
    RequestError,
    audio_block,
    embedded_text_resource,
    image_block,
    resource_block,
    resource_link_block,
    text_block,
)
from tests.governed import environment, say, script, shop

from flyball.acp.agent import EditorAgent, read_blocks
from flyball.app.driving import RunRequest
from flyball.app.project import open_home
from flyball.app.runs.journals import list_runs, record_of
from flyball.cli.acp import in_words
from flyball.errors import UsageError


class Heard:
    """A client that keeps what it is told."""

    def __init__(self) -> None:
        self.updates: list[Any] = []

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append(update)

    @property
    def said(self) -> str:
        found = [e for e in self.updates if e.session_update == "agent_message_chunk"]
        return "".join(each.content.text for each in found)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return shop(tmp_path / "shop")


def agent(place: Path, *lines: dict[str, Any]) -> tuple[EditorAgent, Heard]:
    heard = Heard()
    driver = script(place.parent / "script.jsonl", *lines)
    env = environment(place.parent / "home")
    made = EditorAgent(RunRequest("", driver=driver), env, "ada", in_words)
    made.on_connect(heard)  # type: ignore[arg-type]
    return made, heard


def test_a_follow_up_run_knows_the_conversation_and_both_are_replayed(place: Path):
    async def story() -> None:
        one, heard = agent(place, say("Hello to you."))
        session = (await one.new_session(str(place))).session_id
        for words in ("hello", "thanks"):
            done = await one.prompt(session, [text_block(words)])
            assert done.stop_reason == "end_turn"
        assert heard.said.count("Hello to you.") == 2
        home = open_home(place, environment(place.parent / "home"), {})
        second, first = [await record_of(home, each.run) for each in await list_runs(home)]
        assert [turn.text for turn in first.started.history] == []
        assert [turn.text for turn in second.started.history] == ["hello", "Hello to you."]
        assert second.started.shell["by"] == "ada"
        other, again = agent(place, say("Hello to you."))
        await other.load_session(str(place), session)
        asked = [e.content.text for e in again.updates if e.session_update == "user_message_chunk"]
        assert asked == ["hello", "thanks"] and again.said.count("Hello to you.") == 2
        await other.prompt(session, [text_block("bye")])
        third = await record_of(home, (await list_runs(home))[0].run)
        assert len(third.started.history) == 4

    asyncio.run(story())


def test_what_cannot_be_is_refused_with_a_code(place: Path):
    async def story() -> None:
        one, heard = agent(place, say("Hello."))
        with pytest.raises(RequestError, match="directory") as none:
            await one.new_session(str(place / "nowhere"))
        assert none.value.data["code"] == "not-found"
        session = (await one.new_session(str(place))).session_id
        for wrong in (one.prompt("session-x", [text_block("hello")]), one.cancel("session-x")):
            with pytest.raises(RequestError) as strange:
                await wrong
            assert strange.value.data["code"] == "not-found"
        with pytest.raises(RequestError) as unknown:
            await one.load_session(str(place), session)
        assert unknown.value.data["code"] == "not-found", "nothing was said in it yet"
        with pytest.raises(RequestError, match="follows from what was done"):
            await one.set_session_mode("execute", session)
        with pytest.raises(RequestError) as empty:
            await one.prompt(session, [text_block("  ")])
        assert empty.value.data["code"] == "usage" and empty.value.code == -32602
        await one.cancel(session)
        assert heard.updates == []

    asyncio.run(story())


def test_a_prompt_is_its_words_what_they_refer_to_and_its_pictures():
    png = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
    said = read_blocks(
        [
            text_block("look at"),
            resource_link_block("cart.py", "file:///shop/cart.py"),
            resource_block(embedded_text_resource("file:///shop/a.py", "a = 1")),
            image_block(png, "image/png"),
        ]
    )
    assert said.text == "look at\n(cart.py: file:///shop/cart.py)\nfile:///shop/a.py:\na = 1"
    assert said.images == (f"data:image/png;base64,{png}",)
    with pytest.raises(UsageError, match="audio"):
        read_blocks([audio_block(png, "audio/wav")])
