"""The real clients of OpenAI and Anthropic against a provider on the loopback."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.e2e.wire_server import (
    CHAT,
    MESSAGES,
    RESPONSES,
    Act,
    Garbage,
    HangUp,
    Refuse,
    Say,
    WireServer,
)

from flyball.drivers.image import data_url
from flyball.drivers.protocol import Reply, Request, ToolSpec
from flyball.drivers.provider import ProviderDriver, WaitingClock
from flyball.drivers.routing import Models, Price, Providers
from flyball.errors import DriverError
from flyball.run.event import Finish
from flyball.run.thread import Speaker, SpokenCall, ThreadLine
from flyball.terms.phase import Phase

OPENAI = "openai:gpt-4o"
ANTHROPIC = "anthropic:claude-sonnet-5"
ZAI = "zai:glm-4.6"
LOCAL = "ollama:qwen3"
NEWER = "openai-responses:gpt-5"
MODELS = (OPENAI, NEWER, ANTHROPIC, ZAI, LOCAL)
# Its library takes seconds to load, in each process that has one of its tests.
PROTOCOLS = (OPENAI, NEWER, pytest.param(ANTHROPIC, marks=pytest.mark.exhaustive))

READ = ToolSpec(
    "read",
    "Read a file.",
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)
PIXEL = data_url(b"\x89PNG\r\n\x1a\n" + bytes(20), "dot.png")


@pytest.fixture(autouse=True)
def _stay_on_the_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def request_for(**fields: Any) -> Request:
    start: dict[str, Any] = {
        "run": "r1",
        "card": "c1",
        "role": "executor",
        "phase": Phase.ANALYZE_CODE,
        "system": "You are governed.",
        "opening": "Mend the cart.",
        "tools": (READ,),
    }
    return Request(**(start | fields))


def line(speaker: Speaker, text: str = "", **more: Any) -> ThreadLine:
    return ThreadLine("c1", 1, "executor", speaker, text, **more)


def reached(server: WireServer, model: str, **more: Any) -> Providers:
    kind = model.partition(":")[0].removesuffix("-responses")
    url = server.root if kind == "anthropic" else server.url
    return Providers(keys={kind: "a-key"}, base_urls={kind: url}, **more)


class Watch:
    """A clock that stands still and notes how long it was asked to wait."""

    def __init__(self) -> None:
        self.waited: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)

    @property
    def time(self) -> WaitingClock:
        return WaitingClock(lambda: 0.0, self.sleep)


def ask(
    act: Act, model: str, *, streams: bool = True, request: Request | None = None
) -> tuple[Reply, list[str], WireServer]:
    """One reply, the text as it arrived, and what the server saw."""
    heard: list[str] = []

    async def one() -> Reply:
        driver = ProviderDriver(Models(model), reached(server, model, streams=streams))
        try:
            return await driver.think(request or request_for(), heard.append)
        finally:
            await driver.close()

    with WireServer([act]) as server:
        return asyncio.run(one()), heard, server


UNSTREAMED = pytest.param(False, marks=pytest.mark.exhaustive)
ONE_PROTOCOL = (
    OPENAI,
    *(pytest.param(each, marks=pytest.mark.exhaustive) for each in (NEWER, ANTHROPIC)),
)


def fail(act: Act, model: str, *, streams: bool = True) -> tuple[DriverError, WireServer]:
    """The error that an act leads to, and what the server saw."""
    servers: list[WireServer] = []

    async def one() -> None:
        with WireServer([act]) as server:
            servers.append(server)
            driver = ProviderDriver(Models(model), reached(server, model, streams=streams))
            try:
                await driver.think(request_for(), lambda _: None)
            finally:
                await driver.close()

    with pytest.raises(DriverError) as caught:
        asyncio.run(one())
    return caught.value, servers[0]


@pytest.mark.parametrize("streams", [True, UNSTREAMED])
@pytest.mark.parametrize("model", MODELS)
def test_text_arrives_with_usage(model: str, streams: bool) -> None:
    reply, heard, server = ask(Say("The total skips one item."), model, streams=streams)

    assert reply.text == "The total skips one item."
    assert reply.finish is Finish.STOP
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (100, 20)
    assert "".join(heard) == reply.text
    assert (len(heard) > 1) is streams
    assert reply.model == model
    path = {ANTHROPIC: MESSAGES, NEWER: RESPONSES}.get(model, CHAT)
    assert server.paths[0].partition("?")[0] == path


@pytest.mark.parametrize("model", PROTOCOLS)
def test_known_models_cost_money_and_unknown_ones_what_the_user_says(model: str) -> None:
    reply, _, _ = ask(Say("x", tokens=(1_000_000, 0)), model)
    assert 0.5 < reply.usage.money < 50

    with WireServer([Say("x", tokens=(1000, 100))]) as server:
        prices = {LOCAL: Price(2.0, 30.0)}
        driver = ProviderDriver(Models(LOCAL), reached(server, LOCAL, prices=prices))
        local = asyncio.run(_think_and_close(driver))
    assert local.usage.money == pytest.approx(0.005)


async def _think_and_close(driver: ProviderDriver) -> Reply:
    try:
        return await driver.think(request_for(), lambda _: None)
    finally:
        await driver.close()


@pytest.mark.parametrize("streams", [True, UNSTREAMED])
@pytest.mark.parametrize("model", MODELS)
def test_calls_keep_their_order_ids_and_arguments(model: str, streams: bool) -> None:
    asked = (("read", {"path": "a.py"}), ("read", {"path": "bä.py"}))
    reply, _, server = ask(Say("Looking.", asked), model, streams=streams)

    assert reply.finish is Finish.TOOL_CALLS
    assert [(call.tool, call.args) for call in reply.calls] == list(asked)
    assert len({call.id for call in reply.calls}) == 2
    tools = server.requests[0]["tools"]
    named = [tool.get("name") or tool["function"]["name"] for tool in tools]
    assert named == ["read"]


@pytest.mark.parametrize("written", ['{"path": "a', "[1, 2]", "plain words"])
@pytest.mark.parametrize("model", PROTOCOLS)
def test_arguments_that_are_no_object_arrive_raw(model: str, written: str) -> None:
    reply, _, _ = ask(Say("", (("read", written),)), model)

    assert [call.args for call in reply.calls] == [{"__raw__": written}]


@pytest.mark.parametrize("model", PROTOCOLS)
@pytest.mark.parametrize(
    ("act", "finish"),
    [
        (Say("half a", finish="length"), Finish.LENGTH),
        (Say("", (("read", '{"path": "a'),), finish="length"), Finish.LENGTH),
        (Say("I cannot", finish="content_filter"), Finish.CONTENT_FILTER),
        (Say("", finish="content_filter"), Finish.CONTENT_FILTER),
    ],
)
def test_other_endings(model: str, act: Say, finish: Finish) -> None:
    reply, _, _ = ask(act, model)

    assert reply.finish is finish
    assert reply.text == act.text
    assert reply.calls == ()


@pytest.mark.parametrize("streams", [True, UNSTREAMED])
@pytest.mark.parametrize("model", ONE_PROTOCOL)
@pytest.mark.parametrize(
    "act",
    [
        Refuse(429, "slow down", "rate_limit_error"),
        Refuse(500, "oops"),
        Refuse(503, "down"),
        Refuse(529, "Overloaded", "overloaded_error"),
        HangUp(),
        Garbage(),
    ],
)
def test_trouble_that_may_pass_is_asked_once_and_can_be_retried(
    model: str, streams: bool, act: Act
) -> None:
    error, server = fail(act, model, streams=streams)

    assert error.retryable
    assert len(server.requests) == 1


@pytest.mark.parametrize("model", PROTOCOLS)
@pytest.mark.parametrize(
    "act",
    [
        Say("half a sentence", is_cut=True),
        Say("half a sentence", is_quiet=True),
        Say("", (("read", {"path": "a.py"}),), is_cut=True),
        Say("", (("read", {"path": "a.py"}),), is_quiet=True),
        Refuse(529, "Overloaded", "overloaded_error", mid_stream=True),
    ],
)
def test_a_stream_that_breaks_off_is_no_reply(model: str, act: Act) -> None:
    error, server = fail(act, model)

    assert error.retryable
    assert len(server.requests) == 1


@pytest.mark.parametrize("model", ONE_PROTOCOL)
@pytest.mark.parametrize(
    ("act", "words"),
    [
        (Refuse(401, "bad key", "authentication_error"), "_API_KEY"),
        (Refuse(403, "not yours", "permission_error"), "_API_KEY"),
        (Refuse(404, "no such model", "not_found_error"), "does not know"),
        (Refuse(400, "bad schema", "invalid_request_error"), "bad schema"),
    ],
)
def test_trouble_that_stays_says_what_to_change(model: str, act: Refuse, words: str) -> None:
    error, _ = fail(act, model)

    assert not error.retryable
    assert words in str(error)
    assert act.message in str(error)


@pytest.mark.parametrize("model", MODELS)
def test_a_refusal_that_says_how_long_is_waited_out(model: str) -> None:
    watch = Watch()
    refusal = Refuse(429, "slow down", "rate_limit_error", (("Retry-After", "7"),))

    async def twice(server: WireServer) -> tuple[DriverError, Reply]:
        driver = ProviderDriver(Models(model), reached(server, model), watch.time)
        with pytest.raises(DriverError) as caught:
            await driver.think(request_for(), lambda _: None)
        reply = await driver.think(request_for(), lambda _: None)
        await driver.close()
        return caught.value, reply

    with WireServer([refusal, Say("Now.")]) as server:
        error, reply = asyncio.run(twice(server))

    assert "wait 7 s" in str(error)
    assert reply.text == "Now."
    assert watch.waited == [7.0]


def test_nobody_listening_can_be_retried() -> None:
    with WireServer() as server:
        providers = reached(server, OPENAI)

    async def one() -> None:
        driver = ProviderDriver(Models(OPENAI), providers)
        try:
            await driver.think(request_for(), lambda _: None)
        finally:
            await driver.close()

    with pytest.raises(DriverError) as caught:
        asyncio.run(one())
    assert caught.value.retryable


THREAD = (
    line(
        Speaker.DRIVER,
        "Let me look.",
        calls=(
            SpokenCall("one", "read", {"path": "a.py"}),
            SpokenCall("two", "read", {"path": "b.py"}),
        ),
    ),
    line(Speaker.TOOL, "contents of a", call="one", tool="read"),
    line(Speaker.GOVERNOR, "Careful: you have read this before."),
)


def test_openai_hears_every_call_answered_before_anyone_speaks() -> None:
    _, _, server = ask(Say("ok"), OPENAI, request=request_for(lines=THREAD))

    system, opening, reply, one, two, nudge = server.requests[0]["messages"]
    assert system["role"] in ("system", "developer")
    assert system["content"] == "You are governed."
    assert (opening["role"], opening["content"]) == ("user", "Mend the cart.")
    assert [call["id"] for call in reply["tool_calls"]] == ["one", "two"]
    assert (one["role"], one["tool_call_id"], one["content"]) == ("tool", "one", "contents of a")
    assert (two["tool_call_id"], two["content"]) == ("two", "(not performed)")
    assert (nudge["role"], nudge["content"]) == ("user", THREAD[2].text)


def test_anthropic_hears_every_call_answered_before_anyone_speaks() -> None:
    _, _, server = ask(Say("ok"), ANTHROPIC, request=request_for(lines=THREAD))

    asked = server.requests[0]
    assert "You are governed." in str(asked["system"])
    opening, reply, answers = asked["messages"]
    assert opening["role"] == "user"
    assert [part["type"] for part in reply["content"]] == ["text", "tool_use", "tool_use"]
    kinds = [part["type"] for part in answers["content"]]
    assert kinds == ["tool_result", "tool_result", "text"]
    assert [part.get("tool_use_id") for part in answers["content"]] == ["one", "two", None]
    assert "(not performed)" in str(answers["content"][1])


@pytest.mark.parametrize("model", PROTOCOLS)
def test_a_server_that_repeats_ids_does_not_confuse_the_thread(model: str) -> None:
    first, _, _ = ask(Say("", (("read", {"path": "a"}),)), model)
    lines = (
        line(Speaker.DRIVER, calls=first.calls),
        line(Speaker.TOOL, "contents", call=first.calls[0].id, tool="read"),
    )
    request = request_for(lines=lines, turn=1)
    second, _, _ = ask(Say("", (("read", {"path": "b"}),)), model, request=request)

    assert second.calls[0].id != first.calls[0].id


@pytest.mark.parametrize(
    "request_with_image",
    [
        request_for(images=(PIXEL,)),
        request_for(lines=(line(Speaker.GOVERNOR, "The page:", images=(PIXEL,)),)),
        request_for(
            lines=(
                line(Speaker.DRIVER, calls=(SpokenCall("v", "read", {}),)),
                line(Speaker.TOOL, "seen", call="v", tool="read", images=(PIXEL,)),
            )
        ),
        request_for(images=("https://example.com/shot.png",)),
    ],
)
@pytest.mark.parametrize("vision", ["openai:gpt-5", "anthropic:claude-opus-5"])
def test_a_thread_with_an_image_goes_to_the_vision_model(
    vision: str, request_with_image: Request
) -> None:
    async def both(server: WireServer) -> None:
        kind = vision.partition(":")[0]
        url = server.root if kind == "anthropic" else server.url
        providers = Providers(
            keys={"ollama": "k", kind: "k"}, base_urls={"ollama": server.url, kind: url}
        )
        driver = ProviderDriver(Models(LOCAL, vision=vision), providers)
        await driver.think(request_for(), lambda _: None)
        await driver.think(request_with_image, lambda _: None)
        await driver.close()

    with WireServer([Say("text"), Say("seen")]) as server:
        asyncio.run(both(server))

    assert [asked["model"] for asked in server.requests] == ["qwen3", vision.partition(":")[2]]
    seen = str(server.requests[1]["messages"])
    shown = PIXEL.partition(",")[2]
    assert shown in seen or "https://example.com/shot.png" in seen
    assert shown not in str(server.requests[0])


@pytest.mark.parametrize("model", [OPENAI, LOCAL])
def test_a_model_that_may_not_see_is_told_of_the_image(model: str) -> None:
    reply, _, server = ask(Say("ok"), model, request=request_for(images=(PIXEL,)))

    assert reply.text == "ok"
    opening = str(server.requests[0]["messages"][1])
    assert "cannot see: image/png" in opening
    assert PIXEL.partition(",")[2] not in opening


def test_the_key_travels_only_in_its_header() -> None:
    _, _, server = ask(Say("ok"), OPENAI)

    assert server.headers[0]["authorization"] == "Bearer a-key"
    assert "a-key" not in str(server.requests[0])


def test_the_same_thread_is_sent_as_the_same_bytes() -> None:
    request = request_for(lines=THREAD)
    first = ask(Say("ok"), ANTHROPIC, request=request)[2].requests[0]
    second = ask(Say("ok"), ANTHROPIC, request=request)[2].requests[0]

    assert first == second
    assert "cache_control" in str(first)


def test_giving_up_while_a_reply_streams_leaves_nothing_open() -> None:
    async def one(server: WireServer) -> None:
        driver = ProviderDriver(Models(OPENAI), reached(server, OPENAI))
        started = asyncio.Event()
        task = asyncio.ensure_future(driver.think(request_for(), lambda _: started.set()))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await driver.close()

    with WireServer([Say("word " * 200_000)]) as server:
        asyncio.run(one(server))
    assert len(server.requests) == 1


FOUND = [
    {
        "type": "web_search_result",
        "title": "Carts",
        "url": "https://example.org/carts",
        "encrypted_content": "x" * 40,
        "page_age": None,
    }
]
FETCHED = {
    "type": "web_fetch_result",
    "url": "https://example.org/carts",
    "retrieved_at": "2026-01-01T00:00:00Z",
    "content": {
        "type": "document",
        "title": "Carts",
        "citations": None,
        "source": {"type": "text", "media_type": "text/plain", "data": "An empty cart is 0."},
    },
}
REFUSED = {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}
SEARCHED = ("web_search", {"query": "empty cart"}, FOUND)
IN_ANTHROPIC = Say(
    "Zero.",
    looks=(SEARCHED, ("web_fetch", {"url": FETCHED["url"]}, FETCHED), (*SEARCHED[:2], REFUSED)),
)
SOURCES = [{"type": "url", "url": "https://example.org/carts"}]
IN_OPENAI = Say(
    "Zero.",
    looks=(
        ("", {"type": "search", "query": "empty cart", "sources": SOURCES}, None),
        ("", {"type": "open_page", "url": "https://example.org/carts"}, None),
    ),
)


@pytest.mark.parametrize("streams", [True, UNSTREAMED])
def test_what_anthropic_looks_up_by_itself_is_told(streams: bool) -> None:
    reply, heard, server = ask(IN_ANTHROPIC, ANTHROPIC, streams=streams, request=request_for(web=5))
    (sent,) = server.requests
    named = {tool["name"]: tool for tool in sent["tools"]}
    assert (named["web_search"]["max_uses"], named["web_fetch"]["max_uses"]) == (3, 2)
    assert named["web_search"]["allowed_callers"] == ["direct"]
    assert (reply.text, "".join(heard), reply.calls) == ("Zero.", "Zero.", ())
    assert [(look.id, look.tool, look.about, look.ok) for look in reply.looks] == [
        ("w0-1", "web_search", "empty cart", True),
        ("w0-2", "web_fetch", "https://example.org/carts", True),
        ("w0-3", "web_search", "empty cart", False),
    ]
    search, fetch, refused = reply.looks
    assert search.text == "Carts: https://example.org/carts"
    assert fetch.text == "https://example.org/carts\nAn empty cart is 0."
    assert "max_uses_exceeded" in refused.text
    assert len({look.digest for look in reply.looks}) == 3 and search.bytes > 40


@pytest.mark.parametrize("streams", [True, UNSTREAMED])
def test_what_openai_looks_up_by_itself_is_told(streams: bool) -> None:
    reply, _, server = ask(IN_OPENAI, NEWER, streams=streams, request=request_for(web=5))
    (sent,) = server.requests
    assert {tool["type"] for tool in sent["tools"]} == {"function", "web_search"}
    assert sent["max_tool_calls"] == 5
    assert [(look.tool, look.about, look.ok) for look in reply.looks] == [
        ("web_search", "empty cart", True),
        ("web_fetch", "https://example.org/carts", True),
    ]
    assert reply.looks[0].text == "https://example.org/carts"


@pytest.mark.parametrize("model", MODELS)
def test_nobody_is_told_of_the_web_who_may_not_or_cannot_look(model: str) -> None:
    _, _, server = ask(Say("Zero."), model)
    assert "web" not in str(server.requests[0]["tools"])
    if model not in (ANTHROPIC, NEWER):
        _, _, server = ask(Say("Zero."), model, request=request_for(web=5))
        assert "web" not in str(server.requests[0]["tools"])


def test_a_provider_that_rests_in_the_middle_of_its_looks_is_asked_to_go_on() -> None:
    act = Say("", looks=(SEARCHED,), finish="suspended")
    reply, _, _ = ask(act, ANTHROPIC, request=request_for(web=5))
    assert reply.finish is Finish.LENGTH
    assert [look.about for look in reply.looks] == ["empty cart"]
