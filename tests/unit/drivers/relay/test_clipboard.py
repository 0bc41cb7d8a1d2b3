from __future__ import annotations

import asyncio

from tests.unit.drivers.asking import line, request_for

from flyball.drivers.relay.clipboard import ClipboardDriver, PersonPort
from flyball.run.thread import Speaker


class Desk:
    """A clipboard, a screen, and a person with answers ready."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.copied: list[str] = []
        self.shown: list[str] = []

    async def read(self) -> str:
        return self.answers.pop(0)

    @property
    def hand(self) -> PersonPort:
        return PersonPort(self.copied.append, self.shown.append, self.read)


def test_a_new_thread_is_carried_whole_and_then_only_what_is_new() -> None:
    desk = Desk("```call read path=a.py\n```", '{"text": "Done."}')
    heard: list[str] = []

    async def talk() -> None:
        driver = ClipboardDriver(desk.hand)
        first = await driver.think(request_for(), heard.append)
        lines = (
            line(Speaker.DRIVER, calls=first.calls),
            line(Speaker.TOOL, "the file", call=first.calls[0].id, tool="read"),
        )
        last = await driver.think(request_for(lines=lines, turn=1), heard.append)
        assert last.text == "Done."
        await driver.close()

    asyncio.run(talk())
    first, second = desk.copied
    assert "Mend the cart." in first
    assert "### read" in first
    assert "the file" in second
    assert "Mend the cart." not in second
    assert desk.shown.count("Open a new chat.") == 1
    assert desk.shown.count("Paste the prompt.") == 2
    assert heard == ["Done."]


def test_a_thread_that_restarts_goes_to_a_new_chat() -> None:
    desk = Desk("One.", "Two.")

    async def talk() -> None:
        driver = ClipboardDriver(desk.hand)
        await driver.think(request_for(), lambda _: None)
        reset = line(Speaker.GOVERNOR, "# Hand-over")
        await driver.think(request_for(opening="Go on.", lines=(reset,)), lambda _: None)

    asyncio.run(talk())
    assert desk.shown.count("Open a new chat.") == 2
    assert "# Hand-over" in desk.copied[1]


def test_an_answer_that_cannot_be_read_is_asked_for_again() -> None:
    desk = Desk("", "```call read\noops", "Fine.")
    reply = asyncio.run(ClipboardDriver(desk.hand).think(request_for(), lambda _: None))

    assert reply.text == "Fine."
    said = "\n".join(desk.shown)
    assert "The reply is empty." in said
    assert "never closed" in said


def test_a_person_carries_one_request_at_a_time() -> None:
    desk = Desk('{"card": "c2", "text": "no"}', '{"card": "c1", "text": "One."}', "Two.")

    async def talk() -> list[str]:
        driver = ClipboardDriver(desk.hand)
        requests = (request_for(opening="Cart."), request_for(card="c2", opening="Stock."))
        asked = [driver.think(request, lambda _: None) for request in requests]
        return [reply.text for reply in await asyncio.gather(*asked)]

    assert asyncio.run(talk()) == ["One.", "Two."]
    assert [("Cart." in text, "Stock." in text) for text in desk.copied] == [
        (True, False),
        (False, True),
    ]
    assert "This reply is for card c2, but card c1 was asked." in "\n".join(desk.shown)
