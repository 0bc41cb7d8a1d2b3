"""Models of many providers, one request at a time. The only module that knows pydantic-ai."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from enum import StrEnum
from itertools import groupby
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

import httpx2
import msgspec
from pydantic_ai import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelSettings,
    NativeToolCallPart,
    NativeToolReturnPart,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolDefinition,
    ToolReturnPart,
    UserPromptPart,
    exceptions,
)
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse, infer_model
from pydantic_ai.native_tools import AbstractNativeTool, WebFetchTool, WebSearchTool
from pydantic_ai.providers import Provider, infer_provider, infer_provider_class

from flyball.drivers.form import RAW, give_ids
from flyball.drivers.image import describe, is_address, picture
from flyball.drivers.protocol import Reply, Request, ToolSpec
from flyball.drivers.routing import PROVIDERS, Models, Providers, choose
from flyball.drivers.wire import WireMessage, WireRole, conversation, has_images, read_look
from flyball.errors import DriverError
from flyball.run.event import Finish
from flyball.run.thread import SpokenCall
from flyball.terms.budget import Usage
from flyball.terms.call import WebLook

WORDS_CAP = 300


class ProviderTrouble(StrEnum):
    """Kinds of failure, by who must act."""

    KEY = "key"
    QUOTA = "quota"
    MODEL = "model"
    WINDOW = "window"
    REQUEST = "request"
    SETTING = "setting"
    PASSING = "passing"


def sentence(trouble: ProviderTrouble, name: str, words: str, wait: float | None) -> DriverError:
    """Return the error for a model's failure; only failures that may resolve by themselves are
    retryable."""
    kind = name.partition(":")[0]
    key = f"{kind.partition('-')[0].upper()}_API_KEY"
    message, hint = {
        ProviderTrouble.KEY: (
            f"{kind} refused the key for {name}",
            f"Check the key in {key}, and that it may use this model.",
        ),
        ProviderTrouble.QUOTA: (
            f"The account at {kind} is used up",
            "Top up the account, or choose another model.",
        ),
        ProviderTrouble.MODEL: (
            f"{kind} does not know {name}",
            "Check the model's name and the provider's base URL.",
        ),
        ProviderTrouble.WINDOW: (
            f"The thread is too long for {name}",
            "Lower context_tokens, or choose a model with a larger window.",
        ),
        ProviderTrouble.REQUEST: (
            f"{kind} refused the request to {name}",
            "Check the model's name and settings.",
        ),
        ProviderTrouble.SETTING: (f"{name} cannot be asked", "Check the model's settings."),
        ProviderTrouble.PASSING: (
            f"{name} gave no usable reply",
            f"It asks to wait {wait:g} s." if wait else "",
        ),
    }[trouble]
    return DriverError(f"{message}: {words}", hint, retryable=trouble is ProviderTrouble.PASSING)


def in_one_line(words: str, body: object, status: int | None) -> str:
    """Return the provider's own message, if any, with the status, if any."""
    said = " ".join((_message_in(body) or words).split())[:WORDS_CAP].rstrip(".")
    return f"{said} (HTTP {status})." if status else f"{said}."


def _message_in(body: object) -> str:
    """Return the message in an error's body, which providers wrap in different ways."""
    while isinstance(body, dict):
        known = cast(dict[str, object], body)
        body = known.get("error") or known.get("message")
    return body if isinstance(body, str) else ""


LONGEST_REST = 120.0
OLLAMA = "http://127.0.0.1:11434/v1"
OPENAI_HOST = "api.openai.com"
SEEING = frozenset({OPENAI_HOST, "api.anthropic.com", "generativelanguage.googleapis.com"})
"""Services whose models all accept images; of others nothing is known."""

FINISH = {
    "stop": Finish.STOP,
    "length": Finish.LENGTH,
    "content_filter": Finish.CONTENT_FILTER,
    "tool_call": Finish.TOOL_CALLS,
    "error": Finish.ERROR,
}
LATER = frozenset({408, 409, 425, 429})
"""Refusals that may pass with time, besides everything from 500 on."""

BLIND = "(An image is attached that you cannot see: {image}. No vision model is configured for it.)"

CATEGORIES = (
    (exceptions.ModelAuthenticationError, ProviderTrouble.KEY),
    (exceptions.ModelQuotaExceededError, ProviderTrouble.QUOTA),
    (exceptions.ModelNotFoundError, ProviderTrouble.MODEL),
    (exceptions.ModelContextWindowExceededError, ProviderTrouble.WINDOW),
    (exceptions.UserError, ProviderTrouble.SETTING),
)

