from __future__ import annotations

import asyncio
import threading

import pytest
from tests.unit.drivers.asking import request_for

from flyball.drivers.routing import DeferredDriver, Models, Providers, preload
from flyball.drivers.scripted import ScriptedDriver
from flyball.errors import ConfigError, DriverError


def test_the_first_request_waits_until_the_driver_is_there() -> None:
    go = threading.Event()

    def make() -> ScriptedDriver:
        go.wait()
        return ScriptedDriver({})

    async def talk() -> str:
        driver = DeferredDriver(make)
        asking = asyncio.ensure_future(driver.think(request_for(), lambda _: None))
        await asyncio.sleep(0)
        assert not asking.done()
        go.set()
        reply = await asking
        await driver.close()
        return reply.text

    assert asyncio.run(talk()) == "(the script has ended)"


def test_giving_up_on_the_first_request_does_not_stop_the_loading() -> None:
    go = threading.Event()

    def make() -> ScriptedDriver:
        go.wait()
        return ScriptedDriver({})

    async def talk() -> str:
        driver = DeferredDriver(make)
        asking = asyncio.ensure_future(driver.think(request_for(), lambda _: None))
        await asyncio.sleep(0)
        asking.cancel()
        await driver.close()
        go.set()
        return (await driver.think(request_for(), lambda _: None)).text

    assert asyncio.run(talk())


def test_a_driver_that_cannot_be_made_says_why_to_the_caller() -> None:
    def make() -> ScriptedDriver:
        raise DriverError("it is not installed")

    async def talk() -> None:
        driver = DeferredDriver(make)
        for _ in range(2):
            with pytest.raises(DriverError, match="not installed"):
                await driver.think(request_for(), lambda _: None)
        await driver.close()

    asyncio.run(talk())


def test_wrong_names_are_refused_at_once() -> None:
    with pytest.raises(ConfigError):
        preload(Models("gpt-5"), Providers())


def test_a_missing_key_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ZAI_API_KEY", raising=False)

    async def talk() -> None:
        driver = preload(Models("zai:glm-4.6"), Providers())
        await driver.think(request_for(), lambda _: None)

    with pytest.raises(DriverError, match="ZAI_API_KEY is not set") as caught:
        asyncio.run(talk())
    assert not caught.value.retryable
