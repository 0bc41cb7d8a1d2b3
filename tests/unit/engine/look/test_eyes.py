"""One short question to a model that sees, and what its words are taken for."""

from __future__ import annotations

import asyncio

import pytest

from flyball.drivers.protocol import Reply, Request
from flyball.engine.look.gate_looks import VisionModel, read_opinion
from flyball.errors import ConfigError, DriverError
from flyball.terms.budget import Usage

PNG = b"\x89PNG\r\n\x1a\n rest"


class Sighted:
    """A driver that keeps what it was asked and says one thing."""

    def __init__(self, reply: Reply | Exception) -> None:
        self.reply = reply
        self.asked: list[Request] = []
        self.is_closed = False

    async def think(self, request, on_text):
        self.asked.append(request)
        on_text("…")
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply

    async def close(self):
        self.is_closed = True


@pytest.mark.parametrize(
    ("text", "is_right", "reason"),
    [
        ("Yes. Three pens\nare listed.", True, "Three pens are listed."),
        ("**No**: the page is blank.", False, "the page is blank."),
        ("`yes` - it does", True, "it does"),
        ("NO", False, ""),
        ("Nothing is there.", None, "The model answered neither yes nor no."),
        ("Yesterday it did.", None, "The model answered neither yes nor no."),
        ("", None, "The model answered neither yes nor no."),
    ],
)
def test_what_an_answer_is_taken_for(text, is_right, reason):
    found = read_opinion(text)
    assert (found.is_right, found.reason) == (is_right, reason)


def ask(driver):
    model = VisionModel(lambda: driver)

    async def once():
        try:
            return await model.judge("r", "k", PNG, " a hat ")
        finally:
            await model.close()

    return asyncio.run(once())


def test_the_picture_and_the_expectation_are_the_whole_question():
    driver = Sighted(Reply(text="Yes, a hat.", model="p:m", usage=Usage(900, 5, 0.01)))
    found = ask(driver)
    assert found == ("p:m", True, "a hat.", Usage(900, 5, 0.01))
    (request,) = driver.asked
    assert request.images[0].startswith("data:image/png;base64,") and not request.tools
    assert request.opening.endswith("\n\na hat") and not request.lines
    assert driver.is_closed


def test_a_model_that_cannot_be_asked_judges_nothing():
    found = ask(Sighted(DriverError("The model is away.")))
    assert found.is_right is None and "The model is away." in found.reason
    assert found.usage == Usage() and not found.model


def test_a_model_that_lacks_its_key_judges_nothing():
    def make():
        raise ConfigError("The openai model needs a key.", "Set it.")

    found = asyncio.run(VisionModel(make).judge("r", "k", PNG, "a hat"))
    assert found.is_right is None and "needs a key" in found.reason
