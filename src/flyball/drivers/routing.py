"""Select models by role and phase, or for images; look up their prices."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from importlib import import_module
from typing import Annotated

import msgspec

from flyball.drivers.protocol import Driver, Reply, Request
from flyball.errors import ConfigError, DriverError
from flyball.plan.template import Role
from flyball.terms.phase import Phase
from flyball.terms.shape import closest, suggest

PHASES = ("recon", "checkpoint", "execute", "verify", "final")
PROVIDERS = (
    "alibaba", "anthropic", "azure", "azure-responses", "bedrock", "bedrock-mantle", "cerebras",
    "cohere", "crusoe", "deepseek", "elevenlabs", "fireworks", "github", "github-copilot",
    "google", "google-cloud", "groq", "heroku", "huggingface", "litellm", "meta", "mistral",
    "moonshotai", "nebius", "ollama", "openai", "openai-chat", "openai-chatgpt", "openai-codex",
    "openai-decisions", "openai-responses", "openrouter", "ovhcloud", "sambanova", "snowflake",
    "system-one", "together", "typesafe", "vercel", "vllm", "voyageai", "xai", "zai",
)  # fmt: skip
"""Who can be asked, as the library names them. Loading it to look would take half a second."""
PER = 1_000_000
Dollars = Annotated[float, msgspec.Meta(ge=0)]


class Models(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Models by name, as in `anthropic:claude-sonnet-5`.

    `by_phase` is keyed by a phase (`verify`), or by a role and a phase (`executor.execute`).
    """

    default: str
    vision: str = ""
    by_role: dict[str, str] = {}
    by_phase: dict[str, str] = {}

    @property
    def all(self) -> tuple[str, ...]:
        """Return every model that may be asked, each once."""
        names = (self.default, self.vision, *self.by_role.values(), *self.by_phase.values())
        return tuple(dict.fromkeys(filter(None, names)))


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """US dollars per million tokens, if the user sets it; default: the list price."""

    input: Dollars
    output: Dollars

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """Return the cost of a reply with so many tokens, in US dollars."""
        return (self.input * input_tokens + self.output * output_tokens) / PER


class Providers(msgspec.Struct, frozen=True, omit_defaults=True):
    """Addresses of providers by name; their other settings come from their own variables."""

    keys: dict[str, str] = {}
    base_urls: dict[str, str] = {}
    prices: dict[str, Price] = {}
    streams: bool = True
    timeout: float = 300.0


def choose(models: Models, role: str, phase: Phase, *, sees: bool) -> str:
    """Return the model for a request: if it has images, one that accepts images, where there is
    one.

    Otherwise the most specific setting wins: role and phase, then role, then phase, then the
    default.
    """
    if sees and models.vision:
        return models.vision
    where = phase.name_for_people
    return (
        models.by_phase.get(f"{role}.{where}")
        or models.by_role.get(role)
        or models.by_phase.get(where)
        or models.default
    )


def check(models: Models) -> None:
    """Reject invalid model names before a run depends on them."""
    for name in models.all:
        provider, colon, model = name.partition(":")
        if not colon or not provider or not model:
            raise ConfigError(
                f"{name!r} names no model.",
                "Write provider:model, such as openai:gpt-5 or ollama:qwen3.",
            )
        _spelt_right(provider, model)
    roles = [role.value for role in Role]
    for role in models.by_role:
        _known("role", role, roles)
    for key in models.by_phase:
        role, dot, phase = key.rpartition(".")
        _known("phase", phase, PHASES)
        if dot:
            _known("role", role, roles)


def _spelt_right(provider: str, model: str) -> None:
    """Reject a misspelt name. An unknown name is left to the library, which may know more."""
    near = closest(provider, PROVIDERS, 0.75)
    if near and provider not in PROVIDERS:
        raise ConfigError(f"There is no provider {provider!r}.", f"Did you mean `{near}:{model}`?")


def _known(kind: str, name: str, names: list[str] | tuple[str, ...]) -> None:
    if name not in names:
        raise ConfigError(f"There is no {kind} {name!r} to give a model to.", suggest(name, names))


PROVIDER = "flyball.drivers.provider"
LIBRARY = "pydantic_ai"
"""What it needs to ask any model."""


class DeferredDriver:
    """A driver that loads in a daemon thread; the first request waits for it."""

    def __init__(self, make: Callable[[], Driver]) -> None:
        self._made: Future[Driver] = Future()
        threading.Thread(target=self._make, args=(make,), daemon=True).start()

    def _make(self, make: Callable[[], Driver]) -> None:
        try:
            self._made.set_result(make())
        except Exception as error:  # noqa: BLE001 - carried over to whoever asks
            self._made.set_exception(error)

    async def think(self, request: Request, on_text: Callable[[str], None]) -> Reply:
        """Wait for the driver, then ask it."""
        driver = await asyncio.shield(asyncio.wrap_future(self._made))
        return await driver.think(request, on_text)

    async def close(self) -> None:
        """Close the driver, if it was loaded."""
        if self._made.done() and not self._made.exception():
            await self._made.result().close()


def preload(models: Models, providers: Providers) -> DeferredDriver:
    """Start loading a provider driver; wrong names are rejected at once."""
    check(models)

    def make() -> Driver:
        try:
            module = import_module(PROVIDER)
        except ModuleNotFoundError as error:
            raise not_installed(models.default, error.name or LIBRARY) from None
        driver = module.ProviderDriver(models, providers)
        driver.prepare()
        return driver

    return DeferredDriver(make)


def not_installed(model: str, package: str) -> DriverError:
    """Return the error for a model whose package is missing."""
    extra = "anthropic" if model.startswith("anthropic:") else "openai"
    return DriverError(
        f"{model} cannot be asked: {package} is not installed.",
        f"Install it with: pip install 'flyball[{extra}]'.",
    )