UserContent = str | BinaryContent | ImageUrl


class WaitingClock(NamedTuple):
    """A clock and a way to wait."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep


class ReadyModel(NamedTuple):
    """A model, its client, and whether it accepts images."""

    provider: Provider[Any]
    model: Model
    can_see: bool


class ProviderDriver:
    """Asks the model configured for the role, the phase and the images."""

    def __init__(
        self, models: Models, providers: Providers, clock: WaitingClock | None = None
    ) -> None:
        self._models = models
        self._providers = providers
        self._clock = clock or WaitingClock()
        self._built: dict[str, ReadyModel] = {}
        self._entered: set[str] = set()
        self._rest_until: dict[str, float] = {}
        self._stack = AsyncExitStack()

    async def think(self, request: Request, on_text: Callable[[str], None]) -> Reply:
        """Send one request to one model. Retrying is the governor's job."""
        name = choose(self._models, request.role, request.phase, sees=has_images(request))
        await self._rest(name)
        try:
            asked = await self._reach(name)
            response = await self._ask(asked, request, on_text)
            return self._reply(name, response, request)
        except exceptions.ContentFilterError as error:
            return Reply(text=str(error), finish=Finish.CONTENT_FILTER, model=name)
        except (exceptions.AgentRunError, exceptions.UserError, httpx2.HTTPError, OSError) as error:
            if isinstance(error, exceptions.ModelAPIError) and error.retry_after:
                wait = min(error.retry_after, LONGEST_REST)
                self._rest_until[name] = self._clock.now() + wait
            raise explain(error, name) from error

    def prepare(self) -> None:
        """Build the default model ahead of time; if that fails, the first request reports why."""
        with suppress(DriverError, exceptions.UserError):
            self._build(self._models.default)

    async def close(self) -> None:
        """Close the connections."""
        self._built.clear()
        self._entered.clear()
        await self._stack.aclose()

    async def _rest(self, name: str) -> None:
        """Wait for as long as the provider asked when it last refused."""
        left = self._rest_until.get(name, 0.0) - self._clock.now()
        if left > 0:
            await self._clock.sleep(left)

    def _build(self, name: str) -> ReadyModel:
        if name not in self._built:
            provider, model = build(name, self._providers)
            can_see = name == self._models.vision or _host(provider) in SEEING
            self._built[name] = ReadyModel(provider, model, can_see)
        return self._built[name]

    async def _reach(self, name: str) -> ReadyModel:
        asked = self._build(name)
        if name not in self._entered:
            await self._stack.enter_async_context(asked.provider)
            self._entered.add(name)
        return asked

    async def _ask(
        self, asked: ReadyModel, request: Request, on_text: Callable[[str], None]
    ) -> ModelResponse:
        model = asked.model
        messages = to_messages(conversation(request), request.system, can_see=asked.can_see)
        web = web_tools(model, request.web)
        settings = self._settings(model)
        if web:
            settings.update(_web_settings(model, request.web))
        if request.tools and not request.offered:
            # The list stays, or the provider would have to read the whole thread anew.
            settings["tool_choice"] = "none"
        tools = ModelRequestParameters(
            function_tools=[to_definition(t) for t in request.tools], native_tools=web
        )
        if self._providers.streams:
            opened = model_request_stream(
                model, messages, model_settings=settings, model_request_parameters=tools
            )
            return await _streamed(opened, on_text)
        response = await model_request(
            model, messages, model_settings=settings, model_request_parameters=tools
        )
        if response.text:
            on_text(response.text)
        return response

    def _settings(self, model: Model) -> ModelSettings:
        wanted = ModelSettings(max_retries=0, timeout=self._providers.timeout, cache=True)
        refused = model.unsupported_settings
        return cast(ModelSettings, {k: v for k, v in wanted.items() if k not in refused})

    def _reply(self, name: str, response: ModelResponse, request: Request) -> Reply:
        said = [part for part in response.parts if isinstance(part, ToolCallPart)]
        finish = FINISH.get(response.finish_reason or "", Finish.STOP)
        if response.state == "suspended":
            # The provider rests in the middle of its own looks; what it found is told again.
            finish = Finish.LENGTH
        if finish is Finish.LENGTH:
            # What the limit cut off was never meant to be asked for in that form.
            said = [part for part in said if part.args and RAW not in arguments_of(part)]
        elif finish is Finish.STOP and said:
            finish = Finish.TOOL_CALLS
        calls = [SpokenCall(p.tool_call_id, p.tool_name, arguments_of(p)) for p in said]
        return Reply(
            text=response.text or "",
            calls=give_ids(calls, request),
            finish=finish,
            usage=self._usage(name, response),
            model=f"{name.partition(':')[0]}:{response.model_name or name.partition(':')[2]}",
            looks=web_lookups(response, request.number),
        )

    def _usage(self, name: str, response: ModelResponse) -> Usage:
        tokens = response.usage
        if price := self._providers.prices.get(name):
            money = price.of(tokens.input_tokens, tokens.output_tokens)
        else:
            money = list_price(response)
        return Usage(tokens.input_tokens, tokens.output_tokens, money, tokens.cache_read_tokens)


