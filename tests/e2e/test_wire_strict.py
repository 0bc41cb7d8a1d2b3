"""A provider that is strict about form, and remembers what it was told.

It answers 400 to a request that ends with the model's own words, answers calls that it never made,
or does not go on from the request before it in the same thread.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.wire_server import Act, Refuse, Say, WireServer
from tests.governed import FIX
from tests.sloppy.careful import Careful, checkpoint_args, drive
from tests.tiers import sampled
from tests.unit.drivers.asking import request_for

from flyball.drivers.protocol import Reply, Request
from flyball.drivers.provider import ProviderDriver
from flyball.drivers.routing import Models, Providers
from flyball.errors import DriverError
from flyball.run.thread import Speaker, SpokenCall, ThreadLine
from flyball.terms.intent import Intent

MODELS = ("openai:gpt-4o", "ollama:qwen3", "anthropic:claude-sonnet-5")


class StrictServer(WireServer):
    """Refuses what a careful provider would refuse, before it says its next act."""

    def answer(self, request: dict[str, Any]) -> Act:
        fault = fault_of(self.requests)
        return Refuse(400, fault, "invalid_request_error") if fault else super().answer(request)


def fault_of(requests: list[dict[str, Any]]) -> str:
    """What is wrong with the last of these requests, or nothing."""
    *before, request = requests
    messages = spoken(request)
    if messages[-1]["role"] == "assistant":
        return "the last message is the assistant's own"
    if odd := unpaired(messages):
        return f"tool ids do not match: {odd}"
    same = [each for each in before if system_of(each) == system_of(request)]
    if not same:
        return ""
    if json.dumps(same[-1].get("tools")) != json.dumps(request.get("tools")):
        return "the tools changed, and with them the prefix"
    known = spoken(same[-1])
    return "" if messages[: len(known)] == known else "the conversation before was changed"


def spoken(request: dict[str, Any]) -> list[dict[str, Any]]:
    """The conversation of a request in either protocol, without marks for the cache."""
    return [bare(m) for m in request["messages"] if m["role"] not in ("system", "developer")]


def system_of(request: dict[str, Any]) -> str:
    told = [m["content"] for m in request["messages"] if m["role"] in ("system", "developer")]
    return json.dumps(bare(request.get("system", told)))


def bare(value: Any) -> Any:
    """A value without `cache_control`; a text block alone is the same as its text."""
    if isinstance(value, list):
        items = [bare(each) for each in value]
        is_text = len(items) == 1 and isinstance(items[0], dict) and items[0].get("type") == "text"
        return items[0]["text"] if is_text else items
    if isinstance(value, dict):
        return {k: bare(v) for k, v in value.items() if k != "cache_control"}
    return value


def unpaired(messages: list[dict[str, Any]]) -> list[str]:
    """The ids of calls without an answer, and of answers without a call, turn by turn."""
    odd: list[str] = []
    for at, message in enumerate(messages):
        asked = {call["id"] for call in message.get("tool_calls") or ()} | blocks(message, "id")
        answered: set[str] = set()
        for after in messages[at + 1 :] if asked else ():
            if after["role"] == "assistant":
                break
            answered |= {after["tool_call_id"]} if after["role"] == "tool" else set()
            answered |= blocks(after, "tool_use_id")
        odd += asked ^ answered
    return odd


def blocks(message: dict[str, Any], field: str) -> set[str]:
    content = message.get("content")
    return {b[field] for b in content if field in b} if isinstance(content, list) else set()


class Wired(Careful):
    """A driver that asks through a real client, closed after each turn, and keeps every request."""

    def __init__(self, server: WireServer, model: str) -> None:
        super().__init__()
        self._server, self._model = server, model

    async def think(self, request: Request, on_text: Callable[[str], None]) -> Reply:
        self.requests.append(request)
        client = provider(self._server, self._model)
        try:
            return await client.think(request, on_text)
        finally:
            await client.close()


ACTS = (
    Say("Look.", (("read", {"path": "cart.py"}), ("edit_diff", {"diff": FIX}))),
    Say("I know enough."),
    Say("", (("checkpoint", checkpoint_args()),)),
    Say("", (("edit_diff", {"diff": FIX}),)),
    Say("Done."),
    Say("", (("test", {}),)),
    Say("The total counts every piece."),
    Say("", (("note", {"risk": "low: one line", "assumptions": ["the tests are right"]}),)),
)


def provider(server: WireServer, model: str) -> ProviderDriver:
    url = server.root if model.startswith("anthropic") else server.url
    family = model.partition(":")[0]
    providers = Providers(keys={family: "a-key"}, base_urls={family: url}, streams=False)
    return ProviderDriver(Models(model), providers)


@pytest.mark.parametrize("model", sampled(MODELS, len(MODELS)))
def test_a_strict_provider_has_nothing_to_refuse_in_a_whole_fix(model: str, tmp_path: Path):
    with StrictServer(ACTS) as server:
        driver = Wired(server, model)
        ended = drive(tmp_path, driver, "the total is wrong", Intent.SMALL_FIX)
    assert ended.came_to[0] == "success", ended.question
    assert len(server.requests) == ended.turns
    assert fault_of(server.requests) == ""


TOOL = ThreadLine("k1", 1, "executor", Speaker.TOOL, "it is", call="c1", tool="read", ok=True)
ASKED = ThreadLine(
    "k1", 1, "executor", Speaker.DRIVER, "", (SpokenCall("c1", "read", {"path": "a"}),)
)
SAID = ThreadLine("k1", 1, "executor", Speaker.DRIVER, "Done.")


def asked_of(server: WireServer, model: str, *requests: Request) -> list[Reply | str]:
    async def ask() -> list[Reply | str]:
        driver, found = provider(server, model), list[Reply | str]()
        for request in requests:
            try:
                found.append(await driver.think(request, lambda _: None))
            except DriverError as error:
                found.append(str(error))
        await driver.close()
        return found

    return asyncio.run(ask())


@pytest.mark.parametrize("model", MODELS)
def test_the_strict_server_does_refuse(model: str):
    """Each fault is seen by the server that the run above is held against."""
    first = request_for(lines=(ASKED, TOOL))
    faults = {
        "own": request_for(lines=(ASKED, TOOL, SAID)),
        "tools": request_for(lines=(ASKED, TOOL), tools=()),
        "changed": request_for(lines=(), opening="Something else."),
    }
    for words, wrong in faults.items():
        with StrictServer() as server:
            fine, refused = asked_of(server, model, first, wrong)
        assert isinstance(fine, Reply), words
        assert isinstance(refused, str), words
        assert words in refused


@pytest.mark.parametrize("model", MODELS)
def test_words_alone_are_asked_for_without_changing_the_prefix(model: str):
    free, bound = request_for(lines=()), request_for(lines=(ASKED, TOOL), now=())
    with StrictServer() as server:
        assert all(isinstance(each, Reply) for each in asked_of(server, model, free, bound))
    assert "none" in json.dumps(server.requests[1]["tool_choice"])
    assert "tool_choice" not in server.requests[0] or "none" not in str(
        server.requests[0]["tool_choice"]
    )


@pytest.mark.parametrize("model", MODELS)
def test_what_the_provider_had_read_before_is_reported(model: str):
    with StrictServer([Say("ok", tokens=(100, 20), cached=80)]) as server:
        (reply,) = asked_of(server, model, request_for())
    assert isinstance(reply, Reply)
    assert reply.usage.cached_tokens == 80
