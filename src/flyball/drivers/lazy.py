"""A driver that is still being imported: providers' libraries take seconds, so they load aside."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from importlib import import_module

from flyball.drivers.protocol import Driver, Reply, Request
from flyball.drivers.routing import Models, Providers, check
from flyball.errors import DriverError

PROVIDER = "flyball.drivers.provider"
LIBRARY = "pydantic_ai"
"""What it needs to ask any model."""


class DeferredDriver:
    """Made in a thread that ends with the process; the first request waits for it."""

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
        """Close the driver, if there is one by now."""
        if self._made.done() and not self._made.exception():
            await self._made.result().close()


def preload(models: Models, providers: Providers) -> DeferredDriver:
    """A provider driver that begins to load now; wrong names are refused at once."""
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
    """A model that cannot be asked for want of a package."""
    extra = "anthropic" if model.startswith("anthropic:") else "openai"
    return DriverError(
        f"{model} cannot be asked: {package} is not installed.",
        f"Install it with: pip install 'flyball[{extra}]'.",
    )