async def _streamed(
    opened: AbstractAsyncContextManager[StreamedResponse], on_text: Callable[[str], None]
) -> ModelResponse:
    """Read a stream to its end and forward its text; an interrupted stream is no reply."""
    async with opened as stream:
        async for event in stream:
            match event:
                case PartStartEvent(part=TextPart(content=text)) if text:
                    on_text(text)
                case PartDeltaEvent(delta=TextPartDelta(content_delta=text)) if text:
                    on_text(text)
                case _:
                    pass
        response = stream.get()
    if not _is_complete(response):
        message = f"The stream from {response.model_name} ended before the reply was complete."
        raise DriverError(message, retryable=True)
    return response


def _is_complete(response: ModelResponse) -> bool:
    """Return whether a stream was complete.

    When a chat stream stops without a reason, pydantic-ai assumes `stop`; but then the token count,
    which comes last, is missing too.
    """
    if response.state == "suspended":
        return True
    if response.finish_reason is None or response.state == "incomplete":
        return False
    said_why = "finish_reason" in (response.provider_details or {})
    is_counted = not response.usage.unmeasured_requests
    return said_why or is_counted or response.finish_reason != "stop"


RESPONSES = "OpenAIResponsesModel"
"""The class of models that take a limit for all of the provider's tools; its library is an extra.
"""


def web_tools(model: Model, most: int) -> list[AbstractNativeTool]:
    """Return the provider's own web tools if it enforces a limit; otherwise the budget would not
    hold."""
    has = model.profile.get("supported_native_tools", frozenset[type[AbstractNativeTool]]())
    if most < 1:
        return []
    if type(model).__name__ == RESPONSES:
        return [WebSearchTool()] if WebSearchTool in has else []
    search, fetch = WebSearchTool(max_uses=most - most // 2), WebFetchTool(max_uses=most // 2)
    limited: list[AbstractNativeTool] = [
        tool
        for tool in (search, fetch)
        if tool.max_uses and type(tool) in has and not model.unsupported_native_tool_settings(tool)
    ]
    return limited if model.system == "anthropic" else []


def _web_settings(model: Model, most: int) -> ModelSettings:
    """Return the settings that tell the provider the limit, and forbid it to run programs."""
    if type(model).__name__ == RESPONSES:
        said = {"extra_body": {"max_tool_calls": most}, "openai_include_web_search_sources": True}
    else:
        said = {"anthropic_web_tools_allowed_callers": ["direct"]}
    return cast(ModelSettings, said)


def web_lookups(response: ModelResponse, number: int) -> tuple[WebLook, ...]:
    """Return the provider's own web lookups for a reply, in order."""
    parts = response.parts
    answers = {p.tool_call_id: p.content for p in parts if isinstance(p, NativeToolReturnPart)}
    asked = [part for part in parts if isinstance(part, NativeToolCallPart)]
    return tuple(
        read_look(f"w{number}-{n}", p.tool_name, p.args_as_dict(), answers.get(p.tool_call_id))
        for n, p in enumerate(asked, 1)
    )


def list_price(response: ModelResponse) -> float:
    """Return the cost of a reply at the provider's published prices, if known."""
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):
        return 0.0


def arguments_of(part: ToolCallPart) -> dict[str, object]:
    """Return the arguments of a call; anything but a JSON object is passed on, to be refused."""
    if not part.args:
        return {}
    if not isinstance(part.args, str):
        return dict(part.args)
    try:
        return msgspec.json.decode(part.args, type=dict[str, object])
    except msgspec.DecodeError:
        return {RAW: part.args}


def to_definition(tool: ToolSpec) -> ToolDefinition:
    """Convert a tool to pydantic-ai's form."""
    return ToolDefinition(
        name=tool.name, description=tool.description, parameters_json_schema=tool.schema
    )


def to_messages(
    messages: Sequence[WireMessage], system: str, *, can_see: bool
) -> list[ModelMessage]:
    """Convert a conversation to pydantic-ai's form: alternating requests and responses."""
    history: list[ModelMessage] = []
    for is_reply, group in groupby(messages, lambda message: message.role is WireRole.ASSISTANT):
        if is_reply:
            for message in group:
                said = [TextPart(message.content)] if message.content.strip() else []
                calls = [ToolCallPart(c.tool, c.args, c.id) for c in message.calls]
                history.append(ModelResponse(parts=[*said, *calls]))
            continue
        parts = [
            ToolReturnPart(message.tool, message.content, message.call)
            if message.role is WireRole.TOOL
            else UserPromptPart(_content(message, can_see=can_see))
            for message in group
        ]
        history.append(ModelRequest(parts=parts, instructions=system or None))
    return history


def _content(message: WireMessage, *, can_see: bool) -> str | list[UserContent]:
    if not message.images:
        return message.content
    content: list[UserContent] = [message.content] if message.content else []
    for image in message.images:
        shown = picture(image)
        if not can_see or not (shown or is_address(image)):
            content.append(BLIND.format(image=describe(image)))
        elif shown:
            content.append(BinaryContent(shown.data, media_type=shown.media_type))
        else:
            content.append(ImageUrl(image))
    return content


def build(name: str, providers: Providers) -> tuple[Provider[Any], Model]:
    """Return a provider's client and one of its models, from `provider:model`."""
    kind, _, model = name.partition(":")
    try:
        provider = _provider(kind, providers)
        # A server that only speaks like OpenAI speaks the older of its two protocols.
        if kind == "openai" and _host(provider) != OPENAI_HOST:
            kind = "openai-chat"
        return provider, infer_model(f"{kind}:{model}", lambda _: provider)
    except exceptions.UserError as error:
        needed = re.findall(r"`([A-Z][A-Z0-9_]+)`", str(error))
        if not needed:
            raise
        raise DriverError(
            f"The model {name} cannot be used: {needed[0]} is not set.",
            f"Set {needed[0]} in the environment, or store the key with your system's keyring.",
        ) from None
    except ImportError as error:
        extra = "anthropic" if "anthropic" in name else "openai"
        raise DriverError(
            f"The model {name} cannot be used: {error}.",
            f"Install what it needs, for example with: pip install 'flyball[{extra}]'.",
        ) from None
    except ValueError:
        raise DriverError(
            f"There is no provider {kind!r}, so {name} cannot be used.",
            f"Use one of {', '.join(PROVIDERS)}, or openai with a base URL for a "
            "compatible server.",
        ) from None


def _provider(kind: str, providers: Providers) -> Provider[Any]:
    family = kind.removesuffix("-chat").removesuffix("-responses")
    options: dict[str, str] = {}
    if key := providers.keys.get(family):
        options["api_key"] = key
    if url := providers.base_urls.get(family):
        options["base_url"] = url
    if not options:
        try:
            return infer_provider(kind)
        except exceptions.UserError:
            if kind != "ollama":
                raise
            options["base_url"] = OLLAMA
    made: Callable[..., Provider[Any]] = infer_provider_class(kind)
    try:
        return made(**options)
    except TypeError:
        raise DriverError(
            f"The provider {kind} does not accept {' and '.join(options)}.",
            "Use its own environment variables, or openai:MODEL with that base URL.",
        ) from None


def _host(provider: Provider[Any]) -> str:
    return urlsplit(provider.base_url).hostname or ""


def explain(error: Exception, name: str) -> DriverError:
    """Explain what went wrong, whether it may resolve itself, and what to do otherwise."""
    status = error.status_code if isinstance(error, exceptions.ModelHTTPError) else None
    words = str(error) or type(error).__name__
    said = in_one_line(words, getattr(error, "body", None), status)
    return sentence(_kind(error, status), name, said, getattr(error, "retry_after", None))


def _kind(error: Exception, status: int | None) -> ProviderTrouble:
    for category, kind in CATEGORIES:
        if isinstance(error, category):
            return kind
    is_refused = status is not None and status < 500 and status not in LATER
    return ProviderTrouble.REQUEST if is_refused else ProviderTrouble.PASSING
